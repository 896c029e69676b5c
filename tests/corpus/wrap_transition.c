/* SPDX-License-Identifier: MIT */
/* gl-transitions: GLSL ES 1.00 that defines vec4 transition(vec2 uv), from progress, ratio,
 * getFromColor, getToColor and uniforms of its own. A uniform's default stands in a comment behind
 * it:
 *
 *     uniform vec2 direction; // = vec2(0.0, 1.0) */
#include "wrap.h"

#include <ctype.h>

#define SAMPLERS_MOST 4

/* What lies beside the wrapping while a text is read. */
struct transition {
    struct wrapping *wrapping;
    char samplers[SAMPLERS_MOST][CORPUS_NAME_MOST];
    uint32_t sampler_count;
};

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* The identifier at *at, which is moved behind it and the space that follows. */
static bool word_take(const char **at, char word[CORPUS_NAME_MOST])
{
    size_t length = 0;
    while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_')
        length++;
    if (!length || length >= CORPUS_NAME_MOST)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at = skip_space(*at + length);
    return true;
}

/* What may come behind a default: more of the comment, or its end. */
static bool default_ends(const char *at, const char *end)
{
    at = skip_space(at);
    return at >= end || *at == '\r' || *at == ';' || !strncmp(at, "//", 2) || !strncmp(at, "*/", 2);
}

/* "0.5", "-1", "true", "vec2(0.5)", "vec2(0.0, 1.0)", and the comment's end. */
static bool default_read(const char *text, const char *end, const struct corpus_type *type,
                         union corpus_word values[4])
{
    text = skip_space(text);
    if (type->count == 1) {
        const char *stop = text + strcspn(text, " \t;/*\r\n");
        return wrap_value(text, stop < end ? stop : end, type->kind, &values[0]) &&
               default_ends(stop, end);
    }
    size_t length = strlen(type->name);
    if (strncmp(text, type->name, length))
        return false;
    text = skip_space(text + length);
    if (*text++ != '(')
        return false;
    uint32_t count = 0;
    for (;;) {
        const char *stop = text + strcspn(text, ",)");
        if (stop >= end || count == type->count ||
            !wrap_value(text, stop, type->kind, &values[count]))
            return false;
        count++;
        text = stop + 1;
        if (*stop == ')')
            break;
    }
    if (count == 1)
        while (count < type->count)
            values[count++] = values[0];
    return count == type->count && default_ends(text, end);
}

/* A line that begins with 'uniform', behind that word; 'end' is the line's. */
static bool uniform_read(struct transition *transition, const char *at, const char *end)
{
    struct wrapping *wrapping = transition->wrapping;
    char type[CORPUS_NAME_MOST], name[CORPUS_NAME_MOST];
    union corpus_word values[4] = {{0}};

    at = skip_space(at);
    bool sound = word_take(&at, type);
    if (sound && (!strcmp(type, "lowp") || !strcmp(type, "mediump") || !strcmp(type, "highp")))
        sound = word_take(&at, type);
    if (!sound || !word_take(&at, name))
        return wrap_refuse(wrapping, "a uniform can't be read: %.*s", (int)(end - at), at);
    const char *equals = memchr(at, '=', (size_t)(end - at));
    const char *semicolon = memchr(at, ';', (size_t)(end - at));
    /* One name, and nothing but a comment before the semicolon. */
    if (!semicolon || (*at != ';' && strncmp(at, "/*", 2)))
        return wrap_refuse(wrapping, "the uniform '%s' can't be read", name);
    if (!strcmp(type, "sampler2D")) {
        if (transition->sampler_count == SAMPLERS_MOST)
            return wrap_refuse(wrapping, "it has too many samplers");
        strcpy(transition->samplers[transition->sampler_count++], name);
        return true;
    }
    const struct corpus_type *known = corpus_type_find(type);
    if (known && equals && !default_read(equals + 1, end, known, values))
        return wrap_refuse(wrapping, "the default of '%s' can't be read: %.*s", name,
                           (int)(end - equals), equals);
    return wrap_member(wrapping, name, type, CORPUS_PARAMETER, values);
}

/* Is that line, from 'at' on, still within a comment at its end? */
static bool comment_goes_on(const char *at, const char *end, bool inside)
{
    for (; at < end; at++) {
        if (inside) {
            if (at[0] == '*' && at[1] == '/')
                inside = false, at++;
        } else if (at[0] == '/' && at[1] == '/') {
            break;
        } else if (at[0] == '/' && at[1] == '*') {
            inside = true, at++;
        }
    }
    return inside;
}

/* Copies the text without the lines that declare uniforms, which become members. */
static bool body_read(struct transition *transition, const char *text, FILE *body)
{
    static const char keyword[] = "uniform";
    const size_t length = sizeof keyword - 1;
    bool inside = false, sound = true;

    while (*text && sound) {
        const char *end = text + strcspn(text, "\n"), *at = skip_space(text);
        if (!inside && !strncmp(at, keyword, length) && (at[length] == ' ' || at[length] == '\t'))
            sound = uniform_read(transition, at + length, end);
        else
            fwrite(text, 1, (size_t)(end - text), body);
        inside = comment_goes_on(text, end, inside);
        fputc('\n', body);
        text = *end ? end + 1 : end;
    }
    return sound;
}

static char *form_write(const struct transition *transition, const char *body, enum wrap_form form)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    wrap_head(out, transition->wrapping, form);
    fprintf(out, "#define texture2D texture\n"
                 "vec4 getFromColor(vec2 at) { return texture(corpus_first, at); }\n"
                 "vec4 getToColor(vec2 at) { return texture(corpus_second, at); }\n");
    for (uint32_t i = 0; i < transition->sampler_count; i++)
        fprintf(out, "#define %s corpus_second\n", transition->samplers[i]);
    fprintf(out, "#line 1\n%s", body);
    fprintf(out, "#line 1\nvoid corpus_pixel(vec2 corpus_at, out vec4 corpus_color) {\n"
                 "    corpus_color = transition(corpus_at);\n"
                 "}\n");
    wrap_tail(out, transition->wrapping, form);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

bool wrap_transition(struct wrapping *wrapping, const char *text)
{
    struct transition transition = {.wrapping = wrapping};
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);

    bool sound = out && wrap_member(wrapping, "progress", "float", CORPUS_PROGRESS, NULL) &&
                 wrap_member(wrapping, "ratio", "float", CORPUS_RATIO, NULL) &&
                 body_read(&transition, text, out);
    if (!out || fclose(out))
        sound = wrap_refuse(wrapping, "out of memory");
    if (sound) {
        wrapping->compute = form_write(&transition, body, WRAP_COMPUTE);
        wrapping->pass = form_write(&transition, body, WRAP_PASS);
        sound = (wrapping->compute && wrapping->pass) || wrap_refuse(wrapping, "out of memory");
    }
    free(body);
    return sound;
}
