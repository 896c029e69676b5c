/* SPDX-License-Identifier: MIT */
/* Records of a program's pipelines and shader modules, and the variants published for them. */
#include "specialize/pipeline/pipeline.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "specialize/shader/scan.h"

void bf_pipelines_init(struct bf_pipelines *ps, VkDevice device, const struct VolkDeviceTable *vk)
{
    *ps = (struct bf_pipelines){.device = device, .vk = vk};
    ps->codes.total = &ps->budget.own;
}

/* ---- Modules ---- */

void bf_pipelines_module_made(struct bf_pipelines *ps, VkShaderModule handle,
                              const VkShaderModuleCreateInfo *info)
{
    struct bf_module *module = calloc(1, sizeof(*module));
    if (!module)
        return;
    const struct bf_scan scan = bf_scan_words(info->pCode, info->codeSize / sizeof(uint32_t));
    const bool needed = scan.pushes || scan.vertex;
    module->lives = 1;
    module->pushes = scan.pushes;
    if (needed)
        module->code = bf_code_get(&ps->codes, info->pCode, info->codeSize);
    module->unknown = info->flags != 0;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType != VK_STRUCTURE_TYPE_SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT)
            module->unknown = true;
    }
    bool added = false;
    if (module->code || !needed) {
        bf_lock_acquire(&ps->lock);
        struct bf_module *same = bf_map_find(&ps->modules, (uint64_t)handle);
        if (same)
            same->lives++; /* drivers may give equal objects one handle */
        else
            added = bf_map_insert(&ps->modules, (uint64_t)handle, module);
        bf_lock_release(&ps->lock);
    }
    if (!added) {
        bf_code_release(&ps->codes, module->code);
        free(module);
    }
}

void bf_pipelines_module_gone(struct bf_pipelines *ps, VkShaderModule handle)
{
    bf_lock_acquire(&ps->lock);
    struct bf_module *module = handle ? bf_map_find(&ps->modules, (uint64_t)handle) : NULL;
    if (module && --module->lives > 0)
        module = NULL;
    if (module)
        bf_map_remove(&ps->modules, (uint64_t)handle);
    bf_lock_release(&ps->lock);
    if (!module)
        return;
    bf_code_release(&ps->codes, module->code);
    free(module);
}

/* ---- Records ---- */

static enum bf_reason shader_reason(enum bf_shader_reason reason)
{
    switch (reason) {
    case BF_SHADER_FOLDABLE:
        return BF_REASON_NONE;
    case BF_SHADER_STAGE:
        return BF_REASON_STAGES;
    case BF_SHADER_FLOAT_CONTROLS:
        return BF_REASON_FLOAT_CONTROLS;
    case BF_SHADER_POSITION:
        return BF_REASON_POSITION;
    case BF_SHADER_DEPTH:
    case BF_SHADER_SAMPLE_MASK:
        return BF_REASON_DEPTH;
    case BF_SHADER_NO_PUSH_CONSTANTS:
        return BF_REASON_NO_PUSH;
    case BF_SHADER_ESCAPES:
        return BF_REASON_POINTERS;
    case BF_SHADER_VOLATILE:
        return BF_REASON_VOLATILE;
    case BF_SHADER_NO_LOAD:
        return BF_REASON_NO_FOLD;
    default:
        return BF_REASON_UNPARSED;
    }
}

/* Chooses the words to watch, or says why there are none. */
static enum bf_reason watch_choose(struct bf_watch *watch, const struct bf_pipeline_copy *copy)
{
    const struct bf_shader *shader = bf_pipeline_copy_shader(copy);
    enum bf_reason reason = shader_reason(bf_shader_facts_of(shader)->reason);
    if (reason != BF_REASON_NONE)
        return reason;
    for (uint32_t i = 0; i < copy->stage_count; i++)
        if (bf_shader_facts_of(copy->stages[i]->shader)->unmeasured)
            return BF_REASON_UNPARSED;
    bf_watch_choose(watch, &shader, 1);
    return watch->count > 0 ? BF_REASON_NONE : BF_REASON_NO_FOLD;
}

