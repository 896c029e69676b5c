/* SPDX-License-Identifier: MIT */
/* Collects the watchdog's lines. */
#include "standstill/lines.h"

#include <dirent.h>
#include <fnmatch.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

#include <belfry/belfry.h>

#define ROOM 64

char told_line[1024];

static struct {
    pthread_mutex_t lock;
    pthread_cond_t came;
    uint32_t count, heard, settled;
    char lines[ROOM][1024];
} told = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};

static void told_add(BfMessageSeverity severity, const char *text, void *context)
{
    if (strncmp(text, "standstill: ", 12) != 0)
        return;
    pthread_mutex_lock(&told.lock);
    snprintf(told.lines[told.count++ % ROOM], sizeof(told.lines[0]), "%s", text + 12);
    pthread_cond_broadcast(&told.came);
    pthread_mutex_unlock(&told.lock);
}

static bool is_slow(const char *line)
{
    return strncmp(line, "the GPU has been busy", 21) == 0 ||
           fnmatch("thread * has been in the driver *", line, 0) == 0;
}

void told_begin(void)
{
    told.count = told.heard = told.settled = 0;
    assert_int_equal(bfSetMessageCallback(told_add, NULL), VK_SUCCESS);
}

void told_settle(void)
{
    told_await_sleep(false);
    pthread_mutex_lock(&told.lock);
    told.settled = told.count;
    pthread_mutex_unlock(&told.lock);
}

void told_end(void)
{
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    for (; told.heard < told.count; told.heard++) {
        if (!is_slow(told.lines[told.heard % ROOM]))
            fail_msg("told, and not expected: %s", told.lines[told.heard % ROOM]);
    }
}

void told_expect(const char *pattern)
{
    pthread_mutex_lock(&told.lock);
    for (bool found = false; !found;) {
        while (told.heard == told.count)
            pthread_cond_wait(&told.came, &told.lock);
        snprintf(told_line, sizeof(told_line), "%s", told.lines[told.heard++ % ROOM]);
        found = fnmatch(pattern, told_line, 0) == 0;
        if (!found && !is_slow(told_line) && told.heard > told.settled) {
            pthread_mutex_unlock(&told.lock);
            fail_msg("told:   %s\nwanted: %s", told_line, pattern);
        }
    }
    pthread_mutex_unlock(&told.lock);
}

/* The watchdog's thread, as it is in /proc. */
static void watchdog_path(char *path, size_t size)
{
    DIR *tasks = opendir("/proc/self/task");
    path[0] = '\0';
    for (struct dirent *task; !path[0] && (task = readdir(tasks)) != NULL;) {
        char name[32] = "", file[300];
        snprintf(file, sizeof(file), "/proc/self/task/%s/comm", task->d_name);
        FILE *comm = fopen(file, "r");
        if (comm && fgets(name, sizeof(name), comm) && strcmp(name, "belfry-watchdog\n") == 0)
            snprintf(path, size, "/proc/self/task/%s/syscall", task->d_name);
        if (comm)
            fclose(comm);
    }
    closedir(tasks);
}

void told_await_sleep(bool rests)
{
    char path[300];
    char line[256] = "";
    watchdog_path(path, sizeof(path));
    for (bool sleeps = false; !sleeps;) {
        unsigned long number = 0, timeout = 1;
        FILE *file = fopen(path, "r");
        TEST_NEEDS(file && fgets(line, sizeof(line), file), "/proc/self/task/*/syscall");
        fclose(file);
        sleeps =
            sscanf(line, "%lu %*x %*x %*x %lx", &number, &timeout) == 2 && (timeout == 0) == rests;
        sched_yield();
    }
}
