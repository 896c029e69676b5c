/* SPDX-License-Identifier: MIT */
/* The layout of native fence logs, as numbers of the test's own. Compiled, never run; as C and as
 * C++, for 64 and for 32 bits. */
#include "belfry/fence_log.h"

#define IS(name, what) typedef char name[(what) ? 1 : -1]

IS(header_size, sizeof(BfFenceLogHeader) == 40);
IS(header_word, offsetof(BfFenceLogHeader, atomicWraparoundAndEntryIndex) == 0);
IS(header_index, offsetof(BfFenceLogHeader, position.firstFreeEntryIndex) == 0);
IS(header_wraparounds, offsetof(BfFenceLogHeader, position.wraparoundCount) == 4);
IS(header_type, offsetof(BfFenceLogHeader, type) == 8);
IS(header_entries, offsetof(BfFenceLogHeader, numberOfEntries) == 16);
IS(header_reserved, offsetof(BfFenceLogHeader, reserved) == 24);

IS(entry_size, sizeof(BfFenceLogEntry) == 48);
IS(entry_value, offsetof(BfFenceLogEntry, fenceValue) == 0);
IS(entry_fence, offsetof(BfFenceLogEntry, hNativeFence) == 8);
IS(entry_operation, offsetof(BfFenceLogEntry, operationType) == 12);
IS(entry_reserved_0, offsetof(BfFenceLogEntry, reserved0) == 16);
IS(entry_observed, offsetof(BfFenceLogEntry, fenceObservedGpuTimestamp) == 24);
IS(entry_reserved_1, offsetof(BfFenceLogEntry, reserved1) == 32);
IS(entry_end, offsetof(BfFenceLogEntry, fenceEndGpuTimestamp) == 40);

IS(buffer_entries, offsetof(BfFenceLogBuffer, entries) == 40);
IS(buffer_size, sizeof(BfFenceLogBuffer) == 88);

IS(waits, BF_FENCE_LOG_TYPE_WAITS == 1);
IS(signals, BF_FENCE_LOG_TYPE_SIGNALS == 2);
IS(executed, BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED == 0);
IS(unblocked, BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED == 1);

IS(entries_of_a_page, BF_FENCE_LOG_ENTRIES(4096) == 84);
IS(bytes_of_84, BF_FENCE_LOG_BYTES(84) == 4072);
IS(bytes_of_many, BF_FENCE_LOG_BYTES(UINT32_MAX) == 206158430200ull);

/* Aligned to 8 inside something else, too. */
struct nested {
    char c;
    BfFenceLogHeader header;
};
struct nested_entry {
    char c;
    BfFenceLogEntry entry;
};
IS(header_alignment, offsetof(struct nested, header) == 8);
IS(entry_alignment, offsetof(struct nested_entry, entry) == 8);
