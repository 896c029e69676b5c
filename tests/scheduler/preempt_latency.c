/* SPDX-License-Identifier: MIT */
/* What preemption requests are said to have taken, alone: the engine's epochs and the clock are the
 * test's own, and so is a second thread, which makes a request wherever the first one, which makes
 * one as well, holds no lock that would keep it from that. */
#include <time.h>

#include "support/test.h"

#include "base/clock.h"
#include "base/thread.h"
#include "scheduler/command_queue.h"
#include "scheduler/driver_wait.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/preempt.h"
#include "scheduler/scheduler.h"
#include "scheduler/window.h"

static struct bf_scheduler scheduler;
static struct bf_engine engine;
static struct bf_command_queue *queue;

static uint64_t clock_ns;
static uint32_t until_other; /* points that are passed before the second thread comes; 0: it has */
static bool is_other;        /* its turn */

/* A point at which another thread may go on. It makes its request, and is interrupted before it has
 * seen that the engine has finished. */
static void others_go_on(void)
{
    uint64_t number;
    if (until_other == 0 || atomic_load(&scheduler.pending.lock.word) || --until_other)
        return;
    is_other = true;
    assert_success(bf_preempt_request(queue, &number));
    is_other = false;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    *time = bf_timespec(++clock_ns);
    others_go_on();
    return 0;
}

VkResult bf_gpu_engine_completed_epoch(struct bf_gpu_engine *of, uint64_t *epoch)
{
    *epoch = atomic_load(&of->accepted_epoch);
    if (is_other)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    others_go_on();
    return VK_SUCCESS;
}

enum bf_engine_entry bf_engine_enter_beside(struct bf_engine *of)
{
    others_go_on();
    return BF_ENGINE_LOCKED;
}

void bf_engine_leave_beside(struct bf_engine *of, enum bf_engine_entry entry)
{
    others_go_on();
}

void bf_windows_changed(struct bf_scheduler *of)
{
    others_go_on();
}

void bf_effects_run(struct bf_scheduler *of, struct bf_effects *effects)
{
}

void bf_fence_signal(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
}

static uint64_t traced_ns; /* the longest that a trace has been told */

void bf_trace_preempted(struct bf_trace *trace, uint32_t of, uint64_t request, uint64_t latency_ns)
{
    traced_ns = latency_ns > traced_ns ? latency_ns : traced_ns;
}

/* No thread: what is over is completed by who asks. */
bool bf_thread_start(struct bf_thread *thread, const char *name, void (*run)(void *argument),
                     void *argument)
{
    return true;
}

/* What isn't come to. */
bool bf_engine_enter(struct bf_engine *of)
{
    return false;
}

void bf_engine_leave(struct bf_engine *of, uint64_t mask)
{
}

VkResult bf_engine_mark(struct bf_engine *of, VkCommandBuffer commands, const char *label,
                        uint64_t *epoch)
{
    return VK_ERROR_DEVICE_LOST;
}

VkResult bf_gpu_engine_create_epoch(struct bf_gpu_engine *of)
{
    return VK_ERROR_DEVICE_LOST;
}

bool bf_last_submission_is_reached(struct bf_queue *of)
{
    return false;
}

void bf_driver_wait_judge(struct bf_scheduler *of, VkResult result, _Atomic uint32_t *turn,
                          uint32_t before, const char *what)
{
}

const char *bf_label_write_path(struct bf_label *labels, char *text, size_t size)
{
    return NULL;
}

struct bf_packet *bf_packet_take_part(struct bf_queue *of, struct bf_packet *packet)
{
    return NULL;
}

void bf_trace_packet_divided(struct bf_trace *trace, struct bf_trace_packet *part,
                             const struct bf_trace_contents *first, struct bf_trace_packet *rest,
                             const struct bf_trace_contents *left)
{
}

uint8_t bf_window_packet_level(const struct bf_queue *of, const struct bf_packet *packet)
{
    return BF_LEVEL_NORMAL;
}

bool bf_scheduler_join(struct bf_scheduler *of, struct bf_thread *thread)
{
    return true;
}

VkResult bf_scheduler_settle(struct bf_scheduler *of)
{
    return VK_ERROR_DEVICE_LOST;
}

/* Wherever the second request is made while the first one is settled, neither has taken longer than
 * both together. */
TEST(no_request_begins_after_it_is_complete)
{
    for (uint32_t point = 1;; point++) {
        uint64_t number;
        memset(&scheduler, 0, sizeof(scheduler));
        memset(&engine, 0, sizeof(engine));
        queue = calloc(1, sizeof(*queue) + sizeof(queue->frontier[0]));
        assert_non_null(queue);
        scheduler.engines = &engine;
        scheduler.engine_count = 1;
        engine.scheduler = queue->base.scheduler = &scheduler;
        queue->base.engine = &engine;
        atomic_store(&engine.base.accepted_epoch, 1);
        clock_ns = 1000;
        traced_ns = 0;
        assert_success(bf_preempt_prepare(&engine));
        until_other = point;
        assert_success(bf_preempt_request(queue, &number));
        const bool came = until_other == 0;
        until_other = 0;
        if (engine.preempt.first) /* the second one came too late */
            assert_success(bf_preempt_request(queue, &number));
        const struct bf_preempt *preempt = &engine.preempt;
        const uint64_t passed_ns = clock_ns - 1000;
        assert_null(preempt->first);
        assert_int_equal(preempt->completed, preempt->requested);
        assert_int_equal(preempt->completed_epoch, 1);
        assert_true(preempt->greatest_latency_ns <= passed_ns);
        assert_true(preempt->sum_of_latencies_ns <= preempt->completed * passed_ns);
        assert_true(traced_ns <= passed_ns);
        bf_preempt_free(&engine);
        free(queue);
        if (!came) {
            assert_true(point > 4); /* it came in between */
            break;
        }
    }
}
