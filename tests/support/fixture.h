/* SPDX-License-Identifier: MIT */
/* A program that knows Belfry: what the tests of D3D12's queues and fences stand on. It attaches
 * its device itself, or, where VK_INSTANCE_LAYERS names Belfry's layer, takes what the layer has
 * attached; on the test driver it counts what arrives below, on another it runs without looking.
 *
 * A call that never returns is a failure: who opens a device has FIXTURE_SECONDS from there on,
 * then the process ends by SIGALRM. Nothing else here depends on time.
 *
 * Functions fail the test when something is amiss, unless they return a VkResult. Those that make
 * something leave it to fixture_close. All belong to the test's main thread. */
#ifndef BELFRY_TESTS_SUPPORT_FIXTURE_H
#define BELFRY_TESTS_SUPPORT_FIXTURE_H

#include "support/device.h"

#include <belfry/belfry.h>
#include <belfry/native_fence.h>

#define FIXTURE_QUEUES  2 /* of each family, at most */
#define FIXTURE_WORDS   16384
#define FIXTURE_OBJECTS 256
#define FIXTURE_SECONDS 60

/* How often a loop runs: less where each turn costs many times as much. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif
#define TIMES(n_) (!SANITIZED ? (n_) : (n_) > 32 ? (n_) / 32 : 1)

#define BIG (UINT64_C(1) << 60)

struct fixture {
    DEVICE_BASE; /* its buffer has FIXTURE_WORDS words */
    BfDevice bf;
    bool layered;                /* by the layer; else attached by the program */
    bool calibrated;             /* VK_EXT_calibrated_timestamps is enabled */
    bool int64, addresses;       /* shaderInt64 and bufferDeviceAddress are, by the program */
    VkDeviceSize host_alignment; /* for host pointers, if their import is; else 0 */
    bool no_native_fences;       /* attach without asking for them */
    bool reports;                /* VK_EXT_device_fault and checkpoints are, by the options */
    bool semaphore_fd;           /* VK_KHR_external_semaphore_fd is, by the program */
    uint64_t violations[BELFRY_ICD_VIOLATION_COUNT]; /* expected ones, for fixture_close */
    bool lost;                                       /* the test has lost the device on purpose */

    VkQueueGlobalPriorityKHR global_priority;  /* of all queues; 0: none asked for */
    VkQueue protected_queues[DEVICE_FAMILIES]; /* VK_NULL_HANDLE: none */

    /* What fixture_close destroys. */
    BfCommandQueue made_queues[FIXTURE_OBJECTS];
    BfFence made_fences[FIXTURE_OBJECTS];
    BfEvent made_events[FIXTURE_OBJECTS];
    VkSemaphore made_semaphores[FIXTURE_OBJECTS];
    VkEvent made_stalls[FIXTURE_OBJECTS];
    uint32_t queue_count, fence_count, event_count, semaphore_count, stall_count;
    uint32_t fences_asked_for;   /* of make_fence */
    uint32_t stalls;             /* that last */
    BfCommandQueue marker_queue; /* fixture_settle's */
    BfFence marker_fence;
    uint64_t marker;
};

struct fixture_options {
    /* "NAME=value NAME=value": set while the instance is made, with BELFRY_ICD_ in front unless the
     * name begins with VK_; or NULL */
    const char *environment;
    const char *settings;          /* likewise, until the device is attached, which reads them */
    bool realtime;                 /* families ask for the global priority REALTIME */
    bool uncalibrated;             /* without VK_EXT_calibrated_timestamps */
    bool no_native_fences;         /* as on a device without them */
    const char *const *extensions; /* of the device, besides the fixture's own; ended by NULL */
    void *features;                /* of the device, besides the fixture's own: a struct, or NULL */
    bool second;                   /* another physical device, where there is one */
    uint32_t family;               /* UINT32_MAX: queues of all families; else of this one alone */
    bool protected_queues; /* the second queue of each family that has several, if it can be */
};

extern const struct fixture_options fixture_plain;
/* Options: these, that environment, or those settings; else what is plain. */
#define OPTIONS(...)       (&(const struct fixture_options){.family = UINT32_MAX, __VA_ARGS__})
#define ENVIRONMENT(text_) OPTIONS(.environment = (text_))
#define SETTINGS(text_)    OPTIONS(.settings = (text_))

