/* SPDX-License-Identifier: MIT */
/* Helpers that lose their device, and who wants one after that. [IS-12] */
#include "isolate_helper.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "specialize/isolate/wire.h"

/* --------------------------------------------------------------------------- A helper like that */

static const char *own_path;

static void lost_say(enum bf_wire_kind kind, uint32_t number, VkResult result)
{
    const struct bf_wire_header header = {.magic = BF_WIRE_MAGIC,
                                          .kind = (uint32_t)kind,
                                          .number = number,
                                          .result = (int32_t)result};
    own_helper_say(&header);
}

static void lost_hear(void)
{
    if (!own_helper_hear())
        _exit(0);
}

/* Ends when the program does, in lost_hear. */
static _Noreturn void lost_helper(const char *how)
{
    const VkResult built = strcmp(how, "builds") ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    const enum bf_wire_kind answer = strcmp(how, "crashes") ? BF_WIRE_BUILT : BF_WIRE_CRASHED;
    lost_hear();
    lost_say(BF_WIRE_OPENED, 0, strcmp(how, "opens") ? VK_SUCCESS : VK_ERROR_DEVICE_LOST);
    for (;;) {
        lost_hear();
        lost_say(BF_WIRE_TAKEN, 1, VK_SUCCESS);
        lost_say(answer, 1, built);
    }
}

/* ----------------------------------------------------------------------------------------- Bars */

/* What keeps the driver from being used, or one's shaders from being built, and a second thread
 * that wants a helper. */
struct bar {
    struct bf_isolate *isolate;
    bool of_shaders;
    _Atomic bool up;
    _Atomic uint32_t asked, puts;
    bool crowds;
    pthread_t second;
    VkResult outcome;
};

static bool asked(void *context);
static void put(void *context);

static VkResult build_by(struct bar *bar, VkResult *built)
{
    struct made made;
    const struct bf_isolate_bar own = {bar, asked, put};
    const struct bf_check_request request = {
        .build_count = 1, .builds = empty(&made, "main"), .bar = bar->of_shaders ? &own : NULL};
    struct bf_check_answer answer = {.built = VK_SUCCESS};
    const VkResult result = bf_isolate_check(bar->isolate, &request, &answer);
    *built = answer.built;
    return result;
}

static void *build_second(void *context)
{
    struct bar *bar = context;
    VkResult built;
    bar->outcome = build_by(bar, &built);
    return NULL;
}

/* The first to ask has the helper: the second thread gets it after him. */
static bool asked(void *context)
{
    struct bar *bar = context;
    const bool up = bar->up;
    if (bar->asked++ == 0 && bar->crowds)
        assert_int_equal(pthread_create(&bar->second, NULL, build_second, bar), 0);
    return up;
}

static void put(void *context)
{
    struct bar *bar = context;
    bar->up = true;
    bar->puts++;
}

static void bar_open(struct bar *bar, const char *how)
{
    struct bf_isolate_info info = info_of((const char *const[]){how, NULL});
    info.helper = own_path;
    if (!bar->of_shaders)
        info.bar = (struct bf_isolate_bar){bar, asked, put};
    assert_success(bf_isolate_create(&info, &bar->isolate));
    lines = 0;
}

/* So many helpers there were. */
static void bar_close(const struct bar *bar, uint32_t helpers)
{
    uint32_t n = 0;
    bf_isolate_destroy(bar->isolate);
    while (waitpid(-1, NULL, 0) > 0)
        n++;
    assert_int_equal(n, helpers);
}

static int helpers_become_children(void **state)
{
    (void)state;
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int they_do_no_more(void **state)
{
    (void)state;
    return prctl(PR_SET_CHILD_SUBREAPER, 0);
}

#define LOST_TEST(name_) TEST_WITH(name_, helpers_become_children, they_do_no_more)

/* ---------------------------------------------------------------------------------------- Tests */

/* Whoever has waited for the helper meanwhile starts none. */
LOST_TEST(nobody_is_next_after_a_device_was_lost)
{
    struct bar bar = {.crowds = true};
    VkResult built;
    bar_open(&bar, "LOST_HELPER=loses");
    assert_success(build_by(&bar, &built));
    assert_int_equal(built, VK_ERROR_DEVICE_LOST);
    assert_int_equal(pthread_join(bar.second, NULL), 0);
    assert_int_equal(bar.outcome, VK_ERROR_NOT_PERMITTED_KHR);
    assert_int_equal(bar.puts, 1);
    bar_close(&bar, 1);
}

/* Nor does he whose shaders are those that it has crashed over; others do. */
LOST_TEST(what_a_helper_crashed_over_is_left_alone)
{
    struct bar bar = {.of_shaders = true, .crowds = true};
    struct bar others = {.of_shaders = true};
    VkResult built;
    bar_open(&bar, "LOST_HELPER=crashes");
    assert_int_equal(build_by(&bar, &built), VK_ERROR_UNKNOWN);
    assert_int_equal(pthread_join(bar.second, NULL), 0);
    assert_int_equal(bar.outcome, VK_ERROR_UNKNOWN);
    assert_int_equal(bar.puts, 1);
    others.isolate = bar.isolate;
    assert_int_equal(build_by(&others, &built), VK_ERROR_UNKNOWN);
    assert_int_equal(others.puts, 1);
    bar_close(&bar, 2);
}

/* Nor is a bar that others have put up overlooked by who has a helper at hand. */
LOST_TEST(helpers_at_hand_are_left_alone)
{
    struct bar bar = {.isolate = NULL};
    VkResult built;
    bar_open(&bar, "LOST_HELPER=builds");
    assert_success(build_by(&bar, &built));
    assert_success(built);
    bar.up = true;
    assert_int_equal(build_by(&bar, &built), VK_ERROR_NOT_PERMITTED_KHR);
    assert_int_equal(bar.puts, 0);
    bar_close(&bar, 1);
}

/* It is no failed start: nobody tries again. */
LOST_TEST(devices_lost_while_they_are_opened)
{
    struct bar bar = {.isolate = NULL};
    char why[BF_ISOLATE_LACK];
    VkResult built;
    bar_open(&bar, "LOST_HELPER=opens");
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(build_by(&bar, &built), VK_ERROR_NOT_PERMITTED_KHR);
    assert_int_equal(bar.puts, 1);
    assert_false(bf_isolate_lack(bar.isolate, why));
    bar_close(&bar, 1);
    assert_int_equal(lines, 0);
}

int main(int argc, char **argv)
{
    const char *how = getenv("LOST_HELPER");
    if (how)
        lost_helper(how);
    own_path = own_helper_path();
    if (!own_path)
        return 77;
    return test_run(argc > 1 ? argv[1] : NULL);
}
