/* SPDX-License-Identifier: MIT */
/* The side channel of Belfry's test driver: what a program under test may ask the driver below it.
 *
 * A program never links the driver. It opens the library that the Vulkan loader has already loaded
 * (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) and finds these functions with dlsym; the typedefs below
 * name their types, belfry_icd_control_load() in icd_client.h does it for the tests of this tree.
 * Counters, pause and recorder belong to the process, not to an instance. Every function may be
 * called from any thread at any time, unless it says otherwise; none may be called from the
 * submit callback. */
#ifndef BELFRY_TEST_ICD_CONTROL_H
#define BELFRY_TEST_ICD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the driver checks of its callers, always. Each finding prints one line on stderr. */
enum belfry_icd_violation {
    /* A wait was submitted before its signal: timeline, the value exceeds the current one and
     * every submitted one; binary, no unconsumed signal is pending. Vulkan allows the former,
     * Belfry's Rule M allows neither. */
    BELFRY_ICD_WAIT_BEFORE_SIGNAL,
    /* Two threads inside calls on one VkQueue (vkDeviceWaitIdle counts as a call on all). */
    BELFRY_ICD_QUEUE_RACE,
    /* A VkSubmitInfo(2) with neither command buffers nor semaphores, in a call without a fence. */
    BELFRY_ICD_EMPTY_INFO,
    /* A binary semaphore signalled while signalled, or while another signal was pending. */
    BELFRY_ICD_BINARY_RESIGNAL,
    /* A VkFence submitted while pending or signalled, or reset while pending. */
    BELFRY_ICD_FENCE_BUSY,
    /* A timeline semaphore signalled with a value that isn't greater than its current one. */
    BELFRY_ICD_TIMELINE_NOT_INCREASING,
    /* An object still alive at vkDestroyDevice. */
    BELFRY_ICD_LEAK,
    /* A semaphore, fence, event, command buffer, buffer, memory, query pool, queue or device
     * destroyed, freed, or reset while the driver still had work that uses it. */
    BELFRY_ICD_DESTROY_PENDING,
    /* A command buffer submitted that isn't executable, or that is pending without having been
     * recorded for simultaneous use. */
    BELFRY_ICD_COMMAND_BUFFER_STATE,
    /* A queue family index that this device doesn't have, in a command pool, a concurrent resource
     * or a barrier. */
    BELFRY_ICD_UNKNOWN_FAMILY,
    /* A queue's debug label ended where none was open. */
    BELFRY_ICD_LABEL_UNBALANCED,
    /* A command recorded for a queue family that can't run it: resets and copies of queries without
     * graphics or compute, dispatches and compute pipelines without compute, draws without
     * graphics, transfers without any of them; or a stage of a barrier or timestamp that the
     * family hasn't. */
    BELFRY_ICD_COMMAND_FAMILY,
    /* A timestamp recorded for a queue family whose timestampValidBits is 0. */
    BELFRY_ICD_TIMESTAMP_FAMILY,
    /* A command buffer submitted to a queue of another family than its pool's, or executed by a
     * primary one of another family. */
    BELFRY_ICD_POOL_FAMILY,
    /* A transfer or query command that reaches outside its buffer, the memory that this is bound
     * to or its query pool, that is misaligned, or whose source and target overlap: it is not
     * executed. A buffer bound, or memory mapped, beyond the memory's end. */
    BELFRY_ICD_OUT_OF_RANGE,
    /* A transfer command on a buffer without the usage for it. */
    BELFRY_ICD_BUFFER_USAGE,
    /* A query written that hasn't been reset since it was last written, or read that has never
     * been reset. Found when the command runs. */
    BELFRY_ICD_QUERY_UNRESET,
    /* A query reset by the host while submitted commands that use it hadn't finished. */
    BELFRY_ICD_QUERY_PENDING,
    /* Memory that doesn't fit what it is made of or used for: a host pointer imported misaligned,
     * as a type it can't be, or without the extension; a buffer bound to imported memory that
     * wasn't created for such; memory of a type that there isn't, or that the buffer or image bound
     * to it doesn't take. */
    BELFRY_ICD_MEMORY_MISMATCH,
    /* An object of one VkDevice used with another. */
    BELFRY_ICD_FOREIGN_OBJECT,
    /* Memory mapped that the host can't see or that is mapped; unmapped that isn't; a range flushed
     * or invalidated that isn't mapped or isn't of whole atoms (nonCoherentAtomSize). */
    BELFRY_ICD_MAPPING,
    /* A protected batch on a queue that wasn't created for such, or with a command buffer of an
     * unprotected pool; an unprotected batch with one of a protected pool. */
    BELFRY_ICD_PROTECTION,
    /* With BELFRY_ICD_BUG=late_wait_points: a timeline semaphore destroyed after a batch that
     * waited for it or signalled it has finished, and before the queue has let go of it. */
    BELFRY_ICD_LATE_WAIT,
    /* A timeline semaphore raised by more than maxTimelineSemaphoreValueDifference. */
    BELFRY_ICD_TIMELINE_FAR,
    /* The value of a binary semaphore: asked for, waited for or signalled by the host. */
    BELFRY_ICD_BINARY_VALUE,
    BELFRY_ICD_VIOLATION_COUNT,
};

