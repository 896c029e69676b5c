/* SPDX-License-Identifier: MIT */
/* The archive: verdicts and strikes by pipeline, read from the folder when they are loaded, and
 * kept in memory. */
#include "specialize/archive/archive.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "belfry/belfry.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/sha256.h"
#include "specialize/archive/folder.h"

#define MOST_DEFAULT 8192u

/* What is known of a pipeline. It stays until the archive is closed, and so does whatever set of
 * verdicts somebody may be reading: they are chained. */
struct known {
    struct known *next; /* whose hash begins alike */
    struct known *all;
    uint8_t hash[BF_ARCHIVE_HASH];
    _Atomic(struct bf_verdicts *) verdicts;
    _Atomic bool barred;
    bool unwritten, bar_unwritten;
};

/* A build that has begun and not ended. */
struct build {
    struct build *next;
    const struct known *known;
    uint64_t number;
    int mark;
};

struct bf_archive {
    struct bf_map known;
    struct bf_lock
        lock; /* over all that follows, and over changes of what is known; held over I/O */
    struct bf_folder folder;
    struct known *all;
    struct build *builds;
};

bool bf_archive_folder(char *out, size_t size, const char *base,
                       const struct bf_archive_driver *driver)
{
    if (!base || base[0] != '/')
        return false;
    const uint32_t numbers[] = {driver->vendor_id, driver->device_id, driver->driver_version,
                                driver->api_version, driver->driver_id};
    struct bf_sha256 sha;
    uint8_t hash[32];
    char digits[33];
    bf_sha256_init(&sha);
    bf_sha256_add(&sha, driver->cache_uuid, VK_UUID_SIZE);
    bf_sha256_add(&sha, driver->driver_uuid, VK_UUID_SIZE);
    bf_sha256_add(&sha, driver->device_uuid, VK_UUID_SIZE);
    bf_sha256_add(&sha, numbers, sizeof(numbers));
    bf_sha256_add_text(&sha, driver->device_name);
    bf_sha256_add_text(&sha, driver->driver_name);
    bf_sha256_add_text(&sha, driver->driver_info);
    bf_sha256_finish(&sha, hash);
    for (uint32_t i = 0; i < 16; i++)
        snprintf(digits + 2 * i, 3, "%02x", hash[i]);
    int n = snprintf(out, size, "%s/%s-%u.%u.%u", base, digits, (unsigned)BF_VERSION_MAJOR,
                     (unsigned)BF_VERSION_MINOR, (unsigned)BF_VERSION_PATCH);
    return n > 0 && (size_t)n < size;
}

/* ---------------------------------------------------------------------------------------- Known */

/* The map's keys are neither 0 nor all ones. */
static uint64_t known_key(const uint8_t hash[BF_ARCHIVE_HASH])
{
    uint64_t key;
    memcpy(&key, hash, sizeof(key));
    return key + 1 < 2 ? 2 : key;
}

static struct known *known_find(const struct bf_archive *archive,
                                const uint8_t hash[BF_ARCHIVE_HASH])
{
    struct known *known = bf_map_find((struct bf_map *)&archive->known, known_key(hash));
    while (known && memcmp(known->hash, hash, BF_ARCHIVE_HASH) != 0)
        known = known->next;
    return known;
}

/* NULL: out of memory. The lock is held. */
static struct known *known_load(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    struct known *known = known_find(archive, hash);
    struct bf_verdicts *verdicts;
    bool barred;
    if (known)
        return known;
    known = calloc(1, sizeof(*known));
    if (!known || !bf_folder_read(&archive->folder, hash, &verdicts, &barred)) {
        free(known);
        return NULL;
    }
    memcpy(known->hash, hash, BF_ARCHIVE_HASH);
    atomic_init(&known->verdicts, verdicts);
    atomic_init(&known->barred, barred);
    known->next = bf_map_find(&archive->known, known_key(hash));
    if (!bf_map_insert(&archive->known, known_key(hash), known)) {
        free(verdicts);
        free(known);
        return NULL;
    }
    known->all = archive->all;
    archive->all = known;
    return known;
}

