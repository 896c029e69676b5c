/* SPDX-License-Identifier: MIT */
/*
 * Native fence logs: what a GPU writes into memory about the waits and signals of a queue.
 *
 * Self-contained (C99, C11 and C++11; neither Vulkan nor belfry.h is needed), so that tools can
 * read dumps of logs. The layouts are those of DXGK_NATIVE_FENCE_LOG_HEADER, _ENTRY and _BUFFER of
 * WDDM 3.2 to the bit, on every target, little-endian; nothing here is ever to move. So they have
 * none of the members sType and pNext that Belfry's other structs begin with.
 *
 * Where clauses are named, [NF x] is the section "x" of Microsoft's "Native GPU fence object"
 * (Windows driver documentation).
 *
 * The rules
 *
 *  - A queue has two logs, one of its waits and one of its signals; a queue that was created with
 *    software fences has none. A log is one buffer: a header and its entries, in 4 KiB 84 of them.
 *    The log of a queue that is being traced may be larger. header.numberOfEntries says how many
 *    entries a buffer has. [NF Log buffer mechanism]
 *  - The GPU writes them, in the order in which the queue executes: the new value into the fence,
 *    then the entry, then the index, then whatever makes the CPU look, so that who was woken finds
 *    the entry there. [NF Order of operations on GPU when signaling or unblocking a fence]
 *  - firstFreeEntryIndex is the entry that comes next. Past the last entry it becomes 0 again and
 *    wraparoundCount grows by 1. The two are one 64-bit word, wraparoundCount << 32 |
 *    firstFreeEntryIndex, which is written in one piece and is to be read in one piece. So in total
 *    wraparoundCount * numberOfEntries + firstFreeEntryIndex entries have been written (the count
 *    of wraparounds overflows in its turn). A new log has 0 there and is zero all over, but for
 *    type and numberOfEntries.
 *  - Overrun is permitted: the writer never waits for a reader, and overwrites the oldest entry. A
 *    reader compares the word with the one it saw last, and so knows how many entries it missed;
 *    the state of the fences themselves then tells what those would have said. While a log is in
 *    use, the entry at firstFreeEntryIndex may be half-written at any time.
 *    [NF Log buffer overrun is permitted]
 *  - A log is flushed before it is read. [NF Synchronously updating the native fence log]
 *    The entries of a log that the setting 'untimed' has left without times come into memory there.
 *  - Times are raw: ticks of the device's timestamps (VkPhysicalDeviceLimits::timestampPeriod
 *    nanoseconds each), of which the low timestampValidBits count. In the order of entries they may
 *    repeat, and 0 is 'none', but apart from the overflow of those bits they never go backwards; a
 *    reader raises one that does. [NF Empty or repeated log buffer timestamps]
 */
#ifndef BELFRY_FENCE_LOG_H
#define BELFRY_FENCE_LOG_H

#include <stddef.h>
#include <stdint.h>

/* 32-bit targets would align 64 bits to 4 bytes. What C99 and C++11 lack (alignment, unnamed
 * unions, static assertions), GNU compilers have as extensions. */
