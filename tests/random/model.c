/* SPDX-License-Identifier: MIT */
/* What happens before what. The graph's nodes are the beginnings and ends of host calls, the
 * parts of a batch (plan.h) and the signals of fences. Strong edges are those that Vulkan itself
 * promises; all checks rest on them alone. Soft edges are what may hold a node up without being
 * promised: they count for the proof that everything ends, which is that the graph has no cycle. */
#include "plan.h"

struct edge {
    int32_t from, to;
    int32_t next_in;  /* list of edges into 'to' */
    int32_t next_out; /* list of edges out of 'from' */
    bool strong;
};

struct graph {
    struct plan *plan;
    struct edge *edges;
    int edge_count, edge_capacity;
    int32_t *in; /* first edge into each node, -1: none */
    int32_t *out;
    int32_t *degree;
    int32_t *order;
    /* Per batch: the newest of its queue, itself included, that is no bind; and that signals. */
    int submit_upto[PLAN_BATCHES], signal_upto[PLAN_BATCHES];
};

static char model_error[256];

static const char *model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *model_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(model_error, sizeof(model_error), format, list);
    va_end(list);
    return model_error;
}

static void edge_add(struct graph *graph, int from, int to, bool strong)
{
    if (graph->edge_count == graph->edge_capacity) {
        graph->edge_capacity = graph->edge_capacity ? graph->edge_capacity * 2 : 1024;
        graph->edges = realloc(graph->edges, (size_t)graph->edge_capacity * sizeof(*graph->edges));
        if (!graph->edges)
            abort();
    }
    graph->edges[graph->edge_count] =
        (struct edge){from, to, graph->in[to], graph->out[from], strong};
    graph->in[to] = graph->out[from] = graph->edge_count++;
}

/* The edges ---------------------------------------------------------------------------------- */

static void edges_of_threads(struct graph *graph)
{
    const struct plan *plan = graph->plan;
    for (int i = 0; i < plan->op_count; i++) {
        const struct plan_op *op = &plan->ops[i];
        edge_add(graph, plan_node_start(i), plan_node_end(i), true);
        for (int t = 0; t < PLAN_THREADS; t++) {
            int count = t == op->thread ? op->sequence : op->after[t];
            if (count)
                edge_add(graph, plan_node_end(plan->thread_ops[t][count - 1]), plan_node_start(i),
                         true);
        }
    }
}

static void edges_of_waits(struct graph *graph, int index)
{
    const struct plan *plan = graph->plan;
    const struct plan_batch *batch = &plan->batches[index];
    int waits = plan_node_waits(plan, index);
    for (int w = 0; w < batch->wait_count; w++) {
        const struct plan_wait *wait = &batch->waits[w];
        if (wait->arm >= 0)
            edge_add(graph, plan_node_start(plan->events[wait->arm].op), waits, true);
        if (wait->source < 0)
            continue;
        const struct plan_semaphore *semaphore = &plan->semaphores[wait->semaphore];
        int node = semaphore->timeline ? plan_node_place(plan, wait->semaphore, wait->place, false)
                                       : plan_node_binary(plan, wait->source, wait->semaphore);
        /* What else may satisfy it is looked for when the graph is closed: tickets_add. */
        edge_add(graph, node, waits, !semaphore->wild);
    }
}

/* The call that arms a batch's wait for a wild fence; -1: none does, the wait is for what follows
 * the fence. */
static int wait_arm(const struct plan *plan, const struct plan_batch *batch,
                    const struct plan_wait *wait)
{
    if (!plan->queues[batch->queue].bf)
        return -1;
    return wait->arm < 0 ? batch->op : plan->events[wait->arm].op;
}

