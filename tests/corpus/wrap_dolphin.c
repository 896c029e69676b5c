/* SPDX-License-Identifier: MIT */
/* Dolphin's post-processing shaders: GLSL with HLSL's names of types, whose main reads through
 * Sample..., Get... and GetOption, and ends in SetOutput. Options are declared in a comment:
 *
 *     [OptionRangeFloat]
 *     OptionName = DISTORTION_FACTOR
 *     DefaultValue = 4.0 */
#include "wrap.h"

#include <ctype.h>

static const char prelude[] =
    "#define float2 vec2\n"
    "#define float3 vec3\n"
    "#define float4 vec4\n"
    "#define int2 ivec2\n"
    "#define int3 ivec3\n"
    "#define int4 ivec4\n"
    "#define uint2 uvec2\n"
    "#define uint3 uvec3\n"
    "#define uint4 uvec4\n"
    "#define float3x3 mat3\n"
    "#define float4x4 mat4\n"
    "#define frac fract\n"
    "#define lerp mix\n"
    "vec2 corpus_place_now;\n"
    "vec4 corpus_color_now;\n"
    "vec2 GetCoordinates() { return corpus_place_now; }\n"
    "vec2 GetResolution() { return resolution.xy; }\n"
    "vec2 GetInvResolution() { return resolution.zw; }\n"
    "vec2 GetWindowResolution() { return window_resolution.xy; }\n"
    "vec2 GetInvWindowResolution() { return window_resolution.zw; }\n"
    "uint GetTime() { return time; }\n"
    "vec4 corpus_texel(int layer, vec2 at) {\n"
    "    return layer == 0 ? texture(corpus_first, at) : texture(corpus_second, at);\n"
    "}\n"
    "vec4 SampleLayer(int layer) { return corpus_texel(layer, corpus_place_now); }\n"
    "vec4 SampleLocation(vec2 at) { return corpus_texel(src_layer, at); }\n"
    "vec4 Sample() { return SampleLayer(src_layer); }\n"
    /* HLSL compares vectors component by component, GLSL as a whole. */
    "bool any(bool all_of_it) { return all_of_it; }\n"
    /* The offset must be a constant expression, which a function's parameter isn't. */
    "#define SampleOffset(offset_) (src_layer == 0 \\\n"
    "    ? textureOffset(corpus_first, corpus_place_now, offset_) \\\n"
    "    : textureOffset(corpus_second, corpus_place_now, offset_))\n"
    "void SetOutput(vec4 color) { corpus_color_now = color; }\n"
    "#define GetOption(option_) (option_)\n"
    "#define OptionEnabled(option_) (option_)\n"
    "#define main corpus_shader\n";

static const char epilogue[] = "#undef main\n"
                               "void corpus_pixel(vec2 at, out vec4 color) {\n"
                               "    corpus_place_now = at;\n"
                               "    corpus_color_now = vec4(0.0);\n"
                               "    corpus_shader();\n"
                               "    color = corpus_color_now;\n"
                               "}\n";

/* An option while its lines are read. */
struct option {
    const char *kind; /* NULL: none has begun */
    char name[CORPUS_NAME_MOST], value[128];
};

/* What was read so far, if anything, becomes a member. */
static bool option_end(struct wrapping *wrapping, struct option *option)
{
    static const struct {
        const char *kind;
        enum corpus_kind of;
        const char *types[4]; /* by the number of values */
    } kinds[] = {
        {"OptionBool", CORPUS_BOOL, {"bool"}},
        {"OptionRangeInteger", CORPUS_INT, {"int", "ivec2", "ivec3", "ivec4"}},
        {"OptionRangeFloat", CORPUS_FLOAT, {"float", "vec2", "vec3", "vec4"}},
    };
    union corpus_word values[4] = {{0}};
    uint32_t count = 0, k = 0;

    if (!option->kind)
        return true;
    while (k < 3 && strncmp(option->kind, kinds[k].kind, strlen(kinds[k].kind)))
        k++;
    if (k == 3)
        return wrap_refuse(wrapping, "it has an option of a kind that is not known");
    for (char *word, *rest = option->value; (word = strtok_r(NULL, ",", &rest));)
        if (count == 4 || !wrap_value(word, NULL, kinds[k].of, &values[count++]))
            return wrap_refuse(wrapping, "the default of '%s' can't be read", option->name);
    if (!option->name[0] || !count || !kinds[k].types[count - 1])
        return wrap_refuse(wrapping, "the option '%s' can't be read", option->name);
    option->kind = NULL;
    return wrap_member(wrapping, option->name, kinds[k].types[count - 1], CORPUS_PARAMETER, values);
}

/* "Key = value": does the line have that key? Its value is copied then. */
static bool key_read(const char *line, const char *end, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length))
        return false;
    line += length;
    while (*line == ' ' || *line == '\t')
        line++;
    if (*line++ != '=')
        return false;
    while (line < end && isspace((unsigned char)*line))
        line++;
    while (line < end && isspace((unsigned char)end[-1]))
        end--;
    if ((size_t)(end - line) < size) { /* a longer one stays empty, which is refused */
        memcpy(value, line, (size_t)(end - line));
        value[end - line] = '\0';
    }
    return true;
}

static bool options_read(struct wrapping *wrapping, const char *text)
{
    const char *at = strstr(text, "[configuration]");
    const char *stop = at ? strstr(at, "[/configuration]") : NULL;
    struct option option = {0};

    if (!at)
        return true;
    if (!stop)
        return wrap_refuse(wrapping, "its configuration has no end");
    for (at += strcspn(at, "\n"); at < stop; at += strcspn(at, "\n")) {
        at += strspn(at, " \t\r\n");
        const char *end = at + strcspn(at, "\n");
        if (*at == '[') {
            if (!option_end(wrapping, &option))
                return false;
            option = (struct option){.kind = at < stop ? at + 1 : NULL};
        } else if (!key_read(at, end, "OptionName", option.name, sizeof option.name)) {
            key_read(at, end, "DefaultValue", option.value, sizeof option.value);
        }
    }
    return option_end(wrapping, &option);
}

static char *form_write(const struct wrapping *wrapping, const char *text, enum wrap_form form)
{
    char *written = NULL;
    size_t size;
    FILE *out = open_memstream(&written, &size);
    if (!out)
        return NULL;
    wrap_head(out, wrapping, form);
    fprintf(out, "%s#line 1\n%s\n%s", prelude, text, epilogue);
    wrap_tail(out, wrapping, form);
    if (fclose(out)) {
        free(written);
        return NULL;
    }
    return written;
}

bool wrap_dolphin(struct wrapping *wrapping, const char *text)
{
    wrapping->shader.buffer = true;
    /* What Dolphin gives to each of them, and in its order. */
    if (!wrap_member(wrapping, "resolution", "vec4", CORPUS_RESOLUTION, NULL) ||
        !wrap_member(wrapping, "window_resolution", "vec4", CORPUS_RESOLUTION, NULL) ||
        !wrap_member(wrapping, "src_layer", "int", CORPUS_PARAMETER, NULL) ||
        !wrap_member(wrapping, "time", "uint", CORPUS_TIME, NULL) || !options_read(wrapping, text))
        return false;
    wrapping->compute = form_write(wrapping, text, WRAP_COMPUTE);
    wrapping->pass = form_write(wrapping, text, WRAP_PASS);
    return (wrapping->compute && wrapping->pass) || wrap_refuse(wrapping, "out of memory");
}
