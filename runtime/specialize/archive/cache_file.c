/* SPDX-License-Identifier: MIT */
/* The archive's files: opening and creating them with the right owner and permissions, the locks
 * between processes, reading, and appending. */
#include "specialize/archive/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/message.h"

#define LOCK_WAITS 1000 /* milliseconds */

/* The folder's owner may have put anything there: a file larger than this is not Belfry's. */
#define READ_MOST(cap) (4 * (cap))

static void cache_file_off(struct bf_cache_file *file, int error, const char *what)
{
    errno = error;
    bf_message(BF_MESSAGE_WARNING,
               "verdicts of specialised shaders are not kept: %s in folder '%s': %m", what,
               file->name);
    file->on = false;
}

static void cache_file_off_because(struct bf_cache_file *file, const char *what, const char *why)
{
    bf_message(BF_MESSAGE_WARNING, "verdicts of specialised shaders are not kept: %s '%s' %s", what,
               file->name, why);
    file->on = false;
}

void bf_cache_file_complain(struct bf_cache_file *file, int error)
{
    if (file->complained)
        return;
    file->complained = true;
    errno = error;
    bf_message(
        BF_MESSAGE_WARNING,
        "verdicts of specialised shaders can't be written in folder '%s': %m; they are kept in "
        "memory and tried again",
        file->name);
}

/* ---------------------------------------------------------------------------------------- Locks */

static int range_lock(int fd, off_t byte, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &range) ? errno : 0;
}

bool bf_cache_file_lock(struct bf_cache_file *file, enum bf_cache_file_byte byte, short type,
                        bool wait)
{
    for (uint32_t i = 0; file->on; i++) {
        int error = range_lock(file->lock, byte, type);
        if (!error)
            return true;
        if (error != EAGAIN && error != EACCES) {
            cache_file_off(file, error, "no locks");
        } else if (!wait || i == LOCK_WAITS) {
            return false;
        } else {
            const struct timespec pause = {.tv_nsec = 1000000};
            nanosleep(&pause, NULL);
        }
    }
    return false;
}

void bf_cache_file_unlock(struct bf_cache_file *file, enum bf_cache_file_byte byte)
{
    range_lock(file->lock, byte, F_UNLCK);
}

