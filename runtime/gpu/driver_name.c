/* SPDX-License-Identifier: MIT */
/* Writes a driver's name and version. */
#include "gpu/driver_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define VENDOR_NVIDIA 0x10de

static void version_write(const VkPhysicalDeviceProperties *properties,
                          const VkPhysicalDeviceDriverProperties *driver, char *text, size_t size)
{
    uint32_t v = properties->driverVersion;
    bool nvidia = driver && driver->driverID ? driver->driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY
                                             : properties->vendorID == VENDOR_NVIDIA;
    int length;
    if (!nvidia)
        length = snprintf(text, size, "%u.%u.%u", VK_API_VERSION_MAJOR(v), VK_API_VERSION_MINOR(v),
                          VK_API_VERSION_PATCH(v));
    else /* 10, 8, 8 and 6 bits: 535.183.01 */
        length = snprintf(text, size, "%u.%02u.%02u", v >> 22, v >> 14 & 0xff, v >> 6 & 0xff);
    if (nvidia && (v & 0x3f))
        snprintf(text + length, size - (size_t)length, ".%u", v & 0x3f);
}

void bf_driver_describe(const VkPhysicalDeviceProperties *properties,
                        const VkPhysicalDeviceDriverProperties *driver, char *text)
{
    char version[64];
    version_write(properties, driver, version, sizeof(version));
    if (driver && driver->driverName[0])
        snprintf(text, BF_DRIVER_NAME_SIZE, "%.*s%s%.*s", VK_MAX_DRIVER_NAME_SIZE,
                 driver->driverName, driver->driverInfo[0] ? ", " : " ", VK_MAX_DRIVER_INFO_SIZE,
                 driver->driverInfo[0] ? driver->driverInfo : version);
    else
        snprintf(text, BF_DRIVER_NAME_SIZE, "driver version %s", version);
}
