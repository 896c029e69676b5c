/* SPDX-License-Identifier: MIT */
/* Debug labels of queues (guarantees N-1 to N-4, scheduler/label.h): whoever shares a VkQueue, and
 * whatever is held, a queue's labels are around its own batches.
 *
 * What reaches the driver is written as a line: "+a" begins the label a, "-a" ends it, "!a" is
 * inserted, "s" is a submission (or a sparse bind), "p" a present; in brackets the labels that are
 * open around the two, outermost first. */
#include "support/world.h"

#include "belfry/belfry.h"
#include "support/lines.h"

#define RECORDS 256

static struct belfry_icd_record records[RECORDS];

static void watch(struct device *w)
{
    memset(records, 0, sizeof(records));
    w->icd.record_start(records, RECORDS);
}

/* The struct and the name are gone when the call returns, as a program may have it. */
static void call_label(PFN_vkQueueBeginDebugUtilsLabelEXT call, VkQueue queue, const char *name)
{
    char copy[64];
    snprintf(copy, sizeof(copy), "%s", name);
    VkDebugUtilsLabelEXT label = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = copy,
                                  .color = {1, 0, 0, 1}};
    call(queue, &label);
    memset(copy, '?', sizeof(copy) - 1);
    memset(&label, 0xdd, sizeof(label));
}

static void begin(VkQueue queue, const char *name)
{
    call_label(vkQueueBeginDebugUtilsLabelEXT, queue, name);
}

static void insert(VkQueue queue, const char *name)
{
    call_label(vkQueueInsertDebugUtilsLabelEXT, queue, name);
}

static void end(VkQueue queue)
{
    vkQueueEndDebugUtilsLabelEXT(queue);
}

/* A batch that may not go before 't' has the value, and one that may at once. */
static VkSemaphore passed, t; /* at 1, and at 0 to begin with */

static void hold(VkQueue queue, VkSemaphore semaphore, uint64_t value)
{
    assert_submitted(queue, .wait = semaphore, .wait_value = value);
}

static void submit(VkQueue queue)
{
    hold(queue, passed, 1);
}

/* Calls of the queues a, b and c, separated by spaces: "a+x" begins the label x, "a-" ends one,
 * "a!x" inserts, "a" submits, "a?1" submits a batch that waits until t is 1; "t=1" signals it. */
static void make_calls(struct device *w, const char *calls)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", calls);
    for (char *call; (call = strtok_r(rest, " ", &rest));) {
        VkQueue queue = call[0] == 't' ? NULL : w->queues[0][call[0] - 'a'];
        switch (call[1]) {
        case '+':
            begin(queue, call + 2);
            break;
        case '-':
            end(queue);
            break;
        case '!':
            insert(queue, call + 2);
            break;
        case '?':
            hold(queue, t, (uint64_t)(call[2] - '0'));
            break;
        case '=':
            vulkan_signal(w->device, t, (uint64_t)(call[2] - '0'));
            break;
        default:
            submit(queue);
        }
    }
}

/* What has come since 'watch', and by these calls; goes on watching. */
static void expect_at(struct device *w, const char *calls, const char *expected, const char *file,
                      int line)
{
    make_calls(w, calls);
    char text[4096] = "";
    size_t n = w->icd.record_stop(), length = 0;
    assert_true(n <= RECORDS);
    for (size_t i = 0; i < n; i++) {
        const struct belfry_icd_record *r = &records[i];
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", i ? " " : "");
        switch (r->call) {
        case BELFRY_ICD_CALL_LABEL_BEGIN:
            length += (size_t)snprintf(text + length, sizeof(text) - length, "+%s", r->label);
            break;
        case BELFRY_ICD_CALL_LABEL_END:
            length += (size_t)snprintf(text + length, sizeof(text) - length, "-%s", r->label);
            break;
        case BELFRY_ICD_CALL_LABEL_INSERT:
            length += (size_t)snprintf(text + length, sizeof(text) - length, "!%s[%s]", r->label,
                                       r->labels);
            break;
        default:
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s[%s]",
                                       r->call == BELFRY_ICD_CALL_PRESENT ? "p" : "s", r->labels);
            break;
        }
    }
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "  expected: %s\n  came:     %s\n", expected, text);
        _fail(file, line);
    }
    watch(w);
}
#define EXPECT(w, calls, expected) expect_at(w, calls, expected, __FILE__, __LINE__)

