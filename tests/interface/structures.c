/* SPDX-License-Identifier: MIT */
/* sType and pNext: every function that takes a struct, or fills one in, refuses another sType and a
 * pNext that leads anywhere, in one line that names the call, the member and the value, and changes
 * nothing. */
#include "support/fixture.h"

#include <belfry/background.h>
#include <belfry/preemption.h>
#include <belfry/user_mode_submission.h>

#include "support/lines.h"

/* What the calls are made with. */
struct subject {
    struct fixture f;
    BfCommandQueue queue;
    BfFence native;
    BfAttachQueue attach_queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
};

/* A struct of any of the types: as large as the largest, and what each begins with. */
union structure {
    BfBaseOutStructure base;
    BfAttachInfo attach;
    BfDeviceCounters counters;
    BfCommandQueueCreateInfo queue;
    BfFenceCreateInfo fence;
    BfFeatureResult feature;
    BfNativeFenceInterface interface;
    BfNativeFenceSystemCaps system_caps;
    BfNativeFenceCaps caps;
    BfNativeFenceCreateInfo native;
    BfNativeFenceMapping mapping;
    BfFenceNotification notification;
    BfFenceLogReaderCreateInfo reader;
    BfBackgroundProcessingProperties properties;
    BfBackgroundDriver driver;
    BfRingCreateInfo ring_info;
    BfRing ring;
    BfSlicedDispatchInfo sliced;
    BfPreemptionCaps preemption_caps;
    BfPreemptionStatus preemption;
};

/* Each calls its function with 's', and destroys what that makes. */
static VkResult attach_device(struct subject *t, union structure *s)
{
    BfDevice device = NULL;
    VkResult result = bfAttachDevice(&s->attach, &device);
    if (device)
        t->f.bf = device;
    return result;
}

static VkResult get_counters(struct subject *t, union structure *s)
{
    return bfGetDeviceCounters(t->f.bf, &s->counters);
}

static VkResult create_queue(struct subject *t, union structure *s)
{
    BfCommandQueue queue = NULL;
    VkResult result = bfCreateCommandQueue(t->f.bf, &s->queue, &queue);
    bfDestroyCommandQueue(queue);
    return result;
}

static VkResult get_queue_info(struct subject *t, union structure *s)
{
    return bfGetCommandQueueInfo(t->queue, &s->queue);
}

static VkResult create_fence(struct subject *t, union structure *s)
{
    BfFence fence = NULL;
    VkResult result = bfCreateFence(t->f.bf, &s->fence, &fence);
    bfDestroyFence(fence);
    return result;
}

static VkResult is_feature_enabled(struct subject *t, union structure *s)
{
    return bfIsFeatureEnabled(BF_FEATURE_NATIVE_FENCE, &s->feature);
}

static VkResult query_interface(struct subject *t, union structure *s)
{
    return bfQueryFeatureInterface(BF_FEATURE_NATIVE_FENCE, 1, &s->interface);
}

static VkResult get_system_caps(struct subject *t, union structure *s)
{
    BfNativeFenceInterface interface = {BF_TYPE(NATIVE_FENCE_INTERFACE)};
    assert_success(bfQueryFeatureInterface(BF_FEATURE_NATIVE_FENCE, 1, &interface));
    return interface.pfnGetSystemCaps(&s->system_caps);
}

static VkResult get_caps(struct subject *t, union structure *s)
{
    return bfGetNativeFenceCaps(t->f.bf, &s->caps);
}

static VkResult create_native_fence(struct subject *t, union structure *s)
{
    BfFence fence = NULL;
    VkResult result = bfCreateNativeFence(t->f.bf, &s->native, &fence);
    bfDestroyFence(fence);
    return result;
}

static VkResult get_mapping(struct subject *t, union structure *s)
{
    return bfGetNativeFenceMapping(t->native, &s->mapping);
}

static VkResult notify(struct subject *t, union structure *s)
{
    return bfNotifyFencesSignaled(t->f.bf, &s->notification);
}

