/* SPDX-License-Identifier: MIT */
/* The rules for resources that several queues share, one by one: what breaks a rule is reported,
 * with everything a reader needs to know; what a rule allows is not. */
#include "check.h"

#define BYTES_OF_BUFFER 256

static const struct check_report *expect_one(struct world *w, enum bf_access_fault fault)
{
    assert_int_equal(w->check.count, 1);
    assert_int_equal(w->check.reports[0].fault, fault);
    return &w->check.reports[0];
}

static void expect_in(const char *line, const char *text)
{
    if (!strstr(line, text))
        fail_msg("no '%s' in: %s", text, line);
}

WORLD_TEST(test_two_writers_are_reported)
{
    bf_access_buffer_name(w->check.access, CHECK_BUFFER(1), "geometry");
    check_use(w->copy, 1, 0, 64, true);
    check_use(w->graphics, 1, 32, 96, true);
    const struct check_report *r = expect_one(w, BF_ACCESS_TWO_WRITERS);
    assert_true(r->overlap);
    assert_string_equal(r->resource, "buffer 'geometry'");
    assert_string_equal(r->earlier, "copy");
    assert_string_equal(r->later, "graphics");
    assert_int_equal(r->packet_earlier, 1);
    assert_int_equal(r->packet_later, 1);
    expect_in(r->line, "queue 'graphics' writes bytes 32 to 95 in packet 1 (bfQueueUses)");
    expect_in(r->line, "queue 'copy' may write bytes 0 to 63 in packet 1");
    expect_in(r->line, "no signal of queue 'copy' after packet 1 is waited for by queue "
                       "'graphics' before packet 1");
}

/* 'Only one queue can write to a resource at a time': whichever bytes. */
WORLD_TEST(test_two_writers_of_different_bytes_are_reported_as_such)
{
    check_use(w->copy, 1, 0, 64, true);
    check_use(w->graphics, 1, 64, 96, true);
    const struct check_report *r = expect_one(w, BF_ACCESS_TWO_WRITERS);
    assert_false(r->overlap);
    expect_in(r->line, "other bytes, but only one queue may write to a resource at a time");
}

WORLD_TEST(test_a_read_of_bytes_being_written_is_reported)
{
    check_use(w->copy, 1, 0, 64, true);
    check_use(w->graphics, 1, 63, 64, false);
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    assert_true(r->write_earlier);
    assert_false(r->write_later);
}

WORLD_TEST(test_a_write_of_bytes_being_read_is_reported)
{
    check_use(w->graphics, 1, 0, BYTES_OF_BUFFER, false);
    check_use(w->copy, 1, 0, 1, true);
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    assert_false(r->write_earlier);
    assert_true(r->write_later);
}

PROGRAM(test_many_may_read_the_same_bytes, 0, "graphics reads, compute reads, copy reads")

/* '... as long as they don't read the bytes being modified by the writer.' */
WORLD_TEST(test_bytes_the_writer_does_not_touch_may_be_read)
{
    check_use(w->copy, 1, 64, 128, true);
    check_use(w->graphics, 1, 0, 64, false);
    check_use(w->compute, 1, 128, 256, false);
    expect_reports(w, 0);
}

PROGRAM(test_other_resources_don_t_matter, 0, "copy writes, graphics writes 2")

PROGRAM(test_one_queue_is_in_order_with_itself, 0, "copy writes, copy writes, copy reads")

PROGRAM(test_a_fence_between_write_and_read_is_enough, 0,
        "copy writes, copy signals a 1, graphics waits a 1, graphics reads")

PROGRAM(test_a_fence_between_write_and_write_is_enough, 0,
        "copy writes, copy signals a 1, graphics waits a 1, graphics writes, "
        "graphics signals b 1, copy waits b 1, copy writes")

/* The signal has to come after the write, the wait before the read. */
WORLD_TEST(test_a_signal_before_the_write_is_not_enough)
{
    check_calls(w, "copy signals a 1, copy writes, graphics waits a 1, graphics reads");
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    assert_int_equal(r->packet_earlier, 2);
    assert_int_equal(r->packet_later, 2);
}

