/* SPDX-License-Identifier: MIT */
/* belfry-random: runs random programs on a Vulkan device, each in an order of submits, waits,
 * host signals and host waits that is legal Vulkan, and checks that all that may finish does,
 * that nothing else happens, and that effects are seen where they must be.
 *
 * Exit codes: 0 all is well, 1 a violation was found (its seed is printed), 2 this program or the
 * set-up is at fault, 77 there is no device for it. */
#include <link.h>
#include <time.h>

#include "run.h"

enum { PROGRAMS_PER_DEVICE = 50 };

struct options {
    uint64_t seed, count;
    struct plan_limits limits;
    int watchdog_s;
    bool verbose, plan_only, attach, vulkan_only;
};

#ifdef __SANITIZE_THREAD__
/* What lavapipe writes as a GPU does, the sanitizer takes for a thread of the program's that
 * nothing orders: words and logs are read while that goes on. */
const char *__tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void)
{
    return "race:libvulkan_lvp.so\n";
}
#endif

static const char USAGE[] =
    "usage: belfry-random [options]\n"
    "  --seed S         first seed (default 1); program i of a run has seed S + i\n"
    "  --count N        programs to run (default 200)\n"
    "  --only-seed S    run the program with that seed, as it ran in any run\n"
    "  --queues-max N   at most N queues in a program (1 to 12)\n"
    "  --threads-max N  at most N threads (1 to 4)\n"
    "  --submits-max N  at most N submitting calls (1 to 200)\n"
    "  --shape NAME     any, mixed, chain, brake, burst, fence, binary, race, pulse or late\n"
    "  --attach         use Belfry as a library, without the layer\n"
    "  --vulkan-only    leave Belfry's own API alone\n"
    "  --watchdog S     a program in which nothing moves for S seconds hangs (default 60)\n"
    "  --verbose        print each program before it runs\n"
    "  --plan-only      print and check programs, without any device: 16 queues are assumed\n"
    "BELFRY_GPU in the environment picks a device by a part of its name.\n"
    "The same seed gives the same program only with the same limits and the same device.\n";

static bool number_parse(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    errno = 0;
    uint64_t parsed = strtoull(text, &end, 0);
    if (errno || end == text || *end || parsed < low || parsed > high || *text == '-')
        return false;
    *value = parsed;
    return true;
}

static bool shape_parse(const char *text, enum plan_shape *shape)
{
    for (int i = 0; i < SHAPE_COUNT; i++) {
        if (!strcmp(text, plan_shape_name((enum plan_shape)i))) {
            *shape = (enum plan_shape)i;
            return true;
        }
    }
    return false;
}

/* 0, or 2 after a line that names the argument; -1: help was wanted. */
static int options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.seed = 1,
                                .count = 200,
                                .limits = {PLAN_QUEUES, PLAN_THREADS, PLAN_SUBMITS, SHAPE_ANY},
                                .watchdog_s = 60};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        const char *text = i + 1 < argc ? argv[i + 1] : "";
        uint64_t value = 0;
        bool good = true;
        if (!strcmp(name, "--help")) {
            fputs(USAGE, stdout);
            return -1;
        } else if (!strcmp(name, "--verbose")) {
            options->verbose = true;
            continue;
        } else if (!strcmp(name, "--plan-only")) {
            options->plan_only = true;
            continue;
        } else if (!strcmp(name, "--attach")) {
            options->attach = true;
            continue;
        } else if (!strcmp(name, "--vulkan-only")) {
            options->vulkan_only = true;
            continue;
        } else if (!strcmp(name, "--seed")) {
            good = number_parse(text, 0, UINT64_MAX, &options->seed);
        } else if (!strcmp(name, "--only-seed")) {
            good = number_parse(text, 0, UINT64_MAX, &options->seed);
            options->count = 1;
        } else if (!strcmp(name, "--count")) {
            good = number_parse(text, 1, UINT64_MAX, &options->count);
        } else if (!strcmp(name, "--queues-max")) {
            good = number_parse(text, 1, PLAN_QUEUES, &value);
            options->limits.queues = (int)value;
        } else if (!strcmp(name, "--threads-max")) {
            good = number_parse(text, 1, PLAN_THREADS, &value);
            options->limits.threads = (int)value;
        } else if (!strcmp(name, "--submits-max")) {
            good = number_parse(text, 1, PLAN_SUBMITS, &value);
            options->limits.submits = (int)value;
        } else if (!strcmp(name, "--watchdog")) {
            good = number_parse(text, 1, 100000, &value);
            options->watchdog_s = (int)value;
        } else if (!strcmp(name, "--shape")) {
            good = shape_parse(text, &options->limits.shape);
        } else {
            fprintf(stderr, "belfry-random: unknown option %s\n%s", name, USAGE);
            return 2;
        }
        if (!good) {
            fprintf(stderr, "belfry-random: bad value '%s' for %s\n", text, name);
            return 2;
        }
        i++;
    }
    return 0;
}

static int library_is_layer(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    if (info->dlpi_name && strstr(info->dlpi_name, "VkLayer_belfry"))
        *(bool *)found = true;
    return 0;
}

/* False after a line on stderr: the plan is not legal, which is a fault of ours. */
static bool plan_make(struct plan *plan, uint64_t seed, const struct machine *machine,
                      const struct options *options)
{
    struct rng rng = {seed};
    plan_generate(plan, seed, machine, &options->limits, &rng);
    plan_order(plan, machine, &options->limits, &rng);
    plan_native(plan, machine);
    const char *error = plan_model(plan, &rng);
    if (options->verbose) {
        plan_dump(plan, stdout);
        fflush(stdout);
    }
    if (!error)
        return true;
    fprintf(stderr, "belfry-random: program %" PRIu64 " is not legal: %s\n", seed, error);
    plan_dump(plan, stderr);
    return false;
}