static void open_world(struct device *w, const char *shape, const uint32_t *counts)
{
    world_open(w, shape, counts);
    passed = vulkan_timeline(w->device, 1);
    t = vulkan_timeline(w->device, 0);
    watch(w);
}

static void close_world(struct device *w)
{
    w->icd.record_stop();
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, passed, t);
    world_close(w);
}

static const uint32_t two[] = {2, WORLD_END}, three[] = {3, WORLD_END};

static void open_shared(struct device *w)
{
    open_world(w, "SHAPE=q1", two);
}
/* Two queues that share a VkQueue below. */
#define SHARED_TEST(name_) TEST_AROUND(name_, struct device, w, open_shared, close_world)

/* N-3: each call as it was made, regions with nothing in them too. */
TEST_AROUND(test_alone_as_the_program_calls, struct device, w, open_world, close_world, "SHAPE=q4",
            two)
{
    EXPECT(w, "a+a", "+a");
    EXPECT(w, "a a+b b+other a a!x", "s[a] +b +other s[a/b] !x[a/b]");
    EXPECT(w, "a- a+empty a- a- a!y a", "-b +empty -empty -a !y[] s[]");
    EXPECT(w, "b- b", "-other s[]");
}

/* N-1 */
TEST_AROUND(test_shared_each_around_its_own, struct device, w, open_world, close_world, "SHAPE=q1",
            three)
{
    EXPECT(w, "a+a b+b", "+a"); /* nothing to show for b yet */
    EXPECT(w, "a b b a", "s[a] -a +b s[b] s[b] -b +a s[a]");
    /* One without labels is in nobody's. */
    EXPECT(w, "c a", "-a s[] +a s[a]");
    /* Nested ones, of which only what differs is touched, also beside another of the same name. */
    EXPECT(w, "a+in a a- a+in a", "+in s[a/in] -in +in s[a/in]");
    EXPECT(w, "b a", "-in -a +b s[b] -b +a +in s[a/in]");
    EXPECT(w, "a- a-", "-in -a");
    /* Begun and ended by turns. */
    EXPECT(w, "b-", "");
    EXPECT(w, "b", "s[]");
    EXPECT(w, "b+b a+a b- a a-", "+b -b +a s[a] -a");
}

/* N-2 */
SHARED_TEST(test_inserted_on_a_shared_queue)
{
    EXPECT(w, "a+a a b!x a!y a a-", "+a s[a] -a !x[] +a !y[a] s[a] -a");
}

/* Held packets keep their labels, alone on their VkQueue and beside others. */
TEST(test_held)
{
    static const char *const shapes[] = {"SHAPE=q2", "SHAPE=q1"};
    for (uint32_t shared = 0; shared < 2; shared++) {
        struct device w;
        open_world(&w, shapes[shared], two);
        EXPECT(&w, "a+a", "+a");
        EXPECT(&w, "a?1 a- a+b a!before a?1 a!x a+c a!y a- a!z a?2 a?2 a- a?2 a+d",
               ""); /* the time of d hasn't come */
        EXPECT(&w, "b+n b b-", shared ? "-a +n s[n] -n" : "+n s[n] -n");
        EXPECT(&w, "t=1",
               &"+a s[a] -a +b !before[b] s[b] !x[b] +c !y[b/c] -c !z[b]"[shared ? 0 : 3]);
        /* Two of one region go in one call. */
        EXPECT(&w, "t=2", "s[b] -b s[]");
        EXPECT(&w, "a", "+d s[d]");
        EXPECT(&w, "a-", "-d");
        close_world(&w);
    }
}

