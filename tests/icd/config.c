/* SPDX-License-Identifier: MIT */
/* BELFRY_ICD_*: what the environment asks of the driver. */
#include "icd.h"

#include <limits.h>

#define GRAPHICS VK_QUEUE_GRAPHICS_BIT
#define COMPUTE  VK_QUEUE_COMPUTE_BIT
#define TRANSFER VK_QUEUE_TRANSFER_BIT
#define SPARSE   VK_QUEUE_SPARSE_BINDING_BIT
#define DECODE   VK_QUEUE_VIDEO_DECODE_BIT_KHR
#define ENCODE   0x40 /* VK_QUEUE_VIDEO_ENCODE_BIT_KHR, which these headers hide as provisional */

/* Modelled on what vulkaninfo shows of the drivers they are named after. */
static const struct icd_shape shapes[] = {
    {"lavapipe", 1, {{GRAPHICS | COMPUTE | TRANSFER, 1, 64}}, 1, 1},
    {"nvidia",
     5,
     {{GRAPHICS | COMPUTE | TRANSFER | SPARSE, 16, 64},
      {TRANSFER | SPARSE, 2, 64},
      {COMPUTE | TRANSFER | SPARSE, 8, 64},
      {DECODE | TRANSFER | SPARSE, 1, 32},
      {ENCODE | TRANSFER | SPARSE, 1, 32}},
     1,
     1},
    /* 100 MHz */
    {"radv",
     4,
     {{GRAPHICS | COMPUTE | TRANSFER, 1, 64},
      {COMPUTE | TRANSFER, 4, 64},
      {SPARSE, 1, 64},
      {DECODE, 1, 0}},
     1,
     10},
    /* 19.2 MHz in 36 bits: wraps within the hour */
    {"intel",
     3,
     {{GRAPHICS | COMPUTE | TRANSFER, 1, 36}, {COMPUTE | TRANSFER, 1, 36}, {DECODE, 1, 36}},
     12,
     625},
    {"nvk", 1, {{GRAPHICS | COMPUTE | TRANSFER | SPARSE, 1, 64}}, 1, 1},
    /* Of families that don't nest: draws without compute, copies of whole mip levels. */
    {"apart",
     5,
     {{GRAPHICS | COMPUTE | TRANSFER, 1, 64},
      {GRAPHICS | TRANSFER, 2, 64},
      {COMPUTE, 1, 64},
      {TRANSFER | ICD_WHOLE, 1, 64},
      {COMPUTE | TRANSFER, 1, 64}},
     1,
     1},
    {"copy", 2, {{GRAPHICS | COMPUTE | TRANSFER, 1, 64}, {TRANSFER, 2, 0}}, 1, 1},
};

#define LOCAL    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED   VK_MEMORY_PROPERTY_HOST_CACHED_BIT

static const struct icd_memory_shape memory_shapes[] = {
    {"unified", 2, {{LOCAL | VISIBLE | COHERENT, 0}, {LOCAL | VISIBLE | CACHED, 0}}, 3, 3},
    /* A discrete GPU's. */
    {"split",
     4,
     {{LOCAL, 0}, {VISIBLE | COHERENT, 1}, {VISIBLE | COHERENT | CACHED, 1}, {VISIBLE | CACHED, 1}},
     1,
     1},
    {"uncached", 2, {{LOCAL, 0}, {VISIBLE | COHERENT, 1}}, 1, 1},
    {"single", 1, {{LOCAL | VISIBLE | COHERENT | CACHED, 0}}, 1, 1},
};

/* What the environment says of one device, under which name. */
struct variable {
    char name[48];
    const char *text; /* NULL if nothing is said */
};

static struct variable variable_read(const char *name, uint32_t ordinal)
{
    struct variable v;
    if (ordinal) {
        snprintf(v.name, sizeof(v.name), "%s_%u", name, ordinal + 1);
        v.text = getenv(v.name);
        if (v.text && *v.text)
            return v;
    }
    snprintf(v.name, sizeof(v.name), "%s", name);
    v.text = getenv(v.name);
    if (v.text && !*v.text)
        v.text = NULL;
    return v;
}

