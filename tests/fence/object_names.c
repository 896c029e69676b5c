/* SPDX-License-Identifier: MIT */
/* Names that the program gives to Belfry's objects (bfSetObjectName): traces and messages show
 * them, and they end with the object. */
#include "support/fixture.h"

#include "../trace/trace_decode.h"

static char last[1024];

static void hear(BfMessageSeverity severity, const char *text, void *data)
{
    snprintf(last, sizeof(last), "%s", text);
}

static const char *find_message(const char *part)
{
    return strstr(last, part);
}

static bool has_track(const struct decoded *d, const char *name)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        if (p->kind == DECODED_TRACK &&
            decoded_starts_with(p->process ? p->process_name : p->name, name))
            return true;
    }
    return false;
}

static bool has_event(const struct decoded *d, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->packets[i].kind == DECODED_EVENT && decoded_starts_with(d->packets[i].name, name))
            return true;
    return false;
}

TEST(a_trace_shows_the_names)
{
    char folder[] = "/tmp/belfry-names-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/run.pftrace", folder);
    setenv("VK_BELFRY_MULTI_ENGINE_TRACE", path, 1);
    struct fixture f;
    fixture_open(&f, NULL);
    unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY),
                   other = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_fence(&f, 0), plain = make_fence(&f, 0), far = make_fence(&f, 0);
    char name[128], cut[128];
    memset(name, 'x', 89);
    strcpy(name + 89, "ü and more");
    snprintf(cut, sizeof(cut), "signal %.89s (fence ", name);
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_DEVICE, f.bf, "the only one"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, queue, "uploads"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, other, "mistaken"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, other, NULL));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, "frame done"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, far, name));
    queue_signal(queue, fence, 1);
    queue_signal(queue, far, 1);
    queue_wait(other, fence, 1);
    queue_signal(other, plain, 1);
    await_idle(queue);
    await_idle(other);
    fixture_close(&f);

    struct decoded d = decode_file(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    decoded_check(&d);
    char process[128];
    snprintf(process, sizeof(process), "%s (the only one)", program_invocation_short_name);
    assert_true(has_track(&d, process));
    assert_true(has_track(&d, "uploads (copy command queue "));
    assert_true(has_track(&d, "copy command queue "));
    assert_false(has_track(&d, "mistaken"));
    assert_true(has_event(&d, "signal frame done (fence "));
    assert_true(has_event(&d, "wait frame done (fence "));
    assert_true(has_event(&d, cut)); /* the last character is left out, not half of it */
    assert_true(has_event(&d, "signal fence "));
    decoded_free(&d);
}