/* An insert parts what would go in one call. */
SHARED_TEST(test_inserted_between_held_packets)
{
    VkQueue a = w->queues[0][0];
    for (uint64_t round = 1; round <= 2; round++) {
        if (round == 2)
            make_calls(w, "a+a");
        for (uint32_t i = 0; i < 4; i++) {
            hold(a, t, round);
            if (i % 2)
                make_calls(w, "a!x");
        }
        make_calls(w, "a!y");
        if (round == 2)
            make_calls(w, "a-");
        vulkan_signal(w->device, t, round);
        EXPECT(w, "", round == 1 ? "s[] !x[] s[] !x[] !y[]" : "+a s[a] !x[a] s[a] !x[a] !y[a] -a");
    }
}

/* Command queues, on the same VkQueue, have no labels and are in nobody's. */
SHARED_TEST(test_command_queues_are_in_no_label)
{
    BfDevice device;
    BfCommandQueue queue;
    BfFence fence;
    const BfCommandQueueCreateInfo queue_info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                 .type = BF_COMMAND_LIST_TYPE_DIRECT};
    const BfFenceCreateInfo fence_info = {BF_TYPE(FENCE_CREATE_INFO)};
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &queue_info, &queue));
    assert_success(bfCreateFence(device, &fence_info, &fence));
    VkCommandBuffer commands = device_store(w, bfGetCommandQueueFamilyIndex(queue), 0, 1);
    VkCommandBuffer more = device_store(w, bfGetCommandQueueFamilyIndex(queue), 1, 1);
    make_calls(w, "a+a a");
    assert_success(bfQueueExecute(queue, 1, &commands));
    EXPECT(w, "a", "+a s[a] -a s[] +a s[a]");
    assert_success(bfQueueWait(queue, fence, 1));
    assert_success(bfQueueExecute(queue, 1, &more));
    assert_success(bfQueueSignal(queue, fence, 2));
    EXPECT(w, "", "");
    assert_success(bfSignalFence(fence, 1));
    EXPECT(w, "", "-a s[]");
    make_calls(w, "a");
    assert_success(bfQueueWaitIdle(queue));
    EXPECT(w, "a-", "+a s[a] -a");
    bfDestroyFence(fence);
    bfDestroyCommandQueue(queue);
}

/* N-4: nothing comes after, and still the label ends. */
SHARED_TEST(test_held_and_ended_before_it_went)
{
    EXPECT(w, "a+a a+b a?1 a- a-", "+a +b");
    EXPECT(w, "t=1", "s[a/b] -b -a");
    /* With more behind it that is still held. */
    EXPECT(w, "a+a a?2 a- a+c a?3", "+a");
    EXPECT(w, "t=2", "s[a] -a");
    EXPECT(w, "b t=3", "s[] +c s[c]"); /* which the program has left open */
    EXPECT(w, "a-", "-c");
}

/* Several queues released at once: one call for each, not one for all. */
TEST_AROUND(test_released_together, struct device, w, open_world, close_world, "SHAPE=q1", three)
{
    static const char *const names[] = {"a", "b", NULL};
    for (uint32_t q = 0; q < 3; q++) {
        if (names[q])
            begin(w->queues[0][q], names[q]);
        hold(w->queues[0][q], t, 1);
        hold(w->queues[0][q], t, 1);
        if (names[q])
            end(w->queues[0][q]);
    }
    EXPECT(w, "", "+a");
    make_calls(w, "t=1");
    size_t n = w->icd.record_count();
    uint32_t calls = 0, infos[3] = {0};
    static const char *const labels[] = {"a", "b", ""};
    for (size_t i = 0; i < n; i++) {
        if (records[i].call != BELFRY_ICD_CALL_SUBMIT)
            continue;
        calls++;
        for (uint32_t q = 0; q < 3; q++)
            if (strcmp(records[i].labels, labels[q]) == 0)
                infos[q] += records[i].infos;
    }
    assert_int_equal(calls, 3);
    for (uint32_t q = 0; q < 3; q++)
        assert_int_equal(infos[q], 2);
}