/* P-8. */
static void link_hash(struct bf_sha256 *sha, const struct bf_pipeline_copy *copy)
{
    const uint64_t how[] = {copy->flags | copy->link_flags, copy->parts, copy->library_count};
    bf_sha256_add(sha, how, sizeof(how));
    for (uint32_t i = 0; i < copy->library_count; i++)
        link_hash(sha, copy->libraries[i]);
}

static void pipeline_copy_hash(uint8_t out[32], const struct bf_pipeline_copy *copy)
{
    struct bf_sha256 sha;
    bf_sha256_init(&sha);
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        uint8_t one[32];
        bf_shader_hash(copy->stages[i]->shader, one);
        bf_sha256_add(&sha, one, sizeof(one));
    }
    if (copy->library_count)
        link_hash(&sha, copy);
    bf_sha256_finish(&sha, out);
}

void bf_pipeline_copy_analyse(struct bf_pipeline_copy *copy, struct bf_pipeline_analysis *analysis)
{
    *analysis = (struct bf_pipeline_analysis){.reason = bf_copy_compose(copy)};
    if (analysis->reason != BF_REASON_NONE)
        return;
    copy->specialised = copy->stage_count - 1;
    analysis->reason = BF_REASON_MEMORY;
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        if (bf_code_stage_analyse(&copy->pipelines->codes, copy->stages[i]) != VK_SUCCESS)
            return;
    }
    pipeline_copy_hash(analysis->hash, copy);
    analysis->reason = watch_choose(&analysis->watch, copy);
}

static void free_record(struct bf_pipelines *ps, struct bf_pipeline *p)
{
    const size_t histogram = p->histogram ? sizeof(*p->histogram) : 0;
    atomic_fetch_sub(&ps->budget.own, sizeof(*p) + histogram);
    free(p->histogram);
    free(p);
}

/* P-6. The record can't be found yet, or visit_lock is held. Only what is watched has a histogram:
 * most of a record's memory is first touched here, by the pool. */
static void record_settle(struct bf_pipelines *ps, struct bf_pipeline *p,
                          const struct bf_pipeline_analysis *analysis)
{
    p->excluded = analysis->reason;
    memcpy(p->hash, analysis->hash, sizeof(p->hash));
    if (p->excluded != BF_REASON_NONE)
        return;
    p->histogram = calloc(1, sizeof(*p->histogram));
    if (!p->histogram) {
        p->excluded = BF_REASON_MEMORY;
        return;
    }
    atomic_fetch_add(&ps->budget.own, sizeof(*p->histogram));
    bf_pipeline_watch(p, &analysis->watch);
}

static void settle_visited(struct bf_pipeline *p, void *context)
{
    struct bf_pipeline_copy *copy = p->copy;
    struct bf_pipelines *ps = copy->pipelines;
    record_settle(ps, p, context);
    if (p->excluded != BF_REASON_NONE) {
        bf_map_remove(&ps->ids, p->id);
        bf_lock_acquire(&copy->lock);
        copy->owner = NULL;
        bf_lock_release(&copy->lock);
        p->copy = NULL;
        bf_pipeline_copy_release(copy); /* not the last reference: somebody settles it */
    }
    if (ps->on_made)
        ps->on_made(ps->context, p);
}

bool bf_pipeline_copy_settle(const struct bf_pipeline_copy *copy,
                             const struct bf_pipeline_analysis *analysis)
{
    return bf_pipelines_visit(copy->pipelines, copy->record, settle_visited, (void *)analysis);
}

static bool budget_is_full(const struct bf_pipelines *ps)
{
    return ps->budget.most && atomic_load(&ps->budget.own) > ps->budget.most;
}

/* NULL: out of memory. */
static struct bf_pipeline *new_record(struct bf_pipelines *ps, VkPipeline handle,
                                      VkPipelineBindPoint point)
{
    struct bf_pipeline *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->handle = handle;
    p->point = point;
    p->lives = 1;
    p->id = atomic_fetch_add(&ps->last_id, 1) + 1;
    atomic_fetch_add(&ps->budget.own, sizeof(*p));
    return p;
}

/* Makes the record of a library, which is never watched itself, and takes over the reference to
 * its copy, which may be NULL. */
