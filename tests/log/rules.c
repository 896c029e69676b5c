/* SPDX-License-Identifier: MIT */
/* Logs of a queue's waits and signals: what is in memory, when, and which times. */
#include "log/read.h"

/* ------------------------------------------------------------------------------------ Memory -- */

FIXTURE_TEST(memory_is_what_the_document_says_to_the_bit)
{
    for (int t = 0; t < 3; t++) {
        BfCommandQueue queue = make_queue(f, queue_types[t]);
        BfFence fence = make_native_fence(f, 0);
        BfFenceLogReader signals = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
        BfFenceLogReader waits = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        size_t size;
        BfFenceLogBuffer *log = dump(signals, &size);
        assert_int_equal(size, 40 + 84 * 48);
        assert_int_equal(number_at(log, 0, 8), 0);
        assert_int_equal(number_at(log, 8, 4), 2);
        assert_int_equal(number_at(log, 16, 8), 84);
        for (size_t i = 24; i < size; i += 8)
            assert_int_equal(number_at(log, i, 8), 0);
        free(log);

        queue_signal(queue, fence, BIG + 1);
        queue_signal(queue, fence, 2);
        queue_wait(queue, fence, 1);
        queue_signal(queue, fence, 3);
        await_idle(queue);
        log = dump(signals, &size);
        assert_int_equal(number_at(log, 0, 4), 3);
        assert_int_equal(number_at(log, 4, 4), 0);
        assert_int_equal(number_at(log, 12, 4), 0);
        assert_int_equal(number_at(log, 24, 8), 0);
        assert_int_equal(number_at(log, 32, 8), 0);
        static const uint64_t values[] = {BIG + 1, 2, 3};
        for (size_t i = 0; i < 3; i++) {
            size_t at = 40 + 48 * i;
            assert_int_equal(number_at(log, at, 8), values[i]);
            assert_int_equal(number_at(log, at + 8, 4), bfGetFenceLogHandle(fence));
            assert_int_equal(number_at(log, at + 12, 4), 0);
            assert_int_equal(number_at(log, at + 16, 8),
                             is_timed(f, queue) ? 0 : BF_FENCE_LOG_UNTIMED_BIT);
            assert_int_equal(number_at(log, at + 24, 8), 0);
            assert_int_equal(number_at(log, at + 32, 8), 0);
            assert_int_equal(number_at(log, at + 40, 8) != 0, is_timed(f, queue));
        }
        free(log);
        log = dump(waits, &size);
        assert_int_equal(number_at(log, 0, 8), 1);
        assert_int_equal(number_at(log, 8, 4), 1);
        assert_int_equal(number_at(log, 40, 8), 1);
        assert_int_equal(number_at(log, 48, 4), bfGetFenceLogHandle(fence));
        assert_int_equal(number_at(log, 52, 4), 1);
        free(log);
        /* What doesn't fit is cut off. */
        uint64_t two[2] = {7, 7};
        size = 12;
        assert_int_equal(bfDumpFenceLog(waits, &size, two), VK_INCOMPLETE);
        assert_int_equal(size, 12);
        assert_int_equal(two[0], 1);
        assert_int_equal((uint32_t)two[1], 1);
        assert_int_equal(two[1] >> 32, 0);
        bfDestroyFenceLogReader(signals);
        bfDestroyFenceLogReader(waits);
    }
}

/* Value, entry, index, and only then what makes the CPU look; also where words come before what was
 * written ahead of them, unless a barrier keeps them apart. */
TEST(an_entry_is_there_before_its_signal_applies)
{
    if (!fixture_is_icd() || is_untimed())
        return;
    for (int t = 0; t < 3; t++) {
        for (int native = 0; native < 2; native++) {
            struct fixture f;
            fixture_open(&f, NULL);
            BfCommandQueue queue = make_queue(&f, queue_types[t]);
            BfFence fence = native ? make_native_fence(&f, 1) : make_fence(&f, 1);
            BfFenceLogReader reader = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
            f.icd.hold_before_signals(true);
            f.icd.late_writes(true);
            queue_signal(queue, fence, 9);
            f.icd.quiesce();
            assert_value(fence, 1);
            BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
            if (native) {
                assert_success(bfGetNativeFenceMapping(fence, &mapping));
                assert_int_equal(__atomic_load_n(mapping.pCurrentValue, __ATOMIC_ACQUIRE), 9);
            }
            BfFenceLogBuffer *log = dump(reader, NULL);
            assert_int_equal(log->header.atomicWraparoundAndEntryIndex, 1);
            assert_int_equal(log->entries[0].fenceValue, 9);
            assert_int_equal(log->entries[0].hNativeFence, bfGetFenceLogHandle(fence));
            free(log);
            f.icd.late_writes(false);
            f.icd.hold_before_signals(false);
            await_fence(fence, 9);
            bfDestroyFenceLogReader(reader);
            fixture_close(&f);
        }
    }
}

