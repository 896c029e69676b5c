/* SPDX-License-Identifier: MIT */
/* Looks whether a thread of the process sleeps, by proc(5). */
#include "support/asleep.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

char thread_state(int id)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
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
