/* SPDX-License-Identifier: MIT */
/* What a shader uses: descriptor bindings, inputs and outputs, workgroup size, and kinds of
 * instructions. */
#include "specialize/shader/module.h"

#include <stdlib.h>
#include <string.h>

/* Types may share types; how many of their parts are visited at most. [SF-5] */
#define BUDGET (1u << 20)

struct survey {
    struct bf_module *m;
    struct bf_shader *shader;
    uint32_t input_capacity, output_capacity, builtin_capacity;
    uint32_t budget;
    bool any_read, any_written; /* through pointers that may point anywhere */
    bool out_of_memory;
};

static bool room_make(struct survey *survey, void *array, uint32_t count, uint32_t *room,
                      size_t size)
{
    void **each = array;
    if (count < *room)
        return true;
    uint32_t more = *room ? 2 * *room : 8;
    void *larger = realloc(*each, more * size);
    if (!larger) {
        survey->out_of_memory = true;
        return false;
    }
    *each = larger;
    *room = more;
    return true;
}

static bool part_visit(struct survey *survey)
{
    survey->shader->facts.unmeasured |= !survey->budget;
    return survey->budget && survey->budget--;
}

/* ---------------------------------------------------------------------------------- Bindings -- */

static uint32_t facts_clamp(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* Bytes of a type in a block; an array of unknown length has none. 'stride' is that of matrices:
 * of their columns, or rows. */
static uint64_t type_size(struct survey *survey, uint32_t id, uint32_t stride, bool row_major,
                          uint32_t depth)
{
    const struct bf_module *m = survey->m;
    const struct bf_instruction *type = bf_definition(m, id);
    struct bf_shape shape;
    if (!type || depth > BF_MODULE_DEPTH || !part_visit(survey))
        return 0;
    switch (type->opcode) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
    case SpvOpTypeVector:
        return bf_shape(m, id, &shape) ? (uint64_t)shape.width * shape.components : 0;
    case SpvOpTypeMatrix: {
        uint64_t columns = bf_word(m, type, 3);
        if (!bf_shape(m, bf_word(m, type, 2), &shape))
            return 0;
        uint64_t vectors = row_major ? shape.components : columns;
        uint64_t last = (row_major ? columns : shape.components) * shape.width;
        return vectors ? (vectors - 1) * stride + last : 0;
    }
    case SpvOpTypeArray: {
        uint64_t length;
        if (!bf_constant(m, bf_word(m, type, 3), &length))
            return 0;
        uint64_t bytes = length < UINT32_MAX ? length * m->ids[id].array_stride : UINT32_MAX;
        return bytes;
    }
    case SpvOpTypePointer:
        return 8;
    case SpvOpTypeStruct: {
        uint64_t size = 0;
        for (uint32_t i = 0; i + 2 < type->count; i++) {
            const uint32_t *offset = bf_member_decoration(m, id, i, SpvDecorationOffset);
            const uint32_t *matrix = bf_member_decoration(m, id, i, SpvDecorationMatrixStride);
            uint64_t end =
                (offset ? *offset : 0) +
                type_size(survey, bf_word(m, type, 2 + i), matrix ? *matrix : 0,
                          bf_member_decoration(m, id, i, SpvDecorationRowMajor) != NULL, depth + 1);
            size = end > size ? end : size;
        }
        return size;
    }
    default:
        return 0;
    }
}

static void image_describe(struct bf_shader_binding *binding, const struct bf_module *m,
                           const struct bf_instruction *image)
{
    struct bf_shape shape;
    binding->number = bf_shape(m, bf_word(m, image, 2), &shape) ? shape.number : BF_NUMBER_NONE;
    binding->dim = bf_word(m, image, 3);
    binding->depth = bf_word(m, image, 4) == 1;
    binding->arrayed = bf_word(m, image, 5) == 1;
    binding->multisampled = bf_word(m, image, 6) == 1;
    binding->format = bf_word(m, image, 8);
}

