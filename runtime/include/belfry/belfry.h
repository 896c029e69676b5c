/* SPDX-License-Identifier: MIT */
/*
 * Belfry's public C API: D3D12's queues and fences on a Vulkan device.
 *
 * Self-contained: compiles as C99, C11 and C++11. Every declaration says what it does, who owns
 * what, whether it may be called from several threads at once, and every error it returns.
 *
 * Where clauses are named, [ME n] is section n of Microsoft's "Multi-engine synchronization"
 * (Direct3D 12 programming guide), counted by headings: 1 Devices and queues, 2 Fences, 3 Copy and
 * compute command lists, 4 and 5 the two examples, 6 Multi-queue resource access. [NF] is its
 * "Native GPU fence object" (Windows driver design guide).
 *
 * Common to all functions
 *
 *  - They return VK_SUCCESS, or a negative VkResult and change nothing, unless a declaration says
 *    otherwise. Bad input also costs one message (bfSetMessageCallback) that names the call, the
 *    argument and the value, and returns VK_ERROR_VALIDATION_FAILED_EXT. A handle that is NULL, has
 *    been destroyed, or belongs to another device counts as bad input wherever it can be told.
 *  - VK_ERROR_DEVICE_LOST: the device is lost. Every fence of it then reads UINT64_MAX (but for
 *    those with BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT), every wait is satisfied and every
 *    event registered with its fences is set, once.
 *  - VK_ERROR_OUT_OF_HOST_MEMORY leaves every object as it was.
 *  - 'Thread-safety: safe' means: from any number of threads at once, with the same objects,
 *    except that an object may not be destroyed while another thread is using its handle.
 *  - Nothing is accepted and ignored (PB-1): each flag and member has an effect, or is refused, or
 *    the comment at it says 'not looked at'; what no function ever fills in or returns is 'never
 *    told'.
 *  - Times are nanoseconds, sizes are bytes.
 *  - Structs begin with sType and pNext (BfStructureType), whether the caller fills them in or the
 *    function does.
 *  - An array that a function fills in is asked for in two calls, as in Vulkan: with a NULL array
 *    the count (or the size) is set to what there is; with an array it says how much room that has,
 *    and is set to what was written. VK_INCOMPLETE: there was more. bfReadFenceLog alone takes
 *    from a stream, of which nobody can tell the length.
 */
#ifndef BELFRY_BELFRY_H
#define BELFRY_BELFRY_H

#include <stdint.h>

#include <vulkan/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BF_VERSION_MAJOR 0
#define BF_VERSION_MINOR 1
#define BF_VERSION_PATCH 0

#if defined(BF_API) /* whoever builds the library may say otherwise */
#elif defined(__GNUC__)
#define BF_API __attribute__((visibility("default")))
#else
#define BF_API
#endif

/*
 * The version of the library that was loaded, packed like VK_MAKE_API_VERSION(0, major, minor,
 * patch): it may be newer than the BF_VERSION_* a program was compiled with.
 *
 * Never fails. Thread-safety: safe.
 */
BF_API uint32_t bfGetVersion(void);

/* The name by which the Vulkan loader knows Belfry's layer. */
#define BF_LAYER_NAME "VK_LAYER_BELFRY_multi_engine"

/* Opaque handles; NULL is none. */
typedef struct BfDevice_T *BfDevice;             /* Belfry's side of a VkDevice */
typedef struct BfCommandQueue_T *BfCommandQueue; /* what ID3D12CommandQueue is */
typedef struct BfFence_T *BfFence;               /* what ID3D12Fence is */
typedef struct BfEvent_T *BfEvent;               /* what a Win32 event is */

/* -------------------------------------------------------------------------------- Structures -- */

/*
 * What a struct is, by the rules of Vulkan's VkStructureType: whoever declares one sets its sType,
 * also of a struct that a function fills in, and zeroes what it doesn't use:
 *
 *     const BfFenceCreateInfo info = {
 *         .sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO,
 *         .initialValue = 1,
 *     };
 *
 * pNext leads to structs that extend it, each at most once: where its declaration names none, it
 * must be NULL. What a function fills in keeps its sType and pNext. Another sType, and a pNext that
 * leads to a struct that the function doesn't know, are bad input.
 *
 * Two kinds of structs have neither member. Those of belfry/fence_log.h, and the doorbells' and the
 * ring's own of belfry/user_mode_submission.h, are WDDM's to the bit, or lie in memory that others
 * read and write. And elements of arrays lie at fixed distances: BfAttachQueue, BfSetting,
 * BfResourceUse, BfFenceLogRecord and BfRingEntry; the struct or the function that takes the array
 * is what grows. (And BfDispatchSlice, which Belfry fills in and hands over, grows at its end.)
 */
typedef enum BfStructureType {
    BF_STRUCTURE_TYPE_ATTACH_INFO = 1, /* not 0: a struct that was only zeroed is refused */
    BF_STRUCTURE_TYPE_DEVICE_COUNTERS = 2,
    BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO = 3,
    BF_STRUCTURE_TYPE_FENCE_CREATE_INFO = 4,
    BF_STRUCTURE_TYPE_FEATURE_RESULT = 5,
    BF_STRUCTURE_TYPE_NATIVE_FENCE_CAPS = 6,
    BF_STRUCTURE_TYPE_NATIVE_FENCE_CREATE_INFO = 7,
    BF_STRUCTURE_TYPE_NATIVE_FENCE_MAPPING = 8,
    BF_STRUCTURE_TYPE_FENCE_NOTIFICATION = 9,
    BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO = 10,
    BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES = 11,
    BF_STRUCTURE_TYPE_BACKGROUND_MODE_INFO = 12,
    BF_STRUCTURE_TYPE_BACKGROUND_DRIVER = 13,
    BF_STRUCTURE_TYPE_RING_CREATE_INFO = 14,
    BF_STRUCTURE_TYPE_RING = 15,
    BF_STRUCTURE_TYPE_SLICED_DISPATCH_INFO = 16,
    BF_STRUCTURE_TYPE_PREEMPTION_CAPS = 17,
    BF_STRUCTURE_TYPE_PREEMPTION_STATUS = 18,
    BF_STRUCTURE_TYPE_SYNC_OBJECT_CREATE_INFO = 19,
    BF_STRUCTURE_TYPE_FENCE_NOTIFICATION_ENGINE = 20,
    BF_STRUCTURE_TYPE_NATIVE_FENCE_SYSTEM_CAPS = 21,
    BF_STRUCTURE_TYPE_NATIVE_FENCE_INTERFACE = 22,
    BF_STRUCTURE_TYPE_MAX_ENUM = 0x7fffffff /* makes the type 32 bits wide */
} BfStructureType;

