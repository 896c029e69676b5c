/* SPDX-License-Identifier: MIT */
/*
 * One shader of a pipeline, as SPIR-V: what it reads of the push constants, what may become of it,
 * and modules in which such reads are specialization constants. Nothing here calls Vulkan.
 *
 * A member is what one load reads of the push constants: a scalar or a vector, be it a member of
 * the block, an element of an array, a column of a matrix or one component of any of these, as long
 * as every index on the way is a constant. Whole matrices, arrays and structs are not folded, nor
 * what a dynamic index chooses, nor addresses.
 *
 *  SF-1  A folded module does what the module did wherever the push constants hold the values that
 *       it is specialized with: loads become copies of specialization constants of the same type,
 *       bit for bit; variable, interface, blocks and decorations stay; the program's own
 *       specialization stays.
 *  SF-2  No load is folded unless all its words are chosen by the mask; nor when its
 *       value may reach an operation whose result Vulkan leaves to the implementation: then a
 *       compiler that evaluates it need not agree with the device that does. (Which: below.)
 *  SF-3  Any words whatever are survived: what can't be understood has no members, and a reason.
 *  SF-4  A shader is immutable once made.
 *  SF-5  However it is made, what it uses and what becomes of its values is found within a second,
 *        or it is given up, with a reason: a device that is destroyed waits for that.
 *
 * Proven by tests/specialize.
 *
 * Exact mode [SF-2]: the value must not reach, through any operation, variable, memory, call or phi
 *  - a function of GLSL.std.450, but for those that choose, compare or cut off and never round:
 *    min, max, clamp, abs, sign, floor, ceil, trunc, roundEven, step, and those on integers. Their
 *    results are their operands or small integers, exact on any device (a NaN or the sign of a zero
 *    apart, which Vulkan leaves open: there a variant must be compared with the general shader);
 *  - a float division or remainder: a constant divisor becomes a factor;
 *  - a derivative, or coordinates, bias or reference of a sampling with implicit level of detail;
 *  - a narrowing of floats, whose direction of rounding is the implementation's;
 *  - a float reduction over a subgroup, a float atomic;
 *  - anything unknown.
 * Nor may it steer what makes a value constant that reaches one of these: folding the bound of a
 * loop has it unrolled, and then exp(counter) is evaluated by the compiler. Followed for values
 * that come of constants and push constants alone. Integer division is exact.
 *
 * Thread-safety: a shader may be used by all threads at once; anything else by one at a time.
 */
#ifndef BELFRY_SPECIALIZE_SHADER_H
#define BELFRY_SPECIALIZE_SHADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* Bytes of push constants that are looked at. */
#define BF_PUSH_CONSTANT_BYTES 256

/* Widths of floats, a bit each. */
#define BF_FLOAT_16 1u
#define BF_FLOAT_32 2u
#define BF_FLOAT_64 4u

/* Words that are watched in one pipeline. */
#define BF_WATCH_WORDS 8

struct bf_shader;

struct bf_shader_info {
    const uint32_t *words;
    size_t word_count;
    const char *entry;
    VkShaderStageFlagBits stage;
    const VkSpecializationInfo *specialization; /* copied; may be NULL */
};

/* Why nothing may be folded; the first that applies. With the words of bf_shader_reason_name. */
enum bf_shader_reason {
    BF_SHADER_FOLDABLE,          /* "foldable": there are members */
    BF_SHADER_UNPARSABLE,        /* "unparsable": not SPIR-V, or newer than SPIRV-Tools here */
    BF_SHADER_STAGE,             /* "stage": ray tracing, meshes and whatever else is unknown */
    BF_SHADER_NO_ENTRY,          /* "no-entry": no such entry point for this stage */
    BF_SHADER_COOPERATIVE,       /* "cooperative": cooperative matrices */
    BF_SHADER_CAPABILITY,        /* "capability": one that isn't known */
    BF_SHADER_FLOAT_CONTROLS,    /* "float-controls": folders have ignored these modes */
    BF_SHADER_DECORATION_GROUPS, /* "decoration-groups": deprecated, and not followed */
    BF_SHADER_POSITION,          /* "position": a pre-rasterisation stage that writes Position */
    BF_SHADER_DEPTH,             /* "depth": writes depth or the stencil reference */
    BF_SHADER_SAMPLE_MASK,       /* "sample-mask": writes the sample mask */
    BF_SHADER_NO_PUSH_CONSTANTS, /* "no-push-constants" */
    BF_SHADER_BLOCKS,            /* "several-blocks" of push constants in one entry point */
    BF_SHADER_ESCAPES,           /* "escapes": a pointer to the block goes where none follows it */
    BF_SHADER_VOLATILE,          /* "volatile": the block is read by volatile loads */
    BF_SHADER_NO_LOAD,           /* "no-load": none that could be folded */
    BF_SHADER_COMPLEX, /* "complex": this, or what becomes of values, would take too long */
    BF_SHADER_REASON_COUNT,
};

