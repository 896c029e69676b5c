/* SPDX-License-Identifier: MIT */
/* A random Vulkan program as data: what it does, who does it, and what must come of it.
 *
 * A plan is made in four steps.
 *   generate.c  chooses events (batches on queues, host signals) in one total order E in which
 *               each waits only for earlier ones: so an ideal machine, with an engine per queue,
 *               can run them all, whatever the order in which they are submitted.
 *   order.c     chooses the order I in which a program calls Vulkan: any that keeps each queue's
 *               own order and the rules for binary semaphores, so a wait may well be submitted
 *               long before its signal. It spreads the calls over threads and puts host waits,
 *               queries, idles and settle points between them, each such that what it waits for
 *               depends on nothing that comes later in I.
 *   native.c    chooses which fences are native, which queues' logs are read, which semaphores are
 *               signalled from outside, where presents are, and where the driver blocks: nothing
 *               else in a program depends on it.
 *   model.c     draws the graph of what happens before what, proves from it that the plan is legal
 *               and ends, and derives what each command buffer must have seen.
 *
 * Where Belfry's own API is there, some queues of a program are BfCommandQueues, and some
 * semaphores are BfFences, or both at once. A batch on a BfCommandQueue is what it is elsewhere,
 * spelled out: waits, one execute (or several), signals. Fences mostly keep a semaphore's rules;
 * 'wild' ones take any value from anybody at any time. A wait for a wild fence is told only by the
 * rule of the ticket: armed by its call, it is satisfied for good by whatever reaches its value
 * from then on (ticket.c). So either its call comes before the signal's (an EVENT_ARM), or that of
 * every signal that would undo it comes after the wait's (gates).
 *
 * A present behind a submit may wait for all that this submit's queue has been given, by a binary
 * semaphore, where the submit is 'closed': whatever that depends on comes before it in I. Vulkan
 * wants it to have been submitted by then. Belfry also bears calls that are still on their way in
 * other threads, and the present waits for them; but not where a semaphore may be shared with
 * others, who might be the ones to signal it: there such calls have returned. It never waits for
 * the GPU, but where the host signals a semaphore once the GPU has given a value. Under the layer
 * it may also wait for what is to be signalled from outside by a later call, if nothing between
 * waits for the GPU (present.c).
 *
 * After that a plan is constant; any thread may read it. */
#ifndef BELFRY_RANDOM_PLAN_H
#define BELFRY_RANDOM_PLAN_H

#include "../support/std.h"

#include "rng.h"

enum {
    PLAN_QUEUES = 12,         /* of one program */
    PLAN_MACHINE_QUEUES = 24, /* of the device they are drawn from */
    PLAN_SEMAPHORES = 8,
    PLAN_THREADS = 4,
    PLAN_SUBMITS = 200, /* calls that submit */
    PLAN_BATCHES = 300,
    PLAN_EVENTS = 400, /* batches and host signals */
    PLAN_LINKS = 12,   /* waits, and signals, of one batch */
    PLAN_GROUP = 5,    /* batches of one call */
    PLAN_CBS_PER_BATCH = 3,
    PLAN_CBS = PLAN_BATCHES * PLAN_CBS_PER_BATCH,
    PLAN_FENCES = 6,
    PLAN_USES = PLAN_SUBMITS,
    PLAN_OPS = 2048,
    PLAN_ITEMS = 4, /* what one host wait waits for */
    PLAN_SETTLES = 48,
    PLAN_BELLS = 24, /* BfEvents */
    PLAN_REGISTRATIONS = 48,
    PLAN_WILD_WAITS = 96, /* armed for one wild fence */
    PLAN_TYPES = 4,       /* BfCommandListType */
    PLAN_SEE = 14,        /* slots that one command buffer looks at */
    PLAN_WORDS = (PLAN_EVENTS + 63) / 64,
};

/* What the device offers to programs; the same for every program of one device. */
struct machine_queue {
    uint32_t family;
    uint32_t index;
    bool commands; /* may copy and fill */
    bool sparse;   /* takes vkQueueBindSparse */
};