/* What all of them begin with, for code that walks a chain. */
typedef struct BfBaseInStructure {
    BfStructureType sType;
    const struct BfBaseInStructure *pNext;
} BfBaseInStructure;

typedef struct BfBaseOutStructure {
    BfStructureType sType;
    struct BfBaseOutStructure *pNext;
} BfBaseOutStructure;

/* ---------------------------------------------------------------------------------- Messages -- */

typedef enum BfMessageSeverity {
    BF_MESSAGE_SEVERITY_ERROR = 1,   /* a call was refused, or has failed */
    BF_MESSAGE_SEVERITY_WARNING = 2, /* Belfry goes on, but not as was asked for */
    BF_MESSAGE_SEVERITY_INFO = 3,
} BfMessageSeverity;

/*
 * pMessage is one line of UTF-8, without an end of line and without "belfry: " before it; it is
 * valid during the call. The callback is called by whatever thread has something to say, by several
 * at once, and with locks of Belfry's held: it calls no function of Belfry or Vulkan, and waits for
 * no thread that does.
 */
typedef void(VKAPI_PTR *PFN_bfMessageCallback)(BfMessageSeverity severity, const char *pMessage,
                                               void *pUserData);

/*
 * From now on Belfry's messages in this process go to the callback instead of stderr; NULL: to
 * stderr again, as in the beginning. The setting 'messages' says which severities there are to hear
 * of, from the load of the settings on. Summaries and reports that were asked for always go to
 * stderr. When it returns, no thread is in the callback that was set before, and none will be.
 *
 * Errors: VK_ERROR_VALIDATION_FAILED_EXT (called by the callback itself). Thread-safety: safe.
 */
BF_API VkResult bfSetMessageCallback(PFN_bfMessageCallback pfnCallback, void *pUserData);

/* ----------------------------------------------------------------------------------- Devices -- */

/*
 * Belfry's side of a device that the layer BF_LAYER_NAME has attached: the engines are the VkQueues
 * behind those that the program asked for in vkCreateDevice. It lives as long as the VkDevice does,
 * and is not to be detached. The program destroys its BfCommandQueues and BfFences before the
 * VkDevice.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (the layer isn't loaded, or has passed this device through;
 * it said why; or it brought a libbelfry of another version, and one line names both),
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfGetDevice(VkDevice device, BfDevice *pDevice);

/* One VkQueue that Belfry may use, as the program created it: what it can't have been created with
 * is refused. */
typedef struct BfAttachQueue {
    VkQueue queue;
    uint32_t queueFamilyIndex;
    uint32_t queueIndex;
    /* No command queue is placed on a protected one. That calls on it are synchronized internally
     * is not looked at: bfLockVkQueue is as needed as elsewhere. */
    VkDeviceQueueCreateFlags flags;
    /* What VkDeviceQueueGlobalPriorityCreateInfoKHR gave its family; 0 where it was not chained. */
    VkQueueGlobalPriorityKHR globalPriority;
    /* What pQueuePriorities gave it. Command queues of HIGH priority prefer higher ones. */
    float queuePriority;
} BfAttachQueue;

/* A setting as 'belfry settings' lists them: "queues_per_family" and "4". */
typedef struct BfSetting {
    const char *pKey;
    const char *pValue; /* as in the settings file */
} BfSetting;

typedef struct BfAttachInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_ATTACH_INFO */
    const void *pNext;
    PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    PFN_vkGetDeviceProcAddr pfnGetDeviceProcAddr;
    VkDevice device;
    /* At least one; at most 64. */
    uint32_t queueCount;
    const BfAttachQueue *pQueues;
    /* The device has VK_EXT_calibrated_timestamps (or the KHR form) enabled. */
    VkBool32 calibratedTimestamps;
    /* The device has the feature hostQueryReset enabled. */
    VkBool32 hostQueryReset;
    /* It has bufferDeviceAddress and shaderInt64 enabled. */
    VkBool32 bufferDeviceAddress;
    VkBool32 shaderInt64;
    /* VkPhysicalDeviceExternalMemoryHostPropertiesEXT::minImportedHostPointerAlignment, where it
     * has VK_EXT_external_memory_host enabled; else 0. A power of two. */
    VkDeviceSize hostPointerAlignment;
    /* Native fences are wanted (belfry/native_fence.h): the feature must be enabled. */
    VkBool32 nativeFences;
    /* It has VK_KHR_external_semaphore_fd enabled, and is of Vulkan 1.1 or newer: for
     * BF_SHARE_TRUSTED_BIT. */
    VkBool32 externalSemaphoreFd;
    /* It has VK_EXT_device_fault enabled, with deviceFault; VK_NV_device_diagnostic_checkpoints:
     * for reports of its loss. */
    VkBool32 deviceFault;
    VkBool32 diagnosticCheckpoints;
    /* Nobody outside shares memory, semaphores or fences of the device but through Belfry: so
     * nobody can tell when work goes to the driver. Without this promise no priority window holds
     * any (BfCommandQueuePriority). What BfCommandQueues were given may then be held when their
     * calls return, and the driver's own waits for idleness don't cover it: the program waits for
     * the BfCommandQueues. */
    VkBool32 sharesNothing;
    /* What the program itself would set, for this device; read during the call. */
    uint32_t settingCount;
    const BfSetting *pSettings;
} BfAttachInfo;

