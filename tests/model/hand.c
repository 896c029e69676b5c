/* SPDX-License-Identifier: MIT */
/* The ideal machine itself, on cases worked out by hand: what D3D12 is documented, and has been
 * seen, to do with queue waits, rewinds and signals that are on their way.
 *
 * A script is a program with remarks in between: 'end3' the driver finishes execution 3 (operations
 * count from 0), 'f=2' fence f may read 2, and does, 'f!2' it can't read 2 here, 'idleA' and
 * 'busyA' say whether queue A has anything left to do, 'early3' execution 3 can't have begun yet.
 */
#include "support/test.h"

#include "ideal.h"

static struct ideal machine, copy;

static bool is_operation(const char *word)
{
    struct program one;
    return program_parse(&one, word) && one.count == 1;
}

static void remark(const char *word)
{
    unsigned number = 0, value = 0;
    char letter, sign;
    copy = machine;
    if (sscanf(word, "end%u", &number) == 1) {
        machine.available |= (op_set)(1u << number);
        ideal_close(&machine);
        assert_true(ideal_may_begin(&machine, (int)number, machine.available));
    } else if (sscanf(word, "early%u", &number) == 1) {
        assert_false(ideal_may_begin(&copy, (int)number, copy.available));
    } else if (sscanf(word, "idle%c", &letter) == 1) {
        assert_true(ideal_queue_is_idle(&machine, letter - 'A', true));
    } else if (sscanf(word, "busy%c", &letter) == 1) {
        assert_true(ideal_queue_is_idle(&machine, letter - 'A', false));
    } else if (sscanf(word, "%c%c%u", &letter, &sign, &value) == 3 && sign == '=') {
        assert_true(ideal_read(&machine, letter - 'f', value, machine.available));
    } else if (sscanf(word, "%c%c%u", &letter, &sign, &value) == 3 && sign == '!') {
        assert_false(ideal_read(&copy, letter - 'f', value, copy.available));
    } else {
        fail_msg("'%s' means nothing", word);
    }
}

static void script(const char *text)
{
    static struct program program;
    char operations[256] = "", word[16];
    int used;
    print_message("    %s\n", text);
    for (const char *at = text; sscanf(at, " %15s%n", word, &used) == 1; at += used)
        if (is_operation(word))
            strcat(strcat(operations, " "), word);
    assert_true(program_parse(&program, operations));
    ideal_begin(&machine, &program, true);
    int issued = 0;
    for (const char *at = text; sscanf(at, " %15s%n", word, &used) == 1; at += used) {
        if (is_operation(word)) {
            ideal_issue(&machine, issued++, machine.available);
            ideal_close(&machine);
            assert_true(machine.count > 0);
        } else {
            remark(word);
        }
    }
}

TEST(cpu_signals_apply_at_once)
{
    script("f=0 cf2 f=2 f!0 cf1 f=1 cf1 f=1 cf0 f=0 g=0");
}

TEST(queue_signals_apply_at_once_on_an_idle_queue_only)
{
    script("Asf1 f=1 f!0 idleA");
    script("Ax Asf1 f=0 f!1 busyA end0 f=1 f!0 idleA");
    script("Ax end0 Asf1 f=1 f!0"); /* it has become idle */
    script("Ax Asf2 Bsf1 f=1 end0 f=2");
}

TEST(reached_waits_pass)
{
    script("cf1 Awf1 Asg1 g=1 g!0");
    script("Awf0 Asg1 g=1"); /* 0 always is */
}

TEST(waits_hold_what_follows_until_the_cpu_signals)
{
    script("Awf1 Ax Asg1 g=0 g!1 early1 cf1 g=0 end1 g=1 idleA");
    script("Awf2 Asg1 cf1 g=0 g!1 busyA cf2 g=1 idleA");
}

