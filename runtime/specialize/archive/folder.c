/* SPDX-License-Identifier: MIT */
/* The archive's folder: opening it with the right owner and permissions, the locks between
 * processes, files of verdicts, strikes, and marks of builds. */
#include "specialize/archive/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/message.h"

#define LOCK_WAITS_NS 1000000000

#define VERDICTS ".verdicts"
#define BARRED   ".barred"
#define BUILDING ".building."
#define NEW      "new"

#define DIGITS    (2 * BF_ARCHIVE_HASH)
#define NAME_ROOM (DIGITS + sizeof(BUILDING) + 16)

static void folder_off(struct bf_folder *folder, int error, const char *what)
{
    errno = error;
    bf_message(BF_MESSAGE_WARNING,
               "verdicts of specialised shaders are not kept: %s in folder '%s': %m", what,
               folder->name);
    folder->on = false;
}

static void folder_off_because(struct bf_folder *folder, const char *what, const char *why)
{
    bf_message(BF_MESSAGE_WARNING, "verdicts of specialised shaders are not kept: %s '%s' %s", what,
               folder->name, why);
    folder->on = false;
}

static void complain(struct bf_folder *folder, int error)
{
    if (folder->complained || !folder->on)
        return;
    folder->complained = true;
    errno = error;
    bf_message(
        BF_MESSAGE_WARNING,
        "verdicts of specialised shaders can't be written in folder '%s': %m; they are kept in "
        "memory and tried again",
        folder->name);
}

/* ---------------------------------------------------------------------------------------- Locks */

static int whole_lock(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) ? errno : 0;
}

/* Waits up to a second. Returns 0 or an error. */
static int folder_lock(struct bf_folder *folder)
{
    struct timespec pause = {.tv_nsec = 20000};
    for (long waited = 0;; waited += pause.tv_nsec) {
        const int error = whole_lock(folder->lock, F_WRLCK);
        if (error != EAGAIN && error != EACCES) {
            if (error)
                folder_off(folder, error, "no locks");
            return error;
        }
        if (waited >= LOCK_WAITS_NS)
            return EBUSY;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 5000000)
            pause.tv_nsec *= 2;
    }
}

static void folder_unlock(struct bf_folder *folder)
{
    whole_lock(folder->lock, F_UNLCK);
}

/* ---------------------------------------------------------------------------------------- Files */

static void name_put(char name[NAME_ROOM], const uint8_t hash[BF_ARCHIVE_HASH], const char *ending)
{
    for (uint32_t i = 0; i < BF_ARCHIVE_HASH; i++)
        snprintf(name + 2 * i, 3, "%02x", hash[i]);
    snprintf(name + DIGITS, NAME_ROOM - DIGITS, "%s", ending);
}

/* Whether it is a pipeline's file with that ending, and so many characters behind it. */
static bool name_is(const char *name, const char *ending, size_t rest)
{
    return strspn(name, "0123456789abcdef") == DIGITS &&
           strncmp(name + DIGITS, ending, strlen(ending)) == 0 &&
           strlen(name) == DIGITS + strlen(ending) + rest;
}

/* Why a file or folder can't be used; NULL: it is the user's alone. */
static const char *objection(int fd, mode_t type)
{
    struct stat status;
    if (fstat(fd, &status))
        return "can't be looked at";
    if ((status.st_mode & S_IFMT) != type)
        return "is something else";
    if (status.st_uid != geteuid())
        return "belongs to another user";
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return "is open to other users: its mode must be 0700, and 0600 of what is in it";
    return NULL;
}

int bf_folder_make(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return ENOMEM;
    int error = 0;
    for (char *slash = copy + 1; *copy && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(copy, 0700) && errno != EEXIST)
            error = errno;
        *slash = '/';
    }
    /* an existing folder may not be writable: only the last error counts */
    error = mkdir(copy, 0700) && errno != EEXIST ? (error ? error : errno) : 0;
    free(copy);
    return error;
}

