/* SPDX-License-Identifier: MIT */
/* Graphs made by hand, and what is told of them. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "standstill/diagnosis.h"
#include "standstill/text.h"

#define S UINT64_C(1000000000)

struct made {
    struct bf_graph graph;
    struct bf_graph_object objects[16];
    struct bf_graph_signal signals[64], waits[64];
    struct bf_graph_queue queues[16];
    struct bf_graph_engine engines[3];
    struct bf_graph_call calls[4];
};

/* By its first letter: f and g are fences, b is binary, x and y are timelines that others may
 * signal. */
static uint32_t object(struct made *m, char letter)
{
    uint32_t i = 0;
    while (i < m->graph.object_count && m->objects[i].name[0] != letter)
        i++;
    if (i == m->graph.object_count) {
        m->graph.object_count++;
        m->objects[i] = (struct bf_graph_object){
            .name = {letter},
            .kind = strchr("fg", letter)  ? BF_GRAPH_FENCE
                    : strchr("b", letter) ? BF_GRAPH_BINARY
                                          : BF_GRAPH_TIMELINE,
            .key = &m->objects[i],
            .outside = strchr("xy", letter) != NULL,
        };
    }
    return i;
}

/* "A: s<5 t=1 u<2 t=2 B!: t=1": queue A waits for s to reach 5; a packet behind that signals t to
 * 1, and a third one waits for u and signals t to 2. Nothing but its engine, the second one, keeps
 * B. Each queue has stood for two seconds; "A/:" for half of one; "A#:" is on the GPU. */
static void make(struct made *m, const char *text)
{
    *m = (struct made){.graph = {.objects = m->objects,
                                 .signals = m->signals,
                                 .waits = m->waits,
                                 .queues = m->queues,
                                 .engines = m->engines,
                                 .calls = m->calls,
                                 .engine_count = 3}};
    struct bf_graph_queue *queue = NULL;
    uint32_t place = 0;
    bool waited = false; /* by the packet at 'place' */
    for (const char *word = text; *word; word += strcspn(word, " "), word += *word == ' ') {
        size_t length = strcspn(word, " ");
        unsigned value = 0;
        if (word[length - 1] == ':') {
            queue = &m->queues[m->graph.queue_count++];
            *queue = (struct bf_graph_queue){
                .name = {word[0]}, .key = queue, .packet = 1, .object = BF_GRAPH_NONE};
            queue->age_ns = queue->still_ns = word[1] == '/' ? S / 2 : 2 * S;
            queue->state = word[1] == '!' ? BF_GRAPH_GOING : BF_GRAPH_HELD;
            queue->engine = word[1] == '!';
            queue->on_gpu = word[1] == '#';
            place = 0;
            waited = true;
            continue;
        }
        struct bf_graph_signal entry = {object(m, word[0]), m->graph.queue_count - 1, 0, 0, 0};
        bool wait = sscanf(word + 1, "<%u", &value) == 1;
        if (!wait)
            assert_int_equal(sscanf(word + 1, "=%u", &value), 1);
        place += wait ? !waited : place == 0 || !waited;
        waited = wait || (waited && place == 0);
        entry.value = value;
        entry.place = place;
        entry.packet = queue->packets = place + 1;
        if (!wait) {
            m->signals[m->graph.signal_count++] = entry;
            continue;
        }
        m->waits[m->graph.wait_count++] = entry;
        if (queue->object == BF_GRAPH_NONE) {
            queue->object = entry.object;
            queue->value = value;
        }
    }
}

/* All that is told, a line each. */
static void expect(struct made *m, const char *wanted)
{
    struct bf_case cases[8];
    char all[8 * BF_CASE_TEXT] = "";
    size_t count = bf_diagnose(&m->graph, S, cases, 8);
    for (size_t i = 0; i < count; i++) {
        char text[BF_CASE_TEXT];
        bf_case_write(&m->graph, &cases[i], text);
        assert_memory_equal(text, "standstill: ", 12);
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? "\n" : "", text + 12);
    }
    assert_string_equal(all, wanted);
}

#define WAITS(queue_, object_, value_)                                                             \
    "packet 1 of " queue_ " waits for " object_ " to reach " value_ " (has 0)"

