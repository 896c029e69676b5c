/* SPDX-License-Identifier: MIT */
/* What tests of logs read them with. */
#ifndef BELFRY_TEST_LOG_READ_H
#define BELFRY_TEST_LOG_READ_H

#include "support/fixture.h"

static inline BfFenceLogReader make_reader(struct fixture *f, BfCommandQueue queue,
                                           BfFenceLogType type, uint32_t entries)
{
    BfFenceLogReader reader;
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = queue,
                                             .type = type, .entries = entries};
    assert_success(bfCreateFenceLogReader(f->bf, &info, &reader));
    return reader;
}

/* Is this a run without times (CMakeLists.txt)? */
static inline bool is_untimed(void)
{
    const char *setting = getenv("VK_BELFRY_MULTI_ENGINE_LOG");
    return setting && !strcmp(setting, "untimed");
}

static inline bool is_timed(struct fixture *f, BfCommandQueue queue)
{
    return !is_untimed() && f->families[bfGetCommandQueueFamilyIndex(queue)].timestampValidBits > 0;
}

enum { MOST = 512 };

struct records {
    BfFenceLogRecord at[MOST];
    uint32_t count;
    uint64_t lost;
};

/* All that there are. */
static inline void read_all(BfFenceLogReader reader, struct records *r)
{
    assert_success(bfReadFenceLog(reader, MOST, r->at, &r->count, &r->lost));
}

/* The log as it is in memory; the caller frees it. */
static inline BfFenceLogBuffer *dump(BfFenceLogReader reader, size_t *bytes)
{
    size_t size = 0;
    assert_success(bfDumpFenceLog(reader, &size, NULL));
    BfFenceLogBuffer *log = malloc(size);
    assert_success(bfDumpFenceLog(reader, &size, log));
    if (bytes)
        *bytes = size;
    return log;
}

static inline uint64_t number_at(const void *memory, size_t offset, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)memory + offset, bytes);
    return value;
}

/* Any of the device's, and its family. */
static inline VkQueue any_queue(struct fixture *f, uint32_t *family)
{
    for (*family = 0; *family < f->family_count; ++*family)
        if (f->queue_counts[*family] && (f->families[*family].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            return f->queues[*family][0];
    fail_msg("no graphics family");
    return NULL;
}

#endif
