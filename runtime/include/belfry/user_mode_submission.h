/* SPDX-License-Identifier: MIT */
/*
 * User-mode submission: a queue that takes its work from a ring in memory, which the program writes
 * itself, and a doorbell that it stores to: no call, and nothing of the driver's on its thread.
 *
 * [UMS n] is section n of Microsoft's "User-mode work submission" (Windows driver design guide),
 * counted by headings: 1 Doorbells, 2 Discovering support, 3 APIs, 4 Residency, 5 Context
 * suspension, 6 F-states, 7 D-states, 8 DDIs, 9 Progress fence, 10 Termination, 11 Pseudocode.
 *
 * How a program uses it:
 *
 *  1. bfCreateCommandQueue with BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT. Such a queue refuses
 *  bfQueueExecute,
 *     bfQueueSignal, bfQueueWait and bfQueueWaitIdle.
 *  2. bfCreateRing; bfCreateDoorbell, with their handles; bfConnectDoorbell.
 *  3. bfRegisterCommandBuffer and bfRegisterFence: entries of the ring name both by number.
 *  4. For each entry, in this order [UMS 9]: a progress value N, greater than all before, is
 *  chosen;
 *     the entry is filled in; N is stored to the last-queued value; the entry is made visible by a
 *     store (release) to the write pointer; the doorbell is rung: the write pointer is stored
 *     (release) to it. Then the doorbell's status is read:
 *       CONNECTED               all is well;
 *       CONNECTED_NOTIFY        bfNotifyWorkSubmission;
 *       DISCONNECTED_RETRY      bfConnectDoorbell, and ring again. The entry is in the ring: to
 *                               append it once more would have it run twice. (What Belfry reads is
 *                               the write pointer, which says how much there is.)
 *       DISCONNECTED_ABORT      never again: destroy the queue, and go on with another one.
 *     bfSubmitToRing does all that.
 *  5. bfGetCommandQueueProgressFence: the fence that has value N once the entry with N, and all
 *  before it,
 *     are complete. bfWaitFences, bfSetEventOnFenceCompletion and other queues wait for it.
 *
 * One thread at a time writes to a ring. Which order entries have: as command buffers submitted to
 * one VkQueue, they begin in order and may overlap as their own barriers allow; one with
 * BF_RING_ENTRY_BARRIER_BIT begins when all before it are complete, and sees what they wrote.
 * Entries that have gathered go to the driver in one call; the progress value of the last of them
 * that has one is reached when all of them are complete, and the values before it are passed over.
 *
 * The thread that reads rings (one per engine that has some) may see an entry from the store to the
 * write pointer on, rung or not. What an entry says is copied out before it is looked at. An entry
 * that can't be carried out ends its queue, and no other: the status becomes ABORT,
 * bfGetAbortReason says why, what came before it still runs, and the progress fence then gets
 * UINT64_MAX.
 */
#ifndef BELFRY_USER_MODE_SUBMISSION_H
#define BELFRY_USER_MODE_SUBMISSION_H

#include "belfry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* D3DKMT_HANDLE: what WDDM's structs of this header name objects by; 0 is none. Process-wide. */
typedef uint32_t BfKmtHandle;

/* ---------------------------------------------------------------------------------- Features -- */

/* DXGK_USERMODESUBMISSION_CAPS. [UMS 2] */
typedef struct BfUserModeSubmissionCaps {
    uint32_t flags; /* bit 0, SecondaryDoorbellSupported: no */
    uint32_t doorbellSizeInBytes;
    uint32_t secondaryDoorbellSizeInBytes; /* 0 */
    uint32_t reserved[4];
} BfUserModeSubmissionCaps;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT, VK_ERROR_FEATURE_NOT_PRESENT (the kernel has no memfd).
 * Thread-safety: safe. */
BF_API VkResult bfGetUserModeSubmissionCaps(BfDevice device, BfUserModeSubmissionCaps *pCaps);

/* DXGK_NODEMETADATA_FLAGS: its bit for nodes whose queues may be created with
 * BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT. */
typedef enum BfNodeMetadataFlagBits {
    BF_NODE_METADATA_USER_MODE_SUBMISSION_BIT = 1 << 3,
} BfNodeMetadataFlagBits;
typedef VkFlags BfNodeMetadataFlags;