TEST(waits_may_come_before_their_signals)
{
    script("Bwf1 Bsg1 g=0 Ax Asf1 g=0 g!1 end2 f=1 g=1 g!0");
    script("Bwf1 Bx Bsg1 Cwg1 Cx Csf2 Ax Asf1 early1 early4 end6 early4 end1 f=1 end4 f=2");
}

TEST(a_queue_does_not_deadlock_on_its_own_signal)
{
    script("Ax Asf2 Awf2 Asg1 g=0 g!1 end0 g=1 f=2 idleA");
}

TEST(waits_after_a_rewind_compare_with_the_lower_value)
{
    script("cf2 cf0 Awf1 Asg1 g=0 g!1 cf1 g=1");
    /* The same with values that the driver had reached, though nobody had looked. */
    script("Ax Asf2 Asf0 end0 Bwf1 Bsg1 g=0 g!1 busyB f=0 cf1 g=1");
    script("cf2 Ax Asf0 end1 Bwf1 Bsg1 g=0 g!1 busyB f=0 cf1 g=1");
    script("Ax Asf1 Asf2 end0 Bwf1 Bsg1 g=1 g!0 idleB f=2");
}

TEST(pending_signals_land_after_a_rewind)
{
    script("cf1 Ax Asf2 cf0 f=0 f!2 Bwf1 Bsg1 g=0 g!1 end1 f=2 f!0 g=1");
}

TEST(waits_that_were_satisfied_for_an_instant_stay_so)
{
    /* The queue is stuck at another fence meanwhile; set by the CPU, then by the GPU. */
    script("Awg1 Awf1 Awf2 Asg2 cf2 cf0 g=0 busyA cg1 g=2 f=0 idleA");
    script("Awg1 Awf1 Awf2 Ax Bsf2 cf0 busyA early3 cg1 busyA end3 idleA f=0");
    /* Not if it was armed too late. */
    script("Awg1 cf2 cf0 Awf2 Asg2 cg1 g=1 g!2 busyA");
}

TEST(a_race_satisfies_whichever_value_stays)
{
    script("Cwf2 Csg1 Ax Asf2 Bx Bsf0 end2 end4 g=1 g!0 f=0");
    script("Cwf2 Csg1 Ax Asf2 Bx Bsf0 end2 end4 g=1 g!0 f=2");
    script("Cwf2 Csg1 Ax Asf2 Bx Bsf0 end2 f=2 end4 f=0 f!2"); /* not a race: it has been read */
}

TEST(causes_come_before_their_effects)
{
    script("Ax Asf2 Bwf2 Bx Bsf1 end0 end3 f=1 f!2");
    script("Ax Asf2 Asg1 Bwg1 Bsf1 end0 f=1 f!2 g=1");
    /* Whoever has seen g knows that f was set before. */
    script("Ax Asf1 Asg1 end0 g=1 cf0 f=0 f!1");
}

