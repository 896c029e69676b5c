/* SPDX-License-Identifier: MIT */
/* Reads the corpus, and gives its parameters values for each moment. */
#include "corpus.h"

#define LINE_MOST    1024 /* bytes of a line of the manifest */
#define FIELDS_MOST  12
#define SPIRV_MAGIC  0x07230203u
#define MOST_SHADERS 4096

static const struct corpus_type types[] = {
    {"float", CORPUS_FLOAT, 1, 4}, {"vec2", CORPUS_FLOAT, 2, 8}, {"vec3", CORPUS_FLOAT, 3, 16},
    {"vec4", CORPUS_FLOAT, 4, 16}, {"int", CORPUS_INT, 1, 4},    {"ivec2", CORPUS_INT, 2, 8},
    {"ivec3", CORPUS_INT, 3, 16},  {"ivec4", CORPUS_INT, 4, 16}, {"uint", CORPUS_UINT, 1, 4},
    {"bool", CORPUS_BOOL, 1, 4},   {"bvec2", CORPUS_BOOL, 2, 8}, {"bvec3", CORPUS_BOOL, 3, 16},
    {"bvec4", CORPUS_BOOL, 4, 16},
};

const struct corpus_type *corpus_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

static const char *const roles[CORPUS_ROLE_COUNT] = {
    [CORPUS_PARAMETER] = "parameter", [CORPUS_PROGRESS] = "progress",     [CORPUS_TIME] = "time",
    [CORPUS_RATIO] = "ratio",         [CORPUS_RESOLUTION] = "resolution",
};

const char *corpus_role_name(enum corpus_role role)
{
    return roles[role];
}

/* ------------------------------------------------------------------------------ The manifest -- */

struct reader {
    struct corpus *corpus;
    uint32_t line;
    bool begun;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct reader *reader,
                                                         const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(reader->corpus->error, sizeof reader->corpus->error, "%s/%s:%" PRIu32 ": %s",
             reader->corpus->folder, CORPUS_MANIFEST, reader->line, text);
    return false;
}

/* One more at the end of an array, zeroed; NULL: out of memory, or there are too many. */
static void *grow(void **array, uint32_t *count, size_t size)
{
    if (*count == MOST_SHADERS)
        return NULL;
    if ((*count & (*count - 1)) == 0) { /* room for the next power of two */
        void *more = realloc(*array, size * (*count ? 2u * *count : 1u));
        if (!more)
            return NULL;
        *array = more;
    }
    void *last = (char *)*array + size * (*count)++;
    memset(last, 0, size);
    return last;
}

static bool name_copy(const struct reader *reader, char to[CORPUS_NAME_MOST], const char *from)
{
    if (strlen(from) >= CORPUS_NAME_MOST)
        return refuse(reader, "the name '%.40s...' is too long", from);
    strcpy(to, from);
    return true;
}

/* A file of the folder, and of no other. */
static bool file_copy(const struct reader *reader, char to[CORPUS_NAME_MOST], const char *from)
{
    if (strchr(from, '/'))
        return refuse(reader, "'%.60s' is not in the manifest's folder", from);
    return name_copy(reader, to, from);
}

static bool number_read(const char *text, uint32_t most, uint32_t *number)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text < '0' || *text > '9' || value > most)
        return false;
    *number = (uint32_t)value;
    return true;
}

static bool word_read(const char *text, enum corpus_kind kind, union corpus_word *word)
{
    char *end;
    errno = 0;
    if (kind == CORPUS_FLOAT) {
        word->f = strtof(text, &end);
        return end != text && !*end;
    }
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    if (kind == CORPUS_INT) {
        word->i = (int32_t)value;
        return value >= INT32_MIN && value <= INT32_MAX;
    }
    word->u = (uint32_t)value;
    return value >= 0 && value <= (kind == CORPUS_BOOL ? 1 : (long long)UINT32_MAX);
}