struct belfry_icd_counters {
    uint64_t violations[BELFRY_ICD_VIOLATION_COUNT];
    uint64_t submit_calls; /* vkQueueSubmit and vkQueueSubmit2, failed ones included */
    uint64_t submit_infos; /* VkSubmitInfo(2)s accepted */
    uint64_t infos_without_command_buffer; /* of these; with or without semaphores */
    uint64_t empty_calls;                  /* submit calls with no info and no fence */
    uint64_t fence_only_calls;             /* submit calls with no info but a fence */
    uint64_t waits;                        /* semaphore waits accepted, by any kind of call */
    uint64_t signals;                      /* semaphore signals accepted, by any kind of call */
    uint64_t command_buffers;              /* primary command buffers executed */
    uint64_t query_transfers;              /* resets and copies of queries that queues executed */
    uint64_t bind_sparse_calls;
    uint64_t presents; /* vkQueuePresentKHR calls */
    uint64_t queue_wait_idles;
    uint64_t device_wait_idles;
    uint64_t wakeups;     /* times a queue's worker resumed after being parked */
    uint64_t flushes;     /* ranges given to vkFlushMappedMemoryRanges */
    uint64_t invalidates; /* ranges given to vkInvalidateMappedMemoryRanges */
    uint64_t oom_points;  /* calls made that may return OUT_OF_HOST_MEMORY;
                           * not counted in free mode */
};

enum belfry_icd_call {
    BELFRY_ICD_CALL_SUBMIT,
    BELFRY_ICD_CALL_BIND_SPARSE,
    BELFRY_ICD_CALL_PRESENT,
    BELFRY_ICD_CALL_LABEL_BEGIN,
    BELFRY_ICD_CALL_LABEL_END,
    BELFRY_ICD_CALL_LABEL_INSERT,
    BELFRY_ICD_CALL_TOLD, /* a command that says something of the VkQueue: its name is the label */
};

/* One accepted call on a queue. */
struct belfry_icd_record {
    uint64_t sequence; /* 0, 1, 2 … in order of acceptance since the library was loaded */
    enum belfry_icd_call call;
    uint32_t device; /* which physical device, from 0 */
    uint32_t family;
    uint32_t index;
    uint32_t infos;
    uint32_t waits;           /* summed over the infos */
    uint32_t signals;         /* summed over the infos */
    uint32_t command_buffers; /* summed over the infos */
    uint64_t fence;           /* the driver's handle, 0 for none */
    uint64_t thread;          /* gettid() of the caller */
    uint64_t id; /* of the last submission or the present that has one; what the command said */
    /* The debug labels that are open on the queue, outermost first: "frame/shadows"; "" for none.
     * Of a label call: after it, and the name of the label itself. Both stay as long as the
     * library; names beyond a few hundred, and beyond 63 letters, are cut off. */
    const char *labels;
    const char *label;
};

