/* SPDX-License-Identifier: MIT */
/* Instances, the loader's interface, and the look-up of entry points by name. */
#include "icd.h"

#define EXTENSION(name, revision)                                                                  \
    {                                                                                              \
        name, revision                                                                             \
    }

const VkExtensionProperties icd_extension_properties[ICD_EXTENSION_COUNT] = {
    [ICD_KHR_SURFACE] = EXTENSION("VK_KHR_surface", 25),
    [ICD_KHR_GET_SURFACE_CAPABILITIES_2] = EXTENSION("VK_KHR_get_surface_capabilities2", 1),
    [ICD_EXT_HEADLESS_SURFACE] = EXTENSION("VK_EXT_headless_surface", 1),
    [ICD_EXT_DEBUG_UTILS] = EXTENSION("VK_EXT_debug_utils", 2),
    [ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2] =
        EXTENSION("VK_KHR_get_physical_device_properties2", 2),
    [ICD_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES] =
        EXTENSION("VK_KHR_external_semaphore_capabilities", 1),
    [ICD_KHR_EXTERNAL_FENCE_CAPABILITIES] = EXTENSION("VK_KHR_external_fence_capabilities", 1),
    [ICD_KHR_EXTERNAL_MEMORY_CAPABILITIES] = EXTENSION("VK_KHR_external_memory_capabilities", 1),
    [ICD_KHR_DEVICE_GROUP_CREATION] = EXTENSION("VK_KHR_device_group_creation", 1),
    [ICD_KHR_SWAPCHAIN] = EXTENSION("VK_KHR_swapchain", 70),
    [ICD_KHR_TIMELINE_SEMAPHORE] = EXTENSION("VK_KHR_timeline_semaphore", 2),
    [ICD_KHR_SYNCHRONIZATION_2] = EXTENSION("VK_KHR_synchronization2", 1),
    [ICD_KHR_EXTERNAL_SEMAPHORE] = EXTENSION("VK_KHR_external_semaphore", 1),
    [ICD_KHR_EXTERNAL_SEMAPHORE_FD] = EXTENSION("VK_KHR_external_semaphore_fd", 1),
    [ICD_KHR_GLOBAL_PRIORITY] = EXTENSION("VK_KHR_global_priority", 1),
    [ICD_EXT_GLOBAL_PRIORITY] = EXTENSION("VK_EXT_global_priority", 2),
    [ICD_EXT_GLOBAL_PRIORITY_QUERY] = EXTENSION("VK_EXT_global_priority_query", 1),
    [ICD_EXT_CALIBRATED_TIMESTAMPS] = EXTENSION("VK_EXT_calibrated_timestamps", 2),
    [ICD_EXT_HOST_QUERY_RESET] = EXTENSION("VK_EXT_host_query_reset", 1),
    [ICD_KHR_BUFFER_DEVICE_ADDRESS] = EXTENSION("VK_KHR_buffer_device_address", 1),
    [ICD_KHR_DEVICE_GROUP] = EXTENSION("VK_KHR_device_group", 4),
    [ICD_KHR_GET_MEMORY_REQUIREMENTS_2] = EXTENSION("VK_KHR_get_memory_requirements2", 1),
    [ICD_KHR_BIND_MEMORY_2] = EXTENSION("VK_KHR_bind_memory2", 1),
    [ICD_KHR_DEDICATED_ALLOCATION] = EXTENSION("VK_KHR_dedicated_allocation", 3),
    [ICD_KHR_MAINTENANCE_1] = EXTENSION("VK_KHR_maintenance1", 2),
    [ICD_KHR_MAINTENANCE_2] = EXTENSION("VK_KHR_maintenance2", 1),
    [ICD_KHR_MAINTENANCE_3] = EXTENSION("VK_KHR_maintenance3", 1),
    [ICD_KHR_MAINTENANCE_4] = EXTENSION("VK_KHR_maintenance4", 2),
    [ICD_KHR_MULTIVIEW] = EXTENSION("VK_KHR_multiview", 1),
    [ICD_KHR_CREATE_RENDERPASS_2] = EXTENSION("VK_KHR_create_renderpass2", 1),
    [ICD_KHR_DEPTH_STENCIL_RESOLVE] = EXTENSION("VK_KHR_depth_stencil_resolve", 1),
    [ICD_KHR_DYNAMIC_RENDERING] = EXTENSION("VK_KHR_dynamic_rendering", 1),
    [ICD_KHR_COPY_COMMANDS_2] = EXTENSION("VK_KHR_copy_commands2", 1),
    [ICD_KHR_DESCRIPTOR_UPDATE_TEMPLATE] = EXTENSION("VK_KHR_descriptor_update_template", 1),
    [ICD_KHR_IMAGE_FORMAT_LIST] = EXTENSION("VK_KHR_image_format_list", 1),
    [ICD_KHR_DRIVER_PROPERTIES] = EXTENSION("VK_KHR_driver_properties", 1),
    [ICD_EXT_PRIVATE_DATA] = EXTENSION("VK_EXT_private_data", 1),
    [ICD_EXT_TOOLING_INFO] = EXTENSION("VK_EXT_tooling_info", 1),
    [ICD_KHR_EXTERNAL_MEMORY] = EXTENSION("VK_KHR_external_memory", 1),
    [ICD_EXT_EXTERNAL_MEMORY_HOST] = EXTENSION("VK_EXT_external_memory_host", 1),
    [ICD_NV_DEVICE_GENERATED_COMMANDS] = EXTENSION("VK_NV_device_generated_commands", 3),
    [ICD_NV_DEVICE_GENERATED_COMMANDS_COMPUTE] =
        EXTENSION("VK_NV_device_generated_commands_compute", 2),
    [ICD_EXT_DEVICE_GENERATED_COMMANDS] = EXTENSION("VK_EXT_device_generated_commands", 1),
    [ICD_EXT_DEVICE_FAULT] = EXTENSION("VK_EXT_device_fault", 2),
    [ICD_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS] = EXTENSION("VK_NV_device_diagnostic_checkpoints", 2),
    [ICD_NV_LOW_LATENCY_2] = EXTENSION("VK_NV_low_latency2", 2),
    [ICD_NV_LOW_LATENCY] = EXTENSION("VK_NV_low_latency", 1),
    [ICD_QCOM_QUEUE_PERF_HINT] = EXTENSION("VK_QCOM_queue_perf_hint", 1),
    [ICD_NV_EXTERNAL_COMPUTE_QUEUE] = EXTENSION("VK_NV_external_compute_queue", 1),
    [ICD_KHR_PRESENT_ID] = EXTENSION("VK_KHR_present_id", 1),
    [ICD_KHR_INTERNALLY_SYNCHRONIZED_QUEUES] =
        EXTENSION("VK_KHR_internally_synchronized_queues", 1),
};

