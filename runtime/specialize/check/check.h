/* SPDX-License-Identifier: MIT */
/*
 * The check of a rebuilt pipeline against the general one: both are run on generated inputs, and
 * every bit of what they write is compared. That is evidence, not proof: the documentation says
 * 'checked'. It also warms what it runs: a driver that compiles at first use has compiled then.
 *
 *  CK-1  A form passes only if it ran, wrote something on some of the inputs, and every byte of
 *        every output equals the general pipeline's, for every seed. So does every byte beside its
 *        buffers: they lie in memory of the checker's that is compared as a whole.
 *  CK-2  Nothing of the program's is touched: resources, sets and command buffers are the checker's
 *        own, of the formats that the program's had last, and images as large as its largest
 *        dispatch, or what it drew to, reaches: up to 2^18 invocations, 2^16 pixels, and what
 *        memory allows (DU-4). What is stored beyond isn't compared. (On a device where accesses
 *        out of bounds do harm, buffers are as large as the program's, or it isn't checked. There,
 *        and on some inputs where a shader chooses elements of its own arrays, they are tame:
 *        integers 0 and 1, floats from 0 to 1, and the program's push constants alone.)
 *  CK-3  The checker's work goes to the device that it was given, one run at a time, and nowhere
 *        else: a helper's own (specialize/isolate/isolate.h), never the program's.
 *  CK-4  Where the general pipeline doesn't agree with itself, or writes nothing on any input, or
 *        can't be run on made-up resources, nothing passes: BF_REASON_UNCHECKABLE. What takes long
 *        on images larger than the least runs dry anew on those.
 *  CK-5  Whatever fails, every object that was made is destroyed: by bf_check_end; after work that
 *        never ended, by bf_checker_destroy.
 *
 *  CK-6  A dry run begins with one workgroup, or with 16 by 16 pixels where the scissor is dynamic,
 *        on each of its inputs: what has been submitted can't be stopped. How many pixels come next
 *        is decided by what those fragments took that there were. With a plan, nothing runs on
 *        inputs that the plan leaves out, nor with images or workgroups of other sizes than it has:
 *        as they were when the dry run told of nothing on them.
 *  CK-7  How fast a machine is, and how busy, decides whether something is checked, never how
 *        thoroughly. Time that work waits for others isn't its own, as far as it can be told: by
 *        timestamps around it, or on a CPU by what was computed. A plan whose dispatches time kept
 *        from having the workgroups of the program on all inputs that were to have them, or as many
 *        as are ever run on others, is no plan.
 *  CK-8  With points that are needed there is a plan only if each of them was come to on inputs
 *        that the plan has, with the workgroups that it says: BF_REASON_UNCOVERED otherwise, once
 *        all inputs have been tried.
 *  CK-9  On some of the inputs that a dry run goes before floats are so small, and so large, that
 *        what is computed of them leaves what floats can hold, infinities among them, and integers
 *        are of all sizes, however tame others have to be: products of factors that are powers of
 *        two, and of small integers, are the same in any order until then.
 *  CK-10 A dispatch of the program's that has few invocations, below 1024, is run on twice as many
 *        inputs, half of the others with edges: how often two rare values meet in an invocation is
 *        a matter of numbers.
 *  CK-11 A shader that chooses elements of its own arrays is run on inputs that aren't tame, too,
 *        where a dry run goes before: of 0 and 1 any sums and products are the same.
 *  CK-12 Where it is known how many workgroups the program's largest dispatch had, none runs with
 *        more on any axis: invocations that the program never has may reach past its buffers, or
 *        race.
 *  CK-13 A pipeline whose sets lie in descriptor buffers is compared with its sets in one: each
 *        descriptor where the driver says that its binding is, as large as the driver has them for
 *        what is enabled, and samplers that can't change among them.
 *  CK-14 Where a dry run goes before, loops whose rounds integers decide go round 64, 256 and 1024
 *        times on some inputs, of which dispatches have one workgroup; what draws, 64.
 *  CK-15 Where a dry run goes before, some draws begin with instances 5 and 0x12345, unless buffers
 *        have something of each: a number of an instance that becomes a float may be any.
 *
 *  CK-16 Where a dry run goes before, and the shader asks for sizes of images or buffers, images
 *        that are only read also are of a few texels, of powers of two with many levels, and long
 *        in either direction. What is stored to has such sizes, but none smaller than the runs
 *        reach; arrays have more layers, and buffers of texels and open arrays more elements, of
 *        powers of two and odd ones.
 *  CK-17 Where a dry run goes before, and the shader asks where its fragment or invocation lies,
 *        draws and dispatches also go, in a strip along each axis, as far as the program's reached,
 *        up to 4096 pixels, or 2^18 invocations. 'reach' says how far they went.
 *  CK-18 Where a dry run goes before, integers of small blocks are of each magnitude on some
 *        inputs, and loops that one of these ends go round nearly 64, 256 and 1024 times (CK-14).
 *
 *  CK-19 Where a dry run goes before, and results may depend on what is read of images, they are
 *        also read of images and texel buffers of 32-bit numbers, which are any that formats of
 *        the bindings' classes hold. There is a plan only if it has such inputs.
 *  CK-20 Where a dry run goes before, and results may depend on what all invocations read alike, of
 *        push constants that aren't folded, elements of buffers, or texels, or on what a stage
 *        before hands on, these are others on 56 inputs more, of one workgroup (of what draws, on
 *        20): each set of inputs has but one value of them, or of what is the same in a primitive.
 *        A fifth of these are denormal, others huge, infinite or NaN; integers of small blocks are
 *        of each magnitude.
 *  CK-21 Where a dry run goes before, half of the floats of 8 inputs more (of what draws, of 4) lie
 *        about the square root of the greatest, or of the least, or are infinite: products of two
 *        only just overflow, or underflow, and where one of several factors is a power of two, the
 *        order of these shows there alone; or they are no numbers any more, times 0.
 *  CK-22 What comes to a point to which, as was said, no inputs can, has no plan:
 *        BF_REASON_UNCHECKABLE.
 *  CK-23 Where a dry run goes before, integers are on some of the inputs for programs that have few
 *        invocations themselves, and of those for points that are dark, mostly 0, 1 and those that
 *        shaders and what is folded name: what is asked for by equality is then come to with many
 *        other numbers.
 *  CK-24 What is drawn is one instance of one primitive, or of two that lie apart, as those do that
 *        a vertex shader makes up: fragments that others overwrite would come to points, and nobody
 *        would compare what they write. Of two triangles from buffers that face either way each is
 *        drawn on half of the inputs; but where a dry run shows that one has no fragments, as where
 *        it is culled, the other one.
 *  CK-25 Inputs on which a dry run tells of indices, or of integers left open, and of nothing else,
 *        run dry once more, with integers that are 0 and 1: an index that is one of a few isn't to
 *        take their floats with it.
 *  CK-26 There is a plan only if it has inputs of each kind of which a dry run has told: with
 *        floats that are tiny, huge and of many sizes (CK-9), that only just overflow and underflow
 *        (CK-21), with images of other sizes (CK-16), and a quarter of those with other values of
 *        what is read alike (CK-20).
 *  CK-27 Of a submission that isn't done in time it is told whether it has begun: what hangs is
 *        told from what waits behind others.
 *
 * Proven by tests/specialize.
 *
 * The inputs (specialize/check/inputs.h): integers and floats small at first; then ones of all
 * sizes and edge values, as far as they can't have shaders loop for long or, where that does harm,
 * reach out of bounds; and the program's push constants, some of them then made smaller, and where
 * a dry run has been also larger, negative, something where the program had 0, huge, tiny, infinite
 * or NaN.
 */
