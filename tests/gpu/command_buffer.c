/* SPDX-License-Identifier: MIT */
/* What the layer tells the runtime of command buffers (guarantee K-1, gpu/command_buffer.h): the
 * family that the program sees and the level, from allocation to the end, on devices of every shape
 * and when memory runs out. */
#include "layer/fake.h"

#include "scheduler/scheduler.h"
#include "interface/interface.h"
#include "interface/version.h"
#include "support/queue_flags.h"

/* Memory that runs out: the layer and the library find this calloc before libc's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAY_RUN_OUT false /* there it is the sanitizer's */
static int until_failure = -1;
#else
#define MAY_RUN_OUT true
static int until_failure = -1; /* -1: never */

void *__libc_calloc(size_t count, size_t size);

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    if (until_failure > 0)
        until_failure--;
    else if (until_failure == 0)
        return NULL;
    return __libc_calloc(count, size);
}
#endif

static VkCommandBuffer given_back[64]; /* to the driver, which gives out the last one first */
static uint32_t freed;

static VkResult VKAPI_CALL drv_create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkCommandPool *pool)
{
    assert_true(info->queueFamilyIndex < fake.driver.family_count);
    return fake_make(device, VK_OBJECT_TYPE_COMMAND_POOL, allocator, (uint64_t *)pool);
}

static void VKAPI_CALL drv_free(VkDevice device, VkCommandPool pool, uint32_t count,
                                const VkCommandBuffer *buffers)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!buffers[i])
            continue;
        given_back[freed++ % 64] = buffers[i];
        fake_unmake(VK_OBJECT_TYPE_COMMAND_BUFFER, (uintptr_t)buffers[i], NULL);
    }
}

static void open_driver(const struct fake_driver *driver, const uint32_t *counts)
{
    freed = 0;
    fake_start(driver);
    FAKE_OVERRIDE(vkCreateCommandPool, drv_create_pool);
    fake_use("vkAllocateCommandBuffers vkDestroyCommandPool");
    FAKE_OVERRIDE(vkFreeCommandBuffers, drv_free);
    fake_open_device(counts);
}

/* The runtime's device, by way of a queue. */
static struct bf_gpu *runtime(void)
{
    VkQueue queue = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
    assert_ptr_not_equal(queue, fake_queue(0, 0, 0));
    return &((struct bf_queue *)queue)->scheduler->gpu;
}

static VkResult try_pool(uint32_t family, VkCommandPool *pool)
{
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                          .queueFamilyIndex = family};
    return FAKE_CALL(vkCreateCommandPool, fake.device, &info, NULL, pool);
}

static VkCommandPool make_pool(uint32_t family)
{
    VkCommandPool pool;
    assert_success(try_pool(family, &pool));
    return pool;
}

static VkResult try_allocate(VkCommandPool pool, VkCommandBufferLevel level, uint32_t count,
                             VkCommandBuffer *buffers)
{
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = pool, .level = level,
                                              .commandBufferCount = count};
    return FAKE_CALL(vkAllocateCommandBuffers, fake.device, &info, buffers);
}

static void free_buffers(VkCommandPool pool, uint32_t count, const VkCommandBuffer *buffers)
{
    FAKE_CALL(vkFreeCommandBuffers, fake.device, pool, count, buffers);
}

static void destroy_pool(VkCommandPool pool)
{
    FAKE_CALL(vkDestroyCommandPool, fake.device, pool, NULL);
}

#define PRIMARY   VK_COMMAND_BUFFER_LEVEL_PRIMARY
#define SECONDARY VK_COMMAND_BUFFER_LEVEL_SECONDARY

/* As the layer asks the library. */
static bool find(struct bf_gpu *gpu, VkCommandBuffer buffer, uint32_t *family,
                 VkCommandBufferLevel *level)
{
    return bf_layer_interface(BF_LAYER_INTERFACE_VERSION)
        ->gpu.bf_command_buffer_find(gpu, buffer, family, level);
}

static void assert_known(VkCommandBuffer buffer, uint32_t family, VkCommandBufferLevel level)
{
    uint32_t found_family = UINT32_MAX;
    VkCommandBufferLevel found_level = VK_COMMAND_BUFFER_LEVEL_MAX_ENUM;
    assert_true(find(runtime(), buffer, &found_family, &found_level));
    assert_int_equal(found_family, family);
    assert_int_equal(found_level, level);
}

static void assert_unknown(VkCommandBuffer buffer)
{
    uint32_t family = 77;
    VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_MAX_ENUM;
    assert_false(find(runtime(), buffer, &family, &level));
    assert_int_equal(family, 77);
    assert_int_equal(level, VK_COMMAND_BUFFER_LEVEL_MAX_ENUM);
}

/* Shown: 0 everything; appended 1 compute and 2 copy. */
static const struct fake_driver universal = {.family_count = 1,
                                             .families = {{G | C | T, 2, 64, {1, 1, 1}}}};
/* One of each: nothing is appended, so no family need be translated. */
static const struct fake_driver complete = {
    .family_count = 3,
    .families = {{G | C | T, 2, 64, {1, 1, 1}}, {C | T, 2, 64, {1, 1, 1}}, {T, 2, 64, {1, 1, 1}}}};
