/* SPDX-License-Identifier: MIT */
/* Random programs (program.h) on a device, as they are and as spirv-opt leaves them. [FU-1 to FU-3,
 * FU-7, FN-3] Each has a dry-run form. It tells what a processor without limits says that the
 * program does wrong; where that says that it does nothing wrong, it tells of nothing, and writes
 * the same words as the program itself and that processor.
 *
 * --count N, --seed N (of the first; each has the next one), --seconds N (0: until count) */
#include <time.h>

#include "../shader/helper.h"
#include "gpu.h"
#include "program.h"
#include "specialize/dry_run/calls.h"
#include "specialize/dry_run/inlined.h"
#include "support/arguments.h"

#define LOOP_LIMIT  100
#define TOTAL_LIMIT 400
#define INVOCATIONS 32

static uint64_t seed_now;
static uint32_t told[5], refused;

static void __attribute__((format(printf, 4, 5)))
stop(const char *form, const uint32_t *words, size_t count, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "program of seed %llu, %s: ", (unsigned long long)seed_now, form);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    FILE *file = fopen("/tmp/belfry-dry_run.spv", "wb");
    if (file) {
        fwrite(words, sizeof(*words), count, file);
        fclose(file);
    }
    exit(1);
}

struct expectation {
    uint32_t push[4];
    uint32_t flags;    /* of which there must be some, each for sure */
    bool wrong, maybe; /* something is told; may be */
    uint32_t words[GPU_WORDS];
};

static void expect(const struct program *program, struct expectation *e)
{
    struct program_inputs inputs = {gpu_given(), GPU_WORDS, {0}, LOOP_LIMIT, TOTAL_LIMIT};
    memcpy(inputs.push, e->push, sizeof(e->push));
    memset(e->words, 0xa5, sizeof(e->words));
    for (uint32_t me = 0; me < INVOCATIONS; me++) {
        enum program_end end = program_run(program, &inputs, me, e->words + me * PROGRAM_VARIABLES);
        e->maybe |= end == PROGRAM_MAY_RUN_OUT;
        e->wrong |= end > PROGRAM_MAY_RUN_OUT;
        e->flags |= end == PROGRAM_RUNS_OUT    ? (uint32_t)BF_DRY_RUN_FUEL
                    : end == PROGRAM_STEPS_OUT ? (uint32_t)BF_DRY_RUN_BOUNDS
                    : end == PROGRAM_DIVIDES   ? (uint32_t)BF_DRY_RUN_UNDEFINED
                                               : 0;
    }
}

/* 'exact': what it does wrong hasn't been optimized away. */
static void form_run(const char *form, const uint32_t *words, size_t count, bool exact,
                     const struct expectation *expected, uint32_t expected_count)
{
    const struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const struct bf_dry_run_options options = {.binding = GPU_BINDING,
                                               .loop_limit = LOOP_LIMIT,
                                               .total_limit = TOTAL_LIMIT,
                                               .points = count % 2}; /* some of them */
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    if (run.reason != BF_DRY_RUN_FINE) {
        if (run.reason != BF_DRY_RUN_SIZE)
            stop(form, words, count, "%s", bf_dry_run_reason_name(run.reason));
        refused++;
        return;
    }
    VkPipeline dry = gpu_pipeline(run.words, run.word_count), general = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < expected_count; i++) {
        const struct expectation *e = &expected[i];
        struct bf_dry_run_result result;
        uint32_t found[GPU_WORDS];
        gpu_run(dry, false, e->push, found, &result);
        if (result.invocations != INVOCATIONS)
            stop(form, words, count, "%u have told", result.invocations);
        if (e->wrong && exact && ((result.flags & e->flags) != e->flags || !result.flags))
            stop(form, words, count, "flags %u, not %u", result.flags, e->flags);
        told[result.flags & BF_DRY_RUN_UNDEFINED ? 4 : result.flags & 3]++;
        if (e->wrong)
            continue;
        if (result.flags && !e->maybe)
            stop(form, words, count, "flags %u", result.flags);
        if (!result.flags && memcmp(found, e->words, sizeof(found)))
            stop(form, words, count, "other words");
        if (!general)
            general = gpu_pipeline(words, count);
        gpu_run(general, false, e->push, found, NULL);
        if (memcmp(found, e->words, sizeof(found)))
            stop(form, words, count, "the program itself writes other words");
    }
    gpu_pipeline_end(dry);
    gpu_pipeline_end(general);
    bf_dry_run_finish(&run);
}

/* What spirv-opt makes of a module: values in place of variables, phis, code that has moved. Its
 * bugs are its own: NULL where it crashes, or what it has made isn't valid. */