struct machine {
    struct machine_queue queues[PLAN_MACHINE_QUEUES];
    int queue_count;
    bool sync2;
    bool bf;       /* BfCommandQueues can be made */
    bool lags;     /* a counter may lag behind what others have told (run.h) */
    bool attached; /* by bfAttachDevice: the program submits to VkQueues through Belfry's API */
    bool native;   /* fences may be native */
    bool outsider; /* somebody can signal timelines from outside */
    bool types[PLAN_TYPES];
};

/* Bounds on what generate.c chooses; the command line sets them. */
enum plan_shape {
    SHAPE_ANY, /* one of the others, by the seed */
    SHAPE_MIXED,
    SHAPE_CHAIN, /* long dependencies through many queues */
    SHAPE_BRAKE, /* much waits for a host signal that comes late */
    SHAPE_BURST, /* threads that submit at the same instant, often looked at */
    SHAPE_FENCE, /* small, many fences, idles and queries */
    SHAPE_BINARY,
    SHAPE_RACE,  /* pairs of calls, made at the same instant, of which one waits for the other */
    SHAPE_PULSE, /* wild fences: armed waits, and signals that take back what they gave */
    SHAPE_LATE,  /* as brake, but that the host waits for nothing before it has signalled */
    SHAPE_COUNT,
};

struct plan_limits {
    int queues;
    int threads;
    int submits;
    enum plan_shape shape;
};

struct plan_wait {
    uint8_t semaphore;
    bool transfer_stage; /* wait at TRANSFER only instead of ALL_COMMANDS */
    int16_t source;      /* the event whose signal satisfies it, -1: the initial value does */
    int16_t place;       /* of that signal among those of a semaphore with values; -1: see there */
    int16_t arm;         /* the EVENT_ARM that makes the call, -1: the batch's own call does */
    uint64_t value;      /* 0 for binary ones */
};

struct plan_signal {
    uint8_t semaphore;
    bool transfer_stage;
    uint64_t value;
};

struct plan_batch {
    int16_t event;
    int16_t queue;
    int16_t op; /* the call that submits it */
    bool bind;  /* a VkBindSparseInfo */
    bool bare;  /* its command buffers have no barrier: only semaphores order them */
    bool split; /* on a BfCommandQueue: each command buffer is executed by a call of its own */
    int16_t first_cb;
    int16_t cb_count;
    int16_t wait_count;
    int16_t signal_count;
    int16_t first_signal; /* number of its first signal among those of all batches */
    struct plan_wait waits[PLAN_LINKS];
    struct plan_signal signals[PLAN_LINKS];
};

typedef uint64_t plan_set[PLAN_WORDS]; /* of events */

/* One event of E. 'strong' holds those whose commands Vulkan orders before this one's signals;
 * 'done' those of which all signals come before them too: the signals of one batch are given in no
 * particular order, so who waits for one of them knows nothing of the others;
 * 'live' those without which it may not finish on some machine (the order of a queue, say, for
 * sparse binds too). Neither contains the event itself; both are closed. */
enum plan_event_kind {
    EVENT_BATCH,
    EVENT_SIGNAL,  /* of the host */
    EVENT_ARM,     /* a wait's call alone: on a BfCommandQueue, or the registration of a BfEvent */
    EVENT_DESTROY, /* of a wild fence, with whatever is under way */
};

struct plan_event {
    enum plan_event_kind kind;
    int16_t batch; /* -1: none */
    int16_t op;
    int16_t queue;        /* EVENT_BATCH, EVENT_ARM: -1 for none */
    int16_t registration; /* EVENT_ARM: -1 for none */
    uint8_t semaphore;    /* all others: which, to what, and the host signal before it (or -1) */
    int16_t previous;
    int8_t witness; /* EVENT_ARM: the semaphore by which the host waits for 'previous', or -1 */
    uint64_t value;
    int64_t key; /* place wanted in I */
    plan_set strong;
    plan_set done;
    plan_set live;
    plan_set gates; /* whose calls must have returned before this one's is made */
};

