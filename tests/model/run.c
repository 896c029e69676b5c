/* SPDX-License-Identifier: MIT */
/* Issues a program's operations to Belfry and to the ideal machine, and compares the two (run.h).
 * */
#include "run.h"

/* What fences are set to when all that waits is to be released: above every value of a program. */
#define HIGH 1000

struct run {
    struct rig *rig;
    const struct program *program;
    const struct run_options *options;
    struct schedule *schedule;
    struct outcome *outcome;
    bool (*seen)(uint64_t state);
    struct ideal *ideal;

    BfCommandQueue queues[MODEL_QUEUES];
    BfFence fences[MODEL_FENCES], probe;
    bool in_call;   /* of those that finishes may fall into */
    op_set during;  /* finished inside of this call */
    op_set checked; /* accepted, and looked at */
    int inside_left, reads_left, refusals_left;
    bool just_refused;
    bool refused;   /* in this call */
    op_set read_at; /* finished when fences were last read */
    bool just_read;
    uint64_t calls; /* hash of the calls made */
};

static void violate(struct run *run, const char *format, ...)
{
    if (run->outcome->violation[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->outcome->violation, sizeof(run->outcome->violation), format, arguments);
    va_end(arguments);
}

static void trace(struct run *run, const char *format, ...)
{
    if (!run->options->trace)
        return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(run->options->trace, format, arguments);
    va_end(arguments);
    fputc('\n', run->options->trace);
}

static const char *op_text(const struct program *program, int i, char buffer[MODEL_TEXT])
{
    struct program one = {.count = 1, .ops = {program->ops[i]}};
    return program_text(&one, buffer);
}

/* ----------------------------------------------------------------------------------- The rig -- */

bool rig_attach(struct rig *rig, int engines)
{
    gpu_init(&rig->gpu, engines);
    BfAttachQueue queues[MODEL_ENGINES];
    for (int e = 0; e < engines; e++)
        queues[e] = (BfAttachQueue){.queue = gpu_queue(&rig->gpu, e),
                                    .queueFamilyIndex = GPU_FAMILY,
                                    .queueIndex = (uint32_t)e};
    const BfAttachInfo info = {.sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
                               .pfnGetInstanceProcAddr = gpu_instance_proc_addr,
                               .instance = gpu_instance(&rig->gpu),
                               .physicalDevice = gpu_physical_device(&rig->gpu),
                               .pfnGetDeviceProcAddr = gpu_device_proc_addr,
                               .device = gpu_device(&rig->gpu),
                               .queueCount = (uint32_t)engines,
                               .pQueues = queues};
    VkResult result = bfAttachDevice(&info, &rig->device);
    if (result != VK_SUCCESS)
        fprintf(stderr, "belfry-model: bfAttachDevice returns %d\n", result);
    return result == VK_SUCCESS;
}

bool rig_detach(struct rig *rig)
{
    BfDeviceCounters counters = {.sType = BF_STRUCTURE_TYPE_DEVICE_COUNTERS};
    VkResult result = bfGetDeviceCounters(rig->device, &counters);
    bfDetachDevice(rig->device);
    if (result != VK_SUCCESS || counters.sleeperThreads) {
        fprintf(stderr, "belfry-model: VIOLATION: threads were made, and nobody had to sleep\n");
        return false;
    }
    int left = gpu_object_count(&rig->gpu);
    if (left)
        fprintf(stderr, "belfry-model: VIOLATION: bfDetachDevice leaves %d Vulkan objects\n", left);
    return left == 0;
}

bool rig_probe(int engines, int engine_of[MODEL_QUEUES])
{
    static struct rig rig;
    static struct program program;
    BfCommandQueue queues[MODEL_QUEUES];
    bool good = true;
    program_parse(&program, "Ax Bx Cx");
    if (!rig_attach(&rig, engines))
        return false;
    gpu_begin(&rig.gpu, &program);
    for (int q = 0; q < MODEL_QUEUES; q++)
        good &= bfCreateCommandQueue(rig.device,
                                     &(BfCommandQueueCreateInfo){
                                         .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                         .type = BF_COMMAND_LIST_TYPE_DIRECT},
                                     &queues[q]) == VK_SUCCESS;
    for (int q = 0; q < MODEL_QUEUES && good; q++) {
        VkCommandBuffer buffer = gpu_command_buffer(&rig.gpu, q);
        good &= bfQueueExecute(queues[q], 1, &buffer) == VK_SUCCESS && rig.gpu.accepted >> q & 1;
        engine_of[q] = rig.gpu.engine_of[q];
    }
    for (int e = 0; e < engines; e++)
        while (gpu_next(&rig.gpu, e) >= 0)
            gpu_finish(&rig.gpu, e);
    for (int q = 0; q < MODEL_QUEUES && good; q++)
        bfDestroyCommandQueue(queues[q]);
    if (!good)
        fprintf(stderr, "belfry-model: three queues can't execute\n");
    return rig_detach(&rig) && good;
}

/* ------------------------------------------------------------------ Beside the ideal machine -- */

static const char *set_text(op_set set, char buffer[MODEL_OPS * 3 + 1])
{
    char *at = buffer;
    *at = 0;
    for (int i = 0; i < MODEL_OPS; i++)
        if (set >> i & 1)
            at += sprintf(at, at == buffer ? "%d" : ",%d", i);
    return buffer;
}

static void driver_finished(struct run *run, op_set executes)
{
    char buffer[MODEL_OPS * 3 + 1];
    for (int i = 0; i < run->program->count; i++) {
        if (executes >> i & 1 && !ideal_may_begin(run->ideal, i, run->ideal->available))
            violate(run, "MC-1: the driver has finished operation %s before it could begin",
                    set_text((op_set)(1u << i), buffer));
    }
}

/* What the driver was given during the call may begin. */
static void check_accepted(struct run *run)
{
    struct gpu *gpu = &run->rig->gpu;
    char buffer[2][MODEL_OPS * 3 + 1];
    for (int i = 0; i < run->program->count; i++) {
        if (!((gpu->accepted & ~run->checked) >> i & 1))
            continue;
        trace(run, "    engine %d accepts %x, after %s and all that is finished", gpu->engine_of[i],
              i, set_text(gpu->before[i], buffer[0]));
        op_set before = gpu->before[i] | gpu->finished_before[i];
        if (!ideal_may_begin(run->ideal, i, before))
            violate(run,
                    "MC-1: operation %d is handed over such that it may begin too early: Vulkan "
                    "orders {%s} before it, and {%s} was complete",
                    i, set_text(gpu->before[i], buffer[0]),
                    set_text(gpu->finished_before[i], buffer[1]));
    }
    run->checked = gpu->accepted;
    if (gpu->objection[0])
        violate(run, "the driver objects: %s", gpu->objection);
    if (run->ideal->overflow)
        violate(run, "the ideal machine has more states than there is room for");
}

static void begin_call(struct run *run)
{
    run->in_call = true;
    run->refused = false;
    run->during = 0;
}

/* After the call: what may have happened meanwhile. Returns what had been finished before it. */
static op_set end_call(struct run *run)
{
    op_set begun = run->ideal->available;
    run->in_call = false;
    run->ideal->available |= run->during;
    ideal_close(run->ideal);
    return begun;
}

static VkResult call(struct run *run, const struct op *op, VkCommandBuffer command_buffer)
{
    switch ((enum op_kind)op->kind) {
    case OP_EXECUTE:
        return bfQueueExecute(run->queues[op->queue], 1, &command_buffer);
    case OP_SIGNAL:
        return bfQueueSignal(run->queues[op->queue], run->fences[op->fence], op->value);
    case OP_WAIT:
        return bfQueueWait(run->queues[op->queue], run->fences[op->fence], op->value);
    case OP_CPU_SIGNAL:
        break;
    }
    return bfSignalFence(run->fences[op->fence], op->value);
}

static void issue(struct run *run, int i)
{
    const struct op *op = &run->program->ops[i];
    char buffer[MODEL_TEXT];
    trace(run, "call %x: %s", i, op_text(run->program, i, buffer));
    begin_call(run);
    VkResult result = call(run, op, gpu_command_buffer(&run->rig->gpu, i));
    /* It has run out of memory, and left everything as it was: the program calls again. */
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && run->refused) {
        trace(run, "    the call fails, and is made again");
        result = call(run, op, gpu_command_buffer(&run->rig->gpu, i));
    }
    op_set begun = end_call(run);
    if (result != VK_SUCCESS)
        violate(run, "operation %d returns %d", i, result);
    ideal_issue(run->ideal, i, begun);
    ideal_close(run->ideal);
    driver_finished(run, run->during);
    check_accepted(run);
    run->calls = run->calls * 31 + (uint64_t)i + 1;
    run->just_read = false;
}

