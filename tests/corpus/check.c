/* SPDX-License-Identifier: MIT */
/* The corpus' reader, its values and the wrapper, as corpus.h numbers what they promise. No shader
 * is needed, and no network. */

#include "support/test.h"

#include <math.h>

#include "wrap.h"

/* --------------------------------------------------------------------------------- Manifests -- */

static char folder[] = "/tmp/belfry-corpus-XXXXXX";

static bool manifest_open(const char *text, struct corpus *corpus)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, CORPUS_MANIFEST);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return corpus_open(folder, corpus);
}

#define HEAD "belfry-corpus 1\nvertex v.spv\n"
#define FINE                                                                                       \
    HEAD "shader a/One 32 image one.comp.spv one.frag.spv\n"                                       \
         "member progress float 0 progress 0\n"                                                    \
         "member size ivec2 8 parameter -4 9\n"                                                    \
         "member color vec3 16 parameter 1 -0.5 0\n"                                               \
         "shader a/Two 0 buffer two.comp.spv two.frag.spv\n"                                       \
         "skip a/Three it is   odd\n"                                                              \
         "missing b not here\n"

TEST(manifest_read)
{
    struct corpus corpus;
    assert_true(manifest_open(FINE, &corpus));
    assert_int_equal(corpus.shader_count, 2);
    assert_string_equal(corpus.vertex, "v.spv");
    const struct corpus_shader *one = corpus_find(&corpus, "a/One");
    assert_ptr_equal(one, &corpus.shaders[0]);
    assert_null(corpus_find(&corpus, "a/Three"));
    assert_int_equal(one->push_size, 32);
    assert_false(one->buffer);
    assert_true(corpus.shaders[1].buffer);
    assert_string_equal(one->compute, "one.comp.spv");
    assert_string_equal(one->pass, "one.frag.spv");
    assert_int_equal(one->member_count, 3);
    assert_int_equal(one->members[0].role, CORPUS_PROGRESS);
    assert_string_equal(one->members[1].name, "size");
    assert_string_equal(one->members[1].type->name, "ivec2");
    assert_int_equal(one->members[1].values[0].i, -4);
    assert_int_equal(one->members[1].values[1].i, 9);
    assert_int_equal(one->members[2].offset, 16);
    assert_true(one->members[2].values[1].f == -0.5f);
    assert_int_equal(corpus.skipped_count, 1);
    assert_string_equal(corpus.skipped[0].name, "a/Three");
    assert_string_equal(corpus.skipped[0].reason, "it is   odd");
    assert_int_equal(corpus.missing_count, 1);
    assert_string_equal(corpus.missing[0].name, "b");
    corpus_close(&corpus);
}