/* A call with a fence, a fence alone, both forms of submission, several batches in a call. */
SHARED_TEST(test_every_form_of_submission)
{
    VkQueue a = w->queues[0][0], b = w->queues[0][1];
    VkFence fence = vulkan_fence(w->device, false);
    EXPECT(w, "a+a b+b", "+a");
    assert_submitted1(b, .wait = passed, .wait_value = 1, .fence = fence);
    EXPECT(w, "", "-a +b s[b]");
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(w->device, 1, &fence));
    assert_success(vkQueueSubmit(a, 0, NULL, fence));
    EXPECT(w, "", "-b +a s[a]");
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    const VkSubmitInfo2 infos[2] = {{VK_TYPE(SUBMIT_INFO_2)}, {VK_TYPE(SUBMIT_INFO_2)}};
    assert_success(vkResetFences(w->device, 1, &fence));
    assert_success(vkQueueSubmit2(b, 2, infos, fence));
    EXPECT(w, "", "-a +b s[b]");
    assert_success(vkQueueBindSparse(a, 0, NULL, VK_NULL_HANDLE));
    const VkBindSparseInfo bind = {VK_TYPE(BIND_SPARSE_INFO)};
    assert_success(vkQueueBindSparse(a, 1, &bind, VK_NULL_HANDLE));
    EXPECT(w, "", "-b +a s[a]");
    /* One that can't be copied. */
    const VkSubmitInfo2 strange = {VK_TYPE(SUBMIT_INFO_2), .pNext = STRANGER};
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(w->device, 1, &fence));
    assert_success(vkQueueSubmit2(b, 1, &strange, fence));
    EXPECT(w, "", "-a +b s[b]");
    EXPECT(w, "a- b-", "-b");
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroyFence(w->device, fence, NULL);
}

SHARED_TEST(test_present)
{
    VkQueue a = w->queues[0][0];
    const VkHeadlessSurfaceCreateInfoEXT surface_info = {VK_TYPE(HEADLESS_SURFACE_CREATE_INFO_EXT)};
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    assert_success(vkCreateHeadlessSurfaceEXT(w->instance, &surface_info, NULL, &surface));
    const VkSwapchainCreateInfoKHR info = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR),
                                           .surface = surface,
                                           .minImageCount = 2,
                                           .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                           .imageExtent = {16, 16},
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    assert_success(vkCreateSwapchainKHR(w->device, &info, NULL, &swapchain));
    VkSemaphore acquired = vulkan_binary(w->device);
    uint32_t image;
    assert_success(
        vkAcquireNextImageKHR(w->device, swapchain, UINT64_MAX, acquired, VK_NULL_HANDLE, &image));
    make_calls(w, "b+b b a+a");
    const VkPresentInfoKHR present = {VK_TYPE(PRESENT_INFO_KHR),    .waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &acquired, .swapchainCount = 1,
                                      .pSwapchains = &swapchain,    .pImageIndices = &image};
    assert_success(vkQueuePresentKHR(a, &present));
    EXPECT(w, "", "+b s[b] -b +a p[a]");
    EXPECT(w, "a- b-", "-a");
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, acquired, swapchain);
    vkDestroySurfaceKHR(w->instance, surface, NULL);
}

/* A trace takes every packet's way through the list. */
TEST(test_traced)
{
    struct device w;
    setenv("VK_BELFRY_MULTI_ENGINE_TRACE", "/dev/null", 1);
    open_world(&w, "SHAPE=q1", two);
    unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
    EXPECT(&w, "a+a a b+b b b- a a-", "+a s[a] -a +b s[b] -b +a s[a] -a");
    close_world(&w);
}

/* What a lost device drops takes its labels along. */
TEST_AROUND(test_lost, struct device, w, open_world, world_close, "SHAPE=q1 LOSE_AT_SUBMIT=1", two)
{
    VkQueue b = w->queues[0][1];
    make_calls(w, "a+a a?1 a!x a+b a!y a?1");
    lines_begin();
    VkResult result = vulkan_submit(b, (struct vulkan_batch){.wait = passed, .wait_value = 1});
    assert_int_equal(lines_end(NULL, 0), 1);
    assert_int_equal(result, VK_ERROR_DEVICE_LOST);
    make_calls(w, "a- a- a-"); /* one too many ends nothing */
    begin(b, "left open");
    w->icd.record_stop();
    assert_int_equal(vkDeviceWaitIdle(w->device), VK_ERROR_DEVICE_LOST);
    vulkan_destroy(w->device, t, passed);
}