static void edges_of_queue(struct graph *graph, const struct plan_queue *queue)
{
    const struct plan *plan = graph->plan;
    int last_submit = -1, last_signal = -1, last_any = -1, last_barrier = -1;
    int bare[PLAN_BATCHES], bare_count = 0;
    for (int i = 0; i < queue->event_count; i++) {
        int b = plan->events[queue->events[i]].batch;
        if (b < 0)
            continue;
        const struct plan_batch *batch = &plan->batches[b];
        int waits = plan_node_waits(plan, b), commands = plan_node_commands(plan, b),
            over = plan_node_over(plan, b), done = plan_node_done(plan, b);
        edge_add(graph, plan_node_start(batch->op), waits, true);
        edge_add(graph, waits, commands, true);
        edge_add(graph, commands, over, true);
        edge_add(graph, over, done, true);
        for (int k = 0; k < batch->signal_count; k++) {
            edge_add(graph, over, plan_node_signal(plan, b, k), true);
            edge_add(graph, plan_node_signal(plan, b, k), done, true);
        }
        edges_of_waits(graph, b);
        /* A BfCommandQueue's signals are given one after the other. */
        for (int k = 1; queue->bf && k < batch->signal_count; k++)
            edge_add(graph, plan_node_signal(plan, b, k - 1), plan_node_signal(plan, b, k), true);
        if (last_any >= 0)
            edge_add(graph, plan_node_done(plan, last_any), waits, false);
        if (last_signal >= 0)
            edge_add(graph, plan_node_done(plan, last_signal), over, true);
        if (!batch->bind) {
            /* A wait holds up all later commands; a signal comes after all earlier ones. */
            if (last_submit >= 0) {
                edge_add(graph, plan_node_waits(plan, last_submit), waits, true);
                edge_add(graph, plan_node_done(plan, last_submit), over, true);
            }
            /* But commands themselves come after earlier commands only by a barrier; a
             * BfCommandQueue has one between any two calls. */
            if (batch->cb_count && !batch->bare) {
                if (last_barrier >= 0)
                    edge_add(graph, plan_node_commands(plan, last_barrier), commands, true);
                for (int k = 0; k < bare_count; k++)
                    edge_add(graph, plan_node_commands(plan, bare[k]), commands, true);
                bare_count = 0;
                last_barrier = b;
            } else if (batch->cb_count) {
                bare[bare_count++] = b;
            }
            last_submit = b;
        }
        if (batch->signal_count)
            last_signal = b;
        last_any = b;
        graph->submit_upto[b] = last_submit;
        graph->signal_upto[b] = last_signal;
    }
}

static void edges_of_uses(struct graph *graph)
{
    const struct plan *plan = graph->plan;
    for (int u = 0; u < plan->use_count; u++) {
        const struct plan_use *use = &plan->uses[u];
        const struct plan_op *op = &plan->ops[use->op];
        int node = plan_node_use(plan, u);
        edge_add(graph, plan_node_start(use->op), node, true);
        for (int i = 0; i < op->batch_count; i++)
            edge_add(graph, plan_node_done(plan, op->batches[i]), node, true);
        if (use->last_batch < 0)
            continue;
        int submit = graph->submit_upto[use->last_batch];
        int signal = graph->signal_upto[use->last_batch];
        /* The fence of a sparse bind comes after earlier signals, not after earlier commands. */
        if (submit >= 0)
            edge_add(graph, plan_node_done(plan, submit), node, op->kind == OP_SUBMIT);
        if (signal >= 0)
            edge_add(graph, plan_node_done(plan, signal), node, true);
        edge_add(graph, plan_node_done(plan, use->last_batch), node, false);
    }
}

/* A node that the end of a host wait comes after; -1: none, -2: it would never come. */
static int item_node(const struct plan *plan, const struct plan_op *op, int item)
{
    const struct plan_item *wanted = &op->items[item];
    if (op->kind == OP_WAIT_FENCES)
        return plan_node_use(plan, wanted->index);
    if (op->kind == OP_WAIT_BELLS)
        return plan_node_ring(plan, (int)wanted->value);
    const struct plan_semaphore *semaphore = &plan->semaphores[wanted->index];
    int k = plan_reach(semaphore, wanted->value);
    if (k < 0)
        return -1;
    return k < semaphore->signal_count ? plan_node_place(plan, wanted->index, k, false) : -2;
}

