#include "specialize/archive/store.h"

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
#include "base/message.h"

#define LOCK_WAITS 1000 /* of a millisecond */

/* The folder's owner may have more to say than is good: a file beyond this is not ours. */
#define READ_MOST(cap) (4 * (cap))

static void store_off(struct bf_store *store, int error, const char *what)
{
    errno = error;
    bf_message(BF_MESSAGE_WARNING,
               "verdicts of specialised shaders are not kept: %s in folder '%s': %m", what,
               store->name);
    store->on = false;
}

static void store_off_because(struct bf_store *store, const char *what, const char *why)
{
    bf_message(BF_MESSAGE_WARNING, "verdicts of specialised shaders are not kept: %s '%s' %s", what,
               store->name, why);
    store->on = false;
}

void bf_store_complain(struct bf_store *store, int error)
{
    if (store->complained)
        return;
    store->complained = true;
    errno = error;
    bf_message(
        BF_MESSAGE_WARNING,
        "verdicts of specialised shaders can't be written in folder '%s': %m; they are kept in "
        "memory and tried again",
        store->name);
}

/* ------------------------------------------------------------------------------------------ Locks */

static int range_lock(int fd, off_t byte, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &range) ? errno : 0;
}

bool bf_store_lock(struct bf_store *store, enum bf_store_byte byte, short type, bool wait)
{
    for (uint32_t i = 0; store->on; i++) {
        int error = range_lock(store->lock, byte, type);
        if (!error)
            return true;
        if (error != EAGAIN && error != EACCES) {
            store_off(store, error, "no locks");
        } else if (!wait || i == LOCK_WAITS) {
            return false;
        } else {
            const struct timespec pause = {.tv_nsec = 1000000};
            nanosleep(&pause, NULL);
        }
    }
    return false;
}

void bf_store_unlock(struct bf_store *store, enum bf_store_byte byte)
{
    range_lock(store->lock, byte, F_UNLCK);
}

bool bf_store_owner_lives(const struct bf_store *store, uint64_t owner)
{
    if (owner == store->owner || owner > INT64_MAX - BF_STORE_OWNERS)
        return owner == store->owner;
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)(BF_STORE_OWNERS + owner),
                          .l_len = 1};
    return fcntl(store->lock, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

/* A number that no other archive has or had. */
static int owner_choose(struct bf_store *store)
{
    int error = EAGAIN;
    for (uint32_t i = 0; i < 8 && error == EAGAIN; i++) {
        uint64_t number;
        if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
            number = bf_now_ns() << 20 ^ (uint64_t)getpid() << 40 ^ (uintptr_t)store;
        store->owner = number >> 2;
        error = range_lock(store->lock, (off_t)(BF_STORE_OWNERS + store->owner), F_WRLCK);
    }
    return error;
}

/* ------------------------------------------------------------------------------------------ Files */

/* NULL: it is ours alone. */
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

/* The folders above it, as far as they are missing. */
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
    /* what exists may not be writable: only the last one's failure counts */
    error = mkdir(copy, 0700) && errno != EEXIST ? (error ? error : errno) : 0;
    free(copy);
    return error;
}

static int file_open(struct bf_store *store, const char *name, int flags, int *fd)
{
    *fd = openat(store->folder, name,
                 O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0600);
    return *fd < 0 ? errno : 0;
}

bool bf_store_current(const struct bf_store *store)
{
    struct stat in_folder, open_one;
    return store->data >= 0 && fstat(store->data, &open_one) == 0 &&
           fstatat(store->folder, BF_STORE_FILE, &in_folder, AT_SYMLINK_NOFOLLOW) == 0 &&
           in_folder.st_ino == open_one.st_ino && in_folder.st_dev == open_one.st_dev;
}

int bf_store_refresh(struct bf_store *store, bool make)
{
    if (bf_store_current(store))
        return 0;
    if (store->data >= 0)
        close(store->data);
    store->data = -1;

    int fd;
    int error = file_open(store, BF_STORE_FILE, O_APPEND, &fd);
    if (error == ENOENT && make) {
        error = file_open(store, BF_STORE_FILE, O_APPEND | O_CREAT | O_EXCL, &fd);
        uint8_t header[BF_HEADER_SIZE];
        bf_header_encode(header);
        /* without a header it is as good */
        if (!error && bf_store_write(fd, header, sizeof(header)))
            store->replace = true;
    }
    if (error)
        return error;
    const char *why = objection(fd, S_IFREG);
    if (why) {
        close(fd);
        store_off_because(store, "file '" BF_STORE_FILE "' in folder", why);
        return EPERM;
    }
    store->data = fd;
    return 0;
}

int bf_store_write(int fd, const void *bytes, size_t size)
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

/* ---------------------------------------------------------------------------------- Open and close */

