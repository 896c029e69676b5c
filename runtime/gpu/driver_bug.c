/* SPDX-License-Identifier: MIT */
/* The table of the drivers' bugs. */
#include "gpu/driver_bug.h"

#include <stddef.h>

static const struct {
    VkDriverId driver;
    uint32_t since, until; /* versions with the bug: since <= version < until */
    uint32_t bug;
} driver_bugs[] = {
    /* Lavapipe, as of Mesa 22.3.6 (Debian 12); Mesa 26.2.6 is without.
     *
     * What is wrong: its timelines are emulated (vk_sync_timeline), and the thread that submits
     * releases a batch's wait points after the batch's fence and signals can be seen, and installs
     * its signals after the fence can be seen. A program that has seen these may destroy the
     * timelines; the thread then locks freed memory, or leaks the signal. vkQueueWaitIdle and
     * vkDeviceWaitIdle of the driver wait for that thread, too, so many programs are safe. Under
     * Belfry they would not be: its wait for one queue of a shared VkQueue looks at a fence, a
     * value or an epoch.
     *
     * What Belfry does: it keeps a timeline that the program has destroyed until the driver has
     * been waited for (scheduler/retired.h), and destroys its own only then.
     *
     * The test: layer_retired, on the test driver with BELFRY_ICD_BUG=late_wait_points. */
    {VK_DRIVER_ID_MESA_LLVMPIPE, 0, VK_MAKE_VERSION(26, 2, 0), BF_DRIVER_BUG_LATE_WAIT_POINTS},
};

uint32_t bf_driver_bugs_of(VkDriverId driver, uint32_t version)
{
    uint32_t bugs = 0;
    for (size_t i = 0; i < sizeof(driver_bugs) / sizeof(driver_bugs[0]); i++) {
        if (driver_bugs[i].driver == driver && version >= driver_bugs[i].since &&
            version < driver_bugs[i].until)
            bugs |= driver_bugs[i].bug;
    }
    return bugs;
}