enum plan_op_kind {
    OP_SUBMIT, /* batches, maybe none; vkQueueSubmit, vkQueueSubmit2 */
    OP_BIND,
    OP_SIGNAL,
    OP_WAIT_SEMAPHORES,
    OP_COUNTER, /* vkGetSemaphoreCounterValue */
    OP_WAIT_FENCES,
    OP_FENCE_STATUS,
    OP_RESET_FENCES,
    OP_QUEUE_IDLE,
    OP_DEVICE_IDLE,
    OP_SETTLE, /* all other threads stand still: all that may finish must, nothing else may */
    OP_YIELD,
    /* Of Belfry's API alone; OP_SUBMIT, OP_SIGNAL, OP_WAIT_SEMAPHORES, OP_COUNTER and OP_QUEUE_IDLE
     * are of either. */
    OP_ARM,           /* bfQueueWait */
    OP_REGISTER,      /* bfSetEventOnFenceCompletion(s) */
    OP_WAIT_BELLS,    /* bfWaitForEvents, on events that stay set or are not looked at again */
    OP_LOOK,          /* poll on an event's file descriptor */
    OP_DESTROY_FENCE, /* all its users' calls have returned, and no more */
    OP_DESTROY_BELL,
    OP_DESTROY_QUEUE,
    OP_PRIORITY,
};

/* What a host wait's result may be. */
enum plan_timeout {
    TIMEOUT_NONE,  /* 0: whatever is true */
    TIMEOUT_SHORT, /* microseconds: whatever is true */
    TIMEOUT_LONG,  /* hours: must succeed */
    TIMEOUT_INFINITE,
};

struct plan_item {
    int16_t index;  /* a semaphore, the use of a fence, or a bell */
    uint64_t value; /* of a bell: the registration that can be relied on */
};

struct plan_op {
    enum plan_op_kind kind;
    int8_t thread;
    int8_t api;                  /* 1: vkQueueSubmit, 2: vkQueueSubmit2 */
    int16_t sequence;            /* within its thread */
    int16_t after[PLAN_THREADS]; /* so many calls of each other thread must have returned */
    int16_t queue;               /* -1: none */
    int16_t use;                 /* fence use, -1: none */
    int16_t event;               /* OP_SIGNAL, OP_ARM, OP_DESTROY_FENCE */
    int16_t settle;
    int16_t registration;
    bool bf;     /* through Belfry's API, where there are two */
    bool take;   /* OP_WAIT_BELLS: the event is reset by it, or right after it */
    bool high;   /* OP_PRIORITY */
    bool closed; /* OP_SUBMIT: all that its queue's last batch needs comes before it in I */
    int16_t batch_count;
    int16_t batches[PLAN_GROUP];
    enum plan_timeout timeout;
    bool recreate; /* OP_RESET_FENCES: destroy the fences and make new ones */
    bool any;
    int8_t designated; /* any: the item that can be relied on */
    int8_t item_count;
    struct plan_item items[PLAN_ITEMS];
};

/* A fence between two resets. */
struct plan_use {
    int16_t fence;
    int16_t op;         /* that submits it */
    int16_t reset_op;   /* that ends this use, -1: none */
    int16_t last_batch; /* last one on the queue then, -1: none */
};

/* What a semaphore is to the program. */
enum plan_face {
    FACE_SEMAPHORE, /* a VkSemaphore */
    FACE_FENCE,     /* a BfFence */
    FACE_IMPORTED,  /* both: a timeline semaphore that a fence was made of */
    FACE_EXPORTED,  /* a fence; and a timeline semaphore that follows it, to be waited for only */
};

