/* SPDX-License-Identifier: MIT */
/*
 * Whether a feature is enabled, for a program that is about to attach its device and asks before it
 * advertises the feature: by the settings that bfAttachDevice would read.
 */
#include <unistd.h>

#include "belfry/native_fence.h"
#include "base/structure.h"
#include "settings/settings.h"

#define NATIVE_FENCE_VERSION 1

VkResult bfIsFeatureEnabled(BfFeature feature, BfFeatureResult *out)
{
    if (!bf_structure_check(out, BF_STRUCTURE_TYPE_FEATURE_RESULT, __func__, "pResult"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_settings settings;
    VkResult result =
        bf_settings_load_attached(0, NULL, environ, bf_settings_is_privileged(), true, &settings);
    if (result != VK_SUCCESS)
        return result;
    bool enabled = feature == BF_FEATURE_NATIVE_FENCE && settings.native_fences;
    *out = (BfFeatureResult){
        .sType = BF_STRUCTURE_TYPE_FEATURE_RESULT,
        .enabled = enabled,
        .version = enabled ? NATIVE_FENCE_VERSION : 0,
    };
    bf_settings_finish(&settings);
    return VK_SUCCESS;
}
