/* SPDX-License-Identifier: MIT */
/* The archive: verdicts and strikes by key, read from the cache file at opening and kept in
 * memory. */
#include "specialize/archive/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "belfry/belfry.h"
#include "base/lock.h"
#include "base/sha256.h"
#include "specialize/archive/cache_file.h"

#define CAP_DEFAULT (32u << 20)
#define CAP_LEAST   4096u

/* A build that has begun and not ended. */
struct build {
    struct build *next;
    struct bf_archive_key key;
    uint32_t serial;
    bool on_disk;
};

struct bf_archive {
    struct bf_snapshot known;
    uint32_t entries_most;

    struct bf_lock lock; /* over all that follows and over writing to 'known'; held over I/O */
    struct bf_cache_file file;
    struct build *builds;
    uint32_t serials;
};

/* With its length, so that two texts can't be taken for two others. */
static void add_text(struct bf_sha256 *sha, const char *text)
{
    uint32_t length = text ? (uint32_t)strlen(text) : 0;
    bf_sha256_add(sha, &length, sizeof(length));
    bf_sha256_add(sha, text, length);
}

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
    add_text(&sha, driver->device_name);
    add_text(&sha, driver->driver_name);
    add_text(&sha, driver->driver_info);
    bf_sha256_finish(&sha, hash);
    for (uint32_t i = 0; i < 16; i++)
        snprintf(digits + 2 * i, 3, "%02x", hash[i]);
    int n = snprintf(out, size, "%s/%s-%u.%u.%u", base, digits, (unsigned)BF_VERSION_MAJOR,
                     (unsigned)BF_VERSION_MINOR, (unsigned)BF_VERSION_PATCH);
    return n > 0 && (size_t)n < size;
}

/* ------------------------------------------------------------------------------- Open and close */

/* Which builds have an owner that is gone. NULL: out of memory. */
static uint64_t *owners_gone(const struct bf_archive *archive, size_t *n)
{
    const struct bf_snapshot *known = &archive->known;
    uint64_t *gone = malloc((known->n_builds + 1) * sizeof(*gone));
    *n = 0;
    for (size_t i = 0; gone && i < known->n_builds; i++)
        if (!bf_cache_file_owner_lives(&archive->file, known->builds[i].owner))
            gone[(*n)++] = known->builds[i].owner;
    return gone;
}

/* Builds whose owner is gone are strikes (AR-3). All that an owner has written is in the file
 * once it is gone; but it may have ended its build after the file was read here, and exited
 * then. So a file with such builds is read once more. */
static bool archive_read(struct bf_archive *archive)
{
    struct bf_cache_file *file = &archive->file;
    if (!bf_cache_file_read(file, &archive->known))
        return false;
    if (archive->known.foreign) {
        file->replace = true;
        bf_cache_file_compact(file);
    }
    size_t n;
    uint64_t *gone = owners_gone(archive, &n);
    if (gone && n) {
        bf_snapshot_finish(&archive->known);
        if (!bf_cache_file_read(file, &archive->known)) {
            free(gone);
            return false;
        }
        struct bf_snapshot *known = &archive->known;
        for (size_t i = 0; i < known->n_builds; i++) {
            size_t at = 0;
            while (at < n && gone[at] != known->builds[i].owner)
                at++;
            if (at < n)
                bf_index_strike(&known->index, known->builds[i].entry);
        }
    }
    free(gone);
    return gone;
}

struct bf_archive *bf_archive_open(const struct bf_archive_info *info)
{
    struct bf_archive *archive = calloc(1, sizeof(*archive));
    if (!archive)
        return NULL;
    uint64_t cap = info->cap ? info->cap : CAP_DEFAULT;
    if (cap < CAP_LEAST)
        cap = CAP_LEAST;
    uint64_t most = cap / BF_RECORD_SIZE;
    archive->entries_most = most < UINT32_MAX / 4 ? (uint32_t)most : UINT32_MAX / 4;
    archive->file = (struct bf_cache_file){.folder = -1, .lock = -1, .data = -1};
    if (!info->folder || !info->folder[0] || getauxval(AT_SECURE))
        return archive;
    if (!bf_cache_file_open(&archive->file, info->folder, cap) || !archive_read(archive)) {
        bf_archive_close(archive);
        return NULL;
    }
    return archive;
}

void bf_archive_close(struct bf_archive *archive)
{
    if (!archive)
        return;
    bf_cache_file_close(&archive->file);
    while (archive->builds) {
        struct build *next = archive->builds->next;
        free(archive->builds);
        archive->builds = next;
    }
    bf_snapshot_finish(&archive->known);
    free(archive);
}

/* ----------------------------------------------------------------------------------------- Read */

bool bf_archive_find(const struct bf_archive *archive, const struct bf_archive_key *key,
                     struct bf_verdict *out)
{
    struct bf_archive_key canonical;
    if (!bf_archive_key_canonical(key, &canonical))
        return false;
    const struct bf_index_entry *entry = bf_index_find(&archive->known.index, &canonical);
    return entry && bf_index_known(entry, out);
}

