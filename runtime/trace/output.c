/* SPDX-License-Identifier: MIT */
/* The memory and the thread between traces and their file. */
#include "trace/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/thread.h"
#include "trace/perfetto.h"

#define FLUSH_NS 50000000u

/* Room that is reserved besides the ends of open slices: the most that one call writes, with new
 * tracks. */
#define CALL_SIZE (16 * 1024)

static void chunk_take(struct bf_output *o)
{
    o->current = o->free[--o->free_count];
    struct bf_output_chunk *chunk = &o->chunks[o->current];
    chunk->events = 0;
    bf_protobuf_init(&o->pb, chunk->data, sizeof(chunk->data));
    o->pending_since_ns = 0;
}

/* Hands the current chunk to the thread, and begins a free one. */
static void chunk_retire(struct bf_output *o)
{
    o->chunks[o->current].size = (uint32_t)o->pb.size;
    o->full[(o->full_begin + o->full_count++) % BF_OUTPUT_CHUNKS] = o->current;
    o->retired++;
    chunk_take(o);
    o->wake = true;
}

/* --- The thread -------------------------------------------------------------------------------*/

/* Writes one chunk. The lock is held, and released while the file is written. */
static void chunk_write(struct bf_output *o)
{
    uint32_t index = o->full[o->full_begin];
    struct bf_output_chunk *chunk = &o->chunks[index];
    o->full_begin = (o->full_begin + 1) % BF_OUTPUT_CHUNKS;
    o->full_count--;
    if (o->error) {
        o->lost += chunk->events;
    } else {
        bf_lock_release(&o->lock);
        size_t kept;
        int error = bf_trace_file_write(&o->file, chunk->data, chunk->size, &kept);
        uint64_t lost = error ? bf_trace_file_events(chunk->data + kept, chunk->size - kept) : 0;
        if (error)
            bf_message(BF_MESSAGE_ERROR, "trace: can't write to '%s': %s; the trace ends here",
                       o->file.path, strerror(error));
        bf_lock_acquire(&o->lock);
        o->error = error;
        o->lost += lost;
        o->bytes = o->file.bytes;
    }
    o->free[o->free_count++] = index;
    o->written++;
    atomic_fetch_add(&o->progress, 1);
    bf_futex_wake(&o->progress, INT32_MAX);
}

static void sleep_until_needed(struct bf_output *o)
{
    uint32_t turn = atomic_load(&o->turn);
    struct timespec until = bf_timespec(o->pending_since_ns + FLUSH_NS);
    bool pending = o->pb.size > 0;
    o->sleeping = true;
    bf_lock_release(&o->lock);
    bf_futex_wait(&o->turn, turn, pending ? &until : NULL);
    bf_lock_acquire(&o->lock);
    o->sleeping = false;
}

static void *write_out(void *argument)
{
    struct bf_output *o = argument;
    bf_lock_acquire(&o->lock);
    for (;;) {
        if (o->pb.size && o->full_count == 0 &&
            (o->flush || o->stop || bf_now_ns() - o->pending_since_ns >= FLUSH_NS))
            chunk_retire(o);
        if (o->full_count) {
            chunk_write(o);
            continue;
        }
        o->flush = false;
        if (o->stop)
            break;
        sleep_until_needed(o);
    }
    bf_lock_release(&o->lock);
    return NULL;
}

/* --- Interface --------------------------------------------------------------------------------*/

/* The process's outputs that have a file, also those that nobody uses at present. The lock is held
 * while a file is created, so that two devices that are created at once share it; never while a
 * file is written. */
static struct bf_lock outputs_lock;
static struct bf_output *outputs;
static struct bf_output_member *told; /* at exit */
static struct bf_output *inherited;   /* the parent's, in a forked child: they stay as they are */

/* Runs in the child of a fork, which has one thread: what others of its parent's held, nobody would
 * release. The files are the parent's. */
static void forget_parent_outputs(void)
{
    struct bf_output **last = &outputs;
    for (; *last; last = &(*last)->next)
        atomic_store(&(*last)->lock.word, 0);
    *last = inherited;
    inherited = outputs;
    outputs = NULL;
    atomic_store(&outputs_lock.word, 0);
}

/* Where this fails for want of memory, a child inherits the parent's state as it is. */
static void handle_forks(void)
{
    pthread_atfork(NULL, NULL, forget_parent_outputs);
}

static void output_free(struct bf_output *o)
{
    bf_trace_file_close(&o->file);
    free(o->file.path);
    free(o->chunks);
    free(o->asked);
    free(o);
}

/* Opens the file, for the first time or again, and starts the thread. Returns 0 or an errno; one
 * line has then been printed, unless it is ENOMEM. */