/*
 * For programs that may not load layers: attaches a device of the program's own, which needs the
 * features timelineSemaphore and synchronization2 enabled, by core version or extension.
 *
 * Settings come from the same places as the layer's, and in the same order: the environment counts
 * most, then the settings file, then pSettings (in the place of VK_EXT_layer_settings; of a key
 * that comes twice the first), then the default. In pSettings an unknown key, a value that can't be
 * used, 'developer_mode', which is for the user alone to set, and what is for the layer alone
 * (README.md marks it) cost one line each, and nothing else. A trace is written (the setting
 * 'trace') as far as what it shows is known without a layer: docs/trace-format.md.
 *
 * From here on the VkQueues of pQueues are Belfry's: the program uses them through bfVkQueueSubmit,
 * or between bfLockVkQueue and bfUnlockVkQueue. vkDeviceWaitIdle counts as a use of every one of
 * them: lock them all around it, or wait for the BfCommandQueues and destroy them first.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is missing; nativeFences is
 * set and the setting native_fences is off), VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT (also
 * for a device that is attached already, by the layer too). Thread-safety: safe.
 */
BF_API VkResult bfAttachDevice(const BfAttachInfo *pInfo, BfDevice *pDevice);

/*
 * Ends what bfAttachDevice began, before the program destroys the VkDevice; NULL is allowed. The
 * program has destroyed its BfCommandQueues and BfFences, and has waited until the device is idle.
 * All of Belfry's threads of this device have ended when it returns. A device from bfGetDevice is
 * left alone, with a line. Thread-safety: the device externally synchronised.
 */
BF_API void bfDetachDevice(BfDevice device);

/*
 * vkQueueSubmit2 on an attached VkQueue, scheduled with the BfCommandQueues on it: batches that
 * wait for a value of an imported semaphore which nobody has signalled yet are held by Belfry, not
 * by the VkQueue. Under the layer, vkQueueSubmit2 itself does the same, and this is it, through the
 * layers above Belfry's too. (Where the program has no vkQueueSubmit2, it goes past them:
 * semaphores that they have wrapped are then refused.)
 *
 * Errors: those of vkQueueSubmit2, VK_ERROR_VALIDATION_FAILED_EXT (not an attached queue).
 * Thread-safety: safe.
 */
BF_API VkResult bfVkQueueSubmit(BfDevice device, VkQueue queue, uint32_t submitCount,
                                const VkSubmitInfo2 *pSubmits, VkFence fence);

/*
 * Between the two, the calling thread alone uses the VkQueue, for calls that Belfry has no function
 * for: presenting, labels, a library's submissions. What goes in there is not scheduled: it must
 * not wait for what has not been submitted yet. No bf function may be called in between, and no
 * thread be waited for that is in one: calls that submit to the VkQueue or set work free that
 * somebody has submitted to it return only once the VkQueue is unlocked. Under the
 * layer every call on a VkQueue may come at any time; there they only keep bfVkQueueSubmit of other
 * threads out, so that the layers above Belfry's see one call at a time.
 *
 * Errors: VK_ERROR_VALIDATION_FAILED_EXT (not an attached queue; or it isn't locked),
 * VK_ERROR_DEVICE_LOST (bfLockVkQueue: a call that is stuck in the driver has the VkQueue, which
 * isn't locked then). Thread-safety: safe.
 */
BF_API VkResult bfLockVkQueue(BfDevice device, VkQueue queue);
BF_API VkResult bfUnlockVkQueue(BfDevice device, VkQueue queue);

/* Running totals since the device was attached. */
typedef struct BfDeviceCounters {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_DEVICE_COUNTERS */
    void *pNext;
    /* Times a sleeper thread of Belfry's returned from waiting for the GPU; such threads made. */
    uint64_t sleeperWakeups;
    uint64_t sleeperThreads;
    uint64_t submissions; /* packets of BfCommandQueues handed to the driver */
    uint64_t driverCalls; /* calls of vkQueueSubmit2 on engines that have had BfCommandQueues */
    /* times a BfCommandQueue came to a wait that nothing under way satisfied */
    uint64_t blockedWaits;
    uint64_t semaphoreWaits; /* waits put into them: hand-overs between engines */
    uint64_t barriers;       /* barriers put into them: hand-overs and order on one engine */
    uint64_t counterQueries; /* vkGetSemaphoreCounterValue calls */
    uint64_t eventsSet;
    /* Times a thread of Belfry's was woken by a signal of another object of a shared fence, be it
     * another process's. */
    uint64_t sharedWakeups;
    /* Waits of BfCommandQueues handed to the driver for another process's signal of a shared fence
     * (BF_SHARE_TRUSTED_BIT); they count as submissions, too. */
    uint64_t peerWaits;
} BfDeviceCounters;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe; each number is exact, they are not
 * taken at one instant. */
BF_API VkResult bfGetDeviceCounters(BfDevice device, BfDeviceCounters *pCounters);

/* Why a device is lost (GetDeviceRemovedReason). */
typedef enum BfDeviceRemovedReason {
    BF_DEVICE_REMOVED_REASON_NONE = 0, /* S_OK: it isn't */
    /* DXGI_ERROR_DEVICE_REMOVED: the driver has returned VK_ERROR_DEVICE_LOST, or the program has
     * called bfRemoveDevice. */
    BF_DEVICE_REMOVED_REASON_REMOVED = 1,
    /* DXGI_ERROR_DEVICE_HUNG: an engine didn't get on (the settings tdr_level and tdr_delay). */
    BF_DEVICE_REMOVED_REASON_HUNG = 2,
    /* E_OUTOFMEMORY: none was left, twice in succession, for handing work over that a call had
     * accepted, or for the signal of an exported semaphore. */
    BF_DEVICE_REMOVED_REASON_OUT_OF_MEMORY = 3,
    /* DXGI_ERROR_DRIVER_INTERNAL_ERROR: a call of the driver's has returned an error that Vulkan
     * doesn't allow there. */
    BF_DEVICE_REMOVED_REASON_DRIVER_INTERNAL_ERROR = 4,
} BfDeviceRemovedReason;

