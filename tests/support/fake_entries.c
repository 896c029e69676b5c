/* SPDX-License-Identifier: MIT */
/* The entry points, in alphabetical order of what they make, and the objects behind them. */
#include "fake_entries.h"

#define OBJECTS   4096
#define OVERRIDES 128

struct fake_entries fake_entries = {.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY};
char fake_key;

static struct fake_object objects[OBJECTS];
static uint32_t last_made;
static struct fake_object *freed; /* command buffers, the last one first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    char name[80];
    PFN_vkVoidFunction function;
} overrides[OVERRIDES];
static uint32_t override_count;

static void broken(const char *what, const char *name)
{
    fprintf(stderr, "fake entry points: %s %s\n", what, name);
    abort();
}

/* Objects -------------------------------------------------------------------------------------- */

void fake_reset(void)
{
    fake_entries = (struct fake_entries){.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY};
    override_count = 0;
    memset(objects, 0, sizeof(objects));
    freed = NULL;
}

static struct fake_object *find(VkObjectType type, uint64_t handle)
{
    uintptr_t at = (uintptr_t)handle - (uintptr_t)objects;
    if (at >= sizeof(objects) || at % sizeof(objects[0]))
        return NULL;
    struct fake_object *o = &objects[at / sizeof(*o)];
    return o->count && o->type == type ? o : NULL;
}

struct fake_object *fake_object(VkObjectType type, uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct fake_object *o = find(type, handle);
    pthread_mutex_unlock(&lock);
    return o;
}

struct fake_object *fake_next(const struct fake_object *after)
{
    for (struct fake_object *o = after ? objects + (after - objects) + 1 : objects;
         o < objects + OBJECTS; o++)
        if (o->count)
            return o;
    return NULL;
}

struct fake_object *fake_need(VkObjectType type, uint64_t handle)
{
    struct fake_object *o = fake_object(type, handle);
    if (!o)
        broken("used what isn't there", "");
    return o;
}

uint32_t fake_alive_of(VkDevice device, VkObjectType type)
{
    uint32_t count = 0;
    pthread_mutex_lock(&lock);
    for (const struct fake_object *o = objects; o < objects + OBJECTS; o++)
        if ((!device || o->device == device) && (!type || o->type == type))
            count += o->count;
    pthread_mutex_unlock(&lock);
    return count;
}

uint32_t fake_alive(VkObjectType type)
{
    return fake_alive_of(VK_NULL_HANDLE, type);
}

static struct fake_object *pick(VkObjectType type)
{
    struct fake_object *o = freed;
    if (type == VK_OBJECT_TYPE_COMMAND_BUFFER && o) {
        freed = o->next;
        return o;
    }
    for (uint32_t i = 0; i < OBJECTS; i++) {
        o = &objects[++last_made % OBJECTS];
        if (!o->type)
            return o;
    }
    broken("too many objects", "");
    return NULL;
}

VkResult fake_make(VkDevice device, VkObjectType type, const VkAllocationCallbacks *allocator,
                   uint64_t *handle)
{
    pthread_mutex_lock(&lock);
    *handle = 0;
    fake_entries.made++;
    VkResult result = VK_SUCCESS;
    struct fake_object *same = NULL;
    for (uint32_t i = 0; fake_entries.equal_handles && !same && i < OBJECTS; i++)
        if (type != VK_OBJECT_TYPE_SHADER_MODULE && objects[i].count && objects[i].type == type)
            same = &objects[i];
    if (fake_entries.fail_at && --fake_entries.fail_at == 0) {
        result = fake_entries.failure;
        if (type != VK_OBJECT_TYPE_PIPELINE)
            *handle = 0xbad; /* Vulkan says nothing of it */
    } else {
        struct fake_object *o = same ? same : pick(type);
        if (!same)
            *o = (struct fake_object){&fake_key, type, 0, device, allocator, .own = {0}};
        o->count++;
        *handle = (uintptr_t)o;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void unmake(VkObjectType type, uint64_t handle, const VkAllocationCallbacks *allocator)
{
    struct fake_object *o = find(type, handle);
    if (!o)
        broken("destroyed what isn't there", "");
    if (o->allocator != allocator)
        broken("another allocator", "");
    if (--o->count == 0 && type == VK_OBJECT_TYPE_COMMAND_BUFFER) {
        *o = (struct fake_object){.type = type, .next = freed}; /* kept for the next one */
        freed = o;
    } else if (!o->count) {
        o->type = VK_OBJECT_TYPE_UNKNOWN;
    }
}

void fake_unmake(VkObjectType type, uint64_t handle, const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&lock);
    if (handle)
        unmake(type, handle, allocator);
    pthread_mutex_unlock(&lock);
}

void *fake_dispatchable(void)
{
    uint64_t handle;
    if (fake_make(VK_NULL_HANDLE, VK_OBJECT_TYPE_COMMAND_BUFFER, NULL, &handle) != VK_SUCCESS)
        broken("a failure where there may be none", "");
    return (void *)(uintptr_t)handle;
}

/* Entry points --------------------------------------------------------------------------------- */

#define DESTROY(name_, type_)                                                                      \
    static VKAPI_ATTR void VKAPI_CALL destroy_##name_(VkDevice device, Vk##name_ handle,           \
                                                      const VkAllocationCallbacks *allocator)      \
    {                                                                                              \
        (void)device;                                                                              \
        fake_unmake(type_, (uint64_t)handle, allocator);                                           \
    }
#define OBJECT(name_, type_)                                                                       \
    static VKAPI_ATTR VkResult VKAPI_CALL create_##name_(                                          \
        VkDevice device, const Vk##name_##CreateInfo *info,                                        \
        const VkAllocationCallbacks *allocator, Vk##name_ *handle)                                 \
    {                                                                                              \
        (void)info;                                                                                \
        return fake_make(device, type_, allocator, (uint64_t *)handle);                            \
    }                                                                                              \
    DESTROY(name_, type_)