/* The number that a variable holds; fallback when it isn't set or isn't a number up to max. */
static uint32_t device_number(const char *name, uint32_t ordinal, uint32_t max, uint32_t fallback)
{
    struct variable v = variable_read(name, ordinal);
    if (!v.text)
        return fallback;
    char *end;
    errno = 0;
    unsigned long n = strtoul(v.text, &end, 10);
    if (errno || *end || n > max) {
        fprintf(stderr, "belfry test driver: %s=%s is not a number from 0 to %u; ignored\n", v.name,
                v.text, max);
        return fallback;
    }
    return (uint32_t)n;
}

/* The same of what all devices have alike. */
static uint32_t number_read(const char *name, uint32_t max, uint32_t fallback)
{
    return device_number(name, 0, max, fallback);
}

/* BELFRY_ICD_FAULTS_IN: the name of the executable whose devices fail so; of all where it isn't
 * set. */
static bool faults_are_here(void)
{
    const char *name = getenv("BELFRY_ICD_FAULTS_IN");
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (!name || !*name || size < 0)
        return true;
    path[size] = '\0';
    return strcmp(strrchr(path, '/') + 1, name) == 0;
}

static void shape_read(struct icd_shape *shape, uint32_t ordinal)
{
    *shape = shapes[0];
    struct variable v = variable_read("BELFRY_ICD_SHAPE", ordinal);
    const char *text = v.text;
    if (!text)
        return;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (!strcmp(text, shapes[i].name)) {
            *shape = shapes[i];
            return;
        }
    }
    char *end;
    unsigned long n = text[0] == 'q' ? strtoul(text + 1, &end, 10) : 0;
    if (n < 1 || n > 16 || *end) {
        fprintf(
            stderr,
            "belfry test driver: %s=%s is none of lavapipe, nvidia, radv, intel, nvk, copy, apart, "
            "q1 to q16; lavapipe is used\n",
            v.name, text);
        return;
    }
    shape->families[0].flags |= SPARSE;
    shape->families[0].count = (uint32_t)n;
    snprintf(shape->name, sizeof(shape->name), "q%lu", n);
}

/* Whoever may run commands may run protected ones; a further memory type is for those alone. */
static void protected_read(struct icd_config *config)
{
    config->protected_memory = device_number("BELFRY_ICD_PROTECTED", config->ordinal, 1, 0);
    if (!config->protected_memory)
        return;
    for (uint32_t i = 0; i < config->shape.n_families; i++)
        if (config->shape.families[i].flags & (GRAPHICS | COMPUTE | TRANSFER))
            config->shape.families[i].flags |= VK_QUEUE_PROTECTED_BIT;
    config->memory.types[config->memory.n_types++].flags = LOCAL | VK_MEMORY_PROPERTY_PROTECTED_BIT;
}

static void memory_read(struct icd_config *config)
{
    config->memory = memory_shapes[0];
    struct variable v = variable_read("BELFRY_ICD_MEMORY", config->ordinal);
    bool found = !v.text;
    for (size_t i = 0; !found && i < sizeof(memory_shapes) / sizeof(memory_shapes[0]); i++) {
        found = !strcmp(v.text, memory_shapes[i].name);
        if (found)
            config->memory = memory_shapes[i];
    }
    if (!found)
        fprintf(stderr,
                "belfry test driver: %s=%s is none of unified, split, uncached, single; unified is "
                "used\n",
                v.name, v.text);

    /* Vulkan promises buffers a type that is local and one that is visible and coherent. */
    uint32_t all = (1u << config->memory.n_types) - 1;
    uint32_t types = device_number("BELFRY_ICD_BUFFER_TYPES", config->ordinal, all, all);
    VkMemoryPropertyFlags local = 0, coherent = 0;
    for (uint32_t i = 0; i < config->memory.n_types; i++) {
        if (types >> i & 1) {
            local |= config->memory.types[i].flags & LOCAL;
            coherent |= config->memory.types[i].flags & COHERENT;
        }
    }
    config->buffer_types = all;
    if (local && coherent)
        config->buffer_types = types;
    else
        fprintf(stderr,
                "belfry test driver: BELFRY_ICD_BUFFER_TYPES leaves no local or no coherent type; "
                "ignored\n");
}