static void read_fence(struct run *run, int fence)
{
    begin_call(run);
    uint64_t value = bfGetFenceCompletedValue(run->fences[fence]);
    op_set begun = end_call(run);
    trace(run, "    fence %c reads %" PRIu64, 'f' + fence, value);
    if (!ideal_read(run->ideal, fence, value, begun))
        violate(run, "MC-2: fence %c can't read %" PRIu64 " now", 'f' + fence, value);
    driver_finished(run, run->during);
    check_accepted(run);
    run->calls = run->calls * 31 + 100 + (uint64_t)fence;
    run->read_at = run->rig->gpu.finished;
    run->just_read = true;
}

static void read_both(struct run *run)
{
    for (int f = 0; f < MODEL_FENCES; f++)
        read_fence(run, f);
}

/* ---------------------------------------------------------------------------------- Choosing -- */

struct option {
    char label;
    int engine; /* that finishes something, or -1 */
};

static int follow_text(struct run *run, const struct option *options, int count)
{
    struct schedule *schedule = run->schedule;
    char wanted = *schedule->text;
    for (int i = 0; i < count && wanted; i++) {
        if (options[i].label == wanted) {
            schedule->text++;
            return i;
        }
    }
    schedule->diverged = true;
    return 0;
}

static int follow_rng(struct run *run, const struct option *options, int count)
{
    /* Calls are few and counters are read often: each has its share of the finishes. */
    struct rng *rng = run->schedule->rng;
    if (options[0].label == '.' && rng_percent(rng, run->in_call ? 85 : 50))
        return 0;
    return (int)rng_below(rng, (uint32_t)count);
}

