/* SPDX-License-Identifier: MIT */
/* Makes the executions of a command queue that nothing separates one VkSubmitInfo2. */
#include "scheduler/join.h"

#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "scheduler/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/packet.h"

_Static_assert(BF_ENGINE_BATCH <= 32, "a bit for each packet of a batch");

/* C-5. Nobody can ask whether the first is complete before the second: it signals nothing, and its
 * end is in no log. The second waits for nothing but the first. */
static bool executions_join(const struct bf_engine *engine, uint32_t i)
{
    const struct bf_packet *a = engine->batch[i], *b = engine->batch[i + 1];
    struct bf_queue *queue = engine->batch_queues[i];
    return queue == engine->batch_queues[i + 1] && queue->is_command_queue &&
           a->kind == BF_PACKET_EXECUTE && b->kind == BF_PACKET_EXECUTE && a->signal_count == 0 &&
           !a->update && !a->write && !a->waits_for_peer && !b->waits_for_peer &&
           !(a->apart || b->apart) && b->submit.waitSemaphoreInfoCount == 0 &&
           !bf_log_is_enabled(queue->log);
}

uint32_t bf_join_find(struct bf_engine *engine, uint32_t first, uint32_t count)
{
    uint32_t joined = 0, buffers = 0;
    for (uint32_t i = first; i + 1 < first + count; i++) {
        if (!executions_join(engine, i))
            continue;
        joined |= UINT32_C(1) << i;
        buffers += engine->batch[i]->submit.commandBufferInfoCount +
                   engine->batch[i + 1]->submit.commandBufferInfoCount;
    }
    if (buffers > engine->joined_room) {
        VkCommandBufferSubmitInfo *infos =
            realloc(engine->joined, buffers * sizeof(*engine->joined));
        if (!infos)
            return 0;
        engine->joined = infos;
        engine->joined_room = buffers;
    }
    return joined;
}

uint32_t bf_join_fill(struct bf_engine *engine, uint32_t first, uint32_t count, uint32_t joined)
{
    uint32_t infos = 0;
    VkCommandBufferSubmitInfo *buffers = engine->joined;
    for (uint32_t i = first; i < first + count; i++) {
        const struct bf_packet *packet = engine->batch[i];
        if (packet->kind != BF_PACKET_EXECUTE)
            continue;
        VkSubmitInfo2 *info = &engine->infos[infos++];
        *info = packet->submit;
        if (!(joined & UINT32_C(1) << i))
            continue;
        info->pCommandBufferInfos = buffers;
        info->commandBufferInfoCount = 0;
        for (;; i++) {
            const VkSubmitInfo2 *part = &engine->batch[i]->submit;
            memcpy(buffers, part->pCommandBufferInfos,
                   part->commandBufferInfoCount * sizeof(*buffers));
            buffers += part->commandBufferInfoCount;
            info->commandBufferInfoCount += part->commandBufferInfoCount;
            info->signalSemaphoreInfoCount = part->signalSemaphoreInfoCount;
            info->pSignalSemaphoreInfos = part->pSignalSemaphoreInfos;
            if (!(joined & UINT32_C(1) << i))
                break;
        }
    }
    return infos;
}
