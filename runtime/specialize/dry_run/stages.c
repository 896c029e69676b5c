/* SPDX-License-Identifier: MIT */
/* What the stages of a pipeline have to do with each other, by their facts. */
#include "specialize/dry_run/stages.h"

#include <stdlib.h>

#define LOCATIONS 128

VkResult bf_stages_open(const struct bf_shader_info *infos, uint32_t count,
                        struct bf_stages *stages)
{
    uint32_t bindings = 0;
    *stages = (struct bf_stages){.count = count, .last = count - 1};
    stages->shaders = calloc(count, sizeof(*stages->shaders));
    if (!stages->shaders)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        VkResult result = bf_shader_create_over(&infos[i], &stages->shaders[i]);
        if (result != VK_SUCCESS)
            return result;
        bindings += bf_shader_facts_of(stages->shaders[i])->binding_count;
        if (infos[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT)
            stages->last = i;
    }
    stages->written = calloc(bindings + 1, sizeof(*stages->written));
    return stages->written ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_stages_close(struct bf_stages *stages)
{
    for (uint32_t i = 0; stages->shaders && i < stages->count; i++)
        bf_shader_release(stages->shaders[i]);
    free(stages->shaders);
    free(stages->written);
}

uint32_t bf_stages_nth(const struct bf_stages *stages, uint32_t n)
{
    return n == stages->count - 1 ? stages->last : n < stages->last ? n : n + 1;
}

/* Adds the components that outputs or inputs take; false: some lie beyond what is looked at. */
static bool components_add(uint8_t taken[LOCATIONS], const struct bf_shader_varying *all,
                           uint32_t count)
{
    bool within = true;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = all[i].components * (all[i].width == 8 ? 2u : 1u);
        for (uint32_t l = 0; l < all[i].locations; l++) {
            const uint64_t location = (uint64_t)all[i].location + l;
            within &= location < LOCATIONS;
            if (location < LOCATIONS)
                taken[location] |= (uint8_t)(((1u << size) - 1) << (all[i].component & 3));
        }
    }
    return within;
}

static bool is_unhanded(const struct bf_shader_facts *before, const struct bf_shader_facts *behind)
{
    uint8_t given[LOCATIONS] = {0}, taken[LOCATIONS] = {0};
    bool unhanded = !components_add(taken, behind->inputs, behind->input_count);
    components_add(given, before->outputs, before->output_count);
    for (uint32_t l = 0; l < LOCATIONS; l++)
        unhanded |= (taken[l] & ~given[l]) != 0;
    return unhanded;
}

const struct bf_dry_run_stages *bf_stages_describe(struct bf_stages *stages, uint32_t i,
                                                   const struct bf_dry_run *runs)
{
    const struct bf_shader_facts *facts = bf_shader_facts_of(stages->shaders[i]);
    struct bf_dry_run_stages *described = &stages->described;
    *described = (struct bf_dry_run_stages){.written = stages->written};
    for (uint32_t k = 0; k < stages->count; k++) {
        const struct bf_shader_facts *other = bf_shader_facts_of(stages->shaders[k]);
        if (k == i)
            continue;
        if (bf_shader_stage(stages->shaders[i]) == VK_SHADER_STAGE_FRAGMENT_BIT) {
            described->behind = true;
            described->handed |= runs[k].handed;
            described->unhanded |= is_unhanded(other, facts);
        }
        for (uint32_t b = 0; b < other->binding_count; b++)
            if (other->bindings[b].written)
                stages->written[described->written_count++] =
                    (struct bf_dry_run_binding){other->bindings[b].set, other->bindings[b].binding};
    }
    return described;
}