bool bf_store_open(struct bf_store *store, const char *folder, uint64_t cap)
{
    *store = (struct bf_store){.folder = -1, .lock = -1, .data = -1, .cap = cap, .on = true};
    store->name = strdup(folder);
    if (!store->name)
        return false;

    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    store->folder = open(folder, flags);
    if (store->folder < 0 && errno == ENOENT) {
        int error = folders_make(folder);
        if (error) {
            store_off(store, error, "can't make");
            return true;
        }
        store->folder = open(folder, flags);
    }
    if (store->folder < 0) {
        bool link = errno == ELOOP || errno == ENOTDIR;
        if (link)
            store_off_because(store, "folder", "is a symbolic link or no folder");
        else
            store_off(store, errno, "can't look");
        return true;
    }
    const char *why = objection(store->folder, S_IFDIR);
    if (why) {
        store_off_because(store, "folder", why);
        return true;
    }
    int error = file_open(store, "lock", O_CREAT, &store->lock);
    if (error) {
        store_off(store, error, "can't open 'lock'");
        return true;
    }
    why = objection(store->lock, S_IFREG);
    if (why) {
        store_off_because(store, "file 'lock' in folder", why);
        return true;
    }
    error = owner_choose(store);
    if (error) {
        store_off(store, error, "no locks");
        return true;
    }
    if (bf_store_lock(store, BF_STORE_COMMIT, F_WRLCK, true)) {
        error = bf_store_refresh(store, true);
        if (error && store->on)
            store_off(store, error, "can't open '" BF_STORE_FILE "'");
        bf_store_unlock(store, BF_STORE_COMMIT);
    } else if (store->on) {
        store_off(store, EBUSY, "another process doesn't let go");
    }
    return true;
}

void bf_store_close(struct bf_store *store)
{
    if (store->pending_size)
        bf_store_append(store, NULL, false);
    if (store->data >= 0)
        close(store->data);
    if (store->lock >= 0)
        close(store->lock);
    if (store->folder >= 0)
        close(store->folder);
    free(store->pending);
    free(store->name);
    *store = (struct bf_store){.folder = -1, .lock = -1, .data = -1};
}

/* ------------------------------------------------------------------------------------------- Read */

bool bf_store_read(struct bf_store *store, struct bf_snapshot *snapshot)
{
    *snapshot = (struct bf_snapshot){0};
    if (!store->on)
        return true;
    int error = EBUSY;
    if (bf_store_lock(store, BF_STORE_COMMIT, F_RDLCK, true)) {
        error = bf_store_refresh(store, false);
        bf_store_unlock(store, BF_STORE_COMMIT);
    }
    struct stat status = {0};
    if (!error && fstat(store->data, &status))
        error = errno;
    if (!error) {
        uint64_t size = (uint64_t)status.st_size, most = READ_MOST(store->cap);
        error = bf_snapshot_read(snapshot, store->data, size < most ? size : most);
    }
    if (snapshot->out_of_memory) {
        bf_snapshot_finish(snapshot);
        return false;
    }
    if (error && error != ENOENT && store->on) {
        errno = error;
        bf_message(BF_MESSAGE_WARNING,
                   "verdicts of specialised shaders can't all be read in folder '%s': %m",
                   store->name);
    }
    return true;
}

/* ----------------------------------------------------------------------------------------- Append */

static void pending_add(struct bf_store *store, const uint8_t record[BF_RECORD_SIZE])
{
    if (!store->pending)
        store->pending = malloc(BF_STORE_PENDING);
    size_t most = store->cap / 8 < BF_STORE_PENDING ? store->cap / 8 : BF_STORE_PENDING;
    if (!store->pending || store->pending_size + BF_RECORD_SIZE > most)
        return;
    memcpy(store->pending + store->pending_size, record, BF_RECORD_SIZE);
    store->pending_size += BF_RECORD_SIZE;
}

/* COMMIT is held for reading. Returns 0 or an error, and what the file's size is. */
static int append_locked(struct bf_store *store, const uint8_t *bytes, size_t size,
                         uint64_t *file_size)
{
    struct stat status;
    if (fstat(store->data, &status))
        return errno;
    *file_size = (uint64_t)status.st_size;
    if (*file_size + size > store->cap + store->cap / 4)
        return EFBIG;
    int error = bf_store_write(store->data, bytes, size);
    if (!error)
        *file_size += size;
    return error;
}

static int append(struct bf_store *store, const uint8_t *bytes, size_t size, uint64_t *file_size)
{
    if (!bf_store_lock(store, BF_STORE_COMMIT, F_RDLCK, true))
        return EBUSY;
    int error = bf_store_refresh(store, false);
    if (error == ENOENT) {
        /* Somebody has removed it. To make one it takes the lock alone, and that lock serves as well. */
        bf_store_unlock(store, BF_STORE_COMMIT);
        if (!bf_store_lock(store, BF_STORE_COMMIT, F_WRLCK, true))
            return EBUSY;
        error = bf_store_refresh(store, true);
    }
    if (!error)
        error = append_locked(store, bytes, size, file_size);
    bf_store_unlock(store, BF_STORE_COMMIT);
    return error;
}

bool bf_store_append(struct bf_store *store, const uint8_t record[BF_RECORD_SIZE], bool again)
{
    if (!store->on)
        return false;
    uint8_t all[BF_STORE_PENDING + BF_RECORD_SIZE];
    size_t size = store->pending_size;
    if (size)
        memcpy(all, store->pending, size);
    if (record) {
        memcpy(all + size, record, BF_RECORD_SIZE);
        size += BF_RECORD_SIZE;
    }

    uint64_t file_size = 0;
    int error = append(store, all, size, &file_size);
    if (store->patience) {
        store->patience--;
    } else if (file_size > store->cap || store->replace) {
        bf_store_compact(store);
        if (error == EFBIG)
            error = append(store, all, size, &file_size);
    }
    if (!error) {
        store->pending_size = 0;
        return true;
    }
    if (store->on)
        bf_store_complain(store, error);
    if (record && again)
        pending_add(store, record);
    return false;
}
