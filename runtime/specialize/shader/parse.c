/* SPDX-License-Identifier: MIT */
/* Parses a SPIR-V module into tables: instructions, ids, functions, what the entry point
 * reaches, and constants. */
#include "specialize/shader/module.h"

#include <stdlib.h>
#include <string.h>

/* An id takes 72 bytes here; a bound far above what the words can define is rejected. */
static uint64_t bound_limit(size_t word_count)
{
    uint64_t limit = 65536 + 16 * (uint64_t)word_count;
    return limit < 4194304 ? limit : 4194304;
}

static bool instruction_add(void *context, uint16_t opcode, uint16_t word_count, uint32_t type,
                            uint32_t result, const uint16_t *ids, uint32_t id_count)
{
    struct bf_module *m = context;
    if (m->instruction_count == m->instruction_capacity) {
        uint32_t room = m->instruction_capacity ? 2 * m->instruction_capacity : 256;
        void *larger = realloc(m->instructions, room * sizeof(*m->instructions));
        if (!larger) {
            m->out_of_memory = true;
            return false;
        }
        m->instructions = larger;
        m->instruction_capacity = room;
    }
    uint32_t at = 5;
    if (m->instruction_count) {
        const struct bf_instruction *last = &m->instructions[m->instruction_count - 1];
        at = last->at + last->count;
    }
    if ((uint64_t)at + word_count > m->word_count || result >= m->bound)
        return false;
    for (uint32_t i = 0; i < id_count; i++) {
        size_t w = (size_t)at + ids[i];
        if (ids[i] >= word_count || m->words[w] >= m->bound)
            return false;
        m->word_is_id[w / 8] |= (uint8_t)(1u << (w % 8));
    }
    m->instructions[m->instruction_count++] =
        (struct bf_instruction){at, word_count, opcode, type, result};
    if (result) {
        if (m->ids[result].definition)
            return false;
        m->ids[result].definition = m->instruction_count;
    }
    return true;
}

/* Capabilities whose instructions are followed, have no influence on values, or may safely count
 * as unknown. */