/* Each differs from a sound one in one thing. */
TEST(manifest_refused)
{
#define ONE    HEAD "shader a/One 32 image c.spv p.spv\n"
#define MEMBER ONE "member m "
    static const char *const texts[] = {
        "",
        "belfry-corpus 1\n",
        "belfry-corpus 2\nvertex v.spv\n",
        "vertex v.spv\n",
        HEAD "shade a/One 32 image c.spv p.spv\n",
        HEAD "vertex a/v.spv\n",
        HEAD "shader a/One 32 image c.spv\n",
        HEAD "shader a/One 32 image c.spv p.spv q.spv\n",
        HEAD "shader a/One 132 image c.spv p.spv\n",
        HEAD "shader a/One 30 image c.spv p.spv\n",
        HEAD "shader a/One -4 image c.spv p.spv\n",
        HEAD "shader a/One 4294967328 image c.spv p.spv\n",
        HEAD "shader a/One 32 picture c.spv p.spv\n",
        HEAD "shader a/One 32 image ../c.spv p.spv\n",
        HEAD "shader a/One 32 image c.spv /p.spv\n",
        ONE "shader a/One 32 image c.spv p.spv\n",
        HEAD "member m float 0 parameter 0\n",
        MEMBER "float 0 parameter\n",
        MEMBER "float 0 parameter 0 0\n",
        MEMBER "float 0 parameter x\n",
        MEMBER "float 0 parameter 1x\n",
        MEMBER "double 0 parameter 0\n",
        MEMBER "float 2 parameter 0\n",
        MEMBER "float 32 parameter 0\n",
        MEMBER "vec4 8 parameter 0 0 0 0\n",
        MEMBER "vec2 4 parameter 0 0\n",
        MEMBER "float 0 purpose 0\n",
        MEMBER "int 0 progress 0\n",
        MEMBER "vec3 0 resolution 0 0 0\n",
        MEMBER "float 0 time 0\n",
        MEMBER "int 0 parameter 2147483648\n",
        MEMBER "int 0 parameter 0.5\n",
        MEMBER "uint 0 parameter -1\n",
        MEMBER "bool 0 parameter 2\n",
        MEMBER "float 0 parameter 0\nmember m float 4 parameter 0\n",
        MEMBER "vec4 0 parameter 0 0 0 0\nmember n float 12 parameter 0\n",
        MEMBER "float 12 parameter 0\nmember n vec4 0 parameter 0 0 0 0\n",
        HEAD "skip a/One\n",
        HEAD "missing a\n",
        HEAD "vertex v.spv", /* without its end */
    };
    struct corpus corpus;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (manifest_open(texts[i], &corpus))
            fail_msg("accepted: %s", texts[i]);
        if (!strstr(corpus.error, CORPUS_MANIFEST))
            fail_msg("no reason that helps: %s", corpus.error);
    }

    /* The line is named, however long it is. */
    assert_false(manifest_open(HEAD "\n\nvertices\n", &corpus));
    assert_non_null(strstr(corpus.error, "manifest:5:"));
    char *text = malloc(8192);
    assert_non_null(text);
    memset(text, 'x', 8191);
    text[8191] = '\0';
    assert_false(manifest_open(text, &corpus));
    assert_non_null(strstr(corpus.error, "manifest:1:"));
    memcpy(text, HEAD "shader ", strlen(HEAD "shader "));
    strcpy(text + 200, " 0 image c.spv p.spv\n");
    assert_false(manifest_open(text, &corpus));
    assert_non_null(strstr(corpus.error, "too long"));
    free(text);

    assert_false(corpus_open("/tmp/belfry-corpus-is-not-there", &corpus));
    assert_non_null(strstr(corpus.error, "No such file"));
}

TEST(many_shaders)
{
    char *text = NULL;
    size_t size;
    struct corpus corpus;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, HEAD);
    for (int i = 0; i < 300; i++)
        fprintf(out, "shader s/%d 4 image c.spv p.spv\nmember m%d int 0 parameter %d\n", i, i, i);
    assert_int_equal(fclose(out), 0);
    assert_true(manifest_open(text, &corpus));
    assert_int_equal(corpus.shader_count, 300);
    for (int i = 0; i < 300; i++)
        assert_int_equal(corpus.shaders[i].members[0].values[0].i, i);
    corpus_close(&corpus);
    free(text);
}

TEST(spirv_read)
{
    static const uint32_t module[6] = {0x07230203u, 0x00010300u, 0, 1, 0, 7};
    static const struct {
        size_t size;
        uint32_t flip;
        bool sound;
    } files[] = {{24, 0, true}, {20, 0, true}, {16, 0, false}, {22, 0, false}, {24, 1, false}};
    struct corpus corpus;
    char path[128];
    assert_true(manifest_open(FINE, &corpus));
    snprintf(path, sizeof path, "%s/one.comp.spv", folder);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint32_t words[6], *read;
        size_t size;
        memcpy(words, module, sizeof words);
        words[0] ^= files[i].flip;
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(words, 1, files[i].size, file), files[i].size);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(corpus_spirv(&corpus, "one.comp.spv", &read, &size), files[i].sound);
        if (files[i].sound) {
            assert_int_equal(size, files[i].size);
            assert_memory_equal(read, module, size);
            free(read);
        }
    }
    unlink(path);
    uint32_t *none;
    size_t size;
    assert_false(corpus_spirv(&corpus, "one.comp.spv", &none, &size));
    corpus_close(&corpus);
}

/* ------------------------------------------------------------------------------------ Values -- */

static float float_at(const uint8_t *push, uint32_t offset)
{
    float value;
    memcpy(&value, push + offset, sizeof value);
    return value;
}