OBJECT(Buffer, VK_OBJECT_TYPE_BUFFER)
OBJECT(BufferView, VK_OBJECT_TYPE_BUFFER_VIEW)
OBJECT(DescriptorSetLayout, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT)
OBJECT(Fence, VK_OBJECT_TYPE_FENCE)
DESTROY(Pipeline, VK_OBJECT_TYPE_PIPELINE)
OBJECT(PipelineLayout, VK_OBJECT_TYPE_PIPELINE_LAYOUT)
OBJECT(QueryPool, VK_OBJECT_TYPE_QUERY_POOL)
OBJECT(RenderPass, VK_OBJECT_TYPE_RENDER_PASS)
OBJECT(Sampler, VK_OBJECT_TYPE_SAMPLER)
OBJECT(Semaphore, VK_OBJECT_TYPE_SEMAPHORE)
OBJECT(ShaderModule, VK_OBJECT_TYPE_SHADER_MODULE)

static VKAPI_ATTR VkResult VKAPI_CALL create_CommandPool(VkDevice device,
                                                         const VkCommandPoolCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkCommandPool *pool)
{
    (void)info;
    return fake_make(device, VK_OBJECT_TYPE_COMMAND_POOL, allocator, (uint64_t *)pool);
}

static VKAPI_ATTR void VKAPI_CALL destroy_CommandPool(VkDevice device, VkCommandPool pool,
                                                      const VkAllocationCallbacks *allocator)
{
    (void)device;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; pool && i < OBJECTS; i++)
        if (objects[i].count && objects[i].pool == pool)
            unmake(VK_OBJECT_TYPE_COMMAND_BUFFER, (uintptr_t)&objects[i], NULL);
    pthread_mutex_unlock(&lock);
    fake_unmake(VK_OBJECT_TYPE_COMMAND_POOL, (uint64_t)pool, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device,
                                               const VkCommandBufferAllocateInfo *info,
                                               VkCommandBuffer *buffers)
{
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        uint64_t handle;
        VkResult result = fake_make(device, VK_OBJECT_TYPE_COMMAND_BUFFER, NULL, &handle);
        if (result != VK_SUCCESS)
            return result; /* the pool frees the others */
        buffers[i] = (VkCommandBuffer)(uintptr_t)handle;
        ((struct fake_object *)(uintptr_t)handle)->pool = info->commandPool;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL free_buffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                               const VkCommandBuffer *buffers)
{
    (void)device, (void)pool;
    for (uint32_t i = 0; i < count; i++)
        fake_unmake(VK_OBJECT_TYPE_COMMAND_BUFFER, (uintptr_t)buffers[i], NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL end(VkCommandBuffer buffer)
{
    fake_need(VK_OBJECT_TYPE_COMMAND_BUFFER, (uintptr_t)buffer)->recorded = true;
    return VK_SUCCESS;
}

#define ENTRY(name_, function_)                                                                    \
    {                                                                                              \
#name_, (PFN_vkVoidFunction)(1 ? function_ : (PFN_##name_)0),                              \
            offsetof(struct VolkDeviceTable, name_)                                                \
    }
#define ENTRIES(name_)                                                                             \
    ENTRY(vkCreate##name_, create_##name_), ENTRY(vkDestroy##name_, destroy_##name_)

static const struct entry {
    const char *name;
    PFN_vkVoidFunction function;
    size_t offset; /* in the table */
} entries[] = {
    ENTRIES(Buffer),
    ENTRIES(BufferView),
    ENTRIES(CommandPool),
    ENTRY(vkAllocateCommandBuffers, allocate),
    ENTRY(vkEndCommandBuffer, end),
    ENTRY(vkFreeCommandBuffers, free_buffers),
    ENTRIES(DescriptorSetLayout),
    ENTRIES(Fence),
    ENTRY(vkDestroyPipeline, destroy_Pipeline),
    ENTRIES(PipelineLayout),
    ENTRIES(QueryPool),
    ENTRIES(RenderPass),
    ENTRIES(Sampler),
    ENTRIES(Semaphore),
    ENTRIES(ShaderModule),
};

static const struct entry *entry_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (strlen(entries[i].name) == length && memcmp(entries[i].name, name, length) == 0)
            return &entries[i];
    broken("there is none of the name that begins", name);
    return NULL;
}

/* The table ------------------------------------------------------------------------------------ */

static void each_name(struct VolkDeviceTable *vk, const char *names)
{
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        const struct entry *e = entry_of(names, length);
        if (vk)
            memcpy((char *)vk + e->offset, &e->function, sizeof(e->function));
        else
            fake_override(e->name, e->function);
    }
}

void fake_fill(struct VolkDeviceTable *vk, const char *names)
{
    each_name(vk, names);
}

void fake_use(const char *names)
{
    each_name(NULL, names);
}

void fake_override(const char *name, PFN_vkVoidFunction function)
{
    if (override_count == OVERRIDES)
        broken("too many overrides, the last one is", name);
    snprintf(overrides[override_count].name, sizeof(overrides[0].name), "%s", name);
    overrides[override_count++].function = function;
}

PFN_vkVoidFunction fake_find(const char *name)
{
    for (uint32_t i = override_count; i-- > 0;)
        if (strcmp(overrides[i].name, name) == 0)
            return overrides[i].function;
    return NULL;
}

static uint64_t stub(void)
{
    return 0;
}

PFN_vkVoidFunction fake_stub(void)
{
    return (PFN_vkVoidFunction)stub;
}
