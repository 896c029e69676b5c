/* SPDX-License-Identifier: MIT */
/*
 * Native fences: fences whose values the GPU itself writes to memory.
 *
 * Self-contained, as belfry/belfry.h is, whose rules for errors, handles and threads hold here too.
 *
 * Where clauses are named, [NF n] is section n of Microsoft's "Native GPU fence object" (Windows
 * driver documentation, WDDM 3.2), counted by its main headings: 1 Monitored fences, 2 Added native
 * fence, 3 Design, 4 Querying enablement, 5 Capabilities, 6 Create, open, close and destroy,
 * 7 Signaled interrupt, 8 Batches of values, 9 Cross-adapter fences, 10 Log buffer design, 11 Log
 * buffer DDIs.
 *
 * A native fence is a BfFence: every function of belfry/belfry.h takes it, next to fences that are
 * not native on the same device. What it has besides is its current value in memory, CurrentValue
 * of [NF 3]: written by the GPU where a queue signals it, and by the CPU where the CPU does.
 *
 *  - The word may run ahead of bfGetFenceCompletedValue by the moment that it takes to learn that
 *  the
 *    submission has ended. Who has read it there may use the data that the value stands for; what
 *    the work used is destroyed by what bfGetFenceCompletedValue, a wait or an event says.
 *  - Whenever no signal of the fence is under way, the two agree. Where the CPU signals, or two
 *    queues without an order between them do, while another signal is on its way, the word may
 *    show either for that long.
 *  - A queue's signal of a native fence costs one submission of a few GPU commands, and so is not
 *    settled in the call, on an idle queue either.
 *
 * A fence with BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT is signalled by the program's own GPU work alone:
 * its command buffers and shaders store values in the word, 64 bits in one piece, as a user-mode
 * driver does. Then they, or whoever knows, compare with the monitored value, and where the new
 * value is greater bfNotifyFencesSignaled is called: WDDM's interrupt. Belfry sees the values that
 * are there when it looks (at such a call, and whenever somebody asks or begins to wait), not those
 * between. Where such a fence is shared or cross-adapter, every object that a device with native
 * fences opens is of this kind, with a word of its own, which the work of that device stores to;
 * its monitored value stays 0, since others have to be told of every signal; and of values that two
 * devices store at the same time, the greater one counts last.
 */
#ifndef BELFRY_NATIVE_FENCE_H
#define BELFRY_NATIVE_FENCE_H

#include "belfry.h"
#include "fence_log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------- Features -- */

/* DXGK_DRIVER_FEATURE, by the same numbers. */
typedef enum BfFeature {
    BF_FEATURE_NATIVE_FENCE = 37,
} BfFeature;

typedef struct BfFeatureResult {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_FEATURE_RESULT */
    void *pNext;
    VkBool32 enabled;
    uint32_t version; /* of the interface; 0 where it isn't enabled */
} BfFeatureResult;

/*
 * Whether Belfry has a feature enabled: native fences are, unless the setting native_fences is off.
 * Who attaches a device asks before advertising it (BfAttachInfo::nativeFences): advertised but not
 * enabled fails. [NF 4] It reads the settings that bfAttachDevice reads, but for those in
 * BfAttachInfo::pSettings: a program that switches native fences off there doesn't need to ask.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT (pResult is NULL). A feature
 * that isn't known is not enabled. Thread-safety: safe.
 */
BF_API VkResult bfIsFeatureEnabled(BfFeature feature, BfFeatureResult *pResult);

/* DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1: what Belfry, in the system's place, can do with a device's
 * native fences; what a device then has is told by bfGetNativeFenceCaps. [NF 4] */
typedef struct BfNativeFenceSystemCaps {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_NATIVE_FENCE_SYSTEM_CAPS */
    void *pNext;
    VkBool32 supportOptimizedDefaultFenceType; /* as BfNativeFenceCaps' */
    VkBool32 supportIntraGpuFenceType;
} BfNativeFenceSystemCaps;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
typedef VkResult(VKAPI_PTR *PFN_bfGetNativeFenceSystemCaps)(BfNativeFenceSystemCaps *pCaps);

/* DXGKCBINT_FEATURE_NATIVEFENCE_1: version 1 of the interface of BF_FEATURE_NATIVE_FENCE. [NF 4] */
typedef struct BfNativeFenceInterface {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_NATIVE_FENCE_INTERFACE */
    void *pNext;
    PFN_bfGetNativeFenceSystemCaps pfnGetSystemCaps; /* for as long as the library is loaded */
} BfNativeFenceInterface;