static void version_read(struct icd_config *config)
{
    config->minor = 3;
    struct variable v = variable_read("BELFRY_ICD_API", config->ordinal);
    const char *text = v.text;
    if (!text)
        return;
    if (text[0] == '1' && text[1] == '.' && text[2] >= '0' && text[2] <= '3' && !text[3])
        config->minor = (uint32_t)(text[2] - '0');
    else
        fprintf(stderr, "belfry test driver: %s=%s is none of 1.0, 1.1, 1.2, 1.3\n", v.name, text);
}

static void null_queue_read(struct icd_config *config)
{
    config->null_family = config->null_index = UINT32_MAX;
    struct variable v = variable_read("BELFRY_ICD_NULL_QUEUE", config->ordinal);
    const char *text = v.text;
    if (!text)
        return;
    char rest;
    if (sscanf(text, "%u:%u%c", &config->null_family, &config->null_index, &rest) != 2) {
        fprintf(stderr, "belfry test driver: %s=%s is not family:index\n", v.name, text);
        config->null_family = config->null_index = UINT32_MAX;
    }
}

/* what[:entry],what[:entry]... */
static void pipeline_rules_read(struct icd_config *config)
{
    struct variable v = variable_read("BELFRY_ICD_PIPELINE", config->ordinal);
    const uint32_t most = sizeof(config->pipeline_rules) / sizeof(config->pipeline_rules[0]);
    for (const char *at = faults_are_here() ? v.text : NULL; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct icd_pipeline_rule rule = {0};
        char what[16] = "", rest[2] = "", *end;
        int n = sscanf(at, "%15[^:,]:%31[^,]%1[^,]", what, rule.entry, rest);
        rule.result = (VkResult)strtol(what, &end, 10);
        rule.fate = !strcmp(what, "crash")  ? ICD_PIPELINE_CRASHES
                    : !strcmp(what, "hang") ? ICD_PIPELINE_HANGS
                    : !strcmp(what, "spin") ? ICD_PIPELINE_SPINS
                    : !strcmp(what, "work") ? ICD_PIPELINE_WORKS
                    : !strcmp(what, "exit") ? ICD_PIPELINE_EXITS
                                            : ICD_PIPELINE_FAILS;
        bool wrong = rule.fate == ICD_PIPELINE_FAILS && (*end || !rule.result);
        if (n < 1 || n > 2 || wrong || config->n_pipeline_rules == most) {
            fprintf(stderr,
                    "belfry test driver: %s=%s is not a list of at most %u of crash, hang, spin, "
                    "work, exit or a VkResult other than 0, each perhaps with :entry\n",
                    v.name, v.text, most);
            config->n_pipeline_rules = 0;
            return;
        }
        config->pipeline_rules[config->n_pipeline_rules++] = rule;
    }
}

uint32_t icd_config_devices(void)
{
    uint32_t n = number_read("BELFRY_ICD_DEVICES", ICD_MAX_DEVICES, 1);
    return n ? n : 1;
}