static void library_record(struct bf_pipelines *ps, VkPipeline handle,
                           struct bf_pipeline_copy *library, enum bf_reason refused)
{
    struct bf_pipeline *p = new_record(ps, handle, VK_PIPELINE_BIND_POINT_GRAPHICS);
    if (p) {
        p->excluded = BF_REASON_LIBRARY;
        p->refused = library && budget_is_full(ps) ? BF_REASON_SPACE : refused;
    }
    if (!p || p->refused != BF_REASON_NONE) {
        bf_pipeline_copy_release(library);
        library = NULL;
    }
    if (!p)
        return;
    p->library = library;
    bf_lock_acquire(&ps->lock);
    struct bf_pipeline *same = bf_map_find(&ps->records, (uint64_t)handle);
    if (same)
        same->lives++; /* drivers may give equal objects one handle */
    const bool added = !same && bf_map_insert(&ps->records, (uint64_t)handle, p);
    bf_lock_release(&ps->lock);
    if (added && ps->on_made)
        ps->on_made(ps->context, p);
    if (added)
        return;
    bf_pipeline_copy_release(library);
    free_record(ps, p);
}

/* Makes the record of a pipeline, and takes over the reference to the copy, which may be NULL. */
static void pipeline_record(struct bf_pipelines *ps, VkPipeline handle, VkPipelineBindPoint point,
                            struct bf_pipeline_copy *copy, enum bf_reason reason)
{
    struct bf_pipeline *p = new_record(ps, handle, point);
    if (!p) {
        bf_pipeline_copy_release(copy);
        return;
    }
    struct bf_pipeline_analysis analysis = {.reason = reason};
    const bool later = copy && ps->on_copied;
    if (copy) {
        p->push_id = copy->layout->push_id;
        if (!later)
            bf_pipeline_copy_analyse(copy, &analysis);
        if (analysis.reason == BF_REASON_NONE && budget_is_full(ps))
            analysis.reason = BF_REASON_SPACE;
    }
    if (!later || analysis.reason != BF_REASON_NONE)
        record_settle(ps, p, &analysis);
    if (p->excluded == BF_REASON_NONE) {
        p->copy = copy;
        copy->owner = p;
        copy->record = p->id;
    } else {
        bf_pipeline_copy_release(copy);
        copy = NULL;
    }
    if (copy && later)
        bf_pipeline_copy_retain(copy); /* the program may destroy the pipeline at any time */
    bf_lock_acquire(&ps->lock);
    struct bf_pipeline *same = bf_map_find(&ps->records, (uint64_t)handle);
    bool added = false;
    if (same)
        same->lives++; /* drivers may give equal objects one handle */
    else if (!copy || bf_map_insert(&ps->ids, p->id, p))
        added = bf_map_insert(&ps->records, (uint64_t)handle, p);
    bf_lock_release(&ps->lock);
    if (added && copy && later)
        ps->on_copied(ps->context, copy);
    else if (added && ps->on_made)
        ps->on_made(ps->context, p);
    if (added)
        return;
    if (copy && later)
        bf_pipeline_copy_release(copy);
    if (copy) {
        bf_map_remove(&ps->ids, p->id);
        bf_pipeline_copy_release(copy);
    }
    free_record(ps, p);
}

void bf_pipelines_created_compute(struct bf_pipelines *ps, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos,
                                  const VkPipeline *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!handles[i])
            continue;
        struct bf_pipeline_copy *copy;
        enum bf_reason reason;
        bf_copy_compute(ps, &infos[i], &copy, &reason);
        pipeline_record(ps, handles[i], VK_PIPELINE_BIND_POINT_COMPUTE, copy, reason);
    }
}

void bf_pipelines_created_graphics(struct bf_pipelines *ps, uint32_t count,
                                   const VkGraphicsPipelineCreateInfo *infos,
                                   const VkPipeline *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!handles[i])
            continue;
        struct bf_pipeline_copy *copy;
        enum bf_reason reason;
        bf_copy_graphics(ps, &infos[i], &copy, &reason);
        if (bf_copy_is_library(&infos[i]))
            library_record(ps, handles[i], copy, reason);
        else
            pipeline_record(ps, handles[i], VK_PIPELINE_BIND_POINT_GRAPHICS, copy, reason);
    }
}