struct order_watch {
    struct fixture *f;
    BfFenceLogReader reader;
    const volatile uint64_t *value;
    uint64_t was;
    uint32_t seen[3]; /* commands behind which there was nothing, the value, the entry, too */
    bool early;
};

/* Behind each command: who sees the value finds the data, and who sees an entry counted
 * finds it whole, and the value. */
static void order_look(void *data)
{
    struct order_watch *w = data;
    uint64_t bytes[64];
    size_t size = sizeof(bytes);
    bfDumpFenceLog(w->reader, &size, bytes);
    bool entry = (uint32_t)bytes[0] == w->was + 1;
    bool payload = bytes[5 + 6 * w->was] == w->was + 1;
    bool value = __atomic_load_n(w->value, __ATOMIC_ACQUIRE) == w->was + 1;
    bool work = __atomic_load_n(&w->f->words[3], __ATOMIC_ACQUIRE) == w->was + 1;
    w->early |= (entry && !(value && payload)) || (value && !work);
    w->seen[entry ? 2 : value]++;
}

/* Work, the value, the entry, in this order, on a driver that keeps none that isn't asked for. */
TEST(commands_are_ordered_by_barriers_alone)
{
    if (!fixture_is_icd() || is_untimed())
        return;
    setenv("BELFRY_ICD_ORDER", "worst", 1);
    for (int t = 0; t < 6; t++) {
        struct fixture f;
        fixture_open(&f, NULL);
        BfCommandQueue queue = make_queue(&f, queue_types[t % 3]);
        BfFence fence, gate = make_fence(&f, 0);
        bool progress = t >= 3; /* stored in the batch of the work itself */
        if (progress)
            assert_success(bfGetCommandQueueProgressFence(queue, &fence));
        else
            fence = make_native_fence(&f, 0);
        BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
        assert_success(bfGetNativeFenceMapping(fence, &mapping));
        struct order_watch w = {.f = &f,
                                .value = mapping.pCurrentValue,
                                .reader = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0)};
        for (; w.was < 3 && !w.early; w.was++) {
            f.icd.watch_commands(order_look, &w);
            queue_wait(queue, gate, w.was + 1);
            execute(queue, write_word(&f, queue, 3, (uint32_t)w.was + 1));
            if (!progress)
                queue_signal(queue, fence, w.was + 1);
            cpu_signal(gate, w.was + 1);
            await_fence(fence, w.was + 1);
            await_idle(queue);
            f.icd.quiesce();
            f.icd.watch_commands(NULL, NULL);
        }
        if (w.early)
            fail_msg("case %d: early at signal %llu", t, (unsigned long long)w.was);
        assert_true(w.seen[0] && w.seen[1] && w.seen[2]);
        bfDestroyFenceLogReader(w.reader);
        fixture_close(&f);
    }
    unsetenv("BELFRY_ICD_ORDER");
}

/* A wait is over when the work behind it begins, and so is its entry there. */
FIXTURE_TEST(a_waits_entry_is_there_before_the_work_behind_it)
{
    if (is_untimed())
        return;
    for (int t = 0; t < 2; t++) { /* those that can stall */
        BfCommandQueue queue = make_queue(f, queue_types[t]);
        BfFence gate = make_native_fence(f, 1);
        BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        for (uint64_t i = 1; i <= 2; i++) {
            queue_wait(queue, gate, i); /* satisfied, and held */
            VkEvent stall = stall_begin(f, queue);
            cpu_signal(gate, 2);
            fixture_settle(f);
            BfFenceLogBuffer *log = NULL;
            do {
                free(log);
                log = dump(reader, NULL);
            } while (!fixture_is_icd() && log->header.atomicWraparoundAndEntryIndex < i);
            assert_int_equal(log->header.atomicWraparoundAndEntryIndex, i);
            assert_int_equal(log->entries[i - 1].fenceValue, i);
            free(log);
            stall_end(f, stall);
            await_idle(queue);
        }
        bfDestroyFenceLogReader(reader);
    }
}