static const uint32_t one_each[] = {1, 1, 1, 0};

TEST(test_family_as_shown_and_level_until_freed)
{
    const struct fake_driver *drivers[] = {&universal, &complete};
    for (size_t d = 0; d < 2; d++) {
        open_driver(drivers[d], one_each);
        VkCommandBuffer buffers[3][4];
        VkCommandPool pools[3];
        for (uint32_t f = 0; f < 3; f++) {
            pools[f] = make_pool(f);
            assert_success(try_allocate(pools[f], PRIMARY, 2, buffers[f]));
            assert_success(try_allocate(pools[f], SECONDARY, 2, buffers[f] + 2));
        }
        for (uint32_t f = 0; f < 3; f++)
            for (uint32_t i = 0; i < 4; i++)
                assert_known(buffers[f][i], f, i < 2 ? PRIMARY : SECONDARY);
        /* Freed ones are forgotten, and nothing else; NULL among them is legal. */
        const VkCommandBuffer some[] = {buffers[1][0], VK_NULL_HANDLE, buffers[1][3]};
        free_buffers(pools[1], 3, some);
        assert_unknown(buffers[1][0]);
        assert_unknown(buffers[1][3]);
        assert_known(buffers[1][1], 1, PRIMARY);
        assert_known(buffers[1][2], 1, SECONDARY);
        /* The driver gives the handles out again, for another family and level. */
        VkCommandBuffer again[2];
        assert_success(try_allocate(pools[2], SECONDARY, 2, again));
        assert_ptr_equal(again[0], buffers[1][3]);
        assert_known(again[0], 2, SECONDARY);
        assert_known(again[1], 2, SECONDARY);
        /* What goes with a pool is its own: not what it once had. */
        destroy_pool(pools[1]);
        assert_unknown(buffers[1][1]);
        assert_unknown(buffers[1][2]);
        assert_known(again[0], 2, SECONDARY);
        assert_known(buffers[0][0], 0, PRIMARY);
        destroy_pool(pools[0]);
        destroy_pool(pools[2]);
        assert_unknown(again[0]);
        assert_unknown(buffers[0][0]);
        fake_close();
    }
}

/* Command buffers of a device that goes with them, and of one that is passed through. */
TEST(test_ends_with_the_device)
{
    open_driver(&complete, one_each);
    VkCommandBuffer buffers[2];
    assert_success(try_allocate(make_pool(1), PRIMARY, 2, buffers));
    assert_known(buffers[0], 1, PRIMARY);
    fake_close(); /* the address sanitizer sees what is left */

    lines_begin();
    struct fake_driver incapable = complete;
    incapable.no_sync2 = true;
    open_driver(&incapable, one_each);
    assert_int_equal(lines_end(NULL, 0), 1);
    VkCommandPool pool = make_pool(1);
    assert_success(try_allocate(pool, PRIMARY, 2, buffers));
    free_buffers(pool, 2, buffers);
    assert_int_equal(freed, 2);
    destroy_pool(pool);
    fake_close();
}

/* With memory running out at each allocation in turn: a family that is one with no other below
 * loses no more than the knowledge; where barriers need it, the call fails whole. */
TEST(test_out_of_memory)
{
    if (!MAY_RUN_OUT)
        skip();
    for (uint32_t d = 0; d < 2; d++) {
        bool needed = d == 0, failed = true;
        uint32_t failures = 0;
        for (int n = 0; failed; n++) {
            open_driver(needed ? &universal : &complete, one_each);
            /* Were the pool's maps not to grow, fewer places could fail. */
            VkCommandBuffer buffers[40];
            VkCommandPool pool;
            until_failure = n;
            VkResult made = try_pool(1, &pool), result = VK_SUCCESS;
            if (made == VK_SUCCESS)
                result = try_allocate(pool, PRIMARY, 40, buffers);
            failed = until_failure == 0;
            until_failure = -1;
            failures += failed;
            assert_true(made == VK_SUCCESS || (needed && failed));
            if (made != VK_SUCCESS) {
                assert_int_equal(made, VK_ERROR_OUT_OF_HOST_MEMORY);
                assert_true(pool == VK_NULL_HANDLE);
            } else if (result != VK_SUCCESS) {
                assert_true(needed && failed);
                assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
                assert_int_equal(freed, 40);
                for (uint32_t i = 0; i < 40; i++) {
                    assert_null(buffers[i]);
                    assert_unknown(given_back[i]);
                }
            } else {
                uint32_t family, known = 0;
                VkCommandBufferLevel level;
                for (uint32_t i = 0; i < 40; i++)
                    known += find(runtime(), buffers[i], &family, &level);
                assert_true(known == 40 || (!needed && failed));
            }
            /* What isn't known is let go as well as what is. */
            if (made == VK_SUCCESS) {
                if (result == VK_SUCCESS)
                    free_buffers(pool, 20, buffers);
                destroy_pool(pool);
                for (uint32_t i = 0; result == VK_SUCCESS && i < 40; i++)
                    assert_unknown(buffers[i]);
            }
            fake_close();
        }
        assert_true(failures >= 4); /* the pool, the list of pools, its buffers, all buffers */
    }
}