/* Everything; 'options' may be NULL for fixture_plain. fixture_close fails when the test driver has
 * seen a violation that wasn't expected, or the validation layer spoke. */
void fixture_open(struct fixture *f, const struct fixture_options *options);
void fixture_close(struct fixture *f);
/* In steps: the instance, the VkDevice, Belfry's side of it. */
void fixture_open_instance(struct fixture *f, const struct fixture_options *options);
VkResult fixture_open_device(struct fixture *f, const struct fixture_options *options);
VkResult fixture_attach(struct fixture *f);
/* Not under the layer: with settings of the program's own. */
VkResult fixture_attach_with(struct fixture *f, uint32_t count, const BfSetting *settings);
/* What fixture_attach passes; 'queues' has room for DEVICE_FAMILIES * FIXTURE_QUEUES. */
BfAttachInfo fixture_attach_info(struct fixture *f, BfAttachQueue *queues);

/* The first family with such queues of which the program has one; without one the test fails. */
uint32_t fixture_family(const struct fixture *f, VkQueueFlagBits flag);

/* Does this run use the test driver, Belfry's layer, the validation layer? Usable before
 * fixture_open. */
bool fixture_is_icd(void);
bool fixture_is_layered(void);
bool fixture_is_validated(void);
/* Does make_fence make native fences, save each fourth (BELFRY_TEST_NATIVE_FENCES=1)? */
bool fixture_has_native_fences(void);

/* ----------------------------------------------------------------------------------- Objects -- */

extern const BfCommandListType queue_types[3];
BfCommandQueue make_queue(struct fixture *f, BfCommandListType type);
/* As a kernel-mode queue's, its waits and signals are the CPU's. */
BfCommandQueue make_software_queue(struct fixture *f, BfCommandListType type);
BfFence make_fence(struct fixture *f, uint64_t value);
BfFence make_native_fence(struct fixture *f, uint64_t value);
BfEvent make_event(struct fixture *f); /* resets itself, not set */
VkSemaphore make_timeline(struct fixture *f, uint64_t value);
/* Destroys it now. */
void drop_queue(struct fixture *f, BfCommandQueue queue);
void drop_fence(struct fixture *f, BfFence fence);
void drop_event(struct fixture *f, BfEvent event);

/* Is it set? If so it no longer is. */
bool take_event(BfEvent event);
/* Blocks until it is set, and takes it. */
void await_event(BfEvent event);
/* Blocks until the background items that there are have ended. (Shaders that may be specialised are
 * analysed by such an item: what is recorded before isn't counted.) The mode is ALLOWED then. */
void await_background(BfDevice device);
/* Blocks until the fence is there (a wait with a NULL event). */
void await_fence(BfFence fence, uint64_t value);
void await_idle(BfCommandQueue queue);
/* Of a queue that stands at no wait: what it has signalled has come about. Of signals of plain
 * fences on an idle queue that is so when they return. */
void await_signals(BfCommandQueue queue);

BfDeviceCounters counters_of(struct fixture *f);
/* A native fence's memory, and its current value there, which the program can map. */
BfNativeFenceMapping mapping_of(BfFence fence);
const volatile uint64_t *word_of(BfFence fence);

/* Calls that have to succeed. */
void queue_signal(BfCommandQueue queue, BfFence fence, uint64_t value);
void queue_wait(BfCommandQueue queue, BfFence fence, uint64_t value);
void cpu_signal(BfFence fence, uint64_t value);
void set_event_on(BfFence fence, uint64_t value, BfEvent event);
void execute(BfCommandQueue queue, VkCommandBuffer commands);

/* -------------------------------------------------------------------------------------- Work -- */

/* Command buffers for that queue; what they write reaches other command buffers and the host. Each
 * is submitted once. commands_begin leaves the recording to the test, which ends with
 * commands_end. */