/* The flags of the engines that take queues of that type. Errors: VK_ERROR_VALIDATION_FAILED_EXT.
 * Thread-safety: safe. */
BF_API VkResult bfGetNodeMetadata(BfDevice device, BfCommandListType type,
                                  BfNodeMetadataFlags *pFlags);

/* ------------------------------------------------------------------------------------- Rings -- */

typedef enum BfRingEntryFlagBits {
    BF_RING_ENTRY_BARRIER_BIT = 1,
} BfRingEntryFlagBits;

/* In commandBuffer, waitFence and signalFence: none. */
#define BF_RING_NONE UINT32_MAX

/*
 * One entry: a wait, a command buffer, a signal, in this order, each of which may be left out. The
 * wait is armed when the entry is read: what the fence was before then counts only if it still is.
 * All 64 bytes are the program's; unknown flags, and reserved bytes that aren't 0, are bad input.
 */
typedef struct BfRingEntry {
    uint64_t progressValue; /* 0: none; else greater than those of all entries before */
    uint32_t flags;         /* BfRingEntryFlagBits */
    uint32_t commandBuffer; /* from bfRegisterCommandBuffer */
    uint32_t waitFence;     /* from bfRegisterFence */
    uint32_t signalFence;
    uint64_t waitValue;
    uint64_t signalValue;
    uint64_t reserved[3];
} BfRingEntry;

/* The ring control. Both pointers count entries, never wrap, and begin with 0: entry number n lies
 * at pEntries[n % entryCount]. */
typedef struct BfRingControl {
    uint64_t write;      /* the program's: entries written so far */
    uint64_t unused0[7]; /* not looked at, nor below: a cache line for each pointer */
    uint64_t read;       /* Belfry's: entries that it has copied out, whose places are free again */
    uint64_t unused1[7]; /* not looked at */
} BfRingControl;

typedef struct BfRingCreateInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_RING_CREATE_INFO */
    const void *pNext;
    uint32_t entryCount; /* a power of two, 64 to 65536 */
} BfRingCreateInfo;

/* What there is of a ring. Its memory stays until bfDestroyRing, whatever becomes of doorbells, and
 * longer while a doorbell refers to it. [UMS 4] */
typedef struct BfRing {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_RING */
    void *pNext;
    BfKmtHandle hRingBuffer; /* a ring has one doorbell in its life */
    BfKmtHandle hRingBufferControl;
    uint32_t entryCount;
    BfRingEntry *pEntries;
    BfRingControl *pControl;
} BfRing;

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT (no memfd),
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfCreateRing(BfDevice device, const BfRingCreateInfo *pInfo, BfRing *pRing);

/* Ends the program's use of the memory; 0 is allowed. Errors: VK_ERROR_VALIDATION_FAILED_EXT.
 * Thread-safety: the ring externally synchronised. */
BF_API VkResult bfDestroyRing(BfKmtHandle hRingBuffer);

typedef enum BfRegisterCommandBufferFlagBits {
    /* VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT: an entry may name it while an earlier one that
     * did isn't complete. Else that ends the queue. */
    BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT = 1,
} BfRegisterCommandBufferFlagBits;
typedef VkFlags BfRegisterCommandBufferFlags;

/*
 * The number by which entries of this queue's ring name the command buffer, as it has been
 * recorded. Under the layer, what does away with that unregisters it: vkBeginCommandBuffer, a reset
 * of it or of its pool, and freeing it; who attaches a device does so himself, before. An entry
 * that names a number without a command buffer ends the queue.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT (as bfQueueExecute; the queue
 * isn't for user-mode submission). Thread-safety: safe.
 */
BF_API VkResult bfRegisterCommandBuffer(BfCommandQueue queue, VkCommandBuffer commandBuffer,
                                        BfRegisterCommandBufferFlags flags, uint32_t *pIndex);
BF_API VkResult bfUnregisterCommandBuffer(BfCommandQueue queue, uint32_t index);

/*
 * The same for a fence, which entries wait for or signal. One that is destroyed is unregistered by
 * that. Imported fences can't be registered, nor those that a queue may not signal: waits for them
 * go by another queue.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfRegisterFence(BfCommandQueue queue, BfFence fence, uint32_t *pIndex);
BF_API VkResult bfUnregisterFence(BfCommandQueue queue, uint32_t index);

/* --------------------------------------------------------------------------------- Doorbells -- */