/* False: the variable is no descriptor. */
static bool binding_describe(struct survey *survey, const struct bf_instruction *variable,
                             struct bf_shader_binding *binding)
{
    const struct bf_module *m = survey->m;
    uint32_t storage = bf_word(m, variable, 3);
    if (storage != SpvStorageClassUniformConstant && storage != SpvStorageClassUniform &&
        storage != SpvStorageClassStorageBuffer)
        return false;
    const struct bf_id *id = &m->ids[variable->result];
    *binding = (struct bf_shader_binding){.set = id->set,
                                          .binding = id->binding,
                                          .count = 1,
                                          .number = BF_NUMBER_NONE,
                                          .input_index = id->input_index};
    const struct bf_instruction *pointer = bf_definition_as(m, variable->type, SpvOpTypePointer);
    const struct bf_instruction *type = pointer ? bf_definition(m, bf_word(m, pointer, 3)) : NULL;
    if (type && type->opcode == SpvOpTypeRuntimeArray) {
        binding->count = 0;
        type = bf_definition(m, bf_word(m, type, 2));
    } else if (type && type->opcode == SpvOpTypeArray) {
        uint64_t length = 0;
        binding->count = bf_constant(m, bf_word(m, type, 3), &length) ? facts_clamp(length) : 0;
        type = bf_definition(m, bf_word(m, type, 2));
    }
    if (!type)
        return false;
    switch (type->opcode) {
    case SpvOpTypeSampler:
        binding->type = VK_DESCRIPTOR_TYPE_SAMPLER;
        binding->read = true;
        return true;
    case SpvOpTypeSampledImage:
    case SpvOpTypeImage: {
        bool combined = type->opcode == SpvOpTypeSampledImage;
        if (combined)
            type = bf_definition_as(m, bf_word(m, type, 2), SpvOpTypeImage);
        if (!type)
            return false;
        image_describe(binding, m, type);
        bool storage_image = bf_word(m, type, 7) == 2;
        binding->read = !storage_image;
        if (binding->dim == SpvDimBuffer)
            binding->type = storage_image ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER
                                          : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
        else if (binding->dim == SpvDimSubpassData)
            binding->type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
        else
            binding->type = combined        ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                            : storage_image ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                                            : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
        return true;
    }
    case SpvOpTypeAccelerationStructureKHR:
        binding->type = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
        binding->read = true;
        return true;
    case SpvOpTypeStruct: {
        bool writable =
            storage == SpvStorageClassStorageBuffer || m->ids[type->result].buffer_block;
        binding->type =
            writable ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
        binding->read = !writable;
        binding->block_size = facts_clamp(type_size(survey, type->result, 0, false, 0));
        if (type->count > 2) {
            uint32_t last = bf_word(m, type, type->count - 1u);
            if (bf_definition_as(m, last, SpvOpTypeRuntimeArray))
                binding->array_stride = m->ids[last].array_stride;
        }
        return true;
    }
    default:
        return false;
    }
}

/* The variable that a pointer, or a value loaded through it, comes from; 0: unknown. */
static uint32_t root_of(const struct bf_module *m, uint32_t id)
{
    for (uint32_t depth = 0; depth < 2 * BF_MODULE_DEPTH; depth++) {
        const struct bf_instruction *in = bf_definition(m, id);
        if (!in)
            return 0;
        switch (in->opcode) {
        case SpvOpVariable:
            return id;
        case SpvOpAccessChain:
        case SpvOpInBoundsAccessChain:
        case SpvOpPtrAccessChain:
        case SpvOpInBoundsPtrAccessChain:
        case SpvOpCopyObject:
        case SpvOpImageTexelPointer:
        case SpvOpSampledImage:
        case SpvOpImage:
        case SpvOpLoad:
            id = bf_word(m, in, 3);
            break;
        default:
            return 0;
        }
    }
    return 0;
}

static void binding_touch(struct bf_shader_binding *binding, bool read, bool write)
{
    bool storage = binding->type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
                   binding->type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ||
                   binding->type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
    binding->read |= read;
    binding->written |= write && storage;
}

static void survey_touch(struct survey *survey, const uint32_t *binding_of, uint32_t pointer,
                         bool read, bool write)
{
    const struct bf_instruction *type = bf_value_type(survey->m, pointer);
    uint32_t root = root_of(survey->m, pointer);
    if (type && type->opcode == SpvOpTypePointer) {
        switch (bf_word(survey->m, type, 2)) {
        case SpvStorageClassFunction:
        case SpvStorageClassPrivate:
        case SpvStorageClassWorkgroup:
        case SpvStorageClassInput:
        case SpvStorageClassOutput:
        case SpvStorageClassPushConstant:
            return;
        case SpvStorageClassPhysicalStorageBuffer:
            root = 0; /* the pointer may be into any buffer */
            break;
        default:
            break;
        }
    }
    if (!root) {
        survey->any_read |= read;
        survey->any_written |= write;
    } else if (binding_of[root]) {
        binding_touch(&survey->shader->bindings[binding_of[root] - 1], read, write);
    }
}