static const struct icd_entry *const tables[] = {
    icd_instance_entries, icd_physical_entries, icd_feature_entries,   icd_device_entries,
    icd_queue_entries,    icd_fence_entries,    icd_semaphore_entries, icd_command_entries,
    icd_inert_entries,    icd_memory_entries,   icd_resource_entries,  icd_pipeline_entries,
    icd_query_entries,    icd_surface_entries,  icd_debug_entries,     icd_generated_entries,
    icd_latency_entries,
};

VkResult icd_enumerate(uint32_t *count, void *out, size_t size, const void *from, uint32_t n)
{
    if (!out) {
        *count = n;
        return VK_SUCCESS;
    }
    uint32_t given = *count < n ? *count : n;
    if (given)
        memcpy(out, from, given * size);
    *count = given;
    return given < n ? VK_INCOMPLETE : VK_SUCCESS;
}

bool icd_oom(struct icd_instance *instance)
{
    const struct icd_config *config = &instance->physicals[0].config;
    if (config->free_submit)
        return false;
    icd_count(ICD_COUNT_OOM_POINT, 1);
    uint32_t n = atomic_fetch_add_explicit(&instance->oom_points, 1, memory_order_relaxed) + 1;
    return n == config->oom_at;
}

/* Objects ----------------------------------------------------------------------------------- */

static const char *const kind_names[ICD_KIND_COUNTED] = {
    "semaphore",
    "fence",
    "event",
    "command pool",
    "device memory",
    "buffer",
    "buffer view",
    "image",
    "image view",
    "query pool",
    "swapchain",
    "sampler",
    "sampler conversion",
    "shader module",
    "descriptor set layout",
    "descriptor pool",
    "descriptor set",
    "descriptor update template",
    "pipeline layout",
    "pipeline cache",
    "pipeline",
    "render pass",
    "framebuffer",
    "private data slot",
    "execution set",
    "external compute queue",
};