static bool shader_read(struct reader *reader, char *const *fields, uint32_t count)
{
    struct corpus *corpus = reader->corpus;
    if (count != 6)
        return refuse(reader, "a shader has 5 fields");
    if (corpus_find(corpus, fields[1]))
        return refuse(reader, "the shader '%s' is there twice", fields[1]);
    struct corpus_shader *shader =
        grow((void **)&corpus->shaders, &corpus->shader_count, sizeof *shader);
    if (!shader)
        return refuse(reader, "too many shaders, or too little memory");
    if (!name_copy(reader, shader->name, fields[1]) ||
        !file_copy(reader, shader->compute, fields[4]) ||
        !file_copy(reader, shader->pass, fields[5]))
        return false;
    if (!number_read(fields[2], CORPUS_PUSH_MOST, &shader->push_size) || shader->push_size % 4)
        return refuse(reader, "'%s' is no size for push constants", fields[2]);
    shader->buffer = !strcmp(fields[3], "buffer");
    if (!shader->buffer && strcmp(fields[3], "image"))
        return refuse(reader, "'%s' is neither image nor buffer", fields[3]);
    return true;
}

static bool member_read(struct reader *reader, char *const *fields, uint32_t count)
{
    struct corpus *corpus = reader->corpus;
    if (!corpus->shader_count || count < 5)
        return refuse(reader, "a member has a shader above it, and 5 fields or more");
    struct corpus_shader *shader = &corpus->shaders[corpus->shader_count - 1];
    if (shader->member_count == CORPUS_MEMBERS_MOST)
        return refuse(reader, "%s has too many members", shader->name);
    struct corpus_member *member = &shader->members[shader->member_count];

    if (!name_copy(reader, member->name, fields[1]))
        return false;
    member->type = corpus_type_find(fields[2]);
    if (!member->type)
        return refuse(reader, "there is no type '%s'", fields[2]);
    uint32_t size = 4 * member->type->count;
    if (!number_read(fields[3], shader->push_size, &member->offset) ||
        member->offset + size > shader->push_size || member->offset % member->type->alignment)
        return refuse(reader, "'%s' is no offset for a %s", fields[3], fields[2]);
    while (member->role < CORPUS_ROLE_COUNT && strcmp(roles[member->role], fields[4]))
        member->role++;
    if (member->role == CORPUS_ROLE_COUNT)
        return refuse(reader, "there is no role '%s'", fields[4]);
    if (count != 5 + member->type->count)
        return refuse(reader, "a %s has %" PRIu32 " values", fields[2], member->type->count);
    for (uint32_t i = 0; i < member->type->count; i++)
        if (!word_read(fields[5 + i], member->type->kind, &member->values[i]))
            return refuse(reader, "'%s' is no value of a %s", fields[5 + i], fields[2]);
    static const struct {
        enum corpus_kind kind;
        uint32_t count;
    } of_role[CORPUS_ROLE_COUNT] = {
        [CORPUS_PROGRESS] = {CORPUS_FLOAT, 1},
        [CORPUS_TIME] = {CORPUS_UINT, 1},
        [CORPUS_RATIO] = {CORPUS_FLOAT, 1},
        [CORPUS_RESOLUTION] = {CORPUS_FLOAT, 4},
    };
    if (member->role != CORPUS_PARAMETER && (member->type->kind != of_role[member->role].kind ||
                                             member->type->count != of_role[member->role].count))
        return refuse(reader, "a %s is no %s", fields[4], fields[2]);

    for (uint32_t i = 0; i < shader->member_count; i++) {
        const struct corpus_member *other = &shader->members[i];
        if (!strcmp(other->name, member->name) ||
            (other->offset < member->offset + size &&
             member->offset < other->offset + 4 * other->type->count))
            return refuse(reader, "%s has %s twice, or over %s", shader->name, member->name,
                          other->name);
    }
    shader->member_count++;
    return true;
}

