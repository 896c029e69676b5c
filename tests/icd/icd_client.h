/* SPDX-License-Identifier: MIT */
/* How a test finds the control functions of the test driver (icd_control.h): header only, so that
 * any test program may include it without linking anything of the driver. */
#ifndef BELFRY_TEST_ICD_CLIENT_H
#define BELFRY_TEST_ICD_CLIENT_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "icd_control.h"

struct belfry_icd_control {
    void *library; /* keeps the driver loaded, and so its counters alive */
    belfry_icd_get_counters_fn *get_counters;
    belfry_icd_reset_counters_fn *reset_counters;
    belfry_icd_violation_name_fn *violation_name;
    belfry_icd_record_start_fn *record_start;
    belfry_icd_record_count_fn *record_count;
    belfry_icd_record_stop_fn *record_stop;
    belfry_icd_set_callback_fn *set_callback;
    belfry_icd_pause_fn *pause;
    belfry_icd_resume_fn *resume;
    belfry_icd_hold_before_signals_fn *hold_before_signals;
    belfry_icd_late_writes_fn *late_writes;
    belfry_icd_watch_commands_fn *watch_commands;
    belfry_icd_held_fn *held;
    belfry_icd_step_fn *step;
    belfry_icd_quiesce_fn *quiesce;
    belfry_icd_sleepers_fn *sleepers;
    belfry_icd_queue_depth_fn *queue_depth;
    belfry_icd_lose_fn *lose;
    belfry_icd_lose_device_fn *lose_device;
    belfry_icd_set_fault_fn *set_fault;
    belfry_icd_fault_calls_fn *fault_calls;
    belfry_icd_set_block_fn *set_block;
    belfry_icd_endless_waits_fn *endless_waits;
    belfry_icd_jump_clock_fn *jump_clock;
    belfry_icd_blocked_fn *blocked;
    belfry_icd_await_blocked_fn *await_blocked;
    belfry_icd_release_fn *release;
    belfry_icd_used_fn *used;
    belfry_icd_live_fn *live;
    belfry_icd_sparse_binds_fn *sparse_binds;
    belfry_icd_priorities_fn *priorities;
};

/* Finds the driver that the loader has loaded for this process; call it after vkCreateInstance.
 * The library is looked for at $BELFRY_TEST_BUILD/lib. Returns false, and leaves *control zeroed,
 * when the process runs on another driver. Release with belfry_icd_control_unload. */
static inline bool belfry_icd_control_load(struct belfry_icd_control *control)
{
    *control = (struct belfry_icd_control){0};
    const char *build = getenv("BELFRY_TEST_BUILD");
    char path[4096];
    snprintf(path, sizeof(path), "%s/lib/libbelfry_test_icd.so", build ? build : ".");
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return false;

    const struct {
        void **target;
        const char *name;
    } symbols[] = {
        {(void **)&control->get_counters, "belfry_icd_get_counters"},
        {(void **)&control->reset_counters, "belfry_icd_reset_counters"},
        {(void **)&control->violation_name, "belfry_icd_violation_name"},
        {(void **)&control->record_start, "belfry_icd_record_start"},
        {(void **)&control->record_count, "belfry_icd_record_count"},
        {(void **)&control->record_stop, "belfry_icd_record_stop"},
        {(void **)&control->set_callback, "belfry_icd_set_callback"},
        {(void **)&control->pause, "belfry_icd_pause"},
        {(void **)&control->resume, "belfry_icd_resume"},
        {(void **)&control->hold_before_signals, "belfry_icd_hold_before_signals"},
        {(void **)&control->late_writes, "belfry_icd_late_writes"},
        {(void **)&control->watch_commands, "belfry_icd_watch_commands"},
        {(void **)&control->held, "belfry_icd_held"},
        {(void **)&control->step, "belfry_icd_step"},
        {(void **)&control->quiesce, "belfry_icd_quiesce"},
        {(void **)&control->sleepers, "belfry_icd_sleepers"},
        {(void **)&control->queue_depth, "belfry_icd_queue_depth"},
        {(void **)&control->lose, "belfry_icd_lose"},
        {(void **)&control->lose_device, "belfry_icd_lose_device"},
        {(void **)&control->set_fault, "belfry_icd_set_fault"},
        {(void **)&control->fault_calls, "belfry_icd_fault_calls"},
        {(void **)&control->set_block, "belfry_icd_set_block"},
        {(void **)&control->endless_waits, "belfry_icd_endless_waits"},
        {(void **)&control->jump_clock, "belfry_icd_jump_clock"},
        {(void **)&control->blocked, "belfry_icd_blocked"},
        {(void **)&control->await_blocked, "belfry_icd_await_blocked"},
        {(void **)&control->release, "belfry_icd_release"},
        {(void **)&control->used, "belfry_icd_used"},
        {(void **)&control->live, "belfry_icd_live"},
        {(void **)&control->sparse_binds, "belfry_icd_sparse_binds"},
        {(void **)&control->priorities, "belfry_icd_priorities"},
    };
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        *symbols[i].target = dlsym(library, symbols[i].name);
        if (!*symbols[i].target) {
            dlclose(library);
            *control = (struct belfry_icd_control){0};
            return false;
        }
    }
    control->library = library;
    return true;
}

/* Safe on a zeroed control. */
static inline void belfry_icd_control_unload(struct belfry_icd_control *control)
{
    if (control->library)
        dlclose(control->library);
    *control = (struct belfry_icd_control){0};
}

#endif