const char *icd_kind_name(enum icd_kind kind)
{
    if (kind >= ICD_KIND_FIRST_COUNTED && kind < ICD_KIND_END)
        return kind_names[kind - ICD_KIND_FIRST_COUNTED];
    switch (kind) {
    case ICD_KIND_INSTANCE:
        return "instance";
    case ICD_KIND_PHYSICAL_DEVICE:
        return "physical device";
    case ICD_KIND_DEVICE:
        return "device";
    case ICD_KIND_QUEUE:
        return "queue";
    case ICD_KIND_COMMAND_BUFFER:
        return "command buffer";
    case ICD_KIND_SURFACE:
        return "surface";
    case ICD_KIND_MESSENGER:
        return "debug messenger";
    default:
        return "object";
    }
}

void *icd_object_check(const void *handle, enum icd_kind kind, const char *what)
{
    const struct icd_object *object = handle;
    if (!object || object->kind != kind) {
        fprintf(stderr, "belfry test driver: %s: %p is not a %s of this driver (%s)\n", what,
                handle, icd_kind_name(kind), object ? icd_kind_name(object->kind) : "null");
        abort();
    }
    return (void *)(uintptr_t)handle;
}

void *icd_object_new(struct icd_device *device, enum icd_kind kind, size_t size)
{
    struct icd_object *object = calloc(1, size);
    if (!object)
        return NULL;
    set_loader_magic_value(object);
    object->kind = kind;
    object->device = device;
    if (device && kind >= ICD_KIND_FIRST_COUNTED)
        device->live[kind - ICD_KIND_FIRST_COUNTED]++;
    return object;
}

void icd_object_uncount(void *object)
{
    struct icd_object *o = object;
    if (o->device && o->kind >= ICD_KIND_FIRST_COUNTED)
        o->device->live[o->kind - ICD_KIND_FIRST_COUNTED]--;
    o->device = NULL;
}

void icd_object_free(void *object)
{
    if (!object)
        return;
    icd_object_uncount(object);
    /* A handle used after its end shall not pass for a live one. */
    ((struct icd_object *)object)->kind = 0;
    free(object);
}

void icd_object_use(void *object)
{
    ((struct icd_object *)object)->pending++;
}

void icd_object_unuse(void *object)
{
    struct icd_object *o = object;
    if (!--o->pending && o->end)
        o->end(o);
}

void icd_object_destroy(void *object, void (*end)(void *object))
{
    struct icd_object *o = object;
    icd_lock();
    uint32_t pending = o->pending;
    if (pending) {
        icd_violation(BELFRY_ICD_DESTROY_PENDING,
                      "a %s is destroyed while %u pending submissions "
                      "use it",
                      icd_kind_name(o->kind), pending);
        icd_object_uncount(o);
        o->kind = 0;
        o->end = end;
    }
    icd_unlock();
    if (!pending)
        end(o);
}

/* Instances --------------------------------------------------------------------------------- */

static VkResult icd_EnumerateInstanceVersion(uint32_t *pApiVersion)
{
    struct icd_config config;
    icd_config_read(&config, 0);
    *pApiVersion = VK_MAKE_API_VERSION(0, 1, config.minor, VK_HEADER_VERSION);
    return VK_SUCCESS;
}

static VkResult icd_EnumerateInstanceExtensionProperties(const char *pLayerName, uint32_t *pCount,
                                                         VkExtensionProperties *pProperties)
{
    if (pLayerName)
        return VK_ERROR_LAYER_NOT_PRESENT;
    return icd_enumerate(pCount, pProperties, sizeof(*pProperties),
                         &icd_extension_properties[ICD_INSTANCE_EXTENSIONS_BEGIN],
                         ICD_INSTANCE_EXTENSIONS_END - ICD_INSTANCE_EXTENSIONS_BEGIN);
}

static VkResult icd_EnumerateInstanceLayerProperties(uint32_t *pCount,
                                                     VkLayerProperties *pProperties)
{
    *pCount = 0;
    return VK_SUCCESS;
}

