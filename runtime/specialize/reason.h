/* SPDX-License-Identifier: MIT */
/*
 * Why a pipeline is not specialised, or a variant not kept: the codes that the report, the trace
 * and docs/specialize.md use.
 */
#ifndef BELFRY_SPECIALIZE_REASON_H
#define BELFRY_SPECIALIZE_REASON_H

/* X(constant, code, what it says to people). Numbers are kept on disk: new ones go to the end. */
#define BF_REASONS(X)                                                                              \
    X(BF_REASON_NONE, "none", "nothing stands against it")                                         \
    /* Pipelines that are never specialised. */                                                    \
    X(BF_REASON_NO_CODE, "no-code", "its SPIR-V was not given when it was made")                   \
    X(BF_REASON_LIBRARY, "library",                                                                \
      "it is a pipeline library, or linked in a way that isn't rebuilt")                           \
    X(BF_REASON_FLAGS, "flags", "made with flags that ask for this very pipeline")                 \
    X(BF_REASON_CHAIN, "chain", "a chained struct is not known here")                              \
    X(BF_REASON_RAY_TRACING, "ray-tracing", "shader groups' handles belong to one pipeline")       \
    X(BF_REASON_STAGES, "stages", "it has stages beside vertex and fragment")                      \
    X(BF_REASON_PINNED, "pinned", "its address or handle is used by generated commands")           \
    X(BF_REASON_UNPARSED, "unparsed", "its SPIR-V is not understood")                              \
    X(BF_REASON_NO_PUSH, "no-push-constants", "it reads no push constants")                        \
    X(BF_REASON_NO_FOLD, "no-fold", "no push constant that it reads can be folded")                \
    X(BF_REASON_POSITION, "position", "the stage produces positions")                              \
    X(BF_REASON_DEPTH, "depth", "the fragment shader writes depth, stencil or a sample mask")      \
    X(BF_REASON_FLOAT_CONTROLS, "float-controls", "it asks for modes of rounding or denormals")    \
    X(BF_REASON_VOLATILE, "volatile", "it reads push constants as volatile")                       \
    X(BF_REASON_POINTERS, "pointers", "push constants are read through pointers not followed")     \
    X(BF_REASON_ALLOCATOR, "allocator", "what it was made of was freed by a program's allocator")  \
    X(BF_REASON_MEMORY, "memory", "out of memory")                                                 \
    /* Values that no variant is built for. */                                                     \
    X(BF_REASON_BUDGET, "budget", "there are as many variants as may be")                          \
    /* Builds that failed. */                                                                      \
    X(BF_REASON_INVALID, "invalid", "the rebuilt module was refused by SPIRV-Tools")               \
    X(BF_REASON_FAILED, "failed", "the driver refused to build it")                                \
    X(BF_REASON_CRASHED, "crashed", "its build or check never ended: a strike")                    \
    X(BF_REASON_TIMED_OUT, "timed-out", "its build or check hung: a strike")                       \
    X(BF_REASON_UNCHECKABLE, "uncheckable", "no inputs could be generated to check it with")       \
    X(BF_REASON_INEXACT, "inexact", "its results differ from the general pipeline's")              \
    X(BF_REASON_LOST, "lost", "the device was lost")                                               \
    X(BF_REASON_GONE, "gone", "the program destroyed the pipeline meanwhile")                      \
    X(BF_REASON_CANCELLED, "cancelled", "background work was ended first")                         \
    /* Variants that were measured. */                                                             \
    X(BF_REASON_SLOWER, "slower", "it took longer than the general pipeline")                      \
    X(BF_REASON_NO_GAIN, "no-gain", "it was not measurably faster")                                \
    X(BF_REASON_FASTER, "faster", "kept: it is faster")                                            \
    X(BF_REASON_UNUSED, "unused", "its values were no longer in use")                              \
    X(BF_REASON_SPACE, "space", "there is no more memory for it by the setting")                   \
    X(BF_REASON_NO_HELPER, "no-helper", "there is no process to check it in")                      \
    X(BF_REASON_DRIVER, "driver", "a check has lost a device of this driver")                      \
    X(BF_REASON_ENDLESS, "endless", "on no made-up inputs does it end and stay in bounds")         \
    X(BF_REASON_TOO_SLOW, "too-slow", "runs of it take too long to be checked")                    \
    X(BF_REASON_UNCOVERED, "uncovered", "code that folding affects was reached by no check")

#define BF_REASON_CONSTANT(constant, code, text) constant,
enum bf_reason { BF_REASONS(BF_REASON_CONSTANT) BF_REASON_COUNT };

/* "slower", and "it took longer than the general pipeline"; static. */
const char *bf_reason_code(enum bf_reason reason);
const char *bf_reason_text(enum bf_reason reason);

#endif
