/* SPDX-License-Identifier: MIT */
/* Device memory, which is the process's own, and how the device reads and writes it. */
#include "icd.h"

#define MEMORY(handle_) ICD_FROM(icd_memory, ICD_KIND_MEMORY, handle_)

/* Words ------------------------------------------------------------------------------------- */

static bool aligned(const void *at, uintptr_t unit)
{
    return ((uintptr_t)at & (unit - 1)) == 0;
}

/* The next 8, 4 and 1 bytes to copy, in as few reads as their alignment allows; zeros from NULL. */
static uint8_t load1(const uint8_t *from)
{
    return from ? __atomic_load_n(from, __ATOMIC_ACQUIRE) : 0;
}

static uint32_t load4(const uint8_t *from)
{
    if (from && aligned(from, 4))
        return __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_ACQUIRE);
    uint8_t bytes[4] = {0};
    for (size_t i = 0; from && i < sizeof(bytes); i++)
        bytes[i] = load1(from + i);
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static uint64_t load8(const uint8_t *from)
{
    if (from && aligned(from, 8))
        return __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_ACQUIRE);
    uint32_t halves[2] = {load4(from), load4(from ? from + 4 : NULL)};
    uint64_t word;
    memcpy(&word, halves, sizeof(word));
    return word;
}

/* Copies, or clears if from is NULL. Each aligned word of the target is written at once, whatever
 * the source's alignment is. A store releases all that the queue has written before it: who sees a
 * command's write sees the writes of every command ahead of it. The ranges don't overlap. */
static void device_copy(uint8_t *to, const uint8_t *from, size_t size)
{
    while (size) {
        size_t unit = 1;
        if (size >= 8 && aligned(to, 8)) {
            unit = 8;
            __atomic_store_n((uint64_t *)(void *)to, load8(from), __ATOMIC_RELEASE);
        } else if (size >= 4 && aligned(to, 4)) {
            unit = 4;
            __atomic_store_n((uint32_t *)(void *)to, load4(from), __ATOMIC_RELEASE);
        } else {
            __atomic_store_n(to, load1(from), __ATOMIC_RELEASE);
        }
        to += unit;
        from = from ? from + unit : NULL;
        size -= unit;
    }
}

/* Late writes ------------------------------------------------------------------------------- */

/* What a GPU's caches keep from the host until a barrier sends it there, and then until whatever
 * comes behind that barrier. A word goes past them. */
struct late_write {
    struct late_write *next;
    uint8_t *to;
    size_t size;
    bool due; /* a barrier has sent it */
    uint8_t data[];
};

static struct {
    pthread_mutex_t lock;
    _Atomic bool wanted, any;
    struct late_write *first, **last;
} late = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &late.first};

/* Lets reach the host what is due, and what lies in that memory. */
static void late_writes_land(const uint8_t *data, size_t size)
{
    if (!late.any)
        return;
    pthread_mutex_lock(&late.lock);
    struct late_write **link = &late.first;
    while (*link) {
        struct late_write *write = *link;
        if (!write->due && (write->to >= data + size || write->to + write->size <= data)) {
            link = &write->next;
            continue;
        }
        device_copy(write->to, write->data, write->size);
        *link = write->next;
        free(write);
    }
    late.last = link;
    late.any = late.first != NULL;
    pthread_mutex_unlock(&late.lock);
}

void icd_late_writes_land(void)
{
    late_writes_land(NULL, 0);
}

void icd_late_writes_send(void)
{
    if (!late.any)
        return;
    pthread_mutex_lock(&late.lock);
    for (struct late_write *write = late.first; write; write = write->next)
        write->due = true;
    pthread_mutex_unlock(&late.lock);
}

void icd_late_writes(bool wanted)
{
    late.wanted = wanted;
    if (wanted)
        return;
    icd_late_writes_send();
    icd_late_writes_land();
}

