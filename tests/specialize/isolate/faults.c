/* SPDX-License-Identifier: MIT */
/* Helpers whose driver crashes, hangs or refuses, or that talk nonsense; and that the program
 * notices nothing of them (IS-1 to IS-4).
 *
 * Where a helper's own fate is looked at, this process is a child subreaper, so that it becomes a
 * child of ours. */
#include "isolate_helper.h"
#include "isolate_picture.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <spirv/unified1/spirv.h>

#include "base/clock.h"
#include "specialize/isolate/spawn.h"
#include "specialize/isolate/wire.h"

#define PIPELINES(list_) ((const char *const[]){"BELFRY_ICD_PIPELINE=" list_, NULL})
#define SHORT_NS         50000000u  /* for builds that hang: they always outlast it */
#define STEP_NS          10000000u  /* of a processor, for what never ends */
#define WORK_NS          200000000u /* the same, for 'work', which takes 125000000 */

static struct bf_isolate *make_limited(const char *const *variables, uint64_t limit_ns,
                                       uint64_t whole_limit_ns)
{
    struct bf_isolate_info info = info_of(variables);
    info.limit_ns = limit_ns;
    info.whole_limit_ns = whole_limit_ns;
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    lines = 0;
    return isolate;
}

/* 'whole_limit_ns': for a request, whatever keeps its helper. */
static struct bf_isolate *make(const char *const *variables, uint64_t whole_limit_ns)
{
    return make_limited(variables, 0, whole_limit_ns);
}

/* It is for no fault of the request's: 'why' says. */
static void assert_unanswered(struct bf_isolate *isolate, const char *why)
{
    struct made made;
    struct bf_check_answer answer;
    const struct bf_check_request request = {.build_count = 1, .builds = empty(&made, "bad")};
    assert_int_equal(bf_isolate_check(isolate, &request, &answer), VK_INCOMPLETE);
    if (!strstr(answer.why, why))
        fail_msg("'%s' doesn't say '%s'", answer.why, why);
}

/* -------------------------------------------------------------------------------------- Drivers */