static struct option choose(struct run *run, const struct option *options, int count)
{
    struct schedule *schedule = run->schedule;
    if (count == 1)
        return options[0];
    int at = schedule->count, choice = 0;
    if (at == RUN_POINTS) {
        violate(run, "a schedule with more points than there is room for");
        return options[0];
    }
    if (schedule->text)
        choice = follow_text(run, options, count);
    else if (at < schedule->given)
        choice = schedule->choices[at];
    else if (schedule->rng)
        choice = follow_rng(run, options, count);
    if (choice >= count || (at < schedule->given && schedule->option_counts[at] != count)) {
        schedule->diverged = true;
        choice = 0;
    }
    schedule->choices[at] = (uint8_t)choice;
    schedule->option_counts[at] = (uint8_t)count;
    schedule->labels[at] = options[choice].label;
    schedule->count++;
    return options[choice];
}

/* What engines could finish. Labels name executions: engines may be called otherwise next time. */
static int add_finishes(struct run *run, struct option *options, int count)
{
    int first = count;
    for (int e = 0; e < run->rig->gpu.engine_count; e++) {
        int next = gpu_next(&run->rig->gpu, e);
        if (next < 0)
            continue;
        struct option option = {next < MODEL_OPS ? "0123456789abcdef"[next] : '-', e};
        int at = count++;
        for (; at > first && options[at - 1].label > option.label; at--)
            options[at] = options[at - 1];
        options[at] = option;
    }
    return count;
}

static op_set finish(struct run *run, struct option option)
{
    op_set executes = gpu_finish(&run->rig->gpu, option.engine);
    trace(run, "%sengine %d finishes %c", run->in_call ? "    in the call, " : "", option.engine,
          option.label);
    run->just_read = false;
    return executes;
}

/* Belfry reads a counter. */
static void before_query(void *context)
{
    struct run *run = context;
    while (run->in_call && run->inside_left > 0 && !run->outcome->violation[0]) {
        struct option options[RUN_OPTIONS] = {{'.', -1}};
        struct option chosen = choose(run, options, add_finishes(run, options, 1));
        if (chosen.engine < 0)
            return;
        run->inside_left--;
        run->during |= finish(run, chosen);
    }
}

static bool refuses(void *context)
{
    struct run *run = context;
    static const struct option options[] = {{'.', -1}, {'!', -1}};
    run->just_refused = run->in_call && !run->just_refused && run->refusals_left > 0 &&
                        choose(run, options, 2).label == '!';
    if (!run->just_refused)
        return false;
    run->refusals_left--;
    run->refused = true;
    trace(run, "    the driver refuses a submission");
    /* The history is what Belfry's calls were answered. */
    struct rng rng = {run->rig->gpu.history + 1};
    run->rig->gpu.history = rng_next(&rng);
    return true;
}

