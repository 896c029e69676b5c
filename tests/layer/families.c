/* SPDX-License-Identifier: MIT */
/* Family indices, wherever they travel: what a program names as it was shown arrives below as the
 * real one, and what a program asks about a family is answered by the one behind it. */
#include "fake.h"
#include "support/infos.h"
#include "support/queue_flags.h"

/* Real: 0 everything, 1 video, 2 sparse. Shown besides: 3 compute and 4 copy, both on 0. */
static const struct fake_driver driver = {
    .family_count = 3,
    .families = {{G | C | T, 2, 64, {1, 1, 1}},
                 {VK_QUEUE_VIDEO_DECODE_BIT_KHR, 1, 0, {1, 1, 1}},
                 {S, 1, 36, {1, 1, 1}}},
};

/* A list of families as a program gives it, and what must arrive. */
static const struct list {
    VkSharingMode mode;
    uint32_t count, given[6];
    VkSharingMode mode_below;
    uint32_t count_below, below[6];
} lists[] = {
    {VK_SHARING_MODE_CONCURRENT, 3, {0, 3, 4}, VK_SHARING_MODE_EXCLUSIVE, 0, {0}},
    {VK_SHARING_MODE_CONCURRENT, 2, {3, 4}, VK_SHARING_MODE_EXCLUSIVE, 0, {0}},
    {VK_SHARING_MODE_CONCURRENT, 2, {3, 1}, VK_SHARING_MODE_CONCURRENT, 2, {0, 1}},
    {VK_SHARING_MODE_CONCURRENT, 3, {4, 2, 0}, VK_SHARING_MODE_CONCURRENT, 2, {0, 2}},
    {VK_SHARING_MODE_CONCURRENT, 5, {0, 1, 2, 3, 4}, VK_SHARING_MODE_CONCURRENT, 3, {0, 1, 2}},
    {VK_SHARING_MODE_CONCURRENT, 2, {2, 1}, VK_SHARING_MODE_CONCURRENT, 2, {2, 1}},
    /* The list of an EXCLUSIVE resource may be garbage: a pointer to nowhere. */
    {VK_SHARING_MODE_EXCLUSIVE, 77, {0}, VK_SHARING_MODE_EXCLUSIVE, 77, {0}},
};
#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

/* What arrived. */
static VkSharingMode seen_mode;
static uint32_t seen_count, seen_list[8], seen_calls, seen_family;

static void see(VkSharingMode mode, uint32_t count, const uint32_t *list)
{
    seen_calls++;
    seen_mode = mode;
    seen_count = count;
    for (uint32_t i = 0; mode == VK_SHARING_MODE_CONCURRENT && i < count && i < 8; i++)
        seen_list[i] = list[i];
}

static const uint32_t *list_of(const struct list *list)
{
    return list->mode == VK_SHARING_MODE_CONCURRENT ? list->given : (const uint32_t *)8;
}

static void check(const struct list *list, uint32_t calls)
{
    assert_int_equal(seen_calls, calls);
    seen_calls = 0;
    assert_int_equal(seen_mode, list->mode_below);
    assert_int_equal(seen_count, list->count_below);
    if (list->mode_below == VK_SHARING_MODE_CONCURRENT)
        assert_memory_equal(seen_list, list->below, list->count_below * sizeof(uint32_t));
}

static VkBufferCreateInfo buffer_of(const struct list *list)
{
    return (VkBufferCreateInfo){VK_TYPE(BUFFER_CREATE_INFO), .size = 64, .sharingMode = list->mode,
                                .queueFamilyIndexCount = list->count,
                                .pQueueFamilyIndices = list_of(list)};
}

static VkImageCreateInfo image_of(const struct list *list)
{
    return (VkImageCreateInfo){VK_TYPE(IMAGE_CREATE_INFO), .arrayLayers = 5,
                               .sharingMode = list->mode, .queueFamilyIndexCount = list->count,
                               .pQueueFamilyIndices = list_of(list)};
}

/* The driver ---------------------------------------------------------------------------------- */

