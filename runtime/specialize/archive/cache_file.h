/* SPDX-License-Identifier: MIT */
/*
 * An archive's folder: the cache file 'verdicts', the locks between processes, appending and
 * compaction.
 *
 * Bytes of the file 'lock' are locked by open file description (fcntl, F_OFD_*), so that two
 * archives of one process exclude each other as two processes do:
 *
 *   COMMIT   shared while a record is appended; exclusive while 'verdicts' is made, measured or
 *            replaced
 *   COMPACT  exclusive, by the process that writes the new file
 *   an owner's byte, for as long as its archive is open: that owner is alive
 *
 *  AS-1  A process that appends holds COMMIT and has checked, under it, that the file it has open
 *        is the one in the folder. So no record goes to a file after its replacement was completed.
 *  AS-2  A process that has found the file too large appends nothing more before the file was
 *        compacted, by it or by another process, or compaction has failed.
 *  AS-3  A process that compacts reads the file up to where it ended at a moment when nobody
 *        appended, writes the new file without blocking anybody, and then copies, holding COMMIT
 *        exclusively, what was appended since.
 *
 * Thread-safety: for one thread at a time, except bf_cache_file_owner_lives.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_CACHE_FILE_H
#define BELFRY_SPECIALIZE_ARCHIVE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "specialize/archive/index.h"

/* Records that could not be written wait to be tried again, up to this size and an eighth of the
 * cap; later ones are lost. */
#define BF_CACHE_FILE_PENDING (256 * BF_RECORD_SIZE)
/* After a failed compaction so many records are appended before the next attempt. */
#define BF_CACHE_FILE_PATIENCE 64

struct bf_cache_file {
    bool on;                /* false: nothing is read or written any more */
    bool complained;        /* a failed write has been reported */
    char *name;             /* the folder's path */
    int folder, lock, data; /* -1: none */
    uint64_t owner;
    uint64_t cap;
    bool replace;      /* the next compaction replaces the file whatever its size */
    uint32_t patience; /* records to append before compaction may be tried again */
    uint8_t *pending;  /* BF_CACHE_FILE_PENDING bytes; NULL: not allocated */
    size_t pending_size;
};

/* A build that has begun and not ended. */
struct bf_snapshot_build {
    struct bf_index_entry *entry;
    uint64_t owner;
    uint64_t order;
    uint32_t serial;
    bool end;
};

/* The contents of a file. */
struct bf_snapshot {
    struct bf_index index;
    struct bf_snapshot_build *builds;
    size_t n_builds, capacity;
    bool out_of_memory;
    bool foreign; /* it has another format, and is not read */
};

/* A failure is reported in one line and leaves 'on' false. False: out of memory. */
bool bf_cache_file_open(struct bf_cache_file *file, const char *folder, uint64_t cap);

/* Tries to write the pending records once more. */
void bf_cache_file_close(struct bf_cache_file *file);

bool bf_cache_file_owner_lives(const struct bf_cache_file *file, uint64_t owner);

/* Reads the file as it is now. An I/O error is reported in one line, and what was read until
 * then is used. False: out of memory, and the snapshot is empty. */
bool bf_cache_file_read(struct bf_cache_file *file, struct bf_snapshot *snapshot);
void bf_snapshot_finish(struct bf_snapshot *snapshot);

/* Appends a record behind those that are pending; compacts if the file has become too large.
 * With 'again' a record that can't be written becomes pending. False: it isn't on disk. */
bool bf_cache_file_append(struct bf_cache_file *file, const uint8_t record[BF_RECORD_SIZE],
                          bool again);

/* For cache_file.c and compact.c.
 * ---------------------------------------------------------------- */

#define BF_CACHE_FILE_FILE "verdicts"
#define BF_CACHE_FILE_NEW  "verdicts.new"

enum bf_cache_file_byte {
    BF_CACHE_FILE_COMMIT,
    BF_CACHE_FILE_COMPACT,
    BF_CACHE_FILE_OWNERS = 16,
};

/* type: F_RDLCK or F_WRLCK. With 'wait' waits up to a second. False: the lock can't be had. */
bool bf_cache_file_lock(struct bf_cache_file *file, enum bf_cache_file_byte byte, short type,
                        bool wait);
void bf_cache_file_unlock(struct bf_cache_file *file, enum bf_cache_file_byte byte);

/* Whether 'data' is the file that is in the folder. */
bool bf_cache_file_current(const struct bf_cache_file *file);

/* Makes 'data' the file that is in the folder, if it has been replaced or removed. COMMIT is
 * held, exclusively if a file may be created. Returns 0 or an error; ENOENT: there is none, and
 * none may be created. */
int bf_cache_file_refresh(struct bf_cache_file *file, bool make);

/* Writes all bytes by one call; SIGXFSZ doesn't reach the program. Returns 0 or an error. */
int bf_cache_file_write(int fd, const void *bytes, size_t size);

void bf_cache_file_complain(struct bf_cache_file *file, int error);

/* Reads up to 'size' bytes. Returns an I/O error; what was read until then is in the snapshot. */
int bf_snapshot_read(struct bf_snapshot *snapshot, int fd, uint64_t size);

/* Replaces the file by one that holds the live records alone (AR-4), if it is too large or
 * 'replace' is set. */
void bf_cache_file_compact(struct bf_cache_file *file);

#endif
