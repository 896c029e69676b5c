/* SPDX-License-Identifier: MIT */
/* 'belfry log': prints dumps of native fence logs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "log/decode.h"

/* A limit, for devices that can be read without end. */
#define BYTES_MAX ((size_t)1 << 30)

/* --- The file ---------------------------------------------------------------------------------*/

/* Reads all of 'file', into memory that the caller frees; NULL: it failed, and one line says
 * why. */
static uint8_t *log_file_read(int file, const char *name, size_t *size)
{
    uint8_t *bytes = NULL;
    size_t room = 0;
    *size = 0;
    for (;;) {
        if (*size == room) {
            room = room ? 2 * room : (size_t)1 << 16;
            uint8_t *larger = realloc(bytes, room);
            if (!larger) {
                cli_warn("%s: out of memory after %zu bytes", name, *size);
                break;
            }
            bytes = larger;
        }
        ssize_t got = read(file, bytes + *size, room - *size);
        if (got == 0) {
            return bytes;
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            cli_warn("%s: reading at byte %zu: %s", name, *size, strerror(errno));
            break;
        }
        *size += (size_t)got;
        if (*size > BYTES_MAX) {
            cli_warn("%s: more than %zu bytes: no dump of logs", name, BYTES_MAX);
            break;
        }
    }
    free(bytes);
    return NULL;
}

/* --- Words for what is in an entry ------------------------------------------------------------*/

static const char *type_name(BfFenceLogType type)
{
    return type == BF_FENCE_LOG_TYPE_WAITS ? "waits" : "signals";
}

#define OPERATION_ROOM 32

static void operation_name(uint32_t operation, char text[OPERATION_ROOM])
{
    if (operation == BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED) {
        snprintf(text, OPERATION_ROOM, "signal-executed");
    } else if (operation == BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED) {
        snprintf(text, OPERATION_ROOM, "wait-unblocked");
    } else {
        snprintf(text, OPERATION_ROOM, "unknown-%" PRIu32, operation);
    }
}

static const struct {
    uint64_t bit;
    const char *name;
} flags[] = {
    {BF_FENCE_LOG_LATE_BOUND_BIT, "late-bound"},
    {BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT, "observed-from-host"},
    {BF_FENCE_LOG_END_FROM_HOST_BIT, "end-from-host"},
    {BF_FENCE_LOG_UNTIMED_BIT, "untimed"},
};
#define FLAG_COUNT (sizeof(flags) / sizeof(flags[0]))

/* The names of the flags that are set, each between two 'quote's; bits without a name as one. */
static void flags_print(uint64_t set, const char *quote)
{
    const char *comma = "";
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (set & flags[i].bit) {
            printf("%s%s%s%s", comma, quote, flags[i].name, quote);
            comma = ",";
        }
    }
    uint64_t unknown = set & ~(uint64_t)BF_FENCE_LOG_FLAGS_ALL;
    if (unknown) {
        printf("%s%sunknown-0x%" PRIx64 "%s", comma, quote, unknown, quote);
    }
}

/* --- As a table -------------------------------------------------------------------------------*/

static int decimal_digits(uint64_t number)
{
    int count = 1;
    for (; number >= 10; number /= 10) {
        count++;
    }
    return count;
}

static int column_width(int width, uint64_t number)
{
    int other = decimal_digits(number);
    return other > width ? other : width;
}

/* A time, or "-" for none. */
static void time_print(int width, uint64_t time)
{
    if (time) {
        printf("  %*" PRIu64, width, time);
    } else {
        printf("  %*s", width, "-");
    }
}

static void table_print(const struct bf_log_dump *dump, const struct bf_log_decoded *log)
{
    printf("log of %s at byte %" PRIu64 ": entries %" PRIu32 ", index %" PRIu32
           ", wraparounds %" PRIu32 "; written %" PRIu64 ", overwritten %" PRIu64 "\n",
           type_name(log->type), log->offset, log->entries, log->index, log->wraparounds,
           log->written, log->first);
    if (log->count == 0) {
        return;
    }
    int sequence = column_width((int)strlen("number"), log->written - 1);
    int slot = column_width((int)strlen("slot"), log->entries - 1);
    int value = (int)strlen("value");
    int observed = (int)strlen("observed");
    int end = (int)strlen("end");
    for (uint32_t i = 0; i < log->count; i++) {
        BfFenceLogEntry entry = bf_log_decode_entry(dump, log, i);
        value = column_width(value, entry.fenceValue);
        observed = column_width(observed, entry.fenceObservedGpuTimestamp);
        end = column_width(end, entry.fenceEndGpuTimestamp);
    }
    printf("  %*s  %*s  %-10s  %*s  %-15s  %*s  %*s  %s\n", sequence, "number", slot, "slot",
           "fence", value, "value", "operation", observed, "observed", end, "end", "flags");
    for (uint32_t i = 0; i < log->count && !ferror(stdout); i++) {
        BfFenceLogEntry entry = bf_log_decode_entry(dump, log, i);
        char operation[OPERATION_ROOM];
        operation_name(entry.operationType, operation);
        printf("  %*" PRIu64 "  %*" PRIu32 "  0x%08" PRIx32 "  %*" PRIu64 "  %-15s", sequence,
               log->first + i, slot, bf_log_decode_slot(log, i), entry.hNativeFence, value,
               entry.fenceValue, operation);
        time_print(observed, entry.fenceObservedGpuTimestamp);
        time_print(end, entry.fenceEndGpuTimestamp);
        printf("%s", entry.reserved0 ? "  " : "");
        flags_print(entry.reserved0, "");
        printf("\n");
    }
}

