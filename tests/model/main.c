/* SPDX-License-Identifier: MIT */
/* belfry-model: checks Belfry's scheduler against the ideal machine (ideal.h), program by program,
 * schedule by schedule (run.h says what is compared).
 *
 * Exit codes: 0 all is well, 1 a violation was found (and how to see it again is printed), 2 this
 * program or the set-up is at fault. */
#include <signal.h>
#include <sys/mman.h>

#include "explore.h"

enum { PROGRAMS_PER_DEVICE = 64 };

struct options {
    struct explore_options explore;
    int operations;
    uint64_t sample; /* 0: every program */
    uint64_t seed;
    bool all_names; /* those as well that differ from others in names alone */
    const char *program, *schedule;
    bool any_reads, destroy, orphan; /* of the schedule */
    bool verbose;
};

static const char USAGE[] =
    "usage: belfry-model [options]\n"
    "  --operations N   every program of N operations (default 4, at most 13)\n"
    "  --sample COUNT   COUNT random ones instead; program i has seed S + i\n"
    "  --seed S         (default 1)\n"
    "  --engines M      VkQueues that the three queues share, 1 to 3 (default 3)\n"
    "  --loaded         each queue has an execution under way when the program begins\n"
    "  --reads N        fences are read at N points, anywhere; 'always': after every step\n"
    "                   (default always)\n"
    "  --inside N       at most N finishes of a schedule fall inside of calls (default 0)\n"
    "  --refusals N     the driver runs out of memory in at most N submissions of a schedule\n"
    "                   (default 0)\n"
    "  --high QUEUES    these are of high priority, such as AC\n"
    "  --walks N        N random schedules of each program instead of all, with readings and\n"
    "                   finishes anywhere, priorities, and queues that are destroyed\n"
    "  --runs-max N     give a program up after N schedules\n"
    "  --all-names      also the programs that are another one with queues or fences renamed\n"
    "  --program TEXT   this program alone: 'Ax' queue A executes, 'Asf2' it signals fence f with\n"
    "                   2, 'Bwg1' queue B waits for fence g to reach 1, 'cf0' the CPU sets f to 0\n"
    "  --schedule TEXT  and this schedule alone, printed in full\n"
    "  --any-reads, --destroy, --orphan\n"
    "                   as a violation says that the schedule needs\n"
    "  --verbose        print each program\n";

static struct rig rig;
static bool rig_in_use;
static int programs_on_rig;
static char current[MODEL_TEXT + 80]; /* the program that runs */

static bool rig_renew(int engines)
{
    if (rig_in_use && programs_on_rig < PROGRAMS_PER_DEVICE)
        return true;
    if (rig_in_use && !rig_detach(&rig))
        return false;
    rig_in_use = rig_attach(&rig, engines);
    programs_on_rig = 0;
    return rig_in_use;
}

/* Nothing here waits. A call that hasn't come back in so long never will. */
#define HANG_SECONDS 60

static struct explore_totals totals;
static uint64_t runs_at_alarm;

static void look_for_hang(int number)
{
    (void)number;
    static const char message[] = "belfry-model: VIOLATION: a call doesn't return, in program ";
    if (totals.runs != runs_at_alarm) {
        runs_at_alarm = totals.runs;
        alarm(HANG_SECONDS);
        return;
    }
    ssize_t written = write(STDERR_FILENO, message, sizeof(message) - 1);
    written += write(STDERR_FILENO, current, strlen(current));
    written += write(STDERR_FILENO, "\n", 1);
    _exit(written ? 1 : 2);
}

/* Runs one schedule on a device of its own, and prints what happens to 'file' (may be NULL). */
static void replay(const struct program *program, int engines, const struct finding *finding,
                   FILE *file, struct outcome *outcome)
{
    static struct ideal ends;
    static struct schedule schedule;
    struct run_options options = finding->options;
    options.trace = file;
    schedule = (struct schedule){.text = finding->text};
    ideal_ends(&ends, program, false);
    *outcome = (struct outcome){0};
    struct rig *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || !rig_attach(fresh, engines)) {
        snprintf(outcome->violation, sizeof(outcome->violation), "there is no device to run it on");
        return;
    }
    run_program(fresh, program, &options, &schedule, &ends, NULL, outcome);
    if (schedule.diverged && !outcome->violation[0])
        fprintf(stderr, "belfry-model: the schedule does not fit the program\n");
    if (outcome->violation[0])
        return; /* the device stays as it is, and attached */
    if (!rig_detach(fresh))
        snprintf(outcome->violation, sizeof(outcome->violation), "objects are left");
    free(fresh);
}

