/* SPDX-License-Identifier: MIT */
/*
 * The archive: what the specialiser remembers on disk between runs, which is the variants of which
 * pipelines were kept or rejected, and which builds never ended.
 *
 * There is one folder per device, build of its driver and Belfry version, which the caller names
 * (bf_archive_folder). It contains 'verdicts', a file to which records of 96 bytes are appended,
 * each with a CRC32C of its own, and 'lock', an empty file for locks between processes. Opening an
 * archive reads the file into memory, and all answers come from there. What other processes add
 * meanwhile is seen at the next open.
 *
 *  AR-1  A verdict that is found was put for just that key. Records that are torn, damaged or of
 *        another format are skipped, wherever they stand; those before and behind them are found.
 *  AR-2  What was put before the process ended, however it ended, is found at the next open. (Not
 *        promised: after the machine has lost power, after a write that failed, beyond the cap.)
 *  AR-3  A build that began and never ended bars its key from the first open after its process is
 *        gone, and not while that process lives: each archive holds a lock on a byte of its own in
 *        'lock', which ends with the process (or with the last fork of it).
 *  AR-4  Compaction writes a new file and renames it. It loses superseded records, and the oldest
 *        keys beyond half the cap, and nothing else: neither what other processes append meanwhile,
 *        nor what they append to the old file because they haven't noticed.
 *  AR-5  The file never exceeds five quarters of the cap, but for one append per process.
 *  AR-6  Only a folder and files of the user's own are used, with no permission for anybody else,
 *        and not through a symbolic link. Missing folders are made with mode 0700.
 *  AR-7  A disk that fails is no error: it is reported in one line, and the archive goes on in
 *        memory. What could not be written is tried again with the next record and when closing.
 *  AR-8  bf_archive_find and bf_archive_for_pipeline take no lock and do no I/O: a program's
 *        threads may call them whatever background threads are doing. The functions that write do
 *        both, and are for background tasks; they wait for each other, and for other processes
 *        never longer than a second each.
 *  AR-9  What FORGOTTEN was put for is not found, here and at the next open, until another verdict
 *        is put; a strike stays.
 *
 * Nothing here reads the environment. An archive may not be used in the child of a fork.
 *
 * Proven by tests/specialize/archive.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_H
#define BELFRY_SPECIALIZE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct bf_archive;

#define BF_ARCHIVE_HASH   32
#define BF_ARCHIVE_VALUES 8

enum bf_archive_form {
    BF_ARCHIVE_FORM_PLAIN,
    BF_ARCHIVE_FORM_NO_CONTRACTION,
};

/* A variant of a pipeline. */
struct bf_archive_key {
    /* of the pipeline: its shaders and everything else that decides its code */
    uint8_t hash[BF_ARCHIVE_HASH];
    uint32_t values[BF_ARCHIVE_VALUES]; /* those beyond n_values don't matter */
    uint8_t n_values;                   /* 0 to BF_ARCHIVE_VALUES */
    uint8_t mask;                       /* which members have become constant */
    uint8_t form;                       /* enum bf_archive_form */
};

enum bf_verdict_code {
    BF_VERDICT_KEPT = 1,
    BF_VERDICT_REJECTED,
    /* a build of it never ended, or it was struck; stronger than any verdict that was put */
    BF_VERDICT_BARRED,
    BF_VERDICT_FORGOTTEN, /* put: what had been put is not found any more */
};

#define BF_VERDICT_GAIN_MOST 0xFFFFFFu
#define BF_VERDICT_N_MOST    0x1FFFFFu

struct bf_verdict {
    enum bf_verdict_code code;
    uint16_t reason; /* the caller's own code */
    uint32_t gain;   /* time of the general pipeline / time of the variant, in thousandths */
    uint32_t n;      /* of measurements */
};

struct bf_archive_info {
    const char *folder; /* NULL or "": the archive is in memory alone */
    uint64_t cap;       /* of the file, in bytes, 4096 at least; 0: 32 MiB */
};

/* Everything by which a device identifies what compiles for it. No single field is enough:
 * drivers exist whose pipelineCacheUUID is the same in all their versions. Unknown fields are
 * zeros, or NULL. */
struct bf_archive_driver {
    uint8_t cache_uuid[VK_UUID_SIZE]; /* VkPhysicalDeviceProperties::pipelineCacheUUID */
    uint32_t vendor_id, device_id, driver_version, api_version;   /* of the same */
    const char *device_name;                                      /* likewise */
    uint8_t driver_uuid[VK_UUID_SIZE], device_uuid[VK_UUID_SIZE]; /* VkPhysicalDeviceIDProperties */
    uint32_t driver_id; /* VkPhysicalDeviceDriverProperties, and those below */
    const char *driver_name, *driver_info;
};

/* The archive's folder below that of the setting 'cache', an absolute path: <base>/<32 digits of
 * a hash of 'driver'>-<Belfry's version>. False: it doesn't fit, or 'base' isn't absolute. */
bool bf_archive_folder(char *out, size_t size, const char *base,
                       const struct bf_archive_driver *driver);

/* Makes the folder and reads the file: milliseconds, at most some tenths of a second. In a
 * set-user-ID program the archive is in memory alone. NULL: out of memory. Thread-safety: safe. */
struct bf_archive *bf_archive_open(const struct bf_archive_info *info);

/* Builds that have begun and not ended count as strikes afterwards, so end them first. NULL is
 * allowed. Thread-safety: no other call on this archive is in progress or comes later. */
void bf_archive_close(struct bf_archive *archive);

/* False: the key has no verdict. Thread-safety: safe (AR-8). */
bool bf_archive_find(const struct bf_archive *archive, const struct bf_archive_key *key,
                     struct bf_verdict *out);

/* Calls 'each' for every key of that pipeline that has a verdict, in either mode and in any
 * order; a strike in one mode also shows in the other mode's keys, where these exist. 'each' may
 * call the two functions that read. Returns how many there were. Thread-safety: safe (AR-8). */
uint32_t bf_archive_for_pipeline(const struct bf_archive *archive,
                                 const uint8_t hash[BF_ARCHIVE_HASH],
                                 void (*each)(void *context, const struct bf_archive_key *key,
                                              const struct bf_verdict *verdict),
                                 void *context);

/* Thread-safety of all that follow: safe; for background tasks (AR-8).
 * Errors of all: VK_ERROR_VALIDATION_FAILED_EXT for an invalid key or verdict;
 * VK_ERROR_OUT_OF_HOST_MEMORY, which leaves everything as it was. */

/* A build of that variant is about to start: the driver is called after this has returned.
 * Several builds of one key may be in progress. Errors: VK_ERROR_NOT_PERMITTED_KHR: the key is
 * barred. */
VkResult bf_archive_begin(struct bf_archive *archive, const struct bf_archive_key *key);

/* The build has ended, with success or an error. Does nothing if none has begun. */
VkResult bf_archive_end(struct bf_archive *archive, const struct bf_archive_key *key);

/* The build has crashed or hung where the program survived it, in a helper process: the key is
 * barred from now on. Ends the build, if one has begun. */
VkResult bf_archive_strike(struct bf_archive *archive, const struct bf_archive_key *key);

/* Stores KEPT or REJECTED, or FORGOTTEN, in place of an earlier verdict; a strike stays. 'gain' and
 * 'n' are clamped to their maxima. The cap bounds the memory for it: beyond that new keys are
 * written to disk alone. */
VkResult bf_archive_put(struct bf_archive *archive, const struct bf_archive_key *key,
                        const struct bf_verdict *verdict);

#endif