struct plan_semaphore {
    bool timeline; /* has values */
    bool wild;     /* they may do anything; not for semaphores and imported ones */
    enum plan_face face;
    int16_t destroyed; /* the EVENT_DESTROY, -1: none */
    bool exportable;   /* if the device allows it */
    bool outside;      /* what the host signals it does by a handle that nobody knows of */
    bool native;       /* the GPU writes its value; not for semaphores and imported ones */
    uint64_t initial;
    int signal_count;
    int16_t signals[PLAN_EVENTS]; /* events, in order of execution (wild: of E) */
    int8_t places[PLAN_EVENTS];   /* of each among its batch's signals */
    uint64_t values[PLAN_EVENTS]; /* UINT64_MAX for the destruction, which satisfies all */
};

/* A BfEvent; named so because a plan's events are others. */
struct plan_bell {
    bool manual; /* stays set */
    int8_t registration_count;
    int16_t take_op;    /* that resets it, -1: none */
    int16_t destroy_op; /* -1: none */
};

struct plan_registration {
    int16_t op;
    int16_t bell;
    int16_t event; /* its EVENT_ARM, -1: it is sure only if its fences' values never fall */
    int16_t place; /* with an EVENT_ARM: the signal of its first item's fence that it is for */
    bool any;
    int8_t designated; /* any: the item that can be relied on, -1: none */
    int8_t item_count;
    struct plan_item items[PLAN_ITEMS];
};

struct plan_queue {
    int machine_queue; /* -1: a BfCommandQueue */
    bool bf;
    bool dynamic; /* its priority may be changed */
    /* The same BfCommandQueue as that one, or -1: calls of both are made at the same time, in no
     * order but each one's own. All of such a group wait for nothing, or who came first would
     * matter. */
    int8_t twin;
    bool waitless;
    int8_t type; /* BfCommandListType */
    bool high;
    bool commands;
    bool sparse;
    bool software; /* a BfCommandQueue that the GPU writes nothing of */
    bool progress; /* its executions are counted */
    bool read;     /* its logs are, now and then */
    int event_count;
    int16_t events[PLAN_EVENTS];
};

struct plan_see {
    int16_t cb;
    bool must; /* else: must not */
};

struct plan_cb {
    int16_t batch;
    int16_t previous; /* before it on its queue among those that have barriers; -1: none */
    int8_t see_count;
    bool lead; /* begins with a barrier; else Belfry is relied on for what was before */
    bool barrier2;
    bool update; /* writes with vkCmdUpdateBuffer instead of vkCmdFillBuffer */
    struct plan_see sees[PLAN_SEE];
};

/* The first-th call of a kind, and each every-th one behind it; before it has any effect, or late:
 * once the driver has done all. */
struct plan_block {
    uint32_t first; /* 0: none */
    uint32_t every; /* 0: no other */
    uint32_t us;
    bool late;
    const char *command; /* NULL: calls of any kind */
};

struct plan {
    uint64_t seed;
    enum plan_shape shape;
    bool lags;       /* as the machine */
    bool poll_first; /* settle points look at memory before they call Vulkan */
    /* Where the driver can be told to: it starts nothing until some thread has to wait for it, so
     * that much is under way at once. */
    bool pause;
    bool slow;               /* likewise: its submit calls dawdle, so that others run into them */
    int present_percent;     /* of the submits on queues that can have a present behind them */
    struct plan_block block; /* likewise: some calls on its queues block, for a time */
    bool logged;             /* some queue's logs are read */

    int queue_count, semaphore_count, thread_count, fence_count;
    int event_count, batch_count, cb_count, op_count, use_count, settle_count;
    int batch_signal_count, bell_count, registration_count;
    struct plan_queue queues[PLAN_QUEUES];
    struct plan_semaphore semaphores[PLAN_SEMAPHORES];
    struct plan_event events[PLAN_EVENTS];
    struct plan_batch batches[PLAN_BATCHES];
    struct plan_cb cbs[PLAN_CBS];
    struct plan_op ops[PLAN_OPS];
    struct plan_use uses[PLAN_USES];
    struct plan_bell bells[PLAN_BELLS];
    struct plan_registration registrations[PLAN_REGISTRATIONS];
    plan_set settles[PLAN_SETTLES];      /* events that can finish then */
    uint64_t settle_rings[PLAN_SETTLES]; /* registrations that can ring then */
    int thread_op_count[PLAN_THREADS];
    int16_t thread_ops[PLAN_THREADS][PLAN_OPS];

