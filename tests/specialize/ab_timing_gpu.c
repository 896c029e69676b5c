/* SPDX-License-Identifier: MIT */
/* A GPU that takes time, on a clock of its own. */
#include "ab_timing_gpu.h"

#define POOLS   8
#define QUERIES 128

struct query {
    bool written, late; /* late: stamped, and not yet written */
    uint64_t value;
    uint64_t stamped_at; /* on the clock, whatever was written */
    uint32_t pending;    /* submissions that may write it */
    const struct gpu_buffer *by;
    uint64_t life;
    struct gpu_truth truth; /* of the pair; with the second one */
};

static struct query queries[POOLS][QUERIES];
static uint32_t pool_count;
static uint64_t now;
static bool denied;
static uint64_t result_high;
static uint32_t result_bits = 64;

/* What runs between two stamps. */
static struct query *open_sample;
static struct gpu_truth between;

static struct query *query_of(VkQueryPool pool, uint32_t query)
{
    uint64_t index = fake_need(VK_OBJECT_TYPE_QUERY_POOL, (uint64_t)pool)->own[0];
    REQUIRE(index < pool_count && query < QUERIES, "there is no such query");
    return &queries[index][query];
}

static struct gpu_buffer *buffer_of(VkCommandBuffer handle)
{
    return (struct gpu_buffer *)(uintptr_t)handle;
}

static struct gpu_operation *add(struct gpu_buffer *b, enum gpu_kind kind)
{
    REQUIRE(b->count < GPU_OPERATIONS, "too many operations");
    struct gpu_operation *o = &b->operations[b->count++];
    *o = (struct gpu_operation){.kind = kind};
    return o;
}

/* Below ---------------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device,
                                                  const VkQueryPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkQueryPool *pool)
{
    REQUIRE(info->queryType == VK_QUERY_TYPE_TIMESTAMP && info->queryCount <= QUERIES, "a pool");
    if (denied || pool_count == POOLS)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    VkResult result = fake_make(device, VK_OBJECT_TYPE_QUERY_POOL, allocator, (uint64_t *)pool);
    fake_need(VK_OBJECT_TYPE_QUERY_POOL, (uint64_t)*pool)->own[0] = pool_count++;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL reset(VkCommandBuffer handle, VkQueryPool pool, uint32_t first,
                                        uint32_t count)
{
    struct gpu_buffer *b = buffer_of(handle);
    REQUIRE(!b->in_pass && !b->within, "queries are reset within a pass");
    for (uint32_t i = first; i < first + count; i++) {
        struct gpu_operation *o = add(b, GPU_RESET);
        o->pool = pool;
        o->query = i;
    }
}

static VKAPI_ATTR void VKAPI_CALL stamp(VkCommandBuffer handle, VkPipelineStageFlagBits stage,
                                        VkQueryPool pool, uint32_t query)
{
    struct gpu_buffer *b = buffer_of(handle);
    REQUIRE(stage == VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, "a stamp waits for nothing");
    REQUIRE(!b->in_pass && !b->within, "a stamp within a pass");
    struct gpu_operation *o = add(b, GPU_STAMP);
    o->pool = pool;
    o->query = query;
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer handle, VkPipelineStageFlags before,
                                          VkPipelineStageFlags after, VkDependencyFlags flags,
                                          uint32_t memory_count, const VkMemoryBarrier *memory,
                                          uint32_t buffer_count,
                                          const VkBufferMemoryBarrier *buffers,
                                          uint32_t image_count, const VkImageMemoryBarrier *images)
{
    (void)flags, (void)memory_count, (void)memory, (void)buffer_count, (void)buffers,
        (void)image_count, (void)images;
    struct gpu_buffer *b = buffer_of(handle);
    REQUIRE(!b->in_pass && !b->within, "a barrier within a pass");
    if (before == VK_PIPELINE_STAGE_ALL_COMMANDS_BIT && after == before)
        add(b, GPU_BARRIER);
}

static VKAPI_ATTR VkResult VKAPI_CALL results(VkDevice device, VkQueryPool pool, uint32_t first,
                                              uint32_t count, size_t size, void *data,
                                              VkDeviceSize stride, VkQueryResultFlags flags)
{
    (void)device;
    REQUIRE(flags == VK_QUERY_RESULT_64_BIT && size >= count * stride, "results, asked for oddly");
    for (uint32_t i = 0; i < count; i++) {
        const struct query *q = query_of(pool, first + i);
        REQUIRE(!q->pending, "a result is read while it may be written");
        REQUIRE(q->written, "a result is read that isn't there");
        uint64_t value = q->value;
        if (result_bits < 64)
            value = (value & ((UINT64_C(1) << result_bits) - 1)) | result_high-- << result_bits;
        memcpy((uint8_t *)data + i * stride, &value, sizeof(value));
    }
    return VK_SUCCESS;
}

void gpu_table(struct VolkDeviceTable *vk)
{
    fake_table(vk);
    fake_fill(vk, "vkDestroyQueryPool");
    vk->vkCreateQueryPool = create_pool;
    vk->vkCmdResetQueryPool = reset;
    vk->vkCmdWriteTimestamp = stamp;
    vk->vkCmdPipelineBarrier = barrier;
    vk->vkGetQueryPoolResults = results;
    memset(queries, 0, sizeof(queries));
    pool_count = 0;
    now = 1000;
}

/* The program ---------------------------------------------------------------------------------- */

