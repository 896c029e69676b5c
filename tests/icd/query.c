/* SPDX-License-Identifier: MIT */
/* Query pools: timestamps are real; queries of other types become available with the value 0. */
#include "icd.h"

#define POOL(handle_) ICD_FROM(icd_query_pool, ICD_KIND_QUERY_POOL, handle_)

/* What has last been done to a query. */
enum query_state {
    QUERY_NEVER_RESET,
    QUERY_RESET,
    QUERY_WRITTEN,
};

struct query {
    _Atomic uint64_t value;
    _Atomic bool available;
    _Atomic uint32_t state;
    uint32_t pending; /* locked: commands of accepted packets that use it */
};

struct icd_query_pool {
    struct icd_object object;
    uint32_t count;
    struct query queries[];
};

static VkResult icd_CreateQueryPool(VkDevice device_, const VkQueryPoolCreateInfo *pCreateInfo,
                                    const VkAllocationCallbacks *pAllocator,
                                    VkQueryPool *pQueryPool)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pQueryPool, device);
    struct icd_query_pool *pool =
        icd_object_new(device, ICD_KIND_QUERY_POOL,
                       sizeof(*pool) + pCreateInfo->queryCount * sizeof(pool->queries[0]));
    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pool->count = pCreateInfo->queryCount;
    *pQueryPool = ICD_HANDLE(VkQueryPool, pool);
    return VK_SUCCESS;
}

static void icd_DestroyQueryPool(VkDevice device, VkQueryPool pool,
                                 const VkAllocationCallbacks *pAllocator)
{
    if (pool)
        icd_object_destroy(POOL(pool), icd_object_free);
}

static void pool_reset(struct icd_query_pool *pool, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count && i < pool->count; i++) {
        pool->queries[i].available = false;
        pool->queries[i].value = 0;
        pool->queries[i].state = QUERY_RESET;
    }
}

/* Whether the pool has the queries. */
static bool range_seen(const struct icd_query_pool *pool, uint32_t first, uint32_t count,
                       const char *call)
{
    if (first < pool->count && count <= pool->count - first)
        return true;
    icd_violation(BELFRY_ICD_OUT_OF_RANGE, "%s names %u queries from %u of a pool of %u", call,
                  count, first, pool->count);
    return false;
}

/* Queries are about to be read. */
static void reset_seen(const struct icd_query_pool *pool, uint32_t first, uint32_t count,
                       const char *call)
{
    for (uint32_t i = first; i < first + count; i++)
        if (pool->queries[i].state == QUERY_NEVER_RESET)
            icd_violation(BELFRY_ICD_QUERY_UNRESET, "%s reads query %u, which was never reset",
                          call, i);
}

static void icd_ResetQueryPool(VkDevice device, VkQueryPool pool_, uint32_t firstQuery,
                               uint32_t queryCount)
{
    struct icd_query_pool *pool = POOL(pool_);
    if (!range_seen(pool, firstQuery, queryCount, "vkResetQueryPool"))
        return;
    icd_lock();
    for (uint32_t i = firstQuery; i < firstQuery + queryCount; i++)
        if (pool->queries[i].pending)
            icd_violation(BELFRY_ICD_QUERY_PENDING,
                          "vkResetQueryPool resets query %u, which %u pending commands use", i,
                          pool->queries[i].pending);
    icd_unlock();
    pool_reset(pool, firstQuery, queryCount);
}

void icd_query_use(const struct icd_query_command *c, int packets)
{
    for (uint32_t i = c->first; i < c->first + c->count; i++)
        c->pool->queries[i].pending += (uint32_t)packets;
}

/* Results ----------------------------------------------------------------------------------- */

/* Writes a query's words into out and whether it was available into *available, which is looked at
 * once: the query may become so at any moment. Returns the words' size. */
static size_t result_write(const struct query *query, VkQueryResultFlags flags, uint8_t out[16],
                           bool *available)
{
    *available = query->available;
    bool wide = flags & VK_QUERY_RESULT_64_BIT;
    bool write = *available || (flags & VK_QUERY_RESULT_PARTIAL_BIT);
    uint64_t words[2] = {write ? query->value : 0, *available};
    size_t n = flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t narrow = (uint32_t)words[i];
        if (wide)
            memcpy(out + i * 8, &words[i], 8);
        else
            memcpy(out + i * 4, &narrow, 4);
    }
    return n * (wide ? 8 : 4);
}

static bool all_available(const struct icd_query_pool *pool, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count && i < pool->count; i++)
        if (!pool->queries[i].available)
            return false;
    return true;
}