static const char *edges_of_wait(struct graph *graph, int index)
{
    const struct plan *plan = graph->plan;
    const struct plan_op *op = &plan->ops[index];
    if (op->timeout < TIMEOUT_LONG)
        return NULL;
    bool any = op->any && op->item_count > 1;
    for (int i = 0; i < op->item_count; i++) {
        if (any && i != op->designated)
            continue;
        int node = item_node(plan, op, i);
        if (node == -2)
            return model_fail("call %d waits for a value that never comes", index);
        bool only =
            op->kind != OP_WAIT_BELLS || plan->bells[op->items[i].index].registration_count == 1;
        if (node >= 0)
            edge_add(graph, node, plan_node_end(index), !any && only);
    }
    return NULL;
}

/* A registration rings when its call has been made and its fences have reached their values; of
 * any of several, the model names the one that can be relied on. */
static void edges_of_ring(struct graph *graph, int index)
{
    const struct plan *plan = graph->plan;
    const struct plan_registration *r = &plan->registrations[index];
    int node = plan_node_ring(plan, index);
    bool any = r->any && r->item_count > 1;
    edge_add(graph, plan_node_start(r->op), node, true);
    for (int i = 0; i < r->item_count; i++) {
        int s = r->items[i].index;
        const struct plan_semaphore *semaphore = &plan->semaphores[s];
        int k = semaphore->wild ? -1 : plan_reach(semaphore, r->items[i].value);
        bool sure = k >= 0 && k < semaphore->signal_count && !any;
        if (r->event >= 0 && i == 0) {
            k = r->place;
            sure = false;
        } else if (semaphore->destroyed >= 0) {
            k = semaphore->signal_count - 1;
        }
        if (k >= 0 && k < semaphore->signal_count && (!any || i == r->designated))
            edge_add(graph, plan_node_place(plan, s, k, false), node, sure);
    }
}

static void edges_of_idle(struct graph *graph, int index, const struct plan_queue *queue,
                          bool strong)
{
    const struct plan *plan = graph->plan;
    int last = -1;
    for (int i = 0; i < queue->event_count; i++) {
        int b = plan->events[queue->events[i]].batch;
        if (b < 0)
            continue;
        if (plan->batches[b].op > index)
            break;
        last = b;
        if (plan->batches[b].bind)
            edge_add(graph, plan_node_done(plan, b), plan_node_end(index), strong);
    }
    if (last >= 0 && graph->submit_upto[last] >= 0)
        edge_add(graph, plan_node_done(plan, graph->submit_upto[last]), plan_node_end(index),
                 strong);
}

/* A settle point waits for semaphores and fences as Vulkan knows it, for the rest it just looks. */
static void edges_of_settle(struct graph *graph, int index)
{
    const struct plan *plan = graph->plan;
    const uint64_t *finishing = plan->settles[plan->ops[index].settle];
    int end = plan_node_end(index);
    for (int b = 0; b < plan->batch_count; b++)
        if (plan_set_has(finishing, plan->batches[b].event))
            edge_add(graph, plan_node_done(plan, b), end, false);
    for (int s = 0; s < plan->semaphore_count; s++) {
        const struct plan_semaphore *semaphore = &plan->semaphores[s];
        for (int k = 0; semaphore->timeline && k < semaphore->signal_count; k++)
            if (plan_set_has(finishing, semaphore->signals[k]))
                edge_add(graph, plan_node_place(plan, s, k, false), end, !semaphore->wild);
    }
    for (int r = 0; r < plan->registration_count; r++)
        if (plan->settle_rings[plan->ops[index].settle] >> r & 1)
            edge_add(graph, plan_node_ring(plan, r), end, false);
    for (int u = 0; u < plan->use_count; u++) {
        const struct plan_use *use = &plan->uses[u];
        if (use->op < index && (use->reset_op < 0 || use->reset_op > index) &&
            (use->last_batch < 0 || plan_set_has(finishing, plan->batches[use->last_batch].event)))
            edge_add(graph, plan_node_use(plan, u), end, true);
    }
}

