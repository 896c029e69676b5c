/* SPDX-License-Identifier: MIT */
/* Finds the live pages of a process, asks for what they show, and checks it: nothing in a page is
 * believed. */
#include "cli/top.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"

#ifndef F_SEAL_SHRINK
#define F_SEAL_SHRINK 0x0002
#endif

/* --------------------------------------------------------------------------------- Processes -- */

static ssize_t file_read(int folder, const char *name, char *text, size_t size)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = file == -1 ? -1 : read(file, text, size - 1);
    if (file != -1)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return length;
}

bool top_process_open(struct top_process *process, pid_t id)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d", (int)id);
    *process =
        (struct top_process){.id = id, .folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (process->folder == -1)
        return false;
    file_read(process->folder, "comm", process->name, sizeof(process->name));
    process->name[strcspn(process->name, "\n")] = '\0';
    top_text_tame(process->name);
    return true;
}

void top_process_close(struct top_process *process)
{
    close(process->folder);
}

char top_process_state(const struct top_process *process)
{
    char line[512];
    if (file_read(process->folder, "stat", line, sizeof(line)) <= 0)
        return 0;
    const char *name_end = strrchr(line, ')');
    char state = name_end && name_end[1] ? name_end[2] : 0;
    return state == 'Z' || state == 'X' ? 0 : state;
}

/* Its number as it knows it: in its own namespace. */
static uint64_t process_own_id(const struct top_process *process)
{
    char text[4096];
    uint64_t id = (uint64_t)process->id;
    file_read(process->folder, "status", text, sizeof(text));
    char *line = strstr(text, "\nNSpid:");
    for (line = line ? line + 7 : NULL; line && *line && *line != '\n';) {
        if (isdigit((unsigned char)*line))
            id = strtoull(line, &line, 10);
        else
            line++;
    }
    return id;
}

/* ------------------------------------------------------------------------------------- Check -- */

/* The length of the character, if it is one that is only seen; else 0. */
static size_t character_length(const unsigned char *c)
{
    uint32_t code;
    size_t length = *c < 0x80 ? 1 : (*c & 0xE0) == 0xC0 ? 2 : (*c & 0xF0) == 0xE0 ? 3 : 4;
    if (length == 1)
        return *c >= 0x20 && *c != 0x7F;
    if (length == 4 && (*c & 0xF8) != 0xF0)
        return 0;
    code = *c & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool controls = code < 0xA0 || (code >= 0x200B && code <= 0x200F) ||
                    (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
                    (code >= 0xD800 && code <= 0xDFFF) || code == 0x061C || code == 0xFEFF;
    return code < least[length] || code > 0x10FFFF || controls ? 0 : length;
}

void top_text_tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c;) {
        size_t length = character_length(c);
        if (!length)
            *c = '?';
        c += length ? length : 1;
    }
}

static bool text_check(char *text, size_t size)
{
    if (!memchr(text, '\0', size))
        return false;
    top_text_tame(text);
    return true;
}

bool top_view_check(struct bf_live_view *v)
{
    bool sound = v->engine_count <= BF_LIVE_ENGINES && v->queue_count <= BF_LIVE_QUEUES &&
                 v->fence_count <= BF_LIVE_FENCES && v->case_count <= BF_LIVE_CASES &&
                 v->engine_count <= v->engines_all && v->queue_count <= v->queues_all &&
                 v->fence_count <= v->fences_all;
    for (uint64_t i = 0; sound && i < v->engine_count; i++)
        sound = text_check(v->engines[i].name, BF_LIVE_NAME) &&
                text_check(v->engines[i].work, BF_LIVE_TEXT) &&
                text_check(v->engines[i].call, BF_LIVE_NAME);
    for (uint64_t i = 0; sound && i < v->queue_count; i++)
        sound = text_check(v->queues[i].name, BF_LIVE_NAME) &&
                text_check(v->queues[i].wait, BF_LIVE_TEXT);
    for (uint64_t i = 0; sound && i < v->fence_count; i++)
        sound = text_check(v->fences[i].name, BF_LIVE_NAME);
    for (uint64_t i = 0; sound && i < v->case_count; i++)
        sound = text_check(v->cases[i], BF_LIVE_LINE);
    return sound;
}

/* ------------------------------------------------------------------------------------- Pages -- */

struct page {
    ino_t inode;
    uint32_t version;
    enum top_answer answer;
    struct bf_live_page *memory; /* NULL: it can't be asked */
    uint32_t asked;
};

