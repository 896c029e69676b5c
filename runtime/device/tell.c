/* SPDX-License-Identifier: MIT */
/* Tells a device, its families and the settings it has been created with. */
#include "device/tell.h"

#include <stdio.h>

#include "base/message.h"

const char *bf_family_flags_text(VkQueueFlags flags, char *buffer, size_t size)
{
    static const struct {
        VkQueueFlags bit;
        const char *name;
    } names[] = {
        {VK_QUEUE_GRAPHICS_BIT, "graphics"},   {VK_QUEUE_COMPUTE_BIT, "compute"},
        {VK_QUEUE_TRANSFER_BIT, "transfer"},   {VK_QUEUE_SPARSE_BINDING_BIT, "sparse"},
        {VK_QUEUE_PROTECTED_BIT, "protected"}, {0x00000020, "video-decode"},
        {0x00000040, "video-encode"},          {0x00000100, "optical-flow"},
    };
    size_t length = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (flags & names[i].bit && length < size) {
            length += (size_t)snprintf(buffer + length, size - length, "%s%s", length ? " " : "",
                                       names[i].name);
            flags &= ~names[i].bit;
        }
    }
    if (flags && length < size) {
        snprintf(buffer + length, size - length, "%s+0x%x", length ? " " : "", flags);
    }
    return buffer;
}

static void family_tell(const struct bf_family_map *map, uint32_t index)
{
    const struct bf_family *family = &map->shown[index];
    uint32_t real = map->real_queues[family->real];
    char flags[128], how[64] = "";
    if (family->appended)
        snprintf(how, sizeof(how), ", emulated on family %u", family->real);
    else if (family->count > real)
        snprintf(how, sizeof(how), ", %u of them emulated", family->count - real);
    bf_message(BF_MESSAGE_INFO, "  family %u: %s, %u queue%s%s", index,
               bf_family_flags_text(family->flags, flags, sizeof(flags)), family->count,
               family->count == 1 ? "" : "s", how);
}

void bf_device_tell(const struct bf_device_tell *tell)
{
    char spares[32] = "", reserved[64] = "";
    if (tell->spare_count)
        snprintf(spares, sizeof(spares), ", %u of them spare", tell->spare_count);
    if (tell->reserved_count)
        snprintf(reserved, sizeof(reserved), ", %u of raised global priority",
                 tell->reserved_count);
    bf_message(BF_MESSAGE_INFO, "%s: %s (%s), %u of its VkQueues in use%s%s", tell->call,
               tell->device, tell->driver, tell->engine_count, spares, reserved);
    for (uint32_t i = 0; i < tell->map->shown_count; i++)
        family_tell(tell->map, i);
    static const char *const sources[] = {
        [BF_SETTING_API] = "the program",
        [BF_SETTING_FILE] = "file",
        [BF_SETTING_ENVIRONMENT] = "environment",
    };
    const struct bf_setting_row *rows;
    uint32_t count = bf_settings_rows(&rows), set = 0;
    for (uint32_t i = 0; i < count; i++) {
        enum bf_setting_source source = bf_settings_source(tell->settings, i);
        if (source == BF_SETTING_DEFAULT)
            continue;
        char value[512];
        bf_message(BF_MESSAGE_INFO, "  %s = %s (%s: %s)", rows[i].key,
                   bf_settings_value(tell->settings, i, value, sizeof(value)), sources[source],
                   bf_settings_origin(tell->settings, i));
        set++;
    }
    bf_message(BF_MESSAGE_INFO, "  %s settings have their defaults", set ? "all other" : "all");
}