static const char *edges_draw(struct graph *graph)
{
    const struct plan *plan = graph->plan;
    edges_of_threads(graph);
    for (int q = 0; q < plan->queue_count; q++)
        edges_of_queue(graph, &plan->queues[q]);
    edges_of_uses(graph);
    for (int r = 0; r < plan->registration_count; r++)
        edges_of_ring(graph, r);
    for (int i = 0; i < plan->op_count; i++) {
        const char *error = NULL;
        switch (plan->ops[i].kind) {
        case OP_WAIT_SEMAPHORES:
        case OP_WAIT_FENCES:
        case OP_WAIT_BELLS:
            error = edges_of_wait(graph, i);
            break;
        case OP_QUEUE_IDLE:
            edges_of_idle(graph, i, &plan->queues[plan->ops[i].queue], true);
            break;
        case OP_DEVICE_IDLE: /* of BfCommandQueues it promises nothing, but may wait for them */
            for (int q = 0; q < plan->queue_count; q++)
                edges_of_idle(graph, i, &plan->queues[q], !plan->queues[q].bf);
            break;
        case OP_SETTLE:
            edges_of_settle(graph, i);
            break;
        default:
            break;
        }
        if (error)
            return error;
    }
    return NULL;
}

/* The closure -------------------------------------------------------------------------------- */

/* Sorts the nodes so that every edge points forward; that this can be done is the proof that the
 * program ends on an ideal machine. */
static const char *graph_sort(struct graph *graph)
{
    const struct plan *plan = graph->plan;
    int count = 0;
    memset(graph->degree, 0, (size_t)plan->node_count * sizeof(*graph->degree));
    for (int e = 0; e < graph->edge_count; e++)
        graph->degree[graph->edges[e].to]++;
    for (int n = 0; n < plan->node_count; n++)
        if (!graph->degree[n])
            graph->order[count++] = n;
    for (int i = 0; i < count; i++) {
        for (int e = graph->out[graph->order[i]]; e >= 0; e = graph->edges[e].next_out)
            if (!--graph->degree[graph->edges[e].to])
                graph->order[count++] = graph->edges[e].to;
    }
    if (count == plan->node_count)
        return NULL;
    for (int i = 0; i < plan->op_count; i++)
        if (graph->degree[plan_node_end(i)] > 0)
            return model_fail("the plan can't end: call %d waits in a cycle", i);
    return model_fail("the plan can't end: %d nodes in cycles", plan->node_count - count);
}

static void graph_close(struct graph *graph)
{
    struct plan *plan = graph->plan;
    plan->row_words = (plan->node_count + 63) / 64;
    size_t words = (size_t)plan->node_count * (size_t)plan->row_words;
    if (plan->rows_capacity < words) {
        free(plan->rows);
        plan->rows = malloc(words * sizeof(*plan->rows));
        plan->rows_capacity = words;
        if (!plan->rows)
            abort();
    }
    memset(plan->rows, 0, words * sizeof(*plan->rows));
    for (int i = 0; i < plan->node_count; i++) {
        int node = graph->order[i];
        uint64_t *row = plan->rows + (size_t)node * (size_t)plan->row_words;
        for (int e = graph->in[node]; e >= 0; e = graph->edges[e].next_in) {
            if (!graph->edges[e].strong)
                continue;
            int from = graph->edges[e].from;
            if (row[from / 64] >> (from % 64) & 1)
                continue;
            const uint64_t *other = plan->rows + (size_t)from * (size_t)plan->row_words;
            for (int w = 0; w < plan->row_words; w++)
                row[w] |= other[w];
            row[from / 64] |= UINT64_C(1) << (from % 64);
        }
    }
}

