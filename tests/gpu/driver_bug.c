/* SPDX-License-Identifier: MIT */
/* Which drivers have which bugs, by what they say of their version. */
#include "support/test.h"

#include "gpu/driver_bug.h"

#define LATE    BF_DRIVER_BUG_LATE_WAIT_POINTS
#define UNTAKEN BF_DRIVER_BUG_UNTAKEN_DESCRIPTORS

TEST(versions)
{
    static const struct {
        VkDriverId id;
        const char *info;
        uint32_t version, bugs;
    } cases[] = {
        /* What Debian 12, its backports and sid have had. */
        {VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 22.3.6 (LLVM 15.0.6)", 1, LATE},
        {VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", 1, LATE | UNTAKEN},
        {VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 26.2.6-1 (LLVM 22.1.8)", VK_MAKE_VERSION(26, 2, 6), 0},
        /* Without the text the number counts. */
        {VK_DRIVER_ID_MESA_LLVMPIPE, "", VK_MAKE_VERSION(26, 1, 9), LATE | UNTAKEN},
        {VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa of mine", VK_MAKE_VERSION(26, 2, 0), 0},
        {VK_DRIVER_ID_MESA_RADV, "Mesa 22.3.6", VK_MAKE_VERSION(22, 3, 6), 0},
        {0, "", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        VkPhysicalDeviceDriverProperties driver = {.driverID = cases[i].id};
        strcpy(driver.driverInfo, cases[i].info);
        assert_int_equal(bf_driver_bugs_of(&driver, cases[i].version), cases[i].bugs);
    }
    assert_int_equal(bf_driver_bugs_of(NULL, 0), 0);
}