bool bf_cache_file_owner_lives(const struct bf_cache_file *file, uint64_t owner)
{
    if (owner == file->owner || owner > INT64_MAX - BF_CACHE_FILE_OWNERS)
        return owner == file->owner;
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)(BF_CACHE_FILE_OWNERS + owner),
                          .l_len = 1};
    return fcntl(file->lock, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

/* Chooses a number that no other archive has or had. */
static int owner_choose(struct bf_cache_file *file)
{
    int error = EAGAIN;
    for (uint32_t i = 0; i < 8 && error == EAGAIN; i++) {
        uint64_t number;
        if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
            number = bf_now_ns() << 20 ^ (uint64_t)getpid() << 40 ^ (uintptr_t)file;
        file->owner = number >> 2;
        error = range_lock(file->lock, (off_t)(BF_CACHE_FILE_OWNERS + file->owner), F_WRLCK);
    }
    return error;
}

/* ---------------------------------------------------------------------------------------- Files */

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

/* Makes the folders above the path that are missing. */
static int folders_make(const char *path)
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

static int cache_file_open_at(struct bf_cache_file *file, const char *name, int flags, int *fd)
{
    *fd = bf_descriptor_lift(openat(
        file->folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0600));
    return *fd < 0 ? errno : 0;
}

bool bf_cache_file_current(const struct bf_cache_file *file)
{
    struct stat in_folder, open_one;
    return file->data >= 0 && fstat(file->data, &open_one) == 0 &&
           fstatat(file->folder, BF_CACHE_FILE_FILE, &in_folder, AT_SYMLINK_NOFOLLOW) == 0 &&
           in_folder.st_ino == open_one.st_ino && in_folder.st_dev == open_one.st_dev;
}

int bf_cache_file_refresh(struct bf_cache_file *file, bool make)
{
    if (bf_cache_file_current(file))
        return 0;
    if (file->data >= 0)
        close(file->data);
    file->data = -1;

    int fd;
    int error = cache_file_open_at(file, BF_CACHE_FILE_FILE, O_APPEND, &fd);
    if (error == ENOENT && make) {
        error = cache_file_open_at(file, BF_CACHE_FILE_FILE, O_APPEND | O_CREAT | O_EXCL, &fd);
        uint8_t header[BF_HEADER_SIZE];
        bf_header_encode(header);
        /* a file without a header works as well */
        if (!error && bf_cache_file_write(fd, header, sizeof(header)))
            file->replace = true;
    }
    if (error)
        return error;
    const char *why = objection(fd, S_IFREG);
    if (why) {
        close(fd);
        cache_file_off_because(file, "file '" BF_CACHE_FILE_FILE "' in folder", why);
        return EPERM;
    }
    file->data = fd;
    return 0;
}

int bf_cache_file_write(int fd, const void *bytes, size_t size)
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

/* ------------------------------------------------------------------------------- Open and close */

bool bf_cache_file_open(struct bf_cache_file *file, const char *folder, uint64_t cap)
{
    *file = (struct bf_cache_file){.folder = -1, .lock = -1, .data = -1, .cap = cap, .on = true};
    file->name = strdup(folder);
    if (!file->name)
        return false;

    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    file->folder = bf_descriptor_lift(open(folder, flags));
    if (file->folder < 0 && errno == ENOENT) {
        int error = folders_make(folder);
        if (error) {
            cache_file_off(file, error, "can't make");
            return true;
        }
        file->folder = bf_descriptor_lift(open(folder, flags));
    }
    if (file->folder < 0) {
        bool link = errno == ELOOP || errno == ENOTDIR;
        if (link)
            cache_file_off_because(file, "folder", "is a symbolic link or no folder");
        else
            cache_file_off(file, errno, "can't look");
        return true;
    }
    const char *why = objection(file->folder, S_IFDIR);
    if (why) {
        cache_file_off_because(file, "folder", why);
        return true;
    }
    int error = cache_file_open_at(file, "lock", O_CREAT, &file->lock);
    if (error) {
        cache_file_off(file, error, "can't open 'lock'");
        return true;
    }
    why = objection(file->lock, S_IFREG);
    if (why) {
        cache_file_off_because(file, "file 'lock' in folder", why);
        return true;
    }
    error = owner_choose(file);
    if (error) {
        cache_file_off(file, error, "no locks");
        return true;
    }
    if (bf_cache_file_lock(file, BF_CACHE_FILE_COMMIT, F_WRLCK, true)) {
        error = bf_cache_file_refresh(file, true);
        if (error && file->on)
            cache_file_off(file, error, "can't open '" BF_CACHE_FILE_FILE "'");
        bf_cache_file_unlock(file, BF_CACHE_FILE_COMMIT);
    } else if (file->on) {
        cache_file_off(file, EBUSY, "another process doesn't let go");
    }
    return true;
}

void bf_cache_file_close(struct bf_cache_file *file)
{
    if (file->pending_size)
        bf_cache_file_append(file, NULL, false);
    if (file->data >= 0)
        close(file->data);
    if (file->lock >= 0)
        close(file->lock);
    if (file->folder >= 0)
        close(file->folder);
    free(file->pending);
    free(file->name);
    *file = (struct bf_cache_file){.folder = -1, .lock = -1, .data = -1};
}

/* ----------------------------------------------------------------------------------------- Read */

bool bf_cache_file_read(struct bf_cache_file *file, struct bf_snapshot *snapshot)
{
    *snapshot = (struct bf_snapshot){.index.count = 0};
    if (!file->on)
        return true;
    int error = EBUSY;
    if (bf_cache_file_lock(file, BF_CACHE_FILE_COMMIT, F_RDLCK, true)) {
        error = bf_cache_file_refresh(file, false);
        bf_cache_file_unlock(file, BF_CACHE_FILE_COMMIT);
    }
    struct stat status = {0};
    if (!error && fstat(file->data, &status))
        error = errno;
    if (!error) {
        uint64_t size = (uint64_t)status.st_size, most = READ_MOST(file->cap);
        error = bf_snapshot_read(snapshot, file->data, size < most ? size : most);
    }
    if (snapshot->out_of_memory) {
        bf_snapshot_finish(snapshot);
        return false;
    }
    if (error && error != ENOENT && file->on) {
        errno = error;
        bf_message(BF_MESSAGE_WARNING,
                   "verdicts of specialised shaders can't all be read in folder '%s': %m",
                   file->name);
    }
    return true;
}

/* --------------------------------------------------------------------------------------- Append */

static void pending_add(struct bf_cache_file *file, const uint8_t record[BF_RECORD_SIZE])
{
    if (!file->pending)
        file->pending = malloc(BF_CACHE_FILE_PENDING);
    size_t most = file->cap / 8 < BF_CACHE_FILE_PENDING ? file->cap / 8 : BF_CACHE_FILE_PENDING;
    if (!file->pending || file->pending_size + BF_RECORD_SIZE > most)
        return;
    memcpy(file->pending + file->pending_size, record, BF_RECORD_SIZE);
    file->pending_size += BF_RECORD_SIZE;
}

/* COMMIT is held for reading. Returns 0 or an error, and the file's size. */
static int append_locked(struct bf_cache_file *file, const uint8_t *bytes, size_t size,
                         uint64_t *file_size)
{
    struct stat status;
    if (fstat(file->data, &status))
        return errno;
    *file_size = (uint64_t)status.st_size;
    if (*file_size + size > file->cap + file->cap / 4)
        return EFBIG;
    int error = bf_cache_file_write(file->data, bytes, size);
    if (!error)
        *file_size += size;
    return error;
}

static int cache_file_append_bytes(struct bf_cache_file *file, const uint8_t *bytes, size_t size,
                                   uint64_t *file_size)
{
    if (!bf_cache_file_lock(file, BF_CACHE_FILE_COMMIT, F_RDLCK, true))
        return EBUSY;
    int error = bf_cache_file_refresh(file, false);
    if (error == ENOENT) {
        /* Somebody has removed the file. Creating one takes COMMIT exclusively, and that lock
         * serves the append as well. */
        bf_cache_file_unlock(file, BF_CACHE_FILE_COMMIT);
        if (!bf_cache_file_lock(file, BF_CACHE_FILE_COMMIT, F_WRLCK, true))
            return EBUSY;
        error = bf_cache_file_refresh(file, true);
    }
    if (!error)
        error = append_locked(file, bytes, size, file_size);
    bf_cache_file_unlock(file, BF_CACHE_FILE_COMMIT);
    return error;
}

bool bf_cache_file_append(struct bf_cache_file *file, const uint8_t record[BF_RECORD_SIZE],
                          bool again)
{
    if (!file->on)
        return false;
    uint8_t all[BF_CACHE_FILE_PENDING + BF_RECORD_SIZE];
    size_t size = file->pending_size;
    if (size)
        memcpy(all, file->pending, size);
    if (record) {
        memcpy(all + size, record, BF_RECORD_SIZE);
        size += BF_RECORD_SIZE;
    }

    uint64_t file_size = 0;
    int error = cache_file_append_bytes(file, all, size, &file_size);
    if (file->patience) {
        file->patience--;
    } else if (file_size > file->cap || file->replace) {
        bf_cache_file_compact(file);
        if (error == EFBIG)
            error = cache_file_append_bytes(file, all, size, &file_size);
    }
    if (!error) {
        file->pending_size = 0;
        return true;
    }
    if (file->on)
        bf_cache_file_complain(file, error);
    if (record && again)
        pending_add(file, record);
    return false;
}
