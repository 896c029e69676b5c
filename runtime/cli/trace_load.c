/* SPDX-License-Identifier: MIT */
/* Reads a trace's file into a report, with what is wrong with it in words. */
#include "cli/trace_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trace_load *trace_load_create(void)
{
    struct trace_load *load = malloc(sizeof(*load));
    if (!load)
        return NULL;
    load->report = (struct trace_report){.model = trace_model_create()};
    load->report.detail = load->report.model;
    load->usable = false;
    load->intact = true;
    load->message[0] = 0;
    if (!load->report.model) {
        free(load);
        return NULL;
    }
    return load;
}

void trace_load_destroy(struct trace_load *load)
{
    if (!load)
        return;
    if (load->report.detail != load->report.model)
        trace_model_destroy(load->report.detail);
    trace_model_destroy(load->report.model);
    free(load);
}

__attribute__((format(printf, 2, 3))) static void say(struct trace_load *load, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(load->message, sizeof(load->message), format, arguments);
    va_end(arguments);
}

/* Where to stop reading; all 0: at the end of the file. */
struct stop {
    const struct trace_frames *frames;
    uint64_t number;
};

/* Reads the file into a new model. Returns what the reader ended with; PACKET: it was stopped. */
static enum trace_read_result trace_file_read(int fd, struct trace_reader *reader,
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

/* Describes what is wrong with the file. False: there is nothing to report on. */
static bool result_tell(struct trace_load *load, enum trace_read_result result)
{
    const struct trace_model *model = load->report.model;
    const struct trace_reader *reader = &load->reader;
    const char *file = load->report.file;
    bool ours = model->process_count > 0;
    const char *end = ours ? "" : "; nothing of Belfry's was found before it";
    if (model->out_of_memory) {
        say(load, "out of memory");
        return false;
    }
    switch (result) {
    case TRACE_READ_ERROR:
        say(load, "can't read '%s' at byte %" PRIu64 ": %s", file, reader->start + reader->end,
            strerror(reader->error));
        return false;
    case TRACE_READ_DAMAGED:
        if (reader->offset == 0)
            say(load, "'%s' is no Perfetto trace: it doesn't begin with a packet", file);
        else
            say(load, "'%s' is damaged: what begins at byte %" PRIu64 " is no packet%s", file,
                reader->offset, end);
        return ours;
    case TRACE_READ_CUT:
        say(load, "'%s' is cut short: its last packet begins at byte %" PRIu64 "%s", file,
            reader->offset, end);
        return ours;
    default:
        break;
    }
    if (reader->offset == 0) {
        say(load, "'%s' is empty", file);
        return false;
    }
    if (!ours && model->lost.damaged)
        say(load, "'%s' is damaged at byte %" PRIu64 ", and no trace of Belfry's", file,
            model->lost.damaged_first);
    else if (!ours)
        say(load,
            "'%s' is a Perfetto trace, but not one of Belfry's: none of its %" PRIu64
            " bytes describes a queue",
            file, reader->offset);
    else if (model->lost.damaged)
        say(load, "'%s' is damaged: %" PRIu64 " packets left out, the first at byte %" PRIu64, file,
            model->lost.damaged, model->lost.damaged_first);
    return ours;
}

/* Finds the frame to show; reads the file again if that frame has left the window. False: there is
 * no such frame. */
static bool frame_find(struct trace_load *load, int fd, uint64_t number)
{
    struct trace_report *report = &load->report;
    if (!number) {
        report->has_frame = trace_frame_choose(report->model, &report->frames, &report->frame);
        return true;
    }
    if (number > report->frames.count) {
        say(load, "'%s' has %" PRIu64 " frames, not %" PRIu64, report->file, report->frames.count,
            number);
        return false;
    }
    report->has_frame = trace_frame_find(report->model, &report->frames, number, &report->frame);
    if (report->has_frame)
        return true;
    if (lseek(fd, 0, SEEK_SET) != 0) {
        say(load, "can't read '%s' again, as frame %" PRIu64 " asks for: %s", report->file, number,
            strerror(errno));
        return false;
    }
    struct trace_model *detail = trace_model_create();
    if (!detail) {
        say(load, "out of memory");
        return false;
    }
    const struct stop stop = {&report->frames, number};
    struct trace_report unused = {0};
    trace_file_read(fd, &load->reader, detail, &stop, &unused);
    report->detail = detail;
    report->has_frame = trace_frame_find(detail, &report->frames, number, &report->frame);
    if (!report->has_frame)
        say(load, "frame %" PRIu64 " of '%s' is not whole, or has more than %d packets", number,
            report->file, TRACE_WINDOW / 2);
    return report->has_frame;
}

void trace_load_run(struct trace_load *load, const char *name, int fd, uint64_t frame)
{
    struct trace_report *report = &load->report;
    const struct stop never = {0};
    report->file = name;
    enum trace_read_result result =
        trace_file_read(fd, &load->reader, report->model, &never, report);
    report->bytes = load->reader.start + load->reader.end;
    report->oversized = load->reader.oversized;
    report->oversized_first = load->reader.oversized_first;
    report->cut = result == TRACE_READ_CUT;
    report->damaged = result == TRACE_READ_DAMAGED;
    report->broken_offset = load->reader.offset;
    report->broken_bytes = load->reader.length;
    load->intact = !report->damaged && !report->model->lost.damaged;
    if (!result_tell(load, result))
        return;
    report->frames = trace_frames_find(report->model);
    report->asked = frame != 0;
    trace_stalls_find(report->model, &report->stalls);
    if (!frame_find(load, fd, frame))
        return;
    if (report->has_frame) {
        trace_path_find(report->detail, &report->frame, &load->path);
        report->path = &load->path;
    }
    load->usable = true;
}

bool trace_load_recognize(int fd)
{
    struct trace_load *load = trace_load_create();
    if (!load)
        return false;
    struct trace_model *model = load->report.model;
    struct trace_decoder decoder = {0};
    struct trace_item item;
    struct trace_span packet;
    trace_reader_init(&load->reader, fd);
    /* The head of a trace is a few packets, which say whose it is. */
    for (int i = 0; i < 64 && !model->process_count && !model->out_of_memory; i++) {
        if (trace_reader_next(&load->reader, &packet) != TRACE_READ_PACKET ||
            !trace_item_decode(&decoder, packet, &item))
            break;
        trace_model_add(model, &item);
    }
    bool ours = model->process_count > 0;
    trace_decoder_finish(&decoder);
    trace_load_destroy(load);
    return ours;
}