static VkResult create_reader(struct subject *t, union structure *s)
{
    BfFenceLogReader reader = NULL;
    VkResult result = bfCreateFenceLogReader(t->f.bf, &s->reader, &reader);
    bfDestroyFenceLogReader(reader);
    return result;
}

static VkResult get_properties(struct subject *t, union structure *s)
{
    return bfGetBackgroundProcessingProperties(t->f.bf, &s->properties);
}

static VkResult add_driver(struct subject *t, union structure *s)
{
    return bfAddBackgroundDriver(t->f.bf, &s->driver);
}

static VkResult create_ring(struct subject *t, union structure *s)
{
    BfRing ring = {BF_TYPE(RING)};
    VkResult result = bfCreateRing(t->f.bf, &s->ring_info, &ring);
    bfDestroyRing(ring.hRingBuffer);
    return result;
}

static VkResult fill_ring(struct subject *t, union structure *s)
{
    const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = 64};
    VkResult result = bfCreateRing(t->f.bf, &info, &s->ring);
    if (result == VK_SUCCESS)
        bfDestroyRing(s->ring.hRingBuffer);
    return result;
}

static VkResult dispatch_sliced(struct subject *t, union structure *s)
{
    return bfQueueDispatchSliced(t->queue, &s->sliced);
}

static VkResult get_preemption_caps(struct subject *t, union structure *s)
{
    return bfGetPreemptionCaps(t->f.bf, &s->preemption_caps);
}

static VkResult get_preemption_status(struct subject *t, union structure *s)
{
    return bfGetPreemptionStatus(t->queue, &s->preemption);
}

/* All functions that take a struct, with what their declarations call it. */
static const struct row {
    const char *call, *argument;
    BfStructureType type;
    VkResult (*run)(struct subject *t, union structure *s);
} rows[] = {
    {"bfAttachDevice", "pInfo", BF_STRUCTURE_TYPE_ATTACH_INFO, attach_device},
    {"bfGetDeviceCounters", "pCounters", BF_STRUCTURE_TYPE_DEVICE_COUNTERS, get_counters},
    {"bfCreateCommandQueue", "pInfo", BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO, create_queue},
    {"bfGetCommandQueueInfo", "pInfo", BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO, get_queue_info},
    {"bfCreateFence", "pInfo", BF_STRUCTURE_TYPE_FENCE_CREATE_INFO, create_fence},
    {"bfIsFeatureEnabled", "pResult", BF_STRUCTURE_TYPE_FEATURE_RESULT, is_feature_enabled},
    {"bfQueryFeatureInterface", "pInterface", BF_STRUCTURE_TYPE_NATIVE_FENCE_INTERFACE,
     query_interface},
    {"pfnGetSystemCaps", "pCaps", BF_STRUCTURE_TYPE_NATIVE_FENCE_SYSTEM_CAPS, get_system_caps},
    {"bfGetNativeFenceCaps", "pCaps", BF_STRUCTURE_TYPE_NATIVE_FENCE_CAPS, get_caps},
    {"bfCreateNativeFence", "pInfo", BF_STRUCTURE_TYPE_NATIVE_FENCE_CREATE_INFO,
     create_native_fence},
    {"bfGetNativeFenceMapping", "pMapping", BF_STRUCTURE_TYPE_NATIVE_FENCE_MAPPING, get_mapping},
    {"bfNotifyFencesSignaled", "pNotification", BF_STRUCTURE_TYPE_FENCE_NOTIFICATION, notify},
    {"bfCreateFenceLogReader", "pInfo", BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
     create_reader},
    {"bfGetBackgroundProcessingProperties", "pProperties",
     BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES, get_properties},
    {"bfAddBackgroundDriver", "pDriver", BF_STRUCTURE_TYPE_BACKGROUND_DRIVER, add_driver},
    {"bfCreateRing", "pInfo", BF_STRUCTURE_TYPE_RING_CREATE_INFO, create_ring},
    {"bfCreateRing", "pRing", BF_STRUCTURE_TYPE_RING, fill_ring},
    {"bfQueueDispatchSliced", "pInfo", BF_STRUCTURE_TYPE_SLICED_DISPATCH_INFO, dispatch_sliced},
    {"bfGetPreemptionCaps", "pCaps", BF_STRUCTURE_TYPE_PREEMPTION_CAPS, get_preemption_caps},
    {"bfGetPreemptionStatus", "pStatus", BF_STRUCTURE_TYPE_PREEMPTION_STATUS,
     get_preemption_status},
};
#define ROWS      (sizeof(rows) / sizeof(rows[0]))
#define LAST_TYPE BF_STRUCTURE_TYPE_FENCE_NOTIFICATION_ENGINE

