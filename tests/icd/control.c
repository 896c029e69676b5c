/* SPDX-License-Identifier: MIT */
/* The process-wide part of the driver: its lock, counters, recorder, pause, and the functions that
 * programs under test find by dlsym. */
#include "icd.h"

#include <sys/syscall.h>
#include <time.h>

struct icd_world icd_world = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .host = PTHREAD_COND_INITIALIZER,
                              .quiet = PTHREAD_COND_INITIALIZER};

#define MAX_REMEMBERED_BINDS 4096
#define MAX_TEXTS            512
#define MAX_TEXT             64

static struct {
    _Atomic uint64_t violations[BELFRY_ICD_VIOLATION_COUNT];
    _Atomic uint64_t counts[ICD_COUNTER_COUNT];
    _Atomic uint64_t sequence;
    /* Nonzero when a recorder or a callback is there; lets free mode skip the lock. */
    _Atomic bool listening;
    /* locked from here */
    struct belfry_icd_counters gone; /* of queues that are no more */
    struct belfry_icd_record *records;
    size_t capacity, seen;
    belfry_icd_callback callback;
    void *user;
    struct belfry_icd_sparse_bind binds[MAX_REMEMBERED_BINDS];
    size_t n_binds;
    char texts[MAX_TEXTS][MAX_TEXT];
    size_t n_texts;
} control;

uint64_t icd_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t icd_deadline(uint64_t timeout)
{
    uint64_t now = icd_now();
    return timeout > UINT64_MAX - now ? UINT64_MAX : now + timeout;
}

uint64_t icd_ticks(const struct icd_config *config, uint64_t now)
{
    /* Nor does one device count from where another does. */
    const uint64_t zero = (UINT64_C(0xbe1f) + config->ordinal * UINT64_C(0x111)) << 36;
    const struct icd_shape *shape = &config->shape;
    /* A clock that is set back by more than the machine has been up isn't below 0. */
    now += (UINT64_C(1) << 56) + (uint64_t)icd_world.clock_jump;
    return zero + now / shape->per_ns * shape->ticks +
           now % shape->per_ns * shape->ticks / shape->per_ns;
}

bool icd_host_sleep(uint64_t deadline)
{
    bool in_time = true;
    icd_world.sleepers++;
    /* Half the range is centuries: no need for a clock then, and no overflow of time_t. */
    if (deadline > INT64_MAX) {
        pthread_cond_wait(&icd_world.host, &icd_world.lock);
    } else {
        struct timespec t = {.tv_sec = (time_t)(deadline / 1000000000u),
                             .tv_nsec = (long)(deadline % 1000000000u)};
        in_time = pthread_cond_clockwait(&icd_world.host, &icd_world.lock, CLOCK_MONOTONIC, &t) !=
                  ETIMEDOUT;
    }
    icd_world.sleepers--;
    return in_time;
}

static const char *const violation_names[BELFRY_ICD_VIOLATION_COUNT] = {
    [BELFRY_ICD_WAIT_BEFORE_SIGNAL] = "wait before signal",
    [BELFRY_ICD_QUEUE_RACE] = "queue race",
    [BELFRY_ICD_EMPTY_INFO] = "empty info",
    [BELFRY_ICD_BINARY_RESIGNAL] = "binary resignal",
    [BELFRY_ICD_FENCE_BUSY] = "fence busy",
    [BELFRY_ICD_TIMELINE_NOT_INCREASING] = "timeline not increasing",
    [BELFRY_ICD_LATE_WAIT] = "late wait",
    [BELFRY_ICD_TIMELINE_FAR] = "timeline far",
    [BELFRY_ICD_BINARY_VALUE] = "binary value",
    [BELFRY_ICD_LEAK] = "leak",
    [BELFRY_ICD_DESTROY_PENDING] = "destroy pending",
    [BELFRY_ICD_COMMAND_BUFFER_STATE] = "command buffer state",
    [BELFRY_ICD_UNKNOWN_FAMILY] = "unknown family",
    [BELFRY_ICD_LABEL_UNBALANCED] = "label unbalanced",
    [BELFRY_ICD_COMMAND_FAMILY] = "command family",
    [BELFRY_ICD_TIMESTAMP_FAMILY] = "timestamp family",
    [BELFRY_ICD_POOL_FAMILY] = "pool family",
    [BELFRY_ICD_OUT_OF_RANGE] = "out of range",
    [BELFRY_ICD_BUFFER_USAGE] = "buffer usage",
    [BELFRY_ICD_QUERY_UNRESET] = "query unreset",
    [BELFRY_ICD_QUERY_PENDING] = "query pending",
    [BELFRY_ICD_MEMORY_MISMATCH] = "memory mismatch",
    [BELFRY_ICD_FOREIGN_OBJECT] = "foreign object",
    [BELFRY_ICD_MAPPING] = "mapping",
    [BELFRY_ICD_PROTECTION] = "protection",
};