static uint32_t *optimize(const uint32_t *words, size_t count, const char *passes,
                          size_t *out_count)
{
    static uint32_t out[1 << 18];
    FILE *file = fopen("program_plain.spv", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(words, 4, count, file), count);
    fclose(file);
    char command[256];
    snprintf(command, sizeof(command),
             SPIRV_OPT " %s program_plain.spv -o program_optimized.spv 2>/dev/null", passes);
    if (system(command))
        return NULL;
    file = fopen("program_optimized.spv", "rb");
    assert_non_null(file);
    *out_count = fread(out, 4, sizeof(out) / 4, file);
    fclose(file);
    return bf_shader_validate(out, *out_count, VK_API_VERSION_1_3, NULL, 0) == VK_SUCCESS ? out
                                                                                          : NULL;
}

/* With functions that are called from one place each. [FN-3] */
static void parted_run(const uint32_t *words, size_t count, const struct expectation *expected,
                       uint32_t expected_count)
{
    const struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    struct bf_calls calls;
    VkResult result = bf_calls_part(&info, &calls);
    if (result == VK_SUCCESS)
        form_run("parted", calls.words, calls.word_count, true, expected, expected_count);
    else
        refused++;
    bf_calls_finish(&calls);
}

/* And with these in the places that call them; every second program with phis. [FN-5] */
static void inlined_run(const uint32_t *words, size_t count, const struct expectation *expected,
                        uint32_t expected_count)
{
    if (seed_now % 2) {
        words = optimize(words, count, "--ssa-rewrite", &count);
        if (!words)
            return;
    }
    struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    struct bf_calls calls;
    struct bf_inlined inlined;
    char why[256];
    if (bf_calls_part(&info, &calls) != VK_SUCCESS)
        return;
    info.words = calls.words;
    info.word_count = calls.word_count;
    assert_success(bf_inlined_make(&info, &inlined));
    if (bf_shader_validate(inlined.words, inlined.word_count, VK_API_VERSION_1_3, why,
                           sizeof(why)) != VK_SUCCESS)
        stop("inlined", inlined.words, inlined.word_count, "%s", why);
    form_run("inlined", inlined.words, inlined.word_count, true, expected, expected_count);
    bf_inlined_finish(&inlined);
    bf_calls_finish(&calls);
}

static void program_check(uint64_t seed)
{
    struct program *program = program_make(seed);
    struct expectation expected[4] = {{.push = {1, 2, 3, 4}},
                                      {.push = {0, 30, 100, 7}},
                                      {.push = {9, 0, 255, 1000000}},
                                      {.push = {5}}};
    for (uint32_t i = 0; i < 4; i++)
        expect(program, &expected[i]);
    size_t count, optimized_count;
    uint32_t *words = assemble(program_text(program), &count);
    if (bf_shader_validate(words, count, VK_API_VERSION_1_3, NULL, 0) == VK_SUCCESS) {
        form_run("as it is", words, count, true, expected, 4);
        parted_run(words, count, expected, 4);
        inlined_run(words, count, expected, 4);
        uint32_t *optimized = optimize(words, count, "-O", &optimized_count);
        if (optimized)
            form_run("optimized", optimized, optimized_count, false, expected, 4);
    } else {
        refused++; /* a way out of a switch that is more than SPIRV-Tools allows */
    }
    free(words);
    program_free(program);
}

int main(int argc, char **argv)
{
    const uint64_t count = argument(argc, argv, "--count", 40),
                   seed = argument(argc, argv, "--seed", 1),
                   seconds = argument(argc, argv, "--seconds", 0);
    if (!gpu_open()) {
        fprintf(stderr, "no device that computes with robustBufferAccess\n");
        return 77;
    }
    for (uint32_t i = 0; i < GPU_WORDS; i++)
        gpu_given()[i] = i * 2654435761u >> (i % 29);
    const time_t begin = time(NULL);
    char folder[] = "/tmp/belfry-dry_runs-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    uint64_t done = 0;
    for (; seconds ? (uint64_t)(time(NULL) - begin) < seconds : done < count; done++) {
        seed_now = seed + done;
        program_check(seed_now);
    }
    printf("%llu programs from seed %llu; dry runs: %u told of nothing, %u of fuel, %u of bounds, "
           "%u of both, %u of what is undefined; %u forms refused\n",
           (unsigned long long)done, (unsigned long long)seed, told[0], told[1], told[2], told[3],
           told[4], refused);
    unlink("program_plain.spv");
    unlink("program_optimized.spv");
    rmdir(folder);
    gpu_close();
    /* So few may all be alike. */
    return done < 16 || (told[0] && told[1] && told[2] && told[4]) ? 0 : 1;
}