/*
 * DXGKARGCB_QUERYFEATUREINTERFACE: fills in the functions of a feature that is enabled, by the
 * version that bfIsFeatureEnabled told. pInterface is the struct of that feature and version. A
 * library that has later versions goes on having the earlier ones. [NF 4]
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (the feature isn't known or not enabled, or it has no such
 * version), VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfQueryFeatureInterface(BfFeature feature, uint32_t version, void *pInterface);

/* DXGK_NATIVE_FENCE_CAPS, DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1, and what a Vulkan device adds.
 * [NF 4, 5] */
typedef struct BfNativeFenceCaps {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_NATIVE_FENCE_CAPS */
    void *pNext;
    VkBool32 supported; /* on this device: nothing below counts where it isn't */
    /* Bytes from one value to the next where fences share a page. */
    uint32_t currentValueStride;
    uint32_t monitoredValueStride;
    /* Where the GPU may find values. Vulkan lets nobody choose, and names no limits: 0 and
     * UINT64_MAX; or 0 and 0, none, where mappings have no addresses. */
    VkDeviceAddress minimumAddress;
    VkDeviceAddress maximumAddress;
    VkBool32 mapToGpuSystemProcess; /* VK_FALSE: there is no such process */
    /* VK_FALSE: MonitoredValue of the default type is never in the GPU's own memory. */
    VkBool32 supportOptimizedDefaultFenceType;
    VkBool32 supportIntraGpuFenceType;
    /* bfNotifyFencesSignaled takes a queue and finds out from its log (the cap of the same name in
     * DXGK_VIDSCHCAPS): yes. [NF 11] */
    VkBool32 optimizedNativeFenceSignaledInterrupt;
    /* pCurrentValue can't be written to, while there is memory to import; else it is a pointer to
     * what nobody should write to (BfNativeFenceMapping::readOnly tells of each). The memory is a
     * file's, mapped once for Belfry and once read-only: where the driver imports no file's memory
     * (amdgpu, whose user pointers are anonymous memory alone) this is false, since anonymous
     * memory can't be mapped a second time. */
    VkBool32 readOnlyMapping;
    /* Each queue type's engines write all 64 bits in one piece, as Vulkan promises it of a shader's
     * store. Else they are copied, 8 bytes to an aligned place: drivers do write that in one
     * piece, but nothing says that they must. */
    VkBool32 atomicDirect;
    VkBool32 atomicCompute;
    VkBool32 atomicCopy;
} BfNativeFenceCaps;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetNativeFenceCaps(BfDevice device, BfNativeFenceCaps *pCaps);

/* ------------------------------------------------------------------------------------ Fences -- */

/* D3DDDI_NATIVEFENCE_TYPE, by the same numbers. [NF 3] */
typedef enum BfNativeFenceType {
    BF_NATIVE_FENCE_TYPE_DEFAULT = 0, /* CPU and GPU */
    /* Its values are in the GPU's own memory, and the CPU neither reads, nor waits for, nor signals
     * it; queues with software fences don't signal it either. Nobody writes the
     * initial value to the word: a queue's signal of it does. */
    BF_NATIVE_FENCE_TYPE_INTRA_GPU = 1,
} BfNativeFenceType;

/* D3DDDI_NATIVEFENCEINFO. */
typedef struct BfNativeFenceCreateInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_NATIVE_FENCE_CREATE_INFO */
    const void *pNext;
    uint64_t initialValue;
    BfNativeFenceType type;
    /* As bfCreateFence's, and BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT. Refused is INTRA_GPU together
     * with that one, of a shared or cross-adapter fence, or with
     * BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT: nobody can read what a loss leaves there. */
    BfSyncObjectFlags flags;
} BfNativeFenceCreateInfo;

