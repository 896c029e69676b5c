/* SPDX-License-Identifier: MIT */
/*
 * The functions of libbelfry that the layer calls, also for the specialiser in it: one table, with
 * a section for each folder, whose interface.h lists the folder's functions.
 *
 * libbelfry.so exports the functions for programs, and bf_layer_interface, the only one that the
 * layer imports, and weakly. The layer copies the table when the loader first calls it, and has a
 * function of the same name for each entry (layer/library.c), so that calls read the same on both
 * sides. A library that lacks the function, or is of another version, isn't used: the layer passes
 * everything through, and says so in one line.
 *
 *  LI-1  A layer uses a library of its own build only. The version is computed from the library's
 *        headers (cmake/number_of_sources.cmake), so the structs that cross the boundary, and the
 *        inline functions that read them, are the same on both sides.
 *  LI-2  State that a process has once (the level of messages, the settings in force, the registry
 *        of devices, handles of the C API) is the library's: the layer has no copy of the code that
 *        keeps it.
 *
 * Proven by tests/layer/library.c (LI-1) and tests/interface (LI-2: nothing else is imported).
 */
#ifndef BELFRY_INTERFACE_INTERFACE_H
#define BELFRY_INTERFACE_INTERFACE_H

#include "belfry/belfry.h"
#include "access/interface.h"
#include "background/interface.h"
#include "base/interface.h"
#include "device/interface.h"
#include "fence/interface.h"
#include "gpu/interface.h"
#include "queue/interface.h"
#include "scheduler/interface.h"
#include "settings/interface.h"
#include "standstill/interface.h"
#include "trace/interface.h"

/* A list's row as a member, named as the function is. */
#define BF_INTERFACE_MEMBER(type, name, parameters, arguments) type(*name) parameters;

struct bf_layer_interface {
    struct {
        BF_BASE_INTERFACE(BF_INTERFACE_MEMBER)
    } base;
    struct {
        BF_SETTINGS_INTERFACE(BF_INTERFACE_MEMBER)
    } settings;
    struct {
        BF_TRACE_INTERFACE(BF_INTERFACE_MEMBER)
    } trace;
    struct {
        BF_GPU_INTERFACE(BF_INTERFACE_MEMBER)
    } gpu;
    struct {
        BF_SCHEDULER_INTERFACE(BF_INTERFACE_MEMBER)
    } scheduler;
    struct {
        BF_FENCE_INTERFACE(BF_INTERFACE_MEMBER)
    } fence;
    struct {
        BF_QUEUE_INTERFACE(BF_INTERFACE_MEMBER)
    } queue;
    struct {
        BF_BACKGROUND_INTERFACE(BF_INTERFACE_MEMBER)
    } background;
    struct {
        BF_ACCESS_INTERFACE(BF_INTERFACE_MEMBER)
    } access;
    struct {
        BF_STANDSTILL_INTERFACE(BF_INTERFACE_MEMBER)
    } standstill;
    struct {
        BF_DEVICE_INTERFACE(BF_INTERFACE_MEMBER)
    } device;
};

/* NULL unless 'version' is BF_LAYER_INTERFACE_VERSION (interface/version.h). Thread-safety:
 * safe. */
BF_API const struct bf_layer_interface *bf_layer_interface(uint32_t version);

#endif
