#include "fence/shared_carrier.h"

#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"
#include "fence/ledger.h"
#include "fence/shared.h"
#include "fence/shared_watch.h"
#include "base/message.h"
#include "queue/command_queue.h"

/* A carrier that is beyond this has points no more: drivers bound how far ahead a signal may be. */
#define LAST_POINT (UINT64_MAX / 2)

/* Looks that find no signaller before it counts as gone: the kernel may be ending its work. */
#define MISSES 2

struct bf_carriers *bf_carriers_create(struct bf_device *device)
{
    struct bf_carriers *carriers = calloc(1, sizeof(*carriers));
    if (!carriers)
        return NULL;
    carriers->device = device;
    carriers->area.fd = carriers->far = -1;
    return carriers;
}

void bf_carriers_free(struct bf_carriers *carriers)
{
    if (!carriers)
        return;
    struct bf_ledger *ledger = &carriers->device->ledger;
    carriers->next = atomic_load(&ledger->spent_carriers);
    while (!atomic_compare_exchange_weak(&ledger->spent_carriers, &carriers->next, carriers)) {
    }
}

void bf_carriers_sweep(struct bf_device *device)
{
    struct bf_carriers *next = atomic_exchange(&device->ledger.spent_carriers, NULL);
    while (next) {
        struct bf_carriers *carriers = next;
        next = carriers->next;
        for (uint32_t i = 0; i < BF_AREA_CARRIERS; i++) {
            struct bf_carrier *c = &carriers->carriers[i];
            if ((carriers->area.claimed & UINT32_C(1) << i) &&
                bf_area_is_applied(&carriers->area, i, c->point))
                bf_area_unclaim(&carriers->area, i);
            if (!c->sem)
                continue;
            device->vk.vkDestroySemaphore(device->handle, c->sem->handle, NULL);
            bf_semaphore_release(c->sem);
        }
        bf_area_leave(&carriers->area);
        if (carriers->far != -1)
            close(carriers->far);
        free(carriers);
    }
}

void bf_carriers_lose(struct bf_carriers *carriers)
{
    if (carriers)
        bf_area_abandon(&carriers->area);
}

static struct bf_carriers *carriers_of(const struct bf_fence *fence)
{
    return fence->shared ? fence->shared->carriers : NULL;
}

/* --------------------------------------------------------------------------------------- Signals --
 */

static struct bf_carriers *carriers_of_update(const struct bf_update *update, uint32_t *carrier)
{
    *carrier = update->carrier - 1;
    return carriers_of(update->fence);
}

/* The queue's own; or one that is nobody's, in this process or in any. The ledger's lock is held.
 * BF_AREA_CARRIERS: there is none. *fresh: it has just been claimed. */
static uint32_t find_carrier(struct bf_carriers *carriers, const struct bf_command_queue *queue,
                             bool *fresh)
{
    uint32_t idle = BF_AREA_CARRIERS;
    *fresh = false;
    for (uint32_t i = 0; i < BF_AREA_CARRIERS; i++) {
        const struct bf_carrier *c = &carriers->carriers[i];
        if (!(carriers->area.claimed & UINT32_C(1) << i) || c->spent)
            continue;
        if (c->queue == queue)
            return i;
        if (c->outstanding == 0)
            idle = i;
    }
    if (idle < BF_AREA_CARRIERS)
        return idle;
    for (uint32_t i = 0; i < BF_AREA_CARRIERS; i++) {
        *fresh = !(carriers->area.claimed & UINT32_C(1) << i) && bf_area_claim(&carriers->area, i);
        if (*fresh)
            return i;
    }
    return BF_AREA_CARRIERS;
}

/* A point to begin above, where others have signalled before. */
static uint64_t find_start(struct bf_carriers *carriers, uint32_t carrier)
{
    struct bf_device *device = carriers->device;
    uint64_t counter, last = bf_area_last_point(&carriers->area, carrier);
    if (device->counter_value(device->handle, carriers->carriers[carrier].sem->handle, &counter) !=
        VK_SUCCESS)
        return UINT64_MAX;
    return counter > last ? counter : last;
}

