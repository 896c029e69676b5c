/* SPDX-License-Identifier: MIT */
/* A driver that writes down what is bound, and variants that say what they are for. */
#include "recording_fake.h"

#include "background/background.h"

_Atomic uint64_t fake_seed;

void fake_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "program of seed %llu: ", (unsigned long long)fake_seed);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(1);
}

#define LIVES 64
static struct bf_pipeline *lives[LIVES];
static struct bf_lock lives_lock;

void fake_lives(struct bf_pipeline *pipeline)
{
    static uint64_t last_id;
    bf_lock_acquire(&lives_lock);
    pipeline->id = ++last_id;
    uint32_t i = 0;
    while (i < LIVES && lives[i])
        i++;
    REQUIRE(i < LIVES, "too many pipelines");
    lives[i] = pipeline;
    bf_lock_release(&lives_lock);
}

void fake_pipeline_init(struct fake_pipeline *pipeline, struct bf_pipeline *record, uint8_t watched)
{
    memset(record, 0, sizeof(*record));
    pipeline->of = record;
    record->handle = fake_pipeline_handle(pipeline);
    record->point = VK_PIPELINE_BIND_POINT_COMPUTE;
    record->push_id = 1;
    struct bf_watch watch = {.count = watched};
    for (uint8_t i = 0; i < watched; i++)
        watch.offset[i] = 4 * i;
    record->histogram = &pipeline->histogram;
    bf_pipeline_watch(record, &watch);
    fake_lives(record);
}

void fake_gone(struct bf_pipeline *pipeline)
{
    bf_lock_acquire(&lives_lock);
    for (uint32_t i = 0; i < LIVES; i++)
        if (lives[i] == pipeline)
            lives[i] = NULL;
    bf_lock_release(&lives_lock);
}

void fake_none(void)
{
    memset(lives, 0, sizeof(lives));
}

bool bf_pipelines_visit(struct bf_pipelines *pipelines, uint64_t id,
                        void (*visit)(struct bf_pipeline *pipeline, void *context), void *context)
{
    (void)pipelines;
    bool found = false;
    bf_lock_acquire(&lives_lock);
    for (uint32_t i = 0; i < LIVES && !found; i++) {
        found = lives[i] && lives[i]->id == id;
        if (found)
            visit(lives[i], context);
    }
    bf_lock_release(&lives_lock);
    return found;
}

struct bf_pipeline *bf_pipelines_find(struct bf_pipelines *pipelines, VkPipeline handle)
{
    (void)pipelines;
    struct bf_pipeline *found = NULL;
    bf_lock_acquire(&lives_lock);
    for (uint32_t i = 0; i < LIVES && handle; i++)
        if (lives[i] && lives[i]->handle == handle)
            found = lives[i];
    bf_lock_release(&lives_lock);
    return found;
}

void fake_bind(struct fake_buffer *buffer, VkPipelineBindPoint point, VkPipeline handle)
{
    struct fake_pipeline *p = fake_pipeline_of(handle);
    REQUIRE(!buffer->frozen, "something is bound while transform feedback is active");
    REQUIRE(point == VK_PIPELINE_BIND_POINT_GRAPHICS || point == VK_PIPELINE_BIND_POINT_COMPUTE,
            "bind point %d", (int)point);
    REQUIRE(p && !atomic_load(&p->destroyed), "a destroyed pipeline is bound");
    buffer->bound[point] = handle;
    buffer->binds++;
}

static VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer buffer, VkPipelineBindPoint point,
                                                VkPipeline handle)
{
    fake_bind((struct fake_buffer *)(uintptr_t)buffer, point, handle);
}

void fake_table(struct VolkDeviceTable *vk)
{
    fake_reset();
    memset(vk, 0, sizeof(*vk));
    vk->vkCmdBindPipeline = bind_pipeline;
}

struct bf_variant *fake_variant(struct bf_pipeline *of, uint8_t mask,
                                const uint32_t words[BF_WATCHED])
{
    struct bf_variant *v = calloc(1, sizeof(*v));
    struct fake_pipeline *p = calloc(1, sizeof(*p));
    if (!v || !p)
        abort();
    p->variant = v;
    p->of = of;
    v->handle = fake_pipeline_handle(p);
    v->mask = mask;
    for (uint32_t i = 0; i < BF_WATCHED; i++)
        v->values[i] = mask >> i & 1 ? words[i] : 0;
    for (uint32_t i = 0; i < 3; i++)
        v->groups[i] = of->point == VK_PIPELINE_BIND_POINT_GRAPHICS
                           ? UINT32_MAX
                           : UINT32_MAX - 1; /* of any dispatch whose size is known */
    return v;
}

void fake_variant_free(struct bf_variant *variant)
{
    free(fake_pipeline_of(variant->handle));
    free(variant);
}

void model_begin(struct model *m)
{
    m->id = 0;
    memset(m->bytes, -1, sizeof(m->bytes));
}

void model_push(struct model *m, uint32_t id, uint32_t offset, uint32_t size, const uint8_t *bytes)
{
    if (m->id != id)
        model_begin(m);
    m->id = id;
    for (uint32_t i = 0; i < size; i++)
        m->bytes[offset + i] = id ? bytes[i] : -1;
}

static bool word_is(const struct model *m, uint32_t offset, const uint32_t *value)
{
    for (uint32_t i = 0; i < 4; i++)
        if (m->bytes[offset + i] < 0 ||
            (value && m->bytes[offset + i] != ((const uint8_t *)value)[i]))
            return false;
    return true;
}

bool model_allows(const struct model *m, const struct bf_pipeline *p, const struct bf_variant *v)
{
    for (uint32_t i = 0; i < BF_WATCHED; i++)
        if ((v->mask >> i & 1) &&
            (m->id != p->push_id || !word_is(m, p->watch.offset[i], &v->values[i])))
            return false;
    return true;
}

bool model_has(const struct model *m, const struct bf_pipeline *p, uint32_t mask)
{
    for (uint32_t i = 0; i < p->watch.count; i++)
        if ((mask >> i & 1) && (m->id != p->push_id || !word_is(m, p->watch.offset[i], NULL)))
            return false;
    return true;
}

_Atomic bool fake_adapts = true;

bool bf_background_may_adapt(const struct bf_background *background)
{
    (void)background;
    return atomic_load(&fake_adapts);
}
