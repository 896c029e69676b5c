/* SPDX-License-Identifier: MIT */
/* Threads that attach a device, or look for it, at once. (RG-1) */
#include "support/fixture.h"

#include <pthread.h>

#define ROUNDS 100

static void open_without_attaching(struct fixture *f)
{
    fixture_open_instance(f, &fixture_plain);
    assert_success(fixture_open_device(f, &fixture_plain));
}

struct attempt {
    struct fixture f; /* a copy: both attach the same device */
    struct start_line *line;
    VkResult result;
};

static void attach(void *argument)
{
    struct attempt *attempt = argument;
    start_line_cross(attempt->line, 2);
    attempt->result = fixture_attach_with(&attempt->f, 0, NULL);
}

static void be_quiet(BfMessageSeverity severity, const char *text, void *context)
{
    (void)severity, (void)text, (void)context;
}

TEST(of_two_threads_one_attaches)
{
    struct fixture f;
    open_without_attaching(&f);
    assert_success(bfSetMessageCallback(be_quiet, NULL));
    struct start_line line = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct attempt attempts[2];
        struct thread threads[2];
        for (int i = 0; i < 2; i++) {
            attempts[i] = (struct attempt){.f = f, .line = &line};
            thread_start(&threads[i], attach, &attempts[i]);
        }
        for (int i = 0; i < 2; i++)
            thread_join(&threads[i]);
        const int first = attempts[0].result != VK_SUCCESS;
        assert_success(attempts[first].result);
        assert_int_equal(attempts[!first].result, VK_ERROR_VALIDATION_FAILED_EXT);
        bfDetachDevice(attempts[first].f.bf);
    }
    assert_success(bfSetMessageCallback(NULL, NULL));
    fixture_close(&f);
}

struct seeker {
    VkDevice device;
    _Atomic bool stop;
    uint32_t found;
};

static void seek(void *argument)
{
    struct seeker *seeker = argument;
    while (!seeker->stop) {
        BfDevice device;
        seeker->found += bfGetDevice(seeker->device, &device) == VK_SUCCESS;
    }
}

TEST(nobody_finds_a_device_that_is_being_attached)
{
    struct fixture f;
    open_without_attaching(&f);
    struct seeker seeker = {.device = f.device};
    struct thread thread;
    thread_start(&thread, seek, &seeker);
    for (int round = 0; round < ROUNDS; round++) {
        assert_success(fixture_attach_with(&f, 0, NULL));
        bfDetachDevice(f.bf);
    }
    seeker.stop = true;
    thread_join(&thread);
    assert_int_equal(seeker.found, 0);
    fixture_close(&f);
}
