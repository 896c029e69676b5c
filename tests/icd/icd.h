/* SPDX-License-Identifier: MIT */
/* What the files of the test driver share: its objects, its one lock, its table of entry points.
 *
 * One mutex, icd_world.lock, guards all that queues, semaphores, fences and events have in common
 * over every device of the process; it is never held while command buffers run (but for chained
 * packets in free mode) nor over a call out of the driver. Functions marked 'locked' are called
 * with it held. Each VkQueue has a worker thread, started by its first packet. A worker sleeps on
 * its own condition and is made runnable by whoever removes what it waits for, so it never wakes
 * to find nothing to do, and icd_world.busy == 0 is quiescence.
 *
 * On the systems this driver is built for VKAPI_ATTR and VKAPI_CALL are empty; they are left out.
 * pAllocator is ignored everywhere. */
#ifndef BELFRY_TEST_ICD_H
#define BELFRY_TEST_ICD_H

#include "../support/std.h"

#include <vulkan/vulkan.h>
#include <vulkan/vk_icd.h>

#include "icd_control.h"

/* Entry points have Vulkan's parameters, and this driver has no use for most of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Entry points ------------------------------------------------------------------------------ */

enum icd_extension {
    ICD_EXT_NONE,
    /* instance */
    ICD_KHR_SURFACE,
    ICD_KHR_GET_SURFACE_CAPABILITIES_2,
    ICD_EXT_HEADLESS_SURFACE,
    ICD_EXT_DEBUG_UTILS,
    ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
    ICD_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES,
    ICD_KHR_EXTERNAL_FENCE_CAPABILITIES,
    ICD_KHR_EXTERNAL_MEMORY_CAPABILITIES,
    ICD_KHR_DEVICE_GROUP_CREATION,
    /* device */
    ICD_KHR_SWAPCHAIN,
    ICD_KHR_TIMELINE_SEMAPHORE,
    ICD_KHR_SYNCHRONIZATION_2,
    ICD_KHR_EXTERNAL_SEMAPHORE,
    ICD_KHR_EXTERNAL_SEMAPHORE_FD,
    ICD_KHR_GLOBAL_PRIORITY,
    ICD_EXT_GLOBAL_PRIORITY,
    ICD_EXT_GLOBAL_PRIORITY_QUERY,
    ICD_EXT_CALIBRATED_TIMESTAMPS,
    ICD_EXT_HOST_QUERY_RESET,
    ICD_KHR_BUFFER_DEVICE_ADDRESS,
    ICD_KHR_DEVICE_GROUP,
    ICD_KHR_GET_MEMORY_REQUIREMENTS_2,
    ICD_KHR_BIND_MEMORY_2,
    ICD_KHR_DEDICATED_ALLOCATION,
    ICD_KHR_MAINTENANCE_1,
    ICD_KHR_MAINTENANCE_2,
    ICD_KHR_MAINTENANCE_3,
    ICD_KHR_MAINTENANCE_4,
    ICD_KHR_MULTIVIEW,
    ICD_KHR_CREATE_RENDERPASS_2,
    ICD_KHR_DEPTH_STENCIL_RESOLVE,
    ICD_KHR_DYNAMIC_RENDERING,
    ICD_KHR_COPY_COMMANDS_2,
    ICD_KHR_DESCRIPTOR_UPDATE_TEMPLATE,
    ICD_KHR_IMAGE_FORMAT_LIST,
    ICD_KHR_DRIVER_PROPERTIES,
    ICD_EXT_PRIVATE_DATA,
    ICD_EXT_TOOLING_INFO,
    ICD_KHR_EXTERNAL_MEMORY,
    ICD_EXT_EXTERNAL_MEMORY_HOST,
    ICD_NV_DEVICE_GENERATED_COMMANDS,
    ICD_NV_DEVICE_GENERATED_COMMANDS_COMPUTE,
    ICD_EXT_DEVICE_GENERATED_COMMANDS,
    ICD_EXT_DEVICE_FAULT,
    ICD_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS,
    ICD_NV_LOW_LATENCY_2,
    ICD_NV_LOW_LATENCY,
    ICD_QCOM_QUEUE_PERF_HINT,
    ICD_NV_EXTERNAL_COMPUTE_QUEUE,
    ICD_KHR_PRESENT_ID,
    ICD_KHR_INTERNALLY_SYNCHRONIZED_QUEUES,
    ICD_EXTENSION_COUNT,
};

enum icd_level {
    ICD_GLOBAL,   /* before an instance exists */
    ICD_INSTANCE, /* first argument VkInstance */
    ICD_PHYSICAL, /* first argument VkPhysicalDevice */
    ICD_DEVICE,   /* first argument VkDevice, VkQueue or VkCommandBuffer */
};

struct icd_entry {
    const char *name; /* NULL ends a table */
    PFN_vkVoidFunction function;
    enum icd_level level;
    uint32_t minor;               /* the Vulkan 1.x that brought it; unused with an extension */
    enum icd_extension extension; /* the extension that brings it */
};