static bool capability_known(uint32_t capability)
{
    switch (capability) {
    case SpvCapabilityMatrix:
    case SpvCapabilityShader:
    case SpvCapabilityGeometry:
    case SpvCapabilityTessellation:
    case SpvCapabilityFloat16:
    case SpvCapabilityFloat64:
    case SpvCapabilityInt64:
    case SpvCapabilityInt64Atomics:
    case SpvCapabilityGroups:
    case SpvCapabilityAtomicStorage:
    case SpvCapabilityInt16:
    case SpvCapabilityTessellationPointSize:
    case SpvCapabilityGeometryPointSize:
    case SpvCapabilityImageGatherExtended:
    case SpvCapabilityStorageImageMultisample:
    case SpvCapabilityUniformBufferArrayDynamicIndexing:
    case SpvCapabilitySampledImageArrayDynamicIndexing:
    case SpvCapabilityStorageBufferArrayDynamicIndexing:
    case SpvCapabilityStorageImageArrayDynamicIndexing:
    case SpvCapabilityClipDistance:
    case SpvCapabilityCullDistance:
    case SpvCapabilityImageCubeArray:
    case SpvCapabilitySampleRateShading:
    case SpvCapabilityImageRect:
    case SpvCapabilitySampledRect:
    case SpvCapabilityInt8:
    case SpvCapabilityInputAttachment:
    case SpvCapabilitySparseResidency:
    case SpvCapabilityMinLod:
    case SpvCapabilitySampled1D:
    case SpvCapabilityImage1D:
    case SpvCapabilitySampledCubeArray:
    case SpvCapabilitySampledBuffer:
    case SpvCapabilityImageBuffer:
    case SpvCapabilityImageMSArray:
    case SpvCapabilityStorageImageExtendedFormats:
    case SpvCapabilityImageQuery:
    case SpvCapabilityDerivativeControl:
    case SpvCapabilityInterpolationFunction:
    case SpvCapabilityTransformFeedback:
    case SpvCapabilityGeometryStreams:
    case SpvCapabilityStorageImageReadWithoutFormat:
    case SpvCapabilityStorageImageWriteWithoutFormat:
    case SpvCapabilityMultiViewport:
    case SpvCapabilityGroupNonUniform:
    case SpvCapabilityGroupNonUniformVote:
    case SpvCapabilityGroupNonUniformArithmetic:
    case SpvCapabilityGroupNonUniformBallot:
    case SpvCapabilityGroupNonUniformShuffle:
    case SpvCapabilityGroupNonUniformShuffleRelative:
    case SpvCapabilityGroupNonUniformClustered:
    case SpvCapabilityGroupNonUniformQuad:
    case SpvCapabilityShaderLayer:
    case SpvCapabilityShaderViewportIndex:
    case SpvCapabilityFragmentShadingRateKHR:
    case SpvCapabilitySubgroupBallotKHR:
    case SpvCapabilityDrawParameters:
    case SpvCapabilitySubgroupVoteKHR:
    case SpvCapabilityStorageBuffer16BitAccess:
    case SpvCapabilityUniformAndStorageBuffer16BitAccess:
    case SpvCapabilityStoragePushConstant16:
    case SpvCapabilityStorageInputOutput16:
    case SpvCapabilityDenormPreserve: /* decided by their execution modes */
    case SpvCapabilityDenormFlushToZero:
    case SpvCapabilitySignedZeroInfNanPreserve:
    case SpvCapabilityRoundingModeRTE:
    case SpvCapabilityRoundingModeRTZ:
    case SpvCapabilityDeviceGroup:
    case SpvCapabilityMultiView:
    case SpvCapabilityVariablePointersStorageBuffer:
    case SpvCapabilityVariablePointers:
    case SpvCapabilitySampleMaskPostDepthCoverage:
    case SpvCapabilityStorageBuffer8BitAccess:
    case SpvCapabilityUniformAndStorageBuffer8BitAccess:
    case SpvCapabilityStoragePushConstant8:
    case SpvCapabilityStencilExportEXT:
    case SpvCapabilityShaderViewportIndexLayerEXT:
    case SpvCapabilityShaderNonUniform:
    case SpvCapabilityRuntimeDescriptorArray:
    case SpvCapabilityInputAttachmentArrayDynamicIndexing:
    case SpvCapabilityUniformTexelBufferArrayDynamicIndexing:
    case SpvCapabilityStorageTexelBufferArrayDynamicIndexing:
    case SpvCapabilityUniformBufferArrayNonUniformIndexing:
    case SpvCapabilitySampledImageArrayNonUniformIndexing:
    case SpvCapabilityStorageBufferArrayNonUniformIndexing:
    case SpvCapabilityStorageImageArrayNonUniformIndexing:
    case SpvCapabilityInputAttachmentArrayNonUniformIndexing:
    case SpvCapabilityUniformTexelBufferArrayNonUniformIndexing:
    case SpvCapabilityStorageTexelBufferArrayNonUniformIndexing:
    case SpvCapabilityVulkanMemoryModel:
    case SpvCapabilityVulkanMemoryModelDeviceScope:
    case SpvCapabilityPhysicalStorageBufferAddresses:
    case SpvCapabilityDemoteToHelperInvocation:
    case SpvCapabilityRayQueryKHR:
    case SpvCapabilityBitInstructions:
    case SpvCapabilityInt64ImageEXT:
    case SpvCapabilityAtomicFloat16AddEXT:
    case SpvCapabilityAtomicFloat32AddEXT:
    case SpvCapabilityAtomicFloat64AddEXT:
    case SpvCapabilityAtomicFloat16MinMaxEXT:
    case SpvCapabilityAtomicFloat32MinMaxEXT:
    case SpvCapabilityAtomicFloat64MinMaxEXT:
    case SpvCapabilityFragmentBarycentricKHR:
    case SpvCapabilityFragmentShaderSampleInterlockEXT:
    case SpvCapabilityFragmentShaderPixelInterlockEXT:
    case SpvCapabilityFragmentShaderShadingRateInterlockEXT:
    case SpvCapabilityFragmentFullyCoveredEXT:
    case SpvCapabilityComputeDerivativeGroupQuadsNV:
    case SpvCapabilityComputeDerivativeGroupLinearNV:
    case SpvCapabilityDotProductInputAll:
    case SpvCapabilityDotProductInput4x8Bit:
    case SpvCapabilityDotProductInput4x8BitPacked:
    case SpvCapabilityDotProduct:
    case SpvCapabilityWorkgroupMemoryExplicitLayoutKHR:
    case SpvCapabilityWorkgroupMemoryExplicitLayout8BitAccessKHR:
    case SpvCapabilityWorkgroupMemoryExplicitLayout16BitAccessKHR:
        return true;
    default:
        return false;
    }
}

