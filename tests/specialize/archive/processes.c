/* SPDX-License-Identifier: MIT */
/* Several processes at once, some of which are killed: what was acknowledged is there, also where
 * others put verdicts of the same pipeline, a build that was cut short is a strike, a build of a
 * process that lives is none (AR-2, AR-3, AR-4).
 *
 * What the processes have done they write down in shared memory, before and after each step. That
 * is the model: of a step that was cut short either outcome is right. */
#include "archive_helper.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WRITERS 4
#define KEYS    8 /* of each */

enum phase {
    IDLE,
    BEGINNING,
    BUILDING,
    ENDING,
};

struct notes {
    _Atomic uint32_t steps;
    _Atomic uint32_t asked[KEYS]; /* the verdict that is being put, and 1 */
    _Atomic uint32_t done[KEYS];  /* the last one that was put, and 1 */
    _Atomic uint32_t phase[KEYS]; /* of the build beside it */
};

/* A writer's k-th verdict: each pipeline has one of each writer. */
static struct bf_archive_key verdict_key(uint32_t writer, uint32_t k)
{
    return key_of(WRITERS * k + writer);
}

/* Of pipelines that nobody else builds: a strike says whose it is. */
static struct bf_archive_key build_key(uint32_t writer, uint32_t k)
{
    return key_of(4 * (100 + writer * KEYS + k));
}

static struct notes *notes; /* WRITERS of them */
static _Atomic bool *go;

static int notes_setup(void **state)
{
    void *shared = mmap(NULL, sizeof(*notes) * WRITERS + 64, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return -1;
    notes = shared;
    go = (void *)(notes + WRITERS);
    return place_setup(state);
}

static int notes_teardown(void **state)
{
    munmap(notes, sizeof(*notes) * WRITERS + 64);
    return place_teardown(state);
}

/* In a child nothing may assert: it would go on with the parent's tests. */
static void check(bool condition, int line)
{
    if (!condition) {
        fprintf(stderr, "child: line %d\n", line);
        _exit(1);
    }
}
#define check(condition_) (check)(condition_, __LINE__)

static void child_writes(const struct place *place, uint32_t number, uint32_t steps)
{
    struct notes *mine = &notes[number];
    while (!*go)
        sched_yield();
    struct bf_archive *archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
    check(archive);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t k = (i * 5 + number) % KEYS;
        struct bf_archive_key key = verdict_key(number, k), build = build_key(number, k);
        struct bf_verdict verdict = verdict_of(i);
        mine->phase[k] = BEGINNING;
        check(bf_archive_begin(archive, build.hash) == VK_SUCCESS);
        mine->phase[k] = BUILDING;
        mine->asked[k] = i + 1;
        check(bf_archive_put(archive, &key, &verdict) == VK_SUCCESS);
        mine->done[k] = i + 1;
        mine->phase[k] = ENDING;
        bf_archive_end(archive, build.hash);
        mine->phase[k] = IDLE;
        /* What others put comes from them, and is never wrong. */
        if (i % 64 == 0) {
            bf_archive_close(archive);
            archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
            check(archive);
            for (uint32_t other = 0; other < WRITERS * KEYS; other++) {
                struct bf_verdict found, right;
                key = key_of(other);
                check(bf_archive_load(archive, key.hash) == VK_SUCCESS);
                if (!bf_archive_find(archive, &key, &found))
                    continue;
                right = verdict_of(found.n);
                check(found.code == right.code && found.reason == right.reason &&
                      found.gain == right.gain);
            }
        }
        mine->steps = i + 1;
    }
    bf_archive_close(archive);
    check(lines == 0);
}

static pid_t start(const struct place *place, uint32_t number, uint32_t steps)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        child_writes(place, number, steps);
        _exit(0);
    }
    return child;
}

/* The signal that ended it, 0: none. */
static int finish(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Compares what is on disk with the notes. Returns how many keys are barred. */
static uint32_t compare(const struct place *place)
{
    uint32_t barred = 0;
    struct bf_archive *archive = open_at(place->folder);
    for (uint32_t w = 0; w < WRITERS; w++)
        for (uint32_t k = 0; k < KEYS; k++) {
            const struct notes *n = &notes[w];
            uint32_t found = look(archive, WRITERS * k + w);
            const struct bf_archive_key build = build_key(w, k);
            if (found != n->asked[k])
                assert_int_equal(found, n->done[k]);
            assert_success(bf_archive_load(archive, build.hash));
            const bool is_barred = bf_archive_barred(archive, build.hash);
            assert_int_not_equal(n->phase[k], is_barred ? IDLE : BUILDING);
            barred += is_barred;
        }
    bf_archive_close(archive);
    assert_int_equal(files_with(place, ".building."), 0);
    assert_int_equal(lines, 0);
    return barred;
}

#define PLACE_TEST(name_) TEST_ON(name_, notes_setup, notes_teardown, struct place *place)

PLACE_TEST(several_put)
{
    pid_t children[WRITERS];
    for (uint32_t i = 0; i < WRITERS; i++)
        children[i] = start(place, i, 1500);
    *go = true;
    for (uint32_t i = 0; i < WRITERS; i++)
        assert_int_equal(finish(children[i]), 0);
    assert_int_equal(compare(place), 0);
}

static void folder_empty(const struct place *place)
{
    for (uint32_t w = 0; w < WRITERS; w++)
        for (uint32_t k = 0; k < KEYS; k++) {
            unlink(file_of(place, WRITERS * k + w, VERDICTS));
            unlink(file_of(place, 4 * (100 + w * KEYS + k), BARRED_));
        }
}

PLACE_TEST(some_are_killed)
{
    uint32_t random = 7, barred = 0;
    for (uint32_t round = 0; round < 40; round++) {
        memset(notes, 0, sizeof(*notes) * WRITERS);
        *go = false;
        pid_t children[WRITERS];
        for (uint32_t i = 0; i < WRITERS; i++)
            children[i] = start(place, i, 100000);
        *go = true;
        for (uint32_t i = 0; i < WRITERS; i++) {
            random = random * 1664525u + 1013904223u;
            while (notes[i].steps < random >> 26)
                sched_yield();
            kill(children[i], SIGKILL);
        }
        for (uint32_t i = 0; i < WRITERS; i++)
            assert_int_equal(finish(children[i]), SIGKILL);
        barred += compare(place);
        folder_empty(place);
    }
    /* The kills came in the middle of builds, too. */
    assert_int_not_equal(barred, 0);
}

PLACE_TEST(a_build_of_the_living_is_no_strike)
{
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct bf_archive_key key = key_of(0);
        struct bf_archive *archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
        check(archive && bf_archive_begin(archive, key.hash) == VK_SUCCESS);
        check(write(tell[1], "b", 1) == 1);
        pause();
        _exit(1);
    }
    char byte;
    assert_int_equal(read(tell[0], &byte, 1), 1);
    struct bf_archive *living = open_at(place->folder);
    assert_int_equal(look(living, 0), 0);
    struct bf_archive *later = open_at(place->folder);
    assert_int_equal(look(later, 0), 0);
    bf_archive_close(later);

    kill(child, SIGKILL);
    assert_int_equal(finish(child), SIGKILL);
    struct bf_archive *dead = open_at(place->folder);
    assert_int_equal(look(dead, 0), BARRED);
    assert_int_equal(look(living, 0), 0);
    bf_archive_close(dead);
    bf_archive_close(living);
    close(tell[0]);
    close(tell[1]);
}

int main(int argc, char **argv)
{
    alarm(100);
    return test_run(argc > 1 ? argv[1] : NULL);
}