void bf_pipelines_created_other(struct bf_pipelines *ps, VkPipelineBindPoint point,
                                enum bf_reason reason, uint32_t count, const VkPipeline *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        if (handles[i])
            pipeline_record(ps, handles[i], point, NULL, reason);
    }
}

struct bf_pipeline *bf_pipelines_find(struct bf_pipelines *ps, VkPipeline handle)
{
    return handle ? bf_map_find(&ps->records, (uint64_t)handle) : NULL;
}

uint32_t bf_pipelines_push_id(struct bf_pipelines *ps, VkPipelineLayout layout)
{
    const struct bf_retained_layout *retained = bf_retained_layout_find(ps, layout);
    return retained ? retained->push_id : 0;
}

/* ---- Variants ---- */

/* With the pipelines' lock held. */
static void end_variant(struct bf_pipelines *ps, struct bf_variant *variant)
{
    bf_variant_withdraw(variant);
    if (!variant->ended && !(atomic_load(&variant->state) & BF_VARIANT_RETIRED)) {
        variant->ended = true;
        variant->next_ended = ps->ended;
        ps->ended = variant;
    }
}

/* With the pipeline's lock held. */
static void unpublish(struct bf_pipeline *p, const struct bf_variant *variant)
{
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++) {
        if (atomic_load(&p->variants[i]) == variant)
            atomic_store(&p->variants[i], NULL);
    }
}

enum bf_reason bf_pipeline_publish(struct bf_pipeline_copy *copy, struct bf_variant *variant)
{
    bf_lock_acquire(&copy->lock);
    struct bf_pipeline *p = copy->owner;
    enum bf_reason reason = p ? BF_REASON_BUDGET : BF_REASON_GONE;
    if (p) {
        bf_lock_acquire(&p->lock);
        uint32_t i = 0;
        while (i < BF_MAX_VARIANTS && atomic_load(&p->variants[i]))
            i++;
        if (atomic_load(&p->pinned)) {
            reason = BF_REASON_PINNED;
        } else if (i < BF_MAX_VARIANTS) {
            reason = BF_REASON_NONE;
            atomic_fetch_add(&copy->pipelines->budget.variants, variant->bytes);
            variant->next = p->all;
            p->all = variant;
            atomic_store(&p->variants[i], variant);
        }
        bf_lock_release(&p->lock);
    }
    bf_lock_release(&copy->lock);
    return reason;
}

void bf_pipeline_withdraw(struct bf_pipelines *ps, struct bf_pipeline *p,
                          struct bf_variant *variant)
{
    bf_lock_acquire(&p->lock);
    unpublish(p, variant);
    bf_lock_release(&p->lock);
    bf_lock_acquire(&ps->lock);
    end_variant(ps, variant);
    bf_lock_release(&ps->lock);
}

uint32_t bf_pipelines_sweep(struct bf_pipelines *ps)
{
    VkPipeline handles[32];
    uint32_t count, left;
    do { /* the driver isn't called with the lock held */
        count = left = 0;
        bf_lock_acquire(&ps->lock);
        struct bf_variant **at = &ps->ended;
        while (*at) {
            struct bf_variant *v = *at;
            if (count == BF_COUNT(handles) || !bf_variant_retire(v)) {
                left++;
                at = &v->next_ended;
                continue;
            }
            *at = v->next_ended;
            v->ended = false;
            handles[count++] = v->handle;
            atomic_fetch_sub(&ps->budget.variants, v->bytes);
            if (v->orphan)
                free(v);
        }
        bf_lock_release(&ps->lock);
        for (uint32_t i = 0; i < count; i++)
            ps->vk->vkDestroyPipeline(ps->device, handles[i], NULL);
    } while (count == BF_COUNT(handles));
    return left;
}

/* ---- The end of records ---- */

/* Leaves the record's variants to bf_pipelines_sweep, and frees those that are retired (VA-2). */
static void leave_variants(struct bf_pipelines *ps, struct bf_pipeline *p)
{
    bf_lock_acquire(&ps->lock);
    for (struct bf_variant *v = p->all, *next; v; v = next) {
        next = v->next;
        if (atomic_load(&v->state) & BF_VARIANT_RETIRED) {
            free(v);
        } else {
            v->orphan = true;
            end_variant(ps, v);
        }
    }
    bf_lock_release(&ps->lock);
}

