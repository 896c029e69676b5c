/* SPDX-License-Identifier: MIT */
/* The headers of C's library and of POSIX that most tests use. */
#ifndef BELFRY_TESTS_SUPPORT_STD_H
#define BELFRY_TESTS_SUPPORT_STD_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#endif