static void see_buffer(const VkBufferCreateInfo *info)
{
    assert_int_equal(info->size, 64);
    see(info->sharingMode, info->queueFamilyIndexCount, info->pQueueFamilyIndices);
}

static void see_image(const VkImageCreateInfo *info)
{
    assert_int_equal(info->arrayLayers, 5);
    see(info->sharingMode, info->queueFamilyIndexCount, info->pQueueFamilyIndices);
}

static VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkBuffer *buffer)
{
    see_buffer(info);
    *buffer = (VkBuffer)(uintptr_t)0x10;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo *info,
                                        const VkAllocationCallbacks *allocator, VkImage *image)
{
    see_image(info);
    *image = (VkImage)(uintptr_t)0x10;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_swapchain(VkDevice device, const VkSwapchainCreateInfoKHR *info,
                                            const VkAllocationCallbacks *allocator,
                                            VkSwapchainKHR *swapchain)
{
    see(info->imageSharingMode, info->queueFamilyIndexCount, info->pQueueFamilyIndices);
    return VK_SUCCESS;
}

static uint32_t shared_count;
static VkSwapchainCreateInfoKHR shared_seen[N_LISTS];
static uint32_t shared_lists[N_LISTS][8];

static VkResult VKAPI_CALL create_shared(VkDevice device, uint32_t count,
                                         const VkSwapchainCreateInfoKHR *infos,
                                         const VkAllocationCallbacks *allocator,
                                         VkSwapchainKHR *swapchains)
{
    shared_count = count;
    for (uint32_t i = 0; i < count; i++) {
        shared_seen[i] = infos[i];
        if (infos[i].imageSharingMode == VK_SHARING_MODE_CONCURRENT)
            memcpy(shared_lists[i], infos[i].pQueueFamilyIndices,
                   infos[i].queueFamilyIndexCount * sizeof(uint32_t));
    }
    return VK_SUCCESS;
}

static void VKAPI_CALL buffer_requirements(VkDevice device,
                                           const VkDeviceBufferMemoryRequirements *info,
                                           VkMemoryRequirements2 *out)
{
    see_buffer(info->pCreateInfo);
}

static void VKAPI_CALL image_requirements(VkDevice device,
                                          const VkDeviceImageMemoryRequirements *info,
                                          VkMemoryRequirements2 *out)
{
    assert_int_equal(info->planeAspect, VK_IMAGE_ASPECT_PLANE_1_BIT);
    see_image(info->pCreateInfo);
}

static void VKAPI_CALL sparse_requirements(VkDevice device,
                                           const VkDeviceImageMemoryRequirements *info,
                                           uint32_t *count, VkSparseImageMemoryRequirements2 *out)
{
    assert_int_equal(info->planeAspect, VK_IMAGE_ASPECT_PLANE_1_BIT);
    see_image(info->pCreateInfo);
}

/* VK_KHR_maintenance5, newer than the headers. */
struct subresource_info {
    VkStructureType sType;
    const void *pNext;
    const VkImageCreateInfo *pCreateInfo;
    const void *pSubresource;
};
typedef void(VKAPI_PTR *PFN_subresource_layout)(VkDevice, const void *, void *);

static void VKAPI_CALL subresource_layout(VkDevice device, const void *info, void *out)
{
    see_image(((const struct subresource_info *)info)->pCreateInfo);
}

/* Lists ---------------------------------------------------------------------------------------- */

static bool (*lacks)(const char *);
static char lacked[80];

static bool lacks_one(const char *name)
{
    return strcmp(name, lacked) == 0;
}

/* Opens with the command under its core name, or under its alias alone. */
static void open_with(const char *core, PFN_vkVoidFunction function, bool alias)
{
    struct fake_driver d = driver;
    char name[80];
    snprintf(name, sizeof(name), "%s%s", core, alias ? "KHR" : "");
    snprintf(lacked, sizeof(lacked), "%s", core);
    lacks = alias ? lacks_one : NULL;
    d.lacks = lacks;
    fake_start(&d);
    fake_override(name, function);
    fake_open_device((const uint32_t[]){1, 1, 1, 1, 1, 0});
    seen_calls = 0;
}
#define OPEN_WITH(core, function, alias)                                                           \
    open_with(#core, (PFN_vkVoidFunction)(1 ? (function) : (PFN_##core)0), alias)

static PFN_vkVoidFunction command(const char *core, bool alias)
{
    char name[80];
    snprintf(name, sizeof(name), "%s%s", core, alias ? "KHR" : "");
    return fake_command(name);
}

TEST(test_buffers)
{
    OPEN_WITH(vkCreateBuffer, create_buffer, false);
    for (size_t i = 0; i < N_LISTS; i++) {
        const VkBufferCreateInfo info = buffer_of(&lists[i]);
        VkBuffer buffer;
        assert_success(FAKE_CALL(vkCreateBuffer, fake.device, &info, NULL, &buffer));
        check(&lists[i], 1);
    }
    fake_close();
    for (int alias = 0; alias < 2; alias++) {
        OPEN_WITH(vkGetDeviceBufferMemoryRequirements, buffer_requirements, alias);
        for (size_t i = 0; i < N_LISTS; i++) {
            const VkBufferCreateInfo info = buffer_of(&lists[i]);
            const VkDeviceBufferMemoryRequirements question = {
                VK_TYPE(DEVICE_BUFFER_MEMORY_REQUIREMENTS), .pCreateInfo = &info};
            VkMemoryRequirements2 out;
            ((PFN_vkGetDeviceBufferMemoryRequirements)command("vkGetDeviceBufferMemoryRequirements",
                                                              alias))(fake.device, &question, &out);
            check(&lists[i], 1);
        }
        fake_close();
    }
}

TEST(test_images)
{
    OPEN_WITH(vkCreateImage, create_image, false);
    for (size_t i = 0; i < N_LISTS; i++) {
        const VkImageCreateInfo info = image_of(&lists[i]);
        VkImage image;
        assert_success(FAKE_CALL(vkCreateImage, fake.device, &info, NULL, &image));
        check(&lists[i], 1);
    }
    fake_close();
    for (int alias = 0; alias < 2; alias++) {
        for (size_t i = 0; i < N_LISTS; i++) {
            const VkImageCreateInfo info = image_of(&lists[i]);
            const VkDeviceImageMemoryRequirements question = {
                VK_TYPE(DEVICE_IMAGE_MEMORY_REQUIREMENTS), .pCreateInfo = &info,
                .planeAspect = VK_IMAGE_ASPECT_PLANE_1_BIT};
            VkMemoryRequirements2 out;
            uint32_t n = 0;
            OPEN_WITH(vkGetDeviceImageMemoryRequirements, image_requirements, alias);
            ((PFN_vkGetDeviceImageMemoryRequirements)command("vkGetDeviceImageMemoryRequirements",
                                                             alias))(fake.device, &question, &out);
            check(&lists[i], 1);
            fake_close();
            OPEN_WITH(vkGetDeviceImageSparseMemoryRequirements, sparse_requirements, alias);
            ((PFN_vkGetDeviceImageSparseMemoryRequirements)command(
                "vkGetDeviceImageSparseMemoryRequirements", alias))(fake.device, &question, &n,
                                                                    NULL);
            check(&lists[i], 1);
            fake_close();
            const struct subresource_info layout = {.pCreateInfo = &info};
            open_with("vkGetDeviceImageSubresourceLayout", (PFN_vkVoidFunction)subresource_layout,
                      alias);
            ((PFN_subresource_layout)command("vkGetDeviceImageSubresourceLayout", alias))(
                fake.device, &layout, &out);
            check(&lists[i], 1);
            fake_close();
        }
    }
}

TEST(test_swapchains)
{
    VkSwapchainCreateInfoKHR infos[N_LISTS];
    OPEN_WITH(vkCreateSwapchainKHR, create_swapchain, false);
    for (size_t i = 0; i < N_LISTS; i++) {
        infos[i] = (VkSwapchainCreateInfoKHR){
            VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR), .minImageCount = (uint32_t)i,
            .imageSharingMode = lists[i].mode, .queueFamilyIndexCount = lists[i].count,
            .pQueueFamilyIndices = list_of(&lists[i])};
        VkSwapchainKHR swapchain;
        assert_success(FAKE_CALL(vkCreateSwapchainKHR, fake.device, &infos[i], NULL, &swapchain));
        check(&lists[i], 1);
    }
    fake_close();
    OPEN_WITH(vkCreateSharedSwapchainsKHR, create_shared, false);
    VkSwapchainKHR swapchains[N_LISTS];
    assert_success(
        FAKE_CALL(vkCreateSharedSwapchainsKHR, fake.device, N_LISTS, infos, NULL, swapchains));
    assert_int_equal(shared_count, N_LISTS);
    for (size_t i = 0; i < N_LISTS; i++) {
        assert_int_equal(shared_seen[i].minImageCount, i);
        assert_int_equal(shared_seen[i].imageSharingMode, lists[i].mode_below);
        assert_int_equal(shared_seen[i].queueFamilyIndexCount, lists[i].count_below);
        if (lists[i].mode_below == VK_SHARING_MODE_CONCURRENT)
            assert_memory_equal(shared_lists[i], lists[i].below,
                                lists[i].count_below * sizeof(uint32_t));
    }
    fake_close();
}

static VkResult VKAPI_CALL image_format(VkPhysicalDevice physical,
                                        const VkPhysicalDeviceImageFormatInfo2 *info,
                                        VkImageFormatProperties2 *properties)
{
    assert_int_equal(info->format, VK_FORMAT_R8_UNORM);
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT) {
            const VkPhysicalDeviceImageDrmFormatModifierInfoEXT *drm = (const void *)s;
            assert_int_equal(drm->drmFormatModifier, 9);
            see(drm->sharingMode, drm->queueFamilyIndexCount, drm->pQueueFamilyIndices);
        }
    }
    return VK_SUCCESS;
}

