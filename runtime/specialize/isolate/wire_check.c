/* SPDX-License-Identifier: MIT */
/* Checks as messages: the pipelines, and what there is to know of them to make up inputs. */
#include <string.h>

#include "specialize/isolate/wire_io.h"

/* What is a number, a truth or an enumeration in a binding, in one order for writing and
 * reading. */
#define BINDING_NUMBERS(F)                                                                         \
    F(binding)                                                                                     \
    F(type)                                                                                        \
    F(count)                                                                                       \
    F(flags)                                                                                       \
    F(immutable_samplers)                                                                          \
    F(used)                                                                                        \
    F(written)                                                                                     \
    F(view)                                                                                        \
    F(format)                                                                                      \
    F(components.r)                                                                                \
    F(components.g)                                                                                \
    F(components.b)                                                                                \
    F(components.a)                                                                                \
    F(samples)                                                                                     \
    F(number)                                                                                      \
    F(depth)                                                                                       \
    F(classes)                                                                                     \
    F(input_index)                                                                                 \
    F(block_size)                                                                                  \
    F(array_stride)                                                                                \
    F(period)
#define BINDING_WORDS 26 /* at least, in a message */

static void say_binding(struct bf_wire_out *out, const struct bf_check_binding *b)
{
#define SAY(member_) bf_wire_say(out, (uint32_t)b->member_);
    BINDING_NUMBERS(SAY)
#undef SAY
    bf_wire_say_long(out, b->size);
    bf_wire_say_block(out, b->kinds, b->kind_count);
    bf_wire_say(out, b->sampler ? 1 : 0);
    if (b->sampler) {
        VkSamplerCreateInfo sampler = *b->sampler;
        sampler.pNext = NULL;
        bf_wire_say_bytes(out, &sampler, sizeof(sampler));
    }
}

static void read_binding(struct bf_wire_in *in, struct bf_check_binding *b)
{
#define READ(member_) b->member_ = bf_wire_read(in);
    BINDING_NUMBERS(READ)
#undef READ
    b->size = bf_wire_read_long(in);
    size_t kinds;
    b->kinds = bf_wire_read_block(in, &kinds);
    b->kind_count = (uint32_t)kinds;
    in->bad |= b->period > b->kind_count || b->number > BF_TEXEL_BLOCK;
    if (!bf_wire_read(in))
        return;
    VkSamplerCreateInfo *sampler = bf_wire_allocate(in, 1, sizeof(*sampler));
    const void *bytes = bf_wire_read_bytes(in, sizeof(*sampler));
    if (sampler && bytes) {
        memcpy(sampler, bytes, sizeof(*sampler));
        sampler->sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
        sampler->pNext = NULL;
    }
    b->sampler = sampler;
}

/* Push constants' ranges are the first build's. */
static void say_interface(struct bf_wire_out *out, const struct bf_pipeline_interface *s)
{
    for (uint32_t i = 0; i < 3; i++)
        bf_wire_say(out, s->workgroup[i]);
    bf_wire_say(out, s->loops);
    bf_wire_say(out, s->fragile);
    bf_wire_say(out, s->addresses);
    bf_wire_say(out, s->extent[0]);
    bf_wire_say(out, s->extent[1]);
    bf_wire_say(out, s->layout->set_count);
    out->unsaid |= s->layout->set_count > BF_CHECK_SETS;
    for (uint32_t i = 0; i < s->layout->set_count; i++) {
        const struct bf_check_set *set = &s->layout->sets[i];
        bf_wire_say(out, set->handle ? 1 : 0);
        bf_wire_say(out, set->flags);
        bf_wire_say(out, set->binding_count);
        for (uint32_t k = 0; k < set->binding_count; k++)
            say_binding(out, &set->bindings[k]);
    }
}