static int32_t int_at(const uint8_t *push, uint32_t offset)
{
    int32_t value;
    memcpy(&value, push + offset, sizeof value);
    return value;
}

TEST(values_by_role)
{
    struct corpus corpus;
    uint8_t push[CORPUS_PUSH_MOST], again[CORPUS_PUSH_MOST];
    assert_true(manifest_open(HEAD "shader a/One 64 image c.spv p.spv\n"
                                   "member progress float 0 progress 0\n"
                                   "member ratio float 4 ratio 0\n"
                                   "member time uint 8 time 0\n"
                                   "member resolution vec4 16 resolution 0 0 0 0\n"
                                   "member flag bool 32 parameter 1\n"
                                   "member place vec2 40 parameter 0.25 -3\n"
                                   "member count int 60 parameter -7\n",
                              &corpus));
    struct corpus_moment moment = {.frame = 3, .width = 64, .height = 32};
    memset(push, 0xff, sizeof push);
    memset(again, 0, sizeof again);
    corpus_values(&corpus.shaders[0], &moment, push);
    corpus_values(&corpus.shaders[0], &moment, again);
    assert_memory_equal(push, again, sizeof push); /* C-2 */
    static const uint32_t gaps[] = {12, 36, 48, 52, 56, 64, 124};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        assert_int_equal(int_at(push, gaps[i]), 0);
    assert_true(float_at(push, 4) == 2);
    assert_int_equal(int_at(push, 8), 48);
    assert_true(float_at(push, 16) == 64 && float_at(push, 20) == 32);
    assert_true(float_at(push, 24) == 1.0f / 64 && float_at(push, 28) == 1.0f / 32);
    assert_int_equal(int_at(push, 32), 1); /* C-3: the defaults */
    assert_true(float_at(push, 40) == 0.25f && float_at(push, 44) == -3);
    assert_int_equal(int_at(push, 60), -7);

    /* C-4, and what is held stays. */
    bool seen[64] = {false};
    for (moment.frame = 1000; moment.frame < 1064; moment.frame++) {
        corpus_values(&corpus.shaders[0], &moment, push);
        float progress = float_at(push, 0) * 64;
        assert_true(progress >= 0 && progress < 64 && progress == floorf(progress));
        assert_false(seen[(int)progress]);
        seen[(int)progress] = true;
    }
    moment.held = true;
    corpus_values(&corpus.shaders[0], &moment, push);
    moment.frame = 5;
    corpus_values(&corpus.shaders[0], &moment, again);
    assert_memory_equal(push, again, sizeof push);
    corpus_close(&corpus);
}

TEST(values_by_seed)
{
    struct corpus corpus;
    uint8_t push[CORPUS_PUSH_MOST], other[CORPUS_PUSH_MOST];
    assert_true(manifest_open(HEAD "shader a/One 40 image c.spv p.spv\n"
                                   "member f float 0 parameter -8\n"
                                   "member z float 4 parameter 0\n"
                                   "member i int 8 parameter -9\n"
                                   "member n int 12 parameter 0\n"
                                   "member u uint 16 parameter 4294967295\n"
                                   "member b bool 20 parameter 1\n"
                                   "member least int 24 parameter -2147483648\n"
                                   "member most int 28 parameter 2147483647\n"
                                   "member one int 32 parameter 1\n"
                                   "member progress float 36 progress 0\n",
                              &corpus));
    bool moved[9] = {false};
    for (uint32_t seed = 1; seed < 200; seed++) {
        struct corpus_moment moment = {.width = 1, .height = 1, .seed = seed};
        corpus_values(&corpus.shaders[0], &moment, push);
        float f = float_at(push, 0), z = float_at(push, 4);
        int32_t i = int_at(push, 8), n = int_at(push, 12), b = int_at(push, 20);
        uint32_t u = (uint32_t)int_at(push, 16);
        assert_true(f >= -12 && f <= -4);
        assert_true(z >= -0.5f && z < 0.5f);
        assert_true(i >= -13 && i <= -5);
        assert_true(n == 0 || n == 1);
        assert_true(u >= 0x80000000u - 1);
        assert_true(b == 0 || b == 1);
        assert_true(int_at(push, 24) <= -0x40000000 && int_at(push, 28) >= 0x3fffffff);
        assert_int_equal(int_at(push, 32), 1);
        assert_true(float_at(push, 36) == 21 / 64.0f);
        moved[0] |= f != -8;
        moved[1] |= z != 0;
        moved[2] |= i != -9;
        moved[3] |= n != 0;
        moved[4] |= u != UINT32_MAX;
        moved[5] |= b != 1;
        moved[6] |= int_at(push, 24) != INT32_MIN;
        moved[7] |= int_at(push, 28) != INT32_MAX;
        /* The same in every frame. */
        moment.held = true, moment.frame = 7;
        corpus_values(&corpus.shaders[0], &moment, other);
        assert_memory_equal(push, other, sizeof push);
        moment.seed = seed + 1000;
        corpus_values(&corpus.shaders[0], &moment, other);
        moved[8] |= memcmp(push, other, sizeof push) != 0;
    }
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        assert_true(moved[i]);
    corpus_close(&corpus);
}