/* One range of a sparse bind, as given to vkQueueBindSparse. */
struct belfry_icd_sparse_bind {
    uint64_t resource; /* the VkBuffer or VkImage */
    uint64_t offset;   /* bytes; 0 for the image's subresource binds */
    uint64_t size;     /* bytes; 0 for the image's subresource binds */
    uint64_t memory;   /* the VkDeviceMemory, 0 for an unbind */
    uint64_t memory_offset;
};

/* Which calls block: vkQueueSubmit(2), vkQueueBindSparse, vkQueuePresentKHR, the two waits for
 * idleness, vkSignalSemaphore (before alone) and, late alone, vkWaitForFences and vkWaitSemaphores
 * where they have to wait: that their time is over doesn't end them. */
struct belfry_icd_block {
    const char *command; /* as for belfry_icd_set_fault */
    uint64_t first;      /* the first-th such call from now on, from 1; 0: none */
    uint64_t every;      /* and each every-th one behind it; 0: that one alone */
    uint64_t ns;         /* for so long; 0: until belfry_icd_release */
    bool late;           /* once the call has had its effect; else before it has any */
};

typedef void (*belfry_icd_callback)(const struct belfry_icd_record *record, void *user);

/* belfry_icd_get_counters: fills *counters with all counts since load or the last reset. */
typedef void belfry_icd_get_counters_fn(struct belfry_icd_counters *counters);
/* belfry_icd_reset_counters: sets all counts to 0. Faults keep their own counts. */
typedef void belfry_icd_reset_counters_fn(void);
/* belfry_icd_violation_name: a short name for a kind, for messages. Never NULL. */
typedef const char *belfry_icd_violation_name_fn(enum belfry_icd_violation kind);

/* belfry_icd_record_start: from now on writes a record per accepted call into records, until
 * capacity is used up. The array stays the caller's and must outlive belfry_icd_record_stop. */
typedef void belfry_icd_record_start_fn(struct belfry_icd_record *records, size_t capacity);
/* belfry_icd_record_count: calls seen since the start; may exceed the capacity. */
typedef size_t belfry_icd_record_count_fn(void);
/* belfry_icd_record_stop: ends recording; returns the count. The array is not touched any more. */
typedef size_t belfry_icd_record_stop_fn(void);
/* belfry_icd_set_callback: calls callback within every accepted call, on the caller's thread,
 * before the call returns and under the driver's lock: it may not call Vulkan. NULL for none. */
typedef void belfry_icd_set_callback_fn(belfry_icd_callback callback, void *user);

/* belfry_icd_pause: queues go on accepting, but start no further packet once it has returned;
 * a packet that is already running ends. Nests not: one resume undoes any number of pauses. */
typedef void belfry_icd_pause_fn(void);
typedef void belfry_icd_resume_fn(void);
/* belfry_icd_hold_before_signals: while hold is true, every packet that has command buffers stops
 * once these have run: what they have written is there, and its semaphores and its fence aren't
 * signalled, its queue isn't idle, until the packet is released by step or by hold being false
 * again. Packets without command buffers go on. A lost device holds nothing. Not in free mode. */
typedef void belfry_icd_hold_before_signals_fn(bool hold);
/* belfry_icd_late_writes: while late is true, single words that commands write reach the host at
 * once, and everything else only behind a memory barrier to the host's reads, by the next write or
 * the packet's signals (or when the GPU itself reads it, or late is false again). It is all that
 * Vulkan promises to who polls memory. */
typedef void belfry_icd_late_writes_fn(bool late);
/* belfry_icd_watch_commands: with BELFRY_ICD_ORDER, look is called behind each command that a queue
 * runs, on the queue's thread; NULL: no more. To be set while the queues are idle. */