static bool absence_read(struct reader *reader, char *const *fields, uint32_t count,
                         struct corpus_absence **array, uint32_t *array_count)
{
    if (count < 3)
        return refuse(reader, "a name and a reason belong to '%s'", fields[0]);
    struct corpus_absence *absence = grow((void **)array, array_count, sizeof *absence);
    if (!absence)
        return refuse(reader, "too many of '%s', or too little memory", fields[0]);
    snprintf(absence->reason, sizeof absence->reason, "%s", fields[2]);
    return name_copy(reader, absence->name, fields[1]);
}

static bool line_read(struct reader *reader, char *line)
{
    struct corpus *corpus = reader->corpus;
    char *fields[FIELDS_MOST], *rest = line;
    uint32_t count = 0;
    bool reasons = !strncmp(line, "skip ", 5) || !strncmp(line, "missing ", 8);

    /* The last field of a reason is all that is left. */
    while (count < FIELDS_MOST && (!reasons || count < 2)) {
        fields[count] = strtok_r(NULL, " ", &rest);
        if (!fields[count])
            break;
        count++;
    }
    if (reasons && count == 2 && *(rest += strspn(rest, " ")))
        fields[count++] = rest;
    if (!count)
        return true;
    if (!reader->begun) {
        reader->begun =
            count == 2 && !strcmp(fields[0], "belfry-corpus") && !strcmp(fields[1], "1");
        return reader->begun || refuse(reader, "this is no corpus, or not one of version 1");
    }
    if (!strcmp(fields[0], "vertex"))
        return count == 2 ? file_copy(reader, corpus->vertex, fields[1])
                          : refuse(reader, "vertex has one field");
    if (!strcmp(fields[0], "shader"))
        return shader_read(reader, fields, count);
    if (!strcmp(fields[0], "member"))
        return member_read(reader, fields, count);
    if (!strcmp(fields[0], "skip"))
        return absence_read(reader, fields, count, &corpus->skipped, &corpus->skipped_count);
    if (!strcmp(fields[0], "missing"))
        return absence_read(reader, fields, count, &corpus->missing, &corpus->missing_count);
    return refuse(reader, "nothing is called '%.40s'", fields[0]);
}

static FILE *file_open(struct corpus *corpus, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", corpus->folder, name) >= (int)sizeof path) {
        snprintf(corpus->error, sizeof corpus->error, "the path of %s is too long", name);
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (!file)
        snprintf(corpus->error, sizeof corpus->error, "%.300s: %s", path, strerror(errno));
    return file;
}

bool corpus_open(const char *folder, struct corpus *corpus)
{
    *corpus = (struct corpus){.folder = strdup(folder)};
    struct reader reader = {.corpus = corpus};
    if (!corpus->folder) {
        snprintf(corpus->error, sizeof corpus->error, "out of memory");
        return false;
    }
    FILE *file = file_open(corpus, CORPUS_MANIFEST);
    bool sound = file != NULL;
    char line[LINE_MOST];
    while (sound && fgets(line, sizeof line, file)) {
        reader.line++;
        char *end = strchr(line, '\n');
        if (!end)
            sound = refuse(&reader, "the line is too long, or has no end");
        else
            *end = '\0';
        sound = sound && line_read(&reader, line);
    }
    if (sound && ferror(file))
        sound = refuse(&reader, "%s", strerror(errno));
    if (sound && (!reader.begun || !corpus->vertex[0]))
        sound = refuse(&reader, "it ends too early");
    if (file)
        fclose(file);
    if (!sound) {
        char error[sizeof corpus->error];
        memcpy(error, corpus->error, sizeof error);
        corpus_close(corpus);
        memcpy(corpus->error, error, sizeof error);
    }
    return sound;
}

void corpus_close(struct corpus *corpus)
{
    free(corpus->folder);
    free(corpus->shaders);
    free(corpus->skipped);
    free(corpus->missing);
    *corpus = (struct corpus){0};
}