FIXTURE_TEST(dumps_are_what_belfry_log_reads)
{
    const char *build = getenv("BELFRY_TEST_BUILD");
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(f, 0);
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 5);
    for (uint64_t i = 1; i <= 7; i++)
        queue_signal(queue, fence, 100 + i);
    await_fence(fence, 107);
    size_t size;
    BfFenceLogBuffer *log = dump(reader, &size);
    char name[] = "/tmp/belfry-log-XXXXXX", command[4096], line[1024];
    int file = mkstemp(name);
    assert_true(file >= 0);
    assert_int_equal(write(file, log, size), size);
    close(file);
    free(log);
    snprintf(command, sizeof(command), "'%s/bin/belfry' log --json %s", build ? build : ".", name);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    uint64_t value = 103; /* 1 and 2 have been overwritten */
    while (fgets(line, sizeof(line), output)) {
        char wanted[32];
        snprintf(wanted, sizeof(wanted), ":%llu,", (unsigned long long)value++);
        if (!strstr(line, wanted))
            fail_msg("no value %s in: %s", wanted, line);
    }
    assert_int_equal(pclose(output), 0);
    unlink(name);
    assert_int_equal(value, 108);
    bfDestroyFenceLogReader(reader);
}

/* ------------------------------------------------------------------------------------ Losing -- */

TYPE_TEST(what_is_overwritten_is_counted_exactly)
{
    BfFence fence = make_native_fence(f, 0);
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 4);
    struct records r;
    for (uint64_t i = 1; i <= 101; i++) {
        queue_signal(queue, fence, i);
        await_fence(fence, i);
    }
    BfFenceLogBuffer *log = dump(reader, NULL);
    assert_int_equal(log->header.numberOfEntries, 4);
    assert_int_equal(log->header.position.firstFreeEntryIndex, 1);
    assert_int_equal(log->header.position.wraparoundCount, 25);
    free(log);
    read_all(reader, &r);
    assert_int_equal(r.count, 3); /* a fourth might be being overwritten */
    assert_int_equal(r.lost, 98);
    assert_int_equal(r.at[0].lostBefore, 98);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(r.at[i].sequence, 98 + i);
        assert_int_equal(r.at[i].entry.fenceValue, 99 + i);
    }
    read_all(reader, &r);
    assert_int_equal(r.count, 0);
    assert_int_equal(r.lost, 0);
    bfDestroyFenceLogReader(reader);
}

/* The GPU stands still: nobody waits for slots, the rest isn't logged, and all is signalled. */
TYPE_TEST(what_finds_no_slot_is_counted_as_lost)
{
    if (!fixture_is_icd())
        return;
    BfFence fence = make_native_fence(f, 0);
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 2);
    struct records r;
    f->icd.pause();
    for (uint64_t i = 1; i <= 30; i++)
        queue_signal(queue, fence, i);
    f->icd.resume();
    await_fence(fence, 30);
    read_all(reader, &r);
    assert_int_equal(r.count + r.lost, 30);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.at[0].sequence, 7); /* four slots for each of two entries */
    queue_signal(queue, fence, 50);        /* they are free again */
    await_fence(fence, 50);
    read_all(reader, &r);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.lost, 0);
    assert_int_equal(r.at[0].entry.fenceValue, 50);
    assert_int_equal(r.at[0].sequence, 8);
    bfDestroyFenceLogReader(reader);
}

/* Where the host fills times in, it may find that the GPU has been given the next entry for the
 * same place by then. Times are there in full, or the entry says that there are none. */
