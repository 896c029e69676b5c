/* SPDX-License-Identifier: MIT */
/*
 * What a user can set, as one plain struct. The runtime reads this struct and nothing else: the
 * edge (the layer, the command line) fills it once, through bf_settings_load, and passes it in.
 *
 * A setting with the key K can be given, from the strongest to the weakest, by
 *
 *   the environment  VK_BELFRY_MULTI_ENGINE_K, else VK_MULTI_ENGINE_K. (Khronos' convention has a
 *                    third form, VK_K. It is left out: VK_TRACE or VK_LOG could be anybody's.)
 *   a file           'belfry_multi_engine.K = value' in vk_layer_settings.txt: the one under
 *                    $XDG_DATA_HOME (or $HOME/.local/share) /vulkan/settings.d, where vkconfig
 *                    writes, else the one that VK_LAYER_SETTINGS_PATH names (file or folder), else
 *                    the one in the working directory. Only the first that exists is read.
 *   the program      VK_EXT_layer_settings in VkInstanceCreateInfo, layer name BF_LAYER_NAME; of a
 *                    device that it attaches itself, BfAttachInfo::pSettings.
 *   its default.
 *
 * SV-1  An empty value is no value. A value that can't be used is passed over, so that the next
 *       weaker source counts; of the two variables the shorter one is the weaker.
 */
#ifndef BELFRY_SETTINGS_SETTINGS_H
#define BELFRY_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "belfry/belfry.h"
#include "base/message.h"

enum bf_queues_mode {
    BF_QUEUES_NATIVE, /* the real families alone, with their real counts */
    BF_QUEUES_APPEND, /* enlarged counts and appended families */
};

enum bf_check_mode {
    BF_CHECK_NONE,
    BF_CHECK_ACCESS, /* resources that several queues share (access/access.h) */
};

/* How the GPU writes the logs of fence operations, where a trace or a reader asks for them. */
enum bf_fence_log_mode {
    BF_FENCE_LOG_TIMED,
    BF_FENCE_LOG_UNTIMED, /* without timestamps */
    BF_FENCE_LOG_OFF,     /* never */
};

/* Rebuilding shaders for the values that a program really uses (specialize/specialize.h). */
enum bf_specialize_mode {
    BF_SPECIALIZE_OFF,
    /* as exact, on devices with robustBufferAccess, where a dry run can be had; not in a trace */
    BF_SPECIALIZE_AUTO,
    /* a variant is used only if its results equalled the general pipeline's in every bit */
    BF_SPECIALIZE_EXACT,
};

/* Who hands over what the program submits to its VkQueues (scheduler/deferral.h). */
enum bf_submit_mode {
    BF_SUBMIT_INLINE,   /* its own call, unless a wait holds it */
    BF_SUBMIT_DOORBELL, /* a thread that its call rings for */
};

/* How physical doorbells belong to queues (doorbell/page.h). */
enum bf_doorbell_model {
    BF_DOORBELL_MODEL_DEDICATED,
    BF_DOORBELL_MODEL_GLOBAL,
};

/* Row numbers of the table of settings, which is made of settings.json. */
enum bf_setting_key {
#include "settings/generated/keys.inc"
    BF_KEY_COUNT
};

/* Where a value came from, in the order of precedence that the Vulkan layer settings define. */
enum bf_setting_source {
    BF_SETTING_DEFAULT,
    BF_SETTING_API,         /* the program: VK_EXT_layer_settings, or BfAttachInfo::pSettings */
    BF_SETTING_FILE,        /* vk_layer_settings.txt */
    BF_SETTING_ENVIRONMENT, /* VK_BELFRY_MULTI_ENGINE_*, and the shorter form */
};

struct bf_settings {
    enum bf_queues_mode queues;
    uint32_t queues_per_family;     /* with 'append': at least so many queues are shown per family;
                                       0 to 64 */
    char *trace;                    /* path of the Perfetto trace, or NULL; owned */
    bool summary;                   /* print a summary to stderr when a device is destroyed */
    enum bf_message_level messages; /* which severities are printed, or passed to the callback */
    enum bf_submit_mode submit;
    bool serialize_submits;   /* triage: one lock over all vkQueueSubmit calls of a device */
    bool preemption;          /* of queues by others, at submissions (scheduler/preempt.h) */
    bool realtime;            /* ask the driver for one VkQueue of global priority REALTIME */
    bool high_priority;       /* and for one of HIGH */
    bool queue_priorities;    /* of the program's VkQueues decide who goes first */
    bool spare_queues;        /* open a VkQueue more on a family, for command queues */
    bool synchronized_queues; /* by the driver, where it can */
    enum bf_check_mode check;
    bool native_fences; /* fences whose values the GPU writes may be created */
    enum bf_fence_log_mode fence_log;
    uint32_t background_tasks; /* background items that run at a time in a process; 1 to 16 */
    bool developer_mode;       /* background processing may be switched off, and boosted */
    enum bf_specialize_mode specialize;
    uint32_t specialize_memory; /* MiB that this may take for a device; 1 to 65536 */
    char *cache;                /* the folder of cache files; NULL: user_cache; owned */
    /* the folder of Belfry in the user's cache folder, by the environment; or NULL; owned */
    char *user_cache;
    /* when a device is destroyed, print to stderr which shaders were specialised, and why others
     * were not */
    bool report;