/* Behind a struct that nobody knows, what is changed is changed where it is, for the call. */
TEST(test_drm_modifiers)
{
    for (int alias = 0; alias < 2; alias++) {
        struct fake_driver d = driver;
        snprintf(lacked, sizeof(lacked), "vkGetPhysicalDeviceImageFormatProperties2");
        d.lacks = alias ? lacks_one : NULL;
        fake_load(&d);
        fake_override(alias ? "vkGetPhysicalDeviceImageFormatProperties2KHR"
                            : "vkGetPhysicalDeviceImageFormatProperties2",
                      (PFN_vkVoidFunction)image_format);
        assert_success(fake_instance(VK_API_VERSION_1_3, 0, NULL));
        PFN_vkGetPhysicalDeviceImageFormatProperties2 ask =
            (PFN_vkGetPhysicalDeviceImageFormatProperties2)fake.gipa(
                fake.instance, alias ? "vkGetPhysicalDeviceImageFormatProperties2KHR"
                                     : "vkGetPhysicalDeviceImageFormatProperties2");
        for (size_t i = 0; i < 2 * N_LISTS; i++) {
            const VkPhysicalDeviceExternalImageFormatInfo external = {
                VK_TYPE(PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO)};
            VkPhysicalDeviceImageDrmFormatModifierInfoEXT drm = {
                VK_TYPE(PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT),
                .pNext = &external,
                .drmFormatModifier = 9,
                .sharingMode = lists[i % N_LISTS].mode,
                .queueFamilyIndexCount = lists[i % N_LISTS].count,
                .pQueueFamilyIndices = list_of(&lists[i % N_LISTS])};
            const VkPhysicalDeviceImageDrmFormatModifierInfoEXT before = drm;
            const VkBaseInStructure strange = {UNKNOWN_TYPE, (const void *)&drm};
            const VkPhysicalDeviceImageFormatInfo2 info = {
                VK_TYPE(PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2),
                .pNext = i < N_LISTS ? (const void *)&drm : &strange, .format = VK_FORMAT_R8_UNORM};
            VkImageFormatProperties2 out = {VK_TYPE(IMAGE_FORMAT_PROPERTIES_2)};
            seen_calls = 0;
            assert_success(ask(fake.physical, &info, &out));
            assert_memory_equal(&drm, &before, sizeof(drm));
            assert_int_equal(seen_mode, lists[i % N_LISTS].mode_below);
            if (seen_mode == VK_SHARING_MODE_CONCURRENT) {
                assert_int_equal(seen_count, lists[i % N_LISTS].count_below);
                assert_memory_equal(seen_list, lists[i % N_LISTS].below,
                                    seen_count * sizeof(uint32_t));
            }
        }
        fake_close();
    }
}

