/* SPDX-License-Identifier: MIT */
/*
 * Whether a feature is enabled, for a program that is about to attach its device and asks before it
 * advertises the feature: by the settings that bfAttachDevice would read. And the feature's
 * interface.
 */
#include <unistd.h>

#include "belfry/native_fence.h"
#include "base/message.h"
#include "base/structure.h"
#include "settings/settings.h"

#define NATIVE_FENCE_VERSION 1

/* The version of its interface; 0: it isn't enabled. */
static VkResult feature_version(BfFeature feature, uint32_t *version)
{
    struct bf_settings settings;
    VkResult result =
        bf_settings_load_attached(0, NULL, environ, bf_settings_is_privileged(), true, &settings);
    if (result != VK_SUCCESS)
        return result;
    bool enabled = feature == BF_FEATURE_NATIVE_FENCE && settings.native_fences;
    *version = enabled ? NATIVE_FENCE_VERSION : 0;
    bf_settings_finish(&settings);
    return VK_SUCCESS;
}

VkResult bfIsFeatureEnabled(BfFeature feature, BfFeatureResult *out)
{
    if (!bf_structure_check(out, BF_STRUCTURE_TYPE_FEATURE_RESULT, __func__, "pResult"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    uint32_t version;
    VkResult result = feature_version(feature, &version);
    if (result == VK_SUCCESS)
        *out = (BfFeatureResult){
            .sType = BF_STRUCTURE_TYPE_FEATURE_RESULT,
            .enabled = version != 0,
            .version = version,
        };
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL native_fence_get_system_caps(BfNativeFenceSystemCaps *caps)
{
    if (!bf_structure_check(caps, BF_STRUCTURE_TYPE_NATIVE_FENCE_SYSTEM_CAPS, "pfnGetSystemCaps",
                            "pCaps"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *caps = (BfNativeFenceSystemCaps){
        .sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_SYSTEM_CAPS,
        .supportIntraGpuFenceType = VK_TRUE,
    };
    return VK_SUCCESS;
}

VkResult bfQueryFeatureInterface(BfFeature feature, uint32_t version, void *out)
{
    uint32_t newest;
    VkResult result = feature_version(feature, &newest);
    if (result != VK_SUCCESS)
        return result;
    if (version == 0 || version > newest) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfQueryFeatureInterface: feature %d: %s%u of its interface isn't there",
                   (int)feature, newest ? "version " : "it isn't enabled: version ", version);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (!bf_structure_check(out, BF_STRUCTURE_TYPE_NATIVE_FENCE_INTERFACE, __func__, "pInterface"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *(BfNativeFenceInterface *)out = (BfNativeFenceInterface){
        .sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_INTERFACE,
        .pfnGetSystemCaps = native_fence_get_system_caps,
    };
    return VK_SUCCESS;
}