static int output_open(struct bf_output *o)
{
    struct bf_output_chunk *chunks = calloc(BF_OUTPUT_CHUNKS, sizeof(*chunks));
    if (!chunks)
        return ENOMEM;
    o->chunks = chunks;
    o->free_count = 0;
    for (uint32_t i = BF_OUTPUT_CHUNKS; i-- > 0;)
        o->free[o->free_count++] = i;
    chunk_take(o);
    o->stop = false;
    int error =
        o->file.path ? bf_trace_file_reopen(&o->file) : bf_trace_file_open(&o->file, o->asked);
    if (error)
        bf_message(BF_MESSAGE_ERROR, "trace: can't create '%s': %s", o->asked, strerror(error));
    else if ((error = bf_thread_create(&o->thread, NULL, write_out, o)) != 0)
        bf_message(BF_MESSAGE_ERROR, "trace: nothing can be written to '%s': %s", o->file.path,
                   strerror(error));
    if (error) {
        bf_trace_file_close(&o->file);
        free(o->chunks);
        o->chunks = NULL;
    }
    return error;
}

static int output_make(const char *path, struct bf_output **output)
{
    struct bf_output *o = calloc(1, sizeof(*o));
    if (!o)
        return ENOMEM;
    o->file.fd = -1;
    o->process = getpid();
    o->asked = path ? strdup(path) : NULL;
    int error = path && !o->asked ? ENOMEM : path ? output_open(o) : 0;
    if (error)
        output_free(o);
    else
        *output = o;
    return error;
}

/* The file ends early, or is somebody else's by now: the next trace gets another. The output itself
 * is not freed while the process lasts: somebody may still be waiting for its end. */
static void output_begin_anew(struct bf_output *o)
{
    free(o->file.path);
    o->file = (struct bf_trace_file){.fd = -1};
    o->error = 0;
    o->joined = 0;
    o->events = o->lost = o->bytes = 0;
}

/* The process's output for the path. The lock is held. */
static struct bf_output *output_find(const char *path)
{
    struct bf_output *o = outputs;
    while (o && (o->process != getpid() || strcmp(o->asked, path) != 0))
        o = o->next;
    return o;
}

int bf_output_join(const char *path, struct bf_output **output, uint32_t *number)
{
    static pthread_once_t forks_handled = PTHREAD_ONCE_INIT;
    pthread_once(&forks_handled, handle_forks);
    bf_lock_acquire(&outputs_lock);
    struct bf_output *o = path ? output_find(path) : NULL;
    while (o && atomic_load(&o->closing)) {
        bf_lock_release(&outputs_lock);
        bf_futex_wait(&o->closing, 1, NULL);
        bf_lock_acquire(&outputs_lock);
    }
    int error = 0;
    if (o && !o->users) {
        if (o->error || !bf_trace_file_is_there(&o->file))
            output_begin_anew(o);
        error = output_open(o);
    }
    if (!o) {
        error = output_make(path, &o);
        if (!error && path) {
            o->next = outputs;
            outputs = o;
        }
    }
    if (!error) {
        o->users++;
        *number = ++o->joined;
        *output = o;
    }
    bf_lock_release(&outputs_lock);
    return error;
}

void bf_output_enrol(struct bf_output *o, struct bf_output_member *member)
{
    bf_lock_acquire(&outputs_lock);
    member->next = o->members;
    o->members = member;
    bf_lock_release(&outputs_lock);
}

void bf_outputs_tell(void)
{
    bf_lock_acquire(&outputs_lock);
    for (struct bf_output_member *m = told; m; m = m->next_told) {
        if (m->process == getpid())
            m->tell(m->context);
    }
    bf_lock_release(&outputs_lock);
}

void bf_output_tell(struct bf_output_member *member, void (*tell)(void *context), void *context)
{
    static bool registered;
    bf_lock_acquire(&outputs_lock);
    struct bf_output_member **of = &told;
    while (*of && *of != member)
        of = &(*of)->next_told;
    if (*of)
        *of = member->next_told;
    member->tell = tell;
    member->context = context;
    member->process = getpid();
    if (tell) {
        member->next_told = told;
        told = member;
        registered = registered || atexit(bf_outputs_tell) == 0;
    }
    bf_lock_release(&outputs_lock);
}