#ifdef __cplusplus
extern "C" {
#define BF_FENCE_LOG_ALIGNED      alignas(8)
#define BF_FENCE_LOG_ALIGNMENT    alignof
#define BF_FENCE_LOG_ASSERT(what) static_assert(what, #what)
#define BF_FENCE_LOG_UNNAMED
#elif __STDC_VERSION__ >= 201112L
#define BF_FENCE_LOG_ALIGNED      _Alignas(8)
#define BF_FENCE_LOG_ALIGNMENT    _Alignof
#define BF_FENCE_LOG_ASSERT(what) _Static_assert(what, #what)
#define BF_FENCE_LOG_UNNAMED
#else
#define BF_FENCE_LOG_ALIGNED      __attribute__((aligned(8)))
#define BF_FENCE_LOG_ALIGNMENT    __alignof__
#define BF_FENCE_LOG_ASSERT(what) __extension__ _Static_assert(what, #what)
#define BF_FENCE_LOG_UNNAMED      __extension__
#endif

/* DXGK_NATIVE_FENCE_LOG_TYPE: which log it is. */
typedef enum BfFenceLogType {
    BF_FENCE_LOG_TYPE_WAITS = 1,
    BF_FENCE_LOG_TYPE_SIGNALS = 2,
} BfFenceLogType;

/* DXGK_NATIVE_FENCE_LOG_OPERATION: what an entry tells of. A log of signals has entries of the
 * first kind only, a log of waits of the second. */
typedef enum BfFenceLogOperation {
    BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED = 0,
    BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED = 1,
} BfFenceLogOperation;

/* What reserved0 of an entry holds: Belfry's own; to WDDM these 64 bits are alignment. Nobody hands
 * them to Belfry; bits that lie in memory and are none of these bfReadFenceLog leaves out, and
 * 'belfry log' shows as unknown. */
typedef enum BfFenceLogFlagBits {
    /* A wait of which the program asked that it hold up only some of the pipeline's stages:
     * fenceEndGpuTimestamp may lie before the end of the wait. */
    BF_FENCE_LOG_LATE_BOUND_BIT = 1,
    /* That time isn't the GPU's: the host took its own clock's, in the device's ticks, since no GPU
     * timestamp could be had. */
    BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT = 2,
    BF_FENCE_LOG_END_FROM_HOST_BIT = 4,
    /* No time could be had: both times are 0 and say nothing. So it is of all entries where the
     * queue's engine has no timestamps or the log was set to have none; and of single ones of a
     * transfer-only queue that had more operations under way than the log has entries. */
    BF_FENCE_LOG_UNTIMED_BIT = 8,
} BfFenceLogFlagBits;
#define BF_FENCE_LOG_FLAGS_ALL 15u

typedef struct BfFenceLogPosition {
    uint32_t firstFreeEntryIndex;
    uint32_t wraparoundCount;
} BfFenceLogPosition;

/* DXGK_NATIVE_FENCE_LOG_HEADER */
typedef struct BfFenceLogHeader {
    /* One word: read it in one piece, by atomicWraparoundAndEntryIndex. */
    BF_FENCE_LOG_UNNAMED union {
        BF_FENCE_LOG_ALIGNED uint64_t atomicWraparoundAndEntryIndex;
        BfFenceLogPosition position;
    };
    uint32_t type; /* a BfFenceLogType */
    uint32_t padding;
    uint64_t numberOfEntries;
    uint64_t reserved[2];
} BfFenceLogHeader;

/* DXGK_NATIVE_FENCE_LOG_ENTRY */
typedef struct BfFenceLogEntry {
    /* The value that was signalled; or the value that was waited for, the fence's own being that or
     * more. */
    BF_FENCE_LOG_ALIGNED uint64_t fenceValue;
    /* The fence's handle in the process that gave the GPU the work; 0 is none. */
    uint32_t hNativeFence;
    uint32_t operationType; /* a BfFenceLogOperation */
    uint64_t reserved0;     /* BfFenceLogFlagBits */
    /* Of a wait: when the queue came to it and stalled, which is when its previous packet had ended
     * or when the wait was handed to it, whichever was later. 0 if it never stalled: the value had
     * been reached by then; without calibrated clocks also if only the CPU knows that time. Of a
     * signal: 0. */
    uint64_t fenceObservedGpuTimestamp;
    uint64_t reserved1;
    /* When the signal was executed, or the wait was over and the queue went on. */
    uint64_t fenceEndGpuTimestamp;
} BfFenceLogEntry;

/* DXGK_NATIVE_FENCE_LOG_BUFFER: entries has header.numberOfEntries elements. */
typedef struct BfFenceLogBuffer {
    BfFenceLogHeader header;
    BfFenceLogEntry entries[1];
} BfFenceLogBuffer;

/* The bytes of a log of 'count' entries, and the entries that a log of 'bytes' (40 or more) has. */
#define BF_FENCE_LOG_BYTES(count)   (UINT64_C(40) + UINT64_C(48) * (count))
#define BF_FENCE_LOG_ENTRIES(bytes) (((bytes)-UINT64_C(40)) / UINT64_C(48))

/* What a queue's log has unless it is traced. */
#define BF_FENCE_LOG_DEFAULT_BYTES   4096u
#define BF_FENCE_LOG_DEFAULT_ENTRIES 84u

/* The parts of atomicWraparoundAndEntryIndex. */
static inline uint32_t bfFenceLogIndex(uint64_t word)
{
    return (uint32_t)word;
}

static inline uint32_t bfFenceLogWraparounds(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* atomicWraparoundAndEntryIndex of a log of 'count' entries (not 0) once 'total' of them have been
 * written, and the other way round (as far as 32 bits of wraparounds tell). */
static inline uint64_t bfFenceLogWord(uint64_t total, uint32_t count)
{
    return (total / count) << 32 | total % count;
}

static inline uint64_t bfFenceLogTotal(uint64_t word, uint32_t count)
{
    return (uint64_t)bfFenceLogWraparounds(word) * count + bfFenceLogIndex(word);
}

BF_FENCE_LOG_ASSERT(sizeof(BfFenceLogPosition) == 8);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogPosition, firstFreeEntryIndex) == 0);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogPosition, wraparoundCount) == 4);

BF_FENCE_LOG_ASSERT(BF_FENCE_LOG_ALIGNMENT(BfFenceLogHeader) == 8);
BF_FENCE_LOG_ASSERT(sizeof(BfFenceLogHeader) == 40);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogHeader, atomicWraparoundAndEntryIndex) == 0);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogHeader, position) == 0);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogHeader, type) == 8);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogHeader, padding) == 12);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogHeader, numberOfEntries) == 16);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogHeader, reserved) == 24);

BF_FENCE_LOG_ASSERT(BF_FENCE_LOG_ALIGNMENT(BfFenceLogEntry) == 8);
BF_FENCE_LOG_ASSERT(sizeof(BfFenceLogEntry) == 48);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, fenceValue) == 0);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, hNativeFence) == 8);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, operationType) == 12);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, reserved0) == 16);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, fenceObservedGpuTimestamp) == 24);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, reserved1) == 32);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogEntry, fenceEndGpuTimestamp) == 40);

BF_FENCE_LOG_ASSERT(BF_FENCE_LOG_ALIGNMENT(BfFenceLogBuffer) == 8);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogBuffer, header) == 0);
BF_FENCE_LOG_ASSERT(offsetof(BfFenceLogBuffer, entries) == 40);
BF_FENCE_LOG_ASSERT(BF_FENCE_LOG_ENTRIES(BF_FENCE_LOG_DEFAULT_BYTES) ==
                    BF_FENCE_LOG_DEFAULT_ENTRIES);
BF_FENCE_LOG_ASSERT(BF_FENCE_LOG_BYTES(BF_FENCE_LOG_DEFAULT_ENTRIES) <= BF_FENCE_LOG_DEFAULT_BYTES);

#ifdef __cplusplus
}
#endif
#undef BF_FENCE_LOG_ALIGNED
#undef BF_FENCE_LOG_ALIGNMENT
#undef BF_FENCE_LOG_ASSERT
#undef BF_FENCE_LOG_UNNAMED

#endif
