/* SPDX-License-Identifier: MIT */
/* What a checker is told of a shader. */
#include "helper.h"

#include <spirv/unified1/spirv.h>

static const struct bf_shader_binding *binding(const struct bf_shader_facts *facts, uint32_t set,
                                               uint32_t number)
{
    for (uint32_t i = 0; i < facts->binding_count; i++)
        if (facts->bindings[i].set == set && facts->bindings[i].binding == number)
            return &facts->bindings[i];
    return NULL;
}

struct expected {
    uint32_t set, binding;
    VkDescriptorType type;
    uint32_t count;
    bool read, written;
    uint32_t block_size, array_stride;
};

static void kernel_as(const char *name)
{
    static const struct expected each[] = {
        {0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, true, false, 64, 32},
        {0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, false, true, 64, 0},
        {0, 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, true, true, 4, 0},
        {0, 3, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, true, false, 68, 0},
        {1, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 3, true, false, 0, 0},
        {1, 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, false, true, 0, 0},
        {1, 2, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, true, false, 0, 0},
        {1, 3, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 1, true, true, 0, 0},
        {1, 4, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, true, false, 0, 0},
        {1, 5, VK_DESCRIPTOR_TYPE_SAMPLER, 1, true, false, 0, 0},
        {1, 6, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, true, false, 0, 0},
        {1, 8, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, true, false, 0, 0},
        {2, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 11, false, true, 4, 0},
    };
    const uint32_t values[3] = {64, 2, 11};
    const VkSpecializationMapEntry map[] = {{7, 0, 4}, {8, 4, 4}, {9, 8, 4}};
    const VkSpecializationInfo specialization = {3, map, sizeof(values), values};
    /* The optimiser has nothing to freeze: these stay to be chosen. */
    struct bf_shader *shader = shader_of(name, &specialization);
    const struct bf_shader_facts *facts = bf_shader_facts_of(shader);
    uint32_t count = sizeof(each) / sizeof(each[0]);
    for (uint32_t i = 0; i < count; i++) {
        const struct bf_shader_binding *found = binding(facts, each[i].set, each[i].binding);
        if (!found)
            fail_msg("binding %u of set %u", each[i].binding, each[i].set);
        assert_int_equal(found->type, each[i].type);
        assert_int_equal(found->count, each[i].count);
        assert_int_equal(found->read, each[i].read);
        if (found->written != each[i].written)
            fail_msg("binding %u of set %u: written", each[i].binding, each[i].set);
        assert_int_equal(found->block_size, each[i].block_size);
        assert_int_equal(found->array_stride, each[i].array_stride);
    }
    assert_int_equal(facts->binding_count, count);
    const struct bf_shader_binding *image = binding(facts, 1, 0);
    assert_true(image->dim == SpvDim2D && image->arrayed && !image->multisampled && !image->depth);
    assert_int_equal(image->number, BF_NUMBER_FLOAT);
    image = binding(facts, 1, 1);
    assert_int_equal(image->format, SpvImageFormatRgba8);
    image = binding(facts, 1, 2);
    assert_true(image->multisampled && image->format == SpvImageFormatR32ui);
    assert_int_equal(image->number, BF_NUMBER_UINT);
    image = binding(facts, 1, 3);
    assert_true(image->dim == SpvDimBuffer && image->number == BF_NUMBER_INT);
    assert_int_equal(binding(facts, 1, 4)->dim, SpvDim3D);
    image = binding(facts, 1, 8);
    assert_true(image->dim == SpvDimCube && image->depth);

    assert_int_equal(facts->workgroup_size[0], 64);
    assert_int_equal(facts->workgroup_size[1], 3);
    assert_int_equal(facts->workgroup_size[2], 2);
    assert_true(facts->stores && facts->atomics && facts->barriers && facts->subgroups);
    assert_true(facts->num_workgroups);
    assert_false(facts->discards || facts->derivatives || facts->physical_storage);
    assert_int_equal(facts->builtin_count, 2);
    assert_int_equal(facts->builtins[0], SpvBuiltInNumWorkgroups);
    assert_int_equal(facts->builtins[1], SpvBuiltInLocalInvocationIndex);
    assert_int_equal(facts->input_count + facts->output_count, 0);
    bf_shader_release(shader);
}

TEST(kernel)
{
    kernel_as("facts.comp");
    kernel_as("facts_opt.comp");

    /* Without the program's specialization: as declared. */
    struct bf_shader *shader = shader_of("facts.comp", NULL);
    const struct bf_shader_facts *facts = bf_shader_facts_of(shader);
    assert_int_equal(facts->workgroup_size[0], 1);
    assert_int_equal(facts->workgroup_size[1], 3);
    assert_int_equal(binding(facts, 2, 0)->count, 5);
    bf_shader_release(shader);
}

static const struct bf_shader_varying *at(const struct bf_shader_varying *all, uint32_t count,
                                          uint32_t location)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].location == location)
            return &all[i];
    fail_msg("nothing at location %u", location);
    return NULL;
}

TEST(fragment)
{
    struct bf_shader *shader = shader_of("facts.frag", NULL);
    const struct bf_shader_facts *facts = bf_shader_facts_of(shader);
    assert_true(facts->discards && facts->derivatives && facts->early_tests);
    assert_false(facts->stores || facts->atomics || facts->barriers || facts->subgroups);
    assert_int_equal(facts->input_count, 7);
    const struct bf_shader_varying *in = at(facts->inputs, 7, 0);
    assert_true(in->components == 3 && in->number == BF_NUMBER_FLOAT && !in->flat);
    in = at(facts->inputs, 7, 1);
    assert_true(in->components == 2 && in->number == BF_NUMBER_INT && in->flat);
    in = at(facts->inputs, 7, 2);
    assert_true(in->component == 1 && in->no_perspective);
    in = at(facts->inputs, 7, 3);
    assert_true(in->locations == 2 && in->components == 2 && in->centroid);
    in = at(facts->inputs, 7, 5);
    assert_true(in->locations == 2 && in->components == 1 && in->sample);
    in = at(facts->inputs, 7, 7);
    assert_true(in->components == 2 && !in->flat);
    in = at(facts->inputs, 7, 8);
    assert_true(in->number == BF_NUMBER_UINT && in->flat);
    assert_int_equal(facts->output_count, 2);
    assert_int_equal(at(facts->outputs, 2, 0)->components, 4);
    assert_int_equal(at(facts->outputs, 2, 2)->number, BF_NUMBER_UINT);
    assert_int_equal(facts->builtin_count, 1);
    assert_int_equal(facts->builtins[0], SpvBuiltInFragCoord);
    const struct bf_shader_binding *attachment = binding(facts, 0, 4);
    assert_int_equal(attachment->type, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT);
    assert_int_equal(attachment->dim, SpvDimSubpassData);
    assert_int_equal(attachment->input_index, 3);
    bf_shader_release(shader);

    shader = shader_of("reach.frag", NULL);
    facts = bf_shader_facts_of(shader);
    assert_true(facts->stores && facts->derivatives && !facts->discards);
    bf_shader_release(shader);

    shader = shader_of("unfolded.comp", NULL);
    assert_true(bf_shader_facts_of(shader)->physical_storage);
    bf_shader_release(shader);
}
