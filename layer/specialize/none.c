/* SPDX-License-Identifier: MIT */
/* The functions of interface.h in a layer that was built without the specialiser
 * (BELFRY_SPECIALIZE=OFF): they do nothing. */
#include "layer/specialize/interface.h"

#include "base/message.h"
#include "layer/layer.h"

void layer_specialize_instance_create(struct layer_instance *instance,
                                      const VkInstanceCreateInfo *info)
{
    (void)instance, (void)info;
}

void layer_specialize_instance_destroy(struct layer_instance *instance)
{
    (void)instance;
}

void layer_specialize_create(struct layer_device *device, const VkDeviceCreateInfo *made)
{
    (void)made;
    const struct bf_settings *settings = &device->instance->settings;
    if (settings->specialize != BF_SPECIALIZE_OFF &&
        bf_settings_source(settings, BF_KEY_SPECIALIZE) != BF_SETTING_DEFAULT)
        bf_message(BF_MESSAGE_WARNING,
                   "specialize is off: this build of Belfry was made without it");
}

void layer_specialize_destroy(struct layer_device *device)
{
    (void)device;
}

void layer_specialize_asked(struct layer_device *device, const char *name)
{
    (void)device, (void)name;
}
