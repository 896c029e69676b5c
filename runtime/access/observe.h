/*
 * The check as an observer of a device (scheduler/observer.h). It is for whoever creates devices:
 * the check is created first, its observer passed to bf_device_create, and the check destroyed
 * after the device.
 */
#ifndef BELFRY_ACCESS_OBSERVE_H
#define BELFRY_ACCESS_OBSERVE_H

#include "access/access.h"
#include "scheduler/observer.h"

/* NULL for NULL. */
BF_SHARED struct bf_observer *bf_access_observer(struct bf_access *access);

/* NULL: it is none of a check's. */
struct bf_access *bf_access_of_observer(struct bf_observer *observer);

#endif