TEST(answers_come_back)
{
    struct bf_isolate *isolate =
        make(PIPELINES("-1:memory,-2:device,-13:what,-1000012000:shader,1000297000:cache"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
        isolate_assert_builds(isolate, "memory", VK_ERROR_OUT_OF_HOST_MEMORY);
        isolate_assert_builds(isolate, "device", VK_ERROR_OUT_OF_DEVICE_MEMORY);
        isolate_assert_builds(isolate, "what", VK_ERROR_UNKNOWN);
        isolate_assert_builds(isolate, "shader", VK_ERROR_INVALID_SHADER_NV);
        isolate_assert_builds(isolate, "cache", VK_PIPELINE_COMPILE_REQUIRED);
    }
    bf_isolate_destroy(isolate);
    bf_isolate_destroy(NULL);
    assert_int_equal(lines, 0);
}

/* A helper is idle before there is a driver, and keeps to one processor. [IS-9] */
TEST(helpers_are_modest)
{
    struct bf_isolate *isolate = make((const char *const[]){"BELFRY_ICD_MODEST=1", NULL}, 0);
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    bf_isolate_destroy(isolate);
}

/* What the driver can't be asked is no answer of its. */
TEST(drivers_without_render_passes)
{
    struct made made;
    empty(&made, "main");
    const char *const versions[] = {"BELFRY_ICD_API=1.1", "BELFRY_ICD_API=1.2"};
    for (uint32_t i = 0; i < 2; i++) {
        struct bf_isolate *isolate = make((const char *const[]){versions[i], NULL}, 0);
        struct picture p;
        VkResult result = VK_RESULT_MAX_ENUM;
        picture(&p, true, made.code, made.code);
        assert_int_equal(isolate_build(isolate, &p.request, &result),
                         i ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        assert_int_equal(result, i ? VK_SUCCESS : VK_RESULT_MAX_ENUM);
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
        bf_isolate_destroy(isolate);
    }
}

/* Where the driver may choose the size of subgroups for each pipeline, and the shader can tell,
 * nothing runs (SZ-1). */
TEST(subgroups_of_another_size)
{
    static const char *const sizes[] = {"BELFRY_ICD_SUBGROUP_MOST=8",
                                        "BELFRY_ICD_SUBGROUP_MOST=64"};
    for (uint32_t several = 0; several < 2; several++) {
        for (uint32_t tells = 0; tells < 2; tells++) {
            struct bf_isolate *isolate = make((const char *const[]){sizes[several], NULL}, 0);
            struct made made;
            empty(&made, "main");
            made.compute.stage.flags =
                VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT;
            if (tells) { /* OpCapability GroupNonUniform, in front of the other one */
                memmove(made.words + 7, made.words + 5, made.code.size - 5 * sizeof(uint32_t));
                made.words[6] = SpvCapabilityGroupNonUniform;
                made.code.size += 2 * sizeof(uint32_t);
            }
            const struct bf_build_request builds[2] = {made.request, made.request};
            const struct bf_check_layout layout = {0};
            const struct bf_pipeline_interface interface = {.layout = &layout,
                                                            .workgroup = {1, 1, 1}};
            static const uint8_t push[BF_CHECK_PUSH_BYTES];
            const struct bf_check_info info = {.interface = &interface, .push = push};
            const struct bf_check_request request = {
                .build_count = 2, .builds = builds, .check = &info};
            struct bf_check_answer answer;
            assert_success(bf_isolate_check(isolate, &request, &answer));
            bool said = strstr(answer.why, "subgroups of another size") != NULL;
            assert_int_equal(said, several && tells);
            if (said)
                assert_int_equal(answer.forms[0].reason, BF_REASON_UNCHECKABLE);
            bf_isolate_destroy(isolate);
        }
    }
}

TEST(crashes)
{
    struct bf_isolate *isolate = make(PIPELINES("crash:bad"), 0);
    for (uint32_t i = 0; i < 4; i++) {
        isolate_assert_fails(isolate, "bad", VK_ERROR_UNKNOWN);
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
    }
    for (uint32_t i = 0; i < 4; i++)
        isolate_assert_fails(isolate, "bad", VK_ERROR_UNKNOWN);
    bf_isolate_destroy(isolate);
}

/* A driver that gives up by exit() is no helper that somebody has killed. */
TEST(exits)
{
    struct bf_isolate *isolate = make(PIPELINES("exit:bad"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        isolate_assert_fails(isolate, "bad", VK_ERROR_UNKNOWN);
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
    }
    bf_isolate_destroy(isolate);
}

/* One that computes for ever hangs, however long it takes until it has had the time for that; one
 * that sleeps may be kept from working by others. [IS-14] */
TEST(what_computes_for_ever_hangs)
{
    struct bf_isolate *isolate = make_limited(PIPELINES("spin:bad"), STEP_NS, UINT64_MAX);
    for (uint32_t i = 0; i < 2; i++)
        isolate_assert_fails(isolate, "bad", VK_TIMEOUT);
    bf_isolate_destroy(isolate);
    isolate = make(PIPELINES("hang:bad"), SHORT_NS);
    for (uint32_t i = 0; i < 3; i++)
        assert_unanswered(isolate, "isn't done");
    bf_isolate_destroy(isolate);
}

/* Each step has the limit, not all of them together. [IS-14] */
TEST(many_steps_are_no_hang)
{
    struct bf_isolate *isolate = make_limited(PIPELINES("work"), WORK_NS, UINT64_MAX);
    struct bf_build_request builds[BF_CHECK_BUILDS];
    struct bf_check_answer answer;
    struct made made;
    for (uint32_t i = 0; i < BF_CHECK_BUILDS; i++)
        builds[i] = *empty(&made, "main");
    const struct bf_check_request request = {
        .build_count = BF_CHECK_BUILDS, .builds = builds, .check = NULL};
    assert_success(bf_isolate_check(isolate, &request, &answer));
    assert_success(answer.built);
    assert_int_equal(answer.built_count, BF_CHECK_BUILDS);
    bf_isolate_destroy(isolate);
}

/* -------------------------------------------------------------------------------- Beyond notice */

static _Atomic uint32_t children_told;

static void on_child(int signal_number)
{
    children_told++;
}

static uint32_t descriptors(void)
{
    uint32_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void *wait_for_any(void *child)
{
    int status;
    *(pid_t *)child = waitpid(-1, &status, 0);
    return NULL;
}

TEST(the_program_notices_nothing)
{
    const struct sigaction action = {.sa_handler = on_child};
    struct sigaction before;
    assert_int_equal(sigaction(SIGCHLD, &action, &before), 0);
    uint32_t open_before = descriptors();

    /* A child of the program's own, and a thread that waits for any. */
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        close(tell[1]);
        _exit(read(tell[0], &byte, 1) != 0);
    }
    close(tell[0]);
    pid_t ended = 0;
    pthread_t waiter;
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_any, &ended), 0);

    struct bf_isolate *isolate = make(PIPELINES("crash:bad"), 0);
    for (uint32_t i = 0; i < 3; i++)
        isolate_assert_fails(isolate, "bad", VK_ERROR_UNKNOWN);
    bf_isolate_destroy(isolate);
    isolate = make(PIPELINES("hang"), SHORT_NS);
    isolate_assert_fails(isolate, "main", VK_INCOMPLETE);
    bf_isolate_destroy(isolate);
    isolate = make(NULL, 0);
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    bf_isolate_destroy(isolate);
    assert_int_equal(children_told, 0);

    close(tell[1]);
    pthread_join(waiter, NULL);
    assert_int_equal(ended, child);
    assert_int_equal(children_told, 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(descriptors(), open_before);
    sigaction(SIGCHLD, &before, NULL);
}

/* ---------------------------------------------------------------------------- Helpers' own fate */

static int reaper_setup(void **state)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int reaper_teardown(void **state)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* The only child, which doesn't end of itself. */
static pid_t only_child(void)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *file = fopen(path, "r");
    TEST_NEEDS(file, "/proc/self/task/*/children");
    int child, other;
    int n = fscanf(file, "%d %d", &child, &other);
    fclose(file);
    assert_int_equal(n, 1);
    return child;
}

/* The next child that ends, which has to be by itself. */
static void assert_one_ends(void)
{
    int status;
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_true(WIFEXITED(status));
}

TEST_WITH(how_a_helper_runs, reaper_setup, reaper_teardown)
{
    int inherited[2];
    char path[64], name[16], called[32];
    assert_int_equal(pipe(inherited), 0); /* by children that close nothing */
    assert_int_equal(prctl(PR_GET_NAME, name), 0);
    assert_int_equal(prctl(PR_SET_NAME, "some game's"), 0);
    struct bf_isolate *isolate = make(NULL, 0);
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    pid_t helper = only_child();
    assert_int_equal(sched_getscheduler(helper), SCHED_IDLE);
    assert_int_equal(getsid(helper), getsid(0)); /* see IS-9 */
    assert_int_equal(getpgid(helper), helper);
    snprintf(path, sizeof(path), "/proc/%d/comm", helper);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(called, sizeof(called), file));
    fclose(file);
    assert_string_equal(called, "some game's\n");
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
    struct rlimit core;
    if (prlimit(helper, RLIMIT_CORE, NULL, &core) == 0) { /* of one's own kind alone */
        assert_int_equal(core.rlim_cur, 0);
        assert_int_equal(core.rlim_max, 0);
    }
    char byte;
    close(inherited[1]);
    assert_int_equal(read(inherited[0], &byte, 1), 0); /* nobody has the other end */
    close(inherited[0]);
    /* Of the terminal it hears nothing, nor of whoever asks all processes to end. */
    const int signals[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTERM};
    for (uint32_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        assert_int_equal(kill(helper, signals[i]), 0);
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    assert_int_equal(only_child(), helper);
    bf_isolate_destroy(isolate);
    assert_one_ends();
}

/* -1: there is none of that name. */
static int policy_of_thread(pid_t process, const char *name)
{
    char path[300], called[32];
    int policy = -1;
    snprintf(path, sizeof(path), "/proc/%d/task", process);
    DIR *threads = opendir(path);
    assert_non_null(threads);
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", process, entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(called, sizeof(called), file) && !strcmp(called, name))
            policy = sched_getscheduler(atoi(entry->d_name));
        if (file)
            fclose(file);
    }
    closedir(threads);
    return policy;
}

