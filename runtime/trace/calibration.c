/* SPDX-License-Identifier: MIT */
/* Places a device's timestamps on CLOCK_MONOTONIC, by readings of both clocks. */
#include "trace/calibration.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "trace/clock_reading.h"

/* The interval between two readings equals the time for which there have been readings, within
 * these bounds. */
#define INTERVAL_MIN_NS 10000000u
#define INTERVAL_MAX_NS 250000000u

/* The rate is measured over this time: long compared to the error of a reading, short compared to
 * the drift of a clock. */
#define WINDOW_NS 2000000000u
#define POINTS    256

/* The first reading is tried more often, as there is nothing yet to check it against. */
#define TRIES_FIRST 40

/* Readings are never wrong by so much: one of the clocks was set, or stopped. */
#define JUMP_NS UINT64_C(20000000)

/* By how much a clock may deviate from its nominal rate. If it deviates more, beyond the error of
 * the readings, it has been stopped or set. */
#define TOLERANCE    1e-3
#define TOLERANCE_NS 50000.0

/* One instant on both clocks. */
struct point {
    /* extended to 64 bits: the device's counter may wrap around between two readings */
    uint64_t ticks;
    uint64_t ns;
};

struct bf_calibration {
    struct bf_calibration_info info;
    _Atomic uint32_t references;
    uint64_t mask;
    struct bf_lock lock;
    bool reading; /* a thread is reading the clocks */
    _Atomic uint64_t due_ns;
    uint64_t jumped_ns;      /* when a clock was last found to have jumped; 0: never */
    _Atomic uint32_t starts; /* see bf_calibration_starts */
    uint64_t usual_ns;       /* the usual error of a reading on this machine */
    double period_ns;        /* nanoseconds per tick after the last point */
    uint64_t first_ns;
    uint32_t begin;
    uint32_t count; /* at least 1 */
    struct point points[POINTS];
};

static const struct point *point_at(const struct bf_calibration *c, uint32_t i)
{
    return &c->points[(c->begin + i) % POINTS];
}

static const struct point *last_point(const struct bf_calibration *c)
{
    return point_at(c, c->count - 1);
}

static uint64_t on_line(const struct point *from, uint64_t ticks, double period_ns)
{
    int64_t distance = (int64_t)(ticks - from->ticks);
    return from->ns + (uint64_t)(int64_t)((double)distance * period_ns);
}

static double points_slope(const struct point *from, const struct point *to)
{
    return (double)(to->ns - from->ns) / (double)(to->ticks - from->ticks);
}

static void start_anew(struct bf_calibration *c, const struct point *point)
{
    c->begin = 0;
    c->count = 1;
    c->points[0] = *point;
    c->first_ns = point->ns;
    c->period_ns = c->info.period_ns;
    atomic_fetch_add(&c->starts, 1);
}

/* Measures the rate of the last seconds, and uses it if it is plausible. */
static void rate_measure(struct bf_calibration *c)
{
    const struct point *last = last_point(c);
    uint32_t i = 0;
    while (i + 1 < c->count && last->ns - point_at(c, i)->ns > WINDOW_NS)
        i++;
    if (i + 1 >= c->count)
        i = c->count > 1 ? c->count - 2 : 0;
    const struct point *from = point_at(c, i);
    if (from == last)
        return;
    double period = points_slope(from, last);
    double ratio = period / c->info.period_ns;
    if (ratio > 1 - TOLERANCE && ratio < 1 + TOLERANCE)
        c->period_ns = period;
}

/* Adds a reading. The lock is held. False: it was dropped, and another one is wanted soon. */
static bool point_add(struct bf_calibration *c, const struct bf_clock_reading *reading)
{
    struct point point = {reading->ticks, reading->ns};
    const uint64_t bound = reading->bound_ns;
    const struct point *last = last_point(c);
    int64_t elapsed = (int64_t)(point.ns - last->ns);
    uint64_t ahead = last->ticks + (uint64_t)(int64_t)((double)elapsed / c->period_ns);
    uint64_t from = ahead - c->mask / 2;
    point.ticks = from + ((point.ticks - from) & c->mask);
    uint64_t predicted = on_line(last, point.ticks, c->period_ns);
    uint64_t off = predicted > point.ns ? predicted - point.ns : point.ns - predicted;
    if (off > JUMP_NS)
        c->jumped_ns = point.ns;
    if (elapsed <= 0 || (int64_t)(point.ticks - last->ticks) <= 0) {
        if (elapsed > 0)
            start_anew(c, &point); /* the device's clock was set back */
        return true;
    }
    if ((double)off > TOLERANCE * (double)elapsed + TOLERANCE_NS + (double)bound) {
        start_anew(c, &point);
        return true;
    }
    /* If the difference may be the error of this reading, and that is larger than is usual on this
     * machine, the existing line is better. */
    bool doubtful = bound > BF_CLOCK_READING_DOUBT_NS && bound > 2 * c->usual_ns;
    c->usual_ns = bound < c->usual_ns ? bound : c->usual_ns + c->usual_ns / 16 + 1;
    if (doubtful && off <= bound)
        return false;
    if (c->count == POINTS) {
        c->begin = (c->begin + 1) % POINTS;
        c->count--;
    }
    c->points[(c->begin + c->count++) % POINTS] = point;
    rate_measure(c);
    return true;
}

