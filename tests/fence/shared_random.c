/* SPDX-License-Identifier: MIT */
/* Random programs of two to four processes on one shared fence, against a model: the fence is one
 * word, and a wait is satisfied by the first value from its arming that reaches it. Once step by
 * step, where the model knows everything; and once with all at it at the same time, where it knows
 * which values there were. A failure names its seed: the same one repeats it. */
#include "shared_peer.h"

#define PROCESSES 4
#define EVENTS    16
#define VALUES    40
#define WAITS     600 /* of a process's queue, at most */

struct model {
    uint64_t value;
    struct {
        bool armed, satisfied;
        uint64_t value;
    } events[PROCESSES][EVENTS];
    struct {
        uint32_t count, passed; /* the queue has passed so many, one after the other */
        bool satisfied[WAITS];
        uint64_t values[WAITS];
    } queues[PROCESSES];
};

static void model_pass(struct model *m, uint32_t who)
{
    while (m->queues[who].passed < m->queues[who].count &&
           m->queues[who].satisfied[m->queues[who].passed])
        m->queues[who].passed++;
}

static void model_set(struct model *m, uint64_t value)
{
    m->value = value;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        for (uint32_t w = m->queues[p].passed; w < m->queues[p].count; w++)
            m->queues[p].satisfied[w] =
                m->queues[p].satisfied[w] || value >= m->queues[p].values[w];
        model_pass(m, p);
        for (int e = 0; e < EVENTS; e++)
            if (m->events[p][e].armed && value >= m->events[p][e].value)
                m->events[p][e].satisfied = true;
    }
}

struct program {
    uint32_t count;
    struct peer peers[PROCESSES]; /* the first owns the fence; the test itself is none of them */
    uint64_t random;
    struct model model;
};

static void program_begin(struct program *p, uint64_t seed)
{
    *p = (struct program){.random = seed * 2654435761u + 88172645463325252u};
    p->count = 2 + (uint32_t)(next_random(&p->random) % (PROCESSES - 1));
    for (uint32_t i = 0; i < p->count; i++)
        peer_start(&p->peers[i]);
    p->model.value = next_random(&p->random) % VALUES;
    peer_tell(&p->peers[0], (struct order){.op = PEER_CREATE, .value = p->model.value}, -1);
    struct answer answer = peer_answer(&p->peers[0]);
    assert_success(answer.result);
    for (uint32_t i = 1; i < p->count; i++) {
        peer_tell(&p->peers[i], (struct order){.op = PEER_OPEN}, answer.fd);
        assert_success(peer_answer(&p->peers[i]).result);
    }
    close(answer.fd);
}

static void program_end(struct program *p)
{
    for (uint32_t i = p->count; i > 0; i--)
        peer_stop(&p->peers[i - 1]);
}

static void arm(struct program *p, uint32_t who, uint32_t event, uint64_t value)
{
    struct model *m = &p->model;
    peer_arm(&p->peers[who], event, value);
    m->events[who][event].armed = true;
    m->events[who][event].value = value;
    m->events[who][event].satisfied = m->value >= value;
}

/* The event is set if it should be, and isn't if it shouldn't. Who has read the value has been told
 * of all there was. */
static void check(struct program *p, uint32_t who, uint32_t event)
{
    struct model *m = &p->model;
    if (!m->events[who][event].armed)
        return;
    if (m->events[who][event].satisfied) {
        peer_await(&p->peers[who], event);
        m->events[who][event].armed = false;
    } else {
        assert_int_equal(peer_do(&p->peers[who], PEER_VALUE, 0, 0), m->value);
        assert_false(peer_took(&p->peers[who], event));
    }
}

static void wait_on_queue(struct program *p, uint32_t who, uint64_t value)
{
    struct model *m = &p->model;
    uint32_t n = m->queues[who].count;
    if (n == WAITS)
        return;
    peer_do(&p->peers[who], PEER_QUEUE_WAIT, 0, value);
    m->queues[who].count++;
    m->queues[who].values[n] = value;
    m->queues[who].satisfied[n] = m->value >= value;
    model_pass(m, who);
}

/* The queue has passed all it should, and stands at the next: a ticket is for good (behaviour
 * 47). */
static void check_queue(struct program *p, uint32_t who)
{
    uint32_t passed = p->model.queues[who].passed;
    peer_do(&p->peers[who], PEER_AWAIT_PASSED, 0, passed);
    assert_int_equal(peer_do(&p->peers[who], PEER_VALUE, 0, 0), p->model.value);
    assert_int_equal(peer_do(&p->peers[who], PEER_PASSED, 0, 0), passed);
}