/* Tickets ------------------------------------------------------------------------------------ */

/* Adds what is certain of waits for wild fences: with the graph closed without them, which is less
 * than there is to know, but true. Returns whether there was anything to add. */
static bool tickets_add(struct graph *graph)
{
    const struct plan *plan = graph->plan;
    int before = graph->edge_count;
    for (int b = 0; b < plan->batch_count; b++) {
        const struct plan_batch *batch = &plan->batches[b];
        for (int w = 0; w < batch->wait_count; w++) {
            const struct plan_wait *wait = &batch->waits[w];
            if (!plan->semaphores[wait->semaphore].wild)
                continue;
            int k =
                plan_ticket_first(plan, wait->semaphore, wait->value, wait_arm(plan, batch, wait));
            if (k >= 0)
                edge_add(graph, plan_node_place(plan, wait->semaphore, k, false),
                         plan_node_waits(plan, b), true);
        }
    }
    for (int r = 0; r < plan->registration_count; r++) {
        const struct plan_registration *registration = &plan->registrations[r];
        for (int i = 0; i < registration->item_count; i++) {
            const struct plan_item *item = &registration->items[i];
            if (!plan->semaphores[item->index].wild ||
                (registration->any && registration->item_count > 1))
                continue;
            int k = plan_ticket_first(plan, item->index, item->value, registration->op);
            if (k >= 0)
                edge_add(graph, plan_node_place(plan, item->index, k, false),
                         plan_node_ring(plan, r), true);
        }
    }
    return graph->edge_count != before;
}

/* Legality ----------------------------------------------------------------------------------- */

/* Signals of a timeline semaphore come one after the other, with growing values. */
static const char *check_timeline(const struct plan *plan, int index)
{
    const struct plan_semaphore *semaphore = &plan->semaphores[index];
    uint64_t value = semaphore->initial;
    for (int k = 0; k < semaphore->signal_count; k++) {
        if (semaphore->values[k] <= value)
            return model_fail("semaphore %d: value %d doesn't grow", index, k);
        value = semaphore->values[k];
        if (k && !plan_before(plan, plan_node_place(plan, index, k - 1, false),
                              plan_node_place(plan, index, k, false)))
            return model_fail("semaphore %d: signals %d and %d are not ordered", index, k - 1, k);
    }
    return NULL;
}

/* A binary wait is submitted after its signal and all that this depends on; the next signal is
 * submitted after the wait, and executes after it. */
static const char *check_binary(const struct plan *plan, int index)
{
    int signaller = -1, waiter = -1;
    for (int e = 0; e < plan->event_count; e++) {
        if (plan->events[e].batch < 0)
            continue;
        const struct plan_batch *batch = &plan->batches[plan->events[e].batch];
        for (int w = 0; w < batch->wait_count; w++) {
            if (batch->waits[w].semaphore != index)
                continue;
            if (signaller < 0 || batch->waits[w].source != signaller)
                return model_fail("binary semaphore %d: event %d waits for no signal", index, e);
            for (int d = 0; d < e; d++) {
                if (d != signaller && !plan_set_has(plan->events[signaller].live, d))
                    continue;
                int op = plan->events[d].op;
                bool same = op == batch->op;
                if (!same && !plan_before(plan, plan_node_end(op), plan_node_start(batch->op)))
                    return model_fail("binary semaphore %d: event %d is submitted before %d", index,
                                      e, d);
            }
            signaller = -1;
            waiter = e;
        }
        for (int s = 0; s < batch->signal_count; s++) {
            if (batch->signals[s].semaphore != index)
                continue;
            if (signaller >= 0)
                return model_fail("binary semaphore %d: signalled twice at event %d", index, e);
            if (waiter >= 0 && !plan_before(plan, plan_node_waits(plan, plan->events[waiter].batch),
                                            plan_node_over(plan, plan->events[e].batch)))
                return model_fail("binary semaphore %d: event %d may overtake %d", index, e,
                                  waiter);
            if (waiter >= 0 && plan->events[waiter].op != batch->op &&
                !plan_before(plan, plan_node_end(plan->events[waiter].op),
                             plan_node_start(batch->op)))
                return model_fail("binary semaphore %d: event %d is signalled again before %d is "
                                  "submitted",
                                  index, e, waiter);
            signaller = e;
        }
    }
    return NULL;
}

