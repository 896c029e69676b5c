/* bfQueueUses: what the program says its queue is going to use. */
#include "access/access.h"
#include "os/handle.h"
#include "os/log.h"
#include "queue/command_queue.h"

static bool check_use(uint32_t i, const BfResourceUse *use)
{
    if (!use->buffer == !use->image) {
        bf_log(BF_LOG_ERROR, "bfQueueUses: pUses[%u]: %s of buffer and image is set", i,
               use->buffer ? "each" : "none");
        return false;
    }
    if (use->buffer && use->size == 0) {
        bf_log(BF_LOG_ERROR, "bfQueueUses: pUses[%u].size is 0", i);
        return false;
    }
    if ((int)use->state < BF_RESOURCE_STATE_UNKNOWN || use->state > BF_RESOURCE_STATE_OTHER) {
        bf_log(BF_LOG_ERROR, "bfQueueUses: pUses[%u].state is none: %d", i, (int)use->state);
        return false;
    }
    return true;
}

VkResult bfQueueUses(BfQueue handle, uint32_t count, const BfResourceUse *uses)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (count && !uses) {
        bf_log(BF_LOG_ERROR, "bfQueueUses: pUses is NULL, count is %u", count);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!check_use(i, &uses[i]))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return bf_access_queue_uses(((struct bf_command_queue *)handle)->access, count, uses);
}