TYPE_TEST(an_entry_has_its_times_or_says_that_it_has_none)
{
    if (!fixture_is_icd() || is_untimed())
        return;
    enum { EACH = 5 };
    BfCommandQueue other = make_queue(f, type);
    uint32_t family = bfGetCommandQueueFamilyIndex(queue);
    BfFence fence = make_native_fence(f, 0), gate = make_native_fence(f, 0);
    BfFenceLogReader readers[] = {make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 2),
                                  make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 2)};
    struct records r;
    uint64_t got[2] = {0};
    f->icd.pause();
    for (uint64_t i = 1; i <= EACH; i++) {
        queue_signal(other, gate, i);
        queue_wait(queue, gate, i);
        queue_signal(queue, fence, i);
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t q = 0; q < 16 * DEVICE_FAMILIES; q++)
            more |= f->icd.step(q / 16, q % 16);
        f->icd.quiesce();
        for (int side = 0; side < 2; side++) {
            read_all(readers[side], &r);
            got[side] += r.count + r.lost;
            for (uint32_t i = 0; i < r.count && f->families[family].timestampValidBits; i++) {
                const BfFenceLogEntry *entry = &r.at[i].entry;
                if (entry->reserved0 & BF_FENCE_LOG_UNTIMED_BIT)
                    assert_int_equal(entry->fenceEndGpuTimestamp, 0);
                else
                    assert_int_not_equal(entry->fenceEndGpuTimestamp, 0);
                assert_true(entry->fenceObservedGpuTimestamp <= entry->fenceEndGpuTimestamp);
            }
        }
    }
    assert_int_equal(got[0], EACH);
    assert_int_equal(got[1], EACH);
    f->icd.resume();
    bfDestroyFenceLogReader(readers[0]);
    bfDestroyFenceLogReader(readers[1]);
}

FIXTURE_TEST(waits_without_a_batch_are_kept_or_counted)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 1000);
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
    struct records r;
    for (uint64_t i = 1; i <= 3; i++)
        queue_wait(queue, fence, i);
    read_all(reader, &r); /* gives them to the queue */
    await_idle(queue);
    struct records more;
    read_all(reader, &more);
    assert_int_equal(r.count + more.count, 3);
    for (uint64_t i = 1; i <= 100; i++)
        queue_wait(queue, fence, i);
    queue_signal(queue, fence, 2000);
    await_idle(queue);
    read_all(reader, &r);
    assert_int_equal(r.count + r.lost, 100);
    assert_true(r.count > 0);
    for (uint32_t i = 0; i < r.count; i++)
        assert_int_equal(r.at[i].entry.fenceValue, i + 1);
    bfDestroyFenceLogReader(reader);
    /* As many, and each with a batch behind it: none is lost. */
    reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 200);
    for (uint64_t i = 1; i <= 100; i++) {
        queue_wait(queue, fence, i);
        execute(queue, write_word(f, queue, 0, 1));
        if (i % 10 == 0)
            await_idle(queue);
    }
    read_all(reader, &r);
    assert_int_equal(r.count, 100);
    assert_int_equal(r.lost, 0);
    for (uint32_t i = 0; i < r.count; i++)
        assert_int_equal(r.at[i].entry.fenceValue, i + 1);
    bfDestroyFenceLogReader(reader);
}

/* ------------------------------------------------------------------------------- Re-creation -- */

TYPE_TEST(a_log_is_replaced_while_work_is_queued)
{
    BfFence fence = make_native_fence(f, 0), gate = make_fence(f, 0);
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 100);
    struct records r;
    uint64_t value = 0, seen = 0;
    for (uint32_t round = 1; round <= 6; round++) {
        /* Some with the driver, some held, when the buffers are exchanged; twice in between. */
        for (int i = 0; i < 5; i++)
            queue_signal(queue, fence, ++value);
        queue_wait(queue, gate, round);
        for (int i = 0; i < 5; i++)
            queue_signal(queue, fence, ++value);
        assert_success(bfSetFenceLogEntries(reader, 60 + round));
        if (round % 2)
            assert_success(bfSetFenceLogEntries(reader, 90 + round));
        cpu_signal(gate, round);
        if (round % 3)
            continue;
        await_fence(fence, value);
        read_all(reader, &r);
        assert_int_equal(r.lost, 0);
        for (uint32_t i = 0; i < r.count; i++) {
            assert_int_equal(r.at[i].sequence, seen++);
            assert_int_equal(r.at[i].entry.fenceValue, seen);
            assert_int_equal(r.at[i].lostBefore, 0);
        }
        assert_int_equal(seen, value);
    }
    /* Who comes later counts as the queue does. */
    BfFenceLogReader late = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
    queue_signal(queue, fence, ++value);
    await_fence(fence, value);
    read_all(late, &r);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.at[0].sequence, seen);
    bfDestroyFenceLogReader(late);
    assert_bad_input(bfSetFenceLogEntries(reader, 0));
    assert_bad_input(bfSetFenceLogEntries(reader, 1));
    assert_bad_input(bfSetFenceLogEntries(reader, 65537));
    bfDestroyFenceLogReader(reader);
    /* One is too few to be asked for, and no error: at least so many. */
    reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 1);
    queue_signal(queue, fence, ++value);
    await_fence(fence, value);
    read_all(reader, &r);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.at[0].sequence, seen + 1);
    bfDestroyFenceLogReader(reader);
}