/* The struct with what the function needs to succeed. */
static union structure structure_of(struct subject *t, const struct row *row)
{
    union structure s;
    memset(&s, 0, sizeof(s));
    if (row->run == attach_device) {
        s.attach = fixture_attach_info(&t->f, t->attach_queues);
    } else if (row->run == create_reader) {
        s.reader.queue = t->queue;
        s.reader.type = BF_FENCE_LOG_TYPE_WAITS;
    } else if (row->run == create_ring) {
        s.ring_info.entryCount = 64;
    }
    s.base.sType = row->type;
    return s;
}

/* The call is refused in one line that has all of these in it, and leaves the struct alone. */
static void check_refused(struct subject *t, const struct row *row, BfStructureType type,
                          void *next)
{
    union structure s = structure_of(t, row), before;
    s.base.sType = type;
    s.base.pNext = next;
    before = s;
    char line[512], member[64], value[64];
    snprintf(member, sizeof(member), "%s->%s", row->argument, next ? "pNext" : "sType");
    if (next)
        snprintf(value, sizeof(value), "%p", next);
    else
        snprintf(value, sizeof(value), "is %d,", (int)type);
    lines_begin();
    VkResult result = row->run(t, &s);
    uint32_t lines = lines_end(line, sizeof(line));
    if (result != VK_ERROR_VALIDATION_FAILED_EXT || lines != 1 || !strstr(line, row->call) ||
        !strstr(line, member) || !strstr(line, value) || memcmp(&s, &before, sizeof(s)) != 0)
        fail_msg("%s with sType %d and pNext %p: result %d, %u lines, the struct is %s: %s",
                 row->call, (int)type, next, result, lines,
                 memcmp(&s, &before, sizeof(s)) ? "changed" : "as it was", line);
}

static void check_row(struct subject *t, const struct row *row)
{
    for (int type = 0; type <= LAST_TYPE + 1; type++)
        if (type != (int)row->type)
            check_refused(t, row, (BfStructureType)type, NULL);
    /* A Vulkan struct's, and one that says nothing. */
    check_refused(t, row, (BfStructureType)VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, NULL);
    check_refused(t, row, BF_STRUCTURE_TYPE_MAX_ENUM, NULL);
    BfBaseOutStructure known = {.sType = row->type};
    BfBaseOutStructure unknown = {BF_TYPE(MAX_ENUM)};
    check_refused(t, row, row->type, &known);
    check_refused(t, row, row->type, &unknown);
}

/* With the right sType it succeeds, and what it fills in keeps sType and pNext. */
static void check_accepted(struct subject *t, const struct row *row)
{
    union structure s = structure_of(t, row);
    VkResult result = row->run(t, &s);
    if (result != VK_SUCCESS || s.base.sType != row->type || s.base.pNext)
        fail_msg("%s: result %d, sType %d, pNext %p", row->call, result, (int)s.base.sType,
                 (void *)s.base.pNext);
}

static void open_subject(struct subject *t)
{
    memset(t, 0, sizeof(*t));
    fixture_open(&t->f, NULL);
    t->queue = make_queue(&t->f, BF_COMMAND_LIST_TYPE_DIRECT);
    t->native = make_native_fence(&t->f, 1);
}