/* D3DDDI_DOORBELLSTATUS, by the same numbers. [UMS 11] */
typedef enum BfDoorbellStatus {
    BF_DOORBELL_STATUS_CONNECTED = 0,
    BF_DOORBELL_STATUS_CONNECTED_NOTIFY = 1,
    BF_DOORBELL_STATUS_DISCONNECTED_RETRY = 2,
    BF_DOORBELL_STATUS_DISCONNECTED_ABORT = 3,
} BfDoorbellStatus;

/* D3DKMT_CREATE_DOORBELL_FLAGS. */
typedef enum BfCreateDoorbellFlagBits {
    BF_CREATE_DOORBELL_REQUIRE_SECONDARY_CPU_VA_BIT = 1, /* refused: there is none */
    /* The queue has a doorbell already, and gets another ring: what was written to the old one
     * comes first; then that doorbell is ABORT, and is only to be destroyed. */
    BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT = 2,
} BfCreateDoorbellFlagBits;

/* D3DKMT_CREATE_DOORBELL. [UMS 3] */
typedef struct BfCreateDoorbell {
    BfKmtHandle hHwQueue;           /* bfGetCommandQueueKmtHandle */
    BfKmtHandle hRingBuffer;        /* a ring has one doorbell in its life */
    BfKmtHandle hRingBufferControl; /* 0, or that of the same ring */
    uint32_t flags;                 /* BfCreateDoorbellFlagBits */
    uint32_t privateDriverDataSize; /* 0 to 16; not looked at */
    void *privateDriverData;
    /* What the call fills in: */
    uint64_t *doorbellCPUVirtualAddress;             /* to be stored to, and not read */
    void *doorbellSecondaryCPUVirtualAddress;        /* NULL */
    const uint64_t *doorbellStatusCPUVirtualAddress; /* writing there ends the program by SIGSEGV */
    uint64_t *hwQueueProgressFenceLastQueuedValueCPUVirtualAddress;
    BfKmtHandle hDoorbell;
} BfCreateDoorbell;

/* D3DKMT_CONNECT_DOORBELL, D3DKMT_DESTROY_DOORBELL, D3DKMT_NOTIFY_WORK_SUBMISSION. */
typedef struct BfConnectDoorbell {
    BfKmtHandle hDoorbell;
    uint32_t flags; /* 0 */
} BfConnectDoorbell;

typedef struct BfDestroyDoorbell {
    BfKmtHandle hDoorbell;
} BfDestroyDoorbell;

typedef struct BfNotifyWorkSubmission {
    BfKmtHandle hDoorbell;
    uint32_t flags; /* 0 */
} BfNotifyWorkSubmission;

/*
 * What the calls return, for what WDDM returns:
 *
 *   STATUS_SUCCESS                  VK_SUCCESS
 *   STATUS_INVALID_PARAMETER        VK_ERROR_VALIDATION_FAILED_EXT
 *   STATUS_NO_MEMORY                VK_ERROR_OUT_OF_HOST_MEMORY
 *   STATUS_INSUFFICIENT_RESOURCES   VK_ERROR_TOO_MANY_OBJECTS
 *   STATUS_NOT_SUPPORTED            VK_ERROR_FEATURE_NOT_PRESENT
 *   STATUS_DEVICE_REMOVED           VK_ERROR_DEVICE_LOST
 *   STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE   VK_ERROR_UNKNOWN: an entry has ended the queue
 */

/* A doorbell that isn't connected yet: its status is RETRY. Returns VK_SUCCESS, or VK_NOT_READY:
 * the queue is suspended, and there is something in the ring that this one would take the place of.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_TOO_MANY_OBJECTS (no more mappings),
 * VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN (an entry has ended the queue),
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe; the queue externally synchronised. */
BF_API VkResult bfCreateDoorbell(BfCreateDoorbell *pInfo);

