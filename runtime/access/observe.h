/* SPDX-License-Identifier: MIT */
/* The check as an observer of a device (scheduler/observer.h), for those who create devices: they
 * create the check first, pass its observer to bf_device_create, and destroy the check after the
 * device. */
#ifndef BELFRY_ACCESS_OBSERVE_H
#define BELFRY_ACCESS_OBSERVE_H

#include "access/access.h"
#include "scheduler/observer.h"

/* The observer of a check; NULL for NULL. */
struct bf_observer *bf_access_observer(struct bf_access *access);

/* The check of an observer; NULL: it is no check's. */
struct bf_access *bf_access_of_observer(struct bf_observer *observer);

#endif
