/* SPDX-License-Identifier: MIT */
/* Queues: a worker thread each, which takes packets in order, waits as hardware would, and runs
 * them. In free mode there are no workers: packets run inside the call or are chained. */
#include "icd.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

void icd_queue_init(struct icd_queue *queue, struct icd_device *device, uint32_t family,
                    uint32_t index, VkDeviceQueueCreateFlags flags)
{
    uint32_t bits = device->config->shape.families[family].timestamp_bits;
    set_loader_magic_value(queue);
    queue->object.kind = ICD_KIND_QUEUE;
    queue->object.device = device;
    queue->family = family;
    queue->index = index;
    queue->flags = flags;
    queue->timestamp_mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    queue->tail = &queue->head;
    queue->ending_tail = &queue->ending;
    queue->labels = "";
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void icd_queue_enter(struct icd_queue *queue, const char *call)
{
    /* The counter is exact; the thread's name is only for the message, so that free mode need
     * not ask the system for it. */
    if (atomic_fetch_add(&queue->callers, 1) &&
        (!(queue->flags & ICD_INTERNAL_QUEUE) || !strcmp(call, "vkDeviceWaitIdle")))
        icd_violation(BELFRY_ICD_QUEUE_RACE,
                      "%s on queue %u:%u by thread %ld while another thread is inside a call on it",
                      call, queue->family, queue->index, (long)syscall(SYS_gettid));
}

void icd_queue_leave(struct icd_queue *queue)
{
    atomic_fetch_sub(&queue->callers, 1);
}

/* Parking ----------------------------------------------------------------------------------- */

void icd_queue_run(struct icd_queue *queue)
{
    if (queue->dozing)
        pthread_cond_signal(&queue->wake);
    if (!queue->started || queue->runnable)
        return;
    queue->runnable = true;
    icd_world.busy++;
    if (queue->outside)
        icd_outside_wake(queue->outside);
    else
        pthread_cond_signal(&queue->wake);
}

void icd_queue_continue(struct icd_queue *queue)
{
    if (queue->head && !queue->blocked_on && !queue->held && (!icd_world.paused || queue->step))
        icd_queue_run(queue);
}

/* Locked, on the worker: sleeps until icd_queue_run. */
static void queue_park(struct icd_queue *queue)
{
    queue->runnable = false;
    if (--icd_world.busy == 0)
        pthread_cond_broadcast(&icd_world.quiet);
    while (!queue->runnable)
        pthread_cond_wait(&queue->wake, &icd_world.lock);
    icd_bump(&queue->counts.wakeups, 1);
}

static void blocked_remove(struct icd_queue *queue);

/* The same where another process may be who changes what the queue is blocked on: 'turn' is what
 * the outside's was before the value was looked at. */
static void queue_park_outside(struct icd_queue *queue, struct icd_outside *outside, uint32_t turn)
{
    queue->runnable = false;
    queue->outside = outside;
    if (--icd_world.busy == 0)
        pthread_cond_broadcast(&icd_world.quiet);
    while (!queue->runnable) {
        /* Who changed the value may have been killed before it could tell. */
        const struct timespec slice = {.tv_nsec = 20000000};
        icd_unlock();
        syscall(SYS_futex, &outside->turn, FUTEX_WAIT, turn, &slice, NULL, 0);
        icd_lock();
        if (!queue->runnable && (outside->turn != turn || outside->value >= queue->blocked_value)) {
            queue->runnable = true;
            icd_world.busy++;
        }
    }
    queue->outside = NULL;
    blocked_remove(queue);
    icd_bump(&queue->counts.wakeups, 1);
}

static void any_remove(struct icd_queue *queue)
{
    if (!queue->on_any)
        return;
    struct icd_queue **link = &icd_world.parked_any;
    while (*link != queue)
        link = &(*link)->next_any;
    *link = queue->next_any;
    queue->on_any = false;
}

void icd_queue_park_any(struct icd_queue *queue)
{
    queue->on_any = true;
    queue->next_any = icd_world.parked_any;
    icd_world.parked_any = queue;
    queue_park(queue);
    any_remove(queue);
}

void icd_wake_any(void)
{
    while (icd_world.parked_any) {
        struct icd_queue *queue = icd_world.parked_any;
        any_remove(queue);
        icd_queue_run(queue);
    }
    pthread_cond_broadcast(&icd_world.host);
}

static void blocked_remove(struct icd_queue *queue)
{
    if (!queue->blocked_on)
        return;
    struct icd_queue **link = &queue->blocked_on->blocked;
    while (*link != queue)
        link = &(*link)->next_blocked;
    *link = queue->next_blocked;
    queue->blocked_on = NULL;
}

/* Work that takes time ---------------------------------------------------------------------- */

static struct timespec time_at(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

void icd_queue_work(struct icd_queue *queue)
{
    const struct icd_config *config = queue->object.device->config;
    uint64_t ends = icd_now() + UINT64_C(1000) * config->dispatch_us;
    bool takes = !config->dispatch_every || ++queue->works % config->dispatch_every == 0;
    if (takes && queue->works_until < ends)
        queue->works_until = ends;
}

void icd_queue_drain(struct icd_queue *queue)
{
    const struct timespec until = time_at(queue->works_until);
    if (queue->works_until > icd_now())
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Locked: what is over signals, in order; on a lost device, and at the queue's end, the rest is
 * dropped. */
static void queue_end_work(struct icd_queue *queue)
{
    bool lost = queue->object.device->lost;
    while (queue->ending) {
        struct icd_packet *packet = queue->ending;
        bool over = !lost && packet->ends <= icd_now();
        if (!over && !lost && !queue->stop)
            return;
        queue->ending = packet->next;
        if (!queue->ending)
            queue->ending_tail = &queue->ending;
        if (over)
            icd_packet_retire(packet, queue);
        else
            icd_packet_drop(packet, queue);
    }
}

/* Locked: the packet has run, and its work may go on. */
static void queue_end_later(struct icd_queue *queue, struct icd_packet *packet)
{
    packet->ends = queue->works_until;
    packet->next = NULL;
    *queue->ending_tail = packet;
    queue->ending_tail = &packet->next;
    queue_end_work(queue);
}

/* Locked: sleeps until the next packet's work is over, or the program has something to start.
 * False: there is no such work. */
static bool queue_doze(struct icd_queue *queue)
{
    if (!queue->ending)
        return false;
    const struct timespec until = time_at(queue->ending->ends);
    queue->dozing = true;
    pthread_cond_timedwait(&queue->wake, &icd_world.lock, &until);
    queue->dozing = false;
    queue_end_work(queue);
    return true;
}

/* The worker -------------------------------------------------------------------------------- */

/* Locked: true once all waits of the first packet are over; false after having slept, when
 * everything is to be looked at again. */
static bool queue_wait(struct icd_queue *queue, struct icd_packet *packet)
{
    for (; packet->waited < packet->n_waits; packet->waited++) {
        struct icd_operation *wait = &packet->waits[packet->waited];
        struct icd_payload *payload = wait->payload;
        uint32_t turn = payload->outside ? payload->outside->turn : 0;
        if (*payload->value < wait->value) {
            if (queue_doze(queue))
                return false;
            queue->blocked_on = payload;
            queue->blocked_value = wait->value;
            queue->next_blocked = payload->blocked;
            payload->blocked = queue;
            if (payload->outside)
                queue_park_outside(queue, payload->outside, turn);
            else
                queue_park(queue);
            return false;
        }
        if (!payload->timeline)
            payload->consumed++;
    }
    return true;
}

/* Locked: stays between the work of a packet and its signals as long as the program wants. Glue
 * without command buffers goes on: to keep that from signalling, a program pauses. */
static void queue_hold(struct icd_queue *queue, const struct icd_packet *packet)
{
    if (!icd_world.holding || !packet->n_recordings)
        return;
    queue->held = true;
    while (queue->held && !queue->object.device->lost && !queue->stop)
        queue_park(queue);
    queue->held = false;
}

/* Locked. */
static struct icd_packet *queue_pop(struct icd_queue *queue)
{
    struct icd_packet *packet = queue->head;
    queue->head = packet->next;
    if (!queue->head)
        queue->tail = &queue->head;
    return packet;
}

static void *queue_main(void *argument)
{
    struct icd_queue *queue = argument;
    /* Dispatches take what they should, and not the timer's usual 50 us more. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    icd_lock();
    while (!queue->stop) {
        struct icd_packet *packet = queue->head;
        queue_end_work(queue);
        /* A lost device has nothing to wait for, paused or not. */
        if (packet && queue->object.device->lost) {
            icd_packet_drop(queue_pop(queue), queue);
            continue;
        }
        if (!packet || (icd_world.paused && !queue->step)) {
            if (!queue_doze(queue))
                queue_park(queue);
            continue;
        }
        if (!queue_wait(queue, packet))
            continue;
        queue->step = false;
        if (!packet->fence_only)
            icd_queue_let_go(queue);
        icd_unlock();
        icd_packet_execute(packet, queue);
        icd_lock();
        queue_hold(queue, packet);
        queue_pop(queue);
        if (queue->object.device->lost)
            icd_packet_drop(packet, queue);
        else
            queue_end_later(queue, packet);
    }
    queue_end_work(queue);
    while (queue->head)
        icd_packet_drop(queue_pop(queue), queue);
    if (--icd_world.busy == 0)
        pthread_cond_broadcast(&icd_world.quiet);
    icd_unlock();
    return NULL;
}

VkResult icd_queue_start(struct icd_queue *queue)
{
    if (queue->started || queue->object.device->config->free_submit)
        return VK_SUCCESS;
    if (pthread_create(&queue->thread, NULL, queue_main, queue))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    queue->started = true;
    queue->runnable = true;
    icd_world.busy++;
    return VK_SUCCESS;
}

void icd_queue_append(struct icd_queue *queue, struct icd_packet *packet)
{
    packet->next = NULL;
    *queue->tail = packet;
    queue->tail = &packet->next;
    queue->accepted++;
    icd_queue_continue(queue);
}

void icd_queue_finish(struct icd_queue *queue)
{
    icd_lock();
    queue->stop = true;
    blocked_remove(queue);
    icd_queue_run(queue);
    bool started = queue->started;
    icd_unlock();
    if (started)
        pthread_join(queue->thread, NULL);
    icd_lock();
    icd_queue_let_go(queue);
    while (queue->head) { /* free mode */
        icd_packet_drop(queue_pop(queue), queue);
        icd_world.watchers--;
    }
    icd_unlock();
    pthread_cond_destroy(&queue->wake);
}

void icd_device_lose(struct icd_device *device)
{
    device->lost = true;
    for (uint32_t i = 0; i < device->n_queues; i++) {
        struct icd_queue *queue = &device->queues[i];
        blocked_remove(queue);
        icd_queue_let_go(queue);
        if (device->config->free_submit) {
            while (queue->head) {
                icd_packet_drop(queue_pop(queue), queue);
                icd_world.watchers--;
            }
        }
        icd_queue_run(queue);
    }
    pthread_cond_broadcast(&icd_world.host);
}

/* Free mode --------------------------------------------------------------------------------- */

/* Locked: runs what is ready at the head of the queue; true if anything was. */
static bool free_run(struct icd_queue *queue)
{
    bool ran = false;
    while (queue->head && !icd_world.paused) {
        struct icd_packet *packet = queue->head;
        for (; packet->waited < packet->n_waits; packet->waited++) {
            struct icd_operation *wait = &packet->waits[packet->waited];
            if (*wait->payload->value < wait->value)
                return ran;
            if (!wait->payload->timeline)
                wait->payload->consumed++;
        }
        icd_packet_execute(packet, queue);
        queue_pop(queue);
        icd_packet_retire(packet, queue);
        icd_world.watchers--;
        ran = true;
    }
    return ran;
}

void icd_free_pump(void)
{
    bool ran;
    do {
        ran = false;
        for (struct icd_device *device = icd_world.devices; device; device = device->next)
            if (device->config->free_submit)
                for (uint32_t i = 0; i < device->n_queues; i++)
                    ran |= free_run(&device->queues[i]);
    } while (ran);
}

void icd_free_notify(void)
{
    if (!icd_world.watchers)
        return;
    icd_lock();
    icd_free_pump();
    pthread_cond_broadcast(&icd_world.host);
    icd_unlock();
}