WORLD_TEST(test_a_wait_after_the_read_is_not_enough)
{
    check_calls(w, "copy writes, copy signals a 1, graphics reads, graphics waits a 1");
    expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
}

/* That all calls of the other queue came first, and may be done by now, proves nothing. */
WORLD_TEST(test_a_wait_for_too_small_a_value_is_not_enough)
{
    check_calls(w, "copy signals a 1, copy writes, copy signals a 2, graphics waits a 1, "
                   "graphics reads");
    expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
}

PROGRAM(test_a_wait_for_a_later_value_is_enough, 0,
        "copy writes, copy signals a 1, copy signals a 2, graphics waits a 2, graphics reads")

WORLD_TEST(test_reads_before_the_next_write_need_a_fence_too)
{
    check_calls(w, "copy writes, copy signals a 1, graphics waits a 1, graphics reads");
    check_use(w->copy, 1, 0, 64, true); /* the next frame's, too early */
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    assert_string_equal(r->earlier, "graphics");
    assert_string_equal(r->later, "copy");
    assert_int_equal(r->packet_earlier, 2);
    assert_int_equal(r->packet_later, 3);
}

WORLD_TEST(test_a_fault_is_reported_once)
{
    for (int i = 0; i < 10; i++)
        check_calls(w, "copy writes, graphics writes");
    expect_one(w, BF_ACCESS_TWO_WRITERS);
    check_use(w->compute, 1, 0, 64, true); /* other queues are other pairs */
    assert_int_equal(w->check.count, 3);
}

WORLD_TEST(test_sizes_to_the_end_and_beyond)
{
    bf_access_buffer_add(w->check.access, CHECK_BUFFER(1), BYTES_OF_BUFFER);
    const BfResourceUse whole = {
        .buffer = CHECK_BUFFER(1), .offset = 128, .size = VK_WHOLE_SIZE, .write = true};
    assert_success(bf_access_queue_uses(w->copy, 1, &whole));
    bf_access_queue_execute(w->copy, 0, NULL);
    check_use(w->graphics, 1, 0, 128, false);
    expect_reports(w, 0);
    check_use(w->graphics, 1, BYTES_OF_BUFFER - 1, BYTES_OF_BUFFER, false);
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    expect_in(r->line, "bytes 128 to 255");
}

WORLD_TEST(test_several_uses_of_one_execution_are_put_together)
{
    BfResourceUse uses[8];
    for (uint32_t i = 0; i < 8; i++) /* 0 to 15, 32 to 47, ...; backwards */
        uses[i] = (BfResourceUse){
            .buffer = CHECK_BUFFER(1), .offset = 32 * (7 - i), .size = 16, .write = true};
    assert_success(bf_access_queue_uses(w->copy, 5, uses));
    assert_success(bf_access_queue_uses(w->copy, 3, uses + 5));
    bf_access_queue_execute(w->copy, 0, NULL);
    for (uint32_t i = 0; i < 8; i++)
        uses[i].offset += 16, uses[i].write = false;
    assert_success(bf_access_queue_uses(w->graphics, 8, uses));
    bf_access_queue_execute(w->graphics, 0, NULL);
    expect_reports(w, 0);
    check_use(w->compute, 1, 16 * 9, 16 * 10 + 1, false);
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    expect_in(r->line, "bytes 160 to 175");
}

/* What was told counts for the next execution alone. */
WORLD_TEST(test_uses_are_of_the_next_execution)
{
    const BfResourceUse use = {.buffer = CHECK_BUFFER(1), .size = 64, .write = true};
    assert_success(bf_access_queue_uses(w->copy, 1, &use));
    bf_access_queue_signal(w->copy, w->a, 1); /* not an execution */
    bf_access_queue_execute(w->copy, 0, NULL);
    bf_access_queue_signal(w->copy, w->a, 2);
    bf_access_queue_execute(w->copy, 0, NULL);
    check_calls(w, "graphics waits a 2, graphics writes");
    expect_reports(w, 0);
    check_calls(w, "compute waits a 1, compute reads");
    assert_int_equal(w->check.count, 2); /* with both writers */
    assert_int_equal(w->check.reports[0].packet_earlier, 2);
}

