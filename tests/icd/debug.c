/* SPDX-License-Identifier: MIT */
/* Names, labels, messengers and private data: what programs and layers hang on objects. Handles
 * come here as numbers, where nobody's types tell whose they are: dispatchable ones are checked. */
#include "icd.h"

#define SLOT(handle_) ICD_FROM(private_slot, ICD_KIND_PRIVATE_DATA_SLOT, handle_)

void icd_handle_seen(VkObjectType type, uint64_t handle, const char *call)
{
    enum icd_kind kind;
    switch (type) {
    case VK_OBJECT_TYPE_INSTANCE:
        kind = ICD_KIND_INSTANCE;
        break;
    case VK_OBJECT_TYPE_PHYSICAL_DEVICE:
        kind = ICD_KIND_PHYSICAL_DEVICE;
        break;
    case VK_OBJECT_TYPE_DEVICE:
        kind = ICD_KIND_DEVICE;
        break;
    case VK_OBJECT_TYPE_QUEUE:
        kind = ICD_KIND_QUEUE;
        break;
    case VK_OBJECT_TYPE_COMMAND_BUFFER:
        kind = ICD_KIND_COMMAND_BUFFER;
        break;
    default:
        return;
    }
    icd_object_check((const void *)(uintptr_t)handle, kind, call);
}

/* Names and labels -------------------------------------------------------------------------- */

/* pNameInfo->objectHandle is externally synchronized: a call on the queue, too. */
static void name_queue(VkObjectType type, uint64_t handle, const char *call)
{
    if (type != VK_OBJECT_TYPE_QUEUE)
        return;
    struct icd_queue *queue = ICD_FROM(icd_queue, ICD_KIND_QUEUE, (VkQueue)(uintptr_t)handle);
    icd_queue_enter(queue, call);
    icd_queue_leave(queue);
}

static VkResult icd_SetDebugUtilsObjectNameEXT(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT *pNameInfo)
{
    ICD_FAULT(ICD_DEV(device));
    icd_handle_seen(pNameInfo->objectType, pNameInfo->objectHandle, "vkSetDebugUtilsObjectName");
    name_queue(pNameInfo->objectType, pNameInfo->objectHandle, "vkSetDebugUtilsObjectNameEXT");
    return VK_SUCCESS;
}

static VkResult icd_SetDebugUtilsObjectTagEXT(VkDevice device,
                                              const VkDebugUtilsObjectTagInfoEXT *pTagInfo)
{
    ICD_FAULT(ICD_DEV(device));
    icd_handle_seen(pTagInfo->objectType, pTagInfo->objectHandle, "vkSetDebugUtilsObjectTag");
    name_queue(pTagInfo->objectType, pTagInfo->objectHandle, "vkSetDebugUtilsObjectTagEXT");
    return VK_SUCCESS;
}

static void label_record(struct icd_queue *queue, enum belfry_icd_call call, const char *label)
{
    struct belfry_icd_record record = {.call = call,
                                       .device = queue->object.device->config->ordinal,
                                       .family = queue->family,
                                       .index = queue->index,
                                       .labels = queue->labels,
                                       .label = label};
    icd_lock();
    icd_record(&record);
    icd_unlock();
}

static void icd_QueueBeginDebugUtilsLabelEXT(VkQueue queue_, const VkDebugUtilsLabelEXT *pLabelInfo)
{
    struct icd_queue *queue = ICD_FROM(icd_queue, ICD_KIND_QUEUE, queue_);
    char labels[256];
    icd_queue_enter(queue, "vkQueueBeginDebugUtilsLabelEXT");
    snprintf(labels, sizeof(labels), "%s%s%s", queue->labels, queue->open_labels ? "/" : "",
             pLabelInfo->pLabelName);
    queue->labels = icd_text(labels);
    queue->open_labels++;
    label_record(queue, BELFRY_ICD_CALL_LABEL_BEGIN, icd_text(pLabelInfo->pLabelName));
    icd_queue_leave(queue);
}

static void icd_QueueEndDebugUtilsLabelEXT(VkQueue queue_)
{
    struct icd_queue *queue = ICD_FROM(icd_queue, ICD_KIND_QUEUE, queue_);
    icd_queue_enter(queue, "vkQueueEndDebugUtilsLabelEXT");
    if (!queue->open_labels) {
        icd_violation(BELFRY_ICD_LABEL_UNBALANCED, "no label is open on queue %u:%u", queue->family,
                      queue->index);
    } else {
        char labels[256];
        snprintf(labels, sizeof(labels), "%s", queue->labels);
        char *last = strrchr(labels, '/');
        const char *ended = icd_text(last ? last + 1 : labels);
        *(last ? last : labels) = '\0';
        queue->labels = icd_text(labels);
        queue->open_labels--;
        label_record(queue, BELFRY_ICD_CALL_LABEL_END, ended);
    }
    icd_queue_leave(queue);
}

static void icd_QueueInsertDebugUtilsLabelEXT(VkQueue queue_,
                                              const VkDebugUtilsLabelEXT *pLabelInfo)
{
    struct icd_queue *queue = ICD_FROM(icd_queue, ICD_KIND_QUEUE, queue_);
    icd_queue_enter(queue, "vkQueueInsertDebugUtilsLabelEXT");
    label_record(queue, BELFRY_ICD_CALL_LABEL_INSERT, icd_text(pLabelInfo->pLabelName));
    icd_queue_leave(queue);
}

static void icd_CmdBeginDebugUtilsLabelEXT(VkCommandBuffer commandBuffer,
                                           const VkDebugUtilsLabelEXT *pLabelInfo)
{
}

static void icd_CmdEndDebugUtilsLabelEXT(VkCommandBuffer commandBuffer)
{
}

