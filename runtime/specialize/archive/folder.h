/* SPDX-License-Identifier: MIT */
/*
 * An archive's folder, for all processes that use it:
 *
 *     lock                       an empty file, whose lock serialises those that write
 *     HASH.verdicts              verdicts.h, of the pipeline with that hash
 *     HASH.barred                empty: a strike
 *     HASH.building.NUMBER       empty, and locked by the process that builds
 *     new                        a file that hasn't got its name yet
 *
 * Locks are of open file descriptions (fcntl, F_OFD_*): two archives of one process exclude each
 * other as two processes do, and the lock goes when the process does.
 *
 *  AS-1  A file of verdicts is replaced as a whole, by who holds 'lock' and has read it under that:
 *        what two processes put is both there.
 *  AS-2  A mark of a build is locked before anybody can find it who doesn't hold 'lock', and is
 *        gone before its lock is: who gets that lock has a build before him that never ended.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_FOLDER_H
#define BELFRY_SPECIALIZE_ARCHIVE_FOLDER_H

#include "specialize/archive/verdicts.h"

struct bf_folder {
    bool on;         /* false: nothing is read or written any more */
    bool complained; /* a failed write has been reported */
    bool unread;     /* and a failed read */
    char *name;      /* its path */
    int fd, lock;    /* -1: none */
};

/* A failure is reported in one line and leaves 'on' false. False: out of memory. */
bool bf_folder_open(struct bf_folder *folder, const char *path);
void bf_folder_close(struct bf_folder *folder);

/* Builds that never ended become strikes; where there are more than 'most' files of verdicts, the
 * oldest go until half of that are left. */
void bf_folder_sweep(struct bf_folder *folder, uint32_t most);

/* *verdicts: malloc'ed; empty where there are none. False: out of memory. */
bool bf_folder_read(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                    struct bf_verdicts **verdicts, bool *barred);

/* Brings those entries into the file that are unwritten, into what others have put there since;
 * then they aren't any more. False: they aren't on disk; that is reported once. */
bool bf_folder_write(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                     struct bf_verdicts *verdicts);
/* Without the lock. False: it isn't on disk; that is reported once. */
bool bf_folder_bar(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH]);
bool bf_folder_is_barred(const struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH]);

/* A file descriptor that holds the mark; -1: there is none. */
int bf_folder_begin(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                    uint64_t *number);
void bf_folder_end(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH], uint64_t number,
                   int mark);

/* Makes a folder, and those above it, where they are missing. Returns 0 or an error. */
int bf_folder_make(const char *path);
/* Writes all bytes by one call; SIGXFSZ doesn't reach the program. Returns 0 or an error. */
int bf_folder_file_put(int fd, const void *bytes, size_t size);

#endif