WORLD_TEST(test_an_image_counts_as_a_whole)
{
    check_state(w->copy, 1, BF_RESOURCE_STATE_UNKNOWN, true);
    check_state(w->graphics, 1, BF_RESOURCE_STATE_UNKNOWN, false);
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    expect_in(r->line, "image 0x10010: queue 'graphics' reads all of it");
}

/* ------------------------------------------------------------------------------------- States */

/* One after the other, so that states alone are looked at. */
static void hand_over(struct world *w, struct bf_access_queue *from, struct bf_access_queue *to)
{
    static uint64_t value = 100;
    bf_access_queue_signal(from, w->a, ++value);
    bf_access_queue_wait(to, w->a, value);
}

static void states(struct world *w, struct bf_access_queue *first, BfResourceState before,
                   struct bf_access_queue *second, BfResourceState after)
{
    check_state(first, 1, before, true);
    hand_over(w, first, second);
    check_state(second, 1, after, true);
}

WORLD_TEST(test_copy_dest_of_a_copy_queue_is_not_that_of_a_3d_queue)
{
    states(w, w->copy, BF_RESOURCE_STATE_COPY_DEST, w->graphics, BF_RESOURCE_STATE_COPY_DEST);
    const struct check_report *r = expect_one(w, BF_ACCESS_STATE);
    assert_string_equal(r->earlier, "copy");
    assert_string_equal(r->later, "graphics");
    expect_in(r->line, "in COPY_DEST in packet 2 (bfQueueUses)");
    expect_in(r->line, "did not go through COMMON");
}

WORLD_TEST(test_and_the_other_way_round)
{
    states(w, w->compute, BF_RESOURCE_STATE_COPY_SOURCE, w->copy, BF_RESOURCE_STATE_COPY_SOURCE);
    expect_one(w, BF_ACCESS_STATE);
}

WORLD_TEST(test_a_state_of_3d_queues_is_none_on_a_copy_queue)
{
    states(w, w->graphics, BF_RESOURCE_STATE_OTHER, w->copy, BF_RESOURCE_STATE_COPY_SOURCE);
    expect_one(w, BF_ACCESS_STATE);
}

WORLD_TEST(test_reading_in_both_classes_at_once_takes_common)
{
    check_state(w->graphics, 1, BF_RESOURCE_STATE_COPY_SOURCE, false);
    check_state(w->copy, 1, BF_RESOURCE_STATE_COPY_SOURCE, false);
    expect_one(w, BF_ACCESS_STATE);
    check_state(w->graphics, 2, BF_RESOURCE_STATE_COMMON, false);
    check_state(w->copy, 2, BF_RESOURCE_STATE_COMMON, false);
    assert_int_equal(w->check.count, 1);
}

WORLD_TEST(test_states_are_the_type_class_s_not_the_queue_s)
{
    states(w, w->graphics, BF_RESOURCE_STATE_OTHER, w->compute, BF_RESOURCE_STATE_OTHER);
    hand_over(w, w->compute, w->graphics);
    check_state(w->graphics, 1, BF_RESOURCE_STATE_COPY_DEST, true);
    hand_over(w, w->graphics, w->compute);
    check_state(w->compute, 1, BF_RESOURCE_STATE_COPY_DEST, true);
    check_state(w->copy, 2, BF_RESOURCE_STATE_COPY_DEST, true);
    hand_over(w, w->copy, w->copy2);
    check_state(w->copy2, 2, BF_RESOURCE_STATE_COPY_DEST, true);
    expect_reports(w, 0);
}

/* 'The COMMON state can be used for all usages on a Copy queue.' */
WORLD_TEST(test_a_copy_queue_may_use_a_resource_in_common)
{
    states(w, w->graphics, BF_RESOURCE_STATE_COMMON, w->copy, BF_RESOURCE_STATE_COMMON);
    hand_over(w, w->copy, w->graphics); /* and leaves it so */
    check_state(w->graphics, 1, BF_RESOURCE_STATE_OTHER, true);
    expect_reports(w, 0);
}

