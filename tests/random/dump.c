/* SPDX-License-Identifier: MIT */
/* A plan as text: enough to understand a failure without a debugger. */
#include "plan.h"

const char *plan_shape_name(enum plan_shape shape)
{
    static const char *const names[SHAPE_COUNT] = {"any",   "mixed",  "chain", "brake", "burst",
                                                   "fence", "binary", "race",  "pulse", "late"};
    return (unsigned)shape < SHAPE_COUNT ? names[shape] : "?";
}

static void dump_items(const struct plan *plan, const struct plan_op *op, FILE *file)
{
    bool fences = op->kind != OP_WAIT_SEMAPHORES && op->kind != OP_COUNTER;
    bool bells = op->kind == OP_WAIT_BELLS || op->kind == OP_LOOK || op->kind == OP_DESTROY_BELL;
    for (int i = 0; i < op->item_count; i++)
        if (bells)
            fprintf(file, " E%d", op->items[i].index);
        else if (fences)
            fprintf(file, " F%d(use %d)", plan->uses[op->items[i].index].fence, op->items[i].index);
        else if (op->kind == OP_COUNTER)
            fprintf(file, " S%d", op->items[i].index);
        else
            fprintf(file, " S%d>=%" PRIu64, op->items[i].index, op->items[i].value);
}

static void dump_batch(const struct plan *plan, int b, FILE *file)
{
    const struct plan_batch *batch = &plan->batches[b];
    fprintf(file, " [b%d", b);
    for (int w = 0; w < batch->wait_count; w++) {
        const struct plan_wait *wait = &batch->waits[w];
        if (plan->semaphores[wait->semaphore].timeline)
            fprintf(file, " wait S%d>=%" PRIu64, wait->semaphore, wait->value);
        else
            fprintf(file, " wait B%d", wait->semaphore);
        if (wait->transfer_stage)
            fputs("@transfer", file);
        if (wait->arm >= 0)
            fprintf(file, "(armed by #%d)", plan->events[wait->arm].op);
    }
    if (batch->cb_count)
        fprintf(file, "%s cb%d..%d",
                batch->bare    ? " bare"
                : batch->split ? " split"
                               : "",
                batch->first_cb, batch->first_cb + batch->cb_count - 1);
    for (int s = 0; s < batch->signal_count; s++) {
        const struct plan_signal *signal = &batch->signals[s];
        if (plan->semaphores[signal->semaphore].timeline)
            fprintf(file, " signal S%d=%" PRIu64, signal->semaphore, signal->value);
        else
            fprintf(file, " signal B%d", signal->semaphore);
    }
    fputc(']', file);
}

void plan_dump_op(const struct plan *plan, int index, FILE *file)
{
    static const char *const timeouts[] = {"timeout 0", "short timeout", "long timeout",
                                           "no timeout"};
    const struct plan_op *op = &plan->ops[index];
    fprintf(file, "#%d t%d ", index, op->thread);
    bool gated = false;
    for (int t = 0; t < PLAN_THREADS; t++) {
        if (op->after[t]) {
            fprintf(file, "%s#%d", gated ? "," : "(after ", plan->thread_ops[t][op->after[t] - 1]);
            gated = true;
        }
    }
    if (gated)
        fputs(") ", file);
    switch (op->kind) {
    case OP_SUBMIT:
    case OP_BIND:
        fprintf(file, "%s Q%d",
                op->bf                ? "BfCommandQueue"
                : op->kind == OP_BIND ? "vkQueueBindSparse"
                : op->api == 2        ? "vkQueueSubmit2"
                                      : "vkQueueSubmit",
                op->queue);
        for (int i = 0; i < op->batch_count; i++)
            dump_batch(plan, op->batches[i], file);
        if (op->use >= 0)
            fprintf(file, " fence F%d(use %d)", plan->uses[op->use].fence, op->use);
        break;
    case OP_SIGNAL:
        fprintf(file, "%s S%d=%" PRIu64, op->bf ? "bfSignalFence" : "vkSignalSemaphore",
                plan->events[op->event].semaphore, plan->events[op->event].value);
        break;
    case OP_WAIT_SEMAPHORES:
    case OP_WAIT_FENCES:
    case OP_WAIT_BELLS:
        fprintf(file, "%s %s, %s:",
                op->kind == OP_WAIT_FENCES  ? "vkWaitForFences"
                : op->kind == OP_WAIT_BELLS ? "bfWaitForEvents"
                : op->bf                    ? "bfWaitFences"
                                            : "vkWaitSemaphores",
                op->any ? "any" : "all", timeouts[op->timeout]);
        dump_items(plan, op, file);
        if (op->take)
            fputs(", and resets it", file);
        break;
    case OP_COUNTER:
        fputs(op->bf ? "bfGetFenceCompletedValue" : "vkGetSemaphoreCounterValue", file);
        dump_items(plan, op, file);
        break;
    case OP_FENCE_STATUS:
        fputs("vkGetFenceStatus", file);
        dump_items(plan, op, file);
        break;
    case OP_RESET_FENCES:
        fputs(op->recreate ? "vkDestroyFence, vkCreateFence" : "vkResetFences", file);
        dump_items(plan, op, file);
        break;
    case OP_QUEUE_IDLE:
        fprintf(file, "%s Q%d", plan->queues[op->queue].bf ? "bfQueueWaitIdle" : "vkQueueWaitIdle",
                op->queue);
        break;
    case OP_DEVICE_IDLE:
        fputs("vkDeviceWaitIdle", file);
        break;
    case OP_SETTLE: {
        fputs("settle; may not finish yet:", file);
        for (int b = 0; b < plan->batch_count; b++)
            if (plan->batches[b].op < index &&
                !plan_set_has(plan->settles[op->settle], plan->batches[b].event))
                fprintf(file, " b%d", b);
        break;
    }
    case OP_YIELD:
        fputs("yield", file);
        break;
    case OP_ARM:
        fprintf(file, "bfQueueWait Q%d S%d>=%" PRIu64, op->queue, plan->events[op->event].semaphore,
                plan->events[op->event].value);
        break;
    case OP_REGISTER: {
        const struct plan_registration *r = &plan->registrations[op->registration];
        fprintf(file, "bfSetEventOnFenceCompletion%s E%d%s:", r->item_count > 1 ? "s" : "", r->bell,
                r->item_count == 1 ? ""
                : r->any           ? " any"
                                   : " all");
        for (int i = 0; i < r->item_count; i++)
            fprintf(file, " S%d>=%" PRIu64, r->items[i].index, r->items[i].value);
        break;
    }
    case OP_LOOK:
        fputs("poll", file);
        dump_items(plan, op, file);
        break;
    case OP_DESTROY_FENCE:
        fprintf(file, "bfDestroyFence S%d", plan->events[op->event].semaphore);
        break;
    case OP_DESTROY_BELL:
        fputs("bfDestroyEvent", file);
        dump_items(plan, op, file);
        break;
    case OP_DESTROY_QUEUE:
        fprintf(file, "bfDestroyCommandQueue Q%d", op->queue);
        break;
    case OP_PRIORITY:
        fprintf(file, "bfSetCommandQueuePriority Q%d %s", op->queue, op->high ? "HIGH" : "NORMAL");
        break;
    }
}

