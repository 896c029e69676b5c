/* SPDX-License-Identifier: MIT */
/* The table of the drivers' bugs. */
#include "gpu/driver_bug.h"

#include <stddef.h>
#include <stdio.h>

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
    /* Lavapipe of Mesa 25.0.7; 22.3.6 and 26.2.6 are without, and of those between nothing is
     * known.
     *
     * What is wrong: both ways of a branch are gone, with the results of one of them masked, and so
     * an array of descriptors is read on the way that isn't taken, too, with whatever index it has
     * there. What it finds behind the set's end it takes for an address, and dies.
     *
     * What Belfry does: a shader that indexes descriptors has no dry run (specialize/dry_run), and
     * so is uncheckable.
     *
     * The test: specialize_dry_run_device, descriptors; it dies there without its first lines. */
    {VK_DRIVER_ID_MESA_LLVMPIPE, VK_MAKE_VERSION(23, 0, 0), VK_MAKE_VERSION(26, 2, 0),
     BF_DRIVER_BUG_UNTAKEN_DESCRIPTORS},
};

/* Lavapipe has had a number of its own for some time, 0.0.1; Mesa's is in its text. */
static uint32_t version_find(const VkPhysicalDeviceDriverProperties *driver, uint32_t version)
{
    unsigned major, minor, patch;
    if (driver->driverID == VK_DRIVER_ID_MESA_LLVMPIPE &&
        sscanf(driver->driverInfo, "Mesa %3u.%3u.%3u", &major, &minor, &patch) == 3)
        return VK_MAKE_VERSION(major, minor, patch);
    return version;
}

uint32_t bf_driver_bugs_of(const VkPhysicalDeviceDriverProperties *driver, uint32_t version)
{
    uint32_t bugs = 0;
    if (!driver)
        return 0;
    version = version_find(driver, version);
    for (size_t i = 0; i < sizeof(driver_bugs) / sizeof(driver_bugs[0]); i++) {
        if (driver_bugs[i].driver == driver->driverID && version >= driver_bugs[i].since &&
            version < driver_bugs[i].until)
            bugs |= driver_bugs[i].bug;
    }
    return bugs;
}