static VkResult icd_GetQueryPoolResults(VkDevice device_, VkQueryPool pool_, uint32_t firstQuery,
                                        uint32_t queryCount, size_t dataSize, void *pData,
                                        VkDeviceSize stride, VkQueryResultFlags flags)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    struct icd_query_pool *pool = POOL(pool_);
    if (!range_seen(pool, firstQuery, queryCount, "vkGetQueryPoolResults"))
        return VK_NOT_READY;
    reset_seen(pool, firstQuery, queryCount, "vkGetQueryPoolResults");
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    if ((flags & VK_QUERY_RESULT_WAIT_BIT) && !all_available(pool, firstQuery, queryCount)) {
        icd_lock();
        icd_world.watchers++;
        while (!device->lost && !all_available(pool, firstQuery, queryCount))
            icd_host_sleep(UINT64_MAX);
        icd_world.watchers--;
        icd_unlock();
        if (device->lost)
            return VK_ERROR_DEVICE_LOST;
    }
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < queryCount; i++) {
        const struct query *query = &pool->queries[firstQuery + i];
        uint8_t words[16];
        bool available;
        size_t size = result_write(query, flags, words, &available);
        if (i * stride + size > dataSize)
            break;
        uint8_t *to = (uint8_t *)pData + i * stride;
        if (available ||
            (flags & (VK_QUERY_RESULT_PARTIAL_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)))
            memcpy(to, words, size);
        if (!available)
            result = VK_NOT_READY;
    }
    /* With availability asked for, what isn't there is no failure but said in the data. */
    return flags & VK_QUERY_RESULT_WAIT_BIT ? VK_SUCCESS : result;
}

/* Commands ---------------------------------------------------------------------------------- */

static struct icd_query_command *query_append(VkCommandBuffer commandBuffer, VkQueryPool pool_,
                                              enum icd_op_code code, uint32_t first, uint32_t count,
                                              const char *call)
{
    struct icd_query_pool *pool = POOL(pool_);
    if (!range_seen(pool, first, count, call))
        return NULL;
    struct icd_command_buffer *commands =
        ICD_FROM(icd_command_buffer, ICD_KIND_COMMAND_BUFFER, commandBuffer);
    icd_device_seen(commands->object.device, pool, call);
    struct icd_query_command *c = icd_command_append(commandBuffer, code, sizeof(*c));
    if (!c)
        return NULL;
    c->pool = pool;
    c->first = first;
    c->count = count;
    return c;
}

static void icd_CmdWriteTimestamp2(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 stage,
                                   VkQueryPool queryPool, uint32_t query)
{
    ICD_NEEDS(ICD_TRANSFER | ICD_VIDEO);
    icd_stages_seen(commandBuffer, stage, "vkCmdWriteTimestamp");
    icd_timestamp_seen(commandBuffer, "vkCmdWriteTimestamp");
    query_append(commandBuffer, queryPool, ICD_OP_TIMESTAMP, query, 1, "vkCmdWriteTimestamp");
}

static void icd_CmdWriteTimestamp(VkCommandBuffer commandBuffer, VkPipelineStageFlagBits stage,
                                  VkQueryPool queryPool, uint32_t query)
{
    icd_CmdWriteTimestamp2(commandBuffer, stage, queryPool, query);
}

static void icd_CmdBeginQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query,
                              VkQueryControlFlags flags)
{
    ICD_NEEDS(VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | ICD_VIDEO);
    range_seen(POOL(queryPool), query, 1, "vkCmdBeginQuery");
}

static void icd_CmdEndQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query)
{
    ICD_NEEDS(VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | ICD_VIDEO);
    query_append(commandBuffer, queryPool, ICD_OP_QUERY_DONE, query, 1, "vkCmdEndQuery");
}

