/*
 * 'belfry trace': reads a timeline that Belfry has written and says what it shows.
 *
 * The file is read once, in bounded memory. A frame that is asked for and has left the window by
 * then is read for a second time, as far as it goes.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/trace_report.h"

struct request {
    const char *file;
    const char *svg;
    bool json;
    uint64_t frame; /* 0: none was asked for */
};

/* What to stop after; all 0: nothing, at the end of the file. */
struct stop {
    const struct trace_frames *frames;
    uint64_t number;
};

/* Reads the file into a new model. Returns what the reader ended with; PACKET: it was stopped. */
static enum trace_read_result file_read(int fd, struct trace_reader *reader,
                                        struct trace_model *model, const struct stop *stop,
                                        struct trace_report *report)
{
    struct trace_decoder decoder = {0};
    struct trace_item item;
    struct trace_span packet;
    enum trace_read_result result;
    uint64_t enough = UINT64_MAX; /* packets; their GPU times come in later */
    trace_reader_init(reader, fd);
    while ((result = trace_reader_next(reader, &packet)) == TRACE_READ_PACKET) {
        if (trace_item_decode(&decoder, packet, &item))
            trace_model_add(model, &item);
        else if (model->lost.damaged++ == 0)
            model->lost.damaged_first = reader->offset;
        if (model->out_of_memory || decoder.out_of_memory)
            break;
        if (!stop->frames)
            continue;
        if (enough == UINT64_MAX && trace_frames_seen(stop->frames, model) >=
                                        trace_frames_ordinal(stop->frames, stop->number + 1))
            enough = model->next_serial + TRACE_WINDOW / 4;
        if (model->next_serial >= enough)
            break;
    }
    model->out_of_memory |= decoder.out_of_memory;
    report->sequences_left_out = decoder.sequences_left_out;
    trace_decoder_finish(&decoder);
    trace_model_settle(model);
    return result;
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

/* What became of the file, for whoever reads stderr only. False: there is nothing to report. */
static bool result_tell(const struct request *request, const struct trace_reader *reader,
                        enum trace_read_result result, const struct trace_model *model)
{
    const char *file = request->file;
    bool ours = model->process_count > 0;
    const char *end = ours ? "" : "; nothing of Belfry's was found before it";
    if (model->out_of_memory) {
        cli_warn("out of memory");
        return false;
    }
    switch (result) {
    case TRACE_READ_ERROR:
        cli_warn("can't read '%s' at byte %" PRIu64 ": %s", file, reader->start + reader->end,
                 strerror(reader->error));
        return false;
    case TRACE_READ_DAMAGED:
        if (reader->offset == 0)
            cli_warn("'%s' is no Perfetto trace: it doesn't begin with a packet", file);
        else
            cli_warn("'%s' is damaged: what begins at byte %" PRIu64 " is no packet%s", file,
                     reader->offset, end);
        return ours;
    case TRACE_READ_CUT:
        cli_warn("'%s' is cut short: its last packet begins at byte %" PRIu64 "%s", file,
                 reader->offset, end);
        return ours;
    default:
        break;
    }
    if (reader->offset == 0) {
        cli_warn("'%s' is empty", file);
        return false;
    }
    if (!ours && model->lost.damaged)
        cli_warn("'%s' is damaged at byte %" PRIu64 ", and no timeline of Belfry's", file,
                 model->lost.damaged_first);
    else if (!ours)
        cli_warn("'%s' is a Perfetto trace, but not one of Belfry's: none of its %" PRIu64
                 " bytes describes a queue",
                 file, reader->offset);
    else if (model->lost.damaged)
        cli_warn("'%s' is damaged: %" PRIu64 " packets left out, the first at byte %" PRIu64, file,
                 model->lost.damaged, model->lost.damaged_first);
    return ours;
}

/* Finds the frame to show, reading again where it has left the window. */
static int frame_find(const struct request *request, int fd, struct trace_reader *reader,
                      struct trace_report *report)
{
    if (!request->frame) {
        report->has_frame = trace_frame_choose(report->model, &report->frames, &report->frame);
        return CLI_DONE;
    }
    if (request->frame > report->frames.count) {
        cli_warn("'%s' has %" PRIu64 " frames, not %" PRIu64, request->file, report->frames.count,
                 request->frame);
        return CLI_FAILED;
    }
    report->has_frame =
        trace_frame_find(report->model, &report->frames, request->frame, &report->frame);
    if (report->has_frame)
        return CLI_DONE;
    if (lseek(fd, 0, SEEK_SET) != 0) {
        cli_warn("can't read '%s' again, as frame %" PRIu64 " asks for: %s", request->file,
                 request->frame, strerror(errno));
        return CLI_FAILED;
    }
    struct trace_model *detail = trace_model_create();
    if (!detail) {
        cli_warn("out of memory");
        return CLI_FAILED;
    }
    const struct stop stop = {&report->frames, request->frame};
    struct trace_report unused = {0};
    file_read(fd, reader, detail, &stop, &unused);
    report->detail = detail;
    report->has_frame = trace_frame_find(detail, &report->frames, request->frame, &report->frame);
    if (!report->has_frame) {
        cli_warn("frame %" PRIu64 " of '%s' is not whole, or has more than %d packets",
                 request->frame, request->file, TRACE_WINDOW / 2);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int picture_write(const struct request *request, const struct trace_report *report)
{
    if (!report->has_frame) {
        cli_warn("'%s' has no whole frame to draw", request->file);
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

/* Everything that needs the file open and the memory there. */
static int file_report(const struct request *request, int fd, struct trace_reader *reader,
                       struct trace_report *report, struct trace_path *path)
{
    const struct stop never = {0};
    enum trace_read_result result = file_read(fd, reader, report->model, &never, report);
    report->bytes = reader->start + reader->end;
    report->oversized = reader->oversized;
    report->oversized_first = reader->oversized_first;
    report->cut = result == TRACE_READ_CUT;
    report->damaged = result == TRACE_READ_DAMAGED;
    report->broken_offset = reader->offset;
    report->broken_bytes = reader->length;
    if (!result_tell(request, reader, result, report->model))
        return CLI_FAILED;
    bool damaged = report->damaged || report->model->lost.damaged;

    report->detail = report->model;
    report->frames = trace_frames_find(report->model);
    int code = frame_find(request, fd, reader, report);
    if (code != CLI_DONE)
        return code;
    if (report->has_frame) {
        trace_path_find(report->detail, &report->frame, path);
        report->path = path;
    }
    if (request->json)
        trace_report_json(report, stdout);
    else
        trace_report_print(report, stdout);
    if (request->svg)
        code = picture_write(request, report);
    return damaged ? CLI_FAILED : code;
}

static int request_run(const struct request *request)
{
    int fd = file_open(request->file);
    if (fd < 0)
        return CLI_FAILED;
    struct trace_report report = {.file = request->file, .model = trace_model_create()};
    struct trace_reader *reader = malloc(sizeof(*reader));
    struct trace_path *path = malloc(sizeof(*path));
    int code = CLI_FAILED;
    if (report.model && reader && path)
        code = file_report(request, fd, reader, &report, path);
    else
        cli_warn("out of memory");
    if (report.detail != report.model)
        trace_model_destroy(report.detail);
    trace_model_destroy(report.model);
    free(reader);
    free(path);
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
            return cli_usage("trace", "there is no option '%s'", argv[optind - 1]);
        }
    }
    if (optind == argc)
        return cli_usage("trace", "which file?");
    if (optind + 1 < argc)
        return cli_usage("trace", "one file at a time, not '%s' too", argv[optind + 1]);
    request.file = argv[optind];
    return request_run(&request);
}

const struct cli_command cli_trace = {
    .name = "trace",
    .arguments = "[OPTIONS] FILE",
    .summary = "says what a timeline shows, and draws it",
    .details =
        "Reads a timeline, which 'belfry run --trace FILE' writes, and prints how long engines\n"
        "were busy and with how much overlap, what queues did and what was held, the waits and\n"
        "whose signals ended them, the critical path of a frame, and what is missing.\n\n"
        "  --svg OUT    also draw a frame and its neighbours into OUT\n"
        "  --frame N    the frame to explain and to draw, from 1; else the last that has whole\n"
        "               neighbours\n"
        "  --json       print JSON instead of tables; times in nanoseconds\n\n"
        "A frame ends when a present is done; without presents, with each submission of the queue\n"
        "that was busy longest (each n-th, where they look alike only n apart). Files of any size\n"
        "are read in about 40 MiB of memory.\n\n"
        "Exits with 0; with 1 if the file can't be read, is damaged or is not Belfry's; with 2 if\n"
        "an option is wrong.\n",
    .main = trace_main,
};