static bool outside(const struct bf_module *m, uint32_t pointer)
{
    const struct bf_instruction *type = bf_value_type(m, pointer);
    if (!type || type->opcode != SpvOpTypePointer)
        return true;
    switch (bf_word(m, type, 2)) {
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassUniform:
    case SpvStorageClassPhysicalStorageBuffer:
    case SpvStorageClassImage:
        return true;
    default:
        return false;
    }
}

/* ---------------------------------------------------------------------------------- Varyings -- */

/* False: out of memory. */
static void varying_add(struct survey *survey, bool input, uint32_t type_id,
                        struct bf_shader_varying base, uint32_t *locations, uint32_t depth)
{
    struct bf_module *m = survey->m;
    const struct bf_instruction *type = bf_definition(m, type_id);
    struct bf_shape shape;
    uint64_t times = 1;
    *locations = 0;
    while (type && depth < BF_MODULE_DEPTH) {
        uint64_t length;
        if (type->opcode == SpvOpTypeArray && bf_constant(m, bf_word(m, type, 3), &length))
            times *= length < 4096 ? length : 4096;
        else if (type->opcode == SpvOpTypeMatrix)
            times *= bf_word(m, type, 3);
        else
            break;
        times = times < 4096 ? times : 4096;
        type = bf_definition(m, bf_word(m, type, 2));
        depth++;
    }
    if (!type || depth >= BF_MODULE_DEPTH || !part_visit(survey))
        return;
    if (type->opcode == SpvOpTypeStruct) {
        /* Of several structs only the first is described. */
        uint32_t next = base.location;
        for (uint32_t i = 0; i + 2 < type->count; i++) {
            struct bf_shader_varying member = base;
            const uint32_t *at = bf_member_decoration(m, type->result, i, SpvDecorationLocation);
            const uint32_t *component =
                bf_member_decoration(m, type->result, i, SpvDecorationComponent);
            uint32_t taken;
            if (bf_member_decoration(m, type->result, i, SpvDecorationBuiltIn))
                continue;
            member.location = at ? *at : next;
            member.component = component ? *component : 0;
            member.flat |= bf_member_decoration(m, type->result, i, SpvDecorationFlat) != NULL;
            member.no_perspective |=
                bf_member_decoration(m, type->result, i, SpvDecorationNoPerspective) != NULL;
            member.centroid |=
                bf_member_decoration(m, type->result, i, SpvDecorationCentroid) != NULL;
            member.sample |= bf_member_decoration(m, type->result, i, SpvDecorationSample) != NULL;
            varying_add(survey, input, bf_word(m, type, 2 + i), member, &taken, depth + 1);
            next = member.location + taken;
        }
        *locations = (uint32_t)((next - base.location) * times);
        return;
    }
    if (!bf_shape(m, type->result, &shape))
        return;
    base.number = shape.number;
    base.width = shape.width;
    base.components = shape.components;
    base.locations = (uint32_t)times * (shape.width == 8 && shape.components > 2 ? 2 : 1);
    *locations = base.locations;
    struct bf_shader *shader = survey->shader;
    if (input && room_make(survey, &shader->inputs, shader->facts.input_count,
                           &survey->input_capacity, sizeof(base)))
        shader->inputs[shader->facts.input_count++] = base;
    else if (!input && room_make(survey, &shader->outputs, shader->facts.output_count,
                                 &survey->output_capacity, sizeof(base)))
        shader->outputs[shader->facts.output_count++] = base;
}

static void builtin_add(struct survey *survey, uint32_t builtin)
{
    struct bf_shader *shader = survey->shader;
    uint32_t i = 0, count = shader->facts.builtin_count;
    while (i < count && shader->builtins[i] < builtin)
        i++;
    if (i < count && shader->builtins[i] == builtin)
        return;
    if (!room_make(survey, &shader->builtins, count, &survey->builtin_capacity,
                   sizeof(*shader->builtins)))
        return;
    if (i < count)
        memmove(shader->builtins + i + 1, shader->builtins + i,
                (count - i) * sizeof(*shader->builtins));
    shader->builtins[i] = builtin;
    shader->facts.builtin_count++;
}