/*
 * Is the device lost, and why? Asks the driver nothing: it tells of a loss that Belfry knows of, or
 * that it has declared. The first who is told of it also finds on stderr what the driver has to say
 * about it, where VK_EXT_device_fault or VK_NV_device_diagnostic_checkpoints is enabled.
 *
 * What is left to do is to destroy everything that was made of the device, in the usual order,
 * which waits for nothing any more, and to make a new one.
 *
 * Returns VK_SUCCESS (*pReason is NONE), or VK_ERROR_DEVICE_LOST with the reason; pReason may be
 * NULL. Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfGetDeviceRemovedReason(BfDevice device, BfDeviceRemovedReason *pReason);

/*
 * Declares the device lost (ID3D12Device5::RemoveDevice), by which a program can try what it does
 * then: the driver isn't told, and goes on with what it has. For what command queues have there the
 * call waits, unless nothing of it ends for a second (and a driver whose waits don't return even
 * then is left after the setting tdr_ddi_delay, with the device); the program waits for its
 * VkQueues itself, before it destroys what they use.
 *
 * Returns VK_SUCCESS; then everybody else is told of the loss. Errors:
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfRemoveDevice(BfDevice device);

/* ------------------------------------------------------------------------------------ Queues -- */

/* D3D12_COMMAND_LIST_TYPE, by the same numbers. [ME 1] */
typedef enum BfCommandListType {
    BF_COMMAND_LIST_TYPE_DIRECT = 0,  /* 3D: takes command buffers of graphics families */
    BF_COMMAND_LIST_TYPE_BUNDLE = 1,  /* consumed by no queue: creating one fails */
    BF_COMMAND_LIST_TYPE_COMPUTE = 2, /* takes command buffers of compute families */
    BF_COMMAND_LIST_TYPE_COPY = 3,    /* takes command buffers of transfer families */
} BfCommandListType;

/*
 * D3D12_COMMAND_QUEUE_PRIORITY, by the same numbers. While queues of several priorities share a
 * VkQueue (a VkQueue of the program's counts by its global priority, NORMAL where it has none, or
 * by the setting queue_priorities), those below the highest have 0.5 ms of GPU time in flight there
 * while a higher one has submitted within the last 100 ms, also behind a wait, or something of its
 * has gone to the driver within them; 4 ms otherwise, but always one packet that runs and one
 * behind it; what exceeds that is held. So a higher queue's packet waits for so much at most.
 * Whatever a higher queue waits for counts as its own, and no queue is held for ever. Nothing is
 * held where somebody outside of the device could tell.
 */
typedef enum BfCommandQueuePriority {
    BF_COMMAND_QUEUE_PRIORITY_NORMAL = 0,
    BF_COMMAND_QUEUE_PRIORITY_HIGH = 100,
    BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME = 10000,
} BfCommandQueuePriority;

/* D3D12_COMMAND_QUEUE_FLAGS, by the same numbers. */
typedef enum BfCommandQueueFlagBits {
    /* Its work may take any time (setting tdr_delay). */
    BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT = 1,
    BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT = 2,
    /* D3DDDI_CREATEHWQUEUEFLAGS, by the same numbers: it takes its work from a ring
     * (belfry/user_mode_submission.h), and by no call; its progress fence is a native one. */
    BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT = 1 << 4,
    BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT = 1 << 5,
    /* Belfry's own: the GPU writes nothing of its signals and waits. It has no logs, and where it
     * signals a native fence (belfry/native_fence.h), the CPU writes the value. */
    BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT = 1 << 16,
} BfCommandQueueFlagBits;
typedef VkFlags BfCommandQueueFlags;

/* D3D12_COMMAND_QUEUE_DESC. */
typedef struct BfCommandQueueCreateInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO */
    const void *pNext;
    BfCommandListType type;
    BfCommandQueuePriority priority;
    BfCommandQueueFlags flags;
    /* 0 or 1: a Vulkan device is one node. */
    uint32_t nodeMask;
} BfCommandQueueCreateInfo;

/*
 * A queue, on an engine that can do the type's work: a family of its own where the device has
 * queues of one (copy without compute, compute without graphics), else a more general one. There is
 * no limit on their number but memory.
 *
 * BF_COMMAND_QUEUE_PRIORITY_HIGH: Belfry hands its packets over first, and, of the VkQueues that
 * suit the type best, it is placed on the one that the driver prefers most: under the layer with
 * the setting high_priority=on, one of global priority HIGH that Belfry has added, on a family of
 * which the program has asked no queue, if the driver permits it; where the program's own queues on
 * a family have queue priorities below 1.0, one of 1.0 that Belfry has added; else the program's.
 * bfGetCommandQueueDriverPriority tells. A queue doesn't move when its priority changes.
 *
 * BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME succeeds only where a VkQueue of that global priority
 * exists: under the layer with the setting realtime=on and a driver that permits it, else where
 * bfAttachDevice was given one. A family's global priority is fixed when the device is created, and
 * it is never silently lowered.
 *
 * Errors: VK_ERROR_NOT_PERMITTED_KHR (GLOBAL_REALTIME, see above), VK_ERROR_FEATURE_NOT_PRESENT (no
 * VkQueue of the device can do the type's work), VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT (BUNDLE, and
 * values outside the enumerations included). Thread-safety: safe.
 */
BF_API VkResult bfCreateCommandQueue(BfDevice device, const BfCommandQueueCreateInfo *pInfo,
                                     BfCommandQueue *pQueue);

/* What was submitted to it goes on and ends, with the queue's priority; a wait that is never
 * satisfied is dropped with the device, and until then others of lower priority have less in flight
 * on the VkQueue (BfCommandQueuePriority). NULL is allowed. Thread-safety: the queue externally
 * synchronised. */
BF_API void bfDestroyCommandQueue(BfCommandQueue queue);

