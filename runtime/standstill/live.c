/* SPDX-License-Identifier: MIT */
/* Writes the live page: engines, queues, fences and causes of this moment, as plain values. */
#include "standstill/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/sealed_memory.h"
#include "scheduler/fence.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"
#include "standstill/names.h"
#include "standstill/snapshot.h"
#include "standstill/standstill.h"
#include "standstill/text.h"

/* Fences that are compared with what they were; further ones count as not moved. */
#define COMPARED 1024

struct known {
    uint64_t key, value;
};

struct bf_live {
    int fd;
    dev_t device; /* of the memory: the program may have closed the descriptor */
    ino_t inode;
    struct bf_live_page *page;
    bool closed; /* LP-3 */
    struct bf_device_watch *watch;
    uint32_t answered;
    uint64_t turn;
    uint64_t woken_since_ns; /* LP-3 */
    uint32_t woken;
    /* NULL until somebody asks. */
    struct bf_live_view *view;
    struct known *known; /* fences at the last answer, by their keys; then room for as many */
    uint32_t known_count;
};

struct bf_live *bf_live_create(struct bf_device_watch *watch)
{
    struct bf_live *live = calloc(1, sizeof(*live));
    struct stat info;
    void *page = MAP_FAILED;
    if (!live)
        goto fail;
    if (bf_sealed_memory_create(BF_LIVE_MEMORY, BF_LIVE_SIZE, &live->fd) != VK_SUCCESS)
        goto fail_memory;
    page = mmap(NULL, BF_LIVE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd, 0);
    if (page == MAP_FAILED || fstat(live->fd, &info) == -1)
        goto fail_page;
    live->device = info.st_dev;
    live->inode = info.st_ino;
    live->page = page;
    live->watch = watch;
    atomic_store(&live->page->process, (uint64_t)getpid());
    atomic_store(&live->page->version, BF_LIVE_VERSION);
    atomic_store(&live->page->magic, BF_LIVE_MAGIC);
    atomic_store(&watch->bell, &live->page->bell);
    return live;

fail_page:
    if (page != MAP_FAILED)
        munmap(page, BF_LIVE_SIZE);
    close(live->fd);
fail_memory:
    free(live);
fail:
    bf_message(BF_MESSAGE_INFO, "watchdog: no memory for its page: 'belfry top' sees nothing");
    return NULL;
}

static void live_close(struct bf_live *live)
{
    struct stat info;
    if (live->closed)
        return;
    live->closed = true;
    /* Who has yet to ring the page's word has counted that ring in 'rung' before this. */
    atomic_store(&live->watch->bell, &live->watch->own_bell);
    if (fstat(live->fd, &info) == 0 && info.st_dev == live->device && info.st_ino == live->inode)
        close(live->fd);
}

void bf_live_destroy(struct bf_live *live)
{
    if (!live)
        return;
    live_close(live);
    munmap(live->page, BF_LIVE_SIZE);
    free(live->known);
    free(live->view);
    free(live);
}

bool bf_live_is_asked(const struct bf_live *live)
{
    return live && !live->closed && atomic_load(&live->page->asked) != live->answered;
}

void bf_live_woken(struct bf_live *live)
{
    if (!live || live->closed)
        return;
    uint64_t now = bf_now_ns();
    if (now - live->woken_since_ns > UINT64_C(1000000000)) {
        live->woken_since_ns = now;
        live->woken = 0;
    }
    if (++live->woken <= BF_LIVE_WAKES)
        return;
    live_close(live);
    bf_message(BF_MESSAGE_WARNING,
               "watchdog: its page is written to more than %d times a second, so it is closed: "
               "'belfry top' sees nothing of this device from here on",
               BF_LIVE_WAKES);
}

/* Cuts what doesn't fit. */
static void live_text_copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length >= size)
        length = size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

static void engines_fill(struct bf_live_view *v, struct bf_scheduler *scheduler,
                         const struct bf_standstill_engine *engines, const struct bf_graph *graph)
{
    char text[BF_CASE_TEXT];
    v->engines_all = graph->engine_count - 1; /* the last is no engine */
    for (uint32_t i = 0; i < v->engines_all && i < BF_LIVE_ENGINES; i++) {
        const struct bf_graph_engine *from = &graph->engines[i];
        struct bf_live_engine *to = &v->engines[v->engine_count++];
        live_text_copy(to->name, sizeof(to->name), from->name);
        bf_submission_write(from, text);
        live_text_copy(to->work, sizeof(to->work), text);
        bf_call_write(graph, i, text);
        live_text_copy(to->call, sizeof(to->call), text);
        to->accepted = atomic_load(&scheduler->engines[i].base.accepted_epoch);
        to->completed = engines[i].completed;
        to->busy_ns = from->busy ? from->busy_ns : 0;
    }
}