static void *build_idly(void *isolate)
{
    const struct sched_param none = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &none) == 0)
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
    return NULL;
}

/* The thread that watches has the program's priority, though who needs the helper has not. [IS-9]
 */
TEST_WITH(helpers_are_watched, reaper_setup, reaper_teardown)
{
    pthread_t idle;
    struct bf_isolate *isolate = make(NULL, 0);
    bf_isolate_prepare(isolate);
    assert_int_equal(pthread_create(&idle, NULL, build_idly, isolate), 0);
    assert_int_equal(pthread_join(idle, NULL), 0);
    assert_int_equal(policy_of_thread(only_child(), "bf-watch\n"), SCHED_OTHER);
    assert_int_equal(sched_getscheduler(only_child()), SCHED_IDLE);
    bf_isolate_destroy(isolate);
    assert_one_ends();
}

/* The terminal that is the process's own, 0 for none. */
static int terminal_of(pid_t process)
{
    char path[64];
    int terminal = -1;
    snprintf(path, sizeof(path), "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %d", &terminal) != 1)
        terminal = -1;
    if (file)
        fclose(file);
    return terminal;
}

/* In the session of a program that has one. */
TEST(helpers_have_no_terminal)
{
    pid_t program = fork();
    assert_true(program >= 0);
    if (program == 0) {
        int pair = posix_openpt(O_RDWR | O_NOCTTY);
        setsid();
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (pair < 0 || grantpt(pair) || unlockpt(pair) || open(ptsname(pair), O_RDWR) < 0 ||
            terminal_of(getpid()) <= 0)
            _exit(77);
        struct bf_isolate *isolate = make(NULL, 0);
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
        pid_t helper = only_child();
        _exit(terminal_of(helper) != 0 || getsid(helper) != getpid());
    }
    int status;
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_true(WIFEXITED(status));
    TEST_NEEDS(WEXITSTATUS(status) != 77, "a terminal");
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Becomes a user without rights, but for that to read and search the folders in which the build
 * lies. */
static bool become_ordinary(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {{0}};
    rights[0].permitted = rights[0].effective = rights[0].inheritable = 1u << CAP_DAC_READ_SEARCH;
    return prctl(PR_SET_KEEPCAPS, 1) == 0 && setgroups(0, NULL) == 0 &&
           setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
           syscall(SYS_capset, &header, rights) == 0 &&
           prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0) == 0;
}