static void finish_between(struct run *run, struct option option)
{
    op_set executes = finish(run, option);
    run->ideal->available |= executes;
    ideal_close(run->ideal);
    driver_finished(run, executes);
    if (run->options->reads == READS_ALWAYS)
        read_both(run);
}

/* The state of both machines and of the run as a number. Belfry has no state but what follows from
 * the calls it got, in their order, and from what its own calls were answered. (It has what earlier
 * runs on the device have left, too: the same for all schedules but for whose turn is first.) */
static uint64_t state_of(const struct run *run)
{
    const struct gpu *gpu = &run->rig->gpu;
    struct rng rng = {run->calls};
    uint64_t parts[] = {gpu->history, ideal_hash(run->ideal), gpu->finished, gpu->accepted,
                        (uint64_t)run->just_refused << 63 | (uint64_t)run->refusals_left << 48 |
                            (uint64_t)run->inside_left << 32 | (uint64_t)run->reads_left << 16 |
                            run->read_at};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        rng.state = rng_next(&rng) ^ parts[i];
    return rng_next(&rng);
}

/* Lets engines finish and fences be read until the schedule goes on, or ('last') until there is
 * nothing to finish. */
static void pass(struct run *run, bool last)
{
    const struct gpu *gpu = &run->rig->gpu;
    while (!run->outcome->violation[0]) {
        struct option options[RUN_OPTIONS] = {{'.', -1}};
        int count = add_finishes(run, options, last ? 0 : 1);
        bool any = run->options->reads == READS_ANY;
        bool may_read =
            !run->just_read && gpu->finished != run->read_at && (any || run->reads_left > 0);
        if (count == 0)
            return;
        if (last && run->options->reads == READS_CHOSEN && run->reads_left == 0)
            count = 1; /* nobody looks before all is finished: one order will do */
        if (may_read)
            options[count++] = (struct option){'r', -1};
        if (may_read && any) {
            options[count++] = (struct option){'F', -1};
            options[count++] = (struct option){'G', -1};
        }
        if (count > 1 && run->seen && run->schedule->count >= run->schedule->given &&
            run->seen(state_of(run))) {
            run->outcome->cut = true;
            return;
        }
        struct option chosen = choose(run, options, count);
        if (chosen.engine >= 0) {
            finish_between(run, chosen);
        } else if (chosen.label == '.') {
            return;
        } else {
            run->reads_left--;
            if (chosen.label != 'G')
                read_fence(run, 0);
            if (chosen.label != 'F')
                read_fence(run, 1);
        }
    }
}

/* ------------------------------------------------------------------------------------- A run -- */

static bool create(struct run *run)
{
    BfDevice device = run->rig->device;
    bool good = true;
    for (int q = 0; q < MODEL_QUEUES; q++)
        good &= bfCreateCommandQueue(device,
                                     &(BfCommandQueueCreateInfo){
                                         .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                         .type = BF_COMMAND_LIST_TYPE_DIRECT,
                                         .priority = run->options->high >> q & 1
                                                         ? BF_COMMAND_QUEUE_PRIORITY_HIGH
                                                         : BF_COMMAND_QUEUE_PRIORITY_NORMAL,
                                     },
                                     &run->queues[q]) == VK_SUCCESS;
    for (int f = 0; f < MODEL_FENCES; f++)
        good &= bfCreateFence(device,
                              &(BfFenceCreateInfo){.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO},
                              &run->fences[f]) == VK_SUCCESS;
    good &=
        bfCreateFence(device, &(BfFenceCreateInfo){.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO},
                      &run->probe) == VK_SUCCESS;
    if (!good)
        violate(run, "queues or fences can't be created");
    return good;
}

/* A signal on an idle queue applies at once (MI-5). */
static bool probe_idle(struct run *run, int queue, uint64_t value)
{
    if (bfQueueSignal(run->queues[queue], run->probe, value) != VK_SUCCESS)
        violate(run, "the signal of a probe fails");
    return bfGetFenceCompletedValue(run->probe) == value;
}