WORLD_TEST(test_through_common_every_state_may_follow)
{
    states(w, w->copy, BF_RESOURCE_STATE_COPY_DEST, w->copy, BF_RESOURCE_STATE_COMMON);
    hand_over(w, w->copy, w->graphics);
    check_state(w->graphics, 1, BF_RESOURCE_STATE_COPY_DEST, true);
    check_state(w->graphics, 1, BF_RESOURCE_STATE_COMMON, true);
    hand_over(w, w->graphics, w->copy);
    check_state(w->copy, 1, BF_RESOURCE_STATE_COPY_SOURCE, true);
    expect_reports(w, 0);
}

/* 'To use a resource initially on a Copy queue it should start in the COMMON state.' */
WORLD_TEST(test_an_initial_copy_state_is_the_3d_class_s)
{
    check_state(w->graphics, 1, BF_RESOURCE_STATE_COPY_DEST, true); /* as created */
    hand_over(w, w->graphics, w->copy);
    check_state(w->copy, 1, BF_RESOURCE_STATE_COPY_DEST, true);
    expect_one(w, BF_ACCESS_STATE);
}

WORLD_TEST(test_unknown_states_are_not_checked)
{
    states(w, w->copy, BF_RESOURCE_STATE_COPY_DEST, w->graphics, BF_RESOURCE_STATE_UNKNOWN);
    states(w, w->graphics, BF_RESOURCE_STATE_UNKNOWN, w->graphics, BF_RESOURCE_STATE_UNKNOWN);
    expect_reports(w, 0);
}

WORLD_TEST(test_a_video_queue_has_no_states)
{
    struct bf_access_queue *video =
        bf_access_queue_add(w->check.access, "video", BF_ACCESS_NO_CLASS);
    states(w, w->copy, BF_RESOURCE_STATE_COPY_DEST, video, BF_RESOURCE_STATE_COPY_DEST);
    expect_reports(w, 0);
}

/* ---------------------------------------------------------------------------- What is destroyed */

/* A handle that comes again is another resource. */
WORLD_TEST(test_a_destroyed_resource_takes_its_uses_along)
{
    bf_access_buffer_add(w->check.access, CHECK_BUFFER(1), 64);
    bf_access_buffer_name(w->check.access, CHECK_BUFFER(1), "old");
    check_use(w->copy, 1, 0, 64, true);
    bf_access_buffer_remove(w->check.access, CHECK_BUFFER(1));
    bf_access_buffer_add(w->check.access, CHECK_BUFFER(1), 64);
    check_use(w->graphics, 1, 0, 64, true);
    expect_reports(w, 0);
    check_state(w->copy, 1, BF_RESOURCE_STATE_COPY_DEST, false);
    bf_access_image_remove(w->check.access, CHECK_IMAGE(1));
    check_state(w->graphics, 1, BF_RESOURCE_STATE_COPY_DEST, false);
    expect_reports(w, 0);
}

WORLD_TEST(test_a_destroyed_queue_s_uses_stay)
{
    check_use(w->copy, 1, 0, 64, true);
    bf_access_queue_remove(w->copy);
    check_use(w->graphics, 1, 0, 64, false);
    const struct check_report *r = expect_one(w, BF_ACCESS_WRITE_BESIDE_READ);
    assert_string_equal(r->earlier, "copy");
    bf_access_idle(w->check.access);
    check_use(w->compute, 1, 0, 64, true);
    assert_int_equal(w->check.count, 1);
}

WORLD_TEST(test_off_is_off)
{
    bf_access_stop(w->check.access, NULL);
    check_calls(w, "copy writes, graphics writes, copy signals a 1, cpu waits a 1");
    assert_null(bf_access_queue_add(w->check.access, "late", BF_ACCESS_COPY));
    assert_null(bf_access_fence_add(w->check.access, 0));
    expect_reports(w, 0);
    /* And without a check at all. */
    bf_access_queue_execute(NULL, 0, NULL);
    bf_access_queue_signal(NULL, NULL, 1);
    bf_access_queue_wait(NULL, NULL, 1);
    bf_access_fence_signal(NULL, 1);
    bf_access_fence_read(NULL, 1);
    bf_access_idle(NULL);
    assert_success(bf_access_queue_uses(NULL, 1, NULL));
    bf_access_destroy(NULL);
}
