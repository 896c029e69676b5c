/* SPDX-License-Identifier: MIT */
/* BELFRY_ICD_ORDER: the commands of a batch run in the order that is worst for who relies on one.
 *
 * Vulkan lets the commands of a batch overlap and end in any order unless something orders them.
 * Here always that command is run next which was recorded last, of those that wait for none. What
 * orders two commands: a barrier whose scopes have one each, by stages, perhaps over further
 * barriers; a timestamp, which waits for all before it; two commands on one query pool; an event,
 * which keeps all before it and all behind it apart. Batches run one after the other. */
#include "icd.h"

enum {
    SCOPE_TRANSFER = 1,
    SCOPE_OTHER = 2,
    SCOPE_HOST = 4,
    SCOPE_ALL = SCOPE_TRANSFER | SCOPE_OTHER,
};

struct barrier_command {
    struct icd_command command;
    uint32_t first, second;
    bool host;
};

static uint32_t scope_of(VkPipelineStageFlags2 stages, VkPipelineStageFlags2 everything)
{
    const VkPipelineStageFlags2 all = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | everything;
    const VkPipelineStageFlags2 transfer =
        VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT |
        VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT |
        VK_PIPELINE_STAGE_2_CLEAR_BIT;
    const VkPipelineStageFlags2 none = VK_PIPELINE_STAGE_2_HOST_BIT |
                                       VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT |
                                       VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;
    return (stages & (all | transfer) ? SCOPE_TRANSFER : 0u) |
           (stages & (all | ~(transfer | none)) ? SCOPE_OTHER : 0u) |
           (stages & VK_PIPELINE_STAGE_2_HOST_BIT ? SCOPE_HOST : 0u);
}

void icd_order_barrier(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 first,
                       VkPipelineStageFlags2 second, bool host)
{
    struct barrier_command *c = icd_command_append(commandBuffer, ICD_OP_BARRIER, sizeof(*c));
    if (!c)
        return;
    c->first = scope_of(first, VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT);
    c->second = scope_of(second, VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT);
    c->host = host;
}

static void barrier_execute(const struct barrier_command *c, struct icd_queue *queue)
{
    icd_queue_drain(queue);
    if (c->host)
        icd_late_writes_send();
}

/* Ordering ---------------------------------------------------------------------------------- */

/* The scope that a command has for barriers behind it, or, with 'second', before it. */
static uint32_t command_scope(const struct icd_command *command, bool second)
{
    const struct barrier_command *c = (const void *)command;
    switch ((enum icd_op_code)command->code) {
    case ICD_OP_BARRIER:
        return second ? c->first : c->second;
    case ICD_OP_FILL:
    case ICD_OP_UPDATE:
    case ICD_OP_COPY:
    case ICD_OP_COPY_QUERIES:
        return SCOPE_TRANSFER;
    case ICD_OP_DISPATCH:
        return SCOPE_OTHER;
    default:
        return SCOPE_ALL;
    }
}

static const struct icd_query_pool *pool_of(const struct icd_command *command)
{
    return command->code >= ICD_OP_TIMESTAMP && command->code <= ICD_OP_COPY_QUERIES
               ? ((const struct icd_query_command *)(const void *)command)->pool
               : NULL;
}

static bool is_event(const struct icd_command *command)
{
    return command->code >= ICD_OP_SET_EVENT && command->code <= ICD_OP_WAIT_EVENT;
}

/* Whether the earlier command must be over before the later one runs. */
static bool is_ordered(const struct icd_command *earlier, const struct icd_command *later)
{
    if (is_event(earlier) || is_event(later) || later->code == ICD_OP_TIMESTAMP)
        return true;
    if (pool_of(earlier) && pool_of(earlier) == pool_of(later))
        return true;
    return (earlier->code == ICD_OP_BARRIER || later->code == ICD_OP_BARRIER) &&
           (command_scope(earlier, false) & command_scope(later, true));
}

struct row {
    struct icd_command **commands;
    size_t count, capacity;
};

static bool row_add(struct row *row, struct icd_recording *recording)
{
    for (size_t at = 0; at < recording->size;) {
        struct icd_command *command = (struct icd_command *)(recording->bytes + at);
        at += command->size;
        if (command->code == ICD_OP_EXECUTE) {
            if (!row_add(row, icd_executed_recording(command)))
                return false;
            continue;
        }
        if (row->count == row->capacity) {
            size_t capacity = row->capacity ? 2 * row->capacity : 64;
            void *bigger = realloc(row->commands, capacity * sizeof(*row->commands));
            if (!bigger)
                return false;
            row->commands = bigger;
            row->capacity = capacity;
        }
        row->commands[row->count++] = command;
    }
    return true;
}

/* The last of the row that waits for none before it. */
static size_t row_next(const struct row *row)
{
    for (size_t i = row->count; i-- > 1;) {
        size_t k = 0;
        while (k < i && !is_ordered(row->commands[k], row->commands[i]))
            k++;
        if (k == i)
            return i;
    }
    return 0;
}

bool icd_order_execute(struct icd_packet *packet, struct icd_queue *queue)
{
    struct row row = {0};
    bool fits = true;
    for (uint32_t i = 0; i < packet->n_recordings && fits; i++)
        fits = row_add(&row, packet->recordings[i]);
    while (fits && row.count) {
        size_t next = row_next(&row);
        struct icd_command *command = row.commands[next];
        memmove(row.commands + next, row.commands + next + 1,
                (--row.count - next) * sizeof(*row.commands));
        if (command->code == ICD_OP_BARRIER)
            barrier_execute((const struct barrier_command *)(const void *)command, queue);
        else
            icd_command_execute(command, queue);
        icd_lock();
        belfry_icd_command_fn *look = icd_world.look;
        void *data = icd_world.look_data;
        icd_unlock();
        if (look)
            look(data);
    }
    free(row.commands);
    return fits;
}

void belfry_icd_watch_commands(belfry_icd_command_fn *look, void *data)
{
    icd_lock();
    icd_world.look = look;
    icd_world.look_data = data;
    icd_unlock();
}