VkCommandBuffer commands_begin(struct fixture *f, BfCommandQueue queue);
VkCommandBuffer commands_begin_in(struct fixture *f, uint32_t family, VkCommandBufferLevel level);
void commands_end(VkCommandBuffer commands);
VkCommandBuffer write_word(struct fixture *f, BfCommandQueue queue, uint32_t index, uint32_t word);
VkCommandBuffer write_word_in(struct fixture *f, uint32_t family, uint32_t index, uint32_t word);
VkCommandBuffer copy_word(struct fixture *f, BfCommandQueue queue, uint32_t from, uint32_t to);
void put_word(struct fixture *f, VkCommandBuffer commands, uint32_t index, uint32_t word);
/* The word as the last finished work left it. */
uint32_t read_word(struct fixture *f, uint32_t index);

/* Work that lasts until stall_end: the engine, and every queue on it, stands. Direct and compute
 * queues alone can do it. */
VkEvent stall_begin(struct fixture *f, BfCommandQueue queue);
void stall_end(struct fixture *f, VkEvent stall);

/* On the test driver, while it is paused, and not under the layer, whose families aren't the
 * driver's: each of a family's VkQueues goes on by one step. Returns when these have ended. */
void step_family(struct fixture *f, uint32_t family);

/* Returns when all has happened that may happen now: on the test driver, when every driver queue is
 * idle or blocked; elsewhere when work of another queue, submitted now, has come through (during a
 * stall it does nothing there: that all is behind the stall is proof enough). Threads of the test
 * are not waited for. */
void fixture_settle(struct fixture *f);

/* ----------------------------------------------------------------------------- Other threads -- */

struct thread {
    void (*run)(void *argument);
    void *argument;
    pthread_t handle;
    _Atomic int id; /* gettid(), 0: not started */
    _Atomic bool finished;
};

/* The function must not fail the test: it leaves what it saw in its argument. */
void thread_start(struct thread *t, void (*run)(void *argument), void *argument);
/* Returns when it sleeps in a wait (and not at a lock on its way there), or has finished. */
void thread_await_sleep(struct thread *t);
/* Returns once it sleeps, be it at a lock, or has ended. */
void thread_await_stop(struct thread *t);
void thread_join(struct thread *t);

/* What a thread blocks in, by block_on(&b): a wait for the fence's value, for the event or for the
 * queue, whichever there is. */
struct blocked {
    BfFence fence;
    uint64_t value;
    BfEvent event;
    BfCommandQueue queue;
    VkResult result;
};
void block_on(void *blocked);

/* Returns when as many threads have called it; again and again. Zeroed at first. */
struct start_line {
    _Atomic uint32_t waiting;
};
void start_line_cross(struct start_line *line, uint32_t threads);

/* ---------------------------------------------------------------------------------------------- */

#define assert_bad_input(call_)      assert_int_equal(call_, VK_ERROR_VALIDATION_FAILED_EXT)
#define assert_value(fence_, value_) assert_int_equal(bfGetFenceCompletedValue(fence_), value_)

/* What main does where the fixture is: the tests; an argument is a pattern of names. */
int fixture_main(int argc, char **argv);

/* A test on a fixture that is open from its beginning to its end, 'f'; with options, and a
 * tear-down of cmocka's. */
#define FIXTURE_TEST(name_) FIXTURE_TEST_WITH(name_, NULL, NULL)
#define FIXTURE_TEST_WITH(name_, options_, teardown_)                                              \
    static void name_##_on(struct fixture *f);                                                     \
    TEST_WITH(name_, NULL, teardown_)                                                              \
    {                                                                                              \
        struct fixture f;                                                                          \
        fixture_open(&f, options_);                                                                \
        name_##_on(&f);                                                                            \
        fixture_close(&f);                                                                         \
    }                                                                                              \
    static void name_##_on(struct fixture *f)

/* A test for each type of queue, with a fixture and a queue of its own, 'f' and 'queue'. */
#define TYPE_TEST(name_)                                                                           \
    static void name_##_on(struct fixture *f, BfCommandListType type, BfCommandQueue queue);       \
    TEST(name_)                                                                                    \
    {                                                                                              \
        for (size_t i = 0; i < 3; i++) {                                                           \
            struct fixture f;                                                                      \
            fixture_open(&f, NULL);                                                                \
            name_##_on(&f, queue_types[i], make_queue(&f, queue_types[i]));                        \
            fixture_close(&f);                                                                     \
        }                                                                                          \
    }                                                                                              \
    static void name_##_on(struct fixture *f, __attribute__((unused)) BfCommandListType type,      \
                           BfCommandQueue queue)

#endif