static void queues_fill(struct bf_live_view *v, const struct bf_graph *graph)
{
    char text[BF_CASE_TEXT];
    for (uint32_t i = 0; i < graph->queue_count; i++)
        v->queues_all += !graph->queues[i].on_gpu;
    /* Those that have something held first: of many, they are to be seen. */
    for (int held = 1; held >= 0; held--) {
        for (uint32_t i = 0; i < graph->queue_count && v->queue_count < BF_LIVE_QUEUES; i++) {
            const struct bf_graph_queue *from = &graph->queues[i];
            if (from->on_gpu || (from->packets > 0) != (held == 1))
                continue;
            struct bf_live_queue *to = &v->queues[v->queue_count++];
            live_text_copy(to->name, sizeof(to->name), from->name);
            bf_wait_write(graph, i, text);
            live_text_copy(to->wait, sizeof(to->wait), text);
            to->key = (uintptr_t)from->key;
            to->packets = from->numbered;
            to->held = from->packets - from->parts;
            to->ns = from->age_ns;
            to->engine = from->engine;
        }
    }
}

static void cases_fill(struct bf_live_view *v, const struct bf_graph *graph, uint64_t least_ns)
{
    struct bf_case cases[BF_LIVE_CASES];
    char text[BF_CASE_TEXT];
    v->case_count = bf_diagnose(graph, least_ns, cases, BF_LIVE_CASES);
    for (size_t i = 0; i < v->case_count; i++) {
        bf_case_write(graph, &cases[i], text);
        live_text_copy(v->cases[i], sizeof(v->cases[i]), text + strlen("standstill: "));
    }
}

/* Fences and semaphores are walked twice: first those that somebody waits for, or that have moved
 * since the last answer, are taken; then others, as far as there is room. */
struct gathering {
    struct bf_live *live;
    struct bf_scheduler *scheduler;
    const struct bf_graph *graph;
    bool second;
    struct known *now;
    uint32_t now_count;
    struct bf_semaphore *semaphores[BF_LIVE_FENCES]; /* of the view's; NULL: a fence */
};

static int known_compare(const void *a, const void *b)
{
    const struct known *one = a, *other = b;
    return (one->key > other->key) - (one->key < other->key);
}

/* The view's entry for it, or NULL: it isn't taken now. */
static struct bf_live_fence *gathering_take(struct gathering *g, const void *object, uint64_t value,
                                            uint64_t wanted)
{
    struct bf_live_view *v = g->live->view;
    const struct known key = {(uintptr_t)object, value};
    if (!g->second) {
        const struct known *before =
            bsearch(&key, g->live->known, g->live->known_count, sizeof(key), known_compare);
        v->fences_all++;
        if (g->now_count < COMPARED)
            g->now[g->now_count++] = key;
        if (wanted == UINT64_MAX && (!before || before->value == value))
            return NULL;
    }
    for (uint32_t i = 0; g->second && i < v->fence_count; i++) {
        if (v->fences[i].key == key.key)
            return NULL;
    }
    if (v->fence_count == BF_LIVE_FENCES)
        return NULL;
    struct bf_live_fence *to = &v->fences[v->fence_count++];
    to->key = key.key;
    to->value = value;
    to->wanted = wanted;
    return to;
}

static uint64_t heap_least(const struct bf_heap *heap)
{
    return heap->root ? heap->root->key : UINT64_MAX;
}

static void fences_gather(struct gathering *g)
{
    struct bf_pending *pending = &g->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    for (const struct bf_fence *f = pending->fences; f; f = f->next) {
        uint64_t queue = heap_least(&f->queue_waits), cpu = heap_least(&f->cpu_waits);
        if (f->destroyed || f->queue_owned)
            continue;
        struct bf_live_fence *to =
            gathering_take(g, f, atomic_load(&f->value), queue < cpu ? queue : cpu);
        if (!to)
            continue;
        char label[BF_HANDLE_LABEL];
        bf_handle_label(f, label);
        if (label[0])
            snprintf(to->name, sizeof(to->name), "fence%.100s", label);
        else
            snprintf(to->name, sizeof(to->name), "fence %p", (const void *)f);
    }
    bf_lock_release(&pending->lock);
}

