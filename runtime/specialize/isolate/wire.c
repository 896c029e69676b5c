/* SPDX-License-Identifier: MIT */
/* Messages between the program and its build helper: the device, layouts and compute pipelines. */
#include "specialize/isolate/wire_io.h"

#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

#include "specialize/isolate/features.h"

/* ----------------------------------------------------------------------------------------
 * Writing */

static void *wire_reserve(struct bf_wire_out *out, size_t size)
{
    size = (size + 3) & ~(size_t)3;
    if (out->failed || size > BF_WIRE_BODY_MOST || out->size + size > BF_WIRE_BODY_MOST) {
        out->unsaid |= !out->failed;
        return NULL;
    }
    if (out->size + size > out->capacity) {
        size_t capacity = out->capacity ? out->capacity : 4096;
        while (capacity < out->size + size)
            capacity *= 2;
        uint8_t *bytes = realloc(out->bytes, capacity);
        if (!bytes) {
            out->failed = true;
            return NULL;
        }
        out->bytes = bytes;
        out->capacity = capacity;
    }
    uint8_t *at = out->bytes + out->size;
    memset(at, 0, size);
    out->size += size;
    return at;
}

void bf_wire_say_bytes(struct bf_wire_out *out, const void *bytes, size_t size)
{
    void *at = wire_reserve(out, size);
    if (at && size)
        memcpy(at, bytes, size);
}

void bf_wire_say(struct bf_wire_out *out, uint32_t value)
{
    bf_wire_say_bytes(out, &value, sizeof(value));
}

void bf_wire_say_block(struct bf_wire_out *out, const void *bytes, size_t size)
{
    out->unsaid |= size > BF_WIRE_BODY_MOST;
    bf_wire_say(out, (uint32_t)size);
    bf_wire_say_bytes(out, bytes, size);
}

static void say_string(struct bf_wire_out *out, const char *string)
{
    bf_wire_say_block(out, string, strlen(string) + 1);
}

static void say_strings(struct bf_wire_out *out, uint32_t count, const char *const *strings)
{
    bf_wire_say(out, count);
    for (uint32_t i = 0; i < count; i++)
        say_string(out, strings[i]);
}

void bf_wire_out_finish(struct bf_wire_out *out)
{
    free(out->bytes);
    *out = (struct bf_wire_out){0};
}

/* -------------------------------------------------------------------------------------- Reading */

const void *bf_wire_read_bytes(struct bf_wire_in *in, size_t size)
{
    size_t whole = size <= SIZE_MAX - 3 ? (size + 3) & ~(size_t)3 : SIZE_MAX;
    if (in->bad || whole > in->left) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *at = in->at;
    in->at += whole;
    in->left -= whole;
    return at;
}

uint32_t bf_wire_read(struct bf_wire_in *in)
{
    uint32_t value = 0;
    const void *at = bf_wire_read_bytes(in, sizeof(value));
    if (at)
        memcpy(&value, at, sizeof(value));
    return value;
}

uint32_t bf_wire_read_count(struct bf_wire_in *in, size_t each)
{
    uint32_t count = bf_wire_read(in);
    if (count > in->left / each)
        in->bad = true;
    return in->bad ? 0 : count;
}

const void *bf_wire_read_block(struct bf_wire_in *in, size_t *size)
{
    *size = bf_wire_read_count(in, 1);
    const void *at = bf_wire_read_bytes(in, *size);
    if (!at)
        *size = 0;
    return at;
}

static const char *read_string(struct bf_wire_in *in)
{
    size_t size;
    const char *string = bf_wire_read_block(in, &size);
    if (!size || memchr(string, '\0', size) != string + size - 1) {
        in->bad = true;
        return "";
    }
    return string;
}

void *bf_wire_allocate(struct bf_wire_in *in, size_t count, size_t size)
{
    struct {
        void *next;
        max_align_t data[];
    } *block = NULL;
    if (!in->bad && count <= BF_WIRE_BODY_MOST)
        block = calloc(1, sizeof(*block) + count * size);
    if (!block) {
        in->bad = true;
        return NULL;
    }
    block->next = in->blocks;
    in->blocks = block;
    return block->data;
}

static const char **read_strings(struct bf_wire_in *in, uint32_t *count)
{
    *count = bf_wire_read_count(in, 8);
    const char **strings = bf_wire_allocate(in, *count, sizeof(*strings));
    for (uint32_t i = 0; strings && i < *count; i++)
        strings[i] = read_string(in);
    return strings;
}

static void read_begin(struct bf_wire_in *in, const void *bytes, size_t size)
{
    *in = (struct bf_wire_in){.at = bytes, .left = size};
}