void icd_config_read(struct icd_config *config, uint32_t ordinal)
{
    *config = (struct icd_config){.ordinal = ordinal};
    shape_read(&config->shape, ordinal);
    memory_read(config);
    version_read(config);
    null_queue_read(config);
    pipeline_rules_read(config);

    struct variable build = variable_read("BELFRY_ICD_BUILD", ordinal);
    snprintf(config->build, sizeof(config->build), "%s", build.text ? build.text : "");
    struct variable hollow = variable_read("BELFRY_ICD_HOLLOW", ordinal);
    for (int e = 0; hollow.text && e < ICD_EXTENSION_COUNT; e++)
        if (strcmp(hollow.text, icd_extension_properties[e].extensionName) == 0)
            hollow.text = NULL; /* there in earnest, where its own variable says so */
    snprintf(config->hollow, sizeof(config->hollow), "%s", hollow.text ? hollow.text : "");
    uint32_t bits = device_number("BELFRY_ICD_TIMESTAMP_BITS", ordinal, 64, UINT32_MAX);
    if (bits != UINT32_MAX)
        for (uint32_t i = 0; i < config->shape.n_families; i++)
            config->shape.families[i].timestamp_bits = bits;

    config->timeline = !device_number("BELFRY_ICD_NO_TIMELINE", ordinal, 1, 0);
    config->synchronization2 = !device_number("BELFRY_ICD_NO_SYNC2", ordinal, 1, 0);
    config->realtime = device_number("BELFRY_ICD_REALTIME", ordinal, 1, 0);
    config->high = device_number("BELFRY_ICD_HIGH", ordinal, 2, 1);
    config->low = faults_are_here() ? device_number("BELFRY_ICD_LOW", ordinal, 2, 1) : 1;
    config->modest = device_number("BELFRY_ICD_MODEST", ordinal, 1, 0);
    config->difference = device_number("BELFRY_ICD_DIFFERENCE", ordinal, INT32_MAX, 0);
    if (!config->difference)
        config->difference = UINT64_MAX;
    config->host_memory = device_number("BELFRY_ICD_HOST_MEMORY", ordinal, 2, 1);
    config->gpu = device_number("BELFRY_ICD_GPU", ordinal, 1, 0);
    config->tells = device_number("BELFRY_ICD_TELLS", ordinal, 3, 0);
    config->reports = device_number("BELFRY_ICD_REPORTS", ordinal, 1, 0);
    config->generated = device_number("BELFRY_ICD_GENERATED", ordinal, 1, 0);
    config->latency = device_number("BELFRY_ICD_LATENCY", ordinal, 1, 0);
    config->internal_queues = device_number("BELFRY_ICD_INTERNAL_QUEUES", ordinal, 1, 0);
    config->int64 = device_number("BELFRY_ICD_INT64", ordinal, 1, 0);
    config->subgroup_most = device_number("BELFRY_ICD_SUBGROUP_MOST", ordinal, 128, 8);
    config->pipeline_size = device_number("BELFRY_ICD_PIPELINE_SIZE", ordinal, INT32_MAX, 0);
    protected_read(config);
    config->free_submit = number_read("BELFRY_ICD_FREE", 1, 0);
    config->dispatch_us =
        config->free_submit ? 0 : device_number("BELFRY_ICD_DISPATCH_US", ordinal, 60000000, 0);
    config->dispatch_every = device_number("BELFRY_ICD_DISPATCH_EVERY", ordinal, INT32_MAX, 0);
    struct variable order = variable_read("BELFRY_ICD_ORDER", ordinal);
    config->worst_order = order.text && !strcmp(order.text, "worst") && !config->free_submit;
    if (order.text && strcmp(order.text, "worst"))
        fprintf(stderr, "belfry test driver: %s=%s is not worst; ignored\n", order.name,
                order.text);
    config->submit_us = device_number("BELFRY_ICD_SUBMIT_US", ordinal, 1000000, 0);
    config->buffer_us = device_number("BELFRY_ICD_BUFFER_US", ordinal, 1000000, 0);
    config->processes = number_read("BELFRY_ICD_PROCESSES", 1, 0) && !config->free_submit;
    struct variable bug = variable_read("BELFRY_ICD_BUG", ordinal);
    bool late = bug.text && !strcmp(bug.text, "late_wait_points");
    config->late_wait_points = late && !config->free_submit;
    if (bug.text && !late)
        fprintf(stderr, "belfry test driver: %s=%s is not late_wait_points; ignored\n", bug.name,
                bug.text);
    if (faults_are_here()) {
        config->lose_at_submit = number_read("BELFRY_ICD_LOSE_AT_SUBMIT", INT32_MAX, 0);
        config->oom_at = number_read("BELFRY_ICD_OOM_AT", INT32_MAX, 0);
        config->oom_at_submit = number_read("BELFRY_ICD_OOM_AT_SUBMIT", INT32_MAX, 0);
    }

    struct variable block = variable_read("BELFRY_ICD_BLOCK", ordinal);
    if (block.text)
        icd_block_read(block.text);

    icd_lock();
    icd_world.abort_on_violation = number_read("BELFRY_ICD_ABORT_ON_VIOLATION", 1, 0);
    icd_world.quiet_violations = number_read("BELFRY_ICD_QUIET", 1, 0);
    icd_unlock();
}