/* A command's write; what it reads may be a late one. */
static void device_write(uint8_t *to, const uint8_t *from, size_t size)
{
    struct late_write *write = NULL;
    late_writes_land(from, from ? size : 0);
    if (late.wanted && size > sizeof(uint64_t))
        write = malloc(sizeof(*write) + size);
    if (!write) {
        device_copy(to, from, size);
        return;
    }
    *write = (struct late_write){.to = to, .size = size};
    device_copy(write->data, from, size);
    pthread_mutex_lock(&late.lock);
    *late.last = write;
    late.last = &write->next;
    late.any = true;
    pthread_mutex_unlock(&late.lock);
}

/* Allocations ------------------------------------------------------------------------------- */

/* The pointer that an allocation imports; NULL for none. */
static void *imported_pointer(const VkMemoryAllocateInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT)
            return ((const VkImportMemoryHostPointerInfoEXT *)s)->pHostPointer;
    return NULL;
}

/* Whether a file's pages lie there, a memfd's among them. */
static bool is_of_a_file(const void *pointer)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;
    while (maps && fgets(line, sizeof(line), maps)) {
        unsigned long first, end, node;
        found = found || (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &first, &end, &node) == 3 &&
                          (uintptr_t)pointer >= first && (uintptr_t)pointer < end && node);
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool import_allowed(const struct icd_device *device, const VkMemoryAllocateInfo *info,
                           const void *pointer)
{
    const char *what = NULL;
    if (!device->enabled[ICD_EXT_EXTERNAL_MEMORY_HOST])
        what = "by a device that hasn't enabled the extension";
    else if ((uintptr_t)pointer % ICD_IMPORT_ALIGNMENT ||
             info->allocationSize % ICD_IMPORT_ALIGNMENT)
        what = "and pointer or size is misaligned";
    else if (!(icd_host_pointer_types(device->config) >> info->memoryTypeIndex & 1))
        what = "into a type that host pointers can't be";
    if (what)
        icd_violation(
            BELFRY_ICD_MEMORY_MISMATCH, "vkAllocateMemory imports %llu bytes at %p as type %u, %s",
            (unsigned long long)info->allocationSize, pointer, info->memoryTypeIndex, what);
    return !what;
}

/* Page-aligned, as the limits promise for mappings. Zeroed, since a fault that shows only with one
 * run's garbage is of no use to a test. NULL when out of memory. */
static uint8_t *pages_new(VkDeviceSize size)
{
    size_t pages = (size + 4095) & ~UINT64_C(4095);
    uint8_t *data = aligned_alloc(4096, pages);
    if (data)
        memset(data, 0, pages);
    return data;
}

static void memory_end(void *object)
{
    struct icd_memory *memory = object;
    late_writes_land(memory->data, memory->size);
    if (memory->host != memory->data)
        free(memory->host);
    if (!memory->imported)
        free(memory->data);
    icd_object_free(memory);
}