/* True: the whole message was read. */
static bool read_end(const struct bf_wire_in *in)
{
    return !in->bad && in->left == 0;
}

void bf_wire_in_finish(struct bf_wire_in *in)
{
    while (in->blocks) {
        void *next = *(void **)in->blocks;
        free(in->blocks);
        in->blocks = next;
    }
    *in = (struct bf_wire_in){0};
}

/* --------------------------------------------------------------------------------------- Device */

size_t bf_wire_features_size(VkStructureType type)
{
    switch ((int)type) {
#define SIZE(type_, struct_)                                                                       \
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type_:                                                \
        return sizeof(VkPhysicalDevice##struct_);
        BF_FEATURE_STRUCTS(SIZE)
#undef SIZE
    default:
        return 0;
    }
}

/* Structs of device creation that make no difference to a pipeline. */
static bool passed_over(const VkBaseInStructure *s)
{
    switch ((int)s->sType) {
    case VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO:
    case VK_STRUCTURE_TYPE_DEVICE_PRIVATE_DATA_CREATE_INFO:
    case VK_STRUCTURE_TYPE_DEVICE_DEVICE_MEMORY_REPORT_CREATE_INFO_EXT:
    case VK_STRUCTURE_TYPE_DEVICE_DIAGNOSTICS_CONFIG_CREATE_INFO_NV:
    case VK_STRUCTURE_TYPE_DEVICE_MEMORY_OVERALLOCATION_CREATE_INFO_AMD:
        return true;
    case VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO:
        return ((const VkDeviceGroupDeviceCreateInfo *)(const void *)s)->physicalDeviceCount < 2;
    default:
        return false;
    }
}

static void say_features(struct bf_wire_out *out, const VkBaseInStructure *chain)
{
    const VkBaseInStructure *said[256];
    uint32_t count = 0;
    for (; chain; chain = chain->pNext) {
        if (passed_over(chain))
            continue;
        if (!bf_wire_features_size(chain->sType) || count == sizeof(said) / sizeof(said[0])) {
            out->unsaid = true;
            return;
        }
        said[count++] = chain;
    }
    bf_wire_say(out, count);
    for (uint32_t i = 0; i < count; i++) {
        bf_wire_say(out, (uint32_t)said[i]->sType);
        bf_wire_say_block(out, said[i] + 1,
                          bf_wire_features_size(said[i]->sType) - sizeof(*said[i]));
    }
}

static VkBaseOutStructure *read_features(struct bf_wire_in *in)
{
    VkBaseOutStructure *chain = NULL, **end = &chain;
    uint32_t count = bf_wire_read_count(in, 8);
    for (uint32_t i = 0; i < count; i++) {
        VkStructureType type = (VkStructureType)bf_wire_read(in);
        size_t size, whole = bf_wire_features_size(type);
        const void *bytes = bf_wire_read_block(in, &size);
        VkBaseOutStructure *s = whole ? bf_wire_allocate(in, 1, whole) : NULL;
        if (!s || !bytes || size != whole - sizeof(*s)) {
            in->bad = true;
            return NULL;
        }
        s->sType = type;
        memcpy(s + 1, bytes, size);
        *end = s;
        end = &s->pNext;
    }
    return chain;
}

void bf_wire_say_device(struct bf_wire_out *out, const struct bf_isolate_info *info,
                        uint32_t parent, uint32_t idle_ms)
{
    bf_wire_say(out, parent);
    bf_wire_say(out, idle_ms);
    bf_wire_say_bytes(out, info->device_uuid, VK_UUID_SIZE);
    bf_wire_say_bytes(out, info->driver_uuid, VK_UUID_SIZE);
    bf_wire_say(out, info->api_version);
    say_strings(out, info->instance_extension_count, info->instance_extensions);
    say_strings(out, info->extension_count, info->extensions);
    say_features(out, info->features);
    bf_wire_say(out, info->enabled_features ? 1 : 0);
    if (info->enabled_features)
        bf_wire_say_bytes(out, info->enabled_features, sizeof(*info->enabled_features));
}

bool bf_wire_read_device(struct bf_wire_in *in, const void *bytes, size_t size,
                         struct bf_wire_device *device)
{
    read_begin(in, bytes, size);
    *device = (struct bf_wire_device){.parent = bf_wire_read(in)};
    device->idle_ms = bf_wire_read(in);
    const void *uuids = bf_wire_read_bytes(in, 2 * VK_UUID_SIZE);
    if (uuids) {
        memcpy(device->device_uuid, uuids, VK_UUID_SIZE);
        memcpy(device->driver_uuid, (const uint8_t *)uuids + VK_UUID_SIZE, VK_UUID_SIZE);
    }
    device->api_version = bf_wire_read(in);
    device->instance_extensions = read_strings(in, &device->instance_extension_count);
    device->extensions = read_strings(in, &device->extension_count);
    device->features = read_features(in);
    if (bf_wire_read(in)) {
        device->enabled_features = bf_wire_allocate(in, 1, sizeof(*device->enabled_features));
        const void *features = bf_wire_read_bytes(in, sizeof(*device->enabled_features));
        if (features && device->enabled_features)
            memcpy(device->enabled_features, features, sizeof(*device->enabled_features));
    }
    return read_end(in);
}

/* ---------------------------------------------------------------------------------------- Build */

static void say_specialization(struct bf_wire_out *out, const VkSpecializationInfo *info)
{
    bf_wire_say(out, info ? 1 : 0);
    if (!info)
        return;
    bf_wire_say(out, info->mapEntryCount);
    for (uint32_t i = 0; i < info->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        bf_wire_say(out, entry->constantID);
        bf_wire_say(out, entry->offset);
        bf_wire_say(out, (uint32_t)entry->size);
        out->unsaid |= entry->size > UINT32_MAX;
    }
    bf_wire_say_block(out, info->pData, info->dataSize);
}

static VkSpecializationInfo *read_specialization(struct bf_wire_in *in)
{
    if (!bf_wire_read(in))
        return NULL;
    VkSpecializationInfo *info = bf_wire_allocate(in, 1, sizeof(*info));
    uint32_t count = bf_wire_read_count(in, 12);
    VkSpecializationMapEntry *entries = bf_wire_allocate(in, count, sizeof(*entries));
    for (uint32_t i = 0; entries && i < count; i++) {
        entries[i].constantID = bf_wire_read(in);
        entries[i].offset = bf_wire_read(in);
        entries[i].size = bf_wire_read(in);
    }
    size_t size;
    const void *data = bf_wire_read_block(in, &size);
    for (uint32_t i = 0; entries && i < count; i++)
        if (entries[i].offset > size || entries[i].size > size - entries[i].offset)
            in->bad = true;
    if (in->bad)
        return NULL;
    *info = (VkSpecializationInfo){
        .mapEntryCount = count, .pMapEntries = entries, .dataSize = size, .pData = data};
    return info;
}

void bf_wire_say_stage(struct bf_wire_out *out, const VkPipelineShaderStageCreateInfo *stage,
                       const struct bf_build_code *code)
{
    uint32_t subgroup_size = 0;
    for (const VkBaseInStructure *s = stage->pNext; s; s = s->pNext) {
        const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *size = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
            subgroup_size = size->requiredSubgroupSize;
        else
            out->unsaid = true;
    }
    bf_wire_say(out, stage->flags);
    bf_wire_say(out, (uint32_t)stage->stage);
    bf_wire_say(out, subgroup_size);
    say_string(out, stage->pName);
    say_specialization(out, stage->pSpecializationInfo);
    bf_wire_say_block(out, code->words, code->size);
}

void bf_wire_read_stage(struct bf_wire_in *in, VkPipelineShaderStageCreateInfo *stage,
                        struct bf_build_code *code)
{
    *stage = (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .flags = bf_wire_read(in)};
    stage->stage = (VkShaderStageFlagBits)bf_wire_read(in);
    uint32_t subgroup_size = bf_wire_read(in);
    if (subgroup_size) {
        VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *size =
            bf_wire_allocate(in, 1, sizeof(*size));
        if (size) {
            size->sType =
                VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
            size->requiredSubgroupSize = subgroup_size;
        }
        stage->pNext = size;
    }
    stage->pName = read_string(in);
    stage->pSpecializationInfo = read_specialization(in);
    code->words = bf_wire_read_block(in, &code->size);
    if (code->size % 4 || code->size < 20) /* shorter than SPIR-V's header */
        in->bad = true;
}

static void say_set(struct bf_wire_out *out, const VkDescriptorSetLayoutCreateInfo *set)
{
    uint32_t n_flags = 0;
    const VkDescriptorBindingFlags *flags = NULL;
    for (const VkBaseInStructure *s = set->pNext; s; s = s->pNext) {
        const VkDescriptorSetLayoutBindingFlagsCreateInfo *info = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO) {
            n_flags = info->bindingCount;
            flags = info->pBindingFlags;
        } else {
            out->unsaid = true;
        }
    }
    bf_wire_say(out, set->flags);
    bf_wire_say(out, set->bindingCount);
    for (uint32_t i = 0; i < set->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &set->pBindings[i];
        bool samplers = binding->descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
                        binding->descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
        out->unsaid |= samplers && binding->pImmutableSamplers && binding->descriptorCount;
        bf_wire_say(out, binding->binding);
        bf_wire_say(out, (uint32_t)binding->descriptorType);
        bf_wire_say(out, binding->descriptorCount);
        bf_wire_say(out, binding->stageFlags);
    }
    out->unsaid |= n_flags && n_flags != set->bindingCount;
    bf_wire_say_block(out, flags, n_flags * sizeof(*flags));
}