static void interface_describe(struct survey *survey, const struct bf_instruction *variable)
{
    const struct bf_module *m = survey->m;
    uint32_t storage = bf_word(m, variable, 3);
    const struct bf_id *id = &m->ids[variable->result];
    if ((storage != SpvStorageClassInput && storage != SpvStorageClassOutput) || !id->used)
        return;
    bool input = storage == SpvStorageClassInput;
    const struct bf_instruction *pointer = bf_definition_as(m, variable->type, SpvOpTypePointer);
    if (!pointer)
        return;
    uint32_t type_id = bf_word(m, pointer, 3), taken;
    if (id->has_builtin) {
        if (input)
            builtin_add(survey, id->builtin);
        return;
    }
    const struct bf_instruction *type = bf_definition(m, type_id);
    if (type && type->opcode == SpvOpTypeArray)
        type = bf_definition(m, bf_word(m, type, 2));
    for (uint32_t i = 0; input && type && type->opcode == SpvOpTypeStruct && i + 2 < type->count;
         i++) {
        const uint32_t *builtin = bf_member_decoration(m, type->result, i, SpvDecorationBuiltIn);
        if (builtin)
            builtin_add(survey, *builtin);
    }
    struct bf_shader_varying base = {.location = id->location,
                                     .component = id->component,
                                     .flat = id->flat,
                                     .no_perspective = id->no_perspective,
                                     .centroid = id->centroid,
                                     .sample = id->sample};
    varying_add(survey, input, type_id, base, &taken, 0);
}

/* -------------------------------------------------------------------------------- Workgroups -- */

static void workgroup_describe(struct survey *survey)
{
    const struct bf_module *m = survey->m;
    uint32_t *size = survey->shader->facts.workgroup_size;
    if (survey->shader->stage != VK_SHADER_STAGE_COMPUTE_BIT)
        return;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpFunction)
            break;
        bool mode = in->opcode == SpvOpExecutionMode || in->opcode == SpvOpExecutionModeId;
        if (!mode || bf_word(m, in, 1) != m->entry_function || in->count < 6)
            continue;
        for (uint32_t axis = 0; axis < 3; axis++) {
            uint64_t value;
            uint32_t word = bf_word(m, in, 3 + axis);
            if (bf_word(m, in, 2) == SpvExecutionModeLocalSize)
                size[axis] = word;
            else if (bf_word(m, in, 2) == SpvExecutionModeLocalSizeId)
                size[axis] = bf_constant(m, word, &value) ? facts_clamp(value) : 0;
        }
    }
    /* The builtin decoration overrides both. */
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if ((in->opcode != SpvOpConstantComposite && in->opcode != SpvOpSpecConstantComposite) ||
            !m->ids[in->result].has_builtin ||
            m->ids[in->result].builtin != SpvBuiltInWorkgroupSize || in->count < 6)
            continue;
        for (uint32_t axis = 0; axis < 3; axis++) {
            uint64_t value;
            size[axis] = bf_constant(m, bf_word(m, in, 3 + axis), &value) ? facts_clamp(value) : 0;
        }
    }
}

/* ------------------------------------------------------------------------------ Instructions -- */

