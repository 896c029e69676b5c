/* SPDX-License-Identifier: MIT */
/* The file: new each time, written as it happens, given up without stopping the program. */
#include "trace_helper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace/perfetto.h"

/* What 'act' says on stderr. */
static char *stderr_of(void (*act)(const char *folder), const char *folder)
{
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder(folder, "stderr"));
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(saved >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    act(folder);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    char *text = calloc(1, 4096);
    assert_non_null(text);
    assert_true(pread(file, text, 4095, 0) >= 0);
    close(file);
    unlink(path);
    return text;
}

static unsigned lines(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void packets(struct bf_trace *trace, int count)
{
    uint32_t engine = bf_trace_add_engine(trace, "engine");
    uint32_t queue = bf_trace_add_queue(trace, engine, "queue");
    for (int i = 0; i < count; i++) {
        struct bf_trace_packet p = queued(trace, queue);
        handed_over(trace, &p, NOTHING, NOTHING);
        bf_trace_packet_executed(trace, &p, p.handed_over_ns, p.handed_over_ns + 1);
    }
}

/* Its packets, all of them whole; 'cut': but for a part of one more at its end. */
static struct decoded decode_whole(const char *path, bool cut)
{
    struct decoded d = decode_file(path);
    assert_in_range(d.size - d.whole, 0, cut ? BF_PERFETTO_EVENT_MAX : 0);
    return d;
}

static void check_and_remove(const char *path)
{
    struct decoded d = decode_whole(path, false);
    decoded_check(&d);
    decoded_free(&d);
    unlink(path);
}

/* A trace of another process's. Its end is the process's, so that the rest of the test has one. */
static void write_in_child(const char *path, const char *expected, int count)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct bf_trace *trace = trace_open(path);
        bool right = strcmp(bf_trace_path(trace), expected) == 0;
        packets(trace, count);
        bf_trace_destroy(trace);
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void write_names(const char *folder)
{
    static const char *const names[][3] = {
        {"trace.pftrace", "trace-1.pftrace", "trace-2.pftrace"},
        {"bare", "bare-1", "bare-2"},
        {".hidden", ".hidden-1", ".hidden-2"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int n = 0; n < 3; n++) {
            char path[128];
            snprintf(path, sizeof(path), "%s", in_folder(folder, names[i][0]));
            write_in_child(path, in_folder(folder, names[i][n]), n + 1);
        }
        for (int n = 0; n < 3; n++)
            check_and_remove(in_folder(folder, names[i][n]));
    }
}

TEST(never_overwrites)
{
    char folder[64];
    folder_make(folder);
    FILE *precious = fopen(in_folder(folder, "a.pftrace"), "w");
    fputs("precious", precious);
    fclose(precious);
    assert_int_equal(symlink("nowhere", in_folder(folder, "a-1.pftrace")), 0);
    struct bf_trace *trace = trace_open(in_folder(folder, "a.pftrace"));
    assert_string_equal(bf_trace_path(trace), in_folder(folder, "a-2.pftrace"));
    bf_trace_destroy(trace);
    char text[16] = "";
    precious = fopen(in_folder(folder, "a.pftrace"), "r");
    assert_non_null(fgets(text, sizeof(text), precious));
    fclose(precious);
    assert_string_equal(text, "precious");
    unlink(in_folder(folder, "a.pftrace"));
    unlink(in_folder(folder, "a-1.pftrace"));
    check_and_remove(in_folder(folder, "a-2.pftrace"));

    char *said = stderr_of(write_names, folder);
    assert_string_equal(said, "");
    free(said);
    assert_int_equal(rmdir(folder), 0);
}

/* The traces that a process writes to one path, one after the other, are in one file. */
TEST(goes_on)
{
    char folder[64], path[128], moved[128];
    folder_make(folder);
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run"));
    snprintf(moved, sizeof(moved), "%s", in_folder(folder, "moved"));
    size_t before = 0;
    for (int i = 0; i < 3; i++) {
        struct bf_trace *trace = trace_open(path);
        assert_string_equal(bf_trace_path(trace), path);
        packets(trace, 10);
        bf_trace_destroy(trace);
        struct decoded d = decode_file(path);
        decoded_check(&d);
        assert_true(d.count > before);
        before = d.count;
        decoded_free(&d);
    }
    /* Unless it isn't there any more, or others have written to it. */
    assert_int_equal(rename(path, moved), 0);
    struct bf_trace *trace = trace_open(path);
    assert_string_equal(bf_trace_path(trace), path);
    bf_trace_destroy(trace);
    FILE *other = fopen(path, "a");
    fputs("other", other);
    fclose(other);
    trace = trace_open(path);
    assert_string_equal(bf_trace_path(trace), in_folder(folder, "run-1"));
    bf_trace_destroy(trace);
    unlink(path);
    check_and_remove(moved);
    check_and_remove(in_folder(folder, "run-1"));
    assert_int_equal(rmdir(folder), 0);
}

/* FD-1: a program that has closed its stdin, stdout and stderr, and prints all the same. */
TEST(keeps_off_closed_stdout)
{
    char folder[64], path[128];
    folder_make(folder);
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run"));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int printed = 0;
        close_range(0, STDERR_FILENO, 0);
        for (int i = 0; i < 2; i++) {
            struct bf_trace *trace = trace_open(path);
            for (int fd = 0; fd <= STDERR_FILENO; fd++)
                printed += write(fd, "print", 5) != -1;
            packets(trace, 10);
            bf_trace_destroy(trace);
        }
        _exit(printed);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_and_remove(path);
    assert_int_equal(rmdir(folder), 0);
}

/* The descriptor that leads to the file; -1: none does. */
static int descriptor_of(const char *path)
{
    struct stat file, open_one;
    assert_int_equal(stat(path, &file), 0);
    for (int fd = 0; fd < 1024; fd++) {
        if (fstat(fd, &open_one) == 0 && open_one.st_dev == file.st_dev &&
            open_one.st_ino == file.st_ino)
            return fd;
    }
    return -1;
}

/* A program that closes what it doesn't know, and opens a file, which gets the trace's number. */
static void take_the_descriptor(const char *folder)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct bf_trace *trace = trace_open(in_folder(folder, "run"));
        packets(trace, 10);
        bf_trace_drain(trace);
        int taken = descriptor_of(in_folder(folder, "run"));
        int own = open(in_folder(folder, "own"), O_RDWR | O_CREAT | O_TRUNC, 0600);
        struct stat status;
        bool mine = taken > 0 && write(own, "precious", 8) == 8 && dup2(own, taken) == taken;
        packets(trace, 10);
        bf_trace_drain(trace);
        bf_trace_destroy(trace);
        _exit(mine && fstat(taken, &status) == 0 && status.st_size == 8 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(foreign_descriptor)
{
    char folder[64];
    folder_make(folder);
    char *said = stderr_of(take_the_descriptor, folder);
    assert_int_equal(lines(said), 1);
    assert_non_null(strstr(said, "the trace ends here"));
    free(said);
    unlink(in_folder(folder, "own"));
    check_and_remove(in_folder(folder, "run"));
    assert_int_equal(rmdir(folder), 0);
}

/* Others can tell that the file is being written. */
static short lock_seen(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool asked = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0;
    close(fd);
    return asked ? lock.l_type : -1;
}

TEST(locked_while_written)
{
    char folder[64], path[128];
    folder_make(folder);
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run"));
    struct bf_trace *trace = trace_open(path);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(lock_seen(path) == (i ? F_UNLCK : F_WRLCK) ? 0 : 1);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        if (i == 0)
            bf_trace_destroy(trace);
    }
    check_and_remove(path);
    assert_int_equal(rmdir(folder), 0);
}

/* Says where its files are when the process ends, if they are there. */
static void end_with_traces(const char *folder)
{
    static const char *const names[] = {"kept", "a b", "gone"};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 3; i++)
            bf_trace_destroy(trace_open(in_folder(folder, names[i])));
        unlink(in_folder(folder, "gone"));
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
}