/* Single indices ------------------------------------------------------------------------------ */

static VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkCommandPool *pool)
{
    seen_family = info->queueFamilyIndex;
    *pool = (VkCommandPool)(uintptr_t)(0x100 + info->queueFamilyIndex);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_queries(VkDevice device, const VkQueryPoolCreateInfo *info,
                                          const VkAllocationCallbacks *allocator, VkQueryPool *pool)
{
    const VkQueryPoolPerformanceCreateInfoKHR *performance = info->pNext;
    if (performance && performance->sType == UNKNOWN_TYPE)
        performance = performance->pNext;
    seen_family = performance ? performance->queueFamilyIndex : UINT32_MAX;
    if (performance)
        assert_int_equal(performance->counterIndexCount, 7);
    assert_int_equal(info->queryCount, 3);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_session(VkDevice device, const VkVideoSessionCreateInfoKHR *info,
                                          const VkAllocationCallbacks *allocator,
                                          VkVideoSessionKHR *session)
{
    seen_family = info->queueFamilyIndex;
    return VK_SUCCESS;
}

/* Real family of each shown one, and of what is none. */
static const uint32_t real_of[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 0}, {4, 0}};

TEST(test_device_commands)
{
    for (size_t i = 0; i < 5; i++) {
        uint32_t shown = real_of[i][0], real = real_of[i][1];
        OPEN_WITH(vkCreateCommandPool, create_pool, false);
        const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                              .queueFamilyIndex = shown};
        VkCommandPool pool_handle;
        assert_success(FAKE_CALL(vkCreateCommandPool, fake.device, &pool, NULL, &pool_handle));
        assert_int_equal(seen_family, real);
        FAKE_CALL(vkDestroyCommandPool, fake.device, pool_handle, NULL);
        fake_close();

        OPEN_WITH(vkCreateQueryPool, create_queries, false);
        VkQueryPoolPerformanceCreateInfoKHR performance = {
            VK_TYPE(QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR), .queueFamilyIndex = shown,
            .counterIndexCount = 7};
        VkQueryPoolCreateInfo queries = {VK_TYPE(QUERY_POOL_CREATE_INFO), .pNext = &performance,
                                         .queryCount = 3};
        VkQueryPool query_handle;
        const VkBaseInStructure strange = {UNKNOWN_TYPE, (const void *)&performance};
        for (int behind = 0; behind < 2; behind++) {
            queries.pNext = behind ? (const void *)&strange : &performance;
            FAKE_CALL(vkCreateQueryPool, fake.device, &queries, NULL, &query_handle);
            assert_int_equal(seen_family, real);
            assert_int_equal(performance.queueFamilyIndex, shown);
        }
        queries.pNext = NULL;
        FAKE_CALL(vkCreateQueryPool, fake.device, &queries, NULL, &query_handle);
        assert_int_equal(seen_family, UINT32_MAX);
        fake_close();

        OPEN_WITH(vkCreateVideoSessionKHR, create_session, false);
        const VkVideoSessionCreateInfoKHR session = {VK_TYPE(VIDEO_SESSION_CREATE_INFO_KHR),
                                                     .queueFamilyIndex = shown};
        VkVideoSessionKHR session_handle;
        FAKE_CALL(vkCreateVideoSessionKHR, fake.device, &session, NULL, &session_handle);
        assert_int_equal(seen_family, real);
        fake_close();
    }
}

