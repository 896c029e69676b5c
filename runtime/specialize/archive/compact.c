/* SPDX-License-Identifier: MIT */
/* Reading the cache file as a whole, and compaction: replacing it by one that holds the live
 * records alone. */
#include "specialize/archive/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

/* ------------------------------------------------------------------------------------- Snapshot */

void bf_snapshot_finish(struct bf_snapshot *snapshot)
{
    bf_index_finish(&snapshot->index);
    free(snapshot->builds);
    *snapshot = (struct bf_snapshot){.index.count = 0};
}

static bool builds_add(struct bf_snapshot *snapshot, const struct bf_snapshot_build *build)
{
    if (snapshot->n_builds == snapshot->capacity) {
        size_t capacity = snapshot->capacity ? 2 * snapshot->capacity : 64;
        void *more = realloc(snapshot->builds, capacity * sizeof(*build));
        if (!more)
            return false;
        snapshot->builds = more;
        snapshot->capacity = capacity;
    }
    snapshot->builds[snapshot->n_builds] = *build;
    snapshot->builds[snapshot->n_builds].order = snapshot->n_builds;
    snapshot->n_builds++;
    return true;
}

static bool record_add(void *context, const struct bf_record *record)
{
    struct bf_snapshot *snapshot = context;
    struct bf_index_entry *entry = NULL;
    bool end = record->kind == BF_RECORD_END;
    bool added = true;
    if (!end) {
        entry = bf_index_add(&snapshot->index, &record->key);
        added = entry;
    }
    if (added && record->kind == BF_RECORD_VERDICT)
        bf_index_put(&snapshot->index, entry, &record->verdict);
    else if (added && record->kind == BF_RECORD_STRIKE)
        bf_index_strike(&snapshot->index, entry);
    else if (added)
        added = builds_add(snapshot, &(struct bf_snapshot_build){.entry = entry,
                                                                 .owner = record->owner,
                                                                 .serial = record->serial,
                                                                 .end = end});
    snapshot->out_of_memory = !added;
    return added;
}

static int compare_builds(const void *a_, const void *b_)
{
    const struct bf_snapshot_build *a = a_, *b = b_;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->serial != b->serial)
        return a->serial < b->serial ? -1 : 1;
    if (a->end != b->end)
        return a->end ? -1 : 1; /* ends before begins */
    return a->order < b->order ? -1 : 1;
}