void bf_carriers_take(struct bf_command_queue *queue, struct bf_execution *what)
{
    struct bf_update *update = what->update;
    struct bf_ledger *ledger = &queue->base.device->ledger;
    bf_lock_acquire(&ledger->lock);
    struct bf_carriers *carriers = ledger->lost ? NULL : carriers_of(update->fence);
    bf_lock_release(&ledger->lock);
    if (!carriers)
        return;
    bf_lock_acquire(&carriers->claim_lock);
    bool fresh = false;
    bf_lock_acquire(&ledger->lock);
    uint32_t carrier = ledger->lost ? BF_AREA_CARRIERS : find_carrier(carriers, queue, &fresh);
    bf_lock_release(&ledger->lock);
    if (carrier < BF_AREA_CARRIERS) {
        struct bf_carrier *c = &carriers->carriers[carrier];
        uint64_t start = fresh ? find_start(carriers, carrier) : 0;
        bf_lock_acquire(&ledger->lock);
        if (fresh)
            c->point = start;
        c->spent = c->point >= LAST_POINT;
        if (!c->spent) {
            c->queue = queue;
            c->outstanding++;
            update->carrier = carrier + 1;
            what->signal = c->sem;
            what->carried = true;
        }
        bf_lock_release(&ledger->lock);
    }
    bf_lock_release(&carriers->claim_lock);
}

void bf_carrier_number(struct bf_packet *packet)
{
    uint32_t carrier;
    struct bf_carriers *carriers = carriers_of_update(packet->update, &carrier);
    uint64_t point = ++carriers->carriers[carrier].point;
    packet->update->point = point;
    packet->signals[0].target = packet->signals[0].ordinal = point;
    ((VkSemaphoreSubmitInfo *)packet->submit.pSignalSemaphoreInfos)[0].value = point;
}

void bf_carrier_publish(struct bf_update *update)
{
    uint32_t carrier;
    struct bf_carriers *carriers = carriers_of_update(update, &carrier);
    if (!update->fence->device->ledger.lost)
        bf_area_publish(&carriers->area, &update->fence->shared->view, carrier, update->point,
                        update->value);
}

void bf_carrier_begin(struct bf_update *update)
{
    uint32_t carrier;
    struct bf_carriers *carriers = carriers_of_update(update, &carrier);
    if (!update->fence->device->ledger.lost)
        bf_area_begin(&carriers->area, carrier, update->point);
}

void bf_carrier_apply(struct bf_update *update)
{
    uint32_t carrier;
    struct bf_carriers *carriers = carriers_of_update(update, &carrier);
    if (!update->fence->device->ledger.lost)
        bf_area_apply(&carriers->area, &update->fence->shared->view, carrier, update->point);
}

void bf_carrier_put(struct bf_update *update)
{
    uint32_t carrier;
    struct bf_carriers *carriers = carriers_of_update(update, &carrier);
    carriers->carriers[carrier].outstanding--;
    update->carrier = 0;
}

/* ----------------------------------------------------------------------------------------- Waits --
 */

bool bf_carriers_resolve(struct bf_packet *packet)
{
    struct bf_fence *fence = packet->wait.fence;
    struct bf_carriers *carriers = packet->gate ? carriers_of(fence) : NULL;
    uint32_t carrier;
    uint64_t point;
    if (!carriers || fence->destroyed || fence->shared->orphaned ||
        !bf_area_find(&carriers->area, packet->wait.node.key, &carrier, &point))
        return false;
    struct bf_semaphore *sem = carriers->carriers[carrier].sem;
    struct bf_gate *gate = packet->gate;
    gate->fence = fence;
    bf_fence_reference(fence);
    gate->carrier = carrier;
    gate->point = point;
    gate->value = packet->wait.node.key;
    gate->packet = packet;
    packet->kind = BF_PACKET_EXECUTE;
    packet->wait_count = packet->submit.waitSemaphoreInfoCount = 1;
    bf_semaphore_reference(sem);
    packet->waits[0] = (struct bf_sync){sem, point, point};
    ((VkSemaphoreSubmitInfo *)packet->submit.pWaitSemaphoreInfos)[0] = (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = sem->handle,
        .value = point,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    bf_semaphore_reach(sem, point); /* S-1: another process's driver has accepted it (SH-17) */
    bf_fence_disarm(&packet->wait);
    return true;
}

bool bf_carriers_want(struct bf_packet *packet)
{
    struct bf_fence *fence = packet->wait.fence;
    struct bf_carriers *carriers = packet->gate ? carriers_of(fence) : NULL;
    uint64_t least = packet->wait.node.key;
    if (!carriers)
        return true;
    for (const struct bf_wait *w = fence->blocked; w; w = w->next_blocked) {
        if (w->node.key < least)
            least = w->node.key;
    }
    bf_area_want(&carriers->area, &fence->shared->view, least - 1);
    uint32_t carrier;
    uint64_t point;
    return !bf_area_find(&carriers->area, packet->wait.node.key, &carrier, &point);
}

void bf_carriers_look(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_carriers *carriers = carriers_of(fence);
    uint64_t value, least = UINT64_MAX;
    if (!carriers || fence->shared->left)
        return;
    if (fence->blocked && bf_area_largest(&carriers->area, &value))
        bf_fence_ground(fence, value, effects);
    for (const struct bf_wait *w = fence->blocked; w; w = w->next_blocked) {
        if (w->node.key - 1 < least)
            least = w->node.key - 1;
    }
    bf_area_want(&carriers->area, &fence->shared->view, least);
}

/* ---------------------------------------------------------------------------------- Who has gone --
 */

/* The first gate whose signaller has gone, its fence referenced; NULL: none has. The lock is held. */
static struct bf_gate *find_dead(struct bf_ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->engine_count && !ledger->lost; i++) {
        for (struct bf_gate *g = ledger->engines[i].gates; g; g = g->next) {
            const struct bf_area_view *area = &carriers_of(g->fence)->area;
            if (g->released || bf_area_is_claimed(area, g->carrier) ||
                (area->claimed & UINT32_C(1) << g->carrier) ||
                bf_area_is_applied(area, g->carrier, g->point)) {
                g->misses = 0;
                continue;
            }
            if (g->misses >= MISSES) {
                bf_fence_reference(g->fence);
                return g;
            }
        }
    }
    return NULL;
}