static VkResult VKAPI_CALL surface_support(VkPhysicalDevice physical, uint32_t family,
                                           VkSurfaceKHR surface, VkBool32 *supported)
{
    seen_family = family;
    *supported = VK_TRUE;
    return VK_SUCCESS;
}

static void *seen_display;
static uintptr_t seen_visual;

static VkBool32 VKAPI_CALL presentation_support(VkPhysicalDevice physical, uint32_t family,
                                                void *display, uintptr_t visual)
{
    seen_family = family;
    seen_display = display;
    seen_visual = visual;
    return VK_TRUE;
}

static VkResult VKAPI_CALL counters(VkPhysicalDevice physical, uint32_t family, uint32_t *count,
                                    VkPerformanceCounterKHR *list,
                                    VkPerformanceCounterDescriptionKHR *descriptions)
{
    seen_family = family;
    *count = 4;
    return VK_SUCCESS;
}

static void VKAPI_CALL passes(VkPhysicalDevice physical,
                              const VkQueryPoolPerformanceCreateInfoKHR *info, uint32_t *count)
{
    seen_family = info->queueFamilyIndex;
    *count = 2;
}

static void *seen_arguments[4];

static VkResult VKAPI_CALL family_query(VkPhysicalDevice physical, uint32_t family, void *a,
                                        void *b, void *c, void *d)
{
    seen_family = family;
    memcpy(seen_arguments, (void *[]){a, b, c, d}, sizeof(seen_arguments));
    return VK_INCOMPLETE;
}