static void icd_CmdInsertDebugUtilsLabelEXT(VkCommandBuffer commandBuffer,
                                            const VkDebugUtilsLabelEXT *pLabelInfo)
{
}

/* The driver has nothing to say that its lines on stderr don't: messengers are only kept. */
static VkResult icd_CreateDebugUtilsMessengerEXT(
    VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *pCreateInfo,
    const VkAllocationCallbacks *pAllocator, VkDebugUtilsMessengerEXT *pMessenger)
{
    if (icd_oom(ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance)))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    void *messenger = icd_object_new(NULL, ICD_KIND_MESSENGER, sizeof(struct icd_object));
    *pMessenger = ICD_HANDLE(VkDebugUtilsMessengerEXT, messenger);
    return messenger ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroyDebugUtilsMessengerEXT(VkInstance instance,
                                              VkDebugUtilsMessengerEXT messenger,
                                              const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(messenger ? ICD_FROM(icd_object, ICD_KIND_MESSENGER, messenger) : NULL);
}

static void
icd_SubmitDebugUtilsMessageEXT(VkInstance instance,
                               VkDebugUtilsMessageSeverityFlagBitsEXT messageSeverity,
                               VkDebugUtilsMessageTypeFlagsEXT messageTypes,
                               const VkDebugUtilsMessengerCallbackDataEXT *pCallbackData)
{
}

/* Private data ------------------------------------------------------------------------------ */

struct private_data {
    VkObjectType type;
    uint64_t handle, data;
};

/* Guarded by the driver's lock; searched from end to end, as tests hang little on few objects. */
struct private_slot {
    struct icd_object object;
    struct private_data *data;
    size_t count;
};

static VkResult icd_CreatePrivateDataSlot(VkDevice device_,
                                          const VkPrivateDataSlotCreateInfo *pCreateInfo,
                                          const VkAllocationCallbacks *pAllocator,
                                          VkPrivateDataSlot *pSlot)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pSlot, device);
    struct private_slot *slot = icd_object_new(device, ICD_KIND_PRIVATE_DATA_SLOT, sizeof(*slot));
    *pSlot = ICD_HANDLE(VkPrivateDataSlot, slot);
    return slot ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroyPrivateDataSlot(VkDevice device, VkPrivateDataSlot slot_,
                                       const VkAllocationCallbacks *pAllocator)
{
    if (!slot_)
        return;
    struct private_slot *slot = SLOT(slot_);
    free(slot->data);
    icd_object_free(slot);
}

/* Locked. */
static struct private_data *data_find(struct private_slot *slot, VkObjectType type, uint64_t handle)
{
    for (size_t i = 0; i < slot->count; i++)
        if (slot->data[i].type == type && slot->data[i].handle == handle)
            return &slot->data[i];
    return NULL;
}

static VkResult icd_SetPrivateData(VkDevice device, VkObjectType objectType, uint64_t objectHandle,
                                   VkPrivateDataSlot slot_, uint64_t data)
{
    ICD_FAULT(ICD_DEV(device));
    icd_handle_seen(objectType, objectHandle, "vkSetPrivateData");
    struct private_slot *slot = SLOT(slot_);
    VkResult result = VK_SUCCESS;
    icd_lock();
    struct private_data *found = data_find(slot, objectType, objectHandle);
    if (!found) {
        struct private_data *grown = realloc(slot->data, (slot->count + 1) * sizeof(*grown));
        if (grown) {
            slot->data = grown;
            found = &slot->data[slot->count++];
        }
    }
    if (found)
        *found = (struct private_data){objectType, objectHandle, data};
    else
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    icd_unlock();
    return result;
}

static void icd_GetPrivateData(VkDevice device, VkObjectType objectType, uint64_t objectHandle,
                               VkPrivateDataSlot slot, uint64_t *pData)
{
    icd_handle_seen(objectType, objectHandle, "vkGetPrivateData");
    icd_lock();
    const struct private_data *found = data_find(SLOT(slot), objectType, objectHandle);
    *pData = found ? found->data : 0;
    icd_unlock();
}

#define UTILS(level_, name_) ICD_EXTRA(level_, ICD_EXT_DEBUG_UTILS, name_, name_)
#define PRIVATE(name_)                                                                             \
    ICD_CORE(ICD_DEVICE, 3, name_), ICD_EXTRA(ICD_DEVICE, ICD_EXT_PRIVATE_DATA, name_##EXT, name_)

const struct icd_entry icd_debug_entries[] = {UTILS(ICD_DEVICE, SetDebugUtilsObjectNameEXT),
                                              UTILS(ICD_DEVICE, SetDebugUtilsObjectTagEXT),
                                              UTILS(ICD_DEVICE, QueueBeginDebugUtilsLabelEXT),
                                              UTILS(ICD_DEVICE, QueueEndDebugUtilsLabelEXT),
                                              UTILS(ICD_DEVICE, QueueInsertDebugUtilsLabelEXT),
                                              UTILS(ICD_DEVICE, CmdBeginDebugUtilsLabelEXT),
                                              UTILS(ICD_DEVICE, CmdEndDebugUtilsLabelEXT),
                                              UTILS(ICD_DEVICE, CmdInsertDebugUtilsLabelEXT),
                                              UTILS(ICD_INSTANCE, CreateDebugUtilsMessengerEXT),
                                              UTILS(ICD_INSTANCE, DestroyDebugUtilsMessengerEXT),
                                              UTILS(ICD_INSTANCE, SubmitDebugUtilsMessageEXT),
                                              PRIVATE(CreatePrivateDataSlot),
                                              PRIVATE(DestroyPrivateDataSlot),
                                              PRIVATE(SetPrivateData),
                                              PRIVATE(GetPrivateData),
                                              ICD_END};