static void decorate(struct bf_id *id, uint32_t decoration, uint32_t value)
{
    switch (decoration) {
    case SpvDecorationSpecId:
        id->has_spec_id = true;
        id->spec_id = value;
        break;
    case SpvDecorationBlock:
        id->block = true;
        break;
    case SpvDecorationBufferBlock:
        id->buffer_block = true;
        break;
    case SpvDecorationArrayStride:
        id->array_stride = value;
        break;
    case SpvDecorationBuiltIn:
        id->has_builtin = true;
        id->builtin = value;
        break;
    case SpvDecorationNoPerspective:
        id->no_perspective = true;
        break;
    case SpvDecorationFlat:
        id->flat = true;
        break;
    case SpvDecorationCentroid:
        id->centroid = true;
        break;
    case SpvDecorationSample:
        id->sample = true;
        break;
    case SpvDecorationNonWritable:
        id->non_writable = true;
        break;
    case SpvDecorationNonReadable:
        id->non_readable = true;
        break;
    case SpvDecorationLocation:
        id->has_location = true;
        id->location = value;
        break;
    case SpvDecorationComponent:
        id->component = value;
        break;
    case SpvDecorationBinding:
        id->binding = value;
        break;
    case SpvDecorationDescriptorSet:
        id->set = value;
        break;
    case SpvDecorationInputAttachmentIndex:
        id->input_index = value;
        break;
    case SpvDecorationNoContraction:
        id->no_contraction = true;
        break;
    case SpvDecorationNoSignedWrap:
        id->no_signed_wrap = true;
        break;
    case SpvDecorationNoUnsignedWrap:
        id->no_unsigned_wrap = true;
        break;
    default:
        break;
    }
}

const char *bf_string(const struct bf_module *m, const struct bf_instruction *in, uint32_t i,
                      char buffer[256])
{
    uint32_t n = 0;
    for (; i < in->count && n < 255; i++) {
        for (uint32_t byte = 0; byte < 4 && n < 255; byte++) {
            char c = (char)(m->words[in->at + i] >> (8 * byte));
            if (!c) {
                buffer[n] = '\0';
                return buffer;
            }
            buffer[n++] = c;
        }
    }
    buffer[n] = '\0';
    return buffer;
}

/* Compares the whole string, however long. */
static bool string_is(const struct bf_module *m, const struct bf_instruction *in, uint32_t i,
                      const char *name)
{
    for (; i < in->count; i++) {
        for (uint32_t byte = 0; byte < 4; byte++, name++) {
            char c = (char)(m->words[in->at + i] >> (8 * byte));
            if (c != *name)
                return false;
            if (!c)
                return true;
        }
    }
    return false;
}

static SpvExecutionModel model_of(VkShaderStageFlagBits stage)
{
    switch (stage) {
    case VK_SHADER_STAGE_VERTEX_BIT:
        return SpvExecutionModelVertex;
    case VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT:
        return SpvExecutionModelTessellationControl;
    case VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT:
        return SpvExecutionModelTessellationEvaluation;
    case VK_SHADER_STAGE_GEOMETRY_BIT:
        return SpvExecutionModelGeometry;
    case VK_SHADER_STAGE_FRAGMENT_BIT:
        return SpvExecutionModelFragment;
    case VK_SHADER_STAGE_COMPUTE_BIT:
        return SpvExecutionModelGLCompute;
    default:
        return SpvExecutionModelMax;
    }
}

/* Types come before those that are made of them. */
static void type_survey(struct bf_module *m, const struct bf_instruction *in)
{
    struct bf_id *type = &m->ids[in->result];
    uint32_t first = in->count, end = in->count;
    switch (in->opcode) {
    case SpvOpTypeFloat:
        type->has_floats = true;
        break;
    case SpvOpTypeInt:
        type->has_integers = true;
        break;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
        first = 2;
        end = 3;
        break;
    case SpvOpTypeStruct:
        first = 2;
        break;
    default:
        break;
    }
    for (uint32_t w = first; w < end; w++) {
        const struct bf_id *part = &m->ids[bf_word(m, in, w)];
        type->has_floats |= part->has_floats;
        type->has_integers |= part->has_integers;
    }
}

/* Collects capabilities, imports, decorations and functions. False: out of memory, or not a
 * module. */