/* --- As JSON ----------------------------------------------------------------------------------*/

static void json_print(const struct bf_log_dump *dump, const struct bf_log_decoded *log)
{
    for (uint32_t i = 0; i < log->count && !ferror(stdout); i++) {
        BfFenceLogEntry entry = bf_log_decode_entry(dump, log, i);
        char operation[OPERATION_ROOM];
        operation_name(entry.operationType, operation);
        printf("{\"log\":%" PRIu64 ",\"type\":\"%s\",\"number\":%" PRIu64 ",\"slot\":%" PRIu32
               ",\"fence\":%" PRIu32 ",\"value\":%" PRIu64
               ",\"operation\":\"%s\",\"observed\":%" PRIu64 ",\"end\":%" PRIu64 ",\"flags\":[",
               log->offset, type_name(log->type), log->first + i, bf_log_decode_slot(log, i),
               entry.hNativeFence, entry.fenceValue, operation, entry.fenceObservedGpuTimestamp,
               entry.fenceEndGpuTimestamp);
        flags_print(entry.reserved0, "\"");
        printf("]}\n");
    }
}

/* --- The command ------------------------------------------------------------------------------*/

static int dump_print(const char *name, const uint8_t *bytes, size_t size, bool json)
{
    if (size == 0) {
        cli_warn("%s: at byte 0: empty, and a log's header has %zu bytes", name,
                 sizeof(BfFenceLogHeader));
        return CLI_FAILED;
    }
    struct bf_log_dump dump = {.bytes = bytes, .size = size};
    while (!ferror(stdout)) {
        struct bf_log_decoded log;
        char text[256];
        enum bf_log_decode result = bf_log_decode_next(&dump, &log, text, sizeof(text));
        if (result == BF_LOG_DECODE_END) {
            return CLI_DONE;
        }
        if (result == BF_LOG_DECODE_ERROR) {
            cli_warn("%s: %s", name, text);
            return CLI_FAILED;
        }
        if (json) {
            json_print(&dump, &log);
        } else {
            printf("%s", log.offset ? "\n" : "");
            table_print(&dump, &log);
        }
    }
    return CLI_FAILED; /* 'belfry' itself says why */
}

static int log_main(int argc, char **argv)
{
    const char *name = NULL;
    bool json = false;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && strcmp(word, "--json") == 0) {
            json = true;
        } else if (options && word[0] == '-' && word[1]) {
            return cli_usage("log", "there is no option '%s'%s", word,
                             strncmp(word, "--j", 3) == 0 ? "; did you mean '--json'?" : "");
        } else if (name) {
            return cli_usage("log", "it takes one file, not '%s' too", word);
        } else {
            name = word;
        }
    }
    if (!name) {
        return cli_usage("log", "which file?");
    }

    int file = STDIN_FILENO;
    bool from_stdin = options && strcmp(name, "-") == 0;
    if (!from_stdin) {
        file = open(name, O_RDONLY | O_CLOEXEC);
        if (file < 0) {
            cli_warn("%s: %s", name, strerror(errno));
            return CLI_FAILED;
        }
    }
    name = from_stdin ? "standard input" : name;
    size_t size;
    uint8_t *bytes = log_file_read(file, name, &size);
    if (!from_stdin) {
        close(file);
    }
    if (!bytes) {
        return CLI_FAILED;
    }
    int result = dump_print(name, bytes, size, json);
    free(bytes);
    return result;
}

const struct cli_command cli_log = {
    .name = "log",
    .arguments = "[--json] FILE",
    .summary = "shows what a dump of native fence logs has",
    .details =
        "Shows the entries of the native fence logs in FILE, the oldest first. FILE is a dump: "
        "one\n"
        "or several log buffers, header and entries, one after another, as they lay in memory\n"
        "(belfry/fence_log.h), each in whole 4 KiB pages or not. '-' is standard input.\n\n"
        "  --json   one JSON object in one line for each entry, and nothing else; its numbers are\n"
        "           integers of 64 bits\n\n"
        "For each log: its type, how many entries it has room for, the index of the next one, how\n"
        "often it wrapped around, and how many entries were written and overwritten by others.\n\n"
        "For each entry: its number (0 was the first ever written), its slot in the log, the "
        "fence's\n"
        "handle, the value, the operation, when the GPU came to the wait and when the operation\n"
        "ended (ticks of the device, as they were written; '-' or 0 is none), and of these "
        "flags\n\n"
        "  late-bound          the wait held up only some stages: its end may have been later\n"
        "  observed-from-host  the host took that time, not the GPU\n"
        "  end-from-host       the same\n"
        "  untimed             no time could be had\n\n"
        "If the log was being written as the dump was made, the oldest entry may be half "
        "another.\n\n"
        "Exits with 0, or 1 if FILE can't be read or has something that isn't a log; what comes\n"
        "before that is shown.\n",
    .main = log_main,
};
