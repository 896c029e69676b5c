/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is fence/'s: fences of the C
 * API, which the specialiser's checks wait for.
 */
#ifndef BELFRY_FENCE_INTERFACE_H
#define BELFRY_FENCE_INTERFACE_H

#include "belfry/belfry.h"

/* clang-format off: it takes these for expressions */
#define BF_FENCE_INTERFACE(F)                                                                      \
    F(VkResult, bfCreateFence, (BfDevice device, const BfFenceCreateInfo *pInfo, BfFence *pFence), \
      (device, pInfo, pFence))                                                                     \
    F(void, bfDestroyFence, (BfFence fence), (fence))                                              \
    F(VkResult, bfWaitFences,                                                                      \
      (uint32_t count, const BfFence *pFences, const uint64_t *pValues, BfFenceWaitFlags flags,    \
       uint64_t timeoutNs),                                                                        \
      (count, pFences, pValues, flags, timeoutNs))
/* clang-format on */

#endif
