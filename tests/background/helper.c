/* SPDX-License-Identifier: MIT */
/* Items that write down what happens to them, and gates that they stand at. */
#include "helper.h"

#include <sys/syscall.h>

void gate_open(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void gate_pass(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void tell(struct item *item, enum what what)
{
    struct story *s = item->story;
    pthread_mutex_lock(&s->lock);
    if (s->count < ENTRIES)
        s->entries[s->count++] = (struct entry){.item = item->number,
                                                .what = what,
                                                .thread = (pid_t)syscall(SYS_gettid),
                                                .policy = sched_getscheduler(0)};
    s->running += what == BEGAN;
    s->running -= what == ENDED;
    if (s->running > s->most_running)
        s->most_running = s->running;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void item_run(void *context)
{
    struct item *item = context;
    tell(item, BEGAN);
    if (item->gate)
        gate_pass(item->gate);
    if (item->run)
        item->run(item);
    tell(item, ENDED);
}

void item_cancel(void *context)
{
    struct item *item = context;
    tell(item, CANCELLED);
    if (item->cancel)
        item->cancel(item);
}

/* The lock is held. */
static uint32_t find(const struct story *s, int item, enum what what)
{
    uint32_t at = 0;
    while (at < s->count && (s->entries[at].item != item || s->entries[at].what != what))
        at++;
    return at;
}

void story_await(struct story *s, int item, enum what what)
{
    pthread_mutex_lock(&s->lock);
    while (find(s, item, what) == s->count)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

uint32_t story_count(struct story *s, int item, enum what what)
{
    uint32_t count = 0;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->count; i++)
        count += s->entries[i].item == item && s->entries[i].what == what;
    pthread_mutex_unlock(&s->lock);
    return count;
}

uint32_t story_at(struct story *s, int item, enum what what)
{
    pthread_mutex_lock(&s->lock);
    uint32_t at = find(s, item, what), count = s->count;
    pthread_mutex_unlock(&s->lock);
    if (at == count)
        fail_msg("item %d: %d hasn't happened", item, what);
    return at;
}

struct entry story_entry(struct story *s, int item, enum what what)
{
    uint32_t at = story_at(s, item, what);
    pthread_mutex_lock(&s->lock);
    struct entry entry = s->entries[at];
    pthread_mutex_unlock(&s->lock);
    return entry;
}

struct bf_background *make_with(const struct bf_background_info *info)
{
    struct bf_background *b = bf_background_create(info);
    assert_non_null(b);
    return b;
}

struct bf_background *make(void)
{
    return make_with(
        &(struct bf_background_info){.tasks = 2, .developer_mode = true, .proc = "/nonexistent"});
}

void queue(struct bf_background *b, struct item *item)
{
    assert_success(bf_background_queue(b, item_run, item_cancel, item));
}

void set_mode(struct bf_background *b, BfBackgroundProcessingMode mode, BfMeasurementsAction action)
{
    assert_success(bf_background_set_mode(b, mode, action, NULL, NULL));
}

bool take_event(BfEvent event)
{
    VkResult result = bfWaitForEvents(1, &event, VK_FALSE, 0, NULL);
    assert_true(result == VK_SUCCESS || result == VK_TIMEOUT);
    return result == VK_SUCCESS;
}

int helper_main(int argc, char **argv)
{
    alarm(HELPER_SECONDS);
    return test_run(argc > 1 ? argv[1] : NULL);
}

__attribute__((constructor)) static void take_main(void)
{
    test_main = helper_main;
}