/* Maps the page behind the descriptor. False: it is none of this process. */
static bool page_open(struct page *page, int fd, uint64_t process)
{
    struct stat info;
    /* A plain copy of how a page begins, which can't fault if the memory is smaller. */
    struct {
        uint64_t magic;
        uint32_t version, words[3];
        uint64_t turn, process;
    } head;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals == -1 || !(seals & F_SEAL_SHRINK) || fstat(fd, &info) == -1 ||
        pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || head.magic != BF_LIVE_MAGIC)
        return false;
    *page = (struct page){.inode = info.st_ino, .version = head.version, .answer = TOP_SILENT};
    if (head.version != BF_LIVE_VERSION) {
        page->answer = TOP_OTHER_VERSION;
        return true;
    }
    if (head.process != process)
        return false;
    void *memory = MAP_FAILED;
    if (info.st_size == (off_t)BF_LIVE_SIZE)
        memory = mmap(NULL, BF_LIVE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        page->answer = TOP_DAMAGED;
    else
        page->memory = memory;
    return true;
}

static void page_ask(struct page *page)
{
    page->asked = atomic_fetch_add(&page->memory->asked, 1) + 1;
    atomic_fetch_add(&page->memory->bell, 1);
    bf_futex_wake_shared(&page->memory->bell, INT32_MAX);
}

/* Has the program answered this time, or a later one? */
static bool page_is_answered(const struct page *page, uint32_t answered)
{
    return answered - page->asked < UINT32_MAX / 2;
}

static bool page_await(const struct page *page, uint64_t until_ns)
{
    const struct timespec until = bf_timespec(until_ns);
    for (;;) {
        uint32_t answered = atomic_load(&page->memory->answered);
        if (page_is_answered(page, answered))
            return true;
        if (bf_now_ns() >= until_ns)
            return false;
        bf_futex_wait_shared(&page->memory->answered, answered, &until);
    }
}

/* LP-1: false where no whole view was to be had. */
static bool page_copy(const struct page *page, struct bf_live_view *view, uint64_t until_ns)
{
    do {
        uint64_t turn = atomic_load(&page->memory->turn);
        for (size_t i = 0; i < BF_LIVE_WORDS; i++) {
            uint64_t word = atomic_load_explicit(&page->memory->words[i], memory_order_acquire);
            memcpy((char *)view + i * sizeof(word), &word, sizeof(word));
        }
        if (turn % 2 == 0 && atomic_load(&page->memory->turn) == turn)
            return true;
        sched_yield();
    } while (bf_now_ns() < until_ns);
    return false;
}

static size_t pages_find(const struct top_process *process, DIR *fds, struct page *pages,
                         size_t room)
{
    uint64_t own = process_own_id(process);
    size_t count = 0;
    for (struct dirent *entry; count < room && (entry = readdir(fds)) != NULL;) {
        char link[sizeof(BF_LIVE_LINK) + 1];
        ssize_t length = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link));
        if (length != (ssize_t)strlen(BF_LIVE_LINK) || memcmp(link, BF_LIVE_LINK, (size_t)length))
            continue;
        int fd = openat(dirfd(fds), entry->d_name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        bool found = fd != -1 && page_open(&pages[count], fd, own);
        if (fd != -1)
            close(fd);
        for (size_t i = 0; found && i < count; i++) { /* a descriptor that has been duplicated */
            if (pages[i].inode == pages[count].inode) {
                if (pages[count].memory)
                    munmap(pages[count].memory, BF_LIVE_SIZE);
                found = false;
            }
        }
        count += found;
    }
    return count;
}

int top_devices_look(const struct top_process *process, struct top_device *devices, size_t room,
                     uint64_t wait_ns)
{
    struct page pages[TOP_DEVICES];
    int folder = openat(process->folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *fds = folder == -1 ? NULL : fdopendir(folder);
    if (!fds) {
        if (folder != -1)
            close(folder);
        return -1;
    }
    size_t count = pages_find(process, fds, pages, room < TOP_DEVICES ? room : TOP_DEVICES);
    closedir(fds);
    for (size_t i = 0; devices && i < count; i++) {
        if (pages[i].memory)
            page_ask(&pages[i]);
    }
    char state = top_process_state(process);
    bool stopped = state == 'T' || state == 't'; /* who can't answer isn't waited for */
    uint64_t until_ns = bf_now_ns() + (stopped ? 0 : wait_ns);
    for (size_t i = 0; i < count; i++) {
        struct page *page = &pages[i];
        struct top_device *to = devices ? &devices[i] : NULL;
        if (to && page->memory && page_await(page, until_ns))
            page->answer = page_copy(page, &to->view, until_ns) && top_view_check(&to->view)
                               ? TOP_ANSWERED
                               : TOP_DAMAGED;
        if (page->memory)
            munmap(page->memory, BF_LIVE_SIZE);
        if (to) {
            to->inode = page->inode;
            to->version = page->version;
            to->answer = page->answer;
        }
    }
    return (int)count;
}