TEST(another_stype_and_an_unknown_struct_are_refused)
{
    static struct subject t;
    open_subject(&t);
    for (size_t i = 0; i < ROWS; i++) {
        check_row(&t, &rows[i]);
        if (rows[i].run != attach_device && rows[i].run != dispatch_sliced) /* tests/queue */
            check_accepted(&t, &rows[i]);
    }
    fixture_close(&t.f);
}

TEST(attaching_is_refused_likewise_and_then_succeeds)
{
    if (fixture_is_layered())
        return; /* a device of the layer's is attached already */
    static struct subject t;
    memset(&t, 0, sizeof(t));
    fixture_open_instance(&t.f, &fixture_plain);
    assert_success(fixture_open_device(&t.f, &fixture_plain));
    check_row(&t, &rows[0]);
    check_accepted(&t, &rows[0]);
    fixture_close(&t.f);
}

/* What extends a struct is found by its sType, once, and where it is known. */
TEST(structs_that_extend_others_are_found_by_version)
{
    static struct subject t;
    open_subject(&t);
    BfSyncObjectCreateInfo sync = {BF_TYPE(SYNC_OBJECT_CREATE_INFO)}, again = sync;
    BfFenceNotificationEngine engine = {BF_TYPE(FENCE_NOTIFICATION_ENGINE)};
    BfFenceCreateInfo fence = {BF_TYPE(FENCE_CREATE_INFO), .pNext = &sync};
    BfFenceNotification notification = {BF_TYPE(FENCE_NOTIFICATION), .pNext = &engine};
    BfFence made;
    assert_success(bfCreateFence(t.f.bf, &fence, &made));
    bfDestroyFence(made);
    assert_success(bfNotifyFencesSignaled(t.f.bf, &notification));
    sync.pNext = &again;
    engine.pNext = &engine;
    assert_bad_input(bfCreateFence(t.f.bf, &fence, &made));
    assert_bad_input(bfNotifyFencesSignaled(t.f.bf, &notification));
    sync.pNext = engine.pNext = NULL;
    fence.pNext = &engine;
    notification.pNext = &sync;
    assert_bad_input(bfCreateFence(t.f.bf, &fence, &made));
    assert_bad_input(bfNotifyFencesSignaled(t.f.bf, &notification));
    fixture_close(&t.f);
}

/* The table above has a row for every type, but for those that extend others, and that of what
 * Belfry hands to the program. */
TEST(every_type_is_tried)
{
    for (int type = 1; type <= LAST_TYPE; type++) {
        bool found = type == BF_STRUCTURE_TYPE_BACKGROUND_MODE_INFO ||
                     type == BF_STRUCTURE_TYPE_SYNC_OBJECT_CREATE_INFO ||
                     type == BF_STRUCTURE_TYPE_FENCE_NOTIFICATION_ENGINE;
        for (size_t i = 0; i < ROWS; i++)
            found = found || (int)rows[i].type == type;
        if (!found)
            fail_msg("no function is tried with sType %d", type);
    }
}

/* LI-1 */
TEST(a_layer_of_another_build_gets_nothing)
{
    extern const void *bf_layer_interface(uint32_t version);
    assert_null(bf_layer_interface(0));
    assert_null(bf_layer_interface(1));
}

static void note_mode(void *context, const BfBackgroundModeInfo *info)
{
    *(BfBackgroundModeInfo *)context = *info;
}

FIXTURE_TEST(what_belfry_hands_over_says_what_it_is)
{
    BfBackgroundModeInfo seen = {.pNext = f};
    const BfBackgroundDriver driver = {BF_TYPE(BACKGROUND_DRIVER), .pContext = &seen,
                                       .pfnOnMode = note_mode};
    assert_success(bfAddBackgroundDriver(f->bf, &driver));
    assert_success(bfSetBackgroundProcessingMode(f->bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                                 BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
    assert_int_equal(seen.sType, BF_STRUCTURE_TYPE_BACKGROUND_MODE_INFO);
    assert_null(seen.pNext);
}