struct tally {
    uint64_t batches, ops, early_waits, unfinished;
};

/* How much of what makes this hard there was. */
static void tally_add(struct tally *tally, const struct plan *plan)
{
    tally->batches += (uint64_t)plan->batch_count;
    tally->ops += (uint64_t)plan->op_count;
    for (int b = 0; b < plan->batch_count; b++) {
        const struct plan_batch *batch = &plan->batches[b];
        for (int w = 0; w < batch->wait_count; w++) {
            int source = batch->waits[w].source;
            tally->early_waits += source >= 0 && plan->events[source].op > batch->op;
        }
    }
    for (int i = 0; i < plan->op_count; i++) {
        if (plan->ops[i].kind != OP_SETTLE)
            continue;
        for (int b = 0; b < plan->batch_count; b++)
            tally->unfinished +=
                plan->batches[b].op < i &&
                !plan_set_has(plan->settles[plan->ops[i].settle], plan->batches[b].event);
    }
}

static int plans_only(struct plan *plan, const struct options *options)
{
    struct machine machine = {
        .queue_count = 16,
        .sync2 = true,
        .bf = !options->vulkan_only,
        .attached = options->attach,
        .native = !options->vulkan_only,
        .types = {[BF_COMMAND_LIST_TYPE_DIRECT] = true,
                  [BF_COMMAND_LIST_TYPE_COMPUTE] = true,
                  [BF_COMMAND_LIST_TYPE_COPY] = true},
    };
    for (int i = 0; i < machine.queue_count; i++)
        machine.queues[i] = (struct machine_queue){.family = (uint32_t)i / 6,
                                                   .index = (uint32_t)i % 6,
                                                   .commands = i != 15,
                                                   .sparse = i < 4 || i == 15};
    for (uint64_t i = 0; i < options->count; i++)
        if (!plan_make(plan, options->seed + i, &machine, options))
            return 2;
    return 0;
}

static int programs_run(struct run *run, struct plan *plan, const struct options *options,
                        struct tally *tally)
{
    struct bench *bench = run->bench;
    bool open = false;
    for (uint64_t i = 0; i < options->count; i++) {
        uint64_t seed = options->seed + i;
        if (!open || seed % PROGRAMS_PER_DEVICE == 0) {
            bench_destroy_device(bench);
            if (!bench_create_device(bench, seed / PROGRAMS_PER_DEVICE))
                return 2;
            open = true;
        }
        if (!plan_make(plan, seed, &bench->machine, options))
            return 2;
        tally_add(tally, plan);
        run_plan(run, plan);
    }
    bench_destroy_device(bench);
    if (run->icd.library)
        check_driver(run); /* leaks show when a device goes */
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    int code = options_parse(&options, argc, argv);
    if (code)
        return code < 0 ? 0 : code;
    struct plan *plan = calloc(1, sizeof(*plan));
    struct bench *bench = calloc(1, sizeof(*bench));
    struct run *run = calloc(1, sizeof(*run));
    if (!plan || !bench || !run) {
        code = 2;
        goto out;
    }
    if (options.plan_only) {
        code = plans_only(plan, &options);
        goto out;
    }
    code = bench_open(bench, getenv("BELFRY_GPU"), options.attach, options.vulkan_only);
    if (code)
        goto out;
    if (!run_init(run, bench)) {
        code = 2;
        goto out_bench;
    }
    struct tally tally = {0};
    run->watchdog_s = options.watchdog_s;
    bool icd = belfry_icd_control_load(&run->icd);
    if (!icd && strstr(bench->name, "Belfry test driver")) {
        fputs("belfry-random: the test driver's control functions don't match this build, or "
              "BELFRY_TEST_BUILD doesn't name it\n",
              stderr);
        code = 2;
        goto out_run;
    }
    run->counters_lag = strstr(bench->name, "llvmpipe"); /* as struct machine's 'lags' */
    dl_iterate_phdr(library_is_layer, &run->layer);

    double begin = run_seconds();
    code = programs_run(run, plan, &options, &tally);
    double took = run_seconds() - begin;
    if (!code)
        printf("%" PRIu64 " programs from seed %" PRIu64 " on %s%s%s: %" PRIu64 " batches, %" PRIu64
               " calls, %" PRIu64 " waits submitted before their signal, %" PRIu64
               " batches seen to stand still, %" PRIu64 " log entries read, %" PRIu64
               " lost, %" PRIu64 " presents, %" PRIu64 " of them wait, %" PRIu64
               " before somebody outside has signalled, %" PRIu64
               " signals from outside; %.1f s, %.0f programs a minute\n",
               options.count, options.seed, bench->name, icd ? " (checked below)" : "",
               run->layer       ? " under Belfry"
               : options.attach ? " with Belfry attached"
                                : "",
               tally.batches, tally.ops, tally.early_waits, tally.unfinished,
               atomic_load(&run->logged), atomic_load(&run->lost), atomic_load(&run->presents),
               atomic_load(&run->presents_that_wait), atomic_load(&run->presents_that_pass),
               atomic_load(&run->signals_outside), took, (double)options.count / took * 60);

    belfry_icd_control_unload(&run->icd);
out_run:
    run_finish(run);
out_bench:
    bench_close(bench);
out:
    if (plan)
        free(plan->rows);
    free(plan);
    free(bench);
    free(run);
    return code;
}