/* The conditional is there for its type check: the function must have its PFN's type. */
#define ICD_FUNCTION(pfn, function_) ((PFN_vkVoidFunction)(1 ? (function_) : (PFN_vk##pfn)0))
/* Core command: icd_Name implements vkName since Vulkan 1.minor. */
#define ICD_CORE(level_, minor_, name_)                                                            \
    {                                                                                              \
        "vk" #name_, ICD_FUNCTION(name_, icd_##name_), level_, minor_, ICD_EXT_NONE                \
    }
/* Extension command, possibly implemented by the function of the core command. */
#define ICD_EXTRA(level_, extension_, name_, function_)                                            \
    {                                                                                              \
        "vk" #name_, ICD_FUNCTION(name_, icd_##function_), level_, 0, extension_                   \
    }
/* Both: a core command with the name that it has in a KHR extension. */
#define ICD_BOTH(level_, minor_, extension_, name_)                                                \
    ICD_CORE(level_, minor_, name_), ICD_EXTRA(level_, extension_, name_##KHR, name_)
#define ICD_END                                                                                    \
    {                                                                                              \
        NULL, NULL, ICD_GLOBAL, 0, ICD_EXT_NONE                                                    \
    }

extern const struct icd_entry icd_instance_entries[];
extern const struct icd_entry icd_physical_entries[];
extern const struct icd_entry icd_feature_entries[];
extern const struct icd_entry icd_device_entries[];
extern const struct icd_entry icd_queue_entries[];
extern const struct icd_entry icd_semaphore_entries[];
extern const struct icd_entry icd_fence_entries[];
extern const struct icd_entry icd_command_entries[];
extern const struct icd_entry icd_inert_entries[];
extern const struct icd_entry icd_memory_entries[];
extern const struct icd_entry icd_resource_entries[];
extern const struct icd_entry icd_pipeline_entries[];
extern const struct icd_entry icd_query_entries[];
extern const struct icd_entry icd_surface_entries[];
extern const struct icd_entry icd_debug_entries[];
extern const struct icd_entry icd_generated_entries[];
extern const struct icd_entry icd_latency_entries[];

/* instance.c: the names and revisions by enum icd_extension. */
extern const VkExtensionProperties icd_extension_properties[ICD_EXTENSION_COUNT];
/* First and one past the last of the instance's extensions in the enum. */
#define ICD_INSTANCE_EXTENSIONS_BEGIN ICD_KHR_SURFACE
#define ICD_INSTANCE_EXTENSIONS_END   ICD_KHR_SWAPCHAIN

/* VK_KHR_internally_synchronized_queues, which these headers don't have: the struct of its feature,
 * which is one VkBool32, and the flag of queues. */
#define ICD_INTERNAL_QUEUES_FEATURES ((VkStructureType)1000504000)
#define ICD_INTERNAL_QUEUE           0x4u

/* Configuration: config.c ------------------------------------------------------------------- */

#define ICD_MAX_FAMILIES 8
/* None of Vulkan's flags: the family copies whole mip levels of images alone, a granularity of
 * 0. */
#define ICD_WHOLE 0x40000000u

struct icd_family {
    VkQueueFlags flags;
    uint32_t count;
    uint32_t timestamp_bits;
};

struct icd_shape {
    char name[16];
    uint32_t n_families;
    struct icd_family families[ICD_MAX_FAMILIES];
    /* Device ticks are nanoseconds · ticks / per_ns. */
    uint32_t ticks;
    uint32_t per_ns;
};

#define ICD_MAX_DEVICES      4
#define ICD_MAX_MEMORY_TYPES 5

/* What memory a device has. Heap 0 is the device's own, heap 1, if any type lies there, the host's.
 */
struct icd_memory_shape {
    char name[16];
    uint32_t n_types;
    struct {
        VkMemoryPropertyFlags flags;
        uint32_t heap;
    } types[ICD_MAX_MEMORY_TYPES];
    uint32_t image_types;  /* the types that images may have, as bits */
    uint32_t sparse_types; /* that sparse buffers may have */
};

/* All that the environment settles of one physical device, read once per vkCreateInstance. What
 * belongs to the instance, faults and free mode, all devices have alike. */
struct icd_config {
    uint32_t ordinal; /* of the device, from 0 */
    struct icd_shape shape;
    struct icd_memory_shape memory;
    uint32_t buffer_types; /* the memory types that buffers may have, as bits */
    uint32_t minor;        /* Vulkan 1.minor */
    bool timeline;
    bool synchronization2;
    bool realtime;
    uint32_t high; /* global priority HIGH: 0 not permitted, 1 permitted, 2 an error */
    uint32_t low;  /* LOW: 0 not permitted, 1 permitted, 2 nothing else is */
    bool modest;   /* devices are for processes at idle priority alone, on one processor */
    bool int64;
    uint32_t subgroup_most;  /* the largest size of subgroups; the least is 8 */
    char build[32];          /* which of the driver's versions it is */
    uint32_t host_memory;    /* 2: anonymous memory alone */
    uint64_t difference;     /* maxTimelineSemaphoreValueDifference */
    uint32_t dispatch_us;    /* what a dispatch takes; 0: it does nothing */
    uint32_t dispatch_every; /* of how many on a queue one takes that; 0: each does */
    uint32_t tells;          /* what dispatches and draws store, as dry runs do */
    uint32_t submit_us;      /* what a submission costs its caller, */
    uint32_t buffer_us;      /* and each of its command buffers */
    bool generated;          /* extensions of device-generated commands are there */
    bool gpu;                /* the device says that it is one */
    bool reports;            /* extensions that tell of a loss are there */
    bool latency;            /* what tells a driver of frames and of VkQueues is there */
    bool internal_queues;    /* VK_KHR_internally_synchronized_queues is */
    bool protected_memory;   /* the feature, families and a memory type for it */
    bool late_wait_points;   /* BELFRY_ICD_BUG */
    bool processes;          /* timeline semaphores can be exported to others */
    bool worst_order;        /* BELFRY_ICD_ORDER */
    bool free_submit;
    uint32_t lose_at_submit; /* faults: 0 for never, else counted from 1 */
    uint32_t oom_at;
    struct icd_pipeline_rule {
        enum icd_pipeline_fate {
            ICD_PIPELINE_CRASHES = 1,
            ICD_PIPELINE_HANGS,
            ICD_PIPELINE_SPINS,
            ICD_PIPELINE_WORKS,
            ICD_PIPELINE_EXITS,
            ICD_PIPELINE_FAILS,
        } fate;
        VkResult result; /* FAILS */
        char entry[32];  /* of a stage; "": of any */
    } pipeline_rules[8];
    uint32_t n_pipeline_rules;
    uint32_t pipeline_size; /* that each adds to a cache's data */
    uint32_t oom_at_submit;
    bool properties2;     /* VK_KHR_get_physical_device_properties2 is enabled */
    uint32_t null_family; /* UINT32_MAX for none */
    uint32_t null_index;
    /* A device extension whose commands do nothing; "". */
    char hollow[VK_MAX_EXTENSION_NAME_SIZE];
};

/* Reads BELFRY_ICD_* for the device of that ordinal: of the second one NAME_2 is looked at before
 * NAME, and so on. An unknown value prints one line and is ignored. Not thread-safe against setenv,
 * as nothing that reads the environment is. */
void icd_config_read(struct icd_config *config, uint32_t ordinal);
/* How many physical devices there are to be. */
uint32_t icd_config_devices(void);

/* Objects ----------------------------------------------------------------------------------- */

enum icd_kind {
    ICD_KIND_INSTANCE = 0x1cd0,
    ICD_KIND_PHYSICAL_DEVICE,
    ICD_KIND_DEVICE,
    ICD_KIND_QUEUE,
    ICD_KIND_COMMAND_BUFFER,
    ICD_KIND_SURFACE,
    ICD_KIND_MESSENGER,
    /* What follows belongs to a device and is counted for the leak check. */
    ICD_KIND_SEMAPHORE,
    ICD_KIND_FENCE,
    ICD_KIND_EVENT,
    ICD_KIND_COMMAND_POOL,
    ICD_KIND_MEMORY,
    ICD_KIND_BUFFER,
    ICD_KIND_BUFFER_VIEW,
    ICD_KIND_IMAGE,
    ICD_KIND_IMAGE_VIEW,
    ICD_KIND_QUERY_POOL,
    ICD_KIND_SWAPCHAIN,
    ICD_KIND_SAMPLER,
    ICD_KIND_SAMPLER_YCBCR_CONVERSION,
    ICD_KIND_SHADER_MODULE,
    ICD_KIND_DESCRIPTOR_SET_LAYOUT,
    ICD_KIND_DESCRIPTOR_POOL,
    ICD_KIND_DESCRIPTOR_SET,
    ICD_KIND_DESCRIPTOR_UPDATE_TEMPLATE,
    ICD_KIND_PIPELINE_LAYOUT,
    ICD_KIND_PIPELINE_CACHE,
    ICD_KIND_PIPELINE,
    ICD_KIND_RENDER_PASS,
    ICD_KIND_FRAMEBUFFER,
    ICD_KIND_PRIVATE_DATA_SLOT,
    ICD_KIND_EXECUTION_SET,
    ICD_KIND_EXTERNAL_QUEUE,
    ICD_KIND_END,
};
#define ICD_KIND_FIRST_COUNTED ICD_KIND_SEMAPHORE
#define ICD_KIND_COUNTED       (ICD_KIND_END - ICD_KIND_FIRST_COUNTED)

/* Head of every object. A dispatchable one begins with the loader's word; the others carry it
 * unused, so that one check serves all. */
struct icd_object {
    VK_LOADER_DATA loader;
    enum icd_kind kind;
    struct icd_device *device; /* NULL for instance-level objects */
    /* Locked, of what recordings use: packets that do and haven't finished, and what frees the
     * object once there are none if the program, wrongly, has destroyed it. */
    uint32_t pending;
    void (*end)(void *object);
};

struct icd_physical {
    struct icd_object object;
    struct icd_instance *instance;
    struct icd_config config;
};

struct icd_instance {
    struct icd_object object;
    uint32_t n_physicals; /* at least one: the first speaks for the instance */
    struct icd_physical physicals[ICD_MAX_DEVICES];
    _Atomic uint32_t submits; /* for the faults: calls so far */
    _Atomic uint32_t oom_points;
};

struct icd_device {
    struct icd_object object;
    struct icd_instance *instance;
    pid_t process; /* that has its queues' threads: not a forked child */
    const struct icd_config *config;
    struct icd_queue *queues; /* n_queues of them, in one array */
    uint32_t n_queues;
    bool enabled[ICD_EXTENSION_COUNT];
    bool enabled_hollow;
    _Atomic bool lost;
    _Atomic int64_t live[ICD_KIND_COUNTED];
    struct icd_device *next; /* icd_world.devices */
};

/* Aborts with one line when the handle isn't an object of that kind: a layer that passes its own
 * wrapper down is caught here. */
void *icd_object_check(const void *handle, enum icd_kind kind, const char *what);
/* A zeroed object of size bytes, counted on the device; NULL when out of memory. */
void *icd_object_new(struct icd_device *device, enum icd_kind kind, size_t size);
/* Takes NULL. Frees the object itself, nothing that it owns. */
void icd_object_free(void *object);
/* The same without freeing, for objects that are shared by reference. */
void icd_object_uncount(void *object);
const char *icd_kind_name(enum icd_kind kind);
/* Locked: a packet that uses the object is accepted; is over. */
void icd_object_use(void *object);
void icd_object_unuse(void *object);
/* The program destroys an object that recordings use: end frees it, at once or, when packets still
 * use it, which is a violation, after the last of them. */
void icd_object_destroy(void *object, void (*end)(void *object));

#define ICD_FROM(struct_, kind_, handle_)                                                          \
    ((struct struct_ *)icd_object_check((const void *)(uintptr_t)(handle_), kind_, __func__))
#define ICD_HANDLE(type_, object_) ((type_)(uintptr_t)(object_))
#define ICD_DEV(handle_)           ICD_FROM(icd_device, ICD_KIND_DEVICE, handle_)

/* Counts a call that may return VK_ERROR_OUT_OF_HOST_MEMORY; true when it is the one that must. */
bool icd_oom(struct icd_instance *instance);
/* The same of a call on a device, "vkCreateBuffer" or icd_CreateBuffer's __func__: what it is to
 * return instead of doing anything, by BELFRY_ICD_OOM_AT or belfry_icd_set_fault; VK_SUCCESS:
 * nothing. */
VkResult icd_fault(struct icd_device *device, const char *call);
/* "vkCreateBuffer" and "icd_CreateBuffer" without what comes first. */
const char *icd_bare_name(const char *call);
#define ICD_FAULT(device_)                                                                         \
    do {                                                                                           \
        VkResult fault_ = icd_fault(device_, __func__);                                            \
        if (fault_ != VK_SUCCESS)                                                                  \
            return fault_;                                                                         \
    } while (0)
/* The same for a call that makes something: what it leaves then in '*handle_' is nobody's, as
 * Vulkan allows. */
#define ICD_FAULT_MAKING(handle_, device_)                                                         \
    do {                                                                                           \
        VkResult fault_ = icd_fault(device_, __func__);                                            \
        if (fault_ != VK_SUCCESS) {                                                                \
            memset(handle_, 0xbd, sizeof(*(handle_)));                                             \
            return fault_;                                                                         \
        }                                                                                          \
    } while (0)

/* Calls that block: block.c -------------------------------------------------------------------- */

/* Not locked, on a VkQueue that has been entered: blocks if a program has asked for it. A late call
 * has had its effect. */
void icd_block(const char *call, bool late);
/* What BELFRY_ICD_BLOCK says. */
void icd_block_read(const char *text);

/* The world: control.c ---------------------------------------------------------------------- */

struct icd_world {
    pthread_mutex_t lock;
    pthread_cond_t host;  /* threads of the program inside blocking calls */
    pthread_cond_t quiet; /* belfry_icd_quiesce */
    struct icd_device *devices;
    struct icd_queue *parked_any; /* queues that wait for an event or a query */
    _Atomic bool endless_waits;   /* belfry_icd_endless_waits */
    _Atomic int64_t clock_jump;   /* the GPU's clock is ahead by so many nanoseconds */
    uint32_t instances;
    uint32_t sleepers;           /* threads inside icd_host_sleep */
    uint32_t busy;               /* queues that run or have been told to */
    _Atomic bool paused;         /* written locked */
    belfry_icd_command_fn *look; /* belfry_icd_watch_commands */
    void *look_data;
    bool holding;              /* packets stop between their command buffers and their signals */
    _Atomic uint32_t watchers; /* free mode: host waits and chained queues there are to serve */
    _Atomic bool abort_on_violation;
    _Atomic bool quiet_violations;
};
extern struct icd_world icd_world;

static inline void icd_lock(void)
{
    pthread_mutex_lock(&icd_world.lock);
}

static inline void icd_unlock(void)
{
    pthread_mutex_unlock(&icd_world.lock);
}

/* Counts a violation, prints its line, aborts if told to. Takes no lock. */
void icd_violation(enum belfry_icd_violation kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A family index that a program hands over: finds those that no translation has reached. */
void icd_family_seen(struct icd_device *device, uint32_t family, const char *call);
/* An object that is used with a device: finds those of another. */
void icd_device_seen(const struct icd_device *device, const void *object, const char *call);
/* Adds to a counter that isn't kept per queue. */
enum icd_counter {
    ICD_COUNT_DEVICE_WAIT_IDLE,
    ICD_COUNT_FLUSH,
    ICD_COUNT_INVALIDATE,
    ICD_COUNT_OOM_POINT,
    ICD_COUNTER_COUNT,
};
void icd_count(enum icd_counter counter, uint64_t n);
/* The id of a submission or present, by what is chained to it; 0: it has none. */
uint64_t icd_id(const void *chain);
/* Locked: numbers the call and hands it to recorder and callback. */
void icd_record(struct belfry_icd_record *record);
/* Not locked, free mode: the same, at no cost while nobody listens. */
void icd_record_free(struct belfry_icd_record *record);
/* The one copy of a text that lives as long as the library; a dash once there are too many. */
const char *icd_text(const char *text);
/* Locked: remembers an executed sparse bind. */
void icd_remember_bind(const struct belfry_icd_sparse_bind *bind);
/* Locked: keeps a retired queue's counts. */
void icd_keep_counts(const struct icd_queue *queue);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t icd_now(void);
/* When a wait of timeout nanoseconds that begins now ends; UINT64_MAX for never. */
uint64_t icd_deadline(uint64_t timeout);
/* The device's clock at that instant, unmasked. It doesn't count from where the host's clock
 * does, so that who forgets to calibrate is found out. */
uint64_t icd_ticks(const struct icd_config *config, uint64_t now);
/* Locked: sleeps until somebody broadcasts icd_world.host; false once the deadline has passed. */
bool icd_host_sleep(uint64_t deadline);

/* Semaphores, fences, events: semaphore.c, fence.c
 * -------------------------------------------------------- */

/* What a semaphore stands for; shared by all semaphores that import it. A binary one counts too:
 * its n-th wait waits for its n-th signal. Numbers are atomic because free mode reads and writes
 * them without the lock. */
/* What processes share of an exported timeline semaphore: a memfd of just this. Numbers alone, so
 * that a process may end at any time. */
struct icd_outside {
    uint64_t magic;
    uint64_t ordinal; /* of the physical device */
    _Atomic uint64_t value, submitted;
    _Atomic uint32_t turn; /* changes with the value; who waits for that sleeps on it */
    uint32_t padding;
};

struct icd_payload {
    _Atomic uint32_t refs;
    uint32_t ordinal; /* of the physical device it was made on */
    bool timeline;
    uint64_t difference;     /* maxTimelineSemaphoreValueDifference */
    _Atomic uint64_t *value; /* timeline: the value; binary: signals executed */
    _Atomic uint64_t
        *submitted; /* greatest value that a submitted signal brings; binary: signals */
    struct {
        _Atomic uint64_t value, submitted;
    } own;                       /* where these are, or: */
    struct icd_outside *outside; /* what other processes see too; NULL: nobody does */
    _Atomic uint64_t waits;      /* binary: waits submitted */
    _Atomic uint64_t consumed;   /* binary: waits executed */
    /* locked from here */
    uint32_t pending; /* uses by packets that haven't finished */
    uint32_t late;    /* uses by finished packets that queues haven't let go of (BELFRY_ICD_BUG) */
    uint32_t host_waiters;
    struct icd_queue *blocked; /* queues whose first packet waits for a value */
    int fd;                    /* exported memfd, -1 for none */
    uint64_t inode;
    struct icd_payload *next_exported;
};

struct icd_semaphore {
    struct icd_object object;
    struct icd_payload *payload;
    struct icd_payload *temporary; /* imported, consumed by the next wait; usually NULL */
};

struct icd_fence {
    struct icd_object object;
    _Atomic uint32_t refs;
    _Atomic bool signalled;
    bool pending; /* locked */
    uint32_t host_waiters;
};

struct icd_event {
    struct icd_object object;
    _Atomic bool set;
};

struct icd_payload *icd_payload_ref(struct icd_payload *payload);
void icd_payload_unref(struct icd_payload *payload);
/* Locked: a signal operation executes; value is ignored for binary ones. */
void icd_payload_signal(struct icd_payload *payload, uint64_t value, const char *who);
/* A signal of the value has been submitted. */
void icd_payload_submitted(struct icd_payload *payload, uint64_t value);
/* The outside's turn changes, and who sleeps on it wakes, in every process. */
void icd_outside_wake(struct icd_outside *outside);
/* Locked: a binary signal that happens here and now (acquiring an image). */
void icd_payload_signal_now(struct icd_payload *payload, const char *who);
/* Signals a timeline semaphore from the host; latency.c does, too. */
VkResult icd_SignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo *pSignalInfo);
/* Locked: drops what is exported once no instance is left. */
void icd_payload_forget_exported(void);
void icd_fence_unref(struct icd_fence *fence);
/* Locked: checks and marks the fence as handed over; takes a reference. */
void icd_fence_submit(struct icd_fence *fence, const char *call);
/* Locked. */
void icd_fence_signal(struct icd_fence *fence);
/* Locked: an event or a query has changed; lets who waits for one look again. */
void icd_wake_any(void);

/* Packets: what queues hold; packet.c ------------------------------------------------------- */

struct icd_operation {
    struct icd_payload *payload;
    uint64_t value; /* binary: the count, known once the packet is accepted */
};

struct icd_binding {
    struct icd_buffer *buffer; /* NULL for images, whose memory nothing here reads */
    uint64_t resource;
    VkSparseMemoryBind bind;
};

struct icd_showing {
    struct icd_swapchain *swapchain;
    uint32_t image;
};

/* One submit info, sparse bind info or present. Arrays lie behind it in the same block. */
struct icd_packet {
    struct icd_packet *next;
    struct icd_fence *fence;
    uint64_t ends;   /* when its work is over */
    bool fence_only; /* of a call without batches */
    uint32_t n_waits;
    uint32_t n_signals;
    uint32_t n_recordings;
    uint32_t n_bindings;
    uint32_t n_showings;
    uint32_t waited; /* waits that are over */
    struct icd_operation *waits;
    struct icd_operation *signals;
    struct icd_recording **recordings;
    struct icd_binding *bindings;
    struct icd_showing *showings;
};

/* Bytes for a packet with the counts of shape. */
size_t icd_packet_size(const struct icd_packet *shape);
/* Lays a packet with the counts of shape into memory, arrays zeroed. */
struct icd_packet *icd_packet_place(void *memory, const struct icd_packet *shape);
/* malloc and place; NULL when out of memory. Free with free() unless accepted. */
struct icd_packet *icd_packet_new(const struct icd_packet *shape);
/* Locked: checks the packet against what has been submitted before and takes its references. */
void icd_packet_accept(struct icd_packet *packet, struct icd_queue *queue, const char *call);
/* Locked: all but the work itself; frees the packet. */
void icd_packet_retire(struct icd_packet *packet, struct icd_queue *queue);
/* Locked: the packet never runs (device lost, queue destroyed); frees it. */
void icd_packet_drop(struct icd_packet *packet, struct icd_queue *queue);
/* Runs the command buffers. */
void icd_packet_execute(struct icd_packet *packet, struct icd_queue *queue);
/* Free mode, not locked: runs the packet here and now if nothing is in its way; else false, and
 * nothing has changed. */
bool icd_packet_execute_free(struct icd_packet *packet, struct icd_queue *queue);

/* Queues: queue.c --------------------------------------------------------------------------- */

#define ICD_LATE 64

struct icd_queue {
    struct icd_object object;
    uint32_t family;
    uint32_t index;
    VkDeviceQueueCreateFlags flags;
    VkQueueGlobalPriorityKHR global_priority; /* as asked for; 0: not at all */
    float priority;
    uint64_t timestamp_mask; /* 0 where the family has no timestamps */
    _Atomic uint32_t callers;
    /* The queue's caller's. */
    const char *labels; /* as records have them */
    uint32_t open_labels;

    /* Written by the caller of a queue's calls or its worker, one writer each. */
    struct {
        _Atomic uint64_t submit_calls, submit_infos, infos_without_command_buffer, empty_calls,
            fence_only_calls, waits, signals, command_buffers, bind_sparse_calls, presents,
            wait_idles, wakeups, query_transfers;
    } counts;

    /* locked from here */
    pthread_t thread;
    bool started;
    bool stop;
    bool runnable;
    bool on_any; /* on icd_world.parked_any */
    bool held;   /* its packet has run its command buffers and may not signal yet */
    bool step;   /* it may start one packet although paused */
    pthread_cond_t wake;
    struct icd_packet *head;
    struct icd_packet **tail;
    _Atomic uint64_t accepted; /* packets */
    _Atomic uint64_t finished;
    uint32_t host_waiters;
    struct icd_payload *blocked_on;
    uint64_t blocked_value;
    struct icd_outside *outside; /* it sleeps on this one's turn, not on 'wake' */
    struct icd_queue *next_blocked;
    struct icd_queue *next_any;
    bool dozing; /* its worker sleeps until work is over, or there is more to start */
    struct icd_packet *ending, **ending_tail; /* their work isn't over */

    uint64_t works_until; /* the worker's: when all work that it has started is over */
    uint64_t works;       /* and how many dispatches it has started */

    uint32_t n_late; /* BELFRY_ICD_BUG=late_wait_points: what finished packets waited for */
    struct icd_payload *late[ICD_LATE];
};

/* Locked: lets go of what finished packets waited for. */
void icd_queue_let_go(struct icd_queue *queue);

void icd_queue_init(struct icd_queue *queue, struct icd_device *device, uint32_t family,
                    uint32_t index, VkDeviceQueueCreateFlags flags);
/* Locked: makes sure that there is a worker; OUT_OF_HOST_MEMORY if there can't be one. */
VkResult icd_queue_start(struct icd_queue *queue);
/* Locked: appends an accepted packet. */
void icd_queue_append(struct icd_queue *queue, struct icd_packet *packet);
/* Stops and joins the worker; what is left is dropped. */
void icd_queue_finish(struct icd_queue *queue);
/* A counter with one writer at a time. */
static inline void icd_bump(_Atomic uint64_t *counter, uint64_t n)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, old + n, memory_order_relaxed);
}
/* Around every call on a queue; finds two threads in one. */
void icd_queue_enter(struct icd_queue *queue, const char *call);
void icd_queue_leave(struct icd_queue *queue);
/* Locked: the queue's worker has something to do. */
void icd_queue_run(struct icd_queue *queue);
/* Locked: the same, if it has a packet that nothing keeps from starting. */
void icd_queue_continue(struct icd_queue *queue);
/* On the worker while a command buffer runs: a dispatch starts, which goes on beside what comes
 * later; and waits until all that it has started is over. */