/* The info it was created with, with nodeMask 1 and its priority of now (ID3D12CommandQueue's
 * GetDesc). Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetCommandQueueInfo(BfCommandQueue queue, BfCommandQueueCreateInfo *pInfo);

/* The priorities that the VkQueue behind it was created with, as far as they are known: its
 * family's global one, and its own of pQueuePriorities. Either pointer may be NULL.
 * Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetCommandQueueDriverPriority(BfCommandQueue queue,
                                                VkQueueGlobalPriorityKHR *pGlobalPriority,
                                                float *pQueuePriority);

/* The queue family whose command buffers it takes: create command pools for this one. It never
 * changes. UINT32_MAX for a bad handle. Thread-safety: safe. */
BF_API uint32_t bfGetCommandQueueFamilyIndex(BfCommandQueue queue);

/*
 * Another priority, from now on and for what is held already (ID3D12CommandQueue1). Between NORMAL
 * and HIGH; GLOBAL_REALTIME is fixed at creation.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (created without
 * BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT), VK_ERROR_NOT_PERMITTED_KHR (to or from
 * GLOBAL_REALTIME), VK_ERROR_DEVICE_LOST (while another thread's call on the queue's VkQueue is
 * stuck in the driver; else a lost device takes it, too), VK_ERROR_VALIDATION_FAILED_EXT.
 * Thread-safety: safe.
 */
BF_API VkResult bfSetCommandQueuePriority(BfCommandQueue queue, BfCommandQueuePriority priority);

/*
 * Executes primary command buffers of the queue's family, in order (ExecuteCommandLists). Those of
 * one call may overlap on the GPU, as their barriers allow; those of two calls on one queue don't:
 * everything of the first call is complete, and its writes are visible, before the second begins.
 * The command buffers must stay valid until they have ended.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
 * VK_ERROR_VALIDATION_FAILED_EXT (a count of 0; a NULL command buffer; one of another family, or a
 * secondary one, where the layer has seen it allocated). A device that is lost only after the
 * queue had to hold the call is told by the next call. Thread-safety: safe.
 */
BF_API VkResult bfQueueExecute(BfCommandQueue queue, uint32_t count,
                               const VkCommandBuffer *pCommandBuffers);

/* One slice of a dispatch: what one vkCmdDispatchBase runs. */
typedef struct BfDispatchSlice {
    uint32_t index; /* of sliceCount */
    uint32_t sliceCount;
    uint32_t baseGroup[3];
    uint32_t groupCount[3]; /* gl_NumWorkGroups in this slice */
} BfDispatchSlice;

/*
 * Records what the slice's dispatch needs: binds the pipeline and its descriptor sets, pushes
 * constants. Called once for each slice, in order, by the thread and during the call of
 * bfQueueDispatchSliced, with no lock of Belfry's held. The command buffer is being recorded; it is
 * begun, dispatched in, and ended by Belfry.
 */
typedef void(VKAPI_PTR *PFN_bfBindSlice)(VkCommandBuffer commandBuffer,
                                         const BfDispatchSlice *pSlice, void *pUserData);

typedef struct BfSlicedDispatchInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_SLICED_DISPATCH_INFO */
    const void *pNext;
    /* The whole: what vkCmdDispatchBase would be given. No count is 0. */
    uint32_t baseGroup[3];
    uint32_t groupCount[3];
    /* It is cut along this axis (0 to 2) every so many groups; the last slice may be smaller. */
    uint32_t axis;
    uint32_t groupsPerSlice;
    /* One for each slice (groupCount[axis] / groupsPerSlice, rounded up), or more. Primary ones of
     * the queue's family, all different, which may be begun: initial, or of a pool with
     * VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT and not pending. They stay the program's. */
    uint32_t commandBufferCount;
    const VkCommandBuffer *pCommandBuffers;
    PFN_bfBindSlice pfnBind;
    void *pUserData;
} BfSlicedDispatchInfo;

/*
 * A large dispatch in slices: one submission for each, in order, so that work of a higher priority
 * can go between two of them, as it can't get into a dispatch. Each slice is complete, and its
 * writes are visible, before the next begins. It counts as one execution; bfQueueSignal behind it
 * signals once the last slice is complete.
 *
 * Only for shaders that can tell no difference:
 *  - The pipeline is created with VK_PIPELINE_CREATE_DISPATCH_BASE_BIT, because slices begin at
 *    groups other than 0. gl_WorkGroupID and gl_GlobalInvocationID are those of the whole.
 *  - gl_NumWorkGroups is the slice's: a shader that needs the whole's gets it by other means.
 *  - No group waits for what a group of another slice does: slices don't run side by side.
 *
 * The device is of Vulkan 1.1 or newer, or has VK_KHR_device_group enabled, for vkCmdDispatchBase.
 * All slices are submitted, or none: an error leaves nothing behind but command buffers that were
 * begun, to be reset before their next use.
 *
 * Errors: those of bfQueueExecute and vkBeginCommandBuffer; VK_ERROR_FEATURE_NOT_PRESENT (no
 * vkCmdDispatchBase), VK_ERROR_VALIDATION_FAILED_EXT (also for a copy queue, and a command buffer
 * that two slices are given). Thread-safety: safe; the command buffers and their pools externally
 * synchronised.
 */
BF_API VkResult bfQueueDispatchSliced(BfCommandQueue queue, const BfSlicedDispatchInfo *pInfo);

/*
 * Sets the fence to the value once everything before it in the queue is complete. [ME 1, 2] On an
 * idle queue it is set before the call returns. Any value is legal, equal and lower ones too.
 *
 * A plain fence costs no submission. An imported one costs one, and takes only larger values, as
 * its semaphore does. One that is shared with BF_SHARE_TRUSTED_BIT costs one where the queue isn't
 * idle.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT (for an
 * imported fence also a value that is not larger than those it has or will have).
 * Thread-safety: safe.
 */
BF_API VkResult bfQueueSignal(BfCommandQueue queue, BfFence fence, uint64_t value);

