/* SPDX-License-Identifier: MIT */
/* How a helper waits for what it has submitted. [IS-14] */
#include "support/test.h"

#include "base/clock.h"
#include "base/message.h"
#include "specialize/isolate/helper_wait.h"
#include "specialize/isolate/helper_watch.h"

#define PATIENCE_NS 10000000000u

static struct {
    uint32_t waits, steps;
    uint32_t done_after;   /* so many waits; 0: it never is */
    bool done_at_a_glance; /* when nobody waits */
    bool computes;
    uint64_t waited_ns;
} driver;

void helper_watch_step(void)
{
    driver.steps++;
}

/* Nothing sleeps here. */
static VKAPI_ATTR VkResult VKAPI_CALL driver_wait(VkDevice device, uint32_t count,
                                                  const VkFence *fences, VkBool32 of_all,
                                                  uint64_t timeout)
{
    const uint64_t begun = bf_process_ns();
    assert_int_equal((uintptr_t)device, 7);
    assert_int_equal(count, 1);
    assert_non_null(fences);
    assert_true(of_all);
    driver.waits++;
    driver.waited_ns += timeout;
    while (driver.computes && bf_process_ns() - begun < timeout)
        continue;
    return driver.waits == driver.done_after || (driver.done_at_a_glance && !timeout) ? VK_SUCCESS
                                                                                      : VK_TIMEOUT;
}

static VkResult wait_on(bool cpu, uint64_t timeout)
{
    static struct bf_gpu gpu;
    const VkFence fence = VK_NULL_HANDLE;
    gpu.handle = (VkDevice)(uintptr_t)7;
    gpu.vk.vkWaitForFences = driver_wait;
    helper_wait_take(&gpu, cpu);
    driver.waits = driver.steps = 0;
    driver.waited_ns = 0;
    VkResult result = gpu.vk.vkWaitForFences(gpu.handle, 1, &fence, VK_TRUE, timeout);
    assert_int_equal(driver.steps, 2);
    helper_wait_give_back(&gpu);
    return result;
}

/* In parts, so that while the process is stopped no more than one of them passes. */
TEST(devices_are_waited_for_in_parts)
{
    memset(&driver, 0, sizeof(driver));
    assert_int_equal(wait_on(false, PATIENCE_NS), VK_TIMEOUT);
    assert_true(driver.waits > 10);
    assert_true(driver.waited_ns >= PATIENCE_NS);
    driver.done_after = 9;
    assert_success(wait_on(false, PATIENCE_NS));
    assert_int_equal(driver.waits, 9);
    driver.done_after = 0;
    driver.done_at_a_glance = true;
    assert_success(wait_on(false, PATIENCE_NS));
    assert_success(wait_on(false, 0));
    assert_int_equal(driver.waits, 1);
}

/* Where it is this process that computes, waiting alone is none of the work's time. */
TEST(processors_are_waited_for_as_long_as_it_takes)
{
    memset(&driver, 0, sizeof(driver));
    driver.done_after = 10000;
    assert_success(wait_on(true, PATIENCE_NS));
    assert_int_equal(driver.waits, 10000);
    driver.done_after = 0;
    driver.computes = true;
    assert_int_equal(wait_on(true, PATIENCE_NS / 1000), VK_TIMEOUT);
}

/* Two devices at a time, one after the other. */
TEST(devices_that_are_gone_are_forgotten)
{
    memset(&driver, 0, sizeof(driver));
    driver.done_after = 1;
    for (uint32_t i = 0; i < 5; i++)
        assert_success(wait_on(i & 1, PATIENCE_NS));
    struct bf_gpu none = {.handle = VK_NULL_HANDLE};
    helper_wait_give_back(&none);
}
