/* SPDX-License-Identifier: MIT */
/* What the test driver's own tests stand on: an instance, a device with every queue of its shape,
 * and short forms of the calls they make over and over. Single-threaded, as volk's global functions
 * are. */
#ifndef BELFRY_TEST_ICD_FIXTURE_H
#define BELFRY_TEST_ICD_FIXTURE_H

#include "support/device.h"

#define FIXTURE_DEVICES 4
#define FIXTURE_WORDS   1024

struct fixture {
    DEVICE_BASE;
    VkPhysicalDevice physicals[FIXTURE_DEVICES]; /* by deviceID: the loader has its own order */
    uint32_t n_physicals;
};

/* The instance alone. environment is "NAME=value NAME=value", set for vkCreateInstance only, may be
 * NULL; names get BELFRY_ICD_ in front. Fails the test when anything fails. */
void fixture_open_instance(struct fixture *f, const char *environment);
/* The instance, and the device with its pool and buffer. */
void fixture_open(struct fixture *f, const char *environment);
/* The same under the Khronos validation layer, with synchronisation validation. Skips the test
 * where the layer isn't installed; what it says is printed and counted in messages. */
void fixture_open_validated(struct fixture *f, const char *environment);
void fixture_open_validated_instance(struct fixture *f, const char *environment);
/* The device for an open instance; returns what vkCreateDevice returned. */
VkResult fixture_open_device(struct fixture *f, const void *next);
/* Another physical device of the same instance, its device open; or the same one a second time.
 * Close it with device_close before the first is closed. */
void fixture_open_beside(struct fixture *f, const struct fixture *first, uint32_t ordinal);
/* Everything; fails the test when the driver has counted any violation since the start, or since
 * vulkan_expect was last called. */
void fixture_close(struct fixture *f);

/* A test on a fixture that is open from its beginning to its end, 'f'. */
#define FIXTURE_TEST(name_, environment_)                                                          \
    static void name_##_on(struct fixture *f);                                                     \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct fixture f;                                                                          \
        fixture_open(&f, environment_);                                                            \
        name_##_on(&f);                                                                            \
        fixture_close(&f);                                                                         \
    }                                                                                              \
    static void name_##_on(struct fixture *f)

#endif