/*
 * Everything after it in the queue waits until the fence has reached the value. [ME 1, 2] The call
 * returns at once. The wait is armed by the call: it is satisfied for good at the first instant
 * from now at which the fence is at or above the value, whatever the fence is set to later, and
 * even if the queue comes to it only then.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT.
 * Thread-safety: safe.
 */
BF_API VkResult bfQueueWait(BfCommandQueue queue, BfFence fence, uint64_t value);

/* Blocks until everything submitted to the queue so far is complete, waits included.
 * Errors: VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT.
 * Thread-safety: safe. */
BF_API VkResult bfQueueWaitIdle(BfCommandQueue queue);

/* Ticks per second of the timestamps that command buffers write on this queue.
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (its engine has no timestamps),
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetCommandQueueTimestampFrequency(BfCommandQueue queue, uint64_t *pFrequency);

/*
 * The queue's timestamp counter (ticks) and CLOCK_MONOTONIC (nanoseconds), sampled nearly together.
 * Without calibrated timestamps on the device this submits a timestamp of its own and waits for it.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (its engine has no timestamps; or it takes transfers alone,
 * which can't reset queries, and the device has neither calibrated timestamps nor host query reset
 * enabled), VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
 * VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfGetCommandQueueClockCalibration(BfCommandQueue queue, uint64_t *pGpuTicks,
                                                  uint64_t *pCpuNs);

/* ------------------------------------------------------------------------------------ Fences -- */

/* D3D12_FENCE_FLAGS, by the same numbers. */
typedef enum BfFenceFlagBits {
    BF_FENCE_FLAGS_NONE = 0,
    BF_FENCE_SHARED_BIT = 1,               /* docs/shared-fences.md */
    BF_FENCE_SHARED_CROSS_ADAPTER_BIT = 2, /* shared, and meant for devices of other adapters */
    BF_FENCE_NON_MONITORED_BIT = 4,        /* refused: every fence here is monitored */
} BfFenceFlagBits;
typedef VkFlags BfFenceFlags;

typedef struct BfFenceCreateInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_FENCE_CREATE_INFO */
    const void *pNext;     /* NULL, or a BfSyncObjectCreateInfo */
    uint64_t initialValue;
    BfFenceFlags flags;
} BfFenceCreateInfo;

/* D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS, by the same numbers: not D3D12's, which are BfFenceFlags. */
typedef enum BfSyncObjectFlagBits {
    BF_SYNC_OBJECT_FLAGS_NONE = 0,
    BF_SYNC_OBJECT_SHARED_BIT = 1 << 0,        /* as BF_FENCE_SHARED_BIT */
    BF_SYNC_OBJECT_CROSS_ADAPTER_BIT = 1 << 2, /* as BF_FENCE_SHARED_CROSS_ADAPTER_BIT */
    BF_SYNC_OBJECT_NO_SIGNAL_BIT = 1 << 4,     /* neither queues nor the CPU may signal it */
    BF_SYNC_OBJECT_NO_WAIT_BIT = 1 << 5,       /* neither queues nor the CPU may wait for it */
    /* The loss of the device leaves its value: queues and blocked calls go on all the same, events
     * are not set. */
    BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT = 1 << 6,
    /* Of shared fences alone, else refused: who waits for an object on the CPU goes on waiting when
     * that is destroyed, as long as there is another one, or a descriptor. */
    BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT = 1 << 10,
    /* Belfry's own, of native fences: belfry/native_fence.h */
    BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT = 1 << 16,
} BfSyncObjectFlagBits;
typedef VkFlags BfSyncObjectFlags;

/* Extends BfFenceCreateInfo by what drivers can ask for and D3D12 can't: the flags count besides
 * BfFenceCreateInfo's. */
typedef struct BfSyncObjectCreateInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_SYNC_OBJECT_CREATE_INFO */
    const void *pNext;
    BfSyncObjectFlags flags;
} BfSyncObjectCreateInfo;

/*
 * A fence: a 64-bit value, compared unsigned. It may be set to any value, at any time, by the CPU
 * and by queues. Where a satisfying and a lower value race, an outstanding wait is satisfied,
 * whichever of them stays. [ME 2]
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_FEATURE_NOT_PRESENT
 * (BF_FENCE_NON_MONITORED_BIT), VK_ERROR_VALIDATION_FAILED_EXT
 * (unknown flags); for a shared fence also VK_ERROR_TOO_MANY_OBJECTS (descriptors, or those that
 * lie in this user's sockets: one per shared fence) and VK_ERROR_FEATURE_NOT_PRESENT (no /proc).
 * Thread-safety: safe.
 */
BF_API VkResult bfCreateFence(BfDevice device, const BfFenceCreateInfo *pInfo, BfFence *pFence);

/*
 * The flags that a fence was created with, in D3D12's numbers whoever created it how
 * (ID3D12Fence1::GetCreationFlags); one that was opened has those of the fence that it leads to.
 * BF_FENCE_FLAGS_NONE for a bad handle. Thread-safety: safe.
 */
BF_API BfFenceFlags bfGetFenceCreationFlags(BfFence fence);

/*
 * Legal with signals and waits in flight: queues that wait for it go on, events that are registered
 * with it are set, blocked threads return VK_SUCCESS; signals to it that are under way change
 * nothing any more. (Of an imported fence only what queues still hold is let go: what the driver
 * has waits for the semaphore.) NULL is allowed. Thread-safety: the fence externally synchronised.
 */
BF_API void bfDestroyFence(BfFence fence);

/*
 * The fence's value now (GetCompletedValue); UINT64_MAX once the device is lost, and for a bad
 * handle. Takes no lock and makes no system call while no signal to the fence is under way; else it
 * looks how far the engines are. What the work before the value wrote is complete; to read it on
 * the CPU needs the same barrier to the host as in plain Vulkan. Thread-safety: safe.
 */
BF_API uint64_t bfGetFenceCompletedValue(BfFence fence);

