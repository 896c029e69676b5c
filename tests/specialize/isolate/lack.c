/* SPDX-License-Identifier: MIT */
/* Programs that can't have a helper, and what is said of that. */
#include "isolate_helper.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void assert_never_opens(const struct bf_isolate_info *info, const char *why)
{
    struct bf_isolate *isolate;
    char lack[BF_ISOLATE_LACK];
    lines = 0;
    assert_success(bf_isolate_create(info, &isolate));
    for (uint32_t i = 0; i < 6; i++)
        isolate_assert_fails(isolate, "main", VK_ERROR_INITIALIZATION_FAILED);
    assert_true(bf_isolate_lack(isolate, lack));
    if (!strstr(lack, why))
        fail_msg("'%s' doesn't say '%s'", lack, why);
    bf_isolate_destroy(isolate);
    assert_int_equal(lines, 2); /* why, and that there is none */
}

TEST(devices_that_are_not_there)
{
    struct bf_isolate_info info = info_of(NULL);
    info.device_uuid[0] ^= 1;
    assert_never_opens(&info, "can't open the device: VkResult -9");
    info = info_of(NULL);
    info.driver_uuid[15] ^= 1;
    assert_never_opens(&info, "can't open the device: VkResult -9");
    info = info_of(NULL);
    info.extension_count = 1;
    info.extensions = (const char *const[]){"VK_BELFRY_none"};
    assert_never_opens(&info, "can't open the device: VkResult -7");
    info = info_of((const char *const[]){"VK_ICD_FILENAMES=/nonexistent", NULL});
    assert_never_opens(&info, "can't open the device: VkResult -9");
}

TEST(helpers_that_are_none)
{
    struct bf_isolate_info info = info_of(NULL);
    info.helper = "/bin/true";
    assert_never_opens(&info, "can't open the device: Broken pipe");
    info.helper = "/etc"; /* it can be searched, not run */
    assert_never_opens(&info, "'/etc' can't be started: Permission denied");
    const char *const missing[] = {"/nonexistent/helper", "",
                                   NULL}; /* beside this program is none */
    for (uint32_t i = 0; i < 3; i++) {
        struct bf_isolate *isolate = (void *)1;
        info.helper = missing[i];
        lines = 0;
        assert_int_equal(bf_isolate_create(&info, &isolate), VK_ERROR_INITIALIZATION_FAILED);
        assert_null(isolate);
        assert_int_equal(lines, 1);
    }
}

/* The loader hides them from whoever doesn't ask for them as the program did. */
TEST(portability_drivers)
{
    static const char *const extensions[] = {"VK_KHR_portability_enumeration"};
    char path[] = "/tmp/belfry-icd-XXXXXX.json", text[1024], variable[64];
    const char *build = getenv("BELFRY_TEST_BUILD");
    int n = snprintf(text, sizeof(text),
                     "{\"file_format_version\": \"1.0.1\", \"ICD\": {\"library_path\": "
                     "\"%s/lib/libbelfry_test_icd.so\", \"api_version\": \"1.3.239\", "
                     "\"is_portability_driver\": true}}",
                     build ? build : "build/debug");
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, (size_t)n), n);
    close(file);
    snprintf(variable, sizeof(variable), "VK_ICD_FILENAMES=%s", path);
    for (uint32_t asks = 0; asks < 2; asks++) {
        struct bf_isolate_info info = info_of((const char *const[]){variable, NULL});
        info.instance_extension_count = 1;
        info.instance_extensions = extensions;
        info.instance_flags = asks ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0;
        if (!asks) {
            assert_never_opens(&info, "can't open the device: VkResult -9");
            continue;
        }
        struct bf_isolate *isolate;
        assert_success(bf_isolate_create(&info, &isolate));
        isolate_assert_builds(isolate, "main", VK_SUCCESS);
        bf_isolate_destroy(isolate);
    }
    assert_int_equal(unlink(path), 0);
}

/* Nobody is told that there is none who hasn't asked for one. */
TEST(helpers_that_nobody_asked_for)
{
    const char *const none[] = {"/bin/true", "/etc", "/nonexistent/helper"};
    for (uint32_t i = 0; i < 3; i++) {
        struct bf_isolate_info info = info_of(NULL);
        struct bf_isolate *isolate;
        info.unasked = true;
        info.helper = none[i];
        lines = 0;
        VkResult result = bf_isolate_create(&info, &isolate);
        for (uint32_t k = 0; result == VK_SUCCESS && k < 6; k++)
            isolate_assert_fails(isolate, "main", VK_ERROR_INITIALIZATION_FAILED);
        char why[BF_ISOLATE_LACK]; /* the report may ask */
        if (result == VK_SUCCESS)
            assert_true(bf_isolate_lack(isolate, why));
        if (result == VK_SUCCESS)
            bf_isolate_destroy(isolate);
        assert_int_equal(lines, 0);
    }
}

/* ----------------------------------------------------------------------------------- Sandboxes */

static void on_trap(int signal_number)
{
}

/* What starts a helper, and nothing else, is trapped in the calling thread. */
static bool sandbox_enter(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_VFORK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    const struct sigaction action = {.sa_handler = on_trap};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Sandboxes that trap what they don't allow do so here, too: there is no helper, and the program
 * lives. */
TEST(programs_in_sandboxes)
{
    const struct bf_isolate_info info = info_of(NULL);
    pid_t program = fork();
    assert_true(program >= 0);
    if (program == 0) {
        struct bf_isolate *isolate;
        struct made made;
        VkResult result;
        if (!sandbox_enter() || bf_isolate_create(&info, &isolate))
            _exit(77);
        _exit(isolate_build(isolate, empty(&made, "main"), &result) !=
              VK_ERROR_INITIALIZATION_FAILED);
    }
    int status;
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_true(WIFEXITED(status));
    TEST_NEEDS(WEXITSTATUS(status) != 77, "seccomp");
    assert_int_equal(WEXITSTATUS(status), 0);
}
