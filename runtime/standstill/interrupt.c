/* SPDX-License-Identifier: MIT */
/* Signals that end a program, and its exit. */
#include "standstill/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/library.h"
#include "base/lock.h"
#include "scheduler/watch.h"
#include "standstill/standstill.h"
#include "trace/output.h"

#define DEVICES    16  /* further ones are not reported */
#define HANDLER_MS 200 /* IT-2 */

static const int numbers[] = {SIGINT, SIGTERM};

static struct bf_lock list_lock; /* over the list, and over telling of those in it */
static struct {
    struct bf_standstill *standstill;
    struct bf_device_watch *_Atomic watch; /* for the handler */
} list[DEVICES];
static _Atomic pid_t owner;       /* the process that has the watchdogs */
static _Atomic uint32_t handling; /* threads that are in the handler */
static _Atomic int pending;       /* the signal that has come; 0: none */
static _Atomic bool told;         /* of it: it has its default action again */
static bool installed[2];         /* of 'numbers'; the list's lock is held */

static void interrupt_handle(int number)
{
    int before = errno;
    bool rung = false;
    atomic_fetch_add(&handling, 1);
    if (getpid() == atomic_load(&owner) && !atomic_exchange(&pending, number)) {
        for (int i = 0; i < DEVICES && !rung; i++) {
            struct bf_device_watch *watch = atomic_load(&list[i].watch);
            rung = watch != NULL;
            if (rung)
                bf_watch_ring(watch);
        }
    }
    atomic_fetch_sub(&handling, 1);
    if (!rung) { /* IT-3 */
        signal(number, SIG_DFL);
        raise(number);
    }
    const struct timespec slice = {.tv_nsec = 1000000};
    for (int i = 0; rung && i < HANDLER_MS && !atomic_load(&told); i++)
        nanosleep(&slice, NULL);
    if (rung && atomic_load(&told)) { /* the signal is blocked in its handler */
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        raise(number);
    }
    errno = before;
}

static void handlers_install(void)
{
    for (int i = 0; i < 2; i++) {
        struct sigaction action;
        if (installed[i] || sigaction(numbers[i], NULL, &action) != 0 ||
            (action.sa_flags & SA_SIGINFO) || action.sa_handler != SIG_DFL)
            continue;
        /* The program may have kept the handler's address, to restore it when the library has been
         * unloaded. */
        bf_library_stay((uintptr_t)interrupt_handle);
        action = (struct sigaction){.sa_handler = interrupt_handle, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        installed[i] = sigaction(numbers[i], &action, NULL) == 0;
    }
}

static void handlers_remove(void)
{
    for (int i = 0; i < 2; i++) {
        struct sigaction action;
        if (installed[i] && sigaction(numbers[i], NULL, &action) == 0 &&
            !(action.sa_flags & SA_SIGINFO) && action.sa_handler == interrupt_handle)
            signal(numbers[i], SIG_DFL);
        installed[i] = false;
    }
}

void bf_interrupt_add(struct bf_standstill *standstill, bool signals)
{
    bf_lock_acquire(&list_lock);
    int i = 0;
    while (i < DEVICES && list[i].standstill)
        i++;
    if (i < DEVICES) {
        atomic_store(&owner, getpid());
        list[i].standstill = standstill;
        if (signals) {
            atomic_store(&list[i].watch, bf_standstill_watch(standstill));
            handlers_install();
        }
    }
    bf_lock_release(&list_lock);
}

void bf_interrupt_remove(struct bf_standstill *standstill)
{
    bool any = false;
    bf_lock_acquire(&list_lock);
    for (int i = 0; i < DEVICES; i++) {
        if (list[i].standstill == standstill) {
            list[i].standstill = NULL;
            atomic_store(&list[i].watch, NULL);
        }
        any = any || atomic_load(&list[i].watch);
    }
    if (!any)
        handlers_remove();
    bf_lock_release(&list_lock);
    while (atomic_load(&handling)) /* it may have the watch */
        sched_yield();
}

static void list_tell(void)
{
    for (int i = 0; i < DEVICES; i++) {
        if (list[i].standstill)
            bf_standstill_report_at_exit(list[i].standstill);
    }
}

void bf_interrupt_check(void)
{
    static _Atomic bool begun;
    int number = atomic_load(&pending);
    if (!number)
        return;
    if (!atomic_exchange(&begun, true)) {
        bf_outputs_tell();
        bf_lock_acquire(&list_lock);
        list_tell();
        bf_outputs_end();
        bf_lock_release(&list_lock);
        signal(number, SIG_DFL);
        atomic_store(&told, true);
        kill(getpid(), number);
    }
    while (atomic_load(&owner) == getpid()) /* until it takes effect, in another thread */
        pause();
}

/* The program exits, or unloads the library. */
__attribute__((destructor)) static void interrupt_end(void)
{
    if (getpid() != atomic_load(&owner) || !bf_lock_try_briefly(&list_lock))
        return;
    list_tell();
    bf_lock_release(&list_lock);
}
