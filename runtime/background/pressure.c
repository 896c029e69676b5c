/* SPDX-License-Identifier: MIT */
/* Reads from /proc whether memory is short. */
#include "background/pressure.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"

/* The beginning of a file as text; false: it can't be read. */
static bool text_read(const char *folder, const char *name, char *text, size_t size)
{
    char path[512];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file == -1)
        return false;
    ssize_t length = read(file, text, size - 1);
    close(file);
    if (length < 0)
        return false;
    text[length] = '\0';
    return true;
}

static bool number_find(const char *text, const char *before, double *number)
{
    const char *at = strstr(text, before);
    char *end;
    if (!at)
        return false;
    at += strlen(before);
    *number = strtod(at, &end);
    return end != at;
}

void bf_pressure_read(struct bf_pressure *pressure, const char *proc, uint64_t now_ns)
{
    char text[512]; /* what is wanted stands in the first lines */
    double total = 0, available = 0, lost = 0;
    bool short_of = text_read(proc, "meminfo", text, sizeof(text)) &&
                    number_find(text, "MemTotal:", &total) &&
                    number_find(text, "MemAvailable:", &available) && available < total / 10;
    bool waiting = text_read(proc, "pressure/memory", text, sizeof(text)) &&
                   number_find(text, "some avg10=", &lost) && lost > 10;
    pressure->read_ns = now_ns;
    pressure->high = short_of || waiting;
    if (!pressure->high || pressure->warned)
        return;
    pressure->warned = true;
    if (short_of)
        bf_message(BF_MESSAGE_WARNING,
                   "background work waits: %.0f of %.0f MiB of memory are available (said once)",
                   available / 1024, total / 1024);
    else
        bf_message(
            BF_MESSAGE_WARNING,
            "background work waits: %.0f %% of the last 10 s were lost to waiting for memory "
            "(said once)",
            lost);
}