static int compare_orders(const void *a_, const void *b_)
{
    const struct bf_snapshot_build *a = a_, *b = b_;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Removes the builds that have ended; those that remain keep their order. */
static void builds_settle(struct bf_snapshot *snapshot)
{
    struct bf_snapshot_build *builds = snapshot->builds;
    size_t n = 0;
    if (!snapshot->n_builds)
        return;
    qsort(builds, snapshot->n_builds, sizeof(*builds), compare_builds);
    const struct bf_snapshot_build *last = NULL;
    for (size_t i = 0; i < snapshot->n_builds; i++) {
        struct bf_snapshot_build build = builds[i];
        bool same = last && last->owner == build.owner && last->serial == build.serial;
        if (!same && !build.end)
            builds[n++] = build;
        last = &builds[i];
    }
    snapshot->n_builds = n;
    qsort(builds, n, sizeof(*builds), compare_orders);
}

int bf_snapshot_read(struct bf_snapshot *snapshot, int fd, uint64_t size)
{
    *snapshot = (struct bf_snapshot){.index.count = 0};
    uint8_t header[BF_HEADER_SIZE];
    ssize_t n = pread(fd, header, sizeof(header), 0);
    if (n < 0)
        return errno;
    snapshot->foreign = bf_header_decode(header, (size_t)n) == BF_HEADER_FOREIGN;
    if (snapshot->foreign)
        return 0;
    int error = bf_record_scan(fd, 0, (off_t)size, record_add, snapshot);
    if (!snapshot->out_of_memory)
        builds_settle(snapshot);
    return error;
}

/* --------------------------------------------------------------------------------------- Writer */

struct writer {
    int fd;
    int error;
    size_t size;
    uint8_t bytes[256 * BF_RECORD_SIZE];
};

static void writer_flush(struct writer *w)
{
    if (w->size && !w->error)
        w->error = bf_cache_file_write(w->fd, w->bytes, w->size);
    w->size = 0;
}

static void writer_add(struct writer *w, const struct bf_record *record)
{
    if (w->size + BF_RECORD_SIZE > sizeof(w->bytes))
        writer_flush(w);
    bf_record_encode(record, w->bytes + w->size);
    w->size += BF_RECORD_SIZE;
}

/* Copies one file from an offset to its end. */
static void writer_copy(struct writer *w, int from, off_t at)
{
    writer_flush(w);
    while (!w->error) {
        ssize_t n = pread(from, w->bytes, sizeof(w->bytes), at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            w->error = errno;
        if (n <= 0)
            return;
        w->size = (size_t)n;
        at += n;
        writer_flush(w);
    }
}

/* --------------------------------------------------------------------------- What is written -- */

static bool entry_is_barred(const struct bf_index_entry *entry)
{
    struct bf_verdict verdict;
    return bf_index_known(entry, &verdict) && verdict.code == BF_VERDICT_BARRED;
}

/* The most valuable first: strikes, then the latest verdicts. */
static int compare_worth(const void *a_, const void *b_)
{
    const struct bf_index_entry *a = *(struct bf_index_entry *const *)a_;
    const struct bf_index_entry *b = *(struct bf_index_entry *const *)b_;
    if (entry_is_barred(a) != entry_is_barred(b))
        return entry_is_barred(a) ? -1 : 1;
    return a->recency > b->recency ? -1 : 1;
}

static int compare_recency(const void *a_, const void *b_)
{
    const struct bf_index_entry *a = *(struct bf_index_entry *const *)a_;
    const struct bf_index_entry *b = *(struct bf_index_entry *const *)b_;
    return a->recency < b->recency ? -1 : 1;
}

/* Writes half the cap at most, a quarter of that for builds that haven't ended. */
static int snapshot_write(const struct bf_snapshot *snapshot, uint64_t cap, struct writer *w)
{
    uint64_t room = (cap / 2 - BF_HEADER_SIZE) / BF_RECORD_SIZE;

    bf_header_encode(w->bytes);
    w->size = BF_HEADER_SIZE;
    uint64_t n_builds = snapshot->n_builds;
    if (n_builds > room / 4)
        n_builds = room / 4;
    for (size_t i = snapshot->n_builds - n_builds; i < snapshot->n_builds; i++) {
        const struct bf_snapshot_build *build = &snapshot->builds[i];
        writer_add(w, &(struct bf_record){.kind = BF_RECORD_BEGIN,
                                          .key = build->entry->key,
                                          .owner = build->owner,
                                          .serial = build->serial});
    }
    room -= n_builds;

    struct bf_index_entry **entries = malloc((snapshot->index.count + 1) * sizeof(*entries));
    if (!entries)
        return ENOMEM;
    size_t n = 0;
    uint32_t at = 0;
    struct bf_verdict verdict;
    for (struct bf_index_entry *entry; (entry = bf_index_next(&snapshot->index, &at));)
        if (bf_index_known(entry, &verdict))
            entries[n++] = entry;
    if (n > room) {
        qsort(entries, n, sizeof(entries[0]), compare_worth);
        n = room;
    }
    qsort(entries, n, sizeof(entries[0]), compare_recency);
    for (size_t i = 0; i < n; i++) {
        bf_index_known(entries[i], &verdict);
        writer_add(w, &(struct bf_record){.kind = verdict.code == BF_VERDICT_BARRED
                                                      ? BF_RECORD_STRIKE
                                                      : BF_RECORD_VERDICT,
                                          .key = entries[i]->key,
                                          .verdict = verdict});
    }
    free(entries);
    writer_flush(w);
    return w->error;
}

/* ----------------------------------------------------------------------------------- Compaction */

/* The file's size at a moment when nobody appends. Returns 0 or an error. */
static int cache_file_measure(struct bf_cache_file *file, uint64_t *size)
{
    if (!bf_cache_file_lock(file, BF_CACHE_FILE_COMMIT, F_WRLCK, true))
        return EBUSY;
    struct stat status;
    int error = bf_cache_file_refresh(file, false);
    if (!error && fstat(file->data, &status))
        error = errno;
    if (!error)
        *size = (uint64_t)status.st_size;
    bf_cache_file_unlock(file, BF_CACHE_FILE_COMMIT);
    return error;
}

/* COMMIT is held exclusively. Copies what was appended since the measurement, and renames the
 * new file over the old one. */
static int replace(struct bf_cache_file *file, struct writer *w, uint64_t size)
{
    if (!bf_cache_file_current(file)) /* somebody has removed the file */
        return ENOENT;
    writer_copy(w, file->data, (off_t)size);
    if (w->error)
        return w->error;
    if (renameat(file->folder, BF_CACHE_FILE_NEW, file->folder, BF_CACHE_FILE_FILE))
        return errno;
    close(file->data);
    file->data = w->fd;
    w->fd = -1;
    return 0;
}

static int compact(struct bf_cache_file *file, struct writer *w)
{
    uint64_t size = 0;
    int error = cache_file_measure(file, &size);
    if (error || (size <= file->cap && !file->replace)) /* another process has compacted it */
        return error;
    struct bf_snapshot snapshot;
    uint64_t most = 4 * file->cap;
    error = bf_snapshot_read(&snapshot, file->data, size < most ? size : most);
    if (!error && snapshot.out_of_memory)
        error = ENOMEM;
    if (error)
        goto done;

    unlinkat(file->folder, BF_CACHE_FILE_NEW, 0); /* left behind by a compaction that was killed */
    w->fd = bf_descriptor_lift(openat(file->folder, BF_CACHE_FILE_NEW,
                                      O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                      0600));
    if (w->fd < 0) {
        error = errno;
        goto done;
    }
    error = snapshot_write(&snapshot, file->cap, w);
    if (!error && fsync(w->fd))
        error = errno;
    if (!error && !bf_cache_file_lock(file, BF_CACHE_FILE_COMMIT, F_WRLCK, true))
        error = EBUSY;
    if (!error) {
        error = replace(file, w, size);
        bf_cache_file_unlock(file, BF_CACHE_FILE_COMMIT);
    }
    if (error)
        unlinkat(file->folder, BF_CACHE_FILE_NEW, 0);
    else
        fsync(file->folder);
    if (w->fd >= 0)
        close(w->fd);

done:
    bf_snapshot_finish(&snapshot);
    return error;
}

void bf_cache_file_compact(struct bf_cache_file *file)
{
    struct writer *w = malloc(sizeof(*w));
    if (!w)
        return;
    w->error = 0;
    w->size = 0;
    /* Waiting for another process's compaction also keeps this process from filling the file
     * meanwhile. */
    if (bf_cache_file_lock(file, BF_CACHE_FILE_COMPACT, F_WRLCK, true)) {
        if (compact(file, w))
            file->patience = BF_CACHE_FILE_PATIENCE;
        else
            file->replace = false;
        bf_cache_file_unlock(file, BF_CACHE_FILE_COMPACT);
    }
    free(w);
}