/* ------------------------------------------------------------------------------------- Times -- */

FIXTURE_TEST(a_satisfied_wait_did_not_stall)
{
    for (int t = 0; t < 3; t++) {
        BfCommandQueue queue = make_queue(f, queue_types[t]);
        BfFence fence = make_native_fence(f, 7), gate = make_fence(f, 0);
        BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        struct records r;
        queue_wait(queue, fence, 7);
        execute(queue, write_word(f, queue, 0, 1));
        queue_wait(queue, gate, 1);
        queue_wait(queue, fence, 6); /* satisfied when it was called, behind one that isn't */
        queue_signal(queue, fence, 8);
        cpu_signal(gate, 1);
        await_idle(queue);
        read_all(reader, &r);
        assert_int_equal(r.count, 3);
        assert_int_equal(r.at[0].entry.fenceObservedGpuTimestamp, 0);
        if (!is_timed(f, queue) || f->calibrated)
            assert_int_equal(r.at[1].entry.fenceObservedGpuTimestamp != 0, is_timed(f, queue));
        assert_int_equal(r.at[2].entry.fenceObservedGpuTimestamp, 0);
        assert_int_equal(r.at[2].entry.fenceValue, 6);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(r.at[i].entry.fenceEndGpuTimestamp != 0, is_timed(f, queue));
        bfDestroyFenceLogReader(reader);
    }
}

FIXTURE_TEST(a_wait_is_observed_when_the_packet_before_has_ended)
{
    for (int t = 0; t < 2; t++) { /* those that can stall */
        BfCommandQueue queue = make_queue(f, queue_types[t]);
        BfFence before = make_native_fence(f, 0), gate = make_fence(f, 0), after = make_fence(f, 0);
        BfFenceLogReader waits = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        BfFenceLogReader signals = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
        VkEvent stall = stall_begin(f, queue);
        queue_signal(queue, before, 1);
        queue_wait(queue, gate, 1);
        queue_signal(queue, after, 1);
        stall_end(f, stall);
        await_fence(before, 1);
        cpu_signal(gate, 1);
        await_fence(after, 1);
        struct records w, s;
        read_all(waits, &w);
        read_all(signals, &s);
        assert_int_equal(w.count, 1);
        assert_int_equal(s.count, 2);
        if (is_timed(f, queue)) {
            /* The signal was that packet's end, and its stamp is the time. */
            assert_int_equal(w.at[0].entry.fenceObservedGpuTimestamp,
                             s.at[0].entry.fenceEndGpuTimestamp);
            assert_int_equal(w.at[0].entry.reserved0, 0);
            assert_true(w.at[0].entry.fenceEndGpuTimestamp >=
                        w.at[0].entry.fenceObservedGpuTimestamp);
        }
        /* On an idle queue it is the call. */
        queue_wait(queue, gate, 2);
        queue_signal(queue, after, 2);
        cpu_signal(gate, 2);
        await_fence(after, 2);
        read_all(waits, &w);
        assert_int_equal(w.count, 1);
        if (is_timed(f, queue) && f->calibrated) {
            assert_int_equal(w.at[0].entry.reserved0, BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT);
            assert_true(w.at[0].entry.fenceObservedGpuTimestamp >
                        s.at[1].entry.fenceEndGpuTimestamp);
        }
        bfDestroyFenceLogReader(waits);
        bfDestroyFenceLogReader(signals);
    }
}

