/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is background/'s: the queue
 * of background processing.
 */
#ifndef BELFRY_BACKGROUND_INTERFACE_H
#define BELFRY_BACKGROUND_INTERFACE_H

#include "background/background.h"
#include "background/public.h"

/* clang-format off: it takes these for expressions */
#define BF_BACKGROUND_INTERFACE(F)                                                                 \
    F(VkResult, bf_background_add_driver,                                                          \
      (struct bf_background * background, const BfBackgroundDriver *driver), (background, driver)) \
    F(bool, bf_background_may_adapt, (const struct bf_background *background), (background))       \
    F(VkResult, bf_background_queue,                                                               \
      (struct bf_background * background, PFN_bfProcessingWork callback,                           \
       PFN_bfProcessingWork cancel, void *context),                                                \
      (background, callback, cancel, context))                                                     \
    F(void, bf_background_end, (struct bf_gpu * gpu), (gpu))
/* clang-format on */

#endif
