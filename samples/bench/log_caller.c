/* SPDX-License-Identifier: MIT */
/* Measures what logs, a watchdog and TDR cost a thread that submits. */
#include "log_caller.h"

#include "calls.h"
#include "logged.h"

static VkResult make(void *context, double *nanoseconds)
{
    return logged_submit(context, nanoseconds);
}

static bool finish(void *context, struct bench_found *found)
{
    return logged_finish(context, found);
}

static void compare(const struct logged_options *plain, const struct logged_options *belfry,
                    struct bench_found *found)
{
    struct logged sides[2] = {0};
    if (logged_open(&sides[0], plain, NULL, found) && logged_open(&sides[1], belfry, NULL, found)) {
        const struct calls calls[2] = {{&sides[0], make, finish}, {&sides[1], make, finish}};
        calls_compare(&calls[0], &calls[1], found);
    }
    logged_close(&sides[1]);
    logged_close(&sides[0]);
}

static void compare_off(enum logged_queue queue, struct bench_found *found)
{
    const struct logged_options off = {.queue = queue, .log = "off", .native_off = true};
    const struct logged_options on = {.queue = queue};
    compare(&off, &on, found);
}

/* A VkQueue's logged submission needs an entry, and an epoch that it wouldn't need otherwise. A
 * BfCommandQueue's execution has an epoch anyway; its end is stamped, and its signal gets an entry.
 * */
static void compare_on(enum logged_queue queue, struct bench_found *found)
{
    const bool layered = queue == LOGGED_LAYERED;
    const struct logged_options none = {.queue = queue}, read = {.queue = queue, .read = true};
    const struct logged_options plain = {.queue = LOGGED_PLAIN};
    const struct logged_options more = {
        .queue = LOGGED_PLAIN, .extra = layered ? 1 : 2, .second = layered, .as_log = true};
    struct bench_found driver = {0};
    compare(&none, &read, found);
    if (!found->reason[0])
        compare(&plain, &more, &driver);
    if (driver.reason[0])
        bench_found_nothing(found, "%s", driver.reason);
    for (uint32_t i = 0; i < found->count; ++i)
        found->plain[i] += driver.belfry[i] - driver.plain[i];
}

void log_caller_off_vk(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_off(LOGGED_LAYERED, found);
}

void log_caller_off_bf(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_off(LOGGED_FENCE, found);
}

void log_caller_on_vk(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_on(LOGGED_LAYERED, found);
}

void log_caller_on_fence(const struct bench_options *options, enum bench_side side,
                         struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_on(LOGGED_FENCE, found);
}

void log_caller_on_native(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_on(LOGGED_NATIVE, found);
}

static void compare_settings(enum logged_queue queue, const char *variable, const char *off,
                             const char *on, struct bench_found *found)
{
    const struct logged_options without = {.queue = queue, .variable = variable, .value = off};
    const struct logged_options with = {.queue = queue, .variable = variable, .value = on};
    compare(&without, &with, found);
}

void watchdog_caller(const struct bench_options *options, enum bench_side side,
                     struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_settings(LOGGED_LAYERED, "VK_BELFRY_MULTI_ENGINE_WATCHDOG", "0", "60000", found);
}

void tdr_caller(const struct bench_options *options, enum bench_side side,
                struct bench_found *found)
{
    (void)options;
    (void)side;
    compare_settings(LOGGED_FENCE, "VK_BELFRY_MULTI_ENGINE_TDR_LEVEL", "0", "3", found);
}