/* VkPhysicalDeviceQueueFamilyDataGraphProcessingEngineInfoARM */
struct engine_question {
    VkStructureType sType;
    const void *pNext;
    uint32_t family, engine;
};

static void VKAPI_CALL engine_query(VkPhysicalDevice physical, const void *question, void *out)
{
    seen_family = ((const struct engine_question *)question)->family;
    assert_int_equal(((const struct engine_question *)question)->engine, 6);
    assert_ptr_equal(out, &fake);
}

static const char *const family_queries[] = {
    "vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM",
    "vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM",
    "vkGetPhysicalDeviceQueueFamilyDataGraphEngineOperationPropertiesARM",
    "vkGetPhysicalDeviceQueueFamilyDataGraphOpticalFlowImageFormatsARM"};

/* What the oldest headers don't have. */
static void ask_newer(uint32_t shown, uint32_t real)
{
    for (size_t k = 0; k < 4; k++) {
        seen_family = UINT32_MAX;
        void *arguments[4] = {&fake, &seen_family, arguments, &real};
        VkResult(VKAPI_PTR * ask)(VkPhysicalDevice, uint32_t, void *, void *, void *, void *) =
            (VkResult(VKAPI_PTR *)(VkPhysicalDevice, uint32_t, void *, void *, void *,
                                   void *))fake.gipa(fake.instance, family_queries[k]);
        assert_int_equal(
            ask(fake.physical, shown, arguments[0], arguments[1], arguments[2], arguments[3]),
            VK_INCOMPLETE);
        assert_int_equal(seen_family, real);
        assert_memory_equal(seen_arguments, arguments, sizeof(arguments));
    }
    const struct engine_question question = {.family = shown, .engine = 6};
    ((void(VKAPI_PTR *)(VkPhysicalDevice, const void *, void *))fake.gipa(
        fake.instance, "vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM"))(
        fake.physical, &question, &fake);
    assert_int_equal(seen_family, real);
}