/*
 * Sets the value from the CPU, at once: the next bfGetFenceCompletedValue reads it, whatever is
 * under way on the GPU. [ME 2] What the CPU wrote before is visible to the work it releases.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT (for an
 * imported fence: a value that is not larger, which its semaphore can't take).
 * Thread-safety: safe.
 */
BF_API VkResult bfSignalFence(BfFence fence, uint64_t value);

/*
 * The event is set, once, at the first instant from now at which the fence is at or above the value
 * (SetEventOnCompletion); at once if it is already. An event may be registered any number of times,
 * and may be destroyed before it fires.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT. On a lost device the event
 * is set and VK_SUCCESS returned. Thread-safety: safe.
 */
BF_API VkResult bfSetEventOnFenceCompletion(BfFence fence, uint64_t value, BfEvent event);

/* D3D12_MULTIPLE_FENCE_WAIT_FLAGS, by the same numbers. */
typedef enum BfFenceWaitFlagBits {
    BF_FENCE_WAIT_ALL = 0,
    BF_FENCE_WAIT_ANY_BIT = 1,
} BfFenceWaitFlagBits;
typedef VkFlags BfFenceWaitFlags;

/*
 * The event is set, once, when all (or, with BF_FENCE_WAIT_ANY_BIT, the first) of the fences have
 * reached their values since the call (SetEventOnMultipleFenceCompletion). ALL does not ask that
 * they be there at the same time: each is satisfied for good. The fences are of one device.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT (a count of 0, NULL arrays,
 * unknown flags, fences of different devices). Thread-safety: safe.
 */
BF_API VkResult bfSetEventOnMultipleFenceCompletion(uint32_t count, const BfFence *pFences,
                                                    const uint64_t *pValues, BfFenceWaitFlags flags,
                                                    BfEvent event);

/*
 * Blocks until the same has come to pass (the same two functions of D3D12 with a NULL event).
 * timeoutNs counts from the call; UINT64_MAX waits without end, 0 looks.
 *
 * Returns VK_SUCCESS or VK_TIMEOUT. Errors: VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_INVALID_EXTERNAL_HANDLE (a shared fence that was needed is orphaned),
 * VK_ERROR_VALIDATION_FAILED_EXT as above. Thread-safety: safe.
 */
BF_API VkResult bfWaitFences(uint32_t count, const BfFence *pFences, const uint64_t *pValues,
                             BfFenceWaitFlags flags, uint64_t timeoutNs);

/*
 * A fence whose value is the counter of a timeline semaphore of the program's: both may be used,
 * from both APIs. It keeps the semaphore's rules: every signal is larger than the value; a queue's
 * also than every signal under way, and the CPU's smaller than those. The semaphore stays the
 * program's, and is destroyed after the fence.
 *
 * Under the layer, the layers above Belfry's are asked which of their semaphores the program means,
 * since they may wrap handles; and they hear of the values that bf functions will signal as of
 * vkSignalSemaphore, at the call. So this is not to be called, nor what signals its fence, from
 * inside another layer's commands.
 *
 * Errors: those of bfCreateFence, those of vkGetSemaphoreCounterValue;
 * VK_ERROR_VALIDATION_FAILED_EXT also for a semaphore that is none of the device's, or a binary
 * one. Thread-safety: safe.
 */
BF_API VkResult bfImportFenceFromSemaphore(BfDevice device, VkSemaphore semaphore, BfFence *pFence);

/*
 * From now on the timeline semaphore follows the fence: it is signalled with each value that is
 * larger than all before (a semaphore can't follow a rewind), when the fence takes it. Its counter
 * must be at most the fence's value. The program waits for it, and signals it nowhere. It stays the
 * program's, and is destroyed after the fence. One semaphore per fence; not for imported ones.
 * Layers above Belfry's as for bfImportFenceFromSemaphore; they don't hear of values that other
 * objects of a shared fence are set to.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT, those
 * of vkSignalSemaphore. Thread-safety: safe.
 */
BF_API VkResult bfExportFenceToSemaphore(BfFence fence, VkSemaphore semaphore);

/* ----------------------------------------------------------------------------- Shared fences -- */

/* How one fence has objects in several processes and on several devices: docs/shared-fences.md. */
typedef enum BfShareFlagBits {
    /* Queues of both sides wait for each other's signals on the GPU, without a CPU in between. For
     * peers that are trusted not to stall this side's GPU. */
    BF_SHARE_TRUSTED_BIT = 1,
} BfShareFlagBits;
typedef VkFlags BfShareFlags;

/*
 * The flags that bfExportFenceFd and bfOpenFenceFd take for fences of this device.
 * BF_SHARE_TRUSTED_BIT: its driver can export and import timeline semaphores as opaque descriptors,
 * and VK_KHR_external_semaphore_fd is enabled (the layer enables it itself; an attached device says
 * so in BfAttachInfo). A descriptor with that flag lets its holder delay this device's GPU work.
 *
 * Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfGetDeviceShareFlags(BfDevice device, BfShareFlags *pFlags);

/*
 * A descriptor of the fence, for bfOpenFenceFd; the caller closes it. It can be sent over a Unix
 * socket (SCM_RIGHTS), inherited, and used any number of times, also by several processes. It is a
 * socket itself: the program must neither read from it, which makes it useless, nor write to it.
 *
 * Errors: VK_ERROR_TOO_MANY_OBJECTS (no descriptors left, or too many of this user's lie in
 * sockets: six for each fence that has been exported with BF_SHARE_TRUSTED_BIT),
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_INVALID_EXTERNAL_HANDLE (orphaned),
 * VK_ERROR_FEATURE_NOT_PRESENT (BF_SHARE_TRUSTED_BIT is none of bfGetDeviceShareFlags's, or the
 * object was opened from a descriptor without it; one line), VK_ERROR_VALIDATION_FAILED_EXT (not a
 * shared fence, unknown flags); with BF_SHARE_TRUSTED_BIT also VK_ERROR_OUT_OF_DEVICE_MEMORY,
 * VK_ERROR_DEVICE_LOST. Thread-safety: safe.
 */