static void icd_CmdResetQueryPool(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
                                  uint32_t firstQuery, uint32_t queryCount)
{
    ICD_NEEDS(VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    query_append(commandBuffer, queryPool, ICD_OP_RESET_QUERIES, firstQuery, queryCount,
                 "vkCmdResetQueryPool");
}

static void icd_CmdCopyQueryPoolResults(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
                                        uint32_t firstQuery, uint32_t queryCount,
                                        VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                        VkDeviceSize stride, VkQueryResultFlags flags)
{
    static const char call[] = "vkCmdCopyQueryPoolResults";
    struct icd_buffer *buffer = ICD_FROM(icd_buffer, ICD_KIND_BUFFER, dstBuffer);
    ICD_NEEDS(VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    VkDeviceSize word = flags & VK_QUERY_RESULT_64_BIT ? 8 : 4;
    VkDeviceSize last = flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT ? 2 * word : word;
    if (queryCount > 1 && (stride % word || stride > buffer->size)) {
        icd_violation(BELFRY_ICD_OUT_OF_RANGE, "%s has a stride of %llu", call,
                      (unsigned long long)stride);
        return;
    }
    VkDeviceSize size = queryCount ? (queryCount - 1) * stride + last : 0;
    if (!icd_range_seen(commandBuffer, buffer, VK_BUFFER_USAGE_TRANSFER_DST_BIT, dstOffset, size,
                        word, call))
        return;
    struct icd_query_command *c =
        query_append(commandBuffer, queryPool, ICD_OP_COPY_QUERIES, firstQuery, queryCount, call);
    if (!c)
        return;
    c->buffer = buffer;
    c->offset = dstOffset;
    c->stride = stride;
    c->flags = flags;
}

static void query_finish(const struct icd_query_command *c, uint64_t value, struct icd_queue *queue)
{
    struct query *query = &c->pool->queries[c->first];
    if (atomic_exchange(&query->state, QUERY_WRITTEN) != QUERY_RESET)
        icd_violation(BELFRY_ICD_QUERY_UNRESET,
                      "a command on queue %u:%u writes query %u, which hasn't been reset",
                      queue->family, queue->index, c->first);
    query->value = value;
    query->available = true;
    if (queue->object.device->config->free_submit)
        return; /* the packet's end notifies */
    icd_lock();
    icd_wake_any();
    icd_unlock();
}

static void queries_copy(const struct icd_query_command *c, struct icd_queue *queue)
{
    struct icd_device *device = queue->object.device;
    reset_seen(c->pool, c->first, c->count, "vkCmdCopyQueryPoolResults");
    if (c->flags & VK_QUERY_RESULT_WAIT_BIT)
        icd_queue_drain(queue); /* as on RADV, where the front end waits */
    if ((c->flags & VK_QUERY_RESULT_WAIT_BIT) && !device->config->free_submit &&
        !all_available(c->pool, c->first, c->count)) {
        icd_lock();
        while (!device->lost && !queue->stop && !all_available(c->pool, c->first, c->count))
            icd_queue_park_any(queue);
        icd_unlock();
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const struct query *query = &c->pool->queries[c->first + i];
        _Alignas(8) uint8_t words[16];
        bool available;
        size_t size = result_write(query, c->flags, words, &available);
        size_t word = c->flags & VK_QUERY_RESULT_64_BIT ? 8 : 4;
        VkDeviceSize at = c->offset + i * c->stride;
        if (available || (c->flags & VK_QUERY_RESULT_PARTIAL_BIT))
            icd_buffer_write(c->buffer, at, words, size);
        else if (c->flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
            icd_buffer_write(c->buffer, at + word, words + word, word);
    }
}

void icd_query_execute(const struct icd_query_command *c, struct icd_queue *queue)
{
    switch ((enum icd_op_code)c->command.code) {
    case ICD_OP_TIMESTAMP: {
        /* Of whatever stage, it is that of the end of all work before; nothing waits for it. */
        uint64_t now = icd_now(), at = now > queue->works_until ? now : queue->works_until;
        query_finish(c, icd_ticks(queue->object.device->config, at) & queue->timestamp_mask, queue);
        break;
    }
    case ICD_OP_QUERY_DONE:
        query_finish(c, 0, queue);
        break;
    case ICD_OP_RESET_QUERIES:
        icd_bump(&queue->counts.query_transfers, 1);
        pool_reset(c->pool, c->first, c->count);
        break;
    case ICD_OP_COPY_QUERIES:
        icd_bump(&queue->counts.query_transfers, 1);
        queries_copy(c, queue);
        break;
    default:
        break;
    }
}

const struct icd_entry icd_query_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, CreateQueryPool),
    ICD_CORE(ICD_DEVICE, 0, DestroyQueryPool),
    ICD_CORE(ICD_DEVICE, 0, GetQueryPoolResults),
    ICD_CORE(ICD_DEVICE, 2, ResetQueryPool),
    ICD_EXTRA(ICD_DEVICE, ICD_EXT_HOST_QUERY_RESET, ResetQueryPoolEXT, ResetQueryPool),
    ICD_CORE(ICD_DEVICE, 0, CmdWriteTimestamp),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_SYNCHRONIZATION_2, CmdWriteTimestamp2),
    ICD_CORE(ICD_DEVICE, 0, CmdBeginQuery),
    ICD_CORE(ICD_DEVICE, 0, CmdEndQuery),
    ICD_CORE(ICD_DEVICE, 0, CmdResetQueryPool),
    ICD_CORE(ICD_DEVICE, 0, CmdCopyQueryPoolResults),
    ICD_END};
