/* SPDX-License-Identifier: MIT */
/* Calls that block, as real drivers' presents and submits do. */
#include "icd.h"

static struct {
    _Atomic bool armed; /* written locked */
    /* locked from here */
    pthread_cond_t released; /* the threads inside blocked calls */
    pthread_cond_t arrived;  /* belfry_icd_await_blocked */
    struct belfry_icd_block rule;
    char command[64]; /* without "vk"; "": any */
    uint64_t calls;   /* since the rule was given */
    uint64_t blocked; /* calls that have blocked until released; a number is a ticket */
    uint64_t let_go;  /* tickets below this one are over */
    uint64_t now;     /* threads inside blocked calls */
} block = {.released = PTHREAD_COND_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER};

/* Locked: is it this call that blocks? */
static bool block_is_meant(const char *call, bool late)
{
    const struct belfry_icd_block *rule = &block.rule;
    if (!rule->first || rule->late != late ||
        strncmp(icd_bare_name(call), block.command, strlen(block.command)) != 0)
        return false;
    uint64_t n = ++block.calls;
    return n == rule->first ||
           (n > rule->first && rule->every && (n - rule->first) % rule->every == 0);
}

void icd_block(const char *call, bool late)
{
    if (!atomic_load_explicit(&block.armed, memory_order_relaxed))
        return;
    icd_lock();
    if (block_is_meant(call, late)) {
        uint64_t ticket = block.rule.ns ? UINT64_MAX : block.blocked++;
        uint64_t end = icd_deadline(block.rule.ns);
        struct timespec until = {.tv_sec = (time_t)(end / 1000000000u),
                                 .tv_nsec = (long)(end % 1000000000u)};
        block.now++;
        pthread_cond_broadcast(&block.arrived);
        while (ticket == UINT64_MAX ? icd_now() < end : ticket >= block.let_go)
            if (ticket == UINT64_MAX)
                pthread_cond_clockwait(&block.released, &icd_world.lock, CLOCK_MONOTONIC, &until);
            else
                pthread_cond_wait(&block.released, &icd_world.lock);
        block.now--;
    }
    icd_unlock();
}

void icd_block_read(const char *text)
{
    static char command[64];
    struct belfry_icd_block rule = {.command = command};
    unsigned long long microseconds;
    char late[8] = "", rest[2] = "";
    int n = sscanf(text, "%63[^:]:%lu:%lu:%llu:%7[^:]%1s", command, &rule.first, &rule.every,
                   &microseconds, late, rest);
    rule.late = strcmp(late, "late") == 0;
    rule.ns = microseconds * 1000;
    if (n < 4 || n > 5 || (n == 5 && !rule.late) || !rule.first || !rule.ns)
        fprintf(stderr,
                "belfry test driver: BELFRY_ICD_BLOCK=%s is not command:first:every:microseconds "
                "or that with :late; ignored\n",
                text);
    else
        belfry_icd_set_block(&rule);
}

/* Exported ---------------------------------------------------------------------------------- */

void belfry_icd_set_block(const struct belfry_icd_block *rule)
{
    icd_lock();
    block.rule = rule ? *rule : (struct belfry_icd_block){0};
    snprintf(block.command, sizeof(block.command), "%s",
             rule && rule->command ? icd_bare_name(rule->command) : "");
    block.calls = 0;
    block.armed = block.rule.first > 0;
    icd_unlock();
}

uint64_t belfry_icd_blocked(void)
{
    icd_lock();
    uint64_t now = block.now;
    icd_unlock();
    return now;
}

void belfry_icd_await_blocked(uint64_t calls)
{
    icd_lock();
    while (block.now < calls)
        pthread_cond_wait(&block.arrived, &icd_world.lock);
    icd_unlock();
}

void belfry_icd_release(uint64_t calls)
{
    icd_lock();
    block.let_go = calls < block.blocked - block.let_go ? block.let_go + calls : block.blocked;
    pthread_cond_broadcast(&block.released);
    icd_unlock();
}