static VkResult icd_CreateInstance(const VkInstanceCreateInfo *pCreateInfo,
                                   const VkAllocationCallbacks *pAllocator, VkInstance *pInstance)
{
    for (uint32_t i = 0; i < pCreateInfo->enabledExtensionCount; i++) {
        bool found = false;
        for (int e = ICD_INSTANCE_EXTENSIONS_BEGIN; e < ICD_INSTANCE_EXTENSIONS_END; e++)
            found |= !strcmp(pCreateInfo->ppEnabledExtensionNames[i],
                             icd_extension_properties[e].extensionName);
        if (!found)
            return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    struct icd_instance *instance = icd_object_new(NULL, ICD_KIND_INSTANCE, sizeof(*instance));
    if (!instance)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bool properties2 = false;
    for (uint32_t i = 0; i < pCreateInfo->enabledExtensionCount; i++)
        properties2 |= !strcmp(pCreateInfo->ppEnabledExtensionNames[i],
                               VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME);
    instance->n_physicals = icd_config_devices();
    for (uint32_t i = 0; i < instance->n_physicals; i++) {
        struct icd_physical *physical = &instance->physicals[i];
        set_loader_magic_value(physical);
        physical->object.kind = ICD_KIND_PHYSICAL_DEVICE;
        physical->instance = instance;
        icd_config_read(&physical->config, i);
        physical->config.properties2 = properties2;
    }
    if (icd_oom(instance)) {
        icd_object_free(instance);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    icd_lock();
    icd_world.instances++;
    icd_unlock();
    *pInstance = (VkInstance)instance;
    return VK_SUCCESS;
}

static void icd_DestroyInstance(VkInstance instance_, const VkAllocationCallbacks *pAllocator)
{
    if (!instance_)
        return;
    struct icd_instance *instance = ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance_);
    icd_lock();
    if (--icd_world.instances == 0)
        icd_payload_forget_exported();
    bool left = false; /* with a device that a thread is in: its configuration stays, too */
    for (const struct icd_device *device = icd_world.devices; device; device = device->next)
        left |= device->instance == instance;
    icd_unlock();
    if (!left)
        icd_object_free(instance);
}

static VkResult icd_EnumeratePhysicalDevices(VkInstance instance_, uint32_t *pCount,
                                             VkPhysicalDevice *pDevices)
{
    struct icd_instance *instance = ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance_);
    if (icd_oom(instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkPhysicalDevice physicals[ICD_MAX_DEVICES];
    for (uint32_t i = 0; i < instance->n_physicals; i++)
        physicals[i] = (VkPhysicalDevice)&instance->physicals[i];
    return icd_enumerate(pCount, pDevices, sizeof(physicals[0]), physicals, instance->n_physicals);
}

static VkResult icd_EnumeratePhysicalDeviceGroups(VkInstance instance_, uint32_t *pCount,
                                                  VkPhysicalDeviceGroupProperties *pGroups)
{
    struct icd_instance *instance = ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance_);
    if (icd_oom(instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!pGroups) {
        *pCount = instance->n_physicals;
        return VK_SUCCESS;
    }
    if (*pCount > instance->n_physicals)
        *pCount = instance->n_physicals;
    for (uint32_t i = 0; i < *pCount; i++) {
        pGroups[i].physicalDeviceCount = 1;
        pGroups[i].physicalDevices[0] = (VkPhysicalDevice)&instance->physicals[i];
        pGroups[i].subsetAllocation = VK_FALSE;
    }
    return *pCount < instance->n_physicals ? VK_INCOMPLETE : VK_SUCCESS;
}

/* Look-up ----------------------------------------------------------------------------------- */

/* By name, open addressing: each instance and device asks for hundreds of names, and under
 * ThreadSanitizer each comparison costs as much as a small function. */
#define ENTRY_SLOTS 1024 /* a power of two */
static const struct icd_entry *entry_slots[ENTRY_SLOTS];
static pthread_once_t entries_once = PTHREAD_ONCE_INIT;

/* Where the name's entry is, or would be. */
static const struct icd_entry **entry_slot(const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    uint32_t i = hash ^ hash >> 15;
    while (entry_slots[i % ENTRY_SLOTS] && strcmp(entry_slots[i % ENTRY_SLOTS]->name, name))
        i++;
    return &entry_slots[i % ENTRY_SLOTS];
}

static void entries_index(void)
{
    uint32_t count = 0;
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
        for (const struct icd_entry *entry = tables[t]; entry->name; entry++) {
            const struct icd_entry **slot = entry_slot(entry->name);
            if (*slot || ++count > ENTRY_SLOTS / 2)
                abort(); /* named twice, or too many */
            *slot = entry;
        }
    }
}

static const struct icd_entry *entry_find(const char *name)
{
    pthread_once(&entries_once, entries_index);
    return *entry_slot(name);
}

/* Any command of a hollow extension: in C's calling conventions arguments may be too many. It is
 * VK_SUCCESS, or nothing, to whoever looks. */
static VkResult hollow_command(void)
{
    return VK_SUCCESS;
}

static PFN_vkVoidFunction icd_GetDeviceProcAddr(VkDevice device_, const char *pName)
{
    struct icd_device *device = ICD_DEV(device_);
    const struct icd_entry *entry = entry_find(pName);
    if (!entry && device->enabled_hollow)
        return (PFN_vkVoidFunction)hollow_command;
    if (!entry || entry->level != ICD_DEVICE)
        return NULL;
    if (entry->extension == ICD_EXT_NONE)
        return entry->minor <= device->config->minor ? entry->function : NULL;
    /* Commands of an instance extension (names and labels) need no enabling on the device. */
    if (entry->extension < ICD_INSTANCE_EXTENSIONS_END)
        return entry->function;
    return device->enabled[entry->extension] ? entry->function : NULL;
}

static PFN_vkVoidFunction hollow_find(VkInstance instance_)
{
    struct icd_instance *instance =
        instance_ ? ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance_) : NULL;
    for (uint32_t i = 0; instance && i < instance->n_physicals; i++)
        if (instance->physicals[i].config.hollow[0])
            return (PFN_vkVoidFunction)hollow_command;
    return NULL;
}

