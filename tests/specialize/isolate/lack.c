/* SPDX-License-Identifier: MIT */
/* Programs that can't have a helper, and what is said of that. */
#include "isolate_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "specialize/isolate/spawn.h"
#include "specialize/isolate/wire.h"

static const char *own_path;

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
    info.extension_count = 1;
    info.extensions = (const char *const[]){"VK_BELFRY_none"};
    assert_never_opens(&info, "can't open the device: VkResult -7");
    info = info_of((const char *const[]){"VK_ICD_FILENAMES=/nonexistent", NULL});
    assert_never_opens(&info, "can't open the device: VkResult -9");
}

/* It may be replaced while the program runs, and each of these may be all that tells. [IS-15] */
TEST(drivers_that_are_others)
{
    static const char other[] = "finds another driver than the program has loaded";
    struct bf_isolate_info info = info_of(NULL);
    info.driver_uuid[15] ^= 1;
    assert_never_opens(&info, other);
    info = info_of(NULL);
    info.cache_uuid[0] ^= 1;
    assert_never_opens(&info, other);
    info = info_of(NULL);
    info.driver_version++;
    assert_never_opens(&info, other);
    info = info_of(NULL);
    info.driver_id += 100; /* not to one of IS-16 */
    assert_never_opens(&info, other);
    info = info_of(NULL);
    info.driver_info = "another";
    assert_never_opens(&info, other);
    info.driver_info = NULL; /* what isn't known is no other one */
    info.driver_id = 0;
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    isolate_assert_builds(isolate, "main", VK_SUCCESS);
    bf_isolate_destroy(isolate);
}

/* What an answer is of whom nothing else is understood. [IS-15] */
static VkResult opened_by(const struct bf_isolate_info *info, const void *body, uint32_t size)
{
    struct bf_wire_header header = {.magic = BF_WIRE_MAGIC, .kind = BF_WIRE_DEVICE, .size = size};
    int ends[2], pidfd;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(bf_spawn(info->helper, "helper", info->environment, ends[1], &pidfd), 0);
    close(ends[1]);
    close(pidfd);
    assert_int_equal(send(ends[0], &header, sizeof(header), MSG_NOSIGNAL), sizeof(header));
    assert_int_equal(send(ends[0], body, size, MSG_NOSIGNAL), size);
    assert_int_equal(recv(ends[0], &header, sizeof(header), MSG_WAITALL), sizeof(header));
    close(ends[0]);
    assert_int_equal(header.magic, BF_WIRE_MAGIC);
    assert_int_equal(header.kind, BF_WIRE_OPENED);
    assert_int_equal(header.size, 0);
    return (VkResult)header.result;
}

/* So may the helper be. [IS-15] */
TEST(helpers_of_another_build)
{
    const struct bf_isolate_info info = info_of(NULL);
    struct bf_wire_out device = {0};
    bf_wire_say_device(&device, &info, (uint32_t)getpid(), 1000);
    uint32_t number;
    memcpy(&number, device.bytes, sizeof(number));
    assert_int_equal(number, bf_wire_build_number());
    assert_success(opened_by(&info, device.bytes, (uint32_t)device.size));
    number++;
    memcpy(device.bytes, &number, sizeof(number));
    assert_int_equal(opened_by(&info, device.bytes, (uint32_t)device.size), BF_WIRE_OTHER_BUILD);
    assert_int_equal(opened_by(&info, device.bytes, sizeof(number)), BF_WIRE_OTHER_BUILD);
    bf_wire_out_finish(&device);
}

TEST(programs_of_another_build)
{
    struct bf_isolate_info info = info_of((const char *const[]){"LACK_HELPER=other_build", NULL});
    info.helper = own_path;
    assert_never_opens(&info, "is of another build of Belfry");
}

/* It is known from the beginning that there will be none, and one line says so. */
static void assert_has_none(const struct bf_isolate_info *info)
{
    struct bf_isolate *isolate = (void *)1;
    lines = 0;
    assert_int_equal(bf_isolate_create(info, &isolate), VK_ERROR_INITIALIZATION_FAILED);
    assert_null(isolate);
    assert_int_equal(lines, 1);
}