static void report(const struct options *options, const struct program *program,
                   const struct finding *finding)
{
    char text[MODEL_TEXT];
    const struct explore_options *explore = &options->explore;
    printf("belfry-model: VIOLATION: %s\n", finding->violation);
    printf("belfry-model: program: %s\n", program_text(program, text));
    printf("belfry-model: run it alone: belfry-model --engines %d --program '%s'", explore->engines,
           text);
    if (finding->of_program) {
        printf(" --reads 0\n");
        return;
    }
    printf(" --schedule '%s' --inside %d%s%s%s", finding->text, finding->options.inside_budget,
           finding->options.destroy ? " --destroy" : "", finding->options.orphan ? " --orphan" : "",
           finding->options.reads == READS_ANY ? " --any-reads" : "");
    if (finding->options.reads == READS_CHOSEN)
        printf(" --reads %d", finding->options.read_budget);
    if (finding->options.refusal_budget)
        printf(" --refusals %d", finding->options.refusal_budget);
    if (finding->options.high) {
        printf(" --high ");
        for (int q = 0; q < MODEL_QUEUES; q++)
            if (finding->options.high >> q & 1)
                putchar('A' + q);
    }
    printf("%s\n", finding->options.loaded ? " --loaded" : "");

    struct outcome again;
    replay(program, explore->engines, finding, stdout, &again);
    printf("belfry-model: %s\n",
           again.violation[0] ? again.violation
                              : "it doesn't happen on a new device: only the whole run shows it");
}

/* 0, or an exit code. */
static int check(const struct options *options, const struct program *program, struct rng *rng)
{
    static struct finding finding;
    program_text(program, current);
    if (options->verbose)
        printf("%s\n", current);
    if (!rig_renew(options->explore.engines))
        return 2;
    programs_on_rig++;
    if (explore_program(&rig, program, &options->explore, rng, &totals, &finding))
        return 0;
    report(options, program, &finding);
    return 1;
}

/* Puts an execution of each queue before the program. */
static void load(struct program *program)
{
    memmove(program->ops + MODEL_QUEUES, program->ops,
            (size_t)program->count * sizeof(*program->ops));
    for (int q = 0; q < MODEL_QUEUES; q++)
        program->ops[q] = op_of_letter(q);
    program->count += MODEL_QUEUES;
    program_index(program);
}

static int check_all(const struct options *options)
{
    int engine_of[MODEL_QUEUES];
    if (!rig_probe(options->explore.engines, engine_of))
        return 2;
    int letters[MODEL_OPS] = {0}, n = options->operations;
    struct rng rng = {options->seed};
    for (;;) {
        static struct program program;
        program.count = n;
        for (int i = 0; i < n; i++)
            program.ops[i] = op_of_letter(letters[i]);
        if (options->all_names || program_is_canonical(&program, engine_of)) {
            if (options->explore.loaded)
                load(&program);
            program_index(&program);
            int code = check(options, &program, &rng);
            if (code)
                return code;
        }
        int at = n - 1;
        while (at >= 0 && ++letters[at] == MODEL_LETTERS)
            letters[at--] = 0;
        if (at < 0)
            return 0;
    }
}

static int check_sample(const struct options *options)
{
    for (uint64_t i = 0; i < options->sample; i++) {
        static struct program program;
        struct rng rng = {options->seed + i};
        program_random(&program, options->operations, &rng);
        if (options->explore.loaded)
            load(&program);
        int code = check(options, &program, &rng);
        if (code == 1)
            printf("belfry-model: its seed is %" PRIu64 "\n", options->seed + i);
        if (code)
            return code;
    }
    return 0;
}

static int check_one(const struct options *options)
{
    static struct program program;
    static struct finding finding;
    struct rng rng = {options->seed};
    if (!program_parse(&program, options->program)) {
        fprintf(stderr, "belfry-model: '%s' is no program\n", options->program);
        return 2;
    }
    if (!options->schedule)
        return check(options, &program, &rng);
    finding.options = (struct run_options){.reads = options->any_reads            ? READS_ANY
                                                    : options->explore.reads >= 0 ? READS_CHOSEN
                                                                                  : READS_ALWAYS,
                                           .read_budget = options->explore.reads,
                                           .inside_budget = options->explore.inside,
                                           .destroy = options->destroy,
                                           .orphan = options->orphan,
                                           .refusal_budget = options->explore.refusals,
                                           .high = options->explore.high,
                                           .loaded = options->explore.loaded};
    snprintf(finding.text, sizeof(finding.text), "%s", options->schedule);
    struct outcome outcome;
    replay(&program, options->explore.engines, &finding, stdout, &outcome);
    if (outcome.violation[0])
        printf("belfry-model: VIOLATION: %s\n", outcome.violation);
    return outcome.violation[0] != 0;
}

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

static bool queues_parse(const char *text, uint8_t *queues)
{
    *queues = 0;
    for (; *text; text++) {
        if (*text < 'A' || *text >= 'A' + MODEL_QUEUES)
            return false;
        *queues |= (uint8_t)(1 << (*text - 'A'));
    }
    return true;
}