static uint64_t reading_interval(const struct bf_calibration *c, uint64_t now)
{
    uint64_t age = now - c->first_ns;
    return age < INTERVAL_MIN_NS ? INTERVAL_MIN_NS : age > INTERVAL_MAX_NS ? INTERVAL_MAX_NS : age;
}

/* --- Interface --------------------------------------------------------------------------------*/

struct bf_calibration *bf_calibration_create(const struct bf_calibration_info *info)
{
    struct bf_calibration *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->info = *info;
    c->references = 1;
    c->mask = info->valid_bits >= 64 ? UINT64_MAX : (1ull << info->valid_bits) - 1;
    struct bf_clock_reading first;
    if (bf_clock_reading_take(info->device, info->get, TRIES_FIRST, &first) != VK_SUCCESS) {
        free(c);
        return NULL;
    }
    start_anew(c, &(struct point){first.ticks, first.ns});
    c->usual_ns = first.bound_ns;
    c->due_ns = first.ns + INTERVAL_MIN_NS;
    return c;
}

struct bf_calibration *bf_calibration_reference(struct bf_calibration *c)
{
    atomic_fetch_add(&c->references, 1);
    return c;
}

void bf_calibration_release(struct bf_calibration *c)
{
    if (c && atomic_fetch_sub(&c->references, 1) == 1)
        free(c);
}

uint32_t bf_calibration_bits(const struct bf_calibration *c)
{
    return c->info.valid_bits;
}

uint32_t bf_calibration_starts(const struct bf_calibration *c)
{
    return atomic_load(&c->starts);
}

void bf_calibration_update(struct bf_calibration *c)
{
    if (bf_now_ns() < atomic_load_explicit(&c->due_ns, memory_order_relaxed))
        return;
    bf_lock_acquire(&c->lock);
    bool mine = !c->reading;
    c->reading = true;
    bf_lock_release(&c->lock);
    if (!mine)
        return;
    struct bf_clock_reading taken;
    bool good = bf_clock_reading_take(c->info.device, c->info.get, BF_CLOCK_READING_TRIES,
                                      &taken) == VK_SUCCESS;
    uint64_t now = bf_now_ns();
    bf_lock_acquire(&c->lock);
    good = good && point_add(c, &taken); /* else the last point is used a while longer */
    c->reading = false;
    atomic_store_explicit(&c->due_ns, now + (good ? reading_interval(c, now) : INTERVAL_MIN_NS),
                          memory_order_relaxed);
    bf_lock_release(&c->lock);
}

bool bf_calibration_lasts(struct bf_calibration *c, uint64_t since_ns)
{
    bf_lock_acquire(&c->lock);
    bool lasts = !c->jumped_ns || (int64_t)(since_ns - c->jumped_ns) >= 0;
    bf_lock_release(&c->lock);
    return lasts;
}

void bf_calibration_doubt(struct bf_calibration *c)
{
    atomic_store_explicit(&c->due_ns, 0, memory_order_relaxed);
}

uint64_t bf_calibration_extend(struct bf_calibration *c, uint64_t raw, uint64_t expected_ns)
{
    bf_lock_acquire(&c->lock);
    const struct point *last = last_point(c);
    int64_t distance = (int64_t)(expected_ns - last->ns);
    uint64_t expected = last->ticks + (uint64_t)(int64_t)((double)distance / c->period_ns);
    bf_lock_release(&c->lock);
    uint64_t from = expected - c->mask / 16;
    return from + ((raw - from) & c->mask);
}

uint64_t bf_calibration_place(struct bf_calibration *c, uint64_t ticks)
{
    bf_lock_acquire(&c->lock);
    uint32_t i = c->count - 1;
    while (i > 0 && (int64_t)(ticks - point_at(c, i)->ticks) < 0)
        i--;
    const struct point *from = point_at(c, i);
    double period_ns = i + 1 < c->count ? points_slope(from, point_at(c, i + 1)) : c->period_ns;
    uint64_t ns = on_line(from, ticks, period_ns);
    bf_lock_release(&c->lock);
    return ns;
}
