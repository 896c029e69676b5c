/* SPDX-License-Identifier: MIT */
/* 'belfry top' against pages that no watchdog wrote, and against a program that is made here: what
 * it believes, what it prints, and what it leaves of a terminal. */
#include "support/test.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/top.h"

/* The command. */
static const char *belfry;

/* -------------------------------------------------------------------------- What is believed -- */

TEST(test_tame)
{
    static const struct {
        const char *text, *tame;
    } cases[] = {
        {"", ""},
        {"frame 'sun' 7", "frame 'sun' 7"},
        {"\033[2Jx\r\n\t\x7f", "?[2Jx????"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "??31m"}, /* a control sequence in one character */
        {"\xe2\x80\xae"
         "abc",
         "???abc"},                                           /* what turns the writing round */
        {"\xc0\x9b \xe0\x80\x9b \xed\xa0\x80", "?? ??? ???"}, /* too long, and a surrogate */
        {"\xff\xfe \xf5\x80\x80\x80 \xe2\x82", "?? ???? ??"},
        {"\xf0\x9f", "??"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "%s", cases[i].text);
        top_text_tame(text);
        assert_string_equal(text, cases[i].tame);
    }
}

static struct top_device device, before;

static const struct top_process nobody = {.id = 1, .folder = -1, .name = "nobody"};

/* What is written of the view has no byte that would control a terminal. */
static void written_is_tame(void)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    top_write(to, &nobody, &device, 1, &before, 1);
    fclose(to);
    for (size_t i = 0; i < size; i++)
        assert_true(text[i] == '\n' || (unsigned char)text[i] >= 0x20);
    free(text);
}

/* One field of a sound view is spoilt. */
TEST(test_check)
{
    struct bf_live_view *v = &device.view;
    uint64_t *const counts[] = {&v->engine_count, &v->queue_count, &v->fence_count, &v->case_count};
    static const uint64_t most[] = {BF_LIVE_ENGINES, BF_LIVE_QUEUES, BF_LIVE_FENCES, BF_LIVE_CASES};
    const struct {
        char *text;
        size_t size;
    } texts[] = {
        {v->engines[0].name, BF_LIVE_NAME}, {v->engines[BF_LIVE_ENGINES - 1].work, BF_LIVE_TEXT},
        {v->engines[1].call, BF_LIVE_NAME}, {v->queues[BF_LIVE_QUEUES - 1].name, BF_LIVE_NAME},
        {v->queues[0].wait, BF_LIVE_TEXT},  {v->fences[BF_LIVE_FENCES - 1].name, BF_LIVE_NAME},
        {v->cases[0], BF_LIVE_LINE},        {v->cases[BF_LIVE_CASES - 1], BF_LIVE_LINE},
    };
    for (size_t i = 0; i < 4; i++) {
        for (int add = 0; add < 3; add++) {
            memset(v, 0, sizeof(*v));
            v->engines_all = v->queues_all = v->fences_all = UINT64_MAX;
            *counts[i] = add == 2 ? UINT64_MAX : most[i] + (uint64_t)add;
            assert_int_equal(top_view_check(v), add == 0);
        }
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (int ends = 0; ends < 2; ends++) {
            memset(v, 0, sizeof(*v));
            v->engines_all = v->queues_all = v->fences_all = UINT64_MAX;
            for (size_t k = 0; k < 4; k++)
                *counts[k] = most[k];
            memset(texts[i].text, '\033', texts[i].size - (size_t)ends);
            assert_int_equal(top_view_check(v), ends);
            if (ends)
                written_is_tame();
        }
    }
    v->engines_all = 0; /* fewer than are shown */
    assert_false(top_view_check(v));
}

/* Random bytes, of which counts are often small. */
TEST(test_random_views)
{
    uint64_t random = 1, sound = 0;
    for (int round = 0; round < 300; round++) {
        uint64_t words[BF_LIVE_WORDS];
        for (size_t i = 0; i < BF_LIVE_WORDS; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            words[i] = random ^ random >> 29;
            if (round % 3 && i < 16)
                words[i] %= 9;
            if (round % 3 == 2 && i % 4 == 3)
                words[i] = 0; /* strings that end */
        }
        before.view = device.view;
        memcpy(&device.view, words, sizeof(words));
        if (!top_view_check(&device.view))
            continue;
        sound++;
        written_is_tame();
    }
    assert_true(sound > 10);
}

/* -------------------------------------------------------------------------------- Made pages -- */