/* Every queue's calls come one after the other. */
static const char *check_queues(const struct plan *plan)
{
    int last[PLAN_QUEUES];
    memset(last, 0xff, sizeof(last));
    for (int i = 0; i < plan->op_count; i++) {
        const struct plan_op *op = &plan->ops[i];
        for (int q = 0; q < plan->queue_count; q++) {
            if (op->queue != q && op->kind != OP_DEVICE_IDLE)
                continue;
            if (last[q] >= 0 && !plan_before(plan, plan_node_end(last[q]), plan_node_start(i)))
                return model_fail("queue %d: calls %d and %d may overlap", q, last[q], i);
            last[q] = i;
        }
    }
    return NULL;
}

/* A fence is submitted when it's unsignalled and reset when it's signalled for sure, and neither
 * while another thread looks at it. */
static const char *check_fences(const struct plan *plan)
{
    for (int i = 0; i < plan->op_count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != OP_WAIT_FENCES && op->kind != OP_FENCE_STATUS &&
            op->kind != OP_RESET_FENCES)
            continue;
        for (int k = 0; k < op->item_count; k++) {
            int u = op->items[k].index;
            const struct plan_use *use = &plan->uses[u];
            if (!plan_before(plan, plan_node_end(use->op), plan_node_start(i)))
                return model_fail("call %d may touch fence use %d early", i, u);
            if (op->kind == OP_RESET_FENCES) {
                if (!plan_before(plan, plan_node_use(plan, u), plan_node_start(i)))
                    return model_fail("call %d may reset fence use %d early", i, u);
            } else if (use->reset_op >= 0 &&
                       !plan_before(plan, plan_node_end(i), plan_node_start(use->reset_op))) {
                return model_fail("call %d may touch fence use %d late", i, u);
            }
        }
    }
    for (int u = 0; u < plan->use_count; u++) {
        for (int v = u + 1; v < plan->use_count; v++) {
            if (plan->uses[u].fence != plan->uses[v].fence)
                continue;
            if (plan->uses[u].reset_op < 0 ||
                !plan_before(plan, plan_node_end(plan->uses[u].reset_op),
                             plan_node_start(plan->uses[v].op)))
                return model_fail("fence uses %d and %d may overlap", u, v);
            break;
        }
    }
    return NULL;
}

/* What a BfCommandQueue's wait for a wild fence is satisfied by can't be taken back before it is
 * armed. */
static const char *check_wild(const struct plan *plan, const struct plan_batch *batch,
                              const struct plan_wait *wait)
{
    const struct plan_semaphore *semaphore = &plan->semaphores[wait->semaphore];
    int arm = wait_arm(plan, batch, wait);
    for (int k = 0; arm >= 0 && wait->source >= 0 && k < semaphore->signal_count; k++) {
        int op = plan->events[semaphore->signals[k]].op, source = plan->events[wait->source].op;
        if (k == wait->place)
            continue;
        bool armed = plan_before(plan, plan_node_end(arm), plan_node_start(source));
        bool earlier = plan_before(plan, plan_node_place(plan, wait->semaphore, k, true),
                                   plan_node_place(plan, wait->semaphore, wait->place, false));
        bool later = op == arm ? k > wait->place
                               : plan_before(plan, plan_node_end(arm), plan_node_start(op));
        if (semaphore->values[k] < wait->value && !armed && !earlier && !later)
            return model_fail("fence %d: signal %d may undo what b%d waits for", wait->semaphore, k,
                              plan->events[batch->event].batch);
    }
    return NULL;
}