const struct corpus_shader *corpus_find(const struct corpus *corpus, const char *name)
{
    for (uint32_t i = 0; i < corpus->shader_count; i++)
        if (!strcmp(corpus->shaders[i].name, name))
            return &corpus->shaders[i];
    return NULL;
}

bool corpus_spirv(struct corpus *corpus, const char *name, uint32_t **words, size_t *size)
{
    bool sound = false;
    FILE *file = file_open(corpus, name);
    if (!file)
        return false;
    *words = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long length = ftell(file);
        rewind(file);
        /* A module's header has five words. */
        if (length >= 20 && length % 4 == 0 && (*words = malloc((size_t)length)))
            sound = fread(*words, 1, (size_t)length, file) == (size_t)length &&
                    (*words)[0] == SPIRV_MAGIC;
        *size = (size_t)length;
    }
    fclose(file);
    if (!sound) {
        free(*words);
        *words = NULL;
        snprintf(corpus->error, sizeof corpus->error, "%s is no SPIR-V, or can't be read", name);
    }
    return sound;
}

/* -------------------------------------------------------------------------------- The values -- */

/* splitmix64's finaliser. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t mix_text(uint64_t x, const char *text)
{
    for (; *text; text++)
        x = mix(x ^ (unsigned char)*text);
    return x;
}

/* The default moved by up to a half of itself, so that what was meant to be positive, or not 0,
 * stays so. */
static union corpus_word value_move(union corpus_word value, enum corpus_kind kind, uint64_t bits)
{
    float unit = (float)(bits >> 40) / (float)(1 << 24); /* from 0 to below 1 */
    switch (kind) {
    case CORPUS_FLOAT:
        value.f = value.f != 0.0f ? value.f * (0.5f + unit) : unit - 0.5f;
        break;
    case CORPUS_INT: {
        int64_t half = value.i < 0 ? -(int64_t)value.i / 2 : value.i / 2;
        int64_t moved = (int64_t)(bits & 1);
        if (value.i)
            moved = value.i - half + (int64_t)(bits % (2 * (uint64_t)half + 1));
        value.i = (int32_t)(moved > INT32_MAX ? INT32_MAX : moved < INT32_MIN ? INT32_MIN : moved);
        break;
    }
    case CORPUS_UINT:
        value.u = value.u ? value.u - value.u / 2 + (uint32_t)(bits % (value.u / 2 + 1)) : bits & 1;
        break;
    case CORPUS_BOOL:
        value.u = bits & 1;
        break;
    }
    return value;
}

void corpus_values(const struct corpus_shader *shader, const struct corpus_moment *moment,
                   uint8_t push[CORPUS_PUSH_MOST])
{
    uint32_t frame = moment->held ? 0 : moment->frame;
    float width = (float)moment->width, height = (float)moment->height;

    memset(push, 0, CORPUS_PUSH_MOST);
    for (uint32_t m = 0; m < shader->member_count; m++) {
        const struct corpus_member *member = &shader->members[m];
        union corpus_word words[4];
        memcpy(words, member->values, sizeof words);
        switch (member->role) {
        case CORPUS_PARAMETER: {
            uint64_t bits = mix_text(mix_text(mix(moment->seed), shader->name), member->name);
            for (uint32_t i = 0; moment->seed && i < member->type->count; i++)
                words[i] = value_move(words[i], member->type->kind, bits = mix(bits));
            break;
        }
        case CORPUS_PROGRESS:
            /* Far apart from one frame to the next, so that a few of them show all of it. */
            words[0].f = (float)((frame * 39 + 21) % 64) / 64.0f;
            break;
        case CORPUS_TIME:
            words[0].u = frame * 16;
            break;
        case CORPUS_RATIO:
            words[0].f = width / height;
            break;
        case CORPUS_RESOLUTION:
            words[0].f = width;
            words[1].f = height;
            words[2].f = 1.0f / width;
            words[3].f = 1.0f / height;
            break;
        case CORPUS_ROLE_COUNT:
            break;
        }
        memcpy(push + member->offset, words, 4 * member->type->count);
    }
}