static void step(struct program *p)
{
    uint32_t who = (uint32_t)(next_random(&p->random) % p->count),
             event = (uint32_t)(next_random(&p->random) % EVENTS);
    uint64_t value = next_random(&p->random) % VALUES;
    struct peer *peer = &p->peers[who];
    const bool stands = p->model.queues[who].passed < p->model.queues[who].count;
    switch (next_random(&p->random) % 10) {
    case 0:
    case 1:
        peer_do(peer, PEER_SIGNAL, 0, value);
        model_set(&p->model, value);
        break;
    case 2:
        peer_do(peer, stands ? PEER_SIGNAL : PEER_WORK_SIGNAL, 0, value);
        if (!stands)
            peer_do(peer, PEER_IDLE, 0, 0);
        model_set(&p->model, value);
        break;
    case 3:
    case 4:
    case 5:
        if (!p->model.events[who][event].armed)
            arm(p, who, event, value);
        break;
    case 6:
        check(p, who, event);
        break;
    case 7:
        wait_on_queue(p, who, value);
        break;
    case 8:
        check_queue(p, who);
        break;
    default:
        assert_int_equal(peer_do(peer, PEER_VALUE, 0, 0), p->model.value);
        break;
    }
}

static void a_random_program(uint64_t seed)
{
    enum { STEPS = 600 };
    static struct program p;
    program_begin(&p, seed);
    for (int i = 0; i < STEPS; i++)
        step(&p);
    for (uint32_t who = 0; who < p.count; who++) {
        check_queue(&p, who);
        for (uint32_t event = 0; event < EVENTS; event++)
            check(&p, who, event);
    }
    peer_do(&p.peers[0], PEER_SIGNAL, 0, VALUES); /* whatever stands goes on */
    model_set(&p.model, VALUES);
    for (uint32_t who = 0; who < p.count; who++)
        check_queue(&p, who);
    program_end(&p);
}

/* All at once: every process signals values of its own, and every event that was armed before is
 * set in the end if any of them was large enough. */
static void a_random_storm(uint64_t seed)
{
    enum { ROUNDS = 4, SIGNALS = TIMES(2000) };
    static struct program p;
    program_begin(&p, seed);
    for (int round = 0; round < ROUNDS; round++) {
        peer_do(&p.peers[0], PEER_SIGNAL, 0, 0);
        p.model = (struct model){0};
        for (uint32_t who = 0; who < p.count; who++)
            for (uint32_t event = 0; event < EVENTS; event++) /* the largest are rare */
                arm(&p, who, event, event < 4 ? 996 + event : 1 + next_random(&p.random) % 999);
        uint64_t largest = 0;
        for (uint32_t who = 0; who < p.count; who++)
            peer_tell(&p.peers[who],
                      (struct order){.op = PEER_STORM,
                                     .value = SIGNALS,
                                     .event = (uint32_t)next_random(&p.random)},
                      -1);
        for (uint32_t who = 0; who < p.count; who++) {
            struct answer answer = peer_answer(&p.peers[who]);
            assert_success(answer.result);
            largest = answer.value > largest ? answer.value : largest;
        }
        model_set(&p.model, largest);
        p.model.value = peer_do(&p.peers[0], PEER_VALUE, 0, 0);
        for (uint32_t who = 0; who < p.count; who++) {
            assert_int_equal(peer_do(&p.peers[who], PEER_VALUE, 0, 0), p.model.value);
            for (uint32_t event = 0; event < EVENTS; event++) {
                check(&p, who, event);
                if (p.model.events[who][event].armed) { /* it was too large for all */
                    peer_do(&p.peers[0], PEER_SIGNAL, 0, 1000);
                    model_set(&p.model, 1000);
                    check(&p, who, event);
                }
            }
        }
    }
    program_end(&p);
}

static void run(void (*program)(uint64_t seed), uint64_t count)
{
    const char *only = getenv("BELFRY_TEST_SEED");
    for (uint64_t seed = 1; seed <= count; seed++) {
        if (only && strtoull(only, NULL, 10) != seed)
            continue;
        fprintf(stderr, "BELFRY_TEST_SEED=%llu\n", (unsigned long long)seed);
        program(seed);
    }
}

TEST(step_by_step_all_is_as_the_model_says)
{
    run(a_random_program, TIMES(16));
}

TEST(at_the_same_time_nobody_misses_a_value)
{
    run(a_random_storm, TIMES(16));
}
