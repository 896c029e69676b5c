/* SPDX-License-Identifier: MIT */
/* Looks whether a thread of the process sleeps, by proc(5). */
#include "support/asleep.h"

#include <dirent.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

char thread_state(int id)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", id);
    FILE *file = fopen(path, "r");
    if (!file)
        return 'X';
    size_t n = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[n] = '\0';
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] ? name_end[2] : 'X';
}

bool thread_waits(int id)
{
    if (thread_state(id) != 'S')
        return false;
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", id);
    FILE *file = fopen(path, "r");
    if (!file)
        return true; /* a kernel that doesn't say */
    long number = -1;
    unsigned long word, operation, expected;
    int n = fgets(line, sizeof(line), file)
                ? sscanf(line, "%ld %lx %lx %lx", &number, &word, &operation, &expected)
                : 0;
    fclose(file);
    if (n != 4 || number != SYS_futex)
        return n == 4;
    bool bitset = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    return bitset && !(operation == FUTEX_WAIT_BITSET_PRIVATE && expected == 2);
}

/* How often the thread has given up its processor, or lost it. */
static uint64_t thread_switches(int id)
{
    char path[64], line[128];
    unsigned long long switches, sum = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/status", id);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &switches) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &switches) == 1)
            sum += switches;
    }
    if (file)
        fclose(file);
    return sum;
}

/* Looks at them one after the other; false: one doesn't sleep. */
static bool other_threads_look(uint64_t *switches)
{
    DIR *tasks = opendir("/proc/self/task");
    bool sleep = tasks != NULL;
    *switches = 0;
    for (struct dirent *entry; sleep && (entry = readdir(tasks)) != NULL;) {
        const int id = atoi(entry->d_name);
        if (id == 0 || id == gettid())
            continue;
        *switches += thread_switches(id);
        sleep = thread_state(id) == 'S';
    }
    if (tasks)
        closedir(tasks);
    return sleep;
}

bool other_threads_wait(void)
{
    uint64_t before, after;
    return other_threads_look(&before) && other_threads_look(&after) && before == after;
}

void other_threads_await_sleep(void)
{
    while (!other_threads_wait())
        sched_yield();
}