static int folder_open_file(struct bf_folder *folder, const char *name, int flags)
{
    return bf_descriptor_lift(
        openat(folder->fd, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
}

int bf_folder_file_put(int fd, const void *bytes, size_t size)
{
    sigset_t limit, before, waiting;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigemptyset(&waiting);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    sigpending(&waiting);

    ssize_t n;
    do
        n = write(fd, bytes, size);
    while (n < 0 && errno == EINTR);
    int error = n < 0 ? errno : (size_t)n < size ? ENOSPC : 0;

    if (error == EFBIG && !sigismember(&waiting, SIGXFSZ)) {
        const struct timespec now = {0};
        sigtimedwait(&limit, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* A new file of that name, which it has once it is whole. The lock is held. */
static int file_replace(struct bf_folder *folder, const char *name, const void *bytes, size_t size)
{
    unlinkat(folder->fd, NEW, 0); /* of who was killed over it */
    const int fd = folder_open_file(folder, NEW, O_WRONLY | O_CREAT | O_EXCL);
    int error = fd < 0 ? errno : bf_folder_file_put(fd, bytes, size);
    if (!error && renameat(folder->fd, NEW, folder->fd, name))
        error = errno;
    if (fd >= 0)
        close(fd);
    if (error)
        unlinkat(folder->fd, NEW, 0);
    return error;
}

/* ------------------------------------------------------------------------------- Open and close */

static const char *lock_open(struct bf_folder *folder)
{
    folder->lock = folder_open_file(folder, "lock", O_RDWR | O_CREAT);
    if (folder->lock < 0) {
        folder_off(folder, errno, "can't open 'lock'");
        return NULL;
    }
    return objection(folder->lock, S_IFREG);
}

bool bf_folder_open(struct bf_folder *folder, const char *path)
{
    *folder = (struct bf_folder){.fd = -1, .lock = -1, .on = true, .name = strdup(path)};
    if (!folder->name)
        return false;
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    folder->fd = bf_descriptor_lift(open(path, flags));
    if (folder->fd < 0 && errno == ENOENT) {
        int error = bf_folder_make(path);
        if (error) {
            folder_off(folder, error, "can't make");
            return true;
        }
        folder->fd = bf_descriptor_lift(open(path, flags));
    }
    if (folder->fd < 0) {
        if (errno == ELOOP || errno == ENOTDIR)
            folder_off_because(folder, "folder", "is a symbolic link or no folder");
        else
            folder_off(folder, errno, "can't look");
        return true;
    }
    const char *why = objection(folder->fd, S_IFDIR);
    if (why) {
        folder_off_because(folder, "folder", why);
        return true;
    }
    why = lock_open(folder);
    if (why)
        folder_off_because(folder, "file 'lock' in folder", why);
    return true;
}

void bf_folder_close(struct bf_folder *folder)
{
    if (folder->lock >= 0)
        close(folder->lock);
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->name);
    *folder = (struct bf_folder){.fd = -1, .lock = -1};
}

/* ------------------------------------------------------------------------------------- Verdicts */

/* Errors: ENOENT: there is none; EPERM: it isn't the user's own; ENOMEM. */
static int verdicts_read(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                         struct bf_verdicts **verdicts)
{
    char name[NAME_ROOM];
    uint8_t bytes[BF_VERDICTS_BYTES_MOST + 1];
    name_put(name, hash, VERDICTS);
    const int fd = folder_open_file(folder, name, O_RDONLY);
    if (fd < 0)
        return errno;
    int error = objection(fd, S_IFREG) ? EPERM : 0;
    size_t size = 0;
    for (ssize_t n = 1; !error && n != 0 && size < sizeof(bytes);) {
        n = read(fd, bytes + size, sizeof(bytes) - size);
        if (n > 0)
            size += (size_t)n;
        else if (n < 0 && errno != EINTR)
            error = errno;
    }
    close(fd);
    if (!error && !bf_verdicts_decode(bytes, size, hash, verdicts))
        error = ENOMEM;
    return error;
}

bool bf_folder_read(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                    struct bf_verdicts **verdicts, bool *barred)
{
    *verdicts = NULL;
    *barred = false;
    const int error = folder->on ? verdicts_read(folder, hash, verdicts) : ENOENT;
    if (error == ENOMEM)
        return false;
    if (error && error != ENOENT && !folder->unread) {
        folder->unread = true;
        errno = error;
        bf_message(BF_MESSAGE_WARNING,
                   "verdicts of specialised shaders can't all be read in folder '%s': %m",
                   folder->name);
    }
    if (!*verdicts && !bf_verdicts_decode(NULL, 0, hash, verdicts))
        return false;
    *barred = bf_folder_is_barred(folder, hash);
    return true;
}

bool bf_folder_is_barred(const struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH])
{
    char name[NAME_ROOM];
    struct stat status;
    name_put(name, hash, BARRED);
    return folder->on && fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The lock is held. Returns 0 or an error. */
static int verdicts_merge(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                          const struct bf_verdicts *ours)
{
    uint8_t bytes[BF_VERDICTS_BYTES_MOST];
    char name[NAME_ROOM];
    struct bf_verdicts *all = NULL;
    int error = verdicts_read(folder, hash, &all);
    if (error && error != ENOENT)
        return error;
    error = 0;
    for (uint32_t i = 0; i < ours->count && !error; i++) {
        if (!ours->entries[i].unwritten)
            continue;
        struct bf_verdicts *more = bf_verdicts_with(all, &ours->entries[i]);
        free(all);
        all = more;
        error = more ? 0 : ENOMEM;
    }
    if (!error && all) {
        bf_verdicts_settle(all);
        name_put(name, hash, VERDICTS);
        error = file_replace(folder, name, bytes, bf_verdicts_encode(all, hash, bytes));
    }
    free(all);
    return error;
}

bool bf_folder_write(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH],
                     struct bf_verdicts *verdicts)
{
    if (!folder->on)
        return false;
    int error = folder_lock(folder);
    if (!error) {
        error = verdicts_merge(folder, hash, verdicts);
        folder_unlock(folder);
    }
    if (error)
        complain(folder, error);
    for (uint32_t i = 0; !error && i < verdicts->count; i++)
        verdicts->entries[i].unwritten = false;
    return !error;
}

bool bf_folder_bar(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH])
{
    char name[NAME_ROOM];
    name_put(name, hash, BARRED);
    if (!folder->on)
        return false;
    const int fd = folder_open_file(folder, name, O_WRONLY | O_CREAT);
    if (fd < 0)
        complain(folder, errno);
    else
        close(fd);
    return fd >= 0;
}

/* --------------------------------------------------------------------------------------- Builds */

static void mark_name(char name[NAME_ROOM], const uint8_t hash[BF_ARCHIVE_HASH], uint64_t number)
{
    name_put(name, hash, BUILDING);
    snprintf(name + strlen(name), 17, "%016" PRIx64, number);
}

/* The lock is held. */
static int mark_make(struct bf_folder *folder, const char *name)
{
    const int fd = folder_open_file(folder, name, O_RDWR | O_CREAT | O_EXCL);
    const int error = fd < 0 ? errno : whole_lock(fd, F_WRLCK);
    if (fd >= 0 && error) {
        unlinkat(folder->fd, name, 0);
        close(fd);
    }
    errno = error;
    return error ? -1 : fd;
}

int bf_folder_begin(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH], uint64_t *number)
{
    char name[NAME_ROOM];
    if (getrandom(number, sizeof(*number), GRND_NONBLOCK) != (ssize_t)sizeof(*number))
        *number = bf_now_ns() << 20 ^ (uint64_t)getpid() << 40 ^ (uintptr_t)folder;
    mark_name(name, hash, *number);
    if (!folder->on)
        return -1;
    int fd = -1, error = folder_lock(folder);
    if (!error) {
        fd = mark_make(folder, name);
        error = errno;
        folder_unlock(folder);
    }
    if (fd < 0)
        complain(folder, error);
    return fd;
}

void bf_folder_end(struct bf_folder *folder, const uint8_t hash[BF_ARCHIVE_HASH], uint64_t number,
                   int mark)
{
    char name[NAME_ROOM];
    mark_name(name, hash, number);
    if (mark < 0)
        return;
    unlinkat(folder->fd, name, 0); /* [AS-2] first */
    close(mark);
}

/* Of a process that is gone it becomes a strike. The lock is held. */
static void mark_sweep(struct bf_folder *folder, const char *name)
{
    char barred[NAME_ROOM];
    struct stat status;
    const int fd = folder_open_file(folder, name, O_RDWR);
    if (fd < 0)
        return;
    /* A mark that went meanwhile is of a build that has ended. */
    if (whole_lock(fd, F_WRLCK) == 0 && fstat(fd, &status) == 0 && status.st_nlink > 0) {
        snprintf(barred, sizeof(barred), "%.*s" BARRED, DIGITS, name);
        const int strike = folder_open_file(folder, barred, O_WRONLY | O_CREAT);
        if (strike >= 0) {
            close(strike);
            unlinkat(folder->fd, name, 0);
        } else {
            complain(folder, errno);
        }
    }
    close(fd);
}

/* ---------------------------------------------------------------------------------------- Sweep */

struct aged {
    char name[DIGITS + sizeof(VERDICTS)];
    struct timespec changed;
};

static int aged_compare(const void *one, const void *other)
{
    const struct timespec *a = &((const struct aged *)one)->changed,
                          *b = &((const struct aged *)other)->changed;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* The lock is held. 'count' of them there were a moment ago. */
static void oldest_go(struct bf_folder *folder, DIR *all, uint32_t count, uint32_t most)
{
    uint32_t n = 0;
    struct aged *aged = calloc(count, sizeof(*aged));
    rewinddir(all);
    for (const struct dirent *one; aged && n < count && (one = readdir(all));) {
        struct stat status;
        if (!name_is(one->d_name, VERDICTS, 0) ||
            fstatat(folder->fd, one->d_name, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        aged[n].changed = status.st_mtim;
        memcpy(aged[n++].name, one->d_name, sizeof(aged->name));
    }
    if (n)
        qsort(aged, n, sizeof(*aged), aged_compare);
    for (uint32_t i = 0; i + most / 2 < n; i++)
        unlinkat(folder->fd, aged[i].name, 0);
    free(aged);
}

void bf_folder_sweep(struct bf_folder *folder, uint32_t most)
{
    if (!folder->on || folder_lock(folder))
        return;
    const int fd = folder_open_file(folder, ".", O_RDONLY | O_DIRECTORY);
    DIR *all = fd < 0 ? NULL : fdopendir(fd);
    uint32_t count = 0;
    for (const struct dirent *one; all && (one = readdir(all));) {
        if (name_is(one->d_name, BUILDING, 16))
            mark_sweep(folder, one->d_name);
        count += name_is(one->d_name, VERDICTS, 0);
    }
    if (count > most)
        oldest_go(folder, all, count, most);
    if (all)
        closedir(all);
    else if (fd >= 0)
        close(fd);
    folder_unlock(folder);
}
