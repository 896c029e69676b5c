/* SPDX-License-Identifier: MIT */
/* A driver's name and version are what its vendor shows its users. */
#include "support/test.h"

#include "gpu/driver_name.h"

#define NVIDIA(a, b, c, d) ((uint32_t)(a) << 22 | (b) << 14 | (c) << 6 | (d))

TEST(names)
{
    static const struct {
        VkDriverId id;
        const char *name, *info;
        uint32_t vendor, version;
        const char *expected;
    } cases[] = {
        {VK_DRIVER_ID_MESA_LLVMPIPE, "llvmpipe", "Mesa 22.3.6 (LLVM 15.0.6)", 0x10005, 1,
         "llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)"},
        {VK_DRIVER_ID_NVIDIA_PROPRIETARY, "NVIDIA", "535.183.01", 0x10de, NVIDIA(535, 183, 1, 0),
         "NVIDIA, 535.183.01"},
        {VK_DRIVER_ID_NVIDIA_PROPRIETARY, "NVIDIA", "", 0x10de, NVIDIA(535, 54, 3, 0),
         "NVIDIA 535.54.03"},
        {0, "", "", 0x10de, NVIDIA(390, 77, 5, 2), "driver version 390.77.05.2"},
        /* Mesa's driver for the same cards packs as everybody does. */
        {VK_DRIVER_ID_MESA_NVK, "NVK", "", 0x10de, VK_MAKE_API_VERSION(0, 24, 1, 2), "NVK 24.1.2"},
        {0, "", "", 0x1002, VK_MAKE_API_VERSION(0, 2, 0, 259), "driver version 2.0.259"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        VkPhysicalDeviceProperties properties = {.vendorID = cases[i].vendor,
                                                 .driverVersion = cases[i].version};
        VkPhysicalDeviceDriverProperties driver = {.driverID = cases[i].id};
        strcpy(driver.driverName, cases[i].name);
        strcpy(driver.driverInfo, cases[i].info);
        char text[BF_DRIVER_NAME_SIZE];
        bf_driver_describe(&properties, &driver, text);
        assert_string_equal(text, cases[i].expected);
        if (!cases[i].id) {
            bf_driver_describe(&properties, NULL, text);
            assert_string_equal(text, cases[i].expected);
        }
    }
}