    /* The model: a square matrix of bits, row n = nodes that strongly happen before node n. */
    int node_count;
    int row_words;
    uint64_t *rows;
    size_t rows_capacity;
};

/* Nodes of the model's graph. A batch has four, and one per signal: its waits are satisfied, its
 * commands have run, its signals may be given, each of them has been given, all have. */
static inline int plan_node_start(int op)
{
    return 2 * op;
}

static inline int plan_node_end(int op)
{
    return 2 * op + 1;
}

static inline int plan_node_waits(const struct plan *plan, int batch)
{
    return 2 * plan->op_count + 4 * batch;
}

static inline int plan_node_commands(const struct plan *plan, int batch)
{
    return plan_node_waits(plan, batch) + 1;
}

static inline int plan_node_over(const struct plan *plan, int batch)
{
    return plan_node_waits(plan, batch) + 2;
}

static inline int plan_node_done(const struct plan *plan, int batch)
{
    return plan_node_waits(plan, batch) + 3;
}

static inline int plan_node_signal(const struct plan *plan, int batch, int signal)
{
    return 2 * plan->op_count + 4 * plan->batch_count + plan->batches[batch].first_signal + signal;
}

static inline int plan_node_use(const struct plan *plan, int use)
{
    return 2 * plan->op_count + 4 * plan->batch_count + plan->batch_signal_count + use;
}

/* A registration's condition has come to pass. */
static inline int plan_node_ring(const struct plan *plan, int registration)
{
    return plan_node_use(plan, plan->use_count) + registration;
}

/* Where signal k of a semaphore (its place in signals[]) takes effect. That of the host does so
 * somewhere in its call: who waits for it can't begin before the call does ('whole' false), who
 * knows of it comes after its end ('whole' true). */
static inline int plan_node_place(const struct plan *plan, int semaphore, int k, bool whole)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    const struct plan_event *e = &plan->events[s->signals[k]];
    if (e->batch < 0)
        return whole ? plan_node_end(e->op) : plan_node_start(e->op);
    return plan_node_signal(plan, e->batch, s->places[k]);
}

/* The same for who waits for a binary semaphore's signal by that batch. */
static inline int plan_node_binary(const struct plan *plan, int event, int semaphore)
{
    const struct plan_batch *batch = &plan->batches[plan->events[event].batch];
    int k = 0;
    while (batch->signals[k].semaphore != semaphore)
        k++;
    return plan_node_signal(plan, plan->events[event].batch, k);
}

/* True when 'before' ends before 'after' begins, in every run. */
static inline bool plan_before(const struct plan *plan, int before, int after)
{
    return plan->rows[(size_t)after * (size_t)plan->row_words + (size_t)before / 64] >>
               (before % 64) &
           1;
}

static inline bool plan_set_has(const plan_set set, int event)
{
    return set[event / 64] >> (event % 64) & 1;
}

static inline void plan_set_add(plan_set set, int event)
{
    set[event / 64] |= UINT64_C(1) << (event % 64);
}

static inline void plan_set_join(plan_set set, const plan_set other)
{
    for (int i = 0; i < PLAN_WORDS; i++)
        set[i] |= other[i];
}

/* True when every event of 'set' is in 'other'. */
static inline bool plan_set_within(const plan_set set, const plan_set other)
{
    for (int i = 0; i < PLAN_WORDS; i++)
        if (set[i] & ~other[i])
            return false;
    return true;
}

/* The first signal of a semaphore that reaches value: its place in signals[], or -1 when the
 * initial value does, or signal_count when none ever will. */
