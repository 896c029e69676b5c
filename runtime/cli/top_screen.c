/* SPDX-License-Identifier: MIT */
/* The terminal of 'belfry top': drawn on as a whole, and given back as it was. */
#include "cli/top.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"

/* The other screen, no cursor, and no rows but those that are made here. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct top_screen {
    bool draws;
    bool reads; /* keys, from standard input, whose settings are these: */
    struct termios before;
    sigset_t mask_before;
    int signals; /* a signalfd */
    int ended_by;
    char *text; /* shown last */
};

static void terminal_enter(struct top_screen *s)
{
    struct termios raw = s->before;
    if (s->reads) {
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs(ENTER, stdout);
    fflush(stdout);
}

static void terminal_leave(struct top_screen *s)
{
    fputs(LEAVE, stdout);
    fflush(stdout);
    if (s->reads)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
}

struct top_screen *top_screen_open(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
    struct top_screen *s = calloc(1, sizeof(*s));
    const char *kind = getenv("TERM");
    if (!s)
        return NULL;
    s->signals = -1;
    s->draws = isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") != 0;
    if (!s->draws)
        return s;
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&ours, numbers[i]);
    sigprocmask(SIG_BLOCK, &ours, &s->mask_before);
    s->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signals == -1) { /* then as lines */
        sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
        s->draws = false;
        return s;
    }
    s->reads = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &s->before) == 0;
    terminal_enter(s);
    return s;
}

/* Where the line goes on in the next row, if it has more characters than columns: behind a space,
 * or where it has to. *end is the end of this row. */
static const char *row_end(const char *text, unsigned columns, const char **end)
{
    const char *space = NULL;
    unsigned column = 0;
    for (*end = text; **end && **end != '\n'; (*end)++) {
        /* The bytes behind a character's first don't count. */
        column += ((unsigned char)**end & 0xC0) != 0x80;
        if (column > columns) {
            *end = space ? space : *end;
            return space ? space + 1 : *end;
        }
        if (**end == ' ' && column > columns / 2)
            space = *end;
    }
    return *end;
}

static void screen_draw(const struct top_screen *s)
{
    struct winsize size = {0};
    unsigned row = 1, indent = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_row || !size.ws_col)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    fputs("\033[H", stdout);
    for (const char *text = s->text; *text; row++) {
        const char *end;
        unsigned room = size.ws_col > indent ? size.ws_col - indent : 1;
        const char *next = row_end(text, room, &end);
        bool goes_on = *next && *next != '\n', more = goes_on || (*next && next[1]);
        if (more && row == size.ws_row) {
            fputs("... (more in a higher window)\033[K", stdout);
            break;
        }
        printf("%*s%.*s\033[K", (int)(size.ws_col > indent ? indent : 0), "", (int)(end - text),
               text);
        if (more)
            putc('\n', stdout);
        if (goes_on && indent == 0) /* two columns further in than where it began */
            indent = (unsigned)strspn(text, " ") + 2;
        else if (!goes_on)
            indent = 0;
        text = goes_on ? next : next + (*next == '\n');
    }
    fputs("\033[J", stdout);
    fflush(stdout);
}

void top_screen_show(struct top_screen *s, const char *text)
{
    if (!s->draws) {
        fputs(text, stdout);
        fflush(stdout);
        return;
    }
    free(s->text);
    s->text = strdup(text);
    if (s->text)
        screen_draw(s);
}

/* False: the signal is to end the program. */
static bool signal_take(struct top_screen *s, int number)
{
    if (number == SIGTSTP) {
        terminal_leave(s);
        kill(getpid(), SIGSTOP);
        terminal_enter(s);
    } else if (number != SIGWINCH) {
        s->ended_by = number == SIGINT ? 0 : number; /* Ctrl-C is the same as q */
        return false;
    }
    if (s->text)
        screen_draw(s);
    return true;
}

static bool screen_take(struct top_screen *s, const struct pollfd *fds)
{
    struct signalfd_siginfo info;
    char key;
    if (fds[0].revents && read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
        !signal_take(s, (int)info.ssi_signo))
        return false;
    if (fds[1].revents) {
        if (read(STDIN_FILENO, &key, 1) != 1)
            s->reads = false; /* the terminal is gone, and a signal on its way */
        else if (key == 'q' || key == 'Q')
            return false;
    }
    return true;
}

enum top_event top_screen_wait(struct top_screen *s, uint64_t until_ns, int process)
{
    for (;;) {
        uint64_t left = bf_remaining_ns(until_ns);
        struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN},
                               {.fd = s->reads ? STDIN_FILENO : -1, .events = POLLIN},
                               {.fd = process, .events = POLLIN}};
        int ready = poll(fds, 3, (int)((left + 999999) / 1000000));
        if (ready > 0 && !screen_take(s, fds))
            return TOP_QUIT;
        if (ready > 0 && fds[2].revents)
            return TOP_ENDED;
        if (left == 0)
            return TOP_TICK;
    }
}

void top_screen_close(struct top_screen *s)
{
    int number = s->ended_by;
    if (s->draws) {
        terminal_leave(s);
        close(s->signals);
        if (number)
            signal(number, SIG_DFL);
        sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
    }
    free(s->text);
    free(s);
    if (number)
        raise(number);
}