/* Under threads: every submission is in its own queue's labels, in its queue's order --------------
 */

#define THREADS 4
#define ROUNDS  300

static struct {
    uint32_t batches[THREADS]; /* that came within labels of the thread */
    uint32_t inserts[THREADS];
    uint32_t last[THREADS]; /* the greatest number seen in them */
    uint32_t wrong;
} tally;

/* "q2/17": thread 2's 17th round. */
static void tally_seen(const struct belfry_icd_record *record, void *user)
{
    uint32_t thread, round;
    if (record->call != BELFRY_ICD_CALL_SUBMIT && record->call != BELFRY_ICD_CALL_LABEL_INSERT)
        return;
    if (sscanf(record->labels, "q%u/%u", &thread, &round) != 2 || thread >= THREADS ||
        round < tally.last[thread]) {
        tally.wrong++;
        return;
    }
    tally.last[thread] = round;
    if (record->call == BELFRY_ICD_CALL_LABEL_INSERT)
        tally.inserts[thread] += record->label[0] == 'x' && record->label[1] == '0' + (int)thread;
    else
        tally.batches[thread] += record->infos;
}

struct thread {
    pthread_t id;
    uint32_t number;
    VkQueue queue;
    VkSemaphore own, neighbour; /* each waits for what its neighbour has done half a lap before */
};

/* The round's number is the same text again and again, so that the driver keeps few of them. */
static void *run_thread(void *argument)
{
    struct thread *own = argument;
    char name[8], mark[8];
    snprintf(name, sizeof(name), "q%u", own->number);
    snprintf(mark, sizeof(mark), "x%u", own->number);
    begin(own->queue, name);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        char round[16];
        snprintf(round, sizeof(round), "%u", i / 10);
        begin(own->queue, round);
        assert_submitted(own->queue, .wait = own->neighbour, .wait_value = i > 8 ? i - 8 : 0,
                         .signal = own->own, .signal_value = i);
        if (i % 3 == 0)
            insert(own->queue, mark);
        end(own->queue);
    }
    end(own->queue);
    return NULL;
}

TEST(test_threads)
{
    static const uint32_t four[] = {THREADS, WORLD_END};
    static const char *const shapes[] = {"SHAPE=q1", "SHAPE=q2"};
    for (size_t s = 0; s < 2; s++) {
        struct device w;
        world_open(&w, shapes[s], four);
        memset(&tally, 0, sizeof(tally));
        struct thread threads[THREADS];
        VkSemaphore semaphores[THREADS];
        for (uint32_t i = 0; i < THREADS; i++)
            semaphores[i] = vulkan_timeline(w.device, 0);
        w.icd.set_callback(tally_seen, NULL);
        for (uint32_t i = 0; i < THREADS; i++) {
            threads[i] = (struct thread){.number = i,
                                         .queue = w.queues[0][i],
                                         .own = semaphores[i],
                                         .neighbour = semaphores[(i + 1) % THREADS]};
            assert_int_equal(pthread_create(&threads[i].id, NULL, run_thread, &threads[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++)
            pthread_join(threads[i].id, NULL);
        for (uint32_t i = 0; i < THREADS; i++)
            vulkan_wait(w.device, semaphores[i], ROUNDS);
        assert_success(vkDeviceWaitIdle(w.device));
        w.icd.set_callback(NULL, NULL);
        assert_int_equal(tally.wrong, 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(tally.batches[i], ROUNDS);
            assert_int_equal(tally.inserts[i], ROUNDS / 3);
            vkDestroySemaphore(w.device, semaphores[i], NULL);
        }
        world_close(&w);
    }
}