static bool module_survey(struct bf_module *m, const struct bf_shader_info *info)
{
    uint32_t functions = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        functions += m->instructions[i].opcode == SpvOpFunction;
    m->functions = calloc(functions + 1, sizeof(*m->functions));
    if (!m->functions) {
        m->out_of_memory = true;
        return false;
    }
    SpvExecutionModel model = model_of(info->stage);
    bool inside = false, entry_found = false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        char name[256];
        switch (in->opcode) {
        case SpvOpCapability: {
            uint32_t capability = bf_word(m, in, 1);
            m->int8 |= capability == SpvCapabilityInt8;
            m->int16 |= capability == SpvCapabilityInt16;
            m->float16 |= capability == SpvCapabilityFloat16;
            if (capability == SpvCapabilityCooperativeMatrixNV)
                m->cooperative = true;
            else if (!capability_known(capability))
                m->unknown_capability = true;
            break;
        }
        case SpvOpExtInstImport:
            if (!strcmp(bf_string(m, in, 2, name), "GLSL.std.450"))
                m->glsl = in->result;
            m->ids[in->result].non_semantic =
                !strncmp(name, "NonSemantic.", 12) || !strcmp(name, "OpenCL.DebugInfo.100");
            break;
        case SpvOpEntryPoint:
            if (!entry_found && bf_word(m, in, 1) == (uint32_t)model &&
                string_is(m, in, 3, info->entry)) {
                entry_found = true;
                m->entry = i;
                m->entry_function = bf_word(m, in, 2);
            }
            break;
        case SpvOpDecorationGroup:
            m->decoration_groups = true;
            break;
        case SpvOpDecorate:
            decorate(&m->ids[bf_word(m, in, 1)], bf_word(m, in, 2), bf_word(m, in, 3));
            break;
        case SpvOpLoopMerge:
            m->ids[bf_word(m, in, 1)].loop_end = true;
            break;
        case SpvOpFunction:
            if (inside)
                return false;
            inside = true;
            m->functions[m->function_count].id = in->result;
            m->ids[in->result].function = m->function_count + 1;
            m->functions[m->function_count].first = i;
            break;
        case SpvOpFunctionEnd:
            if (!inside)
                return false;
            inside = false;
            m->functions[m->function_count++].end = i;
            break;
        default:
            type_survey(m, in);
            break;
        }
    }
    if (inside)
        return false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpExecutionMode && bf_word(m, in, 1) == m->entry_function) {
            uint32_t mode = bf_word(m, in, 2);
            /* That signs of zeros, infinities and NaN are kept is what a fold wants, too. */
            m->float_controls |= mode >= SpvExecutionModeDenormPreserve &&
                                 mode <= SpvExecutionModeRoundingModeRTZ &&
                                 mode != SpvExecutionModeSignedZeroInfNanPreserve;
        }
    }
    return true;
}

/* Each function that is reached is looked through once. False: out of memory. */
static bool functions_reach(struct bf_module *m)
{
    uint32_t *found = malloc((m->function_count + 1) * sizeof(*found)), count = 0;
    if (!found)
        return false;
    uint32_t entry = bf_function_find(m, m->entry_function);
    if (entry != UINT32_MAX) {
        m->functions[entry].reached = true;
        found[count++] = entry;
    }
    for (uint32_t k = 0; k < count; k++) {
        const struct bf_function *function = &m->functions[found[k]];
        for (uint32_t i = function->first; i < function->end; i++) {
            const struct bf_instruction *in = &m->instructions[i];
            const uint32_t called = in->opcode == SpvOpFunctionCall
                                        ? bf_function_find(m, bf_word(m, in, 3))
                                        : UINT32_MAX;
            if (called != UINT32_MAX && !m->functions[called].reached) {
                m->functions[called].reached = true;
                found[count++] = called;
            }
            for (uint32_t w = 1; w < in->count; w++)
                if (bf_word_is_id(m, in, w))
                    m->ids[m->words[in->at + w]].used = true;
        }
    }
    free(found);
    return true;
}

static uint64_t member_key(uint32_t type, uint32_t member)
{
    return (uint64_t)type << 32 | member;
}

static int member_decoration_compare(const void *one, const void *other)
{
    const struct bf_member_decoration *a = one, *b = other;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* By type and member, and then as they come. False: out of memory. */
static bool members_sort(struct bf_module *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        count += m->instructions[i].opcode == SpvOpMemberDecorate;
    m->member_decorations = malloc((count + 1) * sizeof(*m->member_decorations));
    if (!m->member_decorations)
        return false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpMemberDecorate)
            m->member_decorations[m->member_decoration_count++] =
                (struct bf_member_decoration){member_key(bf_word(m, in, 1), bf_word(m, in, 2)), i};
    }
    qsort(m->member_decorations, count, sizeof(*m->member_decorations), member_decoration_compare);
    return true;
}

