/* SPDX-License-Identifier: MIT */
/* Sets the scheduling class of the pool's threads. */
#include "background/idle.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/message.h"

/* linux/ioprio.h */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE  3
#define IOPRIO_CLASS_SHIFT 13

void bf_thread_make_idle(void)
{
    const struct sched_param none = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &none)) {
        int error = errno;
        /* On Linux this sets the nice value of this thread alone. */
        bool lowest = !setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
        bf_message(BF_MESSAGE_WARNING,
                   "background threads can't be SCHED_IDLE (error %d): they are %s", error,
                   lowest ? "of nice value 19" : "normal ones");
    }
    /* If this fails, background items merely compete for the disk like any other thread. */
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT);
}

void bf_thread_make_normal(void)
{
    const struct sched_param none = {0};
    int policy = sched_getscheduler(0);
    if (policy == SCHED_FIFO || policy == SCHED_RR)
        sched_setscheduler(0, SCHED_OTHER, &none);
}