void plan_dump(const struct plan *plan, FILE *file)
{
    fprintf(file,
            "program %" PRIu64 ": shape %s, %d queues, %d threads, %d batches, %d command buffers, "
            "%d calls\n",
            plan->seed, plan_shape_name(plan->shape), plan->queue_count, plan->thread_count,
            plan->batch_count, plan->cb_count, plan->op_count);
    if (plan->present_percent)
        fprintf(file, "  %d%% of the submits have a present behind them\n", plan->present_percent);
    const struct plan_block *block = &plan->block;
    if (block->first)
        fprintf(file, "  a test driver blocks in call %u (each %u) of %s, for %u us, %s\n",
                block->first, block->every, block->command ? block->command : "a queue", block->us,
                block->late ? "late" : "early");
    static const char *const types[] = {"direct", "bundle", "compute", "copy"};
    static const char *const faces[] = {"VkSemaphore", "BfFence", "imported BfFence",
                                        "exported BfFence"};
    for (int q = 0; q < plan->queue_count; q++) {
        if (plan->queues[q].twin >= 0)
            fprintf(file, "  Q%d is Q%d\n", q, plan->queues[q].twin);
        else if (plan->queues[q].bf)
            fprintf(file, "  Q%d is a BfCommandQueue: %s, %s%s%s%s%s\n", q,
                    types[plan->queues[q].type], plan->queues[q].high ? "high" : "normal",
                    plan->queues[q].dynamic ? ", dynamic" : "",
                    plan->queues[q].software ? ", software fences" : "",
                    plan->queues[q].progress ? ", progress fence" : "",
                    plan->queues[q].read ? ", logs are read" : "");
        else
            fprintf(file, "  Q%d is queue %d of the device%s%s%s\n", q,
                    plan->queues[q].machine_queue, plan->queues[q].commands ? "" : ", no commands",
                    plan->queues[q].sparse ? ", sparse binds" : "",
                    plan->queues[q].read ? ", logs are read" : "");
    }
    for (int s = 0; s < plan->semaphore_count; s++)
        if (plan->semaphores[s].timeline)
            fprintf(file, "  S%d is %s%s%s%s from %" PRIu64 "\n", s,
                    plan->semaphores[s].outside      ? "a (signalled from outside) "
                    : plan->semaphores[s].exportable ? "an exportable "
                                                     : "a ",
                    plan->semaphores[s].native ? "native " : "",
                    plan->semaphores[s].wild ? "wild " : "", faces[plan->semaphores[s].face],
                    plan->semaphores[s].initial);
        else
            fprintf(file, "  B%d is binary\n", s);
    for (int i = 0; i < plan->op_count; i++) {
        fputs("  ", file);
        plan_dump_op(plan, i, file);
        fputc('\n', file);
    }
}