static VkResult icd_AllocateMemory(VkDevice device_, const VkMemoryAllocateInfo *pAllocateInfo,
                                   const VkAllocationCallbacks *pAllocator, VkDeviceMemory *pMemory)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pMemory, device);
    if (pAllocateInfo->allocationSize > ICD_MAX_ALLOCATION)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    void *pointer = imported_pointer(pAllocateInfo);
    if (pointer && !import_allowed(device, pAllocateInfo, pointer))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    if (pointer && device->config->host_memory == 2 && is_of_a_file(pointer))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    const struct icd_memory_shape *shape = &device->config->memory;
    if (pAllocateInfo->memoryTypeIndex >= shape->n_types) {
        icd_violation(BELFRY_ICD_MEMORY_MISMATCH, "vkAllocateMemory of type %u of %u",
                      pAllocateInfo->memoryTypeIndex, shape->n_types);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkMemoryPropertyFlags flags = shape->types[pAllocateInfo->memoryTypeIndex].flags;
    struct icd_memory *memory = icd_object_new(device, ICD_KIND_MEMORY, sizeof(*memory));
    if (!memory)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memory->size = pAllocateInfo->allocationSize;
    memory->type = pAllocateInfo->memoryTypeIndex;
    memory->imported = pointer != NULL;
    memory->data = pointer ? pointer : pages_new(memory->size);
    if (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
        memory->host = memory->data;
    else if (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        memory->host = pages_new(memory->size);
    if (!memory->data || (!memory->host && (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))) {
        memory_end(memory);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *pMemory = ICD_HANDLE(VkDeviceMemory, memory);
    return VK_SUCCESS;
}

static void icd_FreeMemory(VkDevice device, VkDeviceMemory memory,
                           const VkAllocationCallbacks *pAllocator)
{
    if (memory)
        icd_object_destroy(MEMORY(memory), memory_end);
}

/* Mappings ---------------------------------------------------------------------------------- */

static VkResult icd_MapMemory(VkDevice device, VkDeviceMemory memory_, VkDeviceSize offset,
                              VkDeviceSize size, VkMemoryMapFlags flags, void **ppData)
{
    ICD_FAULT(ICD_DEV(device));
    struct icd_memory *memory = MEMORY(memory_);
    icd_device_seen(ICD_DEV(device), memory, "vkMapMemory");
    if (offset >= memory->size || (size != VK_WHOLE_SIZE && size > memory->size - offset)) {
        icd_violation(
            BELFRY_ICD_OUT_OF_RANGE, "vkMapMemory of %llu bytes at %llu of memory of %llu",
            (unsigned long long)size, (unsigned long long)offset, (unsigned long long)memory->size);
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    if (!memory->host || memory->mapped)
        icd_violation(BELFRY_ICD_MAPPING, "vkMapMemory of memory of type %u, which %s",
                      memory->type, memory->host ? "is mapped" : "the host can't see");
    if (!memory->host)
        return VK_ERROR_MEMORY_MAP_FAILED;
    memory->mapped = true;
    memory->map_offset = offset;
    memory->map_size = size == VK_WHOLE_SIZE ? memory->size - offset : size;
    *ppData = memory->host + offset;
    return VK_SUCCESS;
}

static void icd_UnmapMemory(VkDevice device, VkDeviceMemory memory_)
{
    struct icd_memory *memory = MEMORY(memory_);
    if (!memory->mapped)
        icd_violation(BELFRY_ICD_MAPPING, "vkUnmapMemory of memory that isn't mapped");
    memory->mapped = false;
}

/* Whether the range is mapped and of whole atoms; *size is its size then. */
static bool mapped_seen(const struct icd_device *device, const VkMappedMemoryRange *range,
                        VkDeviceSize *size, const char *call)
{
    const struct icd_memory *memory = MEMORY(range->memory);
    icd_device_seen(device, memory, call);
    VkDeviceSize begin = memory->map_offset, end = begin + memory->map_size;
    const char *what = NULL;
    if (!memory->mapped)
        what = "which isn't mapped";
    else if (range->offset < begin || range->offset > end)
        what = "which begins outside the mapping";
    else if (range->size != VK_WHOLE_SIZE && range->size > end - range->offset)
        what = "which ends outside the mapping";
    else if (range->offset % ICD_ATOM || (range->size != VK_WHOLE_SIZE && range->size % ICD_ATOM &&
                                          range->offset + range->size != memory->size))
        what = "which isn't of whole atoms";
    if (what) {
        icd_violation(BELFRY_ICD_MAPPING, "%s of %llu bytes at %llu of memory of %llu, %s", call,
                      (unsigned long long)range->size, (unsigned long long)range->offset,
                      (unsigned long long)memory->size, what);
        return false;
    }
    *size = range->size == VK_WHOLE_SIZE ? end - range->offset : range->size;
    return true;
}

/* What isn't coherent is two copies, and nothing but these calls carries words from one to the
 * other: who forgets them sees it every time. */
static VkResult icd_FlushMappedMemoryRanges(VkDevice device_, uint32_t memoryRangeCount,
                                            const VkMappedMemoryRange *pMemoryRanges)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    icd_count(ICD_COUNT_FLUSH, memoryRangeCount);
    for (uint32_t i = 0; i < memoryRangeCount; i++) {
        const VkMappedMemoryRange *range = &pMemoryRanges[i];
        const struct icd_memory *memory = MEMORY(range->memory);
        VkDeviceSize size;
        if (mapped_seen(device, range, &size, "vkFlushMappedMemoryRanges") &&
            memory->host != memory->data)
            device_copy(memory->data + range->offset, memory->host + range->offset, size);
    }
    return VK_SUCCESS;
}

static VkResult icd_InvalidateMappedMemoryRanges(VkDevice device_, uint32_t memoryRangeCount,
                                                 const VkMappedMemoryRange *pMemoryRanges)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    icd_count(ICD_COUNT_INVALIDATE, memoryRangeCount);
    for (uint32_t i = 0; i < memoryRangeCount; i++) {
        const VkMappedMemoryRange *range = &pMemoryRanges[i];
        const struct icd_memory *memory = MEMORY(range->memory);
        VkDeviceSize size;
        if (mapped_seen(device, range, &size, "vkInvalidateMappedMemoryRanges") &&
            memory->host != memory->data)
            device_copy(memory->host + range->offset, memory->data + range->offset, size);
    }
    return VK_SUCCESS;
}

static VkResult icd_GetMemoryHostPointerPropertiesEXT(VkDevice device_,
                                                      VkExternalMemoryHandleTypeFlagBits handleType,
                                                      const void *pHostPointer,
                                                      VkMemoryHostPointerPropertiesEXT *pProperties)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    pProperties->memoryTypeBits = 0;
    if (handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    if ((uintptr_t)pHostPointer % ICD_IMPORT_ALIGNMENT) {
        icd_violation(BELFRY_ICD_MEMORY_MISMATCH,
                      "vkGetMemoryHostPointerPropertiesEXT of %p, which is misaligned",
                      pHostPointer);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    pProperties->memoryTypeBits = icd_host_pointer_types(device->config);
    return VK_SUCCESS;
}

static void icd_GetDeviceMemoryCommitment(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize *pCommitted)
{
    *pCommitted = MEMORY(memory)->size;
}

static uint64_t
icd_GetDeviceMemoryOpaqueCaptureAddress(VkDevice device,
                                        const VkDeviceMemoryOpaqueCaptureAddressInfo *pInfo)
{
    return 0;
}

/* Access ------------------------------------------------------------------------------------ */

/* Where offset of the buffer lies, NULL if unbound; *run is how far the answer holds, at most what
 * it was before. */
static uint8_t *buffer_at(struct icd_buffer *buffer, VkDeviceSize offset, VkDeviceSize *run)
{
    if (!(buffer->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT))
        return buffer->memory ? buffer->memory->data + buffer->offset + offset : NULL;
    uint8_t *found = NULL;
    for (uint32_t i = buffer->n_ranges; i-- > 0;) {
        const struct icd_sparse_range *range = &buffer->ranges[i];
        if (offset < range->offset) {
            /* A younger bind begins further on and ends this run there. */
            if (range->offset - offset < *run)
                *run = range->offset - offset;
            continue;
        }
        if (offset >= range->offset + range->size)
            continue;
        if (range->offset + range->size - offset < *run)
            *run = range->offset + range->size - offset;
        if (range->memory)
            found = range->memory->data + range->memory_offset + (offset - range->offset);
        break;
    }
    return found;
}

/* Sparse ranges change under the lock, by binds on any queue. Free mode's chained packets run with
 * it held already and nothing binds beside them. */
static bool buffer_lock(const struct icd_buffer *buffer)
{
    if (!(buffer->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) || buffer->unlocked)
        return false;
    icd_lock();
    return true;
}

void icd_buffer_write(struct icd_buffer *buffer, VkDeviceSize offset, const void *data,
                      VkDeviceSize size)
{
    bool locked = buffer_lock(buffer);
    const uint8_t *from = data;
    while (size) {
        VkDeviceSize run = size;
        uint8_t *to = buffer_at(buffer, offset, &run);
        if (to)
            device_write(to, from, run);
        from += run;
        offset += run;
        size -= run;
    }
    if (locked)
        icd_unlock();
}

void icd_buffer_fill(struct icd_buffer *buffer, VkDeviceSize offset, VkDeviceSize size,
                     uint32_t word)
{
    _Alignas(8) uint32_t words[64];
    for (int i = 0; i < 64; i++)
        words[i] = word;
    while (size) {
        /* Pieces end between words of 8 bytes, lest one be written in two. */
        VkDeviceSize run = sizeof(words) - (offset & 7);
        if (run > size)
            run = size;
        icd_buffer_write(buffer, offset, words, run);
        offset += run;
        size -= run;
    }
}

void icd_buffer_copy(struct icd_buffer *from, VkDeviceSize from_offset, struct icd_buffer *to,
                     VkDeviceSize to_offset, VkDeviceSize size)
{
    bool locked = buffer_lock(from) || buffer_lock(to);
    while (size) {
        VkDeviceSize run = size;
        const uint8_t *source = buffer_at(from, from_offset, &run);
        uint8_t *target = buffer_at(to, to_offset, &run);
        /* Unbound memory reads as zero and swallows what is written. */
        if (target)
            device_write(target, source, run);
        from_offset += run;
        to_offset += run;
        size -= run;
    }
    if (locked)
        icd_unlock();
}

void icd_buffer_bind(struct icd_buffer *buffer, const VkSparseMemoryBind *bind)
{
    struct icd_sparse_range range = {.offset = bind->resourceOffset,
                                     .size = bind->size,
                                     .memory = bind->memory ? MEMORY(bind->memory) : NULL,
                                     .memory_offset = bind->memoryOffset};
    /* The same range again replaces the bind, or a program that rebinds for ever would grow. */
    for (uint32_t i = 0; i < buffer->n_ranges; i++) {
        if (buffer->ranges[i].offset == range.offset && buffer->ranges[i].size == range.size) {
            memmove(&buffer->ranges[i], &buffer->ranges[i + 1],
                    (buffer->n_ranges - i - 1) * sizeof(range));
            buffer->n_ranges--;
            break;
        }
    }
    struct icd_sparse_range *ranges =
        realloc(buffer->ranges, (buffer->n_ranges + 1) * sizeof(range));
    if (!ranges)
        return;
    buffer->ranges = ranges;
    buffer->ranges[buffer->n_ranges++] = range;
}

const struct icd_entry icd_memory_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, AllocateMemory),
    ICD_CORE(ICD_DEVICE, 0, FreeMemory),
    ICD_CORE(ICD_DEVICE, 0, MapMemory),
    ICD_CORE(ICD_DEVICE, 0, UnmapMemory),
    ICD_CORE(ICD_DEVICE, 0, FlushMappedMemoryRanges),
    ICD_CORE(ICD_DEVICE, 0, InvalidateMappedMemoryRanges),
    ICD_CORE(ICD_DEVICE, 0, GetDeviceMemoryCommitment),
    ICD_EXTRA(ICD_DEVICE, ICD_EXT_EXTERNAL_MEMORY_HOST, GetMemoryHostPointerPropertiesEXT,
              GetMemoryHostPointerPropertiesEXT),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_BUFFER_DEVICE_ADDRESS, GetDeviceMemoryOpaqueCaptureAddress),
    ICD_END};
