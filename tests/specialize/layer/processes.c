/* SPDX-License-Identifier: MIT */
/* What holds in the process beyond a device, and what doesn't in another. [AR-10, SP-7] */
#include "icd_program.h"

#include <sys/wait.h>

static bool is_built(struct program *p, const char *name, uint32_t factor)
{
    VkPipeline pipeline = program_pipeline(p, false, name);
    const uint64_t before = p->f.icd.live("pipeline");
    program_frame(p, false, pipeline, (struct program_push){0, 8, factor});
    program_commit(p);
    program_frame(p, false, pipeline, (struct program_push){0, 8, factor});
    const bool built = p->f.icd.live("pipeline") > before;
    program_destroy(p, pipeline);
    return built;
}

/* The device that it destroys is its copy. */
TEST_WITH(a_forked_child_ends_nothing_of_its_parents, cache_setup, cache_teardown)
{
    struct program *p = program_open(NULL, NULL);
    assert_true(is_built(p, "before", 1));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(10);
        vkDestroyDevice(p->f.device, NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_built(p, "after", 2));
    program_close(p);
}

/* Also where the loader has closed the layer with its only instance meanwhile. */
TEST_WITH(a_bar_without_a_folder_outlives_the_instance, cache_setup, cache_teardown)
{
    cache_set("/proc/belfry"); /* where nobody can make one */
    struct program *p = program_open("FAULTS_IN=belfry-build-helper LOSE_AT_SUBMIT=1", NULL);
    assert_false(is_built(p, "lost", 3));
    program_close(p);
    p = program_open(NULL, NULL);
    assert_false(is_built(p, "barred", 4));
    const char *line = program_line(program_close(p), "barred");
    assert_non_null(line);
    assert_non_null(strstr(line, " rejected driver "));
}