/* What a member's value does, weightiest first. */
enum bf_shader_use {
    BF_USE_LOOP = 1 << 0,     /* decides when a loop ends */
    BF_USE_SWITCH = 1 << 1,   /* selects a case */
    BF_USE_BRANCH = 1 << 2,   /* decides a branch */
    BF_USE_SELECT = 1 << 3,   /* decides which of two values */
    BF_USE_INDEX = 1 << 4,    /* an index, an integer coordinate */
    BF_USE_STRIDE = 1 << 5,   /* an integer factor, divisor or shift */
    BF_USE_ADDRESS = 1 << 6,  /* becomes a pointer: never folded */
    BF_USE_INEXACT = 1 << 7,  /* reaches what is not folded */
    BF_USE_CONTROLS = 1 << 8, /* steers a value that does */
    BF_USE_ALONE = 1 << 9,    /* decides, with constants and other push constants, alone */
};

enum bf_number {
    BF_NUMBER_FLOAT,
    BF_NUMBER_INT,
    BF_NUMBER_UINT,
    BF_NUMBER_NONE, /* a bool, a struct, an opaque type */
};

/* Component i lies at offset + i * stride and has 'width' bytes. */
struct bf_fold_member {
    uint16_t offset;
    uint16_t size; /* bytes from the first component to the end of the last */
    uint16_t stride;
    uint8_t width;      /* 1, 2, 4 or 8 */
    uint8_t components; /* 1 to 4 */
    uint8_t weight;     /* the more, the sooner it should be folded */
    bool exact;         /* some load of it may be folded */
    uint16_t uses;      /* enum bf_shader_use, over all its loads */
    enum bf_number number;
    uint32_t type, component_type; /* ids */
};

struct bf_shader_binding {
    uint32_t set, binding;
    VkDescriptorType type; /* never a dynamic one: the layout knows */
    uint32_t count;        /* descriptors; 0: an array of unknown length */
    bool read, written;    /* as far as followed: unsure is both */
    /* Images and texel buffers. */
    uint32_t dim;          /* SpvDim */
    uint32_t format;       /* SpvImageFormat */
    enum bf_number number; /* of the sampled type */
    bool arrayed, multisampled, depth;
    uint32_t input_index; /* of an input attachment, in the subpass' list */
    /* Buffers: bytes without a last array of unknown length, and bytes of one of its elements. */
    uint32_t block_size, array_stride;
};

struct bf_shader_varying {
    uint32_t location, component;
    uint32_t locations; /* that it takes */
    enum bf_number number;
    uint8_t width;      /* bytes of a component */
    uint8_t components; /* in a location */
    bool flat, no_perspective, centroid, sample;
};

/* Nothing but the reason, if that is "unparsable", "stage" or "no-entry". */
struct bf_shader_facts {
    enum bf_shader_reason reason;
    /* Statically used by the entry point. */
    const struct bf_shader_binding *bindings;
    uint32_t binding_count;
    const struct bf_shader_varying *inputs, *outputs;
    uint32_t input_count, output_count;
    const uint32_t *builtins; /* SpvBuiltIn, inputs; ascending */
    uint32_t builtin_count;
    uint32_t workgroup_size[3]; /* specialized; 0: unknown, or not a compute shader */
    bool stores;                /* writes to buffers or images, atomics included */
    bool atomics;               /* on buffers or images */
    bool discards;
    bool derivatives;
    bool subgroups;
    bool barriers;
    bool num_workgroups;   /* reads NumWorkgroups */
    bool early_tests;      /* EarlyFragmentTests */
    bool physical_storage; /* goes through buffer addresses */
    bool unmeasured;       /* bindings or inputs and outputs are missing, or too small [SF-5] */
};

/* The words need not be valid. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. One reference is the
 * caller's. */
VkResult bf_shader_create(const struct bf_shader_info *info, struct bf_shader **shader);
/* The same, of words that outlive the shader: they aren't copied. */
VkResult bf_shader_create_over(const struct bf_shader_info *info, struct bf_shader **shader);
void bf_shader_retain(struct bf_shader *shader);
/* NULL is allowed. */
void bf_shader_release(struct bf_shader *shader);
/* What it takes, bytes. */
size_t bf_shader_bytes(const struct bf_shader *shader);

