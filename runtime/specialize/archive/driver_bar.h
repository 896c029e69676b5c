/* SPDX-License-Identifier: MIT */
/*
 * The bar of a driver that has lost a device in a check: nothing more is built with it, by any
 * program, until the driver is another one, or the user deletes the bar. It is a file that people
 * can read, in the cache's folder itself:
 *
 *     driver-HASH.barred
 *
 * HASH is of what the driver says of itself alone: not of the device, nor of pipelineCacheUUID,
 * which some drivers make of the device, nor of Belfry's version.
 *
 *  AR-10  Once a bar was put up, whoever asks is told so: for whatever device of that driver, in
 *         whatever program with the same cache folder, until the file is gone. Where there can be
 *         no such file it holds in this process, until that ends, and a line says so. Where a
 *         process has too little of something to look for the file it is taken to be there.
 *
 * As with all files of the archive (AR-6): it is the user's own, with no permission for anybody
 * else, and no symbolic link; the folder is the user's or root's, and nobody else may rename in it.
 * Nothing is remembered of an answer, so that others are heeded at once: both functions do I/O, and
 * are for background tasks.
 *
 * Proven by tests/specialize/archive (bar.c).
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_DRIVER_BAR_H
#define BELFRY_SPECIALIZE_ARCHIVE_DRIVER_BAR_H

#include "specialize/archive/archive.h"

struct bf_driver_bar {
    uint8_t hash[32];
    char name[64]; /* of the file */
    char *base;    /* NULL: there is no folder */
    char *about;   /* what the file says */
};

/* 'base': the setting 'cache', an absolute path; NULL or anything else: none. It isn't looked at
 * yet. In a set-user-ID program there is none. False: out of memory. */
bool bf_driver_bar_init(struct bf_driver_bar *bar, const char *base,
                        const struct bf_archive_driver *driver);
void bf_driver_bar_finish(struct bf_driver_bar *bar);

/* Thread-safety of both: safe. */
bool bf_driver_bar_is_up(const struct bf_driver_bar *bar);
/* Whether there is a file of it, base/name. */
bool bf_driver_bar_has_file(const struct bf_driver_bar *bar);
/* With a line that says how to be rid of it. */
void bf_driver_bar_put_up(const struct bf_driver_bar *bar);

#endif
