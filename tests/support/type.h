/* SPDX-License-Identifier: MIT */
/* The first member of a struct of Vulkan's, and of Belfry's: VK_TYPE(SUBMIT_INFO). With the whole
 * name few structs fit into a line. */
#ifndef BELFRY_TESTS_SUPPORT_TYPE_H
#define BELFRY_TESTS_SUPPORT_TYPE_H

#define VK_TYPE(name_) .sType = VK_STRUCTURE_TYPE_##name_
#define BF_TYPE(name_) .sType = BF_STRUCTURE_TYPE_##name_

#endif