#ifndef BELFRY_SPECIALIZE_CHECK_H
#define BELFRY_SPECIALIZE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "specialize/reason.h"
#include "specialize/check/pipeline_interface.h"

struct bf_check;
struct bf_checker;
struct bf_gpu;

#define BF_CHECK_PUSH_BYTES 256
#define BF_CHECK_SEEDS      64
/* Beyond those: CK-20, CK-21. */
#define BF_CHECK_MORE_SEEDS 64

/* Used by nobody else while there is a checker. */
struct bf_check_queue {
    VkQueue handle; /* VK_NULL_HANDLE: there is none */
    uint32_t family;
    VkQueueFlags flags;      /* of the family */
    uint32_t timestamp_bits; /* timestampValidBits; 0: there are no timestamps */
};

struct bf_checker_info {
    struct bf_gpu *gpu; /* not owned; outlives the checker */
    struct bf_check_queue compute, direct;
    VkInstance instance;
    VkPhysicalDevice physical;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr; /* of whatever lies below */
    /* Accesses out of bounds do no harm: robustBufferAccess is enabled, or the driver is one that
     * checks all the same. */
    bool robust;
    bool robust_enabled; /* the first of these: where descriptors lie in buffers, they are others */
    uint64_t patience_ns; /* for one run; then it is taken for hung. 0: ten seconds */
    uint64_t limit_ns;    /* of the general pipeline's least run. 0: 200 ms */
    uint64_t double_ns;   /* a dry run that takes less is doubled. 0: 1 ms; on a CPU 20 */
};

/* What a check is to run on: made by bf_check_dry_run. */
struct bf_check_plan {
    uint64_t seeds;      /* bit i: inputs number i */
    uint64_t more_seeds; /* bit i: inputs number BF_CHECK_SEEDS + i */
    uint32_t sources;    /* as of the info that it was made for */
    bool small;          /* images are of the least size */
    uint32_t groups[BF_CHECK_SEEDS + BF_CHECK_MORE_SEEDS][3]; /* of dispatches */
    bool second[BF_CHECK_SEEDS + BF_CHECK_MORE_SEEDS]; /* of draws: which primitive (CK-24) */
    bool narrow[BF_CHECK_SEEDS + BF_CHECK_MORE_SEEDS]; /* integers are 0 and 1 (CK-25) */
};