/* Nothing but what was under way touches a fence that has been destroyed. */
static const char *check_destroyed(const struct plan *plan, int index)
{
    int destruction = plan->semaphores[index].destroyed;
    for (int i = 0; i < plan->op_count && destruction >= 0; i++) {
        const struct plan_op *op = &plan->ops[i];
        bool uses = false;
        if (op->kind == OP_WAIT_SEMAPHORES || op->kind == OP_COUNTER) {
            for (int k = 0; k < op->item_count; k++)
                uses |= op->items[k].index == index;
        } else if (op->kind == OP_SUBMIT) {
            for (int k = 0; k < op->batch_count; k++) {
                const struct plan_batch *batch = &plan->batches[op->batches[k]];
                for (int w = 0; w < batch->wait_count; w++)
                    uses |= batch->waits[w].semaphore == index && batch->waits[w].arm < 0;
                for (int s = 0; s < batch->signal_count; s++)
                    uses |= batch->signals[s].semaphore == index;
            }
        } else if (op->kind == OP_SIGNAL || op->kind == OP_ARM) {
            uses = plan->events[op->event].semaphore == index;
        } else if (op->kind == OP_REGISTER) {
            const struct plan_registration *r = &plan->registrations[op->registration];
            for (int k = 0; k < r->item_count; k++)
                uses |= r->items[k].index == index;
        }
        if (uses &&
            !plan_before(plan, plan_node_end(i), plan_node_start(plan->events[destruction].op)))
            return model_fail("call %d may use fence %d when it's gone", i, index);
    }
    return NULL;
}

/* Nothing touches an event once it has been destroyed, or reset for good. */
static const char *check_bells(const struct plan *plan)
{
    for (int i = 0; i < plan->op_count; i++) {
        const struct plan_op *op = &plan->ops[i];
        int count = op->kind == OP_WAIT_BELLS || op->kind == OP_LOOK ? op->item_count
                    : op->kind == OP_REGISTER                        ? 1
                                                                     : 0;
        for (int k = 0; k < count; k++) {
            const struct plan_bell *bell =
                &plan->bells[op->kind == OP_REGISTER ? plan->registrations[op->registration].bell
                                                     : op->items[k].index];
            if ((bell->take_op >= 0 && bell->take_op != i &&
                 !plan_before(plan, plan_node_end(i), plan_node_start(bell->take_op))) ||
                (bell->destroy_op >= 0 &&
                 !plan_before(plan, plan_node_end(i), plan_node_start(bell->destroy_op))))
                return model_fail("call %d may touch an event late", i);
        }
    }
    return NULL;
}

static const char *graph_check(const struct plan *plan)
{
    const char *error = check_queues(plan);
    if (!error)
        error = check_fences(plan);
    for (int s = 0; s < plan->semaphore_count && !error; s++)
        error = plan->semaphores[s].wild       ? check_destroyed(plan, s)
                : plan->semaphores[s].timeline ? check_timeline(plan, s)
                                               : check_binary(plan, s);
    for (int b = 0; b < plan->batch_count; b++) {
        for (int w = 0; w < plan->batches[b].wait_count && !error; w++)
            if (plan->semaphores[plan->batches[b].waits[w].semaphore].wild)
                error = check_wild(plan, &plan->batches[b], &plan->batches[b].waits[w]);
    }
    if (!error)
        error = check_bells(plan);
    return error;
}

/* What command buffers see ------------------------------------------------------------------- */

static void cb_see(struct plan_cb *cb, int other, bool must)
{
    if (cb->see_count == PLAN_SEE)
        return;
    for (int i = 0; i < cb->see_count; i++)
        if (cb->sees[i].cb == other)
            return;
    cb->sees[cb->see_count++] = (struct plan_see){(int16_t)other, must};
}

