/* SPDX-License-Identifier: MIT */
/* Belfry's own API as random programs call it: found in the library that is there, so that the same
 * program runs with the layer, with a broken one, with the library alone, and without any. */
#ifndef BELFRY_RANDOM_BF_H
#define BELFRY_RANDOM_BF_H

#include <stdbool.h>

#include <belfry/belfry.h>
#include <belfry/native_fence.h>
#include <belfry/preemption.h>
#include <belfry/user_mode_submission.h>

#define BF_FUNCTIONS(X)                                                                            \
    X(GetDevice)                                                                                   \
    X(AttachDevice)                                                                                \
    X(DetachDevice)                                                                                \
    X(VkQueueSubmit)                                                                               \
    X(LockVkQueue)                                                                                 \
    X(UnlockVkQueue)                                                                               \
    X(GetDeviceCounters)                                                                           \
    X(CreateCommandQueue)                                                                          \
    X(DestroyCommandQueue)                                                                         \
    X(GetCommandQueueFamilyIndex)                                                                  \
    X(SetCommandQueuePriority)                                                                     \
    X(QueueExecute)                                                                                \
    X(RequestPreemption)                                                                           \
    X(SuspendCommandQueue)                                                                         \
    X(ResumeCommandQueue)                                                                          \
    X(QueueSignal)                                                                                 \
    X(QueueWait)                                                                                   \
    X(QueueWaitIdle)                                                                               \
    X(CreateFence)                                                                                 \
    X(DestroyFence)                                                                                \
    X(GetFenceCompletedValue)                                                                      \
    X(SignalFence)                                                                                 \
    X(SetEventOnFenceCompletion)                                                                   \
    X(SetEventOnMultipleFenceCompletion)                                                           \
    X(WaitFences)                                                                                  \
    X(ImportFenceFromSemaphore)                                                                    \
    X(ExportFenceToSemaphore)                                                                      \
    X(CreateEvent)                                                                                 \
    X(DestroyEvent)                                                                                \
    X(ResetEvent)                                                                                  \
    X(GetEventFd)                                                                                  \
    X(WaitForEvents)                                                                               \
    X(IsFeatureEnabled)                                                                            \
    X(GetNativeFenceCaps)                                                                          \
    X(CreateNativeFence)                                                                           \
    X(GetNativeFenceMapping)                                                                       \
    X(GetCommandQueueProgressFence)                                                                \
    X(CreateFenceLogReader)                                                                        \
    X(DestroyFenceLogReader)                                                                       \
    X(ReadFenceLog)                                                                                \
    X(DumpFenceLog)                                                                                \
    X(SetFenceLogEntries)                                                                          \
    X(GetFenceLogHandle)

#define BF_MEMBER(name) __typeof__(bf##name) *name;
struct bf_api {
    void *library; /* NULL: there is none */
    BF_FUNCTIONS(BF_MEMBER)
};
#undef BF_MEMBER

/* bf_api_load: with 'own', the library of this build; else the one that the layer has brought into
 * the process, which may be none. Returns false after a line on stderr when a function is missing,
 * or the library that was asked for. Call it when an instance exists. */
bool bf_api_load(struct bf_api *bf, bool own);
/* Safe on a zeroed one. */
void bf_api_unload(struct bf_api *bf);

#endif