bool bf_module_init(struct bf_module *m, const struct bf_shader_info *info)
{
    *m = (struct bf_module){.words = info->words,
                            .word_count = info->word_count,
                            .specialization = info->specialization,
                            .entry = UINT32_MAX};
    if (info->word_count < 5 || info->word_count > UINT32_MAX / 8 ||
        info->words[0] != SpvMagicNumber || info->words[3] == 0 ||
        info->words[3] > bound_limit(info->word_count)) {
        m->failed = true;
        return false;
    }
    m->bound = info->words[3];
    m->ids = calloc(m->bound, sizeof(*m->ids));
    m->word_is_id = calloc(m->word_count / 8 + 1, 1);
    if (!m->ids || !m->word_is_id) {
        m->out_of_memory = true;
        return false;
    }
    VkResult result = bf_tools_parse(info->words, info->word_count, instruction_add, m);
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
        m->out_of_memory = true;
    if (m->out_of_memory)
        return false;
    if (result != VK_SUCCESS || !module_survey(m, info)) {
        m->failed = !m->out_of_memory;
        return false;
    }
    if (!members_sort(m) || !functions_reach(m) || !bf_constants_find(m)) {
        m->out_of_memory = true;
        return false;
    }
    return true;
}

void bf_module_finish(struct bf_module *m)
{
    free(m->instructions);
    free(m->ids);
    free(m->word_is_id);
    free(m->member_decorations);
    free(m->functions);
    free(m->constants);
}

uint32_t bf_annotations_end(const struct bf_module *m)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < m->instruction_count && m->instructions[i].opcode != SpvOpFunction;
         i++) {
        switch (m->instructions[i].opcode) {
        case SpvOpCapability:
        case SpvOpExtension:
        case SpvOpExtInstImport:
        case SpvOpMemoryModel:
        case SpvOpEntryPoint:
        case SpvOpExecutionMode:
        case SpvOpExecutionModeId:
        case SpvOpString:
        case SpvOpSourceExtension:
        case SpvOpSource:
        case SpvOpSourceContinued:
        case SpvOpName:
        case SpvOpMemberName:
        case SpvOpModuleProcessed:
        case SpvOpDecorate:
        case SpvOpMemberDecorate:
        case SpvOpDecorateId:
        case SpvOpDecorateString:
        case SpvOpMemberDecorateString:
            end = i + 1;
            break;
        default:
            break;
        }
    }
    return end;
}

const uint32_t *bf_member_decoration(const struct bf_module *m, uint32_t type, uint32_t member,
                                     SpvDecoration decoration)
{
    const uint64_t key = member_key(type, member);
    uint32_t low = 0, high = m->member_decoration_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->member_decorations[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < m->member_decoration_count && m->member_decorations[low].key == key; low++) {
        const struct bf_instruction *in = &m->instructions[m->member_decorations[low].at];
        if (bf_word(m, in, 3) == (uint32_t)decoration)
            /* An instruction with a literal has a fifth word: the grammar has been checked. */
            return &m->words[in->at + 3] + (in->count > 4);
    }
    return NULL;
}

bool bf_shape(const struct bf_module *m, uint32_t type, struct bf_shape *shape)
{
    const struct bf_instruction *in = bf_definition(m, type);
    *shape = (struct bf_shape){.components = 1};
    if (in && in->opcode == SpvOpTypeVector) {
        uint32_t components = bf_word(m, in, 3);
        if (components < 2 || components > 4)
            return false;
        shape->components = (uint8_t)components;
        in = bf_definition(m, bf_word(m, in, 2));
    }
    if (!in || (in->opcode != SpvOpTypeInt && in->opcode != SpvOpTypeFloat))
        return false;
    uint32_t bits = bf_word(m, in, 2);
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        return false;
    shape->width = (uint8_t)(bits / 8);
    shape->scalar = in->result;
    shape->number = in->opcode == SpvOpTypeFloat ? BF_NUMBER_FLOAT
                    : bf_word(m, in, 3)          ? BF_NUMBER_INT
                                                 : BF_NUMBER_UINT;
    return true;
}
