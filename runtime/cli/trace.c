/* SPDX-License-Identifier: MIT */
/* 'belfry trace': reads a trace that Belfry has written, and prints a report or draws a frame. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/trace_load.h"

#define STANDARD_INPUT "the standard input"

struct request {
    const char *file; /* in messages, too */
    const char *svg;
    bool json;
    bool input;     /* the file is the standard input */
    uint64_t frame; /* 0: none was asked for */
};

/* Standard input. What can't be read twice, where a frame must be looked for, is copied into a file
 * first. -1 after a line on stderr. */
static int input_open(bool twice)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        cli_warn("can't read " STANDARD_INPUT ": %s", strerror(errno));
    if (fd < 0 || !twice || lseek(fd, 0, SEEK_CUR) == 0)
        return fd;
    FILE *copy = tmpfile();
    char buffer[65536];
    ssize_t got = copy ? 1 : -1;
    while (got > 0 && (got = read(fd, buffer, sizeof(buffer))) > 0)
        if (fwrite(buffer, 1, (size_t)got, copy) != (size_t)got)
            got = -1;
    if (got == 0 && fflush(copy) != 0)
        got = -1;
    if (got < 0)
        cli_warn("can't copy " STANDARD_INPUT ": %s", strerror(errno));
    close(fd);
    fd = got < 0 ? -1 : fcntl(fileno(copy), F_DUPFD_CLOEXEC, 0);
    if (copy)
        fclose(copy);
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Opens what must be a file of bytes. -1 after a line on stderr. */
static int file_open(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = errno;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        fd = -1;
        error = EISDIR;
    }
    if (fd < 0)
        cli_warn("can't read '%s': %s", path, strerror(error));
    return fd;
}

static int svg_file_write(const struct request *request, const struct trace_report *report)
{
    if (!report->model->first_ns) {
        cli_warn("'%s' has nothing to draw", request->file);
        return CLI_FAILED;
    }
    FILE *out = fopen(request->svg, "we");
    if (!out) {
        cli_warn("can't write '%s': %s", request->svg, strerror(errno));
        return CLI_FAILED;
    }
    bool drawn = trace_report_svg(report, out);
    bool failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    if (!drawn)
        cli_warn("out of memory: '%s' is empty", request->svg);
    else if (failed)
        cli_warn("can't write '%s': %s", request->svg, strerror(errno));
    return drawn && !failed ? CLI_DONE : CLI_FAILED;
}

/* Would the picture take the place of what it is a picture of? */
static bool is_same_file(int fd, const char *path)
{
    struct stat trace, picture;
    return fstat(fd, &trace) == 0 && S_ISREG(trace.st_mode) && stat(path, &picture) == 0 &&
           trace.st_dev == picture.st_dev && trace.st_ino == picture.st_ino;
}

static int trace_request_run(const struct request *request)
{
    int fd = request->input ? input_open(request->frame > 0) : file_open(request->file);
    if (fd < 0)
        return CLI_FAILED;
    if (request->svg && is_same_file(fd, request->svg)) {
        cli_warn("'%s' is the trace itself: the picture needs a file of its own", request->svg);
        close(fd);
        return CLI_FAILED;
    }
    struct trace_load *load = trace_load_create();
    if (!load) {
        cli_warn("out of memory");
        close(fd);
        return CLI_FAILED;
    }
    int code = CLI_FAILED;
    trace_load_run(load, request->file, fd, request->frame);
    if (load->message[0])
        cli_warn("%s", load->message);
    if (load->usable) {
        if (request->json)
            trace_report_json(&load->report, stdout);
        else
            trace_report_print(&load->report, stdout);
        code = request->svg ? svg_file_write(request, &load->report) : CLI_DONE;
        if (!load->intact)
            code = CLI_FAILED;
    }
    trace_load_destroy(load);
    close(fd);
    return code;
}

static int trace_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"svg", required_argument, NULL, 's'},
        {"frame", required_argument, NULL, 'f'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    struct request request = {0};
    int option;
    char *end;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        switch (option) {
        case 's':
            if (!*optarg)
                return cli_usage("trace", "--svg takes the name of a file");
            request.svg = optarg;
            break;
        case 'f':
            errno = 0;
            request.frame = strtoull(optarg, &end, 10);
            if (*optarg < '0' || *optarg > '9' || *end || errno || !request.frame)
                return cli_usage("trace", "--frame takes a number from 1, not '%s'", optarg);
            break;
        case 'j':
            request.json = true;
            break;
        case ':':
            return cli_usage("trace", "option '%s' lacks its argument", argv[optind - 1]);
        default:
            return cli_usage_option("trace", options, argv);
        }
    }
    if (optind == argc)
        return cli_usage("trace", "which file?");
    if (optind + 1 < argc)
        return cli_usage("trace", "one file at a time, not '%s' too", argv[optind + 1]);
    request.input = strcmp(argv[optind], "-") == 0;
    request.file = request.input ? STANDARD_INPUT : argv[optind];
    return trace_request_run(&request);
}

const struct cli_command cli_trace = {
    .name = "trace",
    .arguments = "[OPTIONS] FILE",
    .summary = "reports what a trace shows, and draws a frame of it",
    .details =
        "Reads a trace, which 'belfry run --trace FILE' writes (FILE may be -, the standard\n"
        "input), and prints what had no end when the trace ended, how long engines were busy and\n"
        "with how much overlap, what queues did and what was held, the waits and whose signals\n"
        "ended them, the critical path of a frame, and what is missing.\n\n"
        "  --svg OUT    also draw a frame and its neighbours into OUT; or the end of the trace,\n"
        "               where that is a standstill, or no frame is whole\n"
        "  --frame N    the frame to explain and to draw, from 1; else the last that has whole\n"
        "               neighbours\n"
        "  --json       print JSON instead of tables; times in nanoseconds\n\n"
        "A frame ends when a present is done; without presents, with each submission of the queue\n"
        "that was busy longest (each n-th, where they look alike only n apart). Files of any size\n"
        "are read in about 30 MiB of memory.\n\n"
        "Exits with 0; with 1 if the file can't be read, is damaged or is not Belfry's; with 2 if\n"
        "an option is wrong.\n",
    .main = trace_main,
};