FIXTURE_TEST(an_imported_fence_is_called_as_its_semaphore_is)
{
    if (fixture_is_validated())
        return; /* it loses track of host-signalled timelines (CMakeLists.txt: 'import_export') */
    VkSemaphore semaphore = make_timeline(f, 0);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence;
    assert_success(bfImportFenceFromSemaphore(f->bf, semaphore, &fence));
    BfFenceLogReader waits = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
    BfFenceLogReader signals = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
    queue_wait(queue, fence, 3);
    queue_signal(queue, fence, 5);
    vulkan_signal(f->device, semaphore, 3);
    await_idle(queue);
    struct records w, s;
    read_all(waits, &w);
    read_all(signals, &s);
    assert_int_equal(w.count, 1);
    assert_int_equal(s.count, 1);
    assert_int_equal(w.at[0].entry.hNativeFence, bfGetFenceLogHandle(fence));
    assert_int_equal(w.at[0].entry.fenceValue, 3);
    assert_int_equal(s.at[0].entry.hNativeFence, bfGetFenceLogHandle(fence));
    assert_int_equal(s.at[0].entry.fenceValue, 5);
    if (is_timed(f, queue) && f->calibrated)
        assert_true(w.at[0].entry.fenceObservedGpuTimestamp > 0); /* it did stall */
    bfDestroyFenceLogReader(waits);
    bfDestroyFenceLogReader(signals);
    bfDestroyFence(fence);
}

/* ---------------------------------------------------------------------------------- VkQueues -- */

static void vk_submit(struct fixture *f, VkQueue queue, VkSemaphore wait, uint64_t wait_value,
                      VkPipelineStageFlags2 stage, VkSemaphore signal, uint64_t signal_value,
                      VkCommandBuffer commands)
{
    const VkSemaphoreSubmitInfo waits = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = wait,
                                         .value = wait_value, .stageMask = stage};
    const VkSemaphoreSubmitInfo signals = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = signal,
                                           .value = signal_value,
                                           .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {
        VK_TYPE(SUBMIT_INFO_2),           .waitSemaphoreInfoCount = wait ? 1 : 0,
        .pWaitSemaphoreInfos = &waits,    .commandBufferInfoCount = commands ? 1 : 0,
        .pCommandBufferInfos = &buffer,   .signalSemaphoreInfoCount = signal ? 1 : 0,
        .pSignalSemaphoreInfos = &signals};
    if (f->layered)
        assert_success(vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE));
    else
        assert_success(bfVkQueueSubmit(f->bf, queue, 1, &info, VK_NULL_HANDLE));
}

FIXTURE_TEST(a_programs_own_queue_is_logged)
{
    if (fixture_is_validated())
        return; /* it loses track of host-signalled timelines (CMakeLists.txt: 'import_export') */
    uint32_t family;
    VkQueue queue = any_queue(f, &family);
    VkSemaphore go = make_timeline(f, 0), done = make_timeline(f, 0);
    BfFence go_fence, done_fence; /* so that Belfry knows them where it is attached */
    assert_success(bfImportFenceFromSemaphore(f->bf, go, &go_fence));
    assert_success(bfImportFenceFromSemaphore(f->bf, done, &done_fence));
    BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .vkQueue = queue,
                                       .type = BF_FENCE_LOG_TYPE_WAITS};
    BfFenceLogReader waits, signals;
    assert_success(bfCreateFenceLogReader(f->bf, &info, &waits));
    info.type = BF_FENCE_LOG_TYPE_SIGNALS;
    assert_success(bfCreateFenceLogReader(f->bf, &info, &signals));
    vulkan_signal(f->device, go, 1);
    vk_submit(f, queue, go, 1, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, done, 1,
              write_word_in(f, family, 1, 1));
    vk_submit(f, queue, go, 2, VK_PIPELINE_STAGE_2_COPY_BIT, done, 2,
              write_word_in(f, family, 1, 2));      /* held, and it holds up copies alone */
    vk_submit(f, queue, NULL, 0, 0, done, 3, NULL); /* nothing but a signal */
    vulkan_signal(f->device, go, 2);
    vulkan_wait(f->device, done, 3);
    if (is_untimed()) /* the driver may tell of its semaphore before it tells Belfry of the batch */
        assert_success(vkDeviceWaitIdle(f->device));
    struct records w, s;
    read_all(waits, &w);
    read_all(signals, &s);
    assert_int_equal(w.count, 2);
    assert_int_equal(s.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(s.at[i].entry.fenceValue, i + 1);
        assert_int_equal(s.at[i].entry.hNativeFence, bfGetFenceLogHandle(done_fence));
        assert_int_equal(s.at[i].entry.fenceEndGpuTimestamp != 0,
                         !is_untimed() && f->families[family].timestampValidBits != 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(w.at[i].entry.fenceValue, i + 1);
        assert_int_equal(w.at[i].entry.hNativeFence, bfGetFenceLogHandle(go_fence));
        assert_int_equal((w.at[i].entry.reserved0 & BF_FENCE_LOG_LATE_BOUND_BIT) != 0, i == 1);
    }
    assert_int_equal(w.at[0].entry.fenceObservedGpuTimestamp, 0);
    assert_int_equal(read_word(f, 1), 2);
    bfDestroyFenceLogReader(waits);
    bfDestroyFenceLogReader(signals);
    bfDestroyFence(go_fence);
    bfDestroyFence(done_fence);
}

