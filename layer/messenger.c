/* SPDX-License-Identifier: MIT */
/*
 * Messengers for debug messages. Messages from drivers and lower layers name the driver's queues,
 * which programs don't know: in each message they are replaced by the program's queue on that
 * VkQueue; if there are several, by the first.
 *
 * A messenger chained to vkCreateInstance isn't wrapped: its messages name no objects of a device.
 */
#include "layer/layer.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of objects in a message that are translated; in messages with more they stay
 * as they are. */
#define MESSAGE_OBJECTS 32

struct layer_messenger {
    struct layer_messenger *next;
    uint64_t handle;
    struct layer_instance *instance;
    PFN_vkDebugUtilsMessengerCallbackEXT utils;
    PFN_vkDebugReportCallbackEXT report;
    void *user_data;
};

/* The program's queue on the driver's VkQueue, or the handle itself. A driver may send messages in
 * any call, under any of Belfry's locks, so this takes only a leaf lock. */
static uint64_t shown_queue(struct layer_instance *i, uint64_t handle)
{
    uint64_t shown = handle;
    bf_lock_acquire(&i->devices_lock);
    for (struct layer_device *d = i->devices; d; d = d->next_device) {
        const struct bf_queue *queue =
            d->runtime ? bf_scheduler_queue_on(d->scheduler, (VkQueue)(uintptr_t)handle) : NULL;
        if (queue)
            shown = (uint64_t)(uintptr_t)queue;
    }
    bf_lock_release(&i->devices_lock);
    return shown;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL utils_callback(
    VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
    const VkDebugUtilsMessengerCallbackDataEXT *data, void *user_data)
{
    const struct layer_messenger *m = user_data;
    VkDebugUtilsObjectNameInfoEXT objects[MESSAGE_OBJECTS];
    VkDebugUtilsMessengerCallbackDataEXT copy = *data;
    if (data->objectCount && data->objectCount <= MESSAGE_OBJECTS) {
        memcpy(objects, data->pObjects, data->objectCount * sizeof(*objects));
        for (uint32_t o = 0; o < data->objectCount; o++) {
            if (objects[o].objectType == VK_OBJECT_TYPE_QUEUE)
                objects[o].objectHandle = shown_queue(m->instance, objects[o].objectHandle);
        }
        copy.pObjects = objects;
    }
    return m->utils(severity, types, &copy, m->user_data);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL report_callback(VkDebugReportFlagsEXT flags,
                                                      VkDebugReportObjectTypeEXT type,
                                                      uint64_t object, size_t location,
                                                      int32_t code, const char *prefix,
                                                      const char *message, void *user_data)
{
    const struct layer_messenger *m = user_data;
    if (type == VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT)
        object = shown_queue(m->instance, object);
    return m->report(flags, type, object, location, code, prefix, message, m->user_data);
}

static void messenger_keep(struct layer_messenger *m, uint64_t handle)
{
    m->handle = handle;
    bf_lock_acquire(&m->instance->messengers_lock);
    m->next = m->instance->messengers;
    m->instance->messengers = m;
    bf_lock_release(&m->instance->messengers_lock);
}

/* Removes the messenger from the list. This comes before the driver destroys it, because its handle
 * may be reused at once; the record is freed after that, when the driver no longer calls it. */
static struct layer_messenger *messenger_take(struct layer_instance *i, uint64_t handle)
{
    struct layer_messenger *taken = NULL;
    bf_lock_acquire(&i->messengers_lock);
    for (struct layer_messenger **link = &i->messengers; *link && !taken; link = &(*link)->next) {
        if ((*link)->handle == handle) {
            taken = *link;
            *link = taken->next;
            break;
        }
    }
    bf_lock_release(&i->messengers_lock);
    return taken;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateDebugUtilsMessengerEXT(
    VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT *messenger)
{
    struct layer_instance *i = layer_instance_of(instance);
    struct layer_messenger *m = calloc(1, sizeof(*m));
    if (!m)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    m->instance = i;
    m->utils = info->pfnUserCallback;
    m->user_data = info->pUserData;
    VkDebugUtilsMessengerCreateInfoEXT copy = *info;
    copy.pfnUserCallback = utils_callback;
    copy.pUserData = m;
    VkResult result = i->vk->vkCreateDebugUtilsMessengerEXT(instance, &copy, allocator, messenger);
    if (result == VK_SUCCESS)
        messenger_keep(m, (uint64_t)*messenger);
    else
        free(m);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyDebugUtilsMessengerEXT(
    VkInstance instance, VkDebugUtilsMessengerEXT messenger, const VkAllocationCallbacks *allocator)
{
    struct layer_instance *i = layer_instance_of(instance);
    struct layer_messenger *m = messenger ? messenger_take(i, (uint64_t)messenger) : NULL;
    i->vk->vkDestroyDebugUtilsMessengerEXT(instance, messenger, allocator);
    free(m);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateDebugReportCallbackEXT(
    VkInstance instance, const VkDebugReportCallbackCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkDebugReportCallbackEXT *callback)
{
    struct layer_instance *i = layer_instance_of(instance);
    struct layer_messenger *m = calloc(1, sizeof(*m));
    if (!m)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    m->instance = i;
    m->report = info->pfnCallback;
    m->user_data = info->pUserData;
    VkDebugReportCallbackCreateInfoEXT copy = *info;
    copy.pfnCallback = report_callback;
    copy.pUserData = m;
    VkResult result = i->vk->vkCreateDebugReportCallbackEXT(instance, &copy, allocator, callback);
    if (result == VK_SUCCESS)
        messenger_keep(m, (uint64_t)*callback);
    else
        free(m);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyDebugReportCallbackEXT(
    VkInstance instance, VkDebugReportCallbackEXT callback, const VkAllocationCallbacks *allocator)
{
    struct layer_instance *i = layer_instance_of(instance);
    struct layer_messenger *m = callback ? messenger_take(i, (uint64_t)callback) : NULL;
    i->vk->vkDestroyDebugReportCallbackEXT(instance, callback, allocator);
    free(m);
}

void layer_messengers_finish(struct layer_instance *i)
{
    while (i->messengers) {
        struct layer_messenger *next = i->messengers->next;
        free(i->messengers);
        i->messengers = next;
    }
}
