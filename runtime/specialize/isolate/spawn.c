/* SPDX-License-Identifier: MIT */
/* Starting a process that is not the caller's child, by two clones. */
#include "specialize/isolate/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* The thread sanitizer's wrapper takes every clone for a fork. */
#ifdef __SANITIZE_THREAD__
int __clone(int (*function)(void *), void *stack, int flags, void *context, ...);
#define clone __clone
#endif

#define STACK_SIZE (64u << 10) /* of each child */

/* Both children run in the caller's memory while its thread stands still: sanitizers, which keep
 * records per thread, must not instrument them, and they must take no lock of the C library. */
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

struct spawn {
    const char *path, *name;
    char *const *environment;
    int socket;
    uint8_t *stack; /* the end of the second child's */
    int pidfd;
    volatile int error;
};

static long IN_CHILD spawn_syscall(long number, long a, long b, long c, long d)
{
    return syscall(number, a, b, c, d);
}

/* The kernel's sigaction struct, which differs from the C library's. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static int IN_CHILD spawn_second_child(void *context)
{
    struct spawn *spawn = context;
    /* Signal handlers are reset first: they would run in the program's memory. */
    const struct kernel_action standard = {0};
    for (int s = 1; s <= 64; s++)
        spawn_syscall(SYS_rt_sigaction, s, (long)&standard, 0, sizeof(uint64_t));
    const uint64_t none = 0;
    spawn_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof(none));
    /* Not a session: the kernel may share processors out among sessions first (sched_autogroup),
     * and only within each does it matter how idle a thread is. */
    spawn_syscall(SYS_setpgid, 0, 0, 0, 0);

    /* Moves the descriptors above 3, then to 0 to 3. */
    long from = spawn_syscall(SYS_fcntl, spawn->socket, F_DUPFD, BF_SPAWN_SOCKET + 1, 0);
    long null = from < 0 ? from : spawn_syscall(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0);
    if (null >= 0 && null <= BF_SPAWN_SOCKET)
        null = spawn_syscall(SYS_fcntl, null, F_DUPFD, BF_SPAWN_SOCKET + 1, 0);
    if (null < 0) {
        spawn->error = errno;
        return 127;
    }
    for (int fd = 0; fd < BF_SPAWN_SOCKET; fd++)
        spawn_syscall(SYS_dup3, null, fd, 0, 0);
    spawn_syscall(SYS_dup3, from, BF_SPAWN_SOCKET, 0, 0);
    /* The descriptor table is shared with nobody by now. */
    if (spawn_syscall(SYS_close_range, BF_SPAWN_SOCKET + 1, UINT32_MAX, 0, 0) != 0) {
        spawn->error = errno;
        return 127;
    }
    char *const arguments[] = {(char *)spawn->name, NULL};
    spawn_syscall(SYS_execve, (long)spawn->path, (long)arguments, (long)spawn->environment, 0);
    spawn->error = errno;
    return 127;
}

static int IN_CHILD spawn_first_child(void *context)
{
    struct spawn *spawn = context;
    /* The pidfd is put into the descriptor table that this child shares with the program. */
    if (clone(spawn_second_child, spawn->stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
              spawn, &spawn->pidfd) < 0)
        spawn->error = errno;
    return 0;
}

/* All but those that a thread brings on itself: if one of these is blocked then, the kernel ends
 * the process. So it does where a sandbox has SIGSYS for a system call, and a handler for that. */
static void signals_of_others(sigset_t *set)
{
    static const int own[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    sigfillset(set);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(set, own[i]);
}

int bf_spawn(const char *path, const char *name, char *const *environment, int socket, int *pidfd)
{
    struct spawn spawn = {
        .path = path, .name = name, .environment = environment, .socket = socket, .pidfd = -1};
    *pidfd = -1;
    uint8_t *stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return errno;
    spawn.stack = stacks + 2 * STACK_SIZE;

    sigset_t most, before;
    signals_of_others(&most);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    int child =
        clone(spawn_first_child, stacks + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_FILES, &spawn);
    int error = child < 0 ? errno : spawn.error;
    /* A clone child without an exit signal is found by __WCLONE alone. */
    while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
        continue;
    pthread_setcancelstate(cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, 2 * STACK_SIZE);

    if (!error && spawn.pidfd < 0)
        error = ENOSYS;
    spawn.pidfd = bf_descriptor_lift(spawn.pidfd);
    if (!error && spawn.pidfd < 0)
        error = errno;
    if (error && spawn.pidfd >= 0) {
        close(spawn.pidfd);
        spawn.pidfd = -1;
    }
    *pidfd = spawn.pidfd;
    return error;
}