enum fake {
    FAKE_SOUND, /* it answers */
    FAKE_SMALL,
    FAKE_EMPTY,
    FAKE_UNSEALED,
    FAKE_MAGIC,
    FAKE_VERSION,
    FAKE_PROCESS,
    FAKE_SILENT,
    FAKE_RESTLESS, /* 'answered' is anything */
    FAKE_ODD,      /* 'turn' says for ever that it is being written */
    FAKE_TURNING,  /* it answers several times */
    FAKE_COUNTS,
    FAKE_STRINGS,
};

struct fake_page {
    enum fake fake;
    int fd;
    struct bf_live_page *page;
    _Atomic bool stop;
    pthread_t thread;
};

/* Writes the view anew. */
static void fake_answer(struct fake_page *f, struct bf_live_view *v, uint32_t asked)
{
    struct bf_live_page *page = f->page;
    v->now_ns += 1000000000;
    v->fences[0].value = v->lost = v->pool.known = ++v->engines[0].accepted;
    atomic_fetch_add(&page->turn, 1);
    for (size_t i = 0; i < BF_LIVE_WORDS; i++) {
        uint64_t word;
        memcpy(&word, (char *)v + 8 * i, 8);
        atomic_store_explicit(&page->words[i], word, memory_order_release);
    }
    if (f->fake != FAKE_ODD)
        atomic_fetch_add(&page->turn, 1);
    atomic_store(&page->answered, asked);
    syscall(SYS_futex, &page->answered, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void *fake_run(void *context)
{
    struct fake_page *f = context;
    static struct bf_live_view v;
    struct bf_live_page *page = f->page;
    memset(&v, 0, sizeof(v));
    v.seen = v.queue_count = v.queues_all = v.fence_count = v.fences_all = 1;
    v.engine_count = v.engines_all = 1;
    snprintf(v.engines[0].name, BF_LIVE_NAME, "VkQueue 0:0");
    snprintf(v.queues[0].name, BF_LIVE_NAME, "3D queue 0:0 '\033[31mred'");
    snprintf(v.queues[0].wait, BF_LIVE_TEXT, "packet 1 waits for semaphore 'frame'");
    snprintf(v.fences[0].name, BF_LIVE_NAME, "semaphore 'frame'");
    if (f->fake == FAKE_COUNTS)
        v.queue_count = v.queues_all = UINT32_MAX;
    if (f->fake == FAKE_STRINGS)
        memset(v.fences[0].name, 'x', BF_LIVE_NAME);
    for (uint32_t turn = 0; !f->stop;) {
        uint32_t bell = atomic_load(&page->bell), asked = atomic_load(&page->asked);
        if (f->fake == FAKE_RESTLESS) {
            atomic_store(&page->answered, 0x80000000 + turn++);
        } else if (asked == atomic_load(&page->answered)) {
            syscall(SYS_futex, &page->bell, FUTEX_WAIT, bell, NULL, NULL, 0);
        } else {
            for (int times = f->fake == FAKE_TURNING ? 20 : 1; times > 0; times--)
                fake_answer(f, &v, asked);
        }
    }
    return NULL;
}

static void fake_open(struct fake_page *f, enum fake fake)
{
    *f = (struct fake_page){.fake = fake};
    f->fd = memfd_create(BF_LIVE_MEMORY, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(f->fd != -1);
    size_t size = fake == FAKE_EMPTY ? 0 : fake == FAKE_SMALL ? 64 : BF_LIVE_SIZE;
    assert_int_equal(ftruncate(f->fd, (off_t)size), 0);
    if (fake != FAKE_UNSEALED)
        assert_int_equal(fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    if (fake == FAKE_EMPTY)
        return;
    f->page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    assert_true(f->page != MAP_FAILED);
    atomic_store(&f->page->magic, BF_LIVE_MAGIC + (fake == FAKE_MAGIC));
    atomic_store(&f->page->version, BF_LIVE_VERSION + (fake == FAKE_VERSION));
    atomic_store(&f->page->process, (uint64_t)getpid() + (fake == FAKE_PROCESS));
    if (fake == FAKE_SOUND || fake >= FAKE_RESTLESS)
        assert_int_equal(pthread_create(&f->thread, NULL, fake_run, f), 0);
}

static void fake_close(struct fake_page *f)
{
    f->stop = true;
    if (f->thread) {
        atomic_fetch_add(&f->page->bell, 1);
        syscall(SYS_futex, &f->page->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
        pthread_join(f->thread, NULL);
    }
    if (f->page)
        munmap(f->page, f->fake == FAKE_SMALL ? 64 : BF_LIVE_SIZE);
    close(f->fd);
}

TEST(test_made_pages)
{
    static const struct {
        enum fake fake;
        int count;
        enum top_answer answer;
    } cases[] = {
        {FAKE_SOUND, 1, TOP_ANSWERED},   {FAKE_SMALL, 1, TOP_DAMAGED},
        {FAKE_EMPTY, 0, TOP_ANSWERED},   {FAKE_UNSEALED, 0, TOP_ANSWERED},
        {FAKE_MAGIC, 0, TOP_ANSWERED},   {FAKE_VERSION, 1, TOP_OTHER_VERSION},
        {FAKE_PROCESS, 0, TOP_ANSWERED}, {FAKE_SILENT, 1, TOP_SILENT},
        {FAKE_RESTLESS, 1, TOP_SILENT},  {FAKE_ODD, 1, TOP_DAMAGED},
        {FAKE_COUNTS, 1, TOP_DAMAGED},   {FAKE_STRINGS, 1, TOP_DAMAGED},
    };
    struct top_process self;
    assert_true(top_process_open(&self, getpid()));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake_page f;
        enum fake fake = cases[i].fake;
        /* Who waits for these in vain waits for so long. */
        uint64_t wait_ns = fake == FAKE_ODD                               ? 1000000000
                           : fake == FAKE_SILENT || fake == FAKE_RESTLESS ? 50000000
                                                                          : UINT64_C(60000000000);
        fake_open(&f, fake);
        print_message("page %d\n", (int)fake);
        assert_int_equal(top_devices_look(&self, &device, 1, wait_ns), cases[i].count);
        if (cases[i].count && wait_ns <= 1000000000)
            assert_true(device.answer == TOP_SILENT || device.answer == TOP_DAMAGED);
        else if (cases[i].count)
            assert_int_equal(device.answer, cases[i].answer);
        fake_close(&f);
    }
    top_process_close(&self);
}

/* LP-1: what is shown was written at once, though the program goes on writing. */
TEST(test_whole)
{
    struct fake_page f;
    struct top_process self;
    assert_true(top_process_open(&self, getpid()));
    fake_open(&f, FAKE_TURNING);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(top_devices_look(&self, &device, 1, UINT64_C(60000000000)), 1);
        assert_int_equal(device.answer, TOP_ANSWERED);
        assert_int_equal(device.view.lost, device.view.pool.known);
        assert_int_equal(device.view.lost, device.view.engines[0].accepted);
        assert_int_equal(device.view.lost, device.view.fences[0].value);
    }
    fake_close(&f);
    top_process_close(&self);
}

/* ------------------------------------------------------------------------------- The command -- */

/* A program with such a page. */
static pid_t program_start(enum fake fake)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct fake_page f;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fake_open(&f, fake);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void program_end(pid_t program)
{
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
}

/* Runs it with standard output and error in 'text'; returns its exit code. */
static int command(char text[8192], const char *option, pid_t program)
{
    int out[2], status;
    char id[16];
    assert_int_equal(pipe(out), 0);
    snprintf(id, sizeof(id), "%d", (int)program);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execl(belfry, "belfry", "top", id, option, NULL);
        _exit(127);
    }
    close(out[1]);
    size_t length = 0;
    for (ssize_t n; (n = read(out[0], text + length, 8191 - length)) > 0;)
        length += (size_t)n;
    text[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(test_command)
{
    static const struct {
        enum fake fake;
        int code;
        const char *says;
    } cases[] = {
        {FAKE_SOUND, 0,
         "\n    3D queue 0:0 '?[31mred'                         0       -  0\n"
         "      packet 1 waits for semaphore 'frame'\n"},
        {FAKE_EMPTY, 1, ") has no device whose watchdog is on"},
        {FAKE_VERSION, 1, ") has a Belfry of another version"},
        {FAKE_SILENT, 1, "  no answer: the program's watchdog doesn't come to it\n"},
        {FAKE_STRINGS, 1, "  its page is damaged\n"},
    };
    char text[8192];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t program = program_start(cases[i].fake);
        int code = command(text, "--once", program);
        print_message("%s", text);
        assert_int_equal(code, cases[i].code);
        assert_non_null(strstr(text, cases[i].says));
        if (i == 0) {
            int status;
            kill(program, SIGSTOP); /* it is waited for, so it is stopped then */
            assert_int_equal(waitpid(program, &status, WUNTRACED), program);
            assert_int_equal(command(text, "--once", program), 1);
            assert_non_null(strstr(text, "no answer: the program is stopped"));
        }
        program_end(program);
    }
}

/* What the terminal was sent, and nobody has awaited yet. */
static char sent[1 << 20];

/* Reads from the terminal until the text has come, behind what came before. */
static void terminal_await(int terminal, const char *wanted)
{
    char *found;
    while (!(found = strstr(sent, wanted))) {
        size_t length = strlen(sent);
        ssize_t n = read(terminal, sent + length, sizeof(sent) - 1 - length);
        if (n <= 0)
            fail_msg("'%s' didn't come, but: %s", wanted, sent);
        sent[length + (size_t)n] = '\0';
    }
    found += strlen(wanted);
    memmove(sent, found, strlen(found) + 1);
}

/* What ends it, and that the terminal is as it was. */
TEST(test_terminal)
{
    static const struct {
        const char *keys;
        int number, status;
        bool ends; /* the program does */
    } cases[] = {
        {.keys = "xq"},    {.keys = "\003"}, {.number = SIGTERM, .status = SIGTERM},
        {.keys = "\032q"}, {.ends = true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct winsize size = {.ws_row = 5, .ws_col = 30};
        struct termios first, last;
        pid_t program = program_start(FAKE_SOUND);
        int terminal, status;
        char id[16];
        snprintf(id, sizeof(id), "%d", (int)program);
        pid_t child = forkpty(&terminal, NULL, NULL, &size);
        sent[0] = '\0';
        memset(&first, 0, sizeof(first)); /* and what lies between its members */
        memset(&last, 0, sizeof(last));
        if (child == 0) {
            char go;
            if (read(STDIN_FILENO, &go, 1) != 1)
                _exit(1);
            setenv("TERM", "xterm", 1);
            execl(belfry, "belfry", "top", id, NULL);
            _exit(127);
        }
        assert_int_equal(tcgetattr(terminal, &first), 0);
        assert_int_equal(write(terminal, "\n", 1), 1);
        terminal_await(terminal, "\033[?1049h");
        terminal_await(terminal, "\n  engines  ");
        terminal_await(terminal, "... (more in a higher window)");
        size = (struct winsize){.ws_row = 50, .ws_col = 200};
        assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
        terminal_await(terminal, "\n      packet 1 waits for semaphore 'frame'\033[K");
        assert_int_equal(tcgetattr(terminal, &last), 0);
        assert_int_equal(last.c_lflag & (ICANON | ECHO), 0);
        if (cases[i].ends)
            program_end(program);
        if (cases[i].number)
            kill(child, cases[i].number);
        for (const char *key = cases[i].keys; key && *key; key++) {
            assert_int_equal(write(terminal, key, 1), 1);
            if (*key != '\032')
                continue;
            assert_int_equal(waitpid(child, &status, WUNTRACED), child);
            assert_true(WIFSTOPPED(status));
            assert_int_equal(tcgetattr(terminal, &last), 0);
            assert_int_equal(last.c_lflag, first.c_lflag);
            kill(child, SIGCONT);
            terminal_await(terminal, "\033[?1049h");
        }
        terminal_await(terminal, "\033[?1049l");
        if (cases[i].ends)
            terminal_await(terminal, " has ended");
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                         cases[i].status);
        assert_int_equal(tcgetattr(terminal, &last), 0);
        assert_memory_equal(&first, &last, sizeof(first));
        close(terminal);
        if (!cases[i].ends)
            program_end(program);
    }
}

/* A pipe gets lines, a block each second, until the program ends. */
TEST(test_lines)
{
    int out[2], status;
    char id[16], text[65536];
    size_t length = 0;
    pid_t program = program_start(FAKE_SOUND);
    snprintf(id, sizeof(id), "%d", (int)program);
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        execl(belfry, "belfry", "top", id, NULL);
        _exit(127);
    }
    close(out[1]);
    bool ended = false;
    for (ssize_t n; (n = read(out[0], text + length, sizeof(text) - 1 - length)) > 0;) {
        length += (size_t)n;
        text[length] = '\0';
        const char *second = strstr(text, "  queues");
        if (!ended && second && strstr(second + 1, "  queues")) {
            program_end(program);
            ended = true;
        }
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, " has ended\n"));
    close(out[0]);
}

static int main_of(int argc, char **argv)
{
    belfry = argc > 1 ? argv[1] : "belfry";
    alarm(60); /* it ends whatever waits for ever */
    return test_run(argc > 2 ? argv[2] : NULL);
}

__attribute__((constructor)) static void set_main(void)
{
    test_main = main_of;
}
