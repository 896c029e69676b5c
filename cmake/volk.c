/* SPDX-License-Identifier: MIT */
/* volk, as every program here that loads Vulkan by itself builds it in. Its source is included from
 * the system's headers, in which compilers find no fault. */
#include <volk.c>