/* Strikes of other processes since it was loaded. The lock is held. [AR-12] */
static void known_heed(struct bf_archive *archive, struct known *known)
{
    if (bf_folder_is_barred(&archive->folder, known->hash))
        atomic_store(&known->barred, true);
}

static void known_publish(struct known *known, struct bf_verdicts *verdicts)
{
    verdicts->older = atomic_load_explicit(&known->verdicts, memory_order_relaxed);
    atomic_store_explicit(&known->verdicts, verdicts, memory_order_release);
}

static void known_free(struct known *known)
{
    for (struct bf_verdicts *v = atomic_load(&known->verdicts), *older; v; v = older) {
        older = v->older;
        free(v);
    }
    free(known);
}

/* Tries to bring to disk what isn't there: strikes first, each by itself, since they need neither
 * the folder's lock nor space, then verdicts until one fails. The lock is held. [AR-11] */
static void archive_write(struct bf_archive *archive)
{
    for (struct known *known = archive->all; known; known = known->all)
        if (known->bar_unwritten)
            known->bar_unwritten = !bf_folder_bar(&archive->folder, known->hash);
    bool goes = archive->folder.on;
    for (struct known *known = archive->all; known && goes; known = known->all) {
        if (known->unwritten)
            goes = bf_folder_write(&archive->folder, known->hash, known->verdicts);
        known->unwritten &= !goes;
    }
}

/* ------------------------------------------------------------------------------- Open and close */

struct bf_archive *bf_archive_open(const struct bf_archive_info *info)
{
    struct bf_archive *archive = calloc(1, sizeof(*archive));
    if (!archive)
        return NULL;
    archive->folder = (struct bf_folder){.fd = -1, .lock = -1};
    if (!info->folder || !info->folder[0] || getauxval(AT_SECURE))
        return archive;
    if (!bf_folder_open(&archive->folder, info->folder)) {
        bf_archive_close(archive);
        return NULL;
    }
    bf_folder_sweep(&archive->folder, info->most ? info->most : MOST_DEFAULT);
    return archive;
}

void bf_archive_close(struct bf_archive *archive)
{
    if (!archive)
        return;
    archive_write(archive);
    for (struct build *build = archive->builds, *next; build; build = next) {
        next = build->next;
        if (build->mark >= 0)
            close(build->mark);
        free(build);
    }
    for (struct known *known = archive->all, *next; known; known = next) {
        next = known->all;
        known_free(known);
    }
    bf_folder_close(&archive->folder);
    bf_map_finish(&archive->known, NULL, NULL);
    free(archive);
}

void bf_archive_abandon(struct bf_archive *archive)
{
    if (!archive)
        return;
    for (const struct build *build = archive->builds; build; build = build->next)
        if (build->mark >= 0)
            close(build->mark);
    if (archive->folder.lock >= 0)
        close(archive->folder.lock);
    if (archive->folder.fd >= 0)
        close(archive->folder.fd);
}

/* ----------------------------------------------------------------------------------------- Read */

static bool verdict_tell(const struct bf_verdict_entry *entry, struct bf_verdict *out)
{
    *out = (struct bf_verdict){.code = (enum bf_verdict_code)entry->code,
                               .reason = entry->reason,
                               .gain = entry->gain,
                               .n = entry->n};
    return entry->code != BF_VERDICT_FORGOTTEN;
}

bool bf_archive_find(const struct bf_archive *archive, const struct bf_archive_key *key,
                     struct bf_verdict *out)
{
    struct bf_verdict_entry wanted;
    const struct known *known = known_find(archive, key->hash);
    if (!known || !bf_verdict_entry_make(key, NULL, &wanted))
        return false;
    const struct bf_verdict_entry *entry =
        bf_verdicts_find(atomic_load_explicit(&known->verdicts, memory_order_acquire), &wanted);
    return entry && verdict_tell(entry, out);
}

