/* SPDX-License-Identifier: MIT */
/* What `./dev bench specialize` reads out of the layer's report. */
#include "support/test.h"
#include "../../samples/bench/variants.h"

#define TAIL                                                                                       \
    " general=2310000 variant=231000 build=4100000 check=93000000 first=31000000 mask=0f "         \
    "uses=8192 picked=20480 form=no-contraction\n"

TEST(a_line_is_read)
{
    struct variant v;
    assert_true(variant_parse("belfry: specialize: post kept faster" TAIL, &v));
    assert_string_equal(v.name, "post");
    assert_int_equal(v.verdict, VARIANT_KEPT);
    assert_string_equal(v.reason, "faster");
    assert_true(v.general == 2310000 && v.variant == 231000 && v.build == 4100000 &&
                v.check == 93000000 && v.first == 31000000);
    assert_int_equal(v.mask, 0x0f);
    assert_true(v.uses == 8192 && v.picked == 20480);
    assert_string_equal(v.form, "no-contraction");
}

TEST(names_may_have_spaces)
{
    struct variant v;
    assert_true(variant_parse("belfry: specialize: a b/c rejected no-gain" TAIL, &v));
    assert_string_equal(v.name, "a b/c");
    assert_int_equal(v.verdict, VARIANT_REJECTED);
    assert_true(variant_parse("belfry: specialize: q unjudged none" TAIL, &v));
    assert_int_equal(v.verdict, VARIANT_UNJUDGED);
    assert_true(variant_parse("belfry: specialize: q queued none" TAIL, &v));
    assert_int_equal(v.verdict, VARIANT_QUEUED);
}

TEST(other_lines_are_none)
{
    static const char *const lines[] = {
        "",
        "belfry: specialize: ",
        "belfry: something: post kept faster" TAIL,
        "belfry: specialize: 12 pipelines, 5 of them watched; 4 variants built, 2 kept; and so on",
        "belfry: specialize: 2 variants rejected: no-gain (it was not measurably faster), of 1 "
        "pipelines, about 30.1 ms of GPU time, 3.95 %",
        "belfry: specialize: 2 variants kept: of 2 pipelines, about 401.7 ms of GPU time, 53 %",
        "belfry: specialize:  kept faster" TAIL,
        "belfry: specialize: post kept general=1 variant=1 build=1 check=1 first=1 mask=1 uses=1",
        "belfry: specialize: post kept faster general=x variant=1 build=1 check=1 first=1 mask=1 "
        "uses=1 picked=1 form=plain",
        "belfry: specialize: post kept faster general=1 variant=1 build=1 check=1 first=1 mask=1 "
        "uses=1 picked=1",
    };
    struct variant v;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        assert_false(variant_parse(lines[i], &v));
}

TEST(stderr_is_kept_and_given_back)
{
    static struct variants variants;
    struct variants_capture capture, outer;
    uint32_t at = 0;
    assert_true(variants_capture_begin(&outer)); /* what is passed on is not the test's output */
    assert_true(variants_capture_begin(&capture));
    dprintf(STDERR_FILENO, "belfry: specialize: 1 pipelines, 1 of them watched\n");
    dprintf(STDERR_FILENO, "belfry: specialize: halves kept faster" TAIL);
    dprintf(STDERR_FILENO, "belfry: specialize: churn rejected no-gain" TAIL);
    dprintf(STDERR_FILENO, "belfry: specialize: halves kept faster" TAIL);
    dprintf(STDERR_FILENO, "something else\n");
    variants_capture_finish(&capture, &variants);
    assert_int_equal(variants.count, 3);
    assert_string_equal(variants.summary, "1 pipelines, 1 of them watched");
    assert_non_null(variants_next(&variants, "halves", &at));
    assert_non_null(variants_next(&variants, "halves", &at));
    assert_null(variants_next(&variants, "halves", &at));
    fflush(stderr);
    char passed[64] = "";
    assert_true(pread(outer.file, passed, sizeof passed - 1, 0) > 0);
    assert_string_equal(passed, "something else\n");
    variants_capture_finish(&outer, &variants);
}