/* Where there are more doorbells than physical ones (setting 'doorbells'), it takes the one of a
 * suspended queue, else of an idle one, else the least recently used. Errors: VK_ERROR_DEVICE_LOST,
 * VK_ERROR_UNKNOWN, VK_ERROR_TOO_MANY_OBJECTS (no more mappings),
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfConnectDoorbell(const BfConnectDoorbell *pInfo);

/* What has been written to the ring goes on and ends; of a suspended queue, what hasn't been read
 * is dropped, and its progress values aren't reached. The addresses are gone. Errors:
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: the doorbell externally synchronised. */
BF_API VkResult bfDestroyDoorbell(const BfDestroyDoorbell *pInfo);

/* The ring is looked at now. Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfNotifyWorkSubmission(const BfNotifyWorkSubmission *pInfo);

/* The queue by its handle in WDDM's structs; 0 for a bad one, or one that isn't for user-mode
 * submission. Thread-safety: safe. */
BF_API BfKmtHandle bfGetCommandQueueKmtHandle(BfCommandQueue queue);

/* Why a queue has been ended. */
typedef enum BfAbortReason {
    BF_ABORT_REASON_NONE = 0, /* it hasn't been */
    BF_ABORT_REASON_DEVICE_LOST = 1,
    BF_ABORT_REASON_WRITE_POINTER = 2,  /* it went back, or beyond what the ring can hold */
    BF_ABORT_REASON_ENTRY = 3,          /* unknown flags, or reserved bytes that aren't 0 */
    BF_ABORT_REASON_COMMAND_BUFFER = 4, /* no such number */
    BF_ABORT_REASON_PENDING = 5,        /* it is pending, and was not registered for that */
    BF_ABORT_REASON_FENCE = 6,          /* no such number, or it may not be used so */
    BF_ABORT_REASON_PROGRESS_VALUE = 7, /* not greater than those before */
    BF_ABORT_REASON_OUT_OF_MEMORY = 8,
    BF_ABORT_REASON_RETIRED = 9, /* the queue has another ring, or has been destroyed */
} BfAbortReason;

/* *pEntry: the number of the entry that ended the queue, where one did. Errors:
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetAbortReason(BfKmtHandle hDoorbell, BfAbortReason *pReason, uint64_t *pEntry);

/*
 * Suspends a queue, which is a hardware context of its own, and resumes it. [UMS 5] Suspensions are
 * counted. Destroying a queue resumes it, but one for user-mode submission, which is destroyed with
 * what hasn't been read of its ring.
 *
 * For user-mode submission: meanwhile nothing is read from its ring, but for the entry that is
 * being carried out when the call is made; the program may go on filling it; its doorbell stays
 * connected, but is the first to be taken where another queue needs one. What has been read goes
 * on.
 *
 * Of any other queue: when the call has returned, the GPU is given nothing more of it until it is
 * resumed, and no signal of it applies, be it that all before it is complete. Calls on the queue
 * return as ever, and what they submit is queued; bfQueueWaitIdle waits for the resumption. What
 * the GPU has been given goes on. Like bfSetCommandQueuePriority, both calls wait for a call that
 * the driver is in on the same VkQueue, as a present may be for long.
 *
 * Errors: VK_ERROR_VALIDATION_FAILED_EXT (also: it isn't suspended, or so often that it can't be
 * counted). Thread-safety: safe.
 */
BF_API VkResult bfSuspendCommandQueue(BfCommandQueue queue);
BF_API VkResult bfResumeCommandQueue(BfCommandQueue queue);

/* ----------------------------------------------------------------------------------- Power -- */

/* DXGK_ENGINE_STATE, in its order. [UMS 6] */
typedef enum BfEngineState {
    BF_ENGINE_STATE_ACTIVE = 0,
    BF_ENGINE_STATE_TRANSITION_TO_F1 = 1,
    BF_ENGINE_STATE_HUNG = 2,
} BfEngineState;

/*
 * What a GPU tells by DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE of the queue's engine.
 * TRANSITION_TO_F1: the doorbells of all its queues are disconnected (RETRY); connecting one wakes
 * it again, to ACTIVE. HUNG: the device is lost (BF_DEVICE_REMOVED_REASON_HUNG). With the setting
 * 'doorbell_idle' an engine goes to F1 by itself.
 *
 * Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfSetEngineState(BfCommandQueue queue, BfEngineState state);

/* TRANSITION_TO_F1 also of an engine that has gone there. Errors: as above. */
BF_API VkResult bfGetEngineState(BfCommandQueue queue, BfEngineState *pState);

