/* SPDX-License-Identifier: MIT */
/* What the wrapped shaders of all collections have in common. */
#include "wrap.h"

bool wrap_refuse(struct wrapping *wrapping, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wrapping->reason, sizeof wrapping->reason, format, arguments);
    va_end(arguments);
    return false;
}

void wrapping_free(struct wrapping *wrapping)
{
    free(wrapping->compute);
    free(wrapping->pass);
    wrapping->compute = wrapping->pass = NULL;
}

bool wrap_member(struct wrapping *wrapping, const char *name, const char *type,
                 enum corpus_role role, const union corpus_word *values)
{
    struct corpus_shader *shader = &wrapping->shader;
    if (shader->member_count == CORPUS_MEMBERS_MOST)
        return wrap_refuse(wrapping, "it has more than %d parameters", CORPUS_MEMBERS_MOST);
    if (strlen(name) >= CORPUS_NAME_MOST)
        return wrap_refuse(wrapping, "the name '%.40s...' is too long", name);
    for (uint32_t i = 0; i < shader->member_count; i++)
        if (!strcmp(shader->members[i].name, name))
            return wrap_refuse(wrapping, "it has two parameters '%s'", name);

    struct corpus_member *member = &shader->members[shader->member_count];
    *member = (struct corpus_member){.type = corpus_type_find(type), .role = role};
    if (!member->type)
        return wrap_refuse(wrapping, "the parameter '%s' is a %s", name, type);
    strcpy(member->name, name);
    if (values)
        memcpy(member->values, values, member->type->count * sizeof *values);
    uint32_t alignment = member->type->alignment;
    member->offset = (shader->push_size + alignment - 1) / alignment * alignment;
    uint32_t size = member->offset + 4 * member->type->count;
    if (size > CORPUS_PUSH_MOST)
        return wrap_refuse(wrapping, "its parameters take more than %d bytes", CORPUS_PUSH_MOST);
    shader->push_size = size;
    shader->member_count++;
    return true;
}

bool wrap_value(const char *text, const char *end, enum corpus_kind kind, union corpus_word *value)
{
    char word[64], *rest = word;
    if (!end)
        end = text + strlen(text);
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    while (text < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    if (text == end || (size_t)(end - text) >= sizeof word)
        return false;
    memcpy(word, text, (size_t)(end - text));
    word[end - text] = '\0';

    if (kind == CORPUS_BOOL) {
        value->u = !strcasecmp(word, "true") || !strcmp(word, "1");
        return value->u || !strcasecmp(word, "false") || !strcmp(word, "0");
    }
    if (kind == CORPUS_FLOAT) {
        value->f = strtof(word, &rest);
        return rest != word && (!*rest || !strcmp(rest, "f"));
    }
    errno = 0;
    long number = strtol(word, &rest, 10);
    value->i = (int32_t)number;
    return !errno && rest != word && !*rest && number <= INT32_MAX &&
           number >= (kind == CORPUS_UINT ? 0 : INT32_MIN);
}

void wrap_head(FILE *out, const struct wrapping *wrapping, enum wrap_form form)
{
    const struct corpus_shader *shader = &wrapping->shader;

    fprintf(out, "#version 450\n");
    fprintf(out, "layout(set = 0, binding = 0) uniform sampler2D corpus_first;\n");
    fprintf(out, "layout(set = 0, binding = 1) uniform sampler2D corpus_second;\n");
    if (form == WRAP_PASS) {
        fprintf(out, "layout(location = 0) in vec2 corpus_at;\n");
        fprintf(out, "layout(location = 0) out vec4 corpus_color;\n");
    } else {
        fprintf(out, "layout(local_size_x = %d, local_size_y = %d) in;\n", CORPUS_GROUP,
                CORPUS_GROUP);
        if (shader->buffer)
            fprintf(out, "layout(set = 0, binding = 2, std430) writeonly buffer CorpusOutput {\n"
                         "    vec4 corpus_output[];\n};\n");
        else
            fprintf(out, "layout(set = 0, binding = 2, rgba32f) writeonly uniform image2D "
                         "corpus_output;\n");
    }
    /* No instance name: a member is then an ordinary name, which the shader's own may hide. */
    fprintf(out, "layout(push_constant, std430) uniform CorpusParameters {\n");
    for (uint32_t i = 0; i < shader->member_count; i++)
        fprintf(out, "    layout(offset = %" PRIu32 ") %s %s;\n", shader->members[i].offset,
                shader->members[i].type->name, shader->members[i].name);
    fprintf(out, "};\n");
}

void wrap_tail(FILE *out, const struct wrapping *wrapping, enum wrap_form form)
{
    if (form == WRAP_PASS) {
        fprintf(out, "void main() {\n    corpus_pixel(corpus_at, corpus_color);\n}\n");
        return;
    }
    bool buffer = wrapping->shader.buffer;
    fprintf(out,
            "void main() {\n"
            "    ivec2 corpus_place = ivec2(gl_GlobalInvocationID.xy);\n"
            "    ivec2 corpus_extent = %s;\n"
            "    if (any(greaterThanEqual(corpus_place, corpus_extent)))\n"
            "        return;\n"
            "    vec4 corpus_color;\n"
            "    corpus_pixel((vec2(corpus_place) + 0.5) / vec2(corpus_extent), corpus_color);\n"
            "    %s;\n"
            "}\n",
            buffer ? "ivec2(resolution.xy)" : "imageSize(corpus_output)",
            buffer ? "corpus_output[corpus_place.y * corpus_extent.x + corpus_place.x] = "
                     "corpus_color"
                   : "imageStore(corpus_output, corpus_place, corpus_color)");
}