static void read_set(struct bf_wire_in *in, VkDescriptorSetLayoutCreateInfo *set)
{
    *set = (VkDescriptorSetLayoutCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .flags = bf_wire_read(in)};
    uint32_t count = bf_wire_read_count(in, 16);
    VkDescriptorSetLayoutBinding *bindings = bf_wire_allocate(in, count, sizeof(*bindings));
    for (uint32_t i = 0; bindings && i < count; i++) {
        bindings[i].binding = bf_wire_read(in);
        bindings[i].descriptorType = (VkDescriptorType)bf_wire_read(in);
        bindings[i].descriptorCount = bf_wire_read(in);
        bindings[i].stageFlags = bf_wire_read(in);
    }
    set->bindingCount = count;
    set->pBindings = bindings;

    size_t size;
    const VkDescriptorBindingFlags *flags = bf_wire_read_block(in, &size);
    if (!size)
        return;
    if (size != count * sizeof(*flags)) {
        in->bad = true;
        return;
    }
    VkDescriptorSetLayoutBindingFlagsCreateInfo *info = bf_wire_allocate(in, 1, sizeof(*info));
    if (info)
        *info = (VkDescriptorSetLayoutBindingFlagsCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
            .bindingCount = count,
            .pBindingFlags = flags};
    set->pNext = info;
}