TEST(test_physical_device_commands)
{
    static const char *const systems[] = {"vkGetPhysicalDeviceXcbPresentationSupportKHR",
                                          "vkGetPhysicalDeviceXlibPresentationSupportKHR",
                                          "vkGetPhysicalDeviceWaylandPresentationSupportKHR",
                                          "vkGetPhysicalDeviceDirectFBPresentationSupportEXT"};
    fake_load(&driver);
    FAKE_OVERRIDE(vkGetPhysicalDeviceSurfaceSupportKHR, surface_support);
    for (size_t s = 0; s < 4; s++)
        fake_override(systems[s], (PFN_vkVoidFunction)presentation_support);
    for (size_t k = 0; k < 4; k++)
        fake_override(family_queries[k], (PFN_vkVoidFunction)family_query);
    fake_override("vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM",
                  (PFN_vkVoidFunction)engine_query);
    FAKE_OVERRIDE(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR, counters);
    FAKE_OVERRIDE(vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR, passes);
    assert_success(fake_instance(VK_API_VERSION_1_3, 0, NULL));
    for (size_t i = 0; i < 5; i++) {
        uint32_t shown = real_of[i][0], real = real_of[i][1], n = 0;
        ask_newer(shown, real);
        VkBool32 supported = VK_FALSE;
        assert_success(((PFN_vkGetPhysicalDeviceSurfaceSupportKHR)fake.gipa(
            fake.instance, "vkGetPhysicalDeviceSurfaceSupportKHR"))(fake.physical, shown,
                                                                    VK_NULL_HANDLE, &supported));
        assert_true(supported);
        assert_int_equal(seen_family, real);
        for (size_t s = 0; s < 4; s++) {
            VkBool32(VKAPI_PTR * ask)(VkPhysicalDevice, uint32_t, void *, uintptr_t) =
                (VkBool32(VKAPI_PTR *)(VkPhysicalDevice, uint32_t, void *, uintptr_t))fake.gipa(
                    fake.instance, systems[s]);
            seen_family = UINT32_MAX;
            assert_true(ask(fake.physical, shown, &fake, 0x1234));
            assert_int_equal(seen_family, real);
            assert_ptr_equal(seen_display, &fake);
            assert_int_equal(seen_visual, 0x1234);
        }
        assert_success(
            ((PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR)fake.gipa(
                fake.instance, "vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR"))(
                fake.physical, shown, &n, NULL, NULL));
        assert_int_equal(n, 4);
        assert_int_equal(seen_family, real);
        const VkQueryPoolPerformanceCreateInfoKHR info = {
            VK_TYPE(QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR), .queueFamilyIndex = shown};
        seen_family = UINT32_MAX;
        ((PFN_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR)fake.gipa(
            fake.instance, "vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR"))(
            fake.physical, &info, &n);
        assert_int_equal(n, 2);
        assert_int_equal(seen_family, real);
    }
    fake_close();
}

/* What is shown -------------------------------------------------------------------------------- */

static const VkQueueFamilyProperties shown_families[] = {
    {G | C | T, 2, 64, {1, 1, 1}}, {VK_QUEUE_VIDEO_DECODE_BIT_KHR, 1, 0, {1, 1, 1}},
    {S, 1, 36, {1, 1, 1}},         {C | T, 2, 64, {1, 1, 1}},
    {T, 2, 64, {1, 1, 1}},
};

