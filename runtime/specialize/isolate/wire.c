/* SPDX-License-Identifier: MIT */
/* Messages between the program and its build helper: their elements, and the device. */
#include "specialize/isolate/wire_io.h"

#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

#include "specialize/isolate/features.h"

/* ----------------------------------------------------------------------------------- Writing -- */

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

void bf_wire_say_long(struct bf_wire_out *out, uint64_t value)
{
    bf_wire_say_bytes(out, &value, sizeof(value));
}

void bf_wire_say_block(struct bf_wire_out *out, const void *bytes, size_t size)
{
    out->unsaid |= size > BF_WIRE_BODY_MOST;
    bf_wire_say(out, (uint32_t)size);
    bf_wire_say_bytes(out, bytes, size);
}

void bf_wire_say_struct(struct bf_wire_out *out, const void *s, size_t size)
{
    bf_wire_say_bytes(out, (const VkBaseInStructure *)s + 1, size - sizeof(VkBaseInStructure));
}

void bf_wire_say_list(struct bf_wire_out *out, const void *list, size_t count, size_t each)
{
    out->unsaid |= count > BF_WIRE_BODY_MOST / each;
    bf_wire_say_block(out, list, list && !out->unsaid ? count * each : 0);
}

void bf_wire_say_string(struct bf_wire_out *out, const char *string)
{
    bf_wire_say_block(out, string, strlen(string) + 1);
}

static void say_strings(struct bf_wire_out *out, uint32_t count, const char *const *strings)
{
    bf_wire_say(out, count);
    for (uint32_t i = 0; i < count; i++)
        bf_wire_say_string(out, strings[i]);
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

uint64_t bf_wire_read_long(struct bf_wire_in *in)
{
    uint64_t value = 0;
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

const char *bf_wire_read_string(struct bf_wire_in *in)
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

void *bf_wire_read_struct(struct bf_wire_in *in, VkStructureType type, size_t size)
{
    VkBaseOutStructure *s = bf_wire_allocate(in, 1, size);
    const void *bytes = bf_wire_read_bytes(in, size - sizeof(*s));
    if (!s || !bytes)
        return NULL;
    s->sType = type;
    memcpy(s + 1, bytes, size - sizeof(*s));
    return s;
}

const void *bf_wire_read_list(struct bf_wire_in *in, size_t count, size_t each)
{
    size_t size;
    const void *list = bf_wire_read_block(in, &size);
    if (!size)
        return NULL;
    if (size / each != count || size % each)
        in->bad = true;
    return in->bad ? NULL : list;
}

const void *bf_wire_read_full_list(struct bf_wire_in *in, size_t count, size_t each)
{
    const void *list = bf_wire_read_list(in, count, each);
    in->bad |= count && !list;
    return list;
}

static const char **read_strings(struct bf_wire_in *in, uint32_t *count)
{
    *count = bf_wire_read_count(in, 8);
    const char **strings = bf_wire_allocate(in, *count, sizeof(*strings));
    for (uint32_t i = 0; strings && i < *count; i++)
        strings[i] = bf_wire_read_string(in);
    return strings;
}

void bf_wire_read_begin(struct bf_wire_in *in, const void *bytes, size_t size)
{
    *in = (struct bf_wire_in){.at = bytes, .left = size};
}

bool bf_wire_read_end(const struct bf_wire_in *in)
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

static void say_text(struct bf_wire_out *out, const char *text)
{
    bf_wire_say(out, text ? 1 : 0);
    if (text)
        bf_wire_say_string(out, text);
}

static void say_application(struct bf_wire_out *out, const VkApplicationInfo *application)
{
    bf_wire_say(out, application ? 1 : 0);
    if (!application)
        return;
    bf_wire_say(out, application->applicationVersion);
    bf_wire_say(out, application->engineVersion);
    say_text(out, application->pApplicationName);
    say_text(out, application->pEngineName);
}

static VkApplicationInfo *read_application(struct bf_wire_in *in)
{
    VkApplicationInfo *application =
        bf_wire_read(in) ? bf_wire_allocate(in, 1, sizeof(*application)) : NULL;
    if (!application)
        return NULL;
    application->sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application->applicationVersion = bf_wire_read(in);
    application->engineVersion = bf_wire_read(in);
    application->pApplicationName = bf_wire_read(in) ? bf_wire_read_string(in) : NULL;
    application->pEngineName = bf_wire_read(in) ? bf_wire_read_string(in) : NULL;
    return application;
}

void bf_wire_say_device(struct bf_wire_out *out, const struct bf_isolate_info *info,
                        uint32_t parent, uint32_t idle_ms)
{
    bf_wire_say(out, bf_wire_build_number());
    bf_wire_say(out, parent);
    bf_wire_say(out, idle_ms);
    bf_wire_say_long(out, info->limit_ns);
    bf_wire_say_bytes(out, info->device_uuid, VK_UUID_SIZE);
    bf_wire_say_bytes(out, info->driver_uuid, VK_UUID_SIZE);
    bf_wire_say_bytes(out, info->cache_uuid, VK_UUID_SIZE);
    bf_wire_say(out, info->driver_version);
    bf_wire_say(out, info->driver_id);
    say_text(out, info->driver_info);
    bf_wire_say(out, info->api_version);
    bf_wire_say(out, info->robust);
    say_application(out, info->application);
    bf_wire_say(out, info->instance_flags);
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
    bf_wire_read_begin(in, bytes, size);
    *device = (struct bf_wire_device){.build_number = bf_wire_read(in)};
    if (!in->bad && device->build_number != bf_wire_build_number())
        return true;
    device->parent = bf_wire_read(in);
    device->idle_ms = bf_wire_read(in);
    device->limit_ns = bf_wire_read_long(in);
    const uint8_t *uuids = bf_wire_read_bytes(in, 3 * VK_UUID_SIZE);
    if (uuids) {
        memcpy(device->device_uuid, uuids, VK_UUID_SIZE);
        memcpy(device->driver_uuid, uuids + VK_UUID_SIZE, VK_UUID_SIZE);
        memcpy(device->cache_uuid, uuids + 2 * VK_UUID_SIZE, VK_UUID_SIZE);
    }
    device->driver_version = bf_wire_read(in);
    device->driver_id = bf_wire_read(in);
    device->driver_info = bf_wire_read(in) ? bf_wire_read_string(in) : NULL;
    device->api_version = bf_wire_read(in);
    device->robust = bf_wire_read(in) != 0;
    device->application = read_application(in);
    device->instance_flags = bf_wire_read(in);
    device->instance_extensions = read_strings(in, &device->instance_extension_count);
    device->extensions = read_strings(in, &device->extension_count);
    device->features = read_features(in);
    if (bf_wire_read(in)) {
        device->enabled_features = bf_wire_allocate(in, 1, sizeof(*device->enabled_features));
        const void *features = bf_wire_read_bytes(in, sizeof(*device->enabled_features));
        if (features && device->enabled_features)
            memcpy(device->enabled_features, features, sizeof(*device->enabled_features));
    }
    return bf_wire_read_end(in);
}