static void say_compute(struct bf_wire_out *out, const struct bf_build_request *request)
{
    out->unsaid |= request->compute->pNext != NULL;
    bf_wire_say(out, request->compute->flags &
                         ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_DERIVATIVE_BIT);
    bf_wire_say_stage(out, &request->compute->stage, request->code);
}

static void read_compute(struct bf_wire_in *in, struct bf_wire_build *build)
{
    build->compute =
        (VkComputePipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                      .flags = bf_wire_read(in),
                                      .basePipelineIndex = -1};
    build->code = bf_wire_allocate(in, 1, sizeof(*build->code));
    if (build->code)
        bf_wire_read_stage(in, &build->compute.stage, build->code);
    if (build->compute.stage.stage != VK_SHADER_STAGE_COMPUTE_BIT)
        in->bad = true;
}

void bf_wire_say_build(struct bf_wire_out *out, const struct bf_build_request *request)
{
    const VkPipelineLayoutCreateInfo *layout = request->layout;
    bf_wire_say(out, request->compute ? VK_PIPELINE_BIND_POINT_COMPUTE
                                      : VK_PIPELINE_BIND_POINT_GRAPHICS);
    if (request->compute)
        say_compute(out, request);
    else
        bf_wire_say_graphics(out, request);
    out->unsaid |= layout->pNext != NULL;
    bf_wire_say(out, layout->flags);
    bf_wire_say(out, layout->setLayoutCount);
    for (uint32_t i = 0; i < layout->setLayoutCount; i++)
        say_set(out, request->sets[i]);
    bf_wire_say(out, layout->pushConstantRangeCount);
    bf_wire_say_bytes(out, layout->pPushConstantRanges,
                      layout->pushConstantRangeCount * sizeof(VkPushConstantRange));
}

bool bf_wire_read_build(struct bf_wire_in *in, const void *bytes, size_t size,
                        struct bf_wire_build *build)
{
    read_begin(in, bytes, size);
    *build = (struct bf_wire_build){.point = (VkPipelineBindPoint)bf_wire_read(in)};
    if (build->point == VK_PIPELINE_BIND_POINT_COMPUTE)
        read_compute(in, build);
    else if (build->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        bf_wire_read_graphics(in, build);
    else
        in->bad = true;
    build->layout = (VkPipelineLayoutCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .flags = bf_wire_read(in)};
    build->layout.setLayoutCount = bf_wire_read_count(in, 12);
    build->sets = bf_wire_allocate(in, build->layout.setLayoutCount, sizeof(*build->sets));
    for (uint32_t i = 0; build->sets && i < build->layout.setLayoutCount; i++)
        read_set(in, &build->sets[i]);
    uint32_t ranges = bf_wire_read_count(in, sizeof(VkPushConstantRange));
    build->layout.pushConstantRangeCount = ranges;
    build->layout.pPushConstantRanges =
        bf_wire_read_bytes(in, ranges * sizeof(VkPushConstantRange));
    return read_end(in);
}