TEST(test_graphs)
{
    static const struct {
        const char *graph, *told;
    } cases[] = {
        {"", ""},
        {"A/: s<1", ""}, /* not long enough */
        {"A: s<1",
         WAITS("A", "s", "1") " for 2.0 s: nobody has submitted such a signal; the host may "
                              "still signal it"},
        {"A: s<5 B: t<1 s=4",
         WAITS("A", "s", "5") " for 2.0 s: nobody has submitted such a signal; the host may still "
                              "signal it\n" WAITS("B", "t",
                                                  "1") " for 2.0 s: nobody has submitted "
                                                       "such a signal; the host may still "
                                                       "signal it"},
        {"A: x<1",
         WAITS("A", "x", "1") " for 2.0 s: nobody has submitted such a signal; the host may, "
                              "or somebody outside of the device"},
        {"A: b<1",
         "packet 1 of A waits for b to be signalled for 2.0 s: nobody has submitted such a "
         "signal"},
        /* The cause is told, not what waits for it. */
        {"A: s<1 B: t<1 s=1 C: u<1 t=1",
         WAITS("C", "u", "1") " for 2.0 s: nobody has submitted such a signal; the host may still "
                              "signal it; 2 more queues wait for it"},
        {"A: s<1 t=1 B: t<1 s=1",
         "a deadlock, which nothing can end, for 2.0 s: " WAITS(
             "A", "s", "1") ", which packet 2 of B "
                            "would signal; " WAITS("B", "t",
                                                   "1") ", which packet 2 of A would signal"},
        {"A/: s<1 t=1 B: t<1 s=1", ""}, /* it has been one for half a second */
        {"A: s<1 s=1", "a deadlock, which nothing can end, for 2.0 s: " WAITS(
                           "A", "s", "1") ", which packet 2 of A would signal"},
        {"A: s<1 t=1 B: t<1 u=1 C: u<1 s=1",
         "a deadlock, which nothing can end, for 2.0 s: " WAITS(
             "A", "s",
             "1") ", which packet 2 of C "
                  "would signal; " WAITS(
                      "C", "u",
                      "1") ", which packet 2 of B would signal; " WAITS("B", "t",
                                                                        "1") ", which packet 2 of "
                                                                             "A would signal"},
        /* The host may signal below what is on its way, if nothing lower is. */
        {"A: s<1 t=1 B: t<1 s=2",
         "a circle, unless the host signals s to 1, for 2.0 s: " WAITS(
             "A", "s", "1") ", which packet "
                            "2 of B would signal; " WAITS(
                                "B", "t", "1") ", which packet 2 of A would signal"},
        {"A: s<3 t=1 B: t<1 s=2 s=4",
         "a deadlock, which nothing can end, for 2.0 s: " WAITS(
             "A", "s", "3") ", which packet 3 of B "
                            "would signal; " WAITS("B", "t",
                                                   "1") ", which packet 2 of A would signal"},
        {"A: f<1 t=1 B: t<1 f=1",
         "a circle, unless the host signals f to 1, for 2.0 s: " WAITS(
             "A", "f", "1") ", which packet "
                            "2 of B would signal; " WAITS(
                                "B", "t", "1") ", which packet 2 of A would signal"},
        {"A: x<1 t=1 B: t<1 x=1",
         "a circle, unless somebody outside of the device signals, for 2.0 s: " WAITS(
             "A", "x",
             "1") ", which packet 2 of B would signal; " WAITS("B", "t",
                                                               "1") ", which "
                                                                    "packet 2 of A would signal"},
        /* Somebody else can satisfy a member: then it is no circle, and what keeps that one is
         * told. */
        {"A: s<1 t=1 B: t<1 s=1 C: u<1 s=1",
         WAITS("C", "u", "1") " for 2.0 s: nobody has submitted such a signal; the host may still "
                              "signal it; 2 more queues wait for it"},
        {"A: s<1 t=1 B: t<1 s=1 C!: s=1", ""},
        /* Accepted behind a wait for outside. */
        {"A: s<1 B#: x<1 s=1", "packet 1 of B has waited on the GPU for 2.0 s: x is to reach 1 "
                               "(has 0), by the host or by "
                               "somebody outside of the device; 1 more queue waits for it"},
        {"A: s<1 x=1 B#: x<1 s=1",
         "a circle, unless somebody outside of the device signals, for 2.0 s: " WAITS(
             "A", "s", "1") ", which packet 2 of B would signal; packet 1 of B waits on the GPU "
                            "for x to reach 1 (has 0), which packet 2 of A would signal"},
        /* A second wait, of the same packet or of one before the signal, has to be satisfied, too:
         * then one signal is not enough, or another one is. */
        {"A: f<1 g<1 t=1 B: t<1 f=1 u=1 C: u<1 g=1",
         "a circle, unless the host signals f to 1 and g to 1, for 2.0 s: " WAITS(
             "A", "f",
             "1") ", which packet 2 of B would signal; " WAITS("B", "t",
                                                               "1") ", which "
                                                                    "packet 2 of A would signal; 1 "
                                                                    "more queue waits for it"},
        /* A greater value of the same fence takes a smaller one along. */
        {"A: f<1 f<2 g<1 t=1 B: t<1 f=3 u=1 C: u<1 g=1",
         "a circle, unless the host signals f to 2 and g to 1, for 2.0 s: " WAITS(
             "A", "f",
             "1") ", which packet 2 of B would signal; " WAITS("B", "t",
                                                               "1") ", which packet 2 of A would "
                                                                    "signal; 1 more queue waits "
                                                                    "for it"},
        {"A: s<1 f=1 B: f<1 s=1",
         "a circle, unless the host signals f to 1, for 2.0 s: " WAITS(
             "A", "s",
             "1") ", which packet 2 of B would signal; " WAITS("B", "f",
                                                               "1") ", which "
                                                                    "packet 2 of A would signal"},
        /* Who waits for a circle is behind it. */
        {"A: s<1 t=1 B: t<1 s=1 C: t<1 u=1 D: u<1",
         "a deadlock, which nothing can end, for 2.0 s: " WAITS(
             "A", "s", "1") ", which packet 2 of B "
                            "would signal; " WAITS(
                                "B", "t",
                                "1") ", which packet 2 of A would signal; 2 more queues wait "
                                     "for it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made m;
        make(&m, cases[i].graph);
        expect(&m, cases[i].told);
    }
}

static struct bf_graph_engine busy(uint64_t order, uint32_t waits)
{
    struct bf_graph_engine e = {.name = "E",
                                .busy = true,
                                .busy_ns = 3 * S,
                                .order = order,
                                .packet = order,
                                .queue = "Q",
                                .waits = waits};
    return e;
}

/* While what is waited for moves, nothing stands. */
TEST(test_moves)
{
    struct made m;
    make(&m, "A: s<7");
    m.objects[0].value = 3;
    m.queues[0].still_ns = S / 2;
    expect(&m, "");
    m.queues[0].still_ns = S;
    expect(&m,
           "packet 1 of A waits for s to reach 7 (has 3) for 2.0 s: nobody has submitted such a "
           "signal; the host may still signal it");
}

/* Of engines that are busy, those are told that wait for no other one's work. */
TEST(test_engines)
{
    struct made m;
    make(&m, "");
    m.engines[0] = busy(7, 1);
    m.engines[1] = busy(4, 1);
    expect(&m, "the GPU has been busy with packet 4 of Q for 3.0 s");
    m.engines[0].waits = 0;
    expect(&m, "the GPU has been busy with packet 7 of Q for 3.0 s\n"
               "the GPU has been busy with packet 4 of Q for 3.0 s");
    m.engines[1].busy = false;
    strcpy(m.engines[0].content, "command buffer 'c'");
    expect(&m, "the GPU has been busy with packet 7 of Q for 3.0 s: command buffer 'c'");
    m.engines[0].packet = 0;
    m.engines[0].content[0] = '\0';
    expect(&m,
           "the GPU has been busy with a submission on E that is too old to be known for 3.0 s");
    m.engines[0] = busy(7, 1);
    strcpy(m.engines[0].outside, "semaphore 'x'");
    m.engines[0].outside_value = 2;
    expect(&m,
           "the GPU has been busy with packet 7 of Q for 3.0 s, unless it waits for semaphore 'x' "
           "to be signalled to 2");
}

/* A suspended queue is a cause where others wait for it; alone it stands as it is meant to. */
TEST(test_suspended)
{
    struct made m;
    make(&m, "A: s<1 B!: s=1");
    expect(&m, "");
    m.graph.queues[1].suspended = true;
    expect(&m, "packet 1 of B has been held for 2.0 s: the queue is suspended "
               "(bfSuspendCommandQueue); 1 more queue waits for it");
    make(&m, "B!: s=1");
    m.graph.queues[0].suspended = true;
    expect(&m, "");
}

/* A call that waits for the GPU is no cause while the GPU is busy; a packet that could go is told
 * only where no call keeps it. */
TEST(test_calls)
{
    struct made m;
    make(&m, "A!: s=1");
    m.engines[1] = (struct bf_graph_engine){.name = "E", .taken_ns = 2 * S, .idle_ns = 4 * S};
    expect(&m,
           "packet 1 of A could have gone to the driver for 2.0 s, but a thread keeps E to itself "
           "(bfLockVkQueue)");
    m.graph.queues[0].windowed = true; /* it couldn't */
    expect(&m, "");
    m.graph.queues[0].windowed = false;
    m.graph.queues[0].suspended = true; /* nor could it */
    expect(&m, "");
    m.graph.queues[0].suspended = false;
    m.engines[1].taken_ns = S / 2; /* not for so long */
    expect(&m, "");
    struct bf_graph_call *call = &m.calls[0];
    m.graph.call_count = 1;
    *call = (struct bf_graph_call){.engine = 1,
                                   .name = "vkQueueWaitIdle",
                                   .waits = true,
                                   .ns = 2 * S,
                                   .still_ns = 2 * S,
                                   .thread = 5,
                                   .thread_name = "main",
                                   .object = BF_GRAPH_NONE};
    expect(&m, "thread 5 'main' has been in the driver for 2.0 s, in vkQueueWaitIdle on E");
    m.engines[1].busy = true;
    expect(&m, "");
    m.engines[1].busy = false;
    m.engines[1].idle_ns = S / 2; /* it has only just become idle */
    expect(&m, "");
    m.engines[1].busy = true;
    call->waits = false;
    call->name = "vkQueuePresentKHR";
    expect(&m, "thread 5 'main' has been in the driver for 2.0 s, in vkQueuePresentKHR on E");
    call->young = true;
    expect(&m, "");
}

/* Threads that wait on the host: each for itself, and only while what they wait for stands. */
TEST(test_host_waits)
{
    static const char frame[] =
        "thread 5 has waited for 3.0 s, in vkWaitSemaphores, for s to reach 7 "
        "(has 3): nobody has submitted such a signal; the host may still "
        "signal it";
    static const char both[] =
        "thread 5 has waited for 3.0 s, in vkWaitSemaphores, for s to reach 7 (has 3) or one of 2 "
        "more: nobody has submitted such a signal; the host may still signal it\n"
        "thread 6 has waited for 2.0 s, in vkWaitForFences, for fence 'f': no submission is left "
        "that would signal it, unless an image is being acquired";
    struct made m;
    make(&m, "A!: s=3");
    m.objects[0].value = 3;
    m.graph.call_count = 2;
    m.calls[0] = (struct bf_graph_call){.engine = 2,
                                        .name = "vkWaitSemaphores",
                                        .waits = true,
                                        .ns = 3 * S,
                                        .still_ns = 3 * S,
                                        .value = 7,
                                        .thread = 5,
                                        .missing = true};
    m.calls[1] = (struct bf_graph_call){.engine = 2,
                                        .name = "vkWaitForFences",
                                        .waits = true,
                                        .ns = 2 * S,
                                        .still_ns = 2 * S,
                                        .object = BF_GRAPH_NONE,
                                        .thread = 6,
                                        .fence = "fence 'f'"};
    m.graph.idle_ns = 3 * S;
    expect(&m, frame);
    m.calls[0].still_ns = S / 2; /* it moves */
    expect(&m, "");
    m.calls[0].missing = false; /* it has been submitted */
    expect(&m, "");
    m.calls[0].still_ns = 3 * S;
    expect(&m, "");
    m.calls[0].any = true;
    m.calls[0].more = 2;
    m.queues[0].state = BF_GRAPH_EMPTY; /* nothing is left */
    expect(&m, both);
    m.graph.idle_ns = S / 2; /* of late */
    expect(&m, "");
}