/* The three commands agree, for any room, and leave what lies behind it alone. */
TEST(test_properties)
{
    fake_start(&driver);
    PFN_vkGetPhysicalDeviceQueueFamilyProperties ask =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)fake.gipa(
            fake.instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    static const char *const names[] = {"vkGetPhysicalDeviceQueueFamilyProperties2",
                                        "vkGetPhysicalDeviceQueueFamilyProperties2KHR"};
    uint32_t n = 0;
    ask(fake.physical, &n, NULL);
    assert_int_equal(n, 5);
    for (uint32_t room = 0; room <= 7; room++) {
        uint32_t expected = room < 5 ? room : 5;
        VkQueueFamilyProperties list[8];
        memset(list, 0xee, sizeof(list));
        n = room;
        ask(fake.physical, &n, list);
        assert_int_equal(n, expected);
        assert_memory_equal(list, shown_families, expected * sizeof(list[0]));
        assert_int_equal(list[expected].queueCount, 0xeeeeeeee);

        for (size_t k = 0; k < 2; k++) {
            PFN_vkGetPhysicalDeviceQueueFamilyProperties2 ask2 =
                (PFN_vkGetPhysicalDeviceQueueFamilyProperties2)fake.gipa(fake.instance, names[k]);
            n = 0;
            ask2(fake.physical, &n, NULL);
            assert_int_equal(n, 5);
            VkQueueFamilyProperties2 list2[8];
            VkQueueFamilyGlobalPriorityPropertiesKHR priorities[8];
            VkQueueFamilyCheckpointPropertiesNV checkpoints[8];
            struct fake_transfers transfers[8];
            memset(list2, 0xee, sizeof(list2));
            for (uint32_t i = 0; i < room; i++) {
                transfers[i] = (struct fake_transfers){.sType = FAKE_TRANSFERS};
                checkpoints[i] = (VkQueueFamilyCheckpointPropertiesNV){
                    VK_TYPE(QUEUE_FAMILY_CHECKPOINT_PROPERTIES_NV), .pNext = &transfers[i]};
                priorities[i] = (VkQueueFamilyGlobalPriorityPropertiesKHR){
                    VK_TYPE(QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR), .pNext = &checkpoints[i]};
                list2[i].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
                list2[i].pNext = &priorities[i];
            }
            n = room;
            ask2(fake.physical, &n, list2);
            assert_int_equal(n, expected);
            for (uint32_t i = 0; i < expected; i++) {
                assert_memory_equal(&list2[i].queueFamilyProperties, &shown_families[i],
                                    sizeof(shown_families[i]));
                assert_int_equal(list2[i].sType, VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2);
                assert_ptr_equal(list2[i].pNext, &priorities[i]);
                /* Chained structs of an appended family hold its host's answer. */
                assert_int_equal(priorities[i].priorityCount, real_of[i][1] + 1);
                assert_ptr_equal(priorities[i].pNext, &checkpoints[i]);
                assert_int_equal(checkpoints[i].checkpointExecutionStageMask, 10 + real_of[i][1]);
                /* Between families on one real family nothing is transferred either. */
                static const uint32_t masks[] = {0x18, 0x19, 0, 0x11, 0x09};
                assert_int_equal(transfers[i].mask, masks[i]);
            }
            assert_int_equal(list2[expected].queueFamilyProperties.queueCount, 0xeeeeeeee);
        }
    }
    fake_close();
}

/* Families as they are: no command is stood in for that only carries them, the driver's functions
 * are handed out. (Command pools are watched for another reason, command_buffers.c.) */
TEST(test_native)
{
    static const char *const names[] = {
        "vkCreateBuffer",        "vkCreateImage",     "vkCmdPipelineBarrier",
        "vkCmdPipelineBarrier2", "vkCmdWaitEvents",   "vkCmdSetEvent2KHR",
        "vkCreateSwapchainKHR",  "vkCreateQueryPool", "vkGetDeviceImageMemoryRequirements",
    };
    setenv("VK_BELFRY_MULTI_ENGINE_QUEUES", "native", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off", 1);
    fake_open(&driver, (const uint32_t[]){2, 1, 1, 0});
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1); /* as the test was started */
    unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_ptr_equal(fake.gdpa(fake.device, names[i]), fake_stub());
    /* The same pointers out of the instance are the layer's, and find their way. */
    FAKE_OVERRIDE(vkCreateBuffer, create_buffer);
    fake_close_device();
    const VkDeviceCreateInfo device = info_device(NULL, 0, NULL);
    assert_success(fake_device(&device));
    const struct list list = {VK_SHARING_MODE_CONCURRENT, 2, {0, 2},
                              VK_SHARING_MODE_CONCURRENT, 2, {0, 2}};
    const VkBufferCreateInfo info = buffer_of(&list);
    VkBuffer buffer;
    seen_calls = 0;
    ((PFN_vkCreateBuffer)fake.gipa(fake.instance, "vkCreateBuffer"))(fake.device, &info, NULL,
                                                                     &buffer);
    check(&list, 1);
    fake_close();
}