void bf_output_part(struct bf_output *o, struct bf_output_member *member, uint64_t open)
{
    bf_lock_acquire(&outputs_lock);
    struct bf_output_member **of = &o->members;
    while (*of && *of != member)
        of = &(*of)->next;
    if (*of)
        *of = member->next;
    bool last = --o->users == 0;
    bool ours = o->process == getpid();
    bool writing = ours && o->chunks;
    if (writing) {
        bf_lock_acquire(&o->lock);
        o->open -= open;
        o->stop = last;
        o->wake = true;
        bf_output_flush(o);
        bf_output_leave(o);
    }
    bool kept = o->asked && ours;
    if (last && o->asked && !ours) { /* a forked child's: its thread and file are the parent's */
        struct bf_output **link = &outputs;
        while (*link && *link != o)
            link = &(*link)->next;
        if (*link)
            *link = o->next;
    }
    atomic_store(&o->closing, last && writing);
    bf_lock_release(&outputs_lock);
    if (!last)
        return;
    if (writing)
        pthread_join(o->thread, NULL);
    if (!kept) {
        output_free(o);
        return;
    }
    bf_lock_acquire(&outputs_lock);
    bf_trace_file_close(&o->file);
    free(o->chunks);
    o->chunks = NULL;
    atomic_store(&o->closing, 0);
    bf_futex_wake(&o->closing, INT32_MAX);
    bf_lock_release(&outputs_lock);
}

static uint64_t room_in_all(const struct bf_output *o)
{
    const uint64_t usable = BF_OUTPUT_CHUNK - BF_PERFETTO_EVENT_MAX;
    return o->free_count * usable + (o->pb.size < usable ? usable - o->pb.size : 0);
}

bool bf_output_room(struct bf_output *o, bool end)
{
    if (!o->chunks || o->error || o->ended)
        return false;
    if (!end && room_in_all(o) < CALL_SIZE + o->open * BF_OUTPUT_END)
        return false;
    if (BF_OUTPUT_CHUNK - o->pb.size >= BF_PERFETTO_EVENT_MAX)
        return true;
    if (o->free_count == 0)
        return false;
    chunk_retire(o);
    return true;
}

void bf_output_wrote(struct bf_output *o, size_t begin, bool event, uint64_t now)
{
    if (o->pb.failed) {
        bf_protobuf_rewind(&o->pb, begin);
        o->events += event;
        o->lost += event;
        return;
    }
    o->chunks[o->current].events += event;
    o->events += event;
    if (!o->pending_since_ns) {
        o->pending_since_ns = now;
        o->wake = true; /* the thread has a deadline from now on */
    }
}

void bf_output_flush(struct bf_output *o)
{
    if (!o->chunks || !o->pb.size)
        return;
    o->flush = true;
    o->wake = true;
}

void bf_output_leave(struct bf_output *o)
{
    bool wake = o->wake && o->sleeping;
    o->wake = false;
    if (wake) {
        o->sleeping = false;
        atomic_fetch_add(&o->turn, 1);
    }
    bf_lock_release(&o->lock);
    if (wake)
        bf_futex_wake(&o->turn, 1);
}

/* The lock is held, and released meanwhile. */
static void output_drain(struct bf_output *o)
{
    uint64_t target = o->retired + (o->pb.size > 0);
    bf_output_flush(o);
    while (o->written < target) {
        uint32_t progress = atomic_load(&o->progress);
        bf_output_leave(o);
        bf_futex_wait(&o->progress, progress, NULL);
        bf_lock_acquire(&o->lock);
    }
}

void bf_output_drain(struct bf_output *o)
{
    if (!o->chunks || o->process != getpid())
        return;
    bf_lock_acquire(&o->lock);
    output_drain(o);
    bf_output_leave(o);
}

/* What a shell takes for 'path': between quotes where it has other than the usual characters. */
static const char *shell_word(const char *path, char *word, size_t size)
{
    static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:@%=";
    if (path[strspn(path, usual)] == 0 || strchr(path, '\''))
        return path;
    return snprintf(word, size, "'%s'", path) < (int)size ? word : path;
}

static void whereabouts_tell(const struct bf_output *o)
{
    char word[512];
    if (!o->error && o->file.regular && bf_trace_file_is_there(&o->file))
        bf_message_at_exit(BF_MESSAGE_WARNING,
                           "the trace is in %s (%" PRIu64
                           " KiB): type 'belfry trace %s', or drop it into ui.perfetto.dev",
                           o->file.path, (o->file.bytes + 1023) / 1024,
                           shell_word(o->file.path, word, sizeof(word)));
}

/* The program ends, or unloads the library. It may not have destroyed its devices, and other
 * threads of it may go on: nothing of theirs is written from here on, so the thread has nothing
 * left to write when the process is gone. */
__attribute__((destructor)) void bf_outputs_end(void)
{
    bf_lock_acquire(&outputs_lock);
    for (struct bf_output *o = outputs; o; o = o->next) {
        if (o->process != getpid())
            continue;
        bf_lock_acquire(&o->lock);
        for (struct bf_output_member *m = o->members; m; m = m->next)
            m->end(m);
        o->ended = true;
        if (o->chunks)
            output_drain(o);
        bf_output_leave(o);
        whereabouts_tell(o);
    }
    bf_lock_release(&outputs_lock);
}