/* ---------------------------------------------------------------------------------- Wrapping -- */

#define BODY "vec4 transition(vec2 uv) { return getFromColor(uv); }"

static struct wrapping wrapped(bool (*wrap)(struct wrapping *, const char *), const char *text)
{
    struct wrapping wrapping = {.shader = {.name = "t/T"}};
    bool done = wrap(&wrapping, text);
    assert_int_equal(done, wrapping.reason[0] == '\0');
    assert_int_equal(done, wrapping.compute != NULL && wrapping.pass != NULL);
    return wrapping;
}

TEST(transition_uniforms)
{
    struct wrapping w = wrapped(wrap_transition, "// author\n"
                                                 "uniform float a; // = 0.5; // if 0.0, nothing\n"
                                                 "  uniform highp vec3 b;// = vec3(.5)\n"
                                                 "uniform bool c /* = true */;\n"
                                                 "uniform ivec2 d; // = ivec2(8, -3)\n"
                                                 "uniform float e ; // =6\n"
                                                 "uniform vec4 f; //= vec4(0.,0.,0.,.6)\n"
                                                 "uniform float g;\n"
                                                 "uniform sampler2D map;\n"
                                                 "/* uniform float no;\n"
                                                 "uniform float nor; // = this\n"
                                                 "*/ // uniform float neither;\n" BODY);
    const struct corpus_shader *s = &w.shader;
    static const struct {
        const char *name, *type;
        uint32_t offset;
    } members[] = {
        {"progress", "float", 0}, {"ratio", "float", 4}, {"a", "float", 8},
        {"b", "vec3", 16},        {"c", "bool", 28},     {"d", "ivec2", 32},
        {"e", "float", 40},       {"f", "vec4", 48},     {"g", "float", 64},
    };
    assert_string_equal(w.reason, "");
    assert_int_equal(s->member_count, 9);
    assert_int_equal(s->push_size, 68);
    assert_false(s->buffer);
    for (uint32_t i = 0; i < 9; i++) {
        assert_string_equal(s->members[i].name, members[i].name);
        assert_string_equal(s->members[i].type->name, members[i].type);
        assert_int_equal(s->members[i].offset, members[i].offset);
    }
    assert_int_equal(s->members[1].role, CORPUS_RATIO);
    assert_true(s->members[2].values[0].f == 0.5f);
    assert_true(s->members[3].values[2].f == 0.5f);
    assert_int_equal(s->members[4].values[0].u, 1);
    assert_int_equal(s->members[5].values[0].i, 8);
    assert_int_equal(s->members[5].values[1].i, -3);
    assert_true(s->members[6].values[0].f == 6);
    assert_true(s->members[7].values[3].f == 0.6f);
    assert_true(s->members[8].values[0].f == 0);
    assert_non_null(strstr(w.pass, "layout(offset = 48) vec4 f;"));
    assert_non_null(strstr(w.pass, "#define map corpus_second"));
    assert_non_null(strstr(w.compute, "local_size_x = 8"));
    wrapping_free(&w);
}