static int batch_some_cb(const struct plan_batch *batch, struct rng *rng)
{
    return batch->first_cb + (int)rng_below(rng, (uint32_t)batch->cb_count);
}

/* Slots are read only where the order is certain, either way: a race would be the program's own
 * fault, and its outcome no proof of anything. */
static void cb_choose_sees(struct plan *plan, int index, struct rng *rng)
{
    struct plan_cb *cb = &plan->cbs[index];
    const struct plan_batch *batch = &plan->batches[cb->batch];
    int commands = plan_node_commands(plan, cb->batch);
    cb->see_count = 0;
    if (cb->previous >= 0)
        cb_see(cb, cb->previous, true);
    for (int w = 0; w < batch->wait_count; w++) {
        int source = batch->waits[w].source;
        if (source < 0 || plan->events[source].batch < 0 ||
            !plan_before(plan, plan_node_commands(plan, plan->events[source].batch), commands))
            continue;
        const struct plan_batch *other = &plan->batches[plan->events[source].batch];
        if (other->cb_count)
            cb_see(cb, batch_some_cb(other, rng), true);
    }
    int start = (int)rng_below(rng, (uint32_t)plan->batch_count), musts = 0, nevers = 0;
    for (int i = 0; i < plan->batch_count && musts + nevers < 10; i++) {
        int b = (start + i) % plan->batch_count;
        const struct plan_batch *other = &plan->batches[b];
        if (b == cb->batch || !other->cb_count)
            continue;
        int node = plan_node_commands(plan, b);
        if (musts < 6 && plan_before(plan, node, commands)) {
            cb_see(cb, batch_some_cb(other, rng), true);
            musts++;
        } else if (nevers < 4 && plan_before(plan, commands, node)) {
            cb_see(cb, batch_some_cb(other, rng), false);
            nevers++;
        }
    }
}

static void cbs_choose(struct plan *plan, struct rng *rng)
{
    for (int q = 0; q < plan->queue_count; q++) {
        int previous = -1;
        for (int i = 0; i < plan->queues[q].event_count; i++) {
            int b = plan->events[plan->queues[q].events[i]].batch;
            if (b < 0)
                continue;
            const struct plan_batch *batch = &plan->batches[b];
            for (int c = batch->first_cb; c < batch->first_cb + batch->cb_count && !batch->bare;
                 c++) {
                plan->cbs[c].previous = (int16_t)previous;
                previous = c;
            }
        }
    }
    for (int c = 0; c < plan->cb_count; c++)
        cb_choose_sees(plan, c, rng);
}

const char *plan_model(struct plan *plan, struct rng *rng)
{
    struct graph graph = {.plan = plan};
    plan->batch_signal_count = 0;
    for (int b = 0; b < plan->batch_count; b++) {
        plan->batches[b].first_signal = (int16_t)plan->batch_signal_count;
        plan->batch_signal_count += plan->batches[b].signal_count;
    }
    plan->node_count = plan_node_ring(plan, plan->registration_count);
    size_t bytes = (size_t)plan->node_count * sizeof(int32_t);
    int32_t *space = malloc(4 * bytes);
    if (!space)
        abort();
    memset(space, 0xff, 2 * bytes);
    graph.in = space;
    graph.out = graph.in + plan->node_count;
    graph.degree = graph.out + plan->node_count;
    graph.order = graph.degree + plan->node_count;

    const char *error = edges_draw(&graph);
    if (!error)
        error = graph_sort(&graph);
    if (!error) {
        graph_close(&graph);
        if (tickets_add(&graph)) {
            error = graph_sort(&graph);
            if (!error)
                graph_close(&graph);
        }
    }
    if (!error)
        error = graph_check(plan);
    if (!error)
        cbs_choose(plan, rng);
    free(graph.edges);
    free(space);
    return error;
}