typedef void belfry_icd_command_fn(void *data);
typedef void belfry_icd_watch_commands_fn(belfry_icd_command_fn *look, void *data);
/* belfry_icd_held: queues that hold such a packet at this moment, of all devices. */
typedef uint32_t belfry_icd_held_fn(void);
/* belfry_icd_step: lets a queue do one thing: release the packet that it holds before its signals;
 * or else, when paused, start its next packet as soon as that packet's waits are over. Acts on the
 * queues of that family and index of all devices; returns whether any had something to do. What
 * follows from it is over after quiesce. A resume takes back steps that haven't been made. Not in
 * free mode: false. */
typedef bool belfry_icd_step_fn(uint32_t family, uint32_t index);
/* belfry_icd_quiesce: returns when every queue is idle, paused between two packets, held before its
 * signals, or blocked by a semaphore, event or query that nothing running will satisfy. The way to
 * show that 'nothing more happens' without sleeping; threads of the program itself are not waited
 * for. */
typedef void belfry_icd_quiesce_fn(void);
/* belfry_icd_sleepers: threads of the program that are asleep inside a blocking call of the driver
 * at this moment: waits for semaphores, fences, queries and images, and both wait idles. */
typedef uint32_t belfry_icd_sleepers_fn(void);
/* belfry_icd_endless_waits: while endless is true, time ends none of the program's waits for
 * semaphores that begin to sleep: what they wait for does, or the loss of the device. So who is
 * found by a time-out alone isn't found. */
typedef void belfry_icd_endless_waits_fn(bool endless);
/* belfry_icd_jump_clock: the clock that timestamps are taken from is set ahead by so much, or
 * back. */
typedef void belfry_icd_jump_clock_fn(int64_t ns);
/* belfry_icd_queue_depth: packets accepted on a queue and not finished, summed over all devices. */
typedef uint64_t belfry_icd_queue_depth_fn(uint32_t family, uint32_t index);
/* belfry_icd_lose: every live device is lost now, as by BELFRY_ICD_LOSE_AT_SUBMIT. */
typedef void belfry_icd_lose_fn(void);
/* belfry_icd_lose_device: the same of the devices of one physical device, counted from 0. */
typedef void belfry_icd_lose_device_fn(uint32_t ordinal);
/* belfry_icd_set_fault: from now on the n-th call of a command, say "vkCreateBuffer", or if that is
 * NULL of any that may fail, returns this VkResult and does nothing else, once;
 * VK_ERROR_DEVICE_LOST loses its device, too. 'command' is compared as far as it goes: a suffix is
 * no difference. Takes the place of what was asked for before; n = 0 for nothing. Not in free
 * mode. */
typedef void belfry_icd_set_fault_fn(const char *command, uint64_t n, int32_t result);
/* belfry_icd_fault_calls: how many of those calls there have been since. */
typedef uint64_t belfry_icd_fault_calls_fn(void);
/* belfry_icd_set_block: from now on such calls block in the driver, inside the call on its VkQueue,
 * holding no lock of the driver's. Takes the place of what was asked for before; NULL for nothing.
 * What blocks already goes on blocking, on a lost device too. */
typedef void belfry_icd_set_block_fn(const struct belfry_icd_block *block);
/* belfry_icd_blocked: calls that are blocked at this moment. */
typedef uint64_t belfry_icd_blocked_fn(void);
/* belfry_icd_await_blocked: returns once so many calls are blocked. */
typedef void belfry_icd_await_blocked_fn(uint64_t calls);
/* belfry_icd_release: lets so many calls go on, those first that have been blocked longest, of the
 * blocked ones that no time ends; UINT64_MAX for all. */
typedef void belfry_icd_release_fn(uint64_t calls);
/* belfry_icd_used: the pipeline that was bound at a bind point when work was recorded last in this
 * command buffer since it was begun, or was generated or looked at for that; 0 for none. The
 * command buffer is the program's VkCommandBuffer, and nobody records it meanwhile. */
typedef uint64_t belfry_icd_used_fn(void *command_buffer, uint32_t bind_point);
/* belfry_icd_live: objects of a kind, say "descriptor set", or if that is NULL of all that belong
 * to a device and are no command buffers, that are alive at this moment, of all devices. */