TEST(transition_refused) /* C-5 */
{
    static const char *const texts[] = {
        "uniform float a, b; // = 1.0\n" BODY,
        "uniform float a[2];\n" BODY,
        "uniform mat3 a;\n" BODY,
        "uniform float a; // = later\n" BODY,
        "uniform float a; // = 1.0 + 2.0\n" BODY,
        "uniform vec2 a; // = vec2(1.0) * 2.0\n" BODY,
        "uniform vec2 a; // = 1.0\n" BODY,
        "uniform vec2 a; // = vec3(1.0)\n" BODY,
        "uniform vec3 a; // = vec3(1.0, 2.0)\n" BODY,
        "uniform vec2 a; // = vec2(1.0, 2.0, 3.0)\n" BODY,
        "uniform vec2 a; // = vec2(1.0, 2.0\n" BODY,
        "uniform vec2 a; // = vec2(1.0,\n2.0)\n" BODY,
        "uniform int a; // = 1.5\n" BODY,
        "uniform bool a; // = 2\n" BODY,
        "uniform float\n a;\n" BODY,
        "uniform float a\n;\n" BODY,
        "uniform float progress;\n" BODY,
        "uniform float ;\n" BODY,
        "uniform vec4 a;\nuniform vec4 b;\nuniform vec4 c;\nuniform vec4 d;\nuniform vec4 e;\n"
        "uniform vec4 f;\nuniform vec4 g;\nuniform float h;\n" BODY,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct wrapping w = wrapped(wrap_transition, texts[i]);
        if (!w.reason[0])
            fail_msg("wrapped: %s", texts[i]);
        wrapping_free(&w);
    }
}

#define OPTION(kind_, lines_) "/*\n[configuration]\n\n[" kind_ "]\n" lines_ "[/configuration]\n*/\n"

TEST(dolphin_options)
{
    struct wrapping w =
        wrapped(wrap_dolphin, "/*\n[configuration]\n"
                              "[OptionBool]\nGUIName = A\nOptionName = A\nDefaultValue = True\n\n"
                              "[OptionRangeInteger]\r\nOptionName = B\r\nMinValue = 0\r\n"
                              "DefaultValue = 3, -4\r\n"
                              "[OptionRangeFloat]\nDefaultValue=0.25f\nOptionName=C_D\n"
                              "[/configuration]\n*/\nvoid main() { SetOutput(Sample()); }");
    const struct corpus_shader *s = &w.shader;
    assert_string_equal(w.reason, "");
    assert_true(s->buffer);
    assert_int_equal(s->member_count, 7);
    assert_string_equal(s->members[0].name, "resolution");
    assert_int_equal(s->members[0].role, CORPUS_RESOLUTION);
    assert_int_equal(s->members[3].role, CORPUS_TIME);
    assert_string_equal(s->members[4].name, "A");
    assert_int_equal(s->members[4].values[0].u, 1);
    assert_string_equal(s->members[5].type->name, "ivec2");
    assert_int_equal(s->members[5].values[1].i, -4);
    assert_string_equal(s->members[6].name, "C_D");
    assert_true(s->members[6].values[0].f == 0.25f);
    wrapping_free(&w);

    static const char *const refused[] = {
        OPTION("OptionColour", "OptionName = A\nDefaultValue = 1\n"),
        OPTION("OptionBool", "DefaultValue = True\n"),
        OPTION("OptionBool", "OptionName = A\n"),
        OPTION("OptionBool", "OptionName = A\nDefaultValue = True, True\n"),
        OPTION("OptionRangeFloat", "OptionName = A\nDefaultValue = one\n"),
        OPTION("OptionRangeFloat", "OptionName = A\nDefaultValue = 1, 2, 3, 4, 5\n"),
        OPTION("OptionRangeFloat", "OptionName = time\nDefaultValue = 1\n"),
        "/*\n[configuration]\n[OptionBool]\nOptionName = A\nDefaultValue = True\n*/\n",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct wrapping not = wrapped(wrap_dolphin, refused[i]);
        if (!not .reason[0])
            fail_msg("wrapped: %s", refused[i]);
        wrapping_free(&not );
    }
}

int main(void)
{
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    int failed = test_run(NULL);
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, CORPUS_MANIFEST);
    unlink(path);
    rmdir(folder);
    return failed;
}