/* SHA-256 of words, stage, name of the entry point and specialization. */
void bf_shader_hash(const struct bf_shader *shader, uint8_t hash[32]);

/* Both live as long as the shader does. */
const struct bf_shader_facts *bf_shader_facts_of(const struct bf_shader *shader);
/* By offset. None, unless the reason is BF_SHADER_FOLDABLE. */
const struct bf_fold_member *bf_shader_members(const struct bf_shader *shader, uint32_t *count);
/* What was given to bf_shader_create. */
const uint32_t *bf_shader_words(const struct bf_shader *shader, size_t *count);
VkShaderStageFlagBits bf_shader_stage(const struct bf_shader *shader);
/* Of what it computes with: BF_FLOAT_16, ... */
uint8_t bf_shader_float_widths(const struct bf_shader *shader);

/* Never NULL, whatever the number. */
const char *bf_shader_reason_name(enum bf_shader_reason reason);

/* ---------------------------------------------------------------------------------- Watching -- */

struct bf_watch {
    uint8_t count;
    uint16_t offset[BF_WATCH_WORDS]; /* bytes, multiples of 4, ascending */
};

/* The words of the weightiest members of all shaders of one pipeline: of a member that lies in
 * several words all or none, and none of a member that can't be folded. */
void bf_watch_choose(struct bf_watch *watch, const struct bf_shader *const *shaders,
                     uint32_t count);

/* ----------------------------------------------------------------------------------- Folding -- */

struct bf_fold_entry {
    uint32_t id; /* SpecId */
    uint16_t offset, size;
};

struct bf_folded {
    uint32_t *words;
    size_t word_count;
    struct bf_fold_entry *entries;
    uint32_t entry_count;
    uint32_t load_count;      /* loads that were folded */
    uint32_t decorated_count; /* operations that are NoContraction for it */
    /* With NoContraction: that may keep a driver from what it simplifies in the general pipeline,
     * where the same folded value is added and taken away again, or multiplied with both terms of a
     * sum. */
    bool cancels;
};

/*
 * Bit i of 'mask' is word i of 'watch'. With 'no_contraction' float arithmetic that has an operand
 * which folding makes a constant is so decorated: a compiler can't gather that with others. What
 * else there is it compiles as it did.
 *
 * VK_INCOMPLETE: nothing to fold; 'folded' is empty, as after an error. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY. Free what is returned with bf_folded_finish.
 */
VkResult bf_shader_fold(const struct bf_shader *shader, const struct bf_watch *watch, uint8_t mask,
                        bool no_contraction, struct bf_folded *folded);
/*
 * The same with NoContraction everywhere, and with signs of zeros, infinities and NaN kept
 * (SPV_KHR_float_controls) in arithmetic of these widths. VK_INCOMPLETE also if the module keeps
 * all of them by itself, or has no such floats.
 */
VkResult bf_shader_fold_keeping(const struct bf_shader *shader, const struct bf_watch *watch,
                                uint8_t mask, uint8_t widths, struct bf_folded *folded);
/*
 * The same with every load of these words, bit i: word i of the 64, exact or not [SF-2], and
 * NoContraction, so that nobody takes x * 0 for 0. Not to be run: but what is dead in it is dead in
 * the module, too, where the push constants hold these values.
 */
VkResult bf_shader_fold_all(const struct bf_shader *shader, uint64_t words,
                            struct bf_folded *folded);
/* An empty one is allowed. */
void bf_folded_finish(struct bf_folded *folded);

/*
 * The program's specialization of 'shader' and, behind it, the values of 'folded' out of
 * BF_PUSH_CONSTANT_BYTES bytes of push constants, copied bit for bit. Belongs to the caller:
 * bf_folded_specialization_finish frees it. Errors: VK_ERROR_OUT_OF_HOST_MEMORY.
 */
VkResult bf_folded_specialize(const struct bf_folded *folded, const struct bf_shader *shader,
                              const void *push_constants, VkSpecializationInfo *specialization);
/* A zeroed one is allowed. */
void bf_folded_specialization_finish(VkSpecializationInfo *specialization);

/*
 * Asks SPIRV-Tools about a module for a driver of this version. Block layouts are taken as the most
 * generous of all features allow. VK_ERROR_INVALID_SHADER_NV: invalid, 'why' says why (may be NULL;
 * cut off at why_size). Other errors: VK_ERROR_OUT_OF_HOST_MEMORY.
 */
VkResult bf_shader_validate(const uint32_t *words, size_t count, uint32_t vulkan_api_version,
                            char *why, size_t why_size);

#endif