bool bf_archive_barred(const struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    const struct known *known = known_find(archive, hash);
    return known && atomic_load(&known->barred);
}

uint32_t bf_archive_for_pipeline(const struct bf_archive *archive,
                                 const uint8_t hash[BF_ARCHIVE_HASH],
                                 void (*each)(void *context, const struct bf_archive_key *key,
                                              const struct bf_verdict *verdict),
                                 void *context)
{
    const struct known *known = known_find(archive, hash);
    const struct bf_verdicts *verdicts =
        known ? atomic_load_explicit(&known->verdicts, memory_order_acquire) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; verdicts && i < verdicts->count; i++) {
        const struct bf_verdict_entry *entry = &verdicts->entries[i];
        struct bf_archive_key key = {
            .n_values = entry->n_values, .mask = entry->mask, .form = entry->form};
        struct bf_verdict verdict;
        if (!verdict_tell(entry, &verdict))
            continue;
        memcpy(key.hash, hash, sizeof(key.hash));
        memcpy(key.values, entry->values, sizeof(key.values));
        each(context, &key, &verdict);
        n++;
    }
    return n;
}

/* ---------------------------------------------------------------------------------------- Write */

VkResult bf_archive_load(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    if (known_find(archive, hash))
        return VK_SUCCESS;
    bf_lock_acquire(&archive->lock);
    const struct known *known = known_load(archive, hash);
    bf_lock_release(&archive->lock);
    return known ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_archive_heed(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    bf_lock_acquire(&archive->lock);
    struct known *known = known_load(archive, hash);
    if (known)
        known_heed(archive, known);
    bf_lock_release(&archive->lock);
    return known ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_archive_begin(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    struct build *build = malloc(sizeof(*build));
    if (!build)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_lock_acquire(&archive->lock);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct known *known = known_load(archive, hash);
    if (known) {
        known_heed(archive, known);
        result = atomic_load(&known->barred) ? VK_ERROR_NOT_PERMITTED_KHR : VK_SUCCESS;
    }
    if (result == VK_SUCCESS) {
        build->known = known;
        build->mark = bf_folder_begin(&archive->folder, hash, &build->number);
        build->next = archive->builds;
        archive->builds = build;
    }
    bf_lock_release(&archive->lock);
    if (result != VK_SUCCESS)
        free(build);
    return result;
}

void bf_archive_end(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    struct build *build = NULL;
    bf_lock_acquire(&archive->lock);
    for (struct build **link = &archive->builds; *link && !build; link = &(*link)->next) {
        if (memcmp((*link)->known->hash, hash, BF_ARCHIVE_HASH) != 0)
            continue;
        build = *link;
        *link = build->next;
        bf_folder_end(&archive->folder, hash, build->number, build->mark);
        break;
    }
    bf_lock_release(&archive->lock);
    free(build);
}

VkResult bf_archive_strike(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    bf_lock_acquire(&archive->lock);
    struct known *known = known_load(archive, hash);
    if (known) {
        known->bar_unwritten |= !atomic_exchange(&known->barred, true);
        archive_write(archive);
    }
    bf_lock_release(&archive->lock);
    return known ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_archive_put(struct bf_archive *archive, const struct bf_archive_key *key,
                        const struct bf_verdict *verdict)
{
    struct bf_verdict_entry entry;
    if (!bf_verdict_entry_make(key, verdict, &entry))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    entry.unwritten = true;
    bf_lock_acquire(&archive->lock);
    struct known *known = known_load(archive, key->hash);
    struct bf_verdicts *verdicts = known ? bf_verdicts_with(known->verdicts, &entry) : NULL;
    if (verdicts) {
        known_publish(known, verdicts);
        known->unwritten = true;
        archive_write(archive);
    }
    bf_lock_release(&archive->lock);
    return verdicts ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}
