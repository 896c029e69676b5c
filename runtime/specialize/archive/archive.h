/* SPDX-License-Identifier: MIT */
/*
 * The archive: what the specialiser remembers on disk between runs, which is the variants of which
 * pipelines were kept or rejected, and which builds never ended.
 *
 * There is one folder per device, build of its driver and Belfry version, which the caller names
 * (bf_archive_folder), and in it a file for each pipeline (folder.h). A pipeline's is read when it
 * is loaded, and all answers come from memory. What other processes put meanwhile is seen when it
 * is loaded in another archive, but for their strikes (AR-12).
 *
 *  AR-1  A verdict that is found was put for just that key. A file that is torn, damaged, another's
 *        or of another format counts as none, and is replaced with the next verdict.
 *  AR-2  What was put before the process ended, however it ended, is found when it is loaded next.
 *        (Not promised: after the machine has lost power, after a write that failed, beyond the
 *        bounds.)
 *  AR-3  A build that began and never ended bars its pipeline from the first open after its process
 *        (or the last fork of it) is gone, and not while that lives.
 *  AR-4  What several processes put of one pipeline is all there.
 *  AR-5  A pipeline has BF_VERDICTS_MOST verdicts at most, and a folder 'most' files of verdicts
 *        but for those that were put since it was opened. The oldest go; strikes stay.
 *  AR-6  Only a folder and files of the user's own are used, with no permission for anybody else,
 *        and not through a symbolic link. Missing folders are made with mode 0700.
 *  AR-7  A disk that fails is no error: it is reported in one line, and the archive goes on in
 *        memory. What could not be written is tried again with the next verdict and when closing.
 *  AR-8  bf_archive_find, bf_archive_barred and bf_archive_for_pipeline take no lock and do no I/O:
 *        a program's threads may call them whatever background threads are doing. All others do
 *        both, and are for background tasks; they wait for each other, and for other processes
 *        never longer than a second each.
 *  AR-9  What FORGOTTEN was put for is not found, here and when loaded again, until another verdict
 *        is put.
 *  AR-11 A strike is on disk whether verdicts can be written or not.
 *  AR-12 Strikes of other processes are heeded by bf_archive_begin, and from bf_archive_heed on.
 *
 * Nothing here reads the environment. An archive may not be used in the child of a fork, but for
 * bf_archive_abandon.
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
    uint32_t most;      /* AR-5; 0: 8192 */
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

/* Makes the folder, and looks which builds have never ended: milliseconds. In a set-user-ID program
 * the archive is in memory alone. NULL: out of memory. Thread-safety: safe. */
struct bf_archive *bf_archive_open(const struct bf_archive_info *info);

/* Builds that have begun and not ended count as strikes afterwards, so end them first. NULL is
 * allowed. Thread-safety: no other call on this archive is in progress or comes later. */
void bf_archive_close(struct bf_archive *archive);

/* Instead, in the child of a fork: closes its descriptors, so that builds are the parent's alone
 * (AR-3); memory stays as it is. NULL is allowed. */
void bf_archive_abandon(struct bf_archive *archive);

/* False: the key has no verdict, or its pipeline isn't loaded. Thread-safety: safe (AR-8). */
bool bf_archive_find(const struct bf_archive *archive, const struct bf_archive_key *key,
                     struct bf_verdict *out);

/* A build of the pipeline never ended, or it was struck. Thread-safety: safe (AR-8). */
bool bf_archive_barred(const struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH]);

/* Calls 'each' for every key of that pipeline that has a verdict, in any order; 'each' may call
 * anything here. Returns how many there were. Thread-safety: safe (AR-8). */
uint32_t bf_archive_for_pipeline(const struct bf_archive *archive,
                                 const uint8_t hash[BF_ARCHIVE_HASH],
                                 void (*each)(void *context, const struct bf_archive_key *key,
                                              const struct bf_verdict *verdict),
                                 void *context);

/* Thread-safety of all that follow: safe; for background tasks (AR-8). Each loads its pipeline.
 * Errors of all: VK_ERROR_OUT_OF_HOST_MEMORY, which leaves everything as it was. */

/* From now on what is on disk of the pipeline is found. */
VkResult bf_archive_load(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH]);

/* From now on bf_archive_barred tells of strikes that other processes have put since the pipeline
 * was loaded [AR-12]. */
VkResult bf_archive_heed(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH]);

/* A build of a variant is about to start: the driver is called after this has returned. Several
 * may be in progress. Errors: VK_ERROR_NOT_PERMITTED_KHR: the pipeline is barred. */
VkResult bf_archive_begin(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH]);

/* The build has ended, with success or an error. Does nothing if none has begun. */
void bf_archive_end(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH]);

/* Something has crashed or hung over the pipeline where the program survived it, in a helper
 * process: it is barred from now on. */
VkResult bf_archive_strike(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH]);

/* Stores KEPT or REJECTED, or FORGOTTEN, in place of an earlier verdict. 'gain' and 'n' are clamped
 * to their maxima. Errors: VK_ERROR_VALIDATION_FAILED_EXT: an invalid key or verdict. */
VkResult bf_archive_put(struct bf_archive *archive, const struct bf_archive_key *key,
                        const struct bf_verdict *verdict);

#endif