/* What the driver refuses, the program is told of, and makes again. */
#define AGAIN(call_)                                                                               \
    while ((call_) == VK_ERROR_OUT_OF_HOST_MEMORY)                                                 \
    refusals++

static void check_entries(BfFenceLogReader reader, uint32_t handle, uint32_t count)
{
    struct records r;
    read_all(reader, &r);
    assert_int_equal(r.count, count);
    assert_int_equal(r.lost, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(r.at[i].sequence, i);
        assert_int_equal(r.at[i].entry.hNativeFence, handle);
        assert_int_equal(r.at[i].entry.fenceValue, i + 1);
    }
    bfDestroyFenceLogReader(reader);
}

static VkResult try_signal(struct fixture *f, VkQueue queue, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = semaphore,
                                          .value = value,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    return f->layered ? vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE)
                      : bfVkQueueSubmit(f->bf, queue, 1, &info, VK_NULL_HANDLE);
}

TEST(what_the_driver_refuses_is_not_logged)
{
    if (!fixture_is_icd() || fixture_is_validated())
        return; /* what is refused, validation takes for submitted */
    enum { CALLS = 3 };
    uint32_t refusals = 0;
    for (uint32_t n = 1; n <= 2 * CALLS; n++) { /* the submission that is refused */
        char environment[64];
        snprintf(environment, sizeof(environment), "OOM_AT_SUBMIT=%u", n);
        const struct fixture_options options = {.environment = environment, .family = UINT32_MAX};
        struct fixture f;
        fixture_open(&f, &options);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
        BfFence fence = make_native_fence(&f, 0), passed = make_fence(&f, CALLS);
        BfFenceLogReader waits = make_reader(&f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        BfFenceLogReader signals = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
        for (uint64_t i = 1; i <= CALLS; i++) {
            queue_wait(queue, passed, i); /* goes with the execution */
            VkCommandBuffer commands = write_word(&f, queue, 0, 1);
            AGAIN(bfQueueExecute(queue, 1, &commands));
            AGAIN(bfQueueSignal(queue, fence, i));
        }
        await_fence(fence, CALLS);
        check_entries(waits, bfGetFenceLogHandle(passed), CALLS);
        check_entries(signals, bfGetFenceLogHandle(fence), CALLS);
        fixture_close(&f);

        fixture_open(&f, &options);
        uint32_t family;
        VkQueue own = any_queue(&f, &family);
        VkSemaphore done = make_timeline(&f, 0);
        BfFence done_fence;
        assert_success(bfImportFenceFromSemaphore(f.bf, done, &done_fence));
        const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                                 .vkQueue = own, .type = BF_FENCE_LOG_TYPE_SIGNALS};
        /* Where nobody knows whether the queue is idle, a log begins with a submission of its
         * own. */
        VkResult made = bfCreateFenceLogReader(f.bf, &info, &signals);
        if (made == VK_ERROR_OUT_OF_HOST_MEMORY)
            made = bfCreateFenceLogReader(f.bf, &info, &signals);
        assert_success(made);
        for (uint64_t i = 1; i <= CALLS; i++)
            AGAIN(try_signal(&f, own, done, i));
        vulkan_wait(f.device, done, CALLS);
        assert_success(vkDeviceWaitIdle(f.device));
        check_entries(signals, bfGetFenceLogHandle(done_fence), CALLS);
        bfDestroyFence(done_fence);
        fixture_close(&f);
    }
    assert_int_equal(refusals, 2 * CALLS + CALLS);
}