TEST(says_where_it_is)
{
    char folder[64], word[160];
    folder_make(folder);
    char *said = stderr_of(end_with_traces, folder);
    assert_int_equal(lines(said), 2);
    snprintf(word, sizeof(word), "'belfry trace %s'", in_folder(folder, "kept"));
    assert_non_null(strstr(said, word));
    snprintf(word, sizeof(word), "'belfry trace '%s''", in_folder(folder, "a b"));
    assert_non_null(strstr(said, word));
    free(said);
    check_and_remove(in_folder(folder, "kept"));
    check_and_remove(in_folder(folder, "a b"));
    assert_int_equal(rmdir(folder), 0);
}

/* A trace that the program doesn't destroy says, too, until when it tells; what is over has
 * ended. */
TEST(says_when_it_ends)
{
    char folder[64];
    folder_make(folder);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        struct bf_trace *trace = trace_open(in_folder(folder, "run"));
        uint32_t queue = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "engine"), "queue");
        bf_trace_fence_queued(trace, queue, NULL, BF_TRACE_FENCE_SIGNAL, SYNC(1, 1), true);
        bf_trace_fence_queued(trace, queue, NULL, BF_TRACE_FENCE_SIGNAL, SYNC(1, 2), true);
        bf_trace_fence_done(trace, queue, BF_TRACE_FENCE_SIGNAL, SYNC(1, 1), 0, 0, 0);
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    struct decoded d = decode_whole(in_folder(folder, "run"), false);
    const struct decoded_packet *end = &d.packets[d.count - 1];
    assert_true(decoded_is(end->name, "Belfry: tracing ends"));
    assert_int_equal(count_of(&d, DECODED_EVENT, DECODED_BEGIN), 2);
    assert_int_equal(count_of(&d, DECODED_EVENT, DECODED_END), 1);
    decoded_free(&d);
    unlink(in_folder(folder, "run"));
    assert_int_equal(rmdir(folder), 0);
}

