/*
 * An archive's folder: its files, the locks between processes, appending and compaction.
 *
 * In 'lock' bytes are locked by open file description (fcntl, F_OFD_*), so that two archives of one
 * process exclude each other as two processes do:
 *
 *   COMMIT   shared while a record is appended; alone while 'verdicts' is made, measured or replaced
 *   COMPACT  alone, by who writes the new file
 *   an owner's byte, for as long as its archive is open: that owner is alive
 *
 *  AS-1  Whoever appends holds COMMIT and has looked, under it, that the file he has open is the one
 *        in the folder. So no record goes to a file after its replacement has been completed.
 *  AS-2  Who has found the file too large appends no more before it has been compacted, by him or by
 *        somebody else, or that has failed.
 *  AS-3  Who compacts reads the file up to where it ended at a moment when nobody appended, writes
 *        the new one without holding anybody up, and copies, alone, what has been appended since.
 *
 * Thread-safety: for one thread at a time, but for bf_cache_file_owner_lives.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_CACHE_FILE_H
#define BELFRY_SPECIALIZE_ARCHIVE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "specialize/archive/index.h"

/* Records that could not be written and will be tried again, and no more than an eighth of the cap:
 * of more, the later are lost. */
#define BF_CACHE_FILE_PENDING (256 * BF_RECORD_SIZE)
/* Compaction that failed is tried again after so many records. */
#define BF_CACHE_FILE_PATIENCE 64

struct bf_cache_file {
    bool on;                /* false: nothing is read or written any more */
    bool complained;        /* about a write */
    char *name;             /* the folder's */
    int folder, lock, data; /* -1: none */
    uint64_t owner;
    uint64_t cap;
    bool replace;      /* the file, whatever its size */
    uint32_t patience; /* records before compaction may be tried again */
    uint8_t *pending;  /* BF_CACHE_FILE_PENDING bytes; NULL: none yet */
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

/* What a file says. */
struct bf_snapshot {
    struct bf_index index;
    struct bf_snapshot_build *builds;
    size_t n_builds, capacity;
    bool out_of_memory;
    bool foreign; /* it is of another format, and says nothing */
};

/* Trouble gets one line and leaves it off. False: out of memory. */
bool bf_cache_file_open(struct bf_cache_file *file, const char *folder, uint64_t cap);

/* Tries what is pending once more. */
void bf_cache_file_close(struct bf_cache_file *file);

bool bf_cache_file_owner_lives(const struct bf_cache_file *file, uint64_t owner);

/* Reads the file as it is now. An error of the disk gets its line, and what was read until then
 * stands. False: out of memory, the snapshot is empty. */
bool bf_cache_file_read(struct bf_cache_file *file, struct bf_snapshot *snapshot);
void bf_snapshot_finish(struct bf_snapshot *snapshot);

/* Appends a record, after those that are pending; compacts if the file has become too large.
 * 'again': if that fails it becomes pending. False: it isn't on disk. */
bool bf_cache_file_append(struct bf_cache_file *file, const uint8_t record[BF_RECORD_SIZE],
                          bool again);

/* For store.c and compact.c. --------------------------------------------------------------------- */

#define BF_CACHE_FILE_FILE "verdicts"
#define BF_CACHE_FILE_NEW  "verdicts.new"

enum bf_cache_file_byte {
    BF_CACHE_FILE_COMMIT,
    BF_CACHE_FILE_COMPACT,
    BF_CACHE_FILE_OWNERS = 16,
};

/* type: F_RDLCK or F_WRLCK. Waits for a second if 'wait'. False: it can't be had. */
bool bf_cache_file_lock(struct bf_cache_file *file, enum bf_cache_file_byte byte, short type,
                        bool wait);
void bf_cache_file_unlock(struct bf_cache_file *file, enum bf_cache_file_byte byte);

/* Is 'data' the file in the folder? */
bool bf_cache_file_current(const struct bf_cache_file *file);

/* Makes 'data' the file in the folder, if that has been replaced or removed. COMMIT is held, alone
 * if one may be made. Returns 0 or an error; ENOENT: there is none, and none may be made. */
int bf_cache_file_refresh(struct bf_cache_file *file, bool make);

/* All of it by one write, and the signal of a file size limit doesn't reach the program. Returns 0
 * or an error. */
int bf_cache_file_write(int fd, const void *bytes, size_t size);

void bf_cache_file_complain(struct bf_cache_file *file, int error);

/* Reads up to 'size'. An error of the disk comes back; what was read stands. */
int bf_snapshot_read(struct bf_snapshot *snapshot, int fd, uint64_t size);

/* Replaces the file by one that holds what still counts (AR-4), if it is too large or 'replace' is
 * set. */
void bf_cache_file_compact(struct bf_cache_file *file);

#endif