BF_API VkResult bfExportFenceFd(BfFence fence, BfShareFlags flags, int *pFd);

/*
 * Another object of the fence that the descriptor leads to. The descriptor stays the caller's, and
 * may be closed at once. Everything that comes with it is checked, whoever has sent it.
 *
 * Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (it leads to no shared fence that this version knows, or
 * to one whose owner has ended; one line), VK_ERROR_TOO_MANY_OBJECTS (no descriptors left; or the
 * fence is open 126 times, with one line), VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST,
 * VK_ERROR_FEATURE_NOT_PRESENT (BF_SHARE_TRUSTED_BIT is none of bfGetDeviceShareFlags's, one line;
 * no /proc), VK_ERROR_VALIDATION_FAILED_EXT (unknown flags); with BF_SHARE_TRUSTED_BIT also
 * VK_ERROR_OUT_OF_DEVICE_MEMORY. Thread-safety: safe.
 */
BF_API VkResult bfOpenFenceFd(BfDevice device, int fd, BfShareFlags flags, BfFence *pFence);

/* ------------------------------------------------------------------------------------ Events -- */

typedef enum BfEventFlagBits {
    BF_EVENT_MANUAL_RESET_BIT = 1, /* stays set until bfResetEvent; else a wait that sees it set
                                      resets it */
    BF_EVENT_INITIALLY_SET_BIT = 2,
} BfEventFlagBits;
typedef VkFlags BfEventFlags;

/* Errors: VK_ERROR_TOO_MANY_OBJECTS (no file descriptors left), VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_VALIDATION_FAILED_EXT (unknown flags). Thread-safety: safe. */
BF_API VkResult bfCreateEvent(BfEventFlags flags, BfEvent *pEvent);

/* Legal while it is registered with fences: it is then set by nothing. NULL is allowed.
 * Thread-safety: the event externally synchronised; fences may set it meanwhile. */
BF_API void bfDestroyEvent(BfEvent event);

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfSetEvent(BfEvent event);
BF_API VkResult bfResetEvent(BfEvent event);

/*
 * An eventfd that is readable while the event is set, for poll, epoll and event loops. It stays the
 * event's: don't close it, don't read or write it; bfResetEvent (or bfWaitForEvents with a timeout
 * of 0) takes what was seen. -1 for a bad handle. Thread-safety: safe.
 */
BF_API int bfGetEventFd(BfEvent event);

#define BF_MAX_WAIT_EVENTS 64

/*
 * Blocks until one (or all) of 1 to BF_MAX_WAIT_EVENTS events are set. One: *pIndex is the lowest
 * that is set, and it alone is reset if it resets itself. All: none is reset before all are set.
 * pIndex may be NULL. timeoutNs counts from the call; UINT64_MAX waits without end, 0 looks.
 *
 * Returns VK_SUCCESS or VK_TIMEOUT. Errors: VK_ERROR_OUT_OF_HOST_MEMORY (poll's), nothing is reset
 * then; VK_ERROR_VALIDATION_FAILED_EXT (no event, too many, the same one twice with waitAll).
 * Thread-safety: safe.
 */
BF_API VkResult bfWaitForEvents(uint32_t count, const BfEvent *pEvents, VkBool32 waitAll,
                                uint64_t timeoutNs, uint32_t *pIndex);

/* ------------------------------------------------------------------------------------- Names -- */

typedef enum BfObjectType {
    BF_OBJECT_TYPE_DEVICE = 1,
    BF_OBJECT_TYPE_COMMAND_QUEUE = 2,
    BF_OBJECT_TYPE_FENCE = 3, /* native ones, too */
    BF_OBJECT_TYPE_EVENT = 4,
    BF_OBJECT_TYPE_FENCE_LOG_READER = 5,
} BfObjectType;

/*
 * A name for an object, as SetName gives one in D3D12 (and vkSetDebugUtilsObjectNameEXT to Vulkan's
 * own objects): from now on traces, summaries, the check 'access' and messages about the object
 * show it. 'object' is the BfDevice, BfCommandQueue, BfFence, BfEvent or BfFenceLogReader. The name
 * is UTF-8, copied, and cut off after 127 bytes (of a fence, in a trace, after 90); NULL or ""
 * takes the name away. The name ends with the object.
 *
 * Items of background processing have no handle, as in D3D12 (QueueProcessingWorkCb returns none,
 * [BP DDI]), and so no name. Traces number them, and static probes have the callback's address.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfSetObjectName(BfObjectType type, const void *object, const char *pName);

/* ----------------------------------------------------------------- Multi-queue access checks -- */

/* How a use sees a resource's state, as far as the rules of [ME 6] tell states apart. */
typedef enum BfResourceState {
    BF_RESOURCE_STATE_UNKNOWN = 0, /* not checked */
    BF_RESOURCE_STATE_COMMON,
    BF_RESOURCE_STATE_COPY_SOURCE,
    BF_RESOURCE_STATE_COPY_DEST,
    BF_RESOURCE_STATE_OTHER, /* any state of the 3D/compute class alone */
} BfResourceState;

typedef struct BfResourceUse {
    VkBuffer buffer; /* one of the two */
    VkImage image;
    /* Of the bytes that are used; of an image, which counts as a whole, not looked at. */
    VkDeviceSize offset;
    VkDeviceSize size; /* VK_WHOLE_SIZE: to the end */
    VkBool32 write;
    BfResourceState state;
} BfResourceUse;

/*
 * Tells the check 'access' what the queue's next bfQueueExecute uses, where it can't know (shader
 * accesses through descriptors). Without the setting check=access it does nothing. Handles that
 * layers above wrap are asked for as bfImportFenceFromSemaphore does.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT (under the layer also for a
 * buffer or an image that is none of the device's, and for bytes that a buffer doesn't have);
 * nothing is told then. Thread-safety: safe.
 */
BF_API VkResult bfQueueUses(BfCommandQueue queue, uint32_t count, const BfResourceUse *pUses);

#ifdef __cplusplus
}
#endif

#endif