static void instruction_describe(struct survey *survey, const uint32_t *binding_of,
                                 const struct bf_instruction *in)
{
    const struct bf_module *m = survey->m;
    struct bf_shader_facts *facts = &survey->shader->facts;
    switch (in->opcode) {
    case SpvOpLoad:
        survey_touch(survey, binding_of, bf_word(m, in, 3),
                     !bf_definition_as(m, in->type, SpvOpTypeImage), false);
        break;
    case SpvOpStore:
    case SpvOpCopyMemory:
        if (in->opcode == SpvOpCopyMemory)
            survey_touch(survey, binding_of, bf_word(m, in, 2), true, false);
        if (outside(m, bf_word(m, in, 1))) {
            facts->stores = true;
            survey_touch(survey, binding_of, bf_word(m, in, 1), false, true);
        }
        break;
    case SpvOpImageWrite:
        facts->stores = true;
        survey_touch(survey, binding_of, bf_word(m, in, 1), false, true);
        break;
    case SpvOpImageRead:
    case SpvOpImageSparseRead:
        survey_touch(survey, binding_of, bf_word(m, in, 3), true, false);
        break;
    case SpvOpArrayLength:
        break;
    case SpvOpFunctionCall:
        /* Arguments are not followed into the called function. */
        for (uint32_t w = 4; w < in->count; w++) {
            const struct bf_instruction *type = bf_value_type(m, bf_word(m, in, w));
            if (type && type->opcode == SpvOpTypePointer)
                survey_touch(survey, binding_of, bf_word(m, in, w), true,
                             outside(m, bf_word(m, in, w)) ||
                                 bf_word(m, type, 2) == SpvStorageClassUniformConstant);
            else if (type && type->opcode == SpvOpTypeImage)
                survey_touch(survey, binding_of, bf_word(m, in, w), true, true);
        }
        break;
    case SpvOpKill:
    case SpvOpTerminateInvocation:
    case SpvOpDemoteToHelperInvocation:
        facts->discards = true;
        break;
    case SpvOpControlBarrier:
    case SpvOpMemoryBarrier:
        facts->barriers = true;
        break;
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleDrefImplicitLod:
    case SpvOpImageSampleProjImplicitLod:
    case SpvOpImageSampleProjDrefImplicitLod:
    case SpvOpImageSparseSampleImplicitLod:
    case SpvOpImageSparseSampleDrefImplicitLod:
    case SpvOpImageQueryLod:
        facts->derivatives = true;
        break;
    case SpvOpAtomicLoad:
        survey_touch(survey, binding_of, bf_word(m, in, 3), true, false);
        break;
    case SpvOpTypeArray:
        break;
    default:
        if (in->opcode >= SpvOpDPdx && in->opcode <= SpvOpFwidthCoarse)
            facts->derivatives = true;
        if (bf_opcode_is_atomic(in->opcode)) { /* loads are above */
            uint32_t pointer = bf_word(m, in, in->opcode == SpvOpAtomicStore ? 1 : 3);
            survey_touch(survey, binding_of, pointer, in->opcode != SpvOpAtomicStore, true);
            if (outside(m, pointer))
                facts->atomics = facts->stores = true;
        }
        if ((in->opcode >= SpvOpGroupNonUniformElect &&
             in->opcode <= SpvOpGroupNonUniformQuadSwap) ||
            (in->opcode >= SpvOpGroupAll && in->opcode <= SpvOpGroupSMax) ||
            (in->opcode >= SpvOpGroupIAddNonUniformAMD &&
             in->opcode <= SpvOpGroupSMaxNonUniformAMD) ||
            (in->opcode >= SpvOpSubgroupBallotKHR && in->opcode <= SpvOpSubgroupReadInvocationKHR))
            facts->subgroups = true;
        break;
    }
}

bool bf_shader_find_facts(struct bf_shader *shader, struct bf_module *m)
{
    struct survey survey = {.m = m, .shader = shader, .budget = BUDGET};
    struct bf_shader_facts *facts = &shader->facts;
    uint32_t room = 0;
    uint32_t *binding_of = calloc(m->bound, sizeof(*binding_of)); /* index + 1 */
    if (!binding_of)
        return false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        struct bf_shader_binding binding;
        if (in->opcode == SpvOpFunction)
            break;
        if (in->opcode == SpvOpExecutionMode && bf_word(m, in, 1) == m->entry_function)
            facts->early_tests |= bf_word(m, in, 2) == SpvExecutionModeEarlyFragmentTests;
        if (in->opcode == SpvOpCapability)
            facts->physical_storage |=
                bf_word(m, in, 1) == SpvCapabilityPhysicalStorageBufferAddresses;
        if (in->opcode != SpvOpVariable || !m->ids[in->result].used)
            continue;
        if (binding_describe(&survey, in, &binding)) {
            if (!room_make(&survey, &shader->bindings, facts->binding_count, &room,
                           sizeof(binding)))
                break;
            shader->bindings[facts->binding_count++] = binding;
            binding_of[in->result] = facts->binding_count;
        } else {
            interface_describe(&survey, in);
        }
    }
    workgroup_describe(&survey);
    for (uint32_t f = 0; f < m->function_count; f++)
        for (uint32_t i = m->functions[f].first; m->functions[f].reached && i < m->functions[f].end;
             i++)
            instruction_describe(&survey, binding_of, &m->instructions[i]);
    for (uint32_t i = 0; i < facts->binding_count; i++)
        binding_touch(&shader->bindings[i], survey.any_read, survey.any_written);
    free(binding_of);
    facts->bindings = shader->bindings;
    facts->inputs = shader->inputs;
    facts->outputs = shader->outputs;
    facts->builtins = shader->builtins;
    for (uint32_t i = 0; i < facts->builtin_count; i++)
        facts->num_workgroups |= facts->builtins[i] == SpvBuiltInNumWorkgroups;
    return !survey.out_of_memory;
}