void icd_violation(enum belfry_icd_violation kind, const char *format, ...)
{
    control.violations[kind]++;
    if (!icd_world.quiet_violations || icd_world.abort_on_violation) {
        char line[512];
        int n = snprintf(line, sizeof(line), "belfry test driver: %s: ", violation_names[kind]);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line + n, sizeof(line) - (size_t)n, format, arguments);
        va_end(arguments);
        fprintf(stderr, "%s\n", line);
    }
    if (icd_world.abort_on_violation)
        abort();
}

void icd_count(enum icd_counter counter, uint64_t n)
{
    atomic_fetch_add_explicit(&control.counts[counter], n, memory_order_relaxed);
}

void icd_record(struct belfry_icd_record *record)
{
    record->sequence = atomic_fetch_add_explicit(&control.sequence, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&control.listening, memory_order_relaxed))
        return;
    record->thread = (uint64_t)syscall(SYS_gettid);
    if (control.records) {
        if (control.seen < control.capacity)
            control.records[control.seen] = *record;
        control.seen++;
    }
    if (control.callback)
        control.callback(record, control.user);
}

void icd_record_free(struct belfry_icd_record *record)
{
    if (!atomic_load_explicit(&control.listening, memory_order_relaxed))
        return;
    icd_lock();
    icd_record(record);
    icd_unlock();
}

const char *icd_text(const char *text)
{
    char cut[MAX_TEXT];
    snprintf(cut, sizeof(cut), "%s", text);
    const char *found = "-";
    icd_lock();
    size_t i = 0;
    while (i < control.n_texts && strcmp(control.texts[i], cut) != 0)
        i++;
    if (i == control.n_texts && i < MAX_TEXTS)
        memcpy(control.texts[control.n_texts++], cut, sizeof(cut));
    if (i < control.n_texts)
        found = control.texts[i];
    icd_unlock();
    return found;
}

void icd_remember_bind(const struct belfry_icd_sparse_bind *bind)
{
    if (control.n_binds < MAX_REMEMBERED_BINDS)
        control.binds[control.n_binds++] = *bind;
}

static void counts_add(struct belfry_icd_counters *to, const struct icd_queue *queue)
{
    to->submit_calls += queue->counts.submit_calls;
    to->submit_infos += queue->counts.submit_infos;
    to->infos_without_command_buffer += queue->counts.infos_without_command_buffer;
    to->empty_calls += queue->counts.empty_calls;
    to->fence_only_calls += queue->counts.fence_only_calls;
    to->waits += queue->counts.waits;
    to->signals += queue->counts.signals;
    to->command_buffers += queue->counts.command_buffers;
    to->query_transfers += queue->counts.query_transfers;
    to->bind_sparse_calls += queue->counts.bind_sparse_calls;
    to->presents += queue->counts.presents;
    to->queue_wait_idles += queue->counts.wait_idles;
    to->wakeups += queue->counts.wakeups;
}

void icd_keep_counts(const struct icd_queue *queue)
{
    counts_add(&control.gone, queue);
}

/* Exported ---------------------------------------------------------------------------------- */

static void counters_total(struct belfry_icd_counters *counters)
{
    *counters = control.gone;
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        for (uint32_t i = 0; i < device->n_queues; i++)
            counts_add(counters, &device->queues[i]);
    counters->device_wait_idles = control.counts[ICD_COUNT_DEVICE_WAIT_IDLE];
    counters->flushes = control.counts[ICD_COUNT_FLUSH];
    counters->invalidates = control.counts[ICD_COUNT_INVALIDATE];
    counters->oom_points = control.counts[ICD_COUNT_OOM_POINT];
    for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++)
        counters->violations[i] = control.violations[i];
}

void belfry_icd_get_counters(struct belfry_icd_counters *counters)
{
    icd_lock();
    counters_total(counters);
    icd_unlock();
}

void belfry_icd_reset_counters(void)
{
    icd_lock();
    /* The queues' own counts have one writer each, and it isn't this thread: they are not
     * zeroed but subtracted, which unsigned arithmetic makes come out right. */
    struct belfry_icd_counters total;
    counters_total(&total);
    control.gone.submit_calls -= total.submit_calls;
    control.gone.submit_infos -= total.submit_infos;
    control.gone.infos_without_command_buffer -= total.infos_without_command_buffer;
    control.gone.empty_calls -= total.empty_calls;
    control.gone.fence_only_calls -= total.fence_only_calls;
    control.gone.waits -= total.waits;
    control.gone.signals -= total.signals;
    control.gone.command_buffers -= total.command_buffers;
    control.gone.query_transfers -= total.query_transfers;
    control.gone.bind_sparse_calls -= total.bind_sparse_calls;
    control.gone.presents -= total.presents;
    control.gone.queue_wait_idles -= total.queue_wait_idles;
    control.gone.wakeups -= total.wakeups;
    for (int i = 0; i < ICD_COUNTER_COUNT; i++)
        control.counts[i] = 0;
    for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++)
        control.violations[i] = 0;
    control.n_binds = 0;
    icd_unlock();
}

const char *belfry_icd_violation_name(enum belfry_icd_violation kind)
{
    return (unsigned)kind < BELFRY_ICD_VIOLATION_COUNT ? violation_names[kind] : "unknown";
}