uint32_t bf_archive_for_pipeline(const struct bf_archive *archive,
                                 const uint8_t hash[BF_ARCHIVE_HASH],
                                 void (*each)(void *context, const struct bf_archive_key *key,
                                              const struct bf_verdict *verdict),
                                 void *context)
{
    uint32_t n = 0;
    for (const struct bf_index_entry *entry = bf_index_pipeline(&archive->known.index, hash); entry;
         entry = entry->sibling) {
        struct bf_verdict verdict;
        if (bf_index_known(entry, &verdict)) {
            each(context, &entry->key, &verdict);
            n++;
        }
    }
    return n;
}

/* ---------------------------------------------------------------------------------------- Write */

/* Success with *entry NULL: there are too many entries. */
static VkResult entry_add(struct bf_archive *archive, const struct bf_archive_key *key,
                          struct bf_index_entry **entry)
{
    struct bf_index *index = &archive->known.index;
    *entry = bf_index_find(index, key);
    if (*entry || index->count >= archive->entries_most)
        return VK_SUCCESS;
    *entry = bf_index_add(index, key);
    return *entry ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static bool archive_append(struct bf_archive *archive, const struct bf_record *record, bool again)
{
    uint8_t bytes[BF_RECORD_SIZE];
    bf_record_encode(record, bytes);
    return bf_cache_file_append(&archive->file, bytes, again);
}

/* The latest build of that key, taken out of the list; NULL: there is none. */
static struct build *build_take(struct bf_archive *archive, const struct bf_archive_key *key)
{
    for (struct build **link = &archive->builds; *link; link = &(*link)->next) {
        struct build *build = *link;
        if (bf_archive_key_equal(&build->key, key)) {
            *link = build->next;
            return build;
        }
    }
    return NULL;
}

VkResult bf_archive_begin(struct bf_archive *archive, const struct bf_archive_key *key)
{
    struct bf_archive_key canonical;
    if (!bf_archive_key_canonical(key, &canonical))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_verdict verdict;
    if (bf_archive_find(archive, &canonical, &verdict) && verdict.code == BF_VERDICT_BARRED)
        return VK_ERROR_NOT_PERMITTED_KHR;
    struct build *build = malloc(sizeof(*build));
    if (!build)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    build->key = canonical;

    bf_lock_acquire(&archive->lock);
    build->serial = archive->serials++;
    build->next = archive->builds;
    archive->builds = build;
    build->on_disk = archive_append(archive,
                                    &(struct bf_record){.kind = BF_RECORD_BEGIN,
                                                        .key = canonical,
                                                        .owner = archive->file.owner,
                                                        .serial = build->serial},
                                    false);
    bf_lock_release(&archive->lock);
    return VK_SUCCESS;
}

VkResult bf_archive_end(struct bf_archive *archive, const struct bf_archive_key *key)
{
    struct bf_archive_key canonical;
    if (!bf_archive_key_canonical(key, &canonical))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_lock_acquire(&archive->lock);
    struct build *build = build_take(archive, &canonical);
    if (build && build->on_disk)
        archive_append(archive,
                       &(struct bf_record){.kind = BF_RECORD_END,
                                           .key = canonical,
                                           .owner = archive->file.owner,
                                           .serial = build->serial},
                       true);
    bf_lock_release(&archive->lock);
    free(build);
    return VK_SUCCESS;
}

VkResult bf_archive_strike(struct bf_archive *archive, const struct bf_archive_key *key)
{
    struct bf_archive_key canonical;
    if (!bf_archive_key_canonical(key, &canonical))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct build *build = NULL;
    bf_lock_acquire(&archive->lock);
    struct bf_index_entry *entry;
    VkResult result = entry_add(archive, &canonical, &entry);
    if (result == VK_SUCCESS) {
        if (entry)
            bf_index_strike(&archive->known.index, entry);
        build = build_take(archive, &canonical);
        archive_append(archive, &(struct bf_record){.kind = BF_RECORD_STRIKE, .key = canonical},
                       true);
    }
    bf_lock_release(&archive->lock);
    free(build);
    return result;
}

VkResult bf_archive_put(struct bf_archive *archive, const struct bf_archive_key *key,
                        const struct bf_verdict *verdict)
{
    struct bf_archive_key canonical;
    if (!bf_archive_key_canonical(key, &canonical) ||
        (verdict->code != BF_VERDICT_FORGOTTEN && verdict->code != BF_VERDICT_KEPT &&
         verdict->code != BF_VERDICT_REJECTED))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_lock_acquire(&archive->lock);
    struct bf_index_entry *entry;
    VkResult result = entry_add(archive, &canonical, &entry);
    if (result == VK_SUCCESS) {
        if (entry)
            bf_index_put(&archive->known.index, entry, verdict);
        archive_append(
            archive,
            &(struct bf_record){.kind = BF_RECORD_VERDICT, .key = canonical, .verdict = *verdict},
            true);
    }
    bf_lock_release(&archive->lock);
    return result;
}
