/* SPDX-License-Identifier: MIT */
/* 'belfry top': shows what a running program's queues do, and what they wait for. */
#include "cli/top.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"

#define SECOND_NS UINT64_C(1000000000)
/* For answers: of each block, and where there is but one. */
#define WAIT_NS      (SECOND_NS / 2)
#define WAIT_ONCE_NS (3 * SECOND_NS)

/* Of /proc's processes those that can be watched; with 'print' they are listed. *found is the last
 * one. */
static size_t processes_find(pid_t *found, bool print)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    if (!processes)
        return 0;
    for (struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        struct top_process process;
        pid_t id = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
        if (id <= 0 || id == getpid() || !top_process_open(&process, id))
            continue;
        if (top_devices_look(&process, NULL, 1, 0) > 0) {
            count++;
            *found = id;
            if (print)
                printf("%8d  %s\n", (int)id, process.name);
        }
        top_process_close(&process);
    }
    closedir(processes);
    return count;
}

/* The program that is meant; 0: none or several, of which a line has been written. */
static pid_t process_choose(const char *argument)
{
    pid_t id = 0;
    if (argument) {
        char *end;
        errno = 0;
        long number = strtol(argument, &end, 10);
        if (*end || end == argument || errno || number <= 0 || number > INT32_MAX) {
            cli_usage("top", "'%s' is no process id", argument);
            return 0;
        }
        return (pid_t)number;
    }
    size_t count = processes_find(&id, false);
    if (count == 0)
        cli_warn("top: no program's watchdog is on ('belfry run' switches it on)");
    if (count > 1) {
        cli_warn("top: there are several programs: name one by its id");
        processes_find(&id, true);
    }
    return count == 1 ? id : 0;
}

/* Says why it can't be watched, if so. */
static bool process_check(const struct top_process *process, int count,
                          const struct top_device *devices)
{
    if (count < 0)
        cli_warn("top: process %d (%s) can't be looked at: %s", (int)process->id, process->name,
                 strerror(errno));
    else if (count == 0)
        cli_warn(
            "top: process %d (%s) has no device whose watchdog is on: it is with 'belfry run', "
            "or VK_BELFRY_MULTI_ENGINE_WATCHDOG=1000 in its environment",
            (int)process->id, process->name);
    else if (count == 1 && devices[0].answer == TOP_OTHER_VERSION)
        cli_warn("top: process %d (%s) has a Belfry of another version", (int)process->id,
                 process->name);
    else
        return true;
    return false;
}

static bool show(struct top_screen *screen, const struct top_process *process,
                 const struct top_device *devices, int count, const struct top_device *before,
                 int before_count)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return false;
    top_write(to, process, devices, count > 0 ? (size_t)count : 0, before,
              before_count > 0 ? (size_t)before_count : 0);
    bool written = fclose(to) == 0;
    if (written)
        top_screen_show(screen, text);
    free(text);
    return written;
}

static int top_watch(const struct top_process *process, bool once)
{
    int result = CLI_FAILED, counts[2] = {0}, ended = -1;
    struct top_screen *screen = NULL;
    /* Now and before, in turns. */
    struct top_device *devices[2] = {calloc(TOP_DEVICES, sizeof(struct top_device)),
                                     calloc(TOP_DEVICES, sizeof(struct top_device))};
    if (!devices[0] || !devices[1]) {
        cli_warn("out of memory");
        goto end;
    }
#ifdef SYS_pidfd_open
    ended = (int)syscall(SYS_pidfd_open, process->id, 0);
#endif
    counts[0] = top_devices_look(process, devices[0], TOP_DEVICES, once ? WAIT_ONCE_NS : WAIT_NS);
    if (!process_check(process, counts[0], devices[0]))
        goto end;
    if (once) {
        top_write(stdout, process, devices[0], (size_t)counts[0], NULL, 0);
        for (int i = 0; i < counts[0]; i++)
            result = devices[0][i].answer == TOP_ANSWERED ? CLI_DONE : result;
        goto end;
    }
    screen = top_screen_open();
    if (!screen)
        goto end;
    enum top_event event = TOP_TICK;
    uint64_t until_ns = bf_now_ns();
    for (int now = 0; event == TOP_TICK; now = !now) {
        if (!top_process_state(process)) {
            event = TOP_ENDED;
            break;
        }
        if (!show(screen, process, devices[now], counts[now], devices[!now], counts[!now]) ||
            ferror(stdout))
            break;
        until_ns += SECOND_NS;
        if (until_ns < bf_now_ns())
            until_ns = bf_now_ns(); /* it was stopped */
        event = top_screen_wait(screen, until_ns, ended);
        if (event == TOP_TICK)
            counts[!now] = top_devices_look(process, devices[!now], TOP_DEVICES, WAIT_NS);
    }
    result = event == TOP_TICK ? CLI_FAILED : CLI_DONE;
    top_screen_close(screen);
    if (event == TOP_ENDED)
        printf("%d %s has ended\n", (int)process->id, process->name);

end:
    if (ended != -1)
        close(ended);
    free(devices[0]);
    free(devices[1]);
    return result;
}

static int top_main(int argc, char **argv)
{
    static const struct option options[] = {{"once", no_argument, NULL, 'o'}, {0}};
    bool once = false;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option != 'o')
            return cli_usage_option("top", options, argv);
        once = true;
    }
    if (argc - optind > 1)
        return cli_usage("top", "it watches one program at a time");
    pid_t id = process_choose(argv[optind]);
    struct top_process process;
    if (!id)
        return argv[optind] ? CLI_USAGE : CLI_FAILED;
    if (!top_process_open(&process, id)) {
        cli_warn("top: there is no process %d", (int)id);
        return CLI_FAILED;
    }
    int result = top_watch(&process, once);
    top_process_close(&process);
    return result;
}

const struct cli_command cli_top = {
    .name = "top",
    .arguments = "[--once] [PID]",
    .summary = "shows what a running program's queues do and what they wait for",
    .details =
        "Shows, once a second, what the queues of a running program do: its engines with the work\n"
        "they have been at, its queues with the packets that are held and whom they wait for, the\n"
        "fences and timeline semaphores that move or that somebody waits for, the pool for\n"
        "background work, and what stands still, and why. The program may hang; it must have its\n"
        "watchdog on, as under 'belfry run' (setting 'watchdog'), and belong to the same user.\n"
        "Without PID it is the only such program that runs; several are listed.\n\n"
        "  --once     show it once, as lines\n\n"
        "'q' or Ctrl-C ends it, and so does the program's end. Where standard output is no\n"
        "terminal, it gets the same as lines, a block each second.\n\n"
        "Exits with 0; with 1 if there is no such program, or several, or it can't be watched.\n",
    .main = top_main,
};