static void count_misses(struct bf_ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->engine_count; i++) {
        for (struct bf_gate *g = ledger->engines[i].gates; g; g = g->next)
            g->misses++;
    }
}

/* What waits for the point on any GPU goes on. False: somebody else is about to see to that. */
static bool release_waiters(struct bf_carriers *carriers, uint32_t carrier, uint64_t point)
{
    struct bf_device *device = carriers->device;
    VkSemaphore semaphore = carriers->carriers[carrier].sem->handle;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = semaphore,
        .value = point,
    };
    uint64_t counter = 0;
    if (!bf_area_begin_release(&carriers->area, carrier))
        return false;
    VkResult result = device->counter_value(device->handle, semaphore, &counter);
    if (result == VK_SUCCESS && counter < point)
        result = device->signal_semaphore(device->handle, &info);
    bf_area_end_release(&carriers->area, carrier);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_device_lost(device, "releasing what waits for another process");
    return true;
}

/* The gates of the fence's object for that carrier, up to that point, open. Has one of them waited
 * in vain? The lock is held. */
static bool release_gates(struct bf_fence *fence, uint32_t carrier, uint64_t point)
{
    bool vain = false;
    for (struct bf_gate *g = carriers_of(fence)->gates; g; g = g->next_of_fence) {
        if (g->carrier != carrier || g->point > point || g->released)
            continue;
        g->released = true;
        vain = vain || !g->satisfied;
    }
    return vain;
}

void bf_carriers_watch(struct bf_device *device)
{
    struct bf_ledger *ledger = &device->ledger;
    struct bf_gate *dead;
    bool again = true;
    bf_lock_acquire(&ledger->lock);
    count_misses(ledger);
    while (again && (dead = find_dead(ledger)) != NULL) {
        struct bf_effects effects = {0};
        struct bf_fence *fence = dead->fence;
        uint32_t carrier = dead->carrier;
        uint64_t point = dead->point;
        bool over = false;
        bf_lock_release(&ledger->lock);
        again = release_waiters(carriers_of(fence), carrier, point);
        bf_lock_acquire(&ledger->lock);
        if (again) {
            bf_shared_absorb(fence, &effects);
            if (release_gates(fence, carrier, point))
                over = bf_shared_abandoned(fence, &effects);
        }
        bf_lock_release(&ledger->lock);
        if (over)
            bf_shared_bury(fence);
        bf_lock_acquire(&ledger->lock);
        bf_fence_release(fence);
        bf_lock_release(&ledger->lock);
        bf_effects_run(device, &effects);
        bf_lock_acquire(&ledger->lock);
    }
    bf_lock_release(&ledger->lock);
    struct bf_effects effects = {0};
    if (bf_ledger_retire(ledger, &effects) == VK_ERROR_DEVICE_LOST)
        bf_device_lost(device, "waiting for another process");
    bf_effects_run(device, &effects);
}
