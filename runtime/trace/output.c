#include "trace/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/log.h"
#include "trace/perfetto.h"

#define FLUSH_NS 50000000u

/* Kept back beside the ends of open slices: what one call writes at most, with new tracks. */
#define CALL_SIZE (16 * 1024)

static void chunk_take(struct bf_output *o)
{
    o->current = o->free[--o->free_count];
    struct bf_output_chunk *chunk = &o->chunks[o->current];
    chunk->events = 0;
    bf_protobuf_init(&o->pb, chunk->data, sizeof(chunk->data));
    o->pending_since_ns = 0;
}

/* The current chunk is for the thread now; there is a free one. */
static void chunk_retire(struct bf_output *o)
{
    o->chunks[o->current].size = (uint32_t)o->pb.size;
    o->full[(o->full_begin + o->full_count++) % BF_OUTPUT_CHUNKS] = o->current;
    o->retired++;
    chunk_take(o);
    o->wake = true;
}

/* --- The thread -------------------------------------------------------------------------------*/

/* The lock is held, but not over the file. */
static void chunk_write(struct bf_output *o)
{
    uint32_t index = o->full[o->full_begin];
    struct bf_output_chunk *chunk = &o->chunks[index];
    o->full_begin = (o->full_begin + 1) % BF_OUTPUT_CHUNKS;
    o->full_count--;
    if (o->error) {
        o->lost += chunk->events;
    } else {
        bf_lock_release(o->lock);
        size_t kept;
        int error = bf_trace_file_write(&o->file, chunk->data, chunk->size, &kept);
        uint64_t lost = error ? bf_trace_file_events(chunk->data + kept, chunk->size - kept) : 0;
        if (error)
            bf_log(BF_LOG_ERROR, "trace: can't write to '%s': %s; the timeline ends here",
                   o->file.path, strerror(error));
        bf_lock_acquire(o->lock);
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
    bf_lock_release(o->lock);
    bf_futex_wait(&o->turn, turn, pending ? &until : NULL);
    bf_lock_acquire(o->lock);
    o->sleeping = false;
}

static void *write_out(void *argument)
{
    struct bf_output *o = argument;
    bf_lock_acquire(o->lock);
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
    bf_lock_release(o->lock);
    return NULL;
}

static int start(struct bf_output *o)
{
    /* Signals are the program's. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&o->thread, NULL, write_out, o);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* --- Interface --------------------------------------------------------------------------------*/

int bf_output_open(struct bf_output *o, struct bf_lock *lock, const char *path)
{
    o->lock = lock;
    o->process = getpid();
    int error = bf_trace_file_open(&o->file, path);
    if (error) {
        bf_log(BF_LOG_ERROR, "trace: can't create '%s': %s", path, strerror(error));
        bf_trace_file_close(&o->file);
        return error;
    }
    o->chunks = calloc(BF_OUTPUT_CHUNKS, sizeof(*o->chunks));
    error = o->chunks ? 0 : ENOMEM;
    for (uint32_t i = BF_OUTPUT_CHUNKS; i-- > 0 && !error;)
        o->free[o->free_count++] = i;
    if (!error) {
        chunk_take(o);
        error = start(o);
    }
    if (!error)
        return 0;
    bf_log(BF_LOG_ERROR, "trace: nothing can be written to '%s': %s", o->file.path,
           strerror(error));
    bf_trace_file_close(&o->file);
    free(o->chunks);
    *o = (struct bf_output){.file.fd = -1};
    return error;
}

void bf_output_close(struct bf_output *o)
{
    if (!o->chunks)
        return;
    if (o->process == getpid()) {
        bf_lock_acquire(o->lock);
        o->stop = o->wake = true;
        bf_output_leave(o);
        pthread_join(o->thread, NULL);
    }
    bf_trace_file_close(&o->file);
    free(o->chunks);
    o->chunks = NULL;
}

static uint64_t room_in_all(const struct bf_output *o)
{
    const uint64_t usable = BF_OUTPUT_CHUNK - BF_PERFETTO_EVENT_MAX;
    return o->free_count * usable + (o->pb.size < usable ? usable - o->pb.size : 0);
}

bool bf_output_room(struct bf_output *o, bool end)
{
    if (!o->chunks || o->error)
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
        o->wake = true; /* from now on the thread has a deadline */
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
    bf_lock_release(o->lock);
    if (wake)
        bf_futex_wake(&o->turn, 1);
}

void bf_output_drain(struct bf_output *o)
{
    if (!o->chunks || o->process != getpid())
        return;
    bf_lock_acquire(o->lock);
    uint64_t target = o->retired + (o->pb.size > 0);
    bf_output_flush(o);
    while (o->written < target) {
        uint32_t progress = atomic_load(&o->progress);
        bf_output_leave(o);
        bf_futex_wait(&o->progress, progress, NULL);
        bf_lock_acquire(o->lock);
    }
    bf_output_leave(o);
}