static int score_of(pid_t process)
{
    char path[64];
    int score = INT_MIN;
    snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", process);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &score) != 1)
        score = INT_MIN;
    if (file)
        fclose(file);
    return score;
}

/* Of a program that is a user's own, not root's. [IS-11] */
TEST(helpers_go_first_when_memory_is_short)
{
    TEST_NEEDS(geteuid() == 0, "right to become another user");
    struct bf_isolate_info info = info_of(NULL);
    char folder[512];
    snprintf(folder, sizeof(folder), "%s", info.helper);
    char *name = strrchr(folder, '/');
    assert_non_null(name);
    *name = '\0';
    info.helper = name + 1;
    pid_t program = fork();
    assert_true(program >= 0);
    if (program == 0) {
        struct bf_isolate *isolate;
        struct made made;
        VkResult result;
        /* access() has no capabilities: the helper is to be found from here. */
        if (chdir(folder) || !become_ordinary() || prctl(PR_SET_CHILD_SUBREAPER, 1) ||
            bf_isolate_create(&info, &isolate))
            _exit(77);
        if (isolate_build(isolate, empty(&made, "main"), &result))
            _exit(1);
        _exit(score_of(only_child()) == 1000 ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_true(WIFEXITED(status));
    TEST_NEEDS(WEXITSTATUS(status) != 77, "other user");
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_WITH(idle_helpers_end, reaper_setup, reaper_teardown)
{
    struct bf_isolate_info info = info_of(NULL);
    struct bf_isolate *isolate;
    info.idle_ms = 1;
    assert_success(bf_isolate_create(&info, &isolate));
    for (uint32_t i = 0; i < 4; i++) {
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
        assert_one_ends();
    }
    bf_isolate_destroy(isolate);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* One that has been killed while it had nothing to do is no crash. */
TEST_WITH(killed_helpers_are_replaced, reaper_setup, reaper_teardown)
{
    struct bf_isolate *isolate = make(NULL, 0);
    for (uint32_t i = 0; i < 4; i++) {
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
        pid_t helper = only_child();
        assert_int_equal(kill(helper, SIGKILL), 0);
        assert_int_equal(waitpid(helper, NULL, 0), helper);
    }
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    bf_isolate_destroy(isolate);
    assert_one_ends();
}

/* Waits until a child has come to hang in its driver. */
static void await_hang(void)
{
    char path[64], name[32] = "";
    while (strcmp(name, "icd_hangs\n")) {
        snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
        FILE *file = fopen(path, "r");
        int child;
        while (file && strcmp(name, "icd_hangs\n") && fscanf(file, "%d", &child) == 1) {
            snprintf(path, sizeof(path), "/proc/%d/comm", child);
            FILE *comm = fopen(path, "r");
            if (comm && !fgets(name, sizeof(name), comm))
                name[0] = '\0';
            if (comm)
                fclose(comm);
        }
        if (file)
            fclose(file);
        sched_yield();
    }
}

static void *build_bad(void *isolate)
{
    VkResult result, *outcome = malloc(sizeof(*outcome));
    *outcome = isolate_build_empty(isolate, "bad", &result);
    return outcome;
}

static void await_hang_and_kill(void)
{
    int status;
    await_hang();
    pid_t helper = only_child();
    assert_int_equal(kill(helper, SIGTERM), 0);
    assert_int_equal(waitpid(helper, &status, WNOHANG), 0);
    assert_int_equal(kill(helper, SIGKILL), 0);
    assert_int_equal(waitpid(helper, &status, 0), helper);
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* It may be a thread that never rests which keeps it from working. [IS-9] */
TEST_WITH(helpers_that_get_nothing_move, reaper_setup, reaper_teardown)
{
    cpu_set_t allowed, first, now;
    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    TEST_NEEDS(CPU_COUNT(&allowed) > 1, "two processors");
    struct bf_isolate *isolate = make(PIPELINES("hang:bad"), UINT64_MAX);
    pthread_t builder;
    void *outcome;
    assert_int_equal(pthread_create(&builder, NULL, build_bad, isolate), 0);
    await_hang();
    pid_t helper = only_child();
    assert_int_equal(sched_getaffinity(helper, sizeof(first), &first), 0);
    const uint64_t until = bf_now_ns() + 10 * UINT64_C(1000000000);
    do {
        sched_yield();
        assert_int_equal(sched_getaffinity(helper, sizeof(now), &now), 0);
        assert_int_equal(CPU_COUNT(&now), 1);
    } while (CPU_EQUAL(&first, &now) && bf_now_ns() < until);
    bool moved = !CPU_EQUAL(&first, &now);
    for (uint32_t i = 0; i < 2; i++)
        await_hang_and_kill();
    assert_int_equal(pthread_join(builder, &outcome), 0);
    free(outcome);
    bf_isolate_destroy(isolate);
    assert_true(moved);
}

/* Whoever is killed while its driver builds is no crash, nor is the next one. */
TEST_WITH(helpers_killed_while_they_build_are_replaced_once, reaper_setup, reaper_teardown)
{
    struct bf_isolate *isolate = make(PIPELINES("hang:bad"), 0);
    pthread_t builder;
    void *outcome;
    assert_int_equal(pthread_create(&builder, NULL, build_bad, isolate), 0);
    for (uint32_t i = 0; i < 2; i++)
        await_hang_and_kill();
    assert_int_equal(pthread_join(builder, &outcome), 0);
    assert_int_equal(*(VkResult *)outcome, VK_INCOMPLETE);
    free(outcome);
    bf_isolate_destroy(isolate);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* The one that ended idle doesn't count: who is killed after it is replaced once, too. */
TEST_WITH(helpers_that_had_ended_are_none_that_were_killed, reaper_setup, reaper_teardown)
{
    struct bf_isolate *isolate = make(PIPELINES("hang:bad"), 0);
    pthread_t builder;
    void *outcome;
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    pid_t idle = only_child();
    assert_int_equal(kill(idle, SIGKILL), 0);
    assert_int_equal(waitpid(idle, NULL, 0), idle);
    assert_int_equal(pthread_create(&builder, NULL, build_bad, isolate), 0);
    for (uint32_t i = 0; i < 2; i++) /* or the second would be waited for in vain */
        await_hang_and_kill();
    assert_int_equal(pthread_join(builder, &outcome), 0);
    assert_int_equal(*(VkResult *)outcome, VK_INCOMPLETE);
    free(outcome);
    bf_isolate_destroy(isolate);
}

/* And one that crashes says so: nobody tries that again. */
TEST_WITH(helpers_that_crash_are_not_replaced, reaper_setup, reaper_teardown)
{
    struct bf_isolate *isolate = make(PIPELINES("crash:bad"), 0);
    int status;
    isolate_assert_fails(isolate, "bad", VK_ERROR_UNKNOWN);
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    bf_isolate_destroy(isolate);
}

/* In the middle of a build that hangs, too; and though a fork of the program lives on. */
TEST_WITH(helpers_end_with_the_program, reaper_setup, reaper_teardown)
{
    const struct {
        bool hang, forks;
    } rounds[] = {{false, false}, {true, false}, {false, true}, {true, true}};
    for (uint32_t round = 0; round < 4; round++) {
        bool forks = rounds[round].forks;
        int tell[2], fork_lives[2];
        assert_int_equal(pipe(tell), 0);
        assert_int_equal(pipe(fork_lives), 0);
        pid_t program = fork();
        assert_true(program >= 0);
        if (program == 0) {
            struct bf_isolate *isolate = make(PIPELINES("hang:bad"), UINT64_MAX);
            VkResult result = VK_SUCCESS;
            if (isolate_build_empty(isolate, "main", &result) || result)
                _exit(1);
            pid_t fork_of_it = forks ? fork() : -1;
            if (fork_of_it == 0) {
                char byte;
                close(fork_lives[1]);
                _exit(read(fork_lives[0], &byte, 1) != 0);
            }
            if (write(tell[1], "b", 1) == 1 && rounds[round].hang)
                isolate_build_empty(isolate, "bad", &result);
            pause();
            _exit(1);
        }
        char byte;
        close(fork_lives[0]);
        assert_int_equal(read(tell[0], &byte, 1), 1);
        if (rounds[round].hang)
            await_hang();
        assert_int_equal(kill(program, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(program, &status, 0), program);
        assert_true(WIFSIGNALED(status));
        assert_one_ends(); /* the helper: the fork doesn't yet */
        close(fork_lives[1]);
        if (forks)
            assert_one_ends();
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        close(tell[0]);
        close(tell[1]);
    }
}

/* ------------------------------------------------------------------------------------- Nonsense */

static const char *self;

/* This program as a helper that misbehaves. */
static void fake_say(enum bf_wire_kind kind, uint32_t number, uint32_t magic, uint32_t size)
{
    const struct bf_wire_header header = {
        .magic = magic, .kind = (uint32_t)kind, .number = number, .size = size};
    own_helper_say(&header);
}

static void fake_hear(void)
{
    if (!own_helper_hear())
        _exit(2);
}

static bool fake_sees(const char *name, const char *value)
{
    const char *is = getenv(name);
    return value ? is && !strcmp(is, value) : !is;
}

/* Until the program has gone, or done with it. */
static int fake_rest(void)
{
    char byte;
    while (read(BF_SPAWN_SOCKET, &byte, 1) > 0)
        continue;
    return 0;
}

static int fake_helper(const char *how)
{
    fake_hear();
    if (!strcmp(how, "environment") &&
        !(fake_sees("VK_LOADER_LAYERS_DISABLE", "~all~") && fake_sees("VK_INSTANCE_LAYERS", NULL) &&
          fake_sees("VK_LOADER_LAYERS_ENABLE", NULL) && fake_sees("LD_PRELOAD", NULL) &&
          fake_sees("BELFRY", NULL) && fake_sees("DISABLE_BELFRY", "1") &&
          !strcmp(program_invocation_name, "/games/a program") &&
          fake_sees("VK_ICD_FILENAMES", "/kept") && fake_sees("BELFRY_ICD_SHAPE", "q1")))
        return 1;
    if (!strcmp(how, "opens_badly")) {
        fake_say(BF_WIRE_OPENED, 0, 0x12345678, 0);
        fake_hear();
    }
    fake_say(BF_WIRE_OPENED, 0, BF_WIRE_MAGIC, 0);
    if (!strcmp(how, "never_listens"))
        return fake_rest();
    fake_hear();
    if (!strcmp(how, "leaves"))
        return 0;
    if (!strcmp(how, "takes_another"))
        fake_say(BF_WIRE_TAKEN, 77, BF_WIRE_MAGIC, 0);
    fake_say(BF_WIRE_TAKEN, 1, BF_WIRE_MAGIC, 0);
    if (!strcmp(how, "environment") || !strcmp(how, "builds_once"))
        fake_say(BF_WIRE_BUILT, 1, BF_WIRE_MAGIC, 0);
    if (!strcmp(how, "wrong_magic"))
        fake_say(BF_WIRE_BUILT, 1, BF_WIRE_MAGIC + 1, 0);
    if (!strcmp(how, "hangs"))
        fake_say(BF_WIRE_HUNG, 0, BF_WIRE_MAGIC, 0);
    if (!strcmp(how, "half"))
        return write(BF_SPAWN_SOCKET, "BFW1BFW1", 8) != 8;
    if (!strcmp(how, "wrong_kind"))
        fake_say(BF_WIRE_OPENED, 1, BF_WIRE_MAGIC, 0);
    if (!strcmp(how, "with_a_body"))
        fake_say(BF_WIRE_BUILT, 1, BF_WIRE_MAGIC, UINT32_MAX);
    if (!strcmp(how, "wrong_number"))
        fake_say(BF_WIRE_BUILT, 2, BF_WIRE_MAGIC, 0);
    return fake_rest();
}

TEST(helpers_that_talk_nonsense)
{
    const struct {
        const char *how;
        VkResult result;
    } fakes[] = {
        {"FAKE_HELPER=opens_badly", VK_ERROR_INITIALIZATION_FAILED},
        {"FAKE_HELPER=leaves", VK_ERROR_INITIALIZATION_FAILED},
        {"FAKE_HELPER=takes_another", VK_ERROR_INITIALIZATION_FAILED},
        {"FAKE_HELPER=never_listens", VK_ERROR_INITIALIZATION_FAILED},
        {"FAKE_HELPER=half", VK_INCOMPLETE},
        {"FAKE_HELPER=wrong_magic", VK_ERROR_UNKNOWN},
        {"FAKE_HELPER=wrong_kind", VK_ERROR_UNKNOWN},
        {"FAKE_HELPER=with_a_body", VK_ERROR_UNKNOWN},
        {"FAKE_HELPER=wrong_number", VK_ERROR_UNKNOWN},
        {"FAKE_HELPER=hangs", VK_TIMEOUT},
        {"FAKE_HELPER=says_nothing", VK_INCOMPLETE},
    };
    for (uint32_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++) {
        struct bf_isolate_info info = info_of((const char *const[]){fakes[i].how, NULL});
        struct bf_isolate *isolate;
        info.helper = self;
        if (strstr(fakes[i].how, "never"))
            info.open_limit_ns = SHORT_NS; /* too short to start: the result is the same */
        if (strstr(fakes[i].how, "nothing"))
            info.whole_limit_ns = SHORT_NS;
        assert_success(bf_isolate_create(&info, &isolate));
        isolate_assert_fails(isolate, "main", fakes[i].result);
        bf_isolate_destroy(isolate);
    }
}

/* Where the system doesn't let anybody wait, nobody does for ever. */
TEST(programs_that_can_not_wait)
{
    pid_t program = fork();
    assert_true(program >= 0);
    if (program == 0) {
        struct bf_isolate_info info =
            info_of((const char *const[]){"FAKE_HELPER=builds_once", NULL});
        struct bf_isolate *isolate;
        struct made made;
        struct rlimit few;
        VkResult result;
        info.helper = self;
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) || bf_isolate_create(&info, &isolate) ||
            isolate_build(isolate, empty(&made, "main"), &result) || getrlimit(RLIMIT_NOFILE, &few))
            _exit(2);
        few.rlim_cur = 1; /* and two descriptors are looked at */
        if (setrlimit(RLIMIT_NOFILE, &few))
            _exit(2);
        /* Nor is there one for another helper. */
        _exit(isolate_build(isolate, empty(&made, "main"), &result) !=
              VK_ERROR_INITIALIZATION_FAILED);
    }
    int status;
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Drivers find what they look for, and nothing else is loaded. */
TEST(environments)
{
    struct bf_isolate_info info = info_of((const char *const[]){
        "FAKE_HELPER=environment", "VK_INSTANCE_LAYERS=VK_LAYER_none", "VK_LOADER_LAYERS_ENABLE=*",
        "VK_LOADER_LAYERS_DISABLE=a", "LD_PRELOAD=", "BELFRY=1", "DISABLE_BELFRY=0",
        "VK_ICD_FILENAMES=/kept", "BELFRY_ICD_SHAPE=q1", NULL});
    struct bf_isolate *isolate;
    info.helper = self;
    info.name = "/games/a program";
    assert_success(bf_isolate_create(&info, &isolate));
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    bf_isolate_destroy(isolate);
}

/* The helper itself, told nonsense, ends of itself and doesn't crash. */
TEST_WITH(programs_that_talk_nonsense, reaper_setup, reaper_teardown)
{
    struct bf_isolate_info info = info_of(NULL);
    struct bf_wire_out device = {0};
    bf_wire_say_device(&device, &info, (uint32_t)getpid(), UINT32_MAX); /* none ends of idleness */
    uint8_t garbage[300];
    memset(garbage, 0xA5, sizeof(garbage));
    for (uint32_t round = 0; round < 8; round++) {
        int ends[2], pidfd;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        assert_int_equal(bf_spawn(info.helper, "helper", info.environment, ends[1], &pidfd), 0);
        close(ends[1]);
        struct bf_wire_header header = {
            .magic = BF_WIRE_MAGIC, .kind = BF_WIRE_DEVICE, .size = (uint32_t)device.size};
        const void *body = device.bytes;
        if (round == 0)
            header.magic++;
        if (round == 1)
            header.kind = BF_WIRE_CHECK;
        if (round == 2)
            header.size = UINT32_MAX;
        if (round == 3)
            header.size -= 4;
        if (round == 4)
            header.size = sizeof(garbage), body = garbage;
        send(ends[0], &header, sizeof(header), MSG_NOSIGNAL);
        send(ends[0], body, header.size < 4096 ? header.size : 4, MSG_NOSIGNAL);
        if (round >= 5) {
            assert_int_equal(recv(ends[0], &header, sizeof(header), MSG_WAITALL), sizeof(header));
            assert_int_equal(header.result, VK_SUCCESS);
            header = (struct bf_wire_header){.magic = BF_WIRE_MAGIC, .kind = BF_WIRE_CHECK};
            header.size = round == 5 ? 0 : sizeof(garbage);
            if (round == 7)
                header.kind = BF_WIRE_DEVICE;
            send(ends[0], &header, sizeof(header), MSG_NOSIGNAL);
            send(ends[0], garbage, header.size, MSG_NOSIGNAL);
        }
        if (round == 2 || round == 3)
            shutdown(ends[0], SHUT_WR);
        assert_one_ends();
        close(ends[0]);
        close(pidfd);
    }
    bf_wire_out_finish(&device);
}

/* -------------------------------------------------------------------------------------- Several */

struct worker {
    struct bf_isolate *isolate;
    const char *entry;
    VkResult expected;
    _Atomic uint32_t wrong;
};

static void *work(void *context)
{
    struct worker *w = context;
    for (uint32_t i = 0; i < 6; i++) {
        VkResult result;
        w->wrong += isolate_build_empty(w->isolate, w->entry, &result) != w->expected;
    }
    return NULL;
}

TEST(several_at_once)
{
    struct bf_isolate_info info = info_of(PIPELINES("crash:bad"));
    struct bf_isolate *isolate;
    info.helpers = 2;
    assert_success(bf_isolate_create(&info, &isolate));
    struct worker workers[4] = {{isolate, "main", VK_SUCCESS, 0},
                                {isolate, "bad", VK_ERROR_UNKNOWN, 0},
                                {isolate, "other", VK_SUCCESS, 0},
                                {isolate, "main", VK_SUCCESS, 0}};
    pthread_t threads[4];
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    bf_isolate_destroy(isolate);
}

int main(int argc, char **argv)
{
    const char *fake = getenv("FAKE_HELPER");
    if (fake)
        return fake_helper(fake);
    self = own_helper_path();
    if (!self)
        return 77;
    alarm(110);
    return test_run(argc > 1 ? argv[1] : NULL);
}