void icd_queue_work(struct icd_queue *queue);
void icd_queue_drain(struct icd_queue *queue);
/* Locked; on the worker while a command buffer runs: sleeps until icd_wake_any. */
void icd_queue_park_any(struct icd_queue *queue);
/* Locked, free mode: runs what can run of all chained packets. */
void icd_free_pump(void);
/* Not locked, free mode: a value has changed without the lock. */
void icd_free_notify(void);
/* Locked: the device is lost; everybody is told. */
void icd_device_lose(struct icd_device *device);

/* Command buffers: command.c ---------------------------------------------------------------- */

enum icd_recording_state {
    ICD_RECORDING_INITIAL,
    ICD_RECORDING_RECORDING,
    ICD_RECORDING_EXECUTABLE,
    ICD_RECORDING_INVALID,
};

/* What a command buffer holds; shared with the packets that execute it. */
struct icd_recording {
    _Atomic uint32_t refs;
    _Atomic uint32_t state;
    uint32_t family; /* its pool's */
    VkCommandBufferUsageFlags usage;
    bool failed;      /* out of memory while recording; vkEndCommandBuffer tells */
    uint32_t pending; /* locked: packets that execute it and haven't finished */
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

struct icd_command_buffer {
    struct icd_object object;
    struct icd_command_pool *pool;
    struct icd_command_buffer *next;
    struct icd_command_buffer **link;
    bool primary;
    bool is_protected; /* its pool is */
    uint32_t family;   /* its pool's */
    struct icd_recording *recording;
    VkPipeline bound[2], used[2]; /* by bind point: now, and when work was recorded last */
    VkDescriptorSet last_set;     /* that was bound */
};

/* A command records work, or looks at the state that it would be recorded with. */
void icd_pipelines_use(VkCommandBuffer commandBuffer);

void icd_recording_unref(struct icd_recording *recording);
/* Locked: a packet that executes the recording is accepted; is over. */
void icd_recording_use(struct icd_recording *recording);
void icd_recording_unuse(struct icd_recording *recording);
/* Runs the recording on that queue; not locked but in free mode. */
void icd_recording_execute(struct icd_recording *recording, struct icd_queue *queue);
/* Appends space for a command; NULL when out of memory (vkEndCommandBuffer will say so). */
enum icd_op_code {
    ICD_OP_FILL,
    ICD_OP_UPDATE,
    ICD_OP_COPY,
    ICD_OP_SET_EVENT,
    ICD_OP_RESET_EVENT,
    ICD_OP_WAIT_EVENT,
    ICD_OP_TIMESTAMP,
    ICD_OP_QUERY_DONE,
    ICD_OP_RESET_QUERIES,
    ICD_OP_COPY_QUERIES,
    ICD_OP_HOST_BARRIER,
    ICD_OP_DISPATCH,
    ICD_OP_DRAIN,
    ICD_OP_BARRIER, /* order.c */
    ICD_OP_EXECUTE,
};
void *icd_command_append(VkCommandBuffer commandBuffer, enum icd_op_code code, size_t size);
/* BELFRY_ICD_TELLS: a dispatch or a draw is recorded. */
void icd_tell_append(VkCommandBuffer commandBuffer);
/* The storage buffer at binding 0 of a set, from 'offset' on. NULL: it has none. */
struct icd_buffer *icd_descriptor_buffer(VkDescriptorSet set, VkDeviceSize *offset);
/* Where dispatches take time: one of them, or what waits for those before it. */
void icd_work_append(VkCommandBuffer commandBuffer, enum icd_op_code code);

struct icd_command {
    uint32_t code;
    uint32_t size; /* bytes, the header included, a multiple of 8 */
};

/* Runs a command that isn't a barrier of order.c's. */
void icd_command_execute(struct icd_command *command, struct icd_queue *queue);
/* That vkCmdExecuteCommands has taken. */
struct icd_recording *icd_executed_recording(struct icd_command *command);

/* BELFRY_ICD_ORDER: order.c. A barrier with these stages in its scopes; 'host' if it makes writes
 * visible to the host's reads. */
void icd_order_barrier(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 first,
                       VkPipelineStageFlags2 second, bool host);
/* Runs a packet's commands; false, having run none, when out of memory. */
bool icd_order_execute(struct icd_packet *packet, struct icd_queue *queue);

struct icd_query_command {
    struct icd_command command;
    struct icd_query_pool *pool;
    uint32_t first;
    uint32_t count;
    struct icd_buffer *buffer;
    VkDeviceSize offset;
    VkDeviceSize stride;
    VkQueryResultFlags flags;
};

/* Memory and resources: memory.c, resource.c ------------------------------------------------ */

struct icd_memory {
    struct icd_object object;
    uint8_t *data; /* what the device sees */
    uint8_t *host; /* what the host sees: the same if it's coherent; NULL if it sees nothing */
    VkDeviceSize size;
    uint32_t type;
    bool imported; /* data is the program's own */
    bool mapped;
    VkDeviceSize map_offset;
    VkDeviceSize map_size;
};

struct icd_sparse_range {
    VkDeviceSize offset;
    VkDeviceSize size;
    struct icd_memory *memory;
    VkDeviceSize memory_offset;
};

struct icd_buffer {
    struct icd_object object;
    VkDeviceSize size;
    VkBufferCreateFlags flags;
    VkBufferUsageFlags usage;
    VkExternalMemoryHandleTypeFlags handle_types;
    bool unlocked; /* free mode: sparse ranges are read without the lock */
    struct icd_memory *memory;
    VkDeviceSize offset;
    uint8_t *reserved; /* sparse: address space that stands for the device address */
    /* sparse: ranges in the order of binding, later ones win; locked */
    struct icd_sparse_range *ranges;
    uint32_t n_ranges;
};

struct icd_image {
    struct icd_object object;
    VkImageCreateFlags flags;
    VkExtent3D extent;
    uint32_t mips;
    uint32_t layers;
    VkDeviceSize size;
    struct icd_memory *memory;
    VkDeviceSize offset;
    bool of_swapchain;
};

#define ICD_HEAP_SIZE      (UINT64_C(2) << 30)
#define ICD_ALIGNMENT      256
#define ICD_SPARSE_BLOCK   65536
#define ICD_ATOM           64 /* nonCoherentAtomSize */
#define ICD_MAX_ALLOCATION (UINT64_C(1) << 30)
/* Of the pointer and of the size of imported host memory. */
#define ICD_IMPORT_ALIGNMENT 4096
/* Every image texel takes this much, whatever its format: nothing here looks inside. */
#define ICD_TEXEL 16

/* Copies to, from and within device memory. Aligned words of 8 and 4 bytes are written at once and
 * with release: a program that polls mapped memory while the device writes it never sees half a
 * word, and who acquires a word that a command wrote sees what the commands before it wrote. */
void icd_buffer_write(struct icd_buffer *buffer, VkDeviceSize offset, const void *data,
                      VkDeviceSize size);
void icd_buffer_copy(struct icd_buffer *from, VkDeviceSize from_offset, struct icd_buffer *to,
                     VkDeviceSize to_offset, VkDeviceSize size);
void icd_buffer_fill(struct icd_buffer *buffer, VkDeviceSize offset, VkDeviceSize size,
                     uint32_t word);
/* belfry_icd_late_writes. A barrier to the host's reads executes; what such barriers have sent
 * reaches the host. */
void icd_late_writes(bool late);
void icd_late_writes_send(void);
void icd_late_writes_land(void);
/* Locked: a sparse bind executes. */
void icd_buffer_bind(struct icd_buffer *buffer, const VkSparseMemoryBind *bind);

/* query.c: executed on a worker. */
void icd_query_execute(const struct icd_query_command *command, struct icd_queue *queue);
/* Locked: a packet that runs the command is accepted (1), is over (-1). */
void icd_query_use(const struct icd_query_command *command, int packets);

/* What is checked of commands as they are recorded: rules.c --------------------------------- */

/* The families' capabilities that video brings, one of which these headers hide. */
#define ICD_VIDEO (VK_QUEUE_VIDEO_DECODE_BIT_KHR | 0x40)
/* What transfers run on. */
#define ICD_TRANSFER (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)

/* The command is one that only families with any of these flags run. */
void icd_command_needs(VkCommandBuffer commandBuffer, VkQueueFlags any, const char *call);
/* In an entry point icd_CmdName of a command buffer called commandBuffer. */
#define ICD_NEEDS(any_) icd_command_needs(commandBuffer, any_, __func__ + sizeof("icd_") - 1)
/* Stages that a barrier or a timestamp names. */
void icd_stages_seen(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 stages, const char *call);
void icd_timestamp_seen(VkCommandBuffer commandBuffer, const char *call);
/* Whether a transfer may touch that range of the buffer; a violation if not. Offset and size are
 * to be multiples of unit. */
bool icd_range_seen(VkCommandBuffer commandBuffer, const struct icd_buffer *buffer,
                    VkBufferUsageFlags usage, VkDeviceSize offset, VkDeviceSize size,
                    VkDeviceSize unit, const char *call);

/* surface.c, locked: a present of one of its images is accepted; and has executed or is dropped. */
void icd_swapchain_accept(struct icd_swapchain *swapchain);
void icd_swapchain_presented(struct icd_swapchain *swapchain, uint32_t image);

/* physical_device.c */
bool icd_extension_offered(const struct icd_config *config, enum icd_extension extension);
/* The types that memory imported from a host pointer may have: coherent ones. */
uint32_t icd_host_pointer_types(const struct icd_config *config);
/* VK_SUCCESS, or FEATURE_NOT_PRESENT with a line that names the struct. */
VkResult icd_features_check(const struct icd_config *config, const VkDeviceCreateInfo *info);

/* debug.c: checks a handle that travels as a number, queues above all. */
void icd_handle_seen(VkObjectType type, uint64_t handle, const char *call);

/* Two-call enumeration of whole structs. */
VkResult icd_enumerate(uint32_t *count, void *out, size_t size, const void *from, uint32_t n);

#endif
