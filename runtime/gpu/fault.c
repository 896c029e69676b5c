/* SPDX-License-Identifier: MIT */
/* Prints what the driver knows of a device that it has lost: which addresses faulted, what the
 * vendor says, which of the program's checkpoints were reached. */
#include "gpu/fault.h"

#include <stdlib.h>

#include "base/message.h"
#include "gpu/engine.h"
#include "gpu/gpu.h"

static const char *address_type_name(VkDeviceFaultAddressTypeEXT type)
{
    switch (type) {
    case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT:
        return "invalid read of";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT:
        return "invalid write to";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT:
        return "execution at the invalid";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_UNKNOWN_EXT:
        return "instruction pointer at";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
        return "invalid instruction at";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT:
        return "faulting instruction at";
    default:
        return "fault at";
    }
}

void bf_gpu_fault_tell(struct bf_gpu *gpu)
{
    if (!gpu->device_fault)
        return;
    PFN_vkGetDeviceFaultInfoEXT get = gpu->vk.vkGetDeviceFaultInfoEXT;
    VkDeviceFaultCountsEXT counts = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
    if (get(gpu->handle, &counts, NULL) < 0)
        return;
    counts.vendorBinarySize = 0;
    VkDeviceFaultInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT,
        .pAddressInfos = calloc(counts.addressInfoCount + 1, sizeof(*info.pAddressInfos)),
        .pVendorInfos = calloc(counts.vendorInfoCount + 1, sizeof(*info.pVendorInfos)),
    };
    if (info.pAddressInfos && info.pVendorInfos && get(gpu->handle, &counts, &info) >= 0) {
        bf_message(BF_MESSAGE_ERROR, "device fault: %.*s", VK_MAX_DESCRIPTION_SIZE,
                   info.description[0] ? info.description : "the driver doesn't describe it");
        for (uint32_t i = 0; i < counts.addressInfoCount; i++) {
            const VkDeviceFaultAddressInfoEXT *address = &info.pAddressInfos[i];
            bf_message(BF_MESSAGE_ERROR, "device fault: %s address 0x%llx, exact to %llu bytes",
                       address_type_name(address->addressType),
                       (unsigned long long)address->reportedAddress,
                       (unsigned long long)address->addressPrecision);
        }
        for (uint32_t i = 0; i < counts.vendorInfoCount; i++) {
            const VkDeviceFaultVendorInfoEXT *vendor = &info.pVendorInfos[i];
            bf_message(BF_MESSAGE_ERROR, "device fault: %.*s (code 0x%llx, data 0x%llx)",
                       VK_MAX_DESCRIPTION_SIZE, vendor->description,
                       (unsigned long long)vendor->vendorFaultCode,
                       (unsigned long long)vendor->vendorFaultData);
        }
    }
    free(info.pAddressInfos);
    free(info.pVendorInfos);
}

void bf_gpu_engine_tell_checkpoints(struct bf_gpu_engine *engine)
{
    const struct bf_gpu *gpu = engine->gpu;
    uint32_t count = 0;
    if (!gpu->checkpoints)
        return;
    gpu->vk.vkGetQueueCheckpointDataNV(engine->handle, &count, NULL);
    VkCheckpointDataNV *data = calloc(count + 1, sizeof(*data));
    for (uint32_t i = 0; data && i < count; i++)
        data[i].sType = VK_STRUCTURE_TYPE_CHECKPOINT_DATA_NV;
    if (data)
        gpu->vk.vkGetQueueCheckpointDataNV(engine->handle, &count, data);
    for (uint32_t i = 0; data && i < count; i++)
        bf_message(BF_MESSAGE_ERROR, "engine %u:%u: checkpoint %p was reached by stage 0x%x",
                   engine->family, engine->index, data[i].pCheckpointMarker,
                   (unsigned)data[i].stage);
    free(data);
}