static void read_sets(struct bf_wire_in *in, struct bf_wire_check *check)
{
    uint32_t count = bf_wire_read_count(in, 12);
    in->bad |= count > BF_CHECK_SETS || count != check->builds[0].layout.setLayoutCount;
    check->sets = bf_wire_allocate(in, count, sizeof(*check->sets));
    for (uint32_t i = 0; !in->bad && i < count; i++) {
        struct bf_check_set *set = &check->sets[i];
        check->sets_are[i] = bf_wire_read(in) != 0;
        set->flags = bf_wire_read(in);
        set->binding_count = bf_wire_read_count(in, BINDING_WORDS * sizeof(uint32_t));
        in->bad |= set->binding_count != check->builds[0].sets[i].bindingCount;
        struct bf_check_binding *bindings =
            bf_wire_allocate(in, set->binding_count, sizeof(*bindings));
        for (uint32_t k = 0; !in->bad && k < set->binding_count; k++) {
            const VkDescriptorSetLayoutBinding *made = &check->builds[0].sets[i].pBindings[k];
            read_binding(in, &bindings[k]);
            in->bad |= bindings[k].binding != made->binding ||
                       bindings[k].type != made->descriptorType ||
                       bindings[k].count != made->descriptorCount;
        }
        set->bindings = bindings;
    }
    check->layout = (struct bf_check_layout){
        .set_count = in->bad ? 0 : count,
        .sets = check->sets,
        .range_count = check->builds[0].layout.pushConstantRangeCount,
        .ranges = check->builds[0].layout.pPushConstantRanges,
    };
}

static void read_interface(struct bf_wire_in *in, struct bf_wire_check *check)
{
    struct bf_pipeline_interface *s = &check->interface;
    for (uint32_t i = 0; i < 3; i++)
        s->workgroup[i] = bf_wire_read(in);
    s->loops = bf_wire_read(in) != 0;
    s->fragile = bf_wire_read(in) != 0;
    s->addresses = bf_wire_read(in) != 0;
    s->extent[0] = bf_wire_read(in);
    s->extent[1] = bf_wire_read(in);
    read_sets(in, check);
    s->layout = &check->layout;
    s->pass = check->builds[0].pass;
    if (check->builds[0].point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        s->graphics = &check->builds[0].graphics;
}

void bf_wire_say_check(struct bf_wire_out *out, const struct bf_check_request *request)
{
    const struct bf_check_info *check = request->check;
    bf_wire_say(out, request->build_count);
    for (uint32_t i = 0; i < request->build_count; i++)
        bf_wire_say_build(out, &request->builds[i]);
    bf_wire_say(out, check ? 1 : 0);
    if (!check)
        return;
    say_interface(out, check->interface);
    bf_wire_say_bytes(out, check->push, BF_CHECK_PUSH_BYTES);
    bf_wire_say_long(out, check->fixed);
    for (uint32_t i = 0; i < 3; i++)
        bf_wire_say(out, check->groups[i]);
}

bool bf_wire_read_check(struct bf_wire_in *in, const void *bytes, size_t size,
                        struct bf_wire_check *check)
{
    *check = (struct bf_wire_check){0};
    bf_wire_read_begin(in, bytes, size);
    check->build_count = bf_wire_read(in);
    in->bad |= check->build_count < 1 || check->build_count > BF_CHECK_BUILDS;
    for (uint32_t i = 0; !in->bad && i < check->build_count; i++) {
        bf_wire_read_build(in, &check->builds[i]);
        in->bad |= check->builds[i].point != check->builds[0].point;
    }
    check->runs = bf_wire_read(in) != 0;
    if (!check->runs)
        return bf_wire_read_end(in);
    read_interface(in, check);
    check->push = bf_wire_read_bytes(in, BF_CHECK_PUSH_BYTES);
    check->fixed = bf_wire_read_long(in);
    for (uint32_t i = 0; i < 3; i++)
        check->groups[i] = bf_wire_read(in);
    return bf_wire_read_end(in);
}
