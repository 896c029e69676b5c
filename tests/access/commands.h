/* SPDX-License-Identifier: MIT */
/* What the layer tells the check 'access' of each command, and of each way to wait: on a driver of
 * the test's own that does nothing, two queues use something at the same time, one after another in
 * the order of calls. The first use is a plain one, on the copy queue; the second is the command
 * that is tested, on the graphics queue. What the report says of it is compared.
 *
 * Functions fail the test when something is amiss. */
#ifndef BELFRY_TEST_ACCESS_COMMANDS_H
#define BELFRY_TEST_ACCESS_COMMANDS_H

#include "../layer/fake.h"

enum { GRAPHICS = 0, COPY = 1 };

/* Families: everything, and copies. */
extern const struct fake_driver commands_driver;

#define IMAGES 6
enum { PLAIN, OTHER, COMPRESSED, DEPTH_STENCIL, VOLUME, PLANAR };

/* What the commands use, in an open world; buffer and images are called 'it'. */
struct commands_used {
    VkQueue queues[2];
    VkCommandPool pools[2];
    VkBuffer buffer, other, scratch;
    VkImage images[IMAGES];
    VkSemaphore timeline;
};
extern struct commands_used used;

/* What the driver says a timeline's counter is. */
extern uint64_t counter_value;

/* The driver knows the newer commands by their extensions' names alone. */
extern bool only_khr;

/* A command by whichever name the driver has. */
PFN_vkVoidFunction find_command2(const char *command, const char *suffix);
#define CALL2(name) ((PFN_##name)find_command2(#name, "KHR"))

/* Under both names; they are looked at until the driver is closed. */
#define OVERRIDE2(name, function)                                                                  \
    do {                                                                                           \
        fake_override(#name, (PFN_vkVoidFunction)(function));                                      \
        fake_override(#name "KHR", (PFN_vkVoidFunction)(function));                                \
    } while (0)

/* A device under check=access, with all that is used. */
void open_world(void);
void close_world(void);

VkCommandBuffer allocate_commands(uint32_t family, VkCommandBufferLevel level);
VkCommandBuffer begin_commands(uint32_t family);
void end_commands(VkCommandBuffer buffer);
VkBuffer make_buffer(VkDeviceSize size);
VkSemaphore make_semaphore(bool timeline);
VkImageView make_view(uint32_t image, uint32_t mip, uint32_t layer, uint32_t layers,
                      VkImageViewType type);
/* One batch; VK_NULL_HANDLE leaves a part out. */
void submit_one(uint32_t queue, VkSemaphore wait, uint64_t wait_value, VkCommandBuffer buffer,
                VkSemaphore signal, uint64_t signal_value, VkFence fence);

/* Records a use. Those that functions return do what these were told last. */
typedef void (*record_fn)(VkCommandBuffer buffer);
/* One that is one call. */
#define RECORDER(name_, ...)                                                                       \
    static void name_(VkCommandBuffer buffer)                                                      \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

/* The lines that the two submissions bring, the last one copied to 'line'. */
uint32_t run_both(record_fn first, record_fn second, bool ordered, char *line, size_t size);

/* 'second' does that to what 'first' uses ("reads bytes 0 to 3"); NULL: nothing that matters. */
void expect_named(const char *test, record_fn first, record_fn second, const char *text);
#define EXPECT(first, second, text) expect_named(#first " " #second, first, second, text)

#define COLOR VK_IMAGE_ASPECT_COLOR_BIT

/* First uses: the buffer's bytes from 'first' to before 'last'; a whole subresource; a texel block
 * of the image that is read; texels of two subresources of the plain image. */
record_fn writing(VkDeviceSize first, VkDeviceSize last);
record_fn reading(VkDeviceSize first, VkDeviceSize last);
void plain_write(VkCommandBuffer buffer); /* what 'writing' returns */
record_fn clearing(uint32_t image, VkImageAspectFlags aspects, uint32_t mip, uint32_t layer);
record_fn sampling(uint32_t image, int32_t x, int32_t y, int32_t z);
void read_mip_3(VkCommandBuffer buffer); /* layer 2 */
void read_mip_1(VkCommandBuffer buffer);

#endif