TEST(executions_begin_when_all_before_them_is_complete)
{
    static struct program program;
    static struct ideal now;
    static const struct {
        op_set before;
        bool may;
    } cases[] = {{0, false}, {1 << 0, false}, {1 << 1, false}, {1 << 0 | 1 << 1, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(program_parse(&program, "Ax Bx Asf1 Bwf1 Bx"));
        ideal_begin(&now, &program, true);
        for (int op = 0; op < program.count; op++) {
            ideal_issue(&now, op, 0);
            ideal_close(&now);
        }
        assert_int_equal(ideal_may_begin(&now, 4, cases[i].before), cases[i].may);
    }
}

TEST(machines_that_stand_still_have_nothing_to_do)
{
    script("Awf1 Ax busyA");
    assert_true(ideal_rests(&machine));
    script("Awf1 Ax cf1");
    assert_false(ideal_rests(&machine));
    script("Awf1 Ax cf1 end1");
    assert_true(ideal_rests(&machine));
}

TEST(ends_are_all_ends)
{
    static const struct {
        const char *text;
        bool some_finish, all_finish;
    } cases[] = {
        {"Ax Asf1 Bwf1 Bx", true, true},
        {"Bwf1 Bx Ax Asf1", true, true},
        {"Awf1", false, false},
        {"Awf1 Asg1 Bwg1 Bsf1", false, false},
        {"Ax Asf2 Bx Bsf0 Cwf2 Cx", true, false}, /* a pulse that may be over before the wait */
        {"Cwf2 Ax Asf2 Bx Bsf0 Cx", true, true},
        {"cf2 cf0 Cwf2", false, false},
        {"Cwf2 cf2 cf0", true, true},
        {"Ax Asf0 cf1 Bwf1", true, false},
        {"Ax Asf0 Bwf1 cf1", true, true},
        {"cf1 Ax Asf0 Bwf1", true, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct program program;
        static struct ideal ends;
        print_message("    %s\n", cases[i].text);
        assert_true(program_parse(&program, cases[i].text));
        ideal_ends(&ends, &program, false);
        bool some = false, all = true;
        for (int e = 0; e < ends.count; e++) {
            bool finished = ideal_done(ends.states[e]) == (1 << program.count) - 1;
            some |= finished;
            all &= finished;
        }
        assert_true(ends.count > 0);
        assert_int_equal(some, cases[i].some_finish);
        assert_int_equal(all, cases[i].all_finish);
    }
}

/* What MC-7 rests on: a program that can finish does so if nothing ends before the last call. */
TEST(the_latest_schedule_finishes_what_any_does)
{
    static struct program program;
    static struct ideal ends;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct rng rng = {seed};
        program_random(&program, 3 + (int)(seed % 6), &rng);
        op_set all = (op_set)((1u << program.count) - 1);
        ideal_ends(&ends, &program, true);
        bool some = false;
        for (int e = 0; e < ends.count; e++)
            some |= ideal_done(ends.states[e]) == all;
        /* Nothing takes time, but executions do until all has been issued. */
        ideal_begin(&machine, &program, true);
        for (int i = 0; i < program.count; i++) {
            ideal_issue(&machine, i, 0);
            machine.states[0] = ideal_settle(&machine, machine.states[0], 0);
        }
        bool late = ideal_done(ideal_settle(&machine, machine.states[0], program.executes)) == all;
        char text[MODEL_TEXT];
        if (some != late)
            fail_msg("seed %d: %s", (int)seed, program_text(&program, text));
    }
}

TEST(programs_survive_being_written_and_read)
{
    for (int letter = 0; letter < MODEL_LETTERS; letter++)
        assert_int_equal(op_letter(op_of_letter(letter)), letter);
    static struct program program, again;
    char text[MODEL_TEXT], second[MODEL_TEXT];
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng rng = {seed};
        program_random(&program, MODEL_OPS, &rng);
        assert_true(program_parse(&again, program_text(&program, text)));
        assert_string_equal(text, program_text(&again, second));
    }
    assert_false(program_parse(&program, "Ax Dx"));
    assert_false(program_parse(&program, "Ax Awf3"));
}

/* Each class of programs that differ in names has one canonical member, of every engine layout. */
TEST(renamed_programs_have_one_canonical_form)
{
    static const int layouts[][MODEL_QUEUES] = {{0, 0, 0}, {0, 1, 0}, {0, 1, 2}};
    static const int expected[] = {266, 599, 266}; /* of 45 * 45, by Burnside's lemma */
    for (int l = 0; l < 3; l++) {
        int count = 0;
        for (int a = 0; a < MODEL_LETTERS * MODEL_LETTERS; a++) {
            struct program program = {
                .count = 2,
                .ops = {op_of_letter(a / MODEL_LETTERS), op_of_letter(a % MODEL_LETTERS)}};
            count += program_is_canonical(&program, layouts[l]);
        }
        assert_int_equal(count, expected[l]);
    }
}