/* DEVICE_POWER_STATE. [UMS 7] */
typedef enum BfDevicePowerState {
    BF_DEVICE_POWER_STATE_D0 = 1,
    BF_DEVICE_POWER_STATE_D3 = 4,
} BfDevicePowerState;

/*
 * D3: no ring of the device is read, and all doorbells are disconnected (RETRY). Connecting one
 * wakes the device to D0, as this call does.
 *
 * Returns VK_SUCCESS, or VK_NOT_READY: there is work in a ring, or of one on the GPU, and the
 * device stays in D0; its doorbells may have been disconnected. Work of suspended queues doesn't
 * count. Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfSetDevicePowerState(BfDevice device, BfDevicePowerState state);
BF_API VkResult bfGetDevicePowerState(BfDevice device, BfDevicePowerState *pState);

/* ------------------------------------------------------------------------- Writing to a ring -- */

/* What bfSubmitToRing needs, from bfCreateRing and bfCreateDoorbell. */
typedef struct BfRingWriter {
    BfRingEntry *pEntries;
    BfRingControl *pControl;
    uint64_t entryCount;
    uint64_t *pDoorbell;
    const uint64_t *pStatus;
    uint64_t *pLastQueued;
    BfKmtHandle hDoorbell;
    uint64_t read; /* what pControl->read was when bfAppendToRing last looked; 0 at first */
} BfRingWriter;

/*
 * Rings, for all entries up to the write pointer: the last of the five steps, and what the status
 * asks for then.
 *
 * Errors: VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN (the queue has been ended), those of
 * bfConnectDoorbell. Thread-safety: the ring externally synchronised.
 */
static inline VkResult bfRingDoorbell(const BfRingWriter *writer)
{
    const uint64_t write = __atomic_load_n(&writer->pControl->write, __ATOMIC_RELAXED);
    for (;;) {
        uint64_t status;
        VkResult result;
        __atomic_store_n(writer->pDoorbell, write, __ATOMIC_RELEASE);
        /* Belfry's thread makes up for the order that a processor doesn't keep here; the compiler
         * has to keep it. */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        status = __atomic_load_n(writer->pStatus, __ATOMIC_ACQUIRE);
        if (status == BF_DOORBELL_STATUS_CONNECTED)
            return VK_SUCCESS;
        if (status == BF_DOORBELL_STATUS_CONNECTED_NOTIFY) {
            BfNotifyWorkSubmission notify;
            notify.hDoorbell = writer->hDoorbell;
            notify.flags = 0;
            return bfNotifyWorkSubmission(&notify);
        }
        {
            BfConnectDoorbell connect;
            connect.hDoorbell = writer->hDoorbell;
            connect.flags = 0;
            result = bfConnectDoorbell(&connect);
            if (result != VK_SUCCESS)
                return result;
        }
    }
}

/*
 * The first four steps, without ringing: for several entries with one ring of the doorbell behind
 * them. Returns VK_NOT_READY, and writes nothing, while the ring is full. Thread-safety: the ring
 * externally synchronised.
 */
static inline VkResult bfAppendToRing(BfRingWriter *writer, const BfRingEntry *entry)
{
    const uint64_t write = __atomic_load_n(&writer->pControl->write, __ATOMIC_RELAXED);
    if (write - writer->read >= writer->entryCount) {
        writer->read = __atomic_load_n(&writer->pControl->read, __ATOMIC_ACQUIRE);
        if (write - writer->read >= writer->entryCount)
            return VK_NOT_READY;
    }
    writer->pEntries[write % writer->entryCount] = *entry;
    if (entry->progressValue != 0)
        __atomic_store_n(writer->pLastQueued, entry->progressValue, __ATOMIC_RELEASE);
    __atomic_store_n(&writer->pControl->write, write + 1, __ATOMIC_RELEASE);
    return VK_SUCCESS;
}

/* All five. Errors: VK_NOT_READY (the ring is full: nothing was written), and those of
 * bfRingDoorbell: then the entry has been written. */
static inline VkResult bfSubmitToRing(BfRingWriter *writer, const BfRingEntry *entry)
{
    const VkResult result = bfAppendToRing(writer, entry);
    return result == VK_SUCCESS ? bfRingDoorbell(writer) : result;
}

#ifdef __cplusplus
}
#endif

#endif