static void create_in_vain(const char *folder)
{
    const struct bf_trace_info info = {.path = in_folder(folder, "missing/trace.pftrace"),
                                       .program = "synthetic",
                                       .device = "",
                                       .driver = ""};
    struct bf_trace *trace;
    assert_int_equal(bf_trace_create(&info, &trace), VK_ERROR_INITIALIZATION_FAILED);
    assert_null(trace);
}

TEST(says_why_there_is_no_file)
{
    char folder[64];
    folder_make(folder);
    char *said = stderr_of(create_in_vain, folder);
    assert_int_equal(lines(said), 1);
    assert_non_null(strstr(said, in_folder(folder, "missing/trace.pftrace")));
    assert_non_null(strstr(said, "No such file or directory"));
    free(said);
    rmdir(folder);
}

static void write_to_full_disk(const char *folder)
{
    struct bf_trace *trace = trace_open("/dev/full");
    packets(trace, 2000);
    bf_trace_drain(trace);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bf_trace_print_summary(trace, out);
    fclose(out);
    assert_non_null(strstr(text, "2000 submissions"));
    assert_non_null(strstr(text, "No space left on device"));
    assert_non_null(strstr(text, "events left out of the trace"));
    free(text);
    bf_trace_destroy(trace);
}

TEST(full_disk)
{
    TEST_NEEDS(access("/dev/full", W_OK) == 0, "/dev/full");
    char folder[64];
    folder_make(folder);
    char *said = stderr_of(write_to_full_disk, folder);
    assert_int_equal(lines(said), 1);
    assert_non_null(strstr(said, "/dev/full"));
    assert_non_null(strstr(said, "No space left on device"));
    free(said);
    rmdir(folder);
}

/* A disk that fills up in the middle of a packet: the file ends with the packet before. */
static void fill_up(const char *folder)
{
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 100 * 1000 + 7;
    signal(SIGXFSZ, SIG_IGN);
    struct bf_trace *trace = trace_open(in_folder(folder, "filled"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    packets(trace, 2000);
    bf_trace_drain(trace);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    bf_trace_destroy(trace);
}

TEST(fills_up)
{
    char folder[64];
    folder_make(folder);
    char *said = stderr_of(fill_up, folder);
    assert_int_equal(lines(said), 1);
    assert_non_null(strstr(said, "File too large"));
    struct decoded d = decode_file(in_folder(folder, "filled"));
    assert_int_equal(d.whole, d.size);
    assert_in_range(d.size, 99 * 1000, 100 * 1000 + 7);
    decoded_check(&d);
    decoded_free(&d);
    free(said);
    unlink(in_folder(folder, "filled"));
    rmdir(folder);
}

/* How many packets a file holds now, while it is being written, or was. */
static size_t on_disk(const char *path)
{
    struct decoded d = decode_whole(path, true);
    size_t count = d.count;
    decoded_free(&d);
    return count;
}

/* Nobody need ask: what is pending is written before long, whatever happens next. */
TEST(written_as_it_happens)
{
    char folder[64];
    folder_make(folder);
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run"));
    struct bf_trace *trace = trace_open(path);
    uint32_t engine = bf_trace_add_engine(trace, "engine");
    uint32_t queue = bf_trace_add_queue(trace, engine, "queue");
    struct bf_trace_packet p = queued(trace, queue);
    bf_trace_packet_held(trace, &p, SYNC(1, 1));
    for (bool there = false; !there; sched_yield()) {
        struct decoded d = decode_whole(path, true);
        there = event_named(&d, "held", DECODED_BEGIN, 0) != NULL;
        decoded_free(&d);
    }
    size_t after = on_disk(path);
    bf_trace_host_signal(trace, SYNC(1, 1));
    bf_trace_flush(trace);
    bf_trace_drain(trace);
    assert_true(on_disk(path) > after);
    after = on_disk(path);
    packets(trace, 1000);
    bf_trace_drain(trace);
    assert_true(on_disk(path) > after + 1000);
    bf_trace_drain(trace); /* nothing new */
    bf_trace_destroy(trace);
    check_and_remove(path);
    rmdir(folder);
}

TEST(loads_after_a_crash)
{
    char folder[64];
    folder_make(folder);
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run"));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct bf_trace *trace = trace_open(path);
        packets(trace, 5000);
        bf_trace_drain(trace);
        packets(trace, 7500); /* enough for the signal to find the file being written */
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    struct decoded d = decode_whole(path, true);
    assert_true(d.count > 1000);
    decoded_check(&d);
    decoded_free(&d);
    unlink(path);
    rmdir(folder);
}

TEST(summary_without_a_file)
{
    struct bf_trace *trace = trace_open(NULL);
    assert_null(bf_trace_path(trace));
    packets(trace, 10);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bf_trace_print_summary(trace, out);
    fclose(out);
    assert_non_null(strstr(text, "10 submissions"));
    assert_null(strstr(text, "\n  trace "));
    free(text);
    bf_trace_destroy(trace);
}