/*
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (the device has none: see bfGetNativeFenceCaps),
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, those of vkCreateComputePipelines,
 * VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfCreateNativeFence(BfDevice device, const BfNativeFenceCreateInfo *pInfo,
                                    BfFence *pFence);

/* D3DDDI_NATIVEFENCEMAPPING. It stays until the fence is destroyed. */
typedef struct BfNativeFenceMapping {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_NATIVE_FENCE_MAPPING */
    void *pNext;
    const volatile uint64_t *pCurrentValue; /* aligned to 8; NULL for INTRA_GPU */
    VkBool32 readOnly;                      /* writing there ends the program by SIGSEGV */
    /* For shaders, to read; 0 where the device hasn't bufferDeviceAddress and shaderInt64. */
    VkDeviceAddress currentValueAddress;
    VkDeviceAddress monitoredValueAddress;
    /* For copies out of it, and descriptors. They are Belfry's: layers above its own that wrap
     * handles, or keep account of them, don't know these. */
    VkBuffer currentValueBuffer;
    VkBuffer monitoredValueBuffer;
    VkDeviceSize currentValueOffset;
    VkDeviceSize monitoredValueOffset;
} BfNativeFenceMapping;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT (also for a fence that isn't native).
 * Thread-safety: safe. */
BF_API VkResult bfGetNativeFenceMapping(BfFence fence, BfNativeFenceMapping *pMapping);

/* DXGK_UPDATECURRENTVALUESFROMCPU_FLAGS, by the same numbers. [NF 8] */
typedef enum BfFenceUpdateFlagBits {
    /* From now on the fence reads UINT64_MAX, every wait for it is satisfied, and signals of it
     * leave it as it is; for owners in trouble. Of a shared fence that goes for this object alone:
     * the others are set to UINT64_MAX once. pValues isn't looked at. */
    BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT = 1,
    /* No value is written: queues and CPU waiters look again at those that are there. pValues isn't
     * looked at. */
    BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT = 2,
} BfFenceUpdateFlagBits;
typedef VkFlags BfFenceUpdateFlags;

/*
 * Sets several fences of one device from the CPU (DxgkDdiUpdateCurrentValuesFromCpu), as
 * bfSignalFence does each, in the order of the array, with one look at the GPU before all of them.
 * Nothing is changed where one of them is bad input.
 *
 * Errors: those of bfSignalFence. Thread-safety: safe.
 */
BF_API VkResult bfUpdateFenceValues(uint32_t count, const BfFence *pFences, const uint64_t *pValues,
                                    BfFenceUpdateFlags flags);

typedef enum BfFenceNotifyFlagBits {
    /* All fences that aren't native are looked at too. */
    BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT = 4,
} BfFenceNotifyFlagBits;
typedef VkFlags BfFenceNotifyFlags;

/* DXGKARGCB_NOTIFY_INTERRUPT_DATA::NativeFenceSignaled. [NF 7, 11] */
typedef struct BfFenceNotification {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_FENCE_NOTIFICATION */
    const void *pNext;     /* NULL, or a BfFenceNotificationEngine */
    /* Those that were signalled; NULL: all native ones are looked at. */
    uint32_t signaledFenceCount;
    const BfFence *pSignaledFences;
    /* Or the queue that was running: the signals that its log names are looked at; where that can't
     * tell (there is no log, it has no times, it is read for the first time, entries were
     * overwritten), all that the queue has signalled. Other queues' signals aren't looked at. No
     * log names what the program's own work stores in the word of a fence with
     * BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT: that is told by the array, or by naming nothing. */
    BfCommandQueue queue;
    BfFenceNotifyFlags flags;
} BfFenceNotification;

/* Extends BfFenceNotification by NodeOrdinal and EngineOrdinal: the VkQueue that was running, as
 * BfPreemptionStatus numbers it. All BfCommandQueues on it are looked at as if each had been named;
 * where 'queue' is named as well, that one alone, which has to be of this engine. Not beside an
 * array. */
typedef struct BfFenceNotificationEngine {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_FENCE_NOTIFICATION_ENGINE */
    const void *pNext;
    uint32_t nodeOrdinal;
    uint32_t engineOrdinal;
} BfFenceNotificationEngine;

/*
 * The GPU has signalled fences: waiters that are satisfied are let go before the call returns. For
 * what Belfry's own queues signal nobody needs to call it. More may be looked at than is named.
 *
 * A signal that is followed by a look at the monitored value, and by this call where it is greater,
 * is never missed: whoever begins to wait writes the monitored value first and then looks at the
 * current one. [NF 3]
 *
 * Errors: VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
 * VK_ERROR_VALIDATION_FAILED_EXT (an unknown flag; a count without an array; fences and a queue or
 * an engine; an engine that there isn't, or isn't the queue's; a destroyed fence, where WDDM stops
 * the system). Thread-safety: safe.
 */
BF_API VkResult bfNotifyFencesSignaled(BfDevice device, const BfFenceNotification *pNotification);

/*
 * The queue's progress fence: a native one that holds how many calls of bfQueueExecute (and
 * bfQueueDispatchSliced) the GPU has finished on it, written by the GPU behind each. It exists from
 * the first call on, counts calls from then on, and goes with the queue, whose it is: it can be
 * read and waited for, and is neither signalled nor destroyed by the program. [NF 6]
 *
 * Errors: those of bfCreateNativeFence. Thread-safety: safe.
 */
BF_API VkResult bfGetCommandQueueProgressFence(BfCommandQueue queue, BfFence *pFence);

/* -------------------------------------------------------------------------------------- Logs -- */

typedef struct BfFenceLogReader_T *BfFenceLogReader;

typedef struct BfFenceLogReaderCreateInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO */
    const void *pNext;
    /* One of the two. The VkQueue is the program's own, whose timeline semaphores are its
     * fences. */
    BfCommandQueue queue;
    VkQueue vkQueue;
    BfFenceLogType type;
    /* A log of at least so many entries; 0: BF_FENCE_LOG_DEFAULT_ENTRIES. At most 65536. */
    uint32_t entries;
} BfFenceLogReaderCreateInfo;