void belfry_icd_record_start(struct belfry_icd_record *records, size_t capacity)
{
    icd_lock();
    control.records = records;
    control.capacity = capacity;
    control.seen = 0;
    control.listening = true;
    icd_unlock();
}

size_t belfry_icd_record_count(void)
{
    icd_lock();
    size_t seen = control.seen;
    icd_unlock();
    return seen;
}

size_t belfry_icd_record_stop(void)
{
    icd_lock();
    size_t seen = control.seen;
    control.records = NULL;
    control.capacity = 0;
    control.listening = control.callback != NULL;
    icd_unlock();
    return seen;
}

void belfry_icd_set_callback(belfry_icd_callback callback, void *user)
{
    icd_lock();
    control.callback = callback;
    control.user = user;
    control.listening = control.callback || control.records;
    icd_unlock();
}

void belfry_icd_pause(void)
{
    icd_lock();
    icd_world.paused = true;
    icd_unlock();
}

void belfry_icd_resume(void)
{
    icd_lock();
    icd_world.paused = false;
    for (struct icd_device *device = icd_world.devices; device; device = device->next) {
        for (uint32_t i = 0; i < device->n_queues; i++) {
            device->queues[i].step = false;
            icd_queue_continue(&device->queues[i]);
        }
    }
    icd_free_pump();
    icd_unlock();
}

/* Locked. */
static void queue_release(struct icd_queue *queue)
{
    queue->held = false;
    icd_queue_run(queue);
}

void belfry_icd_hold_before_signals(bool hold)
{
    icd_lock();
    icd_world.holding = hold;
    for (struct icd_device *device = icd_world.devices; device && !hold; device = device->next)
        for (uint32_t i = 0; i < device->n_queues; i++)
            if (device->queues[i].held)
                queue_release(&device->queues[i]);
    icd_unlock();
}

void belfry_icd_late_writes(bool late)
{
    icd_late_writes(late);
}

uint32_t belfry_icd_held(void)
{
    uint32_t held = 0;
    icd_lock();
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        for (uint32_t i = 0; i < device->n_queues; i++)
            held += device->queues[i].held;
    icd_unlock();
    return held;
}

/* Locked. */
static bool queue_step(struct icd_queue *queue)
{
    if (queue->held) {
        queue_release(queue);
        return true;
    }
    if (!icd_world.paused || !queue->head || queue->step)
        return false;
    queue->step = true;
    icd_queue_continue(queue);
    return true;
}

bool belfry_icd_step(uint32_t family, uint32_t index)
{
    bool stepped = false;
    icd_lock();
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        for (uint32_t i = 0; i < device->n_queues; i++)
            if (device->queues[i].family == family && device->queues[i].index == index &&
                !device->config->free_submit)
                stepped |= queue_step(&device->queues[i]);
    icd_unlock();
    return stepped;
}

void belfry_icd_quiesce(void)
{
    icd_lock();
    while (icd_world.busy)
        pthread_cond_wait(&icd_world.quiet, &icd_world.lock);
    icd_unlock();
}

void belfry_icd_endless_waits(bool endless)
{
    icd_world.endless_waits = endless;
}

void belfry_icd_jump_clock(int64_t ns)
{
    icd_world.clock_jump += ns;
}

uint32_t belfry_icd_sleepers(void)
{
    icd_lock();
    uint32_t sleepers = icd_world.sleepers;
    icd_unlock();
    return sleepers;
}

uint64_t belfry_icd_queue_depth(uint32_t family, uint32_t index)
{
    uint64_t depth = 0;
    icd_lock();
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        for (uint32_t i = 0; i < device->n_queues; i++)
            if (device->queues[i].family == family && device->queues[i].index == index)
                depth += device->queues[i].accepted - device->queues[i].finished;
    icd_unlock();
    return depth;
}

void belfry_icd_lose_device(uint32_t ordinal)
{
    icd_lock();
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        if (device->config->ordinal == ordinal)
            icd_device_lose(device);
    icd_unlock();
}

void belfry_icd_lose(void)
{
    icd_lock();
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        icd_device_lose(device);
    icd_unlock();
}

size_t belfry_icd_sparse_binds(struct belfry_icd_sparse_bind *binds, size_t capacity)
{
    icd_lock();
    size_t n = control.n_binds;
    for (size_t i = 0; i < n && i < capacity; i++)
        binds[i] = control.binds[i];
    icd_unlock();
    return n;
}

bool belfry_icd_priorities(uint32_t family, uint32_t index, uint32_t *global, float *priority)
{
    bool found = false;
    icd_lock();
    const struct icd_device *device = icd_world.devices;
    for (uint32_t i = 0; device && i < device->n_queues; i++) {
        const struct icd_queue *queue = &device->queues[i];
        if (queue->family != family || queue->index != index || (found && queue->flags))
            continue;
        *global = (uint32_t)queue->global_priority;
        *priority = queue->priority;
        found = true;
    }
    icd_unlock();
    return found;
}
