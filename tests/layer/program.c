/* SPDX-License-Identifier: MIT */
/* The request of program.h, in a page of its own. */
#include "program.h"

#include <sys/mman.h>

#define MEMORY 65536

void *program_put(struct program *p, const void *data, size_t size)
{
    void *at = p->memory + p->used;
    memcpy(at, data, size);
    p->used += (size + 15) & ~(size_t)15;
    return at;
}

struct program program_of(const uint32_t *counts)
{
    static const float priorities[FAKE_QUEUES] = {0.5f};
    struct program p = {
        .memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        .info = {VK_TYPE(DEVICE_CREATE_INFO)}};
    assert_ptr_not_equal(p.memory, MAP_FAILED);
    const float *own = program_put(&p, priorities, sizeof(priorities));
    VkDeviceQueueCreateInfo queues[FAKE_FAMILIES];
    uint32_t n = 0;
    for (uint32_t f = 0; counts[f] != UINT32_MAX; f++) {
        if (counts[f])
            queues[n++] =
                (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = f,
                                          .queueCount = counts[f], .pQueuePriorities = own};
    }
    p.info.queueCreateInfoCount = n;
    p.info.pQueueCreateInfos = program_put(&p, queues, n * sizeof(*queues));
    return p;
}

void program_close(struct program *p)
{
    munmap(p->memory, MEMORY);
    fake_close();
}

void *program_chain(struct program *p, const void *s, size_t size)
{
    VkBaseOutStructure *copy = program_put(p, s, size);
    copy->pNext = (VkBaseOutStructure *)p->info.pNext;
    p->info.pNext = copy;
    return copy;
}

void program_extensions(struct program *p, const char *const *names)
{
    uint32_t n = 0;
    while (names[n])
        n++;
    p->info.enabledExtensionCount = n;
    p->info.ppEnabledExtensionNames = program_put(p, names, n * sizeof(*names));
}

VkResult program_create_in(struct program *p, int protection)
{
    char *copy = malloc(p->used);
    assert_non_null(copy);
    memcpy(copy, p->memory, p->used);
    assert_int_equal(mprotect(p->memory, MEMORY, protection), 0);
    VkResult result = fake_device(&p->info);
    assert_memory_equal(copy, p->memory, p->used);
    free(copy);
    return result;
}

VkResult program_create(struct program *p)
{
    return program_create_in(p, PROT_READ);
}

bool is_scheduled(void)
{
    VkQueue queue = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
    assert_non_null(queue);
    return queue != fake_queue(0, 0, 0);
}

uint32_t request_has_extension(const struct fake_request *r, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->extension_count; i++)
        n += strcmp(r->extensions[i], name) == 0;
    return n;
}

bool request_has_struct(const struct fake_request *r, VkStructureType type)
{
    for (uint32_t i = 0; i < r->chain_count; i++)
        if (r->chain[i] == type)
            return true;
    return false;
}

bool request_has_at(const struct fake_request *r, const void *at)
{
    for (uint32_t i = 0; i < r->chain_count; i++)
        if (r->chain_at[i] == at)
            return true;
    return false;
}