typedef uint64_t belfry_icd_live_fn(const char *kind);
/* belfry_icd_sparse_binds: copies up to capacity of the binds executed so far, oldest first (the
 * driver remembers the first 4096 since load or reset); returns how many it remembers. */
typedef size_t belfry_icd_sparse_binds_fn(struct belfry_icd_sparse_bind *binds, size_t capacity);
/* belfry_icd_priorities: what the newest device was asked for, of the queue of that family and
 * index (of those without flags, where there are others): its global priority, 0 for none, and its
 * own. False: there is no such queue. */
typedef bool belfry_icd_priorities_fn(uint32_t family, uint32_t index, uint32_t *global,
                                      float *priority);

#ifdef __GNUC__
#define BELFRY_ICD_EXPORT __attribute__((visibility("default")))
#else
#define BELFRY_ICD_EXPORT
#endif

BELFRY_ICD_EXPORT belfry_icd_get_counters_fn belfry_icd_get_counters;
BELFRY_ICD_EXPORT belfry_icd_reset_counters_fn belfry_icd_reset_counters;
BELFRY_ICD_EXPORT belfry_icd_violation_name_fn belfry_icd_violation_name;
BELFRY_ICD_EXPORT belfry_icd_record_start_fn belfry_icd_record_start;
BELFRY_ICD_EXPORT belfry_icd_record_count_fn belfry_icd_record_count;
BELFRY_ICD_EXPORT belfry_icd_record_stop_fn belfry_icd_record_stop;
BELFRY_ICD_EXPORT belfry_icd_set_callback_fn belfry_icd_set_callback;
BELFRY_ICD_EXPORT belfry_icd_pause_fn belfry_icd_pause;
BELFRY_ICD_EXPORT belfry_icd_resume_fn belfry_icd_resume;
BELFRY_ICD_EXPORT belfry_icd_hold_before_signals_fn belfry_icd_hold_before_signals;
BELFRY_ICD_EXPORT belfry_icd_late_writes_fn belfry_icd_late_writes;
BELFRY_ICD_EXPORT belfry_icd_watch_commands_fn belfry_icd_watch_commands;
BELFRY_ICD_EXPORT belfry_icd_held_fn belfry_icd_held;
BELFRY_ICD_EXPORT belfry_icd_step_fn belfry_icd_step;
BELFRY_ICD_EXPORT belfry_icd_quiesce_fn belfry_icd_quiesce;
BELFRY_ICD_EXPORT belfry_icd_sleepers_fn belfry_icd_sleepers;
BELFRY_ICD_EXPORT belfry_icd_endless_waits_fn belfry_icd_endless_waits;
BELFRY_ICD_EXPORT belfry_icd_jump_clock_fn belfry_icd_jump_clock;
BELFRY_ICD_EXPORT belfry_icd_queue_depth_fn belfry_icd_queue_depth;
BELFRY_ICD_EXPORT belfry_icd_lose_fn belfry_icd_lose;
BELFRY_ICD_EXPORT belfry_icd_lose_device_fn belfry_icd_lose_device;
BELFRY_ICD_EXPORT belfry_icd_set_fault_fn belfry_icd_set_fault;
BELFRY_ICD_EXPORT belfry_icd_fault_calls_fn belfry_icd_fault_calls;
BELFRY_ICD_EXPORT belfry_icd_set_block_fn belfry_icd_set_block;
BELFRY_ICD_EXPORT belfry_icd_blocked_fn belfry_icd_blocked;
BELFRY_ICD_EXPORT belfry_icd_await_blocked_fn belfry_icd_await_blocked;
BELFRY_ICD_EXPORT belfry_icd_release_fn belfry_icd_release;
BELFRY_ICD_EXPORT belfry_icd_used_fn belfry_icd_used;
BELFRY_ICD_EXPORT belfry_icd_live_fn belfry_icd_live;
BELFRY_ICD_EXPORT belfry_icd_sparse_binds_fn belfry_icd_sparse_binds;
BELFRY_ICD_EXPORT belfry_icd_priorities_fn belfry_icd_priorities;

#endif
