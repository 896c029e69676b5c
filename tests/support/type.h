/* SPDX-License-Identifier: MIT */
/* The first member of a struct of Vulkan's, and of Belfry's: VK_TYPE(SUBMIT_INFO). With the whole
 * name few structs fit into a line. */
#ifndef BELFRY_TESTS_SUPPORT_TYPE_H
#define BELFRY_TESTS_SUPPORT_TYPE_H

#define VK_TYPE(name_) .sType = VK_STRUCTURE_TYPE_##name_
#define BF_TYPE(name_) .sType = BF_STRUCTURE_TYPE_##name_

/* Of structs that neither Belfry nor any driver knows; and one that has nothing else, to chain. */
#define UNKNOWN_TYPE ((VkStructureType)1000999001)
#define STRANGER     (&(const VkBaseInStructure){.sType = UNKNOWN_TYPE})

/* What a BfFenceCreateInfo's pNext leads to for flags of the DDI's. */
#define BF_SYNC_OBJECT(flags_)                                                                     \
    &(const BfSyncObjectCreateInfo)                                                                \
    {                                                                                              \
        BF_TYPE(SYNC_OBJECT_CREATE_INFO), .flags = (flags_)                                        \
    }

#endif
