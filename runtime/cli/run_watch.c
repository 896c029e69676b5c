/* SPDX-License-Identifier: MIT */
/* Waits for the end of a program, and says that it has left no trace. */
#include "cli/run_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

/* The watcher would be a child of a process that takes in orphans: the program's. */
static bool takes_orphans(void)
{
    int subreaper = 0;
    return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &subreaper) != 0 || subreaper;
}

/* The watcher. 'begun' ends without a byte once the program has taken this process's place. */
static void watch(const char *program, const char *trace, int process, int begun)
{
    char byte;
    struct stat status;
    prctl(PR_SET_NAME, "belfry-watch");
    ssize_t got;
    while ((got = read(begun, &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 0)
        return;
    struct pollfd end = {.fd = process, .events = POLLIN};
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        continue;
    if (end.revents & POLLIN && stat(trace, &status) != 0 && errno == ENOENT)
        cli_warn("there is no trace in %s: %s is over, and neither it nor what it has started has "
                 "created a Vulkan device with Belfry",
                 trace, program);
}

/* Everything but stderr and these two goes. */
static void files_close(int a, int b)
{
    int low = a < b ? a : b;
    int high = a < b ? b : a;
    for (int fd = 0; fd < 3; fd++)
        if (fd != STDERR_FILENO && fd != low && fd != high)
            close(fd);
    if (low > 3)
        close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1)
        close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0u, 0);
}

int run_watch_begin(const char *program, const char *trace)
{
    int begun[2];
    if (!isatty(STDERR_FILENO) || takes_orphans())
        return -1;
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (process < 0)
        return -1;
    if (pipe2(begun, O_CLOEXEC) != 0) {
        close(process);
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        close(begun[1]);
        files_close(process, begun[0]);
        if (chdir("/") == 0)
            watch(program, trace, process, begun[0]);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(process);
    close(begun[0]);
    return begun[1];
}

void run_watch_end(int watch)
{
    if (watch < 0)
        return;
    while (write(watch, "", 1) < 0 && errno == EINTR)
        continue;
    close(watch);
}