FIXTURE_TEST(messages_show_the_names)
{
    assert_success(bfSetMessageCallback(hear, NULL));
    const BfFenceCreateInfo unsignalled = {BF_TYPE(FENCE_CREATE_INFO),
                                           .pNext = BF_SYNC_OBJECT(BF_SYNC_OBJECT_NO_SIGNAL_BIT)};
    BfFence fence;
    assert_success(bfCreateFence(f->bf, &unsignalled, &fence));
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfEvent event = make_event(f);

    assert_int_equal(bfSignalFence(fence, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(find_message("bfSignalFence: the fence may not"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, "für den Rest"));
    assert_int_equal(bfSignalFence(fence, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(find_message("bfSignalFence: the fence 'für den Rest' may not"));
    assert_int_equal(bfQueueSignal(queue, fence, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(find_message("bfQueueSignal: the fence 'für den Rest' was"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, ""));
    assert_int_equal(bfSignalFence(fence, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(find_message("bfSignalFence: the fence may not"));

    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, queue, "uploads"));
    assert_int_equal(bfSetCommandQueuePriority(queue, BF_COMMAND_QUEUE_PRIORITY_HIGH),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_non_null(find_message("bfSetCommandQueuePriority: the queue 'uploads' was"));

    assert_success(bfSetObjectName(BF_OBJECT_TYPE_EVENT, event, "bell"));
    const BfEvent twice[] = {event, event};
    assert_int_equal(bfWaitForEvents(2, twice, VK_TRUE, 0, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(find_message(" 'bell'"));

    BfCommandQueue logged = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    const BfFenceLogReaderCreateInfo log = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = logged,
                                            .type = BF_FENCE_LOG_TYPE_WAITS};
    BfFenceLogReader reader = NULL;
    size_t size = 0;
    assert_success(bfCreateFenceLogReader(f->bf, &log, &reader));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE_LOG_READER, reader, "diary"));
    assert_bad_input(bfReadFenceLog(reader, 0, NULL, NULL, NULL));
    assert_non_null(find_message("bfReadFenceLog: the reader 'diary': pCount"));
    assert_bad_input(bfDumpFenceLog(reader, NULL, NULL));
    assert_non_null(find_message("bfDumpFenceLog: the reader 'diary': pSize"));
    assert_bad_input(bfSetFenceLogEntries(reader, 1));
    assert_non_null(find_message("bfSetFenceLogEntries: the reader 'diary': 1 entries"));
    assert_success(bfDumpFenceLog(reader, &size, NULL));
    bfDestroyFenceLogReader(reader);
    bfDestroyFence(fence);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

/* 127 bytes, without half a character at the end. */
FIXTURE_TEST(a_long_name_is_cut_off)
{
    assert_success(bfSetMessageCallback(hear, NULL));
    const BfFenceCreateInfo unsignalled = {BF_TYPE(FENCE_CREATE_INFO),
                                           .pNext = BF_SYNC_OBJECT(BF_SYNC_OBJECT_NO_SIGNAL_BIT)};
    BfFence fence;
    char name[256], shown[300];
    assert_success(bfCreateFence(f->bf, &unsignalled, &fence));
    for (uint32_t begin = 125; begin <= 128; begin++) {
        memset(name, 'x', begin);
        strcpy(name + begin, "ü and more");
        assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, name));
        bfSignalFence(fence, 1);
        uint32_t length = begin == 125 ? 127 : begin > 127 ? 127 : begin;
        snprintf(shown, sizeof(shown), " '%.*s' ", (int)length, name);
        assert_non_null(find_message(shown));
    }
    bfDestroyFence(fence);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

/* The next object may have the same address. */
FIXTURE_TEST(a_name_ends_with_its_object)
{
    assert_success(bfSetMessageCallback(hear, NULL));
    const BfFenceCreateInfo unsignalled = {BF_TYPE(FENCE_CREATE_INFO),
                                           .pNext = BF_SYNC_OBJECT(BF_SYNC_OBJECT_NO_SIGNAL_BIT)};
    for (uint32_t i = 0; i < 8; i++) {
        BfFence fence;
        assert_success(bfCreateFence(f->bf, &unsignalled, &fence));
        bfSignalFence(fence, 1);
        assert_non_null(find_message("bfSignalFence: the fence may not"));
        assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, "short-lived"));
        bfDestroyFence(fence);
    }
    assert_success(bfSetMessageCallback(NULL, NULL));
}

FIXTURE_TEST(bad_input)
{
    assert_success(bfSetMessageCallback(hear, NULL));
    BfFence fence = make_fence(f, 0);
    const struct {
        BfObjectType type;
        const void *object;
    } bad[] = {
        {(BfObjectType)0, fence},
        {(BfObjectType)6, fence},
        {BF_OBJECT_TYPE_COMMAND_QUEUE, fence},
        {BF_OBJECT_TYPE_EVENT, fence},
        {BF_OBJECT_TYPE_DEVICE, fence},
        {BF_OBJECT_TYPE_FENCE_LOG_READER, fence},
        {BF_OBJECT_TYPE_FENCE, NULL},
        {BF_OBJECT_TYPE_DEVICE, NULL},
        {BF_OBJECT_TYPE_FENCE, f->bf},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        last[0] = '\0';
        assert_int_equal(bfSetObjectName(bad[i].type, bad[i].object, "x"),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_non_null(find_message("bfSetObjectName: "));
    }
    assert_success(bfSetMessageCallback(NULL, NULL));
}