/* Drivers that go by the program's file would take the helper for another program. [IS-16] */
TEST(drivers_that_go_by_the_file)
{
    const uint32_t ids[] = {VK_DRIVER_ID_AMD_PROPRIETARY, VK_DRIVER_ID_AMD_OPEN_SOURCE};
    for (uint32_t i = 0; i < 2; i++) {
        struct bf_isolate_info info = info_of(NULL);
        info.driver_id = ids[i];
        assert_has_none(&info);
    }
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
        info.helper = missing[i];
        assert_has_none(&info);
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

/* ------------------------------------------------------------------------------ Alike in name */

/* All numbers above 2 that were some descriptor's are that one's. */
static int descriptors_replace(int by)
{
    int most = 0;
    for (int fd = 3; fd < 256; fd++) {
        if (fd != by && fcntl(fd, F_GETFD) >= 0)
            most = fd;
        if (fd != by)
            close(fd);
    }
    for (int fd = 3; fd <= most; fd++)
        if (fd != by && dup2(by, fd) != fd)
            _exit(2);
    return most;
}

static bool all_lead_to(int by, int most)
{
    struct stat first, other;
    bool all = fstat(by, &first) == 0;
    for (int fd = 3; fd <= most; fd++)
        all = all && fstat(fd, &other) == 0 && other.st_dev == first.st_dev &&
              other.st_ino == first.st_ino;
    return all;
}

static int closes_all(const struct bf_isolate_info *info, bool sockets)
{
    struct bf_isolate *isolate;
    struct made made;
    VkResult result;
    char path[] = "/tmp/belfry-lack-XXXXXX", byte;
    int ends[2] = {mkstemp(path), -1};
    if (ends[0] < 0 || unlink(path) || bf_isolate_create(info, &isolate) ||
        isolate_build(isolate, empty(&made, "main"), &result))
        return 2;
    int other = -1;
    if (sockets && (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || (other = dup2(ends[1], 300)) < 0))
        return 2;
    int most = descriptors_replace(ends[0]);
    if (isolate_build(isolate, empty(&made, "main"), &result) != VK_ERROR_INITIALIZATION_FAILED)
        return 3;
    bf_isolate_stop(isolate);
    bf_isolate_destroy(isolate);
    if (!all_lead_to(ends[0], most))
        return 4;
    if (sockets)
        return recv(other, &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN ? 0 : 5;
    return lseek(ends[0], 0, SEEK_END) == 0 ? 0 : 5;
}

/* What has a descriptor's number is no longer Belfry's. [IS-17] */
TEST(programs_that_close_what_is_not_theirs)
{
    const struct bf_isolate_info info = info_of(NULL);
    for (uint32_t sockets = 0; sockets < 2; sockets++) {
        int status;
        pid_t program = fork();
        assert_true(program >= 0);
        if (program == 0)
            _exit(closes_all(&info, sockets));
        assert_int_equal(waitpid(program, &status, 0), program);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* ------------------------------------------------------------------------------- In containers */

/* Its exit status: 0 if no child is left. */
static int first_process(const struct bf_isolate_info *info)
{
    struct bf_isolate *isolate;
    struct made made;
    VkResult result;
    siginfo_t child;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getpid() != 1 || bf_isolate_create(info, &isolate))
        return 2;
    for (uint32_t i = 0; i < 3; i++)
        if (isolate_build(isolate, empty(&made, "main"), &result) ||
            isolate_build(isolate, empty(&made, "bad"), &result) != VK_ERROR_UNKNOWN)
            return 2;
    if (isolate_build(isolate, empty(&made, "main"), &result))
        return 2;
    bf_isolate_destroy(isolate);
    return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT | __WALL) != -1 || errno != ECHILD;
}

/* The first process of a container may not know that it is everybody's parent. [IS-1] */
TEST(programs_that_are_the_first)
{
    const struct bf_isolate_info info =
        info_of((const char *const[]){"BELFRY_ICD_PIPELINE=crash:bad", NULL});
    int status;
    pid_t outside = fork();
    assert_true(outside >= 0);
    if (outside == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) || unshare(CLONE_NEWPID))
            _exit(77);
        pid_t first = fork();
        if (first == 0)
            _exit(first_process(&info));
        if (first < 0 || waitpid(first, &status, 0) != first || !WIFEXITED(status))
            _exit(2);
        _exit(WEXITSTATUS(status));
    }
    assert_int_equal(waitpid(outside, &status, 0), outside);
    assert_true(WIFEXITED(status));
    TEST_NEEDS(WEXITSTATUS(status) != 77, "right to make a namespace");
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* This program as a helper of another build. */
static int lack_helper(void)
{
    if (!own_helper_hear())
        return 2;
    own_helper_say(&(struct bf_wire_header){
        .magic = BF_WIRE_MAGIC, .kind = BF_WIRE_OPENED, .result = (int32_t)BF_WIRE_OTHER_BUILD});
    return 1;
}

int main(int argc, char **argv)
{
    if (getenv("LACK_HELPER"))
        return lack_helper();
    own_path = own_helper_path();
    if (!own_path)
        return 77;
    return test_run(argc > 1 ? argv[1] : NULL);
}
