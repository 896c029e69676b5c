/* SPDX-License-Identifier: MIT */
/* Reads a device's clock and the CPU's together, and again where that took long. */
#include "trace/clock_reading.h"

#include <stdbool.h>

#include "base/clock.h"

/* A reading that took no longer than this isn't repeated. */
#define PROMPT_NS 2000u

VkResult bf_clock_reading_take(VkDevice device, PFN_vkGetCalibratedTimestampsEXT get, int tries,
                               struct bf_clock_reading *reading)
{
    const VkCalibratedTimestampInfoEXT infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT},
    };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < tries && best > PROMPT_NS; i++) {
        uint64_t times[2], deviation;
        uint64_t before = bf_now_ns();
        VkResult result = get(device, 2, infos, times, &deviation);
        if (result != VK_SUCCESS)
            return result;
        uint64_t duration = bf_now_ns() - before;
        uint64_t length = deviation < UINT64_MAX - duration ? duration + deviation : UINT64_MAX;
        if (i > 0 && length >= best)
            continue;
        best = length;
        /* A driver may not notice that its thread was interrupted: then its deviation is too
         * small. */
        bool driver_knows = duration <= BF_CLOCK_READING_DOUBT_NS && duration >= deviation;
        *reading = (struct bf_clock_reading){
            .ticks = times[0], .ns = times[1], .bound_ns = driver_knows ? deviation : duration};
    }
    return VK_SUCCESS;
}