void gpu_begin(struct gpu_buffer *b, bool within)
{
    REQUIRE(!b->pending, "a command buffer is begun while it runs");
    b->life++;
    b->within = within;
    b->in_pass = false;
    b->count = 0;
    b->fake.bound[0] = b->fake.bound[1] = VK_NULL_HANDLE;
}

void gpu_work(struct gpu_buffer *b, uint64_t ns, const struct bf_ab_use *use)
{
    struct gpu_operation *o = add(b, GPU_WORK);
    o->ns = ns;
    if (use)
        o->use = *use;
}

void gpu_pass(struct gpu_buffer *b, bool begins)
{
    REQUIRE(b->in_pass != begins, "passes within passes");
    b->in_pass = begins;
    add(b, begins ? GPU_PASS : GPU_PASS_END);
}

void gpu_execute(struct gpu_buffer *b, struct gpu_buffer *executed)
{
    REQUIRE((b->in_pass || b->within) == executed->within, "a command buffer of another kind");
    struct gpu_operation *o = add(b, GPU_EXECUTE);
    o->executed = executed;
    o->life = executed->life;
}

/* Running -------------------------------------------------------------------------------------- */

static void set_pending(struct gpu_buffer *b, int by)
{
    b->pending += (uint32_t)by;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct gpu_operation *o = &b->operations[i];
        if (o->kind == GPU_STAMP)
            query_of(o->pool, o->query)->pending += (uint32_t)by;
        if (o->kind == GPU_EXECUTE) {
            REQUIRE(o->life == o->executed->life, "what is executed has been begun again");
            set_pending(o->executed, by);
        }
    }
}

void gpu_submit(struct gpu_buffer *b)
{
    set_pending(b, 1);
}

void gpu_drop(struct gpu_buffer *b)
{
    set_pending(b, -1);
}

static void write_late(void)
{
    for (uint32_t p = 0; p < pool_count; p++) {
        for (uint32_t i = 0; i < QUERIES; i++) {
            struct query *q = &queries[p][i];
            if (!q->late)
                continue;
            q->late = false;
            q->written = true;
            q->value = now;
        }
    }
}

static void count_work(const struct gpu_operation *o)
{
    if (!open_sample || !o->use.work)
        return;
    struct bf_ab_use *use = &between.use;
    if (between.works++ == 0)
        *use = o->use;
    else if (use->pipeline != o->use.pipeline || use->candidate != o->use.candidate ||
             use->variant != o->use.variant || use->lot != o->use.lot)
        use->candidate = BF_AB_NONE;
    if (between.works > 1)
        use->work += o->use.work;
}

static void run_stamp(const struct gpu_buffer *b, const struct gpu_operation *o)
{
    struct query *q = query_of(o->pool, o->query);
    REQUIRE(!q->written && !q->late, "a stamp is written twice");
    q->late = true;
    q->stamped_at = now;
    q->by = b;
    q->life = b->life;
    if (o->query % 2 == 0) {
        REQUIRE(!open_sample, "samples within samples");
        open_sample = q;
        between = (struct gpu_truth){.by = b, .life = b->life};
    } else {
        REQUIRE(open_sample == q - 1, "the end of a sample that hasn't begun");
        between.ns = now - open_sample->stamped_at;
        q->truth = between;
        open_sample = NULL;
    }
}

static void run(struct gpu_buffer *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct gpu_operation *o = &b->operations[i];
        struct query *q = o->kind == GPU_RESET ? query_of(o->pool, o->query) : NULL;
        switch (o->kind) {
        case GPU_RESET:
            q->written = q->late = false;
            break;
        case GPU_STAMP:
            run_stamp(b, o);
            break;
        case GPU_BARRIER:
            write_late();
            break;
        case GPU_WORK:
            now += o->ns;
            count_work(o);
            break;
        case GPU_EXECUTE: {
            uint32_t before = between.works;
            run(o->executed);
            between.executed += between.works != before;
            break;
        }
        case GPU_PASS:
        case GPU_PASS_END:
            break;
        }
    }
}

void gpu_run(struct gpu_buffer *b)
{
    run(b);
    write_late();
    REQUIRE(!open_sample, "a sample doesn't end");
    set_pending(b, -1);
}

uint32_t gpu_pools(void)
{
    return pool_count;
}

void gpu_deny_pools(bool deny)
{
    denied = deny;
}

void gpu_set_clock(uint64_t ns)
{
    now = ns;
}

void gpu_mask_results(uint64_t high, uint32_t bits)
{
    result_high = high;
    result_bits = bits;
}

const struct gpu_truth *gpu_truth_of(const struct bf_ab_sample *sample)
{
    const struct query *first = query_of(sample->pool, sample->query),
                       *second = query_of(sample->pool, sample->query + 1);
    REQUIRE(first->by == second->by && first->life == second->life, "stamps of two recordings");
    return &second->truth;
}