/* Nothing can be put into a sparse bind: its entries go with the next batch. */
TEST(sparse_binds_are_logged_beside)
{
    if (!fixture_is_layered() || !fixture_is_icd())
        return;
    struct fixture f;
    fixture_open(&f, NULL);
    uint32_t family;
    VkQueue queue = any_queue(&f, &family);
    const bool sparse = f.families[family].queueFlags & VK_QUEUE_SPARSE_BINDING_BIT;
    if (!sparse)
        fixture_close(&f);
    TEST_NEEDS(sparse, "family for sparse binds");
    VkSemaphore go = make_timeline(&f, 4), done = make_timeline(&f, 0);
    BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .vkQueue = queue,
                                       .type = BF_FENCE_LOG_TYPE_WAITS};
    BfFenceLogReader waits, signals;
    assert_success(bfCreateFenceLogReader(f.bf, &info, &waits));
    info.type = BF_FENCE_LOG_TYPE_SIGNALS;
    assert_success(bfCreateFenceLogReader(f.bf, &info, &signals));
    const uint64_t four = 4, one = 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &four, .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &one};
    const VkBindSparseInfo bind = {VK_TYPE(BIND_SPARSE_INFO), .pNext = &values,
                                   .waitSemaphoreCount = 1,   .pWaitSemaphores = &go,
                                   .signalSemaphoreCount = 1, .pSignalSemaphores = &done};
    assert_success(vkQueueBindSparse(queue, 1, &bind, VK_NULL_HANDLE));
    vulkan_wait(f.device, done, 1);
    struct records w, s;
    read_all(waits, &w); /* hands over what has been noted */
    assert_success(vkQueueWaitIdle(queue));
    if (w.count == 0)
        read_all(waits, &w);
    read_all(signals, &s);
    assert_int_equal(w.count, 1);
    assert_int_equal(s.count, 1);
    assert_int_equal(w.at[0].entry.fenceValue, 4);
    assert_int_equal(s.at[0].entry.fenceValue, 1);
    bfDestroyFenceLogReader(waits);
    bfDestroyFenceLogReader(signals);
    fixture_close(&f);
}

/* -------------------------------------------------------------------------------------- Loss -- */

FIXTURE_TEST(a_reader_of_a_lost_device_is_told)
{
    if (!fixture_is_icd())
        return;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(f, 0), gate = make_fence(f, 0);
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0), none;
    queue_signal(queue, fence, 1);
    await_fence(fence, 1);
    VkEvent stall = stall_begin(f, queue);
    (void)stall;
    f->stalls--;
    queue_signal(queue, fence, 2);
    queue_wait(queue, gate, 1);
    queue_signal(queue, fence, 3);
    f->lost = true;
    f->icd.lose();
    BfFenceLogRecord records[8];
    uint32_t count;
    uint64_t lost;
    size_t size = 0;
    VkResult result = bfReadFenceLog(reader, 8, records, &count, &lost);
    assert_int_equal(result, VK_ERROR_DEVICE_LOST);
    assert_int_equal(count, 0);
    assert_value(fence, UINT64_MAX);
    assert_int_equal(bfReadFenceLog(reader, 8, records, &count, &lost), VK_ERROR_DEVICE_LOST);
    assert_int_equal(bfDumpFenceLog(reader, &size, NULL), VK_ERROR_DEVICE_LOST);
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = queue,
                                             .type = BF_FENCE_LOG_TYPE_WAITS};
    assert_int_equal(bfCreateFenceLogReader(f->bf, &info, &none), VK_ERROR_DEVICE_LOST);
    bfDestroyFenceLogReader(reader);
}
