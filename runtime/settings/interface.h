/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is settings/'s: settings.
 */
#ifndef BELFRY_SETTINGS_INTERFACE_H
#define BELFRY_SETTINGS_INTERFACE_H

#include "settings/settings.h"

/* clang-format off: it takes these for expressions */
#define BF_SETTINGS_INTERFACE(F)                                                                   \
    F(void, bf_settings_finish, (struct bf_settings * settings), (settings))                       \
    F(bool, bf_settings_is_implicit,                                                               \
      (const VkInstanceCreateInfo *create_info, char *const *environment),                         \
      (create_info, environment))                                                                  \
    F(bool, bf_settings_is_privileged, (void), ())                                                 \
    F(enum bf_setting_source, bf_settings_source,                                                  \
      (const struct bf_settings *settings, uint32_t row), (settings, row))                         \
    F(VkResult, bf_settings_load,                                                                  \
      (const VkInstanceCreateInfo *create_info, char *const *environment, bool privileged,         \
       bool implicit_layer, bool quiet, struct bf_settings *settings),                             \
      (create_info, environment, privileged, implicit_layer, quiet, settings))
/* clang-format on */

#endif
