/* SPDX-License-Identifier: MIT */
/* The barrier in all threads: of two threads that each store and then load what the other stores,
 * one sees the other, though only one of them pays. And a process that may not have it is told
 * so. */
#include "support/test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/membarrier.h"

#define ROUNDS 20000

static struct {
    _Alignas(64) _Atomic uint32_t mine;
    _Alignas(64) _Atomic uint32_t other;
    _Alignas(64) _Atomic uint32_t at[2]; /* the rounds that the two have come to */
} litmus;
static uint32_t seen[2][ROUNDS + 1];

static void both_come_to(uint32_t round, int who)
{
    atomic_store(&litmus.at[who], round);
    for (uint32_t looks = 1; atomic_load(&litmus.at[!who]) < round; looks++)
        if (looks % 1024 == 0)
            sched_yield();
}

static void *stores_then_loads(void *argument)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        both_come_to(i, 1);
        atomic_store_explicit(&litmus.other, i, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        seen[1][i] = atomic_load_explicit(&litmus.mine, memory_order_relaxed);
    }
    return NULL;
}

TEST(one_side_pays)
{
    TEST_NEEDS(bf_membarrier_available(), "expedited membarrier");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stores_then_loads, NULL), 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        both_come_to(i, 0);
        for (volatile uint32_t k = 0; k < i % 8; k++)
            ;
        atomic_store_explicit(&litmus.mine, i, memory_order_relaxed);
        bool passed = bf_membarrier();
        seen[0][i] = passed ? atomic_load_explicit(&litmus.other, memory_order_relaxed) : 0;
    }
    pthread_join(thread, NULL);
    uint32_t missed = 0;
    for (uint32_t i = 1; i <= ROUNDS; i++)
        missed += seen[0][i] < i && seen[1][i] < i;
    assert_int_equal(missed, 0);
}

/* Ends with 0 if the barrier was there until a filter refused it. */
static int refused(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(lines) / sizeof(*lines), lines};
    if (!bf_membarrier() || !bf_membarrier_available())
        return 1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 77;
    return bf_membarrier() || bf_membarrier_available() ? 2 : 0;
}

TEST(a_filter_refuses_it)
{
    TEST_NEEDS(bf_membarrier_available(), "expedited membarrier");
    pid_t child = fork();
    if (child == 0)
        _exit(refused());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    TEST_NEEDS(WEXITSTATUS(status) != 77, "seccomp");
    assert_int_equal(WEXITSTATUS(status), 0);
}