static void semaphore_gather(void *value, void *context)
{
    struct gathering *g = context;
    struct bf_semaphore *sem = value;
    uint64_t wanted = UINT64_MAX;
    if (!sem->timeline)
        return;
    for (uint32_t i = 0; i < g->graph->wait_count; i++) {
        const struct bf_graph_signal *wait = &g->graph->waits[i];
        if (wait->object < g->graph->object_count && g->graph->objects[wait->object].key == sem &&
            wait->value < wanted)
            wanted = wait->value;
    }
    for (uint32_t i = 0; i < g->graph->call_count; i++) {
        const struct bf_graph_call *call = &g->graph->calls[i];
        if (call->object != BF_GRAPH_NONE && g->graph->objects[call->object].key == sem &&
            call->value < wanted)
            wanted = call->value;
    }
    struct bf_live_fence *to =
        gathering_take(g, sem, atomic_load(&sem->reached[BF_FOR_WAIT]), wanted);
    if (!to)
        return;
    bf_semaphore_reference(sem);
    g->semaphores[to - g->live->view->fences] = sem;
}

static void fences_fill(struct bf_live *live, struct bf_scheduler *scheduler,
                        struct bf_names *names, const struct bf_graph *graph)
{
    struct gathering g = {
        .live = live, .scheduler = scheduler, .graph = graph, .now = live->known + COMPARED};
    struct bf_live_view *v = live->view;
    for (int i = 0; i < 2; i++) {
        g.second = i == 1;
        fences_gather(&g);
        /* Of an attached device, semaphores are known by fences alone. */
        if (!scheduler->gpu.attached)
            bf_map_walk(&scheduler->semaphores, semaphore_gather, &g);
    }
    memcpy(live->known, g.now, g.now_count * sizeof(*g.now));
    live->known_count = g.now_count;
    qsort(live->known, live->known_count, sizeof(*live->known), known_compare);
    for (uint32_t i = 0; i < v->fence_count; i++) {
        struct bf_semaphore *sem = g.semaphores[i];
        char label[80];
        uint64_t value;
        if (!sem)
            continue;
        /* What the GPU has reached, which only the driver knows. */
        if (bf_semaphore_counter(scheduler, sem, &value))
            v->fences[i].value = value;
        bf_names_write(names, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)sem->handle, label,
                       sizeof(label));
        if (label[0])
            snprintf(v->fences[i].name, BF_LIVE_NAME, "semaphore%.100s", label);
        else
            snprintf(v->fences[i].name, BF_LIVE_NAME, "semaphore 0x%llx",
                     (unsigned long long)sem->handle);
        bf_semaphore_release(sem);
    }
}

/* LP-1. */
static void view_write(struct bf_live *live)
{
    struct bf_live_page *page = live->page;
    const char *view = (const char *)live->view;
    atomic_store(&page->turn, ++live->turn);
    for (size_t i = 0; i < BF_LIVE_WORDS; i++) {
        uint64_t word;
        memcpy(&word, view + i * sizeof(word), sizeof(word));
        atomic_store_explicit(&page->words[i], word, memory_order_release);
    }
    atomic_store(&page->turn, ++live->turn);
}

void bf_live_answer(struct bf_live *live, struct bf_scheduler *scheduler, struct bf_names *names,
                    const struct bf_standstill_engine *engines, uint64_t now_ns, uint64_t least_ns,
                    void (*see_pool)(struct bf_live_pool *pool))
{
    live->answered = atomic_load(&live->page->asked);
    if (!live->view)
        live->view = malloc(sizeof(*live->view));
    if (!live->known)
        live->known = malloc(2 * COMPARED * sizeof(*live->known));
    if (!live->view || !live->known)
        return; /* the reader says that there is no answer */
    struct bf_live_view *v = live->view;
    struct bf_graph graph;
    memset(v, 0, sizeof(*v));
    v->now_ns = bf_now_ns();
    v->lost = bf_scheduler_is_lost(scheduler);
    v->seen = bf_snapshot_take(scheduler, names, engines, now_ns, &graph);
    if (v->seen) {
        engines_fill(v, scheduler, engines, &graph);
        queues_fill(v, &graph);
        cases_fill(v, &graph, least_ns);
        fences_fill(live, scheduler, names, &graph);
    }
    bf_snapshot_free(&graph);
    if (see_pool)
        see_pool(&v->pool);
    view_write(live);
    atomic_store(&live->page->answered, live->answered);
    bf_futex_wake_shared(&live->page->answered, INT32_MAX);
}