static void end_record(struct bf_pipelines *ps, struct bf_pipeline *p)
{
    bf_lock_acquire(&ps->visit_lock);
    struct bf_pipeline_copy *copy = p->copy;
    if (copy)
        bf_map_remove(&ps->ids, p->id);
    bf_lock_release(&ps->visit_lock);
    if (copy) {
        bf_lock_acquire(&copy->lock);
        copy->owner = NULL;
        bf_lock_release(&copy->lock);
    }
    if (ps->on_gone)
        ps->on_gone(ps->context, p);
    leave_variants(ps, p);
    bf_pipeline_copy_release(copy);
    bf_pipeline_copy_release(p->library);
    free_record(ps, p);
}

void bf_pipelines_destroyed(struct bf_pipelines *ps, VkPipeline handle)
{
    bf_lock_acquire(&ps->lock);
    struct bf_pipeline *p = bf_pipelines_find(ps, handle);
    if (p && --p->lives > 0)
        p = NULL;
    if (p)
        bf_map_remove(&ps->records, (uint64_t)handle);
    bf_lock_release(&ps->lock);
    if (!p)
        return;
    end_record(ps, p);
    bf_pipelines_sweep(ps);
}

static void end_visited(void *record, void *ps)
{
    end_record(ps, record);
}

static void free_module(void *module, void *ps)
{
    bf_code_release(&((struct bf_pipelines *)ps)->codes, ((struct bf_module *)module)->code);
    free(module);
}

void bf_pipelines_finish(struct bf_pipelines *ps)
{
    bf_map_finish(&ps->records, end_visited, ps);
    bf_map_finish(&ps->ids, NULL, NULL);
    /* No command buffer is left that could use any of them. */
    while (ps->ended) {
        struct bf_variant *v = ps->ended;
        ps->ended = v->next_ended;
        atomic_fetch_sub(&ps->budget.variants, v->bytes);
        ps->vk->vkDestroyPipeline(ps->device, v->handle, NULL);
        free(v);
    }
    bf_map_finish(&ps->modules, free_module, ps);
    bf_retained_objects_finish(ps);
    bf_descriptor_shapes_finish(ps);
}

/* ---- Looking at records ---- */

void bf_pipelines_pin(struct bf_pipelines *ps, VkPipeline handle)
{
    struct bf_pipeline *p = bf_pipelines_find(ps, handle);
    if (!p)
        return;
    bf_lock_acquire(&p->lock);
    atomic_store(&p->pinned, true);
    struct bf_variant *published[BF_MAX_VARIANTS];
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++)
        published[i] = atomic_exchange(&p->variants[i], NULL);
    bf_lock_release(&p->lock);
    bf_lock_acquire(&ps->lock);
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++) {
        if (published[i])
            end_variant(ps, published[i]);
    }
    bf_lock_release(&ps->lock);
    bf_pipelines_sweep(ps);
}

void bf_pipelines_name(struct bf_pipelines *ps, VkPipeline handle, const char *name)
{
    struct bf_pipeline *p = bf_pipelines_find(ps, handle);
    if (!p)
        return;
    size_t length = name ? strlen(name) : 0;
    if (length >= sizeof(p->name))
        length = sizeof(p->name) - 1;
    bf_lock_acquire(&p->lock);
    memcpy(p->name, name ? name : "", length);
    p->name[length] = 0;
    bf_lock_release(&p->lock);
}

bool bf_pipelines_visit(struct bf_pipelines *ps, uint64_t id,
                        void (*visit)(struct bf_pipeline *pipeline, void *context), void *context)
{
    bf_lock_acquire(&ps->visit_lock);
    struct bf_pipeline *p = bf_map_find(&ps->ids, id);
    if (p)
        visit(p, context);
    bf_lock_release(&ps->visit_lock);
    return p;
}

bool bf_pipeline_copy_visit(struct bf_pipeline_copy *copy,
                            void (*visit)(struct bf_pipeline *pipeline, void *context),
                            void *context)
{
    bf_lock_acquire(&copy->lock);
    struct bf_pipeline *p = copy->owner;
    if (p)
        visit(p, context);
    bf_lock_release(&copy->lock);
    return p;
}