    uint32_t watchdog;  /* ms after which a standstill is reported; 0: never */
    uint32_t doorbells; /* physical ones; 1 to 64 */
    enum bf_doorbell_model doorbell_model;
    uint32_t doorbell_idle; /* ms; 0: never */
    /* standstill/tdr.h; times in ms */
    uint32_t tdr_level, tdr_delay, tdr_ddi_delay, tdr_limit_count, tdr_limit_time, tdr_debug_mode;
    /* With it: before SIGINT or SIGTERM ends the program, what waits is reported. */
    bool at_interrupt;

    /* Where each value came from; read through the functions below. */
    enum bf_setting_source sources[BF_KEY_COUNT];
    char *origins[BF_KEY_COUNT]; /* variable, or file and line; NULL for others; owned */
};

/*
 * Fills 'settings' with defaults, then with what VK_EXT_layer_settings in 'create_info' (may be
 * NULL), the settings file and 'environment' (as 'environ': "NAME=value" strings, then NULL; may be
 * NULL) say. Unknown keys and bad values cost a warning each, with a valid one that is near (none
 * with 'quiet'), and never fail. With 'privileged' set (the process runs with raised privileges)
 * output paths that come from environment or file are ignored, with a line. 'implicit_layer'
 * changes the default of 'queues' to native.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; 'settings' then holds defaults and owns nothing.
 * Thread-safety: safe, as long as nobody changes the environment meanwhile.
 */
VkResult bf_settings_load(const VkInstanceCreateInfo *create_info, char *const *environment,
                          bool privileged, bool implicit_layer, bool quiet,
                          struct bf_settings *settings);

/*
 * The same for a device that the program attaches itself: 'own' (may be NULL where 'count' is 0; no
 * key or value in it is NULL) stands in the place of VK_EXT_layer_settings. Of a key that comes
 * twice the first counts.
 */
VkResult bf_settings_load_attached(uint32_t count, const BfSetting *own, char *const *environment,
                                   bool privileged, bool quiet, struct bf_settings *settings);

/* Frees what 'settings' owns and leaves no pointer behind; accepts NULL and a zeroed struct. */
void bf_settings_finish(struct bf_settings *settings);

/* Whether the process runs with more rights than its user (set-user-id, file capabilities): the
 * 'privileged' of bf_settings_load. Thread-safety: safe. */
bool bf_settings_is_privileged(void);

/*
 * Whether an instance has the layer because the implicit manifest was switched on (BELFRY=1), not
 * because somebody named it: neither 'create_info' (may be NULL), nor VK_INSTANCE_LAYERS, nor a
 * pattern of VK_LOADER_LAYERS_ENABLE. The loader doesn't tell a layer which manifest it came from.
 * Thread-safety: safe.
 */
bool bf_settings_is_implicit(const VkInstanceCreateInfo *create_info, char *const *environment);

/* The table of settings. tools/settings makes it, the manifest's settings and README's table of one
 * file, settings.json; 'belfry settings' prints it. */
enum bf_value_kind {
    BF_VALUE_ENUM,
    BF_VALUE_INT,
    BF_VALUE_BOOL,
    BF_VALUE_PATH, /* of a file that will be written, or of a folder of such files */
};

struct bf_setting_row {
    const char *key;
    const char *label;
    const char *description;
    enum bf_value_kind kind;
    /* The kind as manifests spell it: "ENUM", "INT", "BOOL", "SAVE_FILE", "SAVE_FOLDER". */
    const char *value_type;
    const char *values; /* the allowed values, as text: "native, append" */
    const char *default_value;
    size_t offset;        /* of its member of struct bf_settings */
    const char *names[5]; /* ENUM: the spelling of 0, 1, ...; the rest NULL */
    uint32_t minimum;     /* INT */
    uint32_t maximum;
    bool layer_alone; /* it does nothing for devices that programs attach */
};
uint32_t bf_settings_rows(const struct bf_setting_row **rows);

/* The value in row 'row' as text that bf_settings_load would read back; "" for no path. Written to
 * 'buffer' (cut off if it doesn't fit) and returned. */
const char *bf_settings_value(const struct bf_settings *settings, uint32_t row, char *buffer,
                              size_t size);
enum bf_setting_source bf_settings_source(const struct bf_settings *settings, uint32_t row);
/* The variable's name or the file and line; "" for a default and for the API. Owned by 'settings'.
 */
const char *bf_settings_origin(const struct bf_settings *settings, uint32_t row);

/* Whether 'key' exists and takes 'value'. If not, a warning says so, with a valid one that is near
 * (unless 'quiet'); 'origin' names the place for the reader: "--set". */
bool bf_setting_check(const char *key, const char *value, const char *origin, bool quiet);

#endif
