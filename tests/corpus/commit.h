/* SPDX-License-Identifier: MIT */
/* Asks Belfry to finish, now, whatever it would like to do in the background, where it is between
 * the program and the driver. The program isn't linked with it: which library there is, if any,
 * shows once the layer is loaded. */
#ifndef BELFRY_TEST_CORPUS_COMMIT_H
#define BELFRY_TEST_CORPUS_COMMIT_H

#include <stdbool.h>

#include <volk.h>

#include <belfry/background.h>

#define COMMIT_FUNCTIONS(do_)                                                                      \
    do_(GetDevice) do_(CreateEvent) do_(DestroyEvent) do_(WaitForEvents)                           \
        do_(SetBackgroundProcessingMode)

struct commit {
    void *library;
    BfDevice device; /* NULL: no Belfry below this device */
    BfEvent event;
#define COMMIT_DECLARE(name_) __typeof__(&bf##name_) name_;
    COMMIT_FUNCTIONS(COMMIT_DECLARE)
#undef COMMIT_DECLARE
};

/* After the device was created. Without the layer it succeeds, and the device is NULL. False: it
 * has complained. */
bool commit_open(struct commit *commit, VkDevice device);
/* Before it is destroyed; a zeroed one too. */
void commit_close(struct commit *commit);

/* COMMIT_RESULTS_HIGH_PRIORITY, and waits for its event; nothing without the layer. 'freeze':
 * profiling is off from then on. *more: there was a wish for further measurements. False: it has
 * complained. */
bool commit_results(struct commit *commit, bool freeze, bool *more);

#endif