static void check_end(struct run *run, const struct ideal *ends)
{
    struct gpu *gpu = &run->rig->gpu;
    if (!ideal_rests(run->ideal))
        violate(run, "MC-3: no engine has anything to do, but an execution could go on");
    read_both(run);
    bool idle = !run->options->orphan;
    for (int q = 0; q < MODEL_QUEUES && !run->options->orphan && !run->outcome->violation[0]; q++) {
        bool queue_idle = probe_idle(run, q, (uint64_t)q + 1);
        trace(run, "queue %c has %s left to do", 'A' + q, queue_idle ? "nothing" : "something");
        if (!ideal_queue_is_idle(run->ideal, q, queue_idle))
            violate(run, "MC-4: queue %c has %s left to do", 'A' + q,
                    queue_idle ? "nothing" : "something");
        idle &= queue_idle;
    }
    op_set executes = run->program->executes;
    run->outcome->finished = idle && (gpu->finished & executes) == executes;

    const ideal_state fields = UINT64_C(0xf0000ffff); /* without the waits satisfied */
    for (int s = 0; s < run->ideal->count && !run->outcome->violation[0]; s++) {
        ideal_state end =
            ideal_settle(run->ideal, run->ideal->states[s], run->ideal->available) & fields;
        bool found = false;
        for (int e = 0; e < ends->count && !found; e++)
            found = (ends->states[e] & fields) == end;
        if (!found)
            violate(run, "MC-6: the ideal machine never ends like this");
    }
}

static void destroy_queues(struct run *run)
{
    begin_call(run);
    for (int q = 0; q < MODEL_QUEUES; q++) {
        bfDestroyCommandQueue(run->queues[q]);
        run->queues[q] = NULL;
    }
    end_call(run);
}

/* MC-5, and leaves the device with nothing to do. */
static void release(struct run *run)
{
    struct gpu *gpu = &run->rig->gpu;
    for (int f = 0; f < MODEL_FENCES; f++)
        if (run->options->destroy)
            bfDestroyFence(run->fences[f]);
        else if (bfSignalFence(run->fences[f], HIGH) != VK_SUCCESS)
            violate(run, "setting a fence high fails");
    bool moved;
    do {
        moved = false;
        for (int e = 0; e < gpu->engine_count; e++) {
            if (gpu_next(gpu, e) >= 0) {
                gpu_finish(gpu, e);
                moved = true;
            }
        }
    } while (moved);
    op_set executes = run->program->executes & run->ideal->issued;
    if (gpu->finished != executes)
        violate(run, "MC-5: executions are left over when all waits are released");
    for (int q = 0; q < MODEL_QUEUES && run->queues[q]; q++) {
        if (!probe_idle(run, q, HIGH + (uint64_t)q))
            violate(run, "MC-5: queue %c has something left to do when all waits are released",
                    'A' + q);
    }
    if (gpu->objection[0])
        violate(run, "the driver objects: %s", gpu->objection);
    if (run->outcome->violation[0])
        return;
    destroy_queues(run);
    for (int f = 0; f < MODEL_FENCES && !run->options->destroy; f++)
        bfDestroyFence(run->fences[f]);
    bfDestroyFence(run->probe);
}

void run_program(struct rig *rig, const struct program *program, const struct run_options *options,
                 struct schedule *schedule, const struct ideal *ends, bool (*seen)(uint64_t state),
                 struct outcome *outcome)
{
    static struct ideal ideal;
    struct run run = {.rig = rig,
                      .program = program,
                      .options = options,
                      .schedule = schedule,
                      .outcome = outcome,
                      .seen = seen,
                      .ideal = &ideal,
                      .inside_left = options->inside_budget,
                      .refusals_left = options->refusal_budget,
                      .reads_left = options->reads == READS_CHOSEN ? options->read_budget : 0};
    outcome->violation[0] = 0;
    outcome->cut = outcome->finished = false;
    schedule->count = 0;
    schedule->diverged = false;
    gpu_begin(&rig->gpu, program);
    rig->gpu.before_query = before_query;
    rig->gpu.refuses = refuses;
    rig->gpu.context = &run;
    ideal_begin(&ideal, program, true);

    if (!create(&run))
        return;
    for (int i = 0; i < program->count && !outcome->cut && !outcome->violation[0]; i++) {
        if (i >= options->loaded)
            pass(&run, false);
        if (outcome->cut || outcome->violation[0])
            break;
        issue(&run, i);
        if (options->reads == READS_ALWAYS && i + 1 >= options->loaded)
            read_both(&run);
    }
    if (!outcome->cut && !outcome->violation[0] && options->orphan) {
        destroy_queues(&run);
        driver_finished(&run, run.during);
        check_accepted(&run);
    }
    if (!outcome->cut)
        pass(&run, true);
    if (!outcome->cut && !outcome->violation[0])
        check_end(&run, ends);
    if (!outcome->violation[0])
        release(&run);
    outcome->queries += rig->gpu.queries;
    rig->gpu.before_query = NULL;
    rig->gpu.refuses = NULL;
}