/* 0, or 2 after a line that names the argument; -1: help was wanted. */
static int options_parse(struct options *options, int argc, char **argv)
{
    struct explore_options *explore = &options->explore;
    const struct {
        const char *name;
        bool *flag; /* of what follows one is not NULL */
        uint64_t *number;
        int *integer;
        const char **text;
        uint64_t low, high;
    } rows[] = {{"--verbose", .flag = &options->verbose},
                {"--all-names", .flag = &options->all_names},
                {"--any-reads", .flag = &options->any_reads},
                {"--destroy", .flag = &options->destroy},
                {"--orphan", .flag = &options->orphan},
                {"--sample", .number = &options->sample, .low = 1, .high = UINT64_MAX},
                {"--seed", .number = &options->seed, .high = UINT64_MAX},
                {"--runs-max", .number = &explore->runs_max, .low = 1, .high = UINT64_MAX},
                {"--operations", .integer = &options->operations, .low = 1,
                 .high = MODEL_OPS - MODEL_QUEUES},
                {"--engines", .integer = &explore->engines, .low = 1, .high = MODEL_ENGINES},
                {"--reads", .integer = &explore->reads, .high = MODEL_OPS},
                {"--inside", .integer = &explore->inside, .high = MODEL_OPS},
                {"--refusals", .integer = &explore->refusals, .high = MODEL_OPS},
                {"--walks", .integer = &explore->walks, .low = 1, .high = 1000000},
                {"--program", .text = &options->program},
                {"--schedule", .text = &options->schedule}};
    const size_t count = sizeof(rows) / sizeof(rows[0]);
    *options = (struct options){.explore = {.engines = 3, .reads = -1}, .operations = 4, .seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *text = i + 1 < argc ? argv[i + 1] : "";
        size_t r = 0;
        while (r < count && strcmp(name, rows[r].name) != 0)
            r++;
        bool good = true;
        if (!strcmp(name, "--help")) {
            fputs(USAGE, stdout);
            return -1;
        } else if (!strcmp(name, "--loaded")) {
            explore->loaded = MODEL_QUEUES;
            continue;
        } else if (!strcmp(name, "--high")) {
            good = queues_parse(text, &explore->high);
        } else if (r == count) {
            fprintf(stderr, "belfry-model: unknown option %s\n%s", name, USAGE);
            return 2;
        } else if (rows[r].flag) {
            *rows[r].flag = true;
            continue;
        } else if (rows[r].text) {
            *rows[r].text = text;
        } else if (!strcmp(name, "--reads") && !strcmp(text, "always")) {
            explore->reads = -1;
        } else {
            uint64_t number = 0;
            good = number_parse(text, rows[r].low, rows[r].high, &number);
            if (good && rows[r].number)
                *rows[r].number = number;
            else if (good)
                *rows[r].integer = (int)number;
        }
        if (!good || i + 1 == argc) {
            fprintf(stderr, "belfry-model: bad value '%s' for %s\n", text, name);
            return 2;
        }
        i++;
    }
    return 0;
}

/* Belfry with its defaults, whatever the user has set: by environment or file. */
static void clear_settings(void)
{
    extern char **environ;
    for (char **variable = environ; *variable;) {
        char name[64];
        const char *end = strchr(*variable, '=');
        bool ours =
            !strncmp(*variable, "VK_BELFRY_", 10) || !strncmp(*variable, "VK_MULTI_ENGINE_", 16);
        if (ours && end && (size_t)(end - *variable) < sizeof(name)) {
            memcpy(name, *variable, (size_t)(end - *variable));
            name[end - *variable] = 0;
            unsetenv(name);
            variable = environ;
        } else {
            variable++;
        }
    }
    /* An empty file hides any other. */
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("vk_layer_settings.txt", 0));
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    setenv("VK_LAYER_SETTINGS_PATH", path, 1);
}

int main(int argc, char **argv)
{
    struct options options;
    int code = options_parse(&options, argc, argv);
    if (code)
        return code < 0 ? 0 : code;
    clear_settings();
    signal(SIGALRM, look_for_hang);
    alarm(HANG_SECONDS);
    code = options.program  ? check_one(&options)
           : options.sample ? check_sample(&options)
                            : check_all(&options);
    if (code == 0 && rig_in_use && !rig_detach(&rig))
        code = 1;
    if (code == 0 && totals.programs)
        printf("belfry-model: %" PRIu64 " programs (%" PRIu64 " always finish, %" PRIu64
               " never), %" PRIu64 " schedules, %" PRIu64 " counter queries%s\n",
               totals.programs, totals.finishing, totals.stuck, totals.runs, totals.queries,
               totals.given_up ? "; some programs were given up" : "");
    return code;
}