/*
 * Somebody who reads what the GPU writes of a queue's waits, or of its signals
 * (belfry/fence_log.h). [NF 10, 11] While a queue has a reader (or a trace is written), its logs
 * are written; else they cost nothing; where the queue is at work, their making costs one
 * submission. Each reader gets every entry from its creation on. While there is one, every signal
 * costs a submission, since its entry is written before the signal applies.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (the setting 'log' is off; the queue was created with
 * BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT; its engine runs no command buffers),
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
 * VK_ERROR_VALIDATION_FAILED_EXT.
 * Thread-safety: safe.
 */
BF_API VkResult bfCreateFenceLogReader(BfDevice device, const BfFenceLogReaderCreateInfo *pInfo,
                                       BfFenceLogReader *pReader);

/* Before its queue is destroyed, or its device. NULL is allowed. Thread-safety: the reader
 * externally synchronised. */
BF_API void bfDestroyFenceLogReader(BfFenceLogReader reader);

typedef struct BfFenceLogRecord {
    /* As the GPU wrote it, but for the times: unwrapped ticks of the device that never go backwards
     * from one record to the next. */
    BfFenceLogEntry entry;
    uint64_t sequence;   /* of the queue's entries of this type, 0 for the first ever */
    uint64_t lostBefore; /* entries that were overwritten between the record before and this one */
} BfFenceLogRecord;

/*
 * The entries that this reader hasn't had yet, oldest first, up to 'capacity'. What it returns it
 * takes: the next call goes on behind it. There is no call that asks for their number first, since
 * the GPU goes on writing, and what has been counted may be overwritten by then. Flushes the log
 * first (DxgkDdiUpdateNativeFenceLogs). Never waits for the GPU: a wait after which nothing has
 * been submitted to the queue is only now given to it to be logged, and comes with a later call.
 *
 * *pLost (may be NULL) is what was lost since the call before, whether a record says it or not: who
 * reads too seldom asks the fences themselves.
 *
 * Returns VK_SUCCESS, or VK_INCOMPLETE where there may be more. Errors: VK_ERROR_DEVICE_LOST,
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_UNKNOWN (the memory holds what the GPU can't have written:
 * somebody else writes there), VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe, with other
 * readers; one reader externally synchronised.
 */
BF_API VkResult bfReadFenceLog(BfFenceLogReader reader, uint32_t capacity,
                               BfFenceLogRecord *pRecords, uint32_t *pCount, uint64_t *pLost);

/*
 * The log's memory as it is now, for 'belfry log' and other tools. In two calls: *pSize is its size
 * in bytes where pData is NULL; else that of pData, and then what was written there.
 *
 * Returns VK_SUCCESS, or VK_INCOMPLETE where it was cut off. Errors: as bfReadFenceLog's.
 * Thread-safety: as bfReadFenceLog's.
 */
BF_API VkResult bfDumpFenceLog(BfFenceLogReader reader, size_t *pSize, void *pData);

/*
 * New buffers for the two logs of the reader's queue, with so many entries, while work goes on:
 * what has been handed over is written to the old ones, and readers find it there first
 * (DxgkDdiSetNativeFenceLogBuffer). 2 to 65536: of a single one nobody could tell whether it is
 * being overwritten.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfSetFenceLogEntries(BfFenceLogReader reader, uint32_t entries);

/* What logs call the fence: BfFenceLogEntry::hNativeFence. No two fences of a device have the same,
 * save imported ones of one semaphore. 0 for a bad handle. Thread-safety: safe. */
BF_API uint32_t bfGetFenceLogHandle(BfFence fence);

#ifdef __cplusplus
}
#endif

#endif