struct bf_check_form {
    VkPipeline handle;
    /* out: BF_REASON_NONE: passed. _INEXACT, _UNCHECKABLE, _LOST, _CANCELLED, _MEMORY */
    enum bf_reason reason;
    /* out: the first run, by the queue's timestamps around the work; without, from its submission
     * until the CPU saw its end; where the device is a CPU no more than it computed. The same holds
     * for the times below. */
    uint64_t first_use_ns;
    uint64_t steady_ns; /* out: its runs on all inputs but the first, together; 0: none */
};

struct bf_check_info {
    const struct bf_pipeline_interface *interface;
    const uint8_t *push; /* BF_CHECK_PUSH_BYTES: the values that the forms were built for */
    uint64_t fixed;      /* bit i: word i is a constant of the forms, and stays as it is */
    /* Of the program's largest dispatch; of draws, how far the largest render area reaches. 0: not
     * known. */
    uint32_t groups[3];
    VkPipeline general;               /* made by the caller as the program's was; a build's own */
    const struct bf_check_plan *plan; /* NULL: on all inputs */
    /* Of a dry run: points that some inputs have to come to, a bit each, of BF_DRY_RUN_POINTS.
     * NULL: none */
    const uint32_t *needed;
    const uint32_t *beyond; /* the same of points that no inputs can come to; NULL: none */
    const uint32_t *named;  /* CK-23: integers, which are small */
    uint32_t named_count;
    uint32_t sources; /* of a dry run: enum bf_needed_source (specialize/dry_run/needed.h) */
    uint32_t form_count;
    struct bf_check_form *forms;
    bool (*cancelled)(void *context); /* asked between runs; NULL: never */
    void *context;
    uint64_t general_ns; /* out: the general pipeline's on the same inputs */
    /* out: along each axis, the most workgroups that it has run with, or how far it has drawn */
    uint32_t reach[3];
    const char *why; /* out: static; why it can't be checked, or NULL */
    /* out: with 'why': _UNCHECKABLE, _TOO_SLOW, of a dry run _ENDLESS, _UNCOVERED */
    enum bf_reason refused;
    uint32_t dark; /* out: with _UNCOVERED: the first point that no inputs came to */
};

/*
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (there is no queue that computes),
 * VK_ERROR_OUT_OF_HOST_MEMORY, and those of the driver.
 */
VkResult bf_checker_create(const struct bf_checker_info *info, struct bf_checker **checker);
/* No check of its is left. Waits for work that never ended. NULL is allowed. */
void bf_checker_destroy(struct bf_checker *checker);
/* Whether a run has not ended within its patience, and may never: nothing more can be checked. */
enum bf_hang {
    BF_HANG_NONE,
    BF_HANG_QUEUED, /* its commands have not begun: the queue is others', not its fault */
    BF_HANG_WORK,
};
enum bf_hang bf_checker_hang(const struct bf_checker *checker);

/*
 * For one thread at a time per checker; one check at a time. Errors of all:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST, and those of the driver; each undecided form's
 * reason is then set as well. 'info' and what it refers to stay until bf_check_end.
 *
 * A check is begun, stepped until it is done, and ended, sooner if its result isn't wanted (forms
 * without one are then BF_REASON_CANCELLED). A step is one run of one pipeline on one set of
 * inputs, and blocks until it is over. After an error only bf_check_end is left.
 */
VkResult bf_check_begin(struct bf_checker *checker, struct bf_check_info *info,
                        struct bf_check **check);
VkResult bf_check_step(struct bf_check *check, bool *done);
void bf_check_end(struct bf_check *check);

/*
 * Runs the dry-run form of the general pipeline (specialize/dry_run/dry_run.h), and finds the
 * inputs on which every invocation ended and stayed inside by itself. 'info' has no forms and no
 * plan; 'general' is the dry-run form, the layout's handle that form's layout, with one set more
 * than the layout has otherwise: of 'told', with one storage buffer at binding 0. A dispatch begins
 * with one workgroup, and is doubled as long as the shortest of three runs takes less than
 * 'double_ns'; a draw begins with a few pixels, and goes to sixteen times as many as long as these,
 * by what the few took, take no more than 16 times that, and to 16 more each way where there were
 * hardly any fragments. Where the device is a CPU, only time that it computes in counts.
 *
 * Where none is left, or they can't be run, or not with enough workgroups (CK-7), info->why and
 * 'refused' say so, and *plan is empty. Errors as above.
 */
VkResult bf_check_dry_run(struct bf_checker *checker, struct bf_check_info *info,
                          VkDescriptorSetLayout told, struct bf_check_plan *plan);

/* All of it at once. */
VkResult bf_check_run(struct bf_checker *checker, struct bf_check_info *info);

#endif