static inline int plan_reach(const struct plan_semaphore *semaphore, uint64_t value)
{
    if (value <= semaphore->initial)
        return -1;
    int low = 0, high = semaphore->signal_count;
    while (semaphore->wild && low < high && semaphore->values[low] < value)
        low++;
    while (!semaphore->wild && low < high) {
        int middle = (low + high) / 2;
        if (semaphore->values[middle] >= value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static inline bool plan_has_face(const struct plan *plan, enum plan_face face)
{
    for (int s = 0; s < plan->semaphore_count; s++)
        if (plan->semaphores[s].face == face)
            return true;
    return false;
}

/* Semaphores that the host may signal once the GPU has got somewhere: for these a present may
 * wait. */
static inline bool plan_has_followers(const struct plan *plan)
{
    bool exportable = false;
    for (int s = 0; s < plan->semaphore_count; s++)
        exportable |= plan->semaphores[s].exportable;
    return exportable || plan_has_face(plan, FACE_EXPORTED);
}

static inline bool plan_is_bf(const struct plan_semaphore *semaphore)
{
    return semaphore->face != FACE_SEMAPHORE;
}

static inline bool plan_is_vk(const struct plan_semaphore *semaphore)
{
    return semaphore->face != FACE_FENCE;
}

/* Which queues may wait for it, and signal it. */
static inline bool plan_may_wait(const struct plan_queue *queue,
                                 const struct plan_semaphore *semaphore)
{
    return queue->bf ? plan_is_bf(semaphore) : plan_is_vk(semaphore);
}

static inline bool plan_may_signal(const struct plan_queue *queue,
                                   const struct plan_semaphore *semaphore)
{
    return queue->bf ? plan_is_bf(semaphore)
                     : semaphore->face == FACE_SEMAPHORE || semaphore->face == FACE_IMPORTED;
}

/* ticket.c: what is certain of waits for a semaphore's value. 'arm' is the call that armed the
 * wait: what was over before it doesn't count; -1: everything does, as for a semaphore that follows
 * a fence. They look at the graph as far as it has been closed. */

/* The signal (its place) without which the wait can't be satisfied; -1: there is none such. */
int plan_ticket_first(const struct plan *plan, int semaphore, uint64_t value, int arm);
/* The wait is satisfied before the node in every run. */
bool plan_ticket_sure(const struct plan *plan, int semaphore, uint64_t value, int arm, int node);
/* The wait is not satisfied before the node in any run; nor ever, if 'node' is -1. */
bool plan_ticket_never(const struct plan *plan, int semaphore, uint64_t value, int arm, int node);
/* The same of a registration. */
bool plan_ring_sure(const struct plan *plan, int registration, int node);
bool plan_ring_never(const struct plan *plan, int registration, int node);
/* Whether a fence may have that value within the call, and the only signal that can have given it
 * (its place, or -1). */
bool plan_value_possible(const struct plan *plan, int semaphore, uint64_t value, int op,
                         int *place);

/* generate.c: events, batches, semaphores, queues. The plan must have been zeroed once, and may
 * be used again. */
void plan_generate(struct plan *plan, uint64_t seed, const struct machine *machine,
                   const struct plan_limits *limits, struct rng *rng);
/* native.c: which fences are native, what queues have besides, whose logs are read, which
 * semaphores are signalled from outside, where presents are, and where the driver blocks. All of it
 * by dice of their own: the calls of a program don't depend on it. */
void plan_native(struct plan *plan, const struct machine *machine);
/* order.c: operations, threads, fences. */
void plan_order(struct plan *plan, const struct machine *machine, const struct plan_limits *limits,
                struct rng *rng);
/* model.c: the graph; NULL when the plan is legal and ends, else what is wrong with it (a fault
 * of this program, not of the device), in a buffer that lives until the next call. */
const char *plan_model(struct plan *plan, struct rng *rng);
/* dump.c: the plan as text; and one operation as one line, without a newline. */
void plan_dump(const struct plan *plan, FILE *file);
void plan_dump_op(const struct plan *plan, int op, FILE *file);
const char *plan_shape_name(enum plan_shape shape);

#endif