static PFN_vkVoidFunction icd_GetInstanceProcAddr(VkInstance instance_, const char *pName)
{
    const struct icd_entry *entry = entry_find(pName);
    if (!entry)
        return hollow_find(instance_);
    if (entry->level == ICD_GLOBAL || !strcmp(pName, "vkGetInstanceProcAddr"))
        return entry->function;
    if (!instance_)
        return NULL;
    struct icd_instance *instance = ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance_);
    for (uint32_t i = 0; i < instance->n_physicals; i++) {
        const struct icd_config *config = &instance->physicals[i].config;
        if (entry->extension != ICD_EXT_NONE ? icd_extension_offered(config, entry->extension)
                                             : entry->minor <= config->minor)
            return entry->function;
    }
    return NULL;
}

const struct icd_entry icd_instance_entries[] = {
    ICD_CORE(ICD_GLOBAL, 0, CreateInstance),
    ICD_CORE(ICD_GLOBAL, 0, EnumerateInstanceExtensionProperties),
    ICD_CORE(ICD_GLOBAL, 0, EnumerateInstanceLayerProperties),
    ICD_CORE(ICD_GLOBAL, 1, EnumerateInstanceVersion),
    ICD_CORE(ICD_INSTANCE, 0, GetInstanceProcAddr),
    ICD_CORE(ICD_INSTANCE, 0, DestroyInstance),
    ICD_CORE(ICD_INSTANCE, 0, EnumeratePhysicalDevices),
    ICD_BOTH(ICD_INSTANCE, 1, ICD_KHR_DEVICE_GROUP_CREATION, EnumeratePhysicalDeviceGroups),
    ICD_CORE(ICD_DEVICE, 0, GetDeviceProcAddr),
    ICD_END};

/* The loader's interface -------------------------------------------------------------------- */

/* Version 5 says that this driver knows Vulkan 1.1's rules for the application's apiVersion. */
#define INTERFACE_VERSION 5

BELFRY_ICD_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion);
BELFRY_ICD_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance instance, const char *pName);
BELFRY_ICD_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *pName);

VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion)
{
    if (*pVersion > INTERFACE_VERSION)
        *pVersion = INTERFACE_VERSION;
    return VK_SUCCESS;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *pName)
{
    return icd_GetInstanceProcAddr(instance, pName);
}

PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *pName)
{
    const struct icd_entry *entry = entry_find(pName);
    if (!entry && (!strncmp(pName, "vkGetPhysicalDevice", 19) ||
                   !strncmp(pName, "vkEnumeratePhysicalDevice", 25)))
        return hollow_find(instance);
    if (!entry || entry->level != ICD_PHYSICAL)
        return NULL;
    return icd_GetInstanceProcAddr(instance, pName);
}
