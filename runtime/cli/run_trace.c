/* SPDX-License-Identifier: MIT */
/*
 * The file of 'belfry run --trace FILE': FILE is what gets written, in the place of a trace of an
 * earlier run, and of nothing else.
 *
 * What the processes of one run write must not replace each other. So it isn't they who replace
 * files: they create them under names that are free ('run.pftrace', 'run-1.pftrace'), and the
 * command frees the name once, before it becomes the program. A trace that is still being written
 * is recognized by its writer's lock (trace/file.h).
 */
#include "cli/run_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/trace_load.h"

/* Whether files can be created beside 'path', and so in its place. */
static int folder_check(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? cli_format(".") : cli_format("%.*s/", (int)(slash - path), path);
    int result = CLI_DONE;
    if (access(folder, W_OK | X_OK) != 0)
        result = cli_usage("run", "can't write '%s': %s", path, strerror(errno));
    free(folder);
    return result;
}

static int trace_file_check(const char *path, int fd, off_t size)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return cli_usage("run", "can't replace '%s': process %d is writing it", path,
                         (int)lock.l_pid);
    if (size > 0 && !trace_load_recognize(fd))
        return cli_usage("run", "can't replace '%s': it is no trace of Belfry's", path);
    return CLI_DONE;
}

int run_trace_check(const char *path, char **file)
{
    struct stat status;
    *file = NULL;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? folder_check(path)
                               : cli_usage("run", "can't write '%s': %s", path, strerror(errno));
    /* A symbolic link stays, and what it leads to is replaced. */
    char *real = realpath(path, NULL);
    int fd = real ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    int result;
    if (fd < 0 || fstat(fd, &status) != 0)
        result = cli_usage("run", "can't replace '%s': %s", path, strerror(errno));
    else if (S_ISCHR(status.st_mode))
        result = CLI_DONE;
    else if (!S_ISREG(status.st_mode))
        result = cli_usage("run", "can't replace '%s': it is no regular file", path);
    else if ((result = folder_check(real)) == CLI_DONE)
        result = trace_file_check(path, fd, status.st_size);
    if (fd >= 0)
        close(fd);
    if (result == CLI_DONE)
        *file = real;
    else
        free(real);
    return result;
}

int run_trace_clear(const char *file, int *kept)
{
    struct stat status;
    *kept = -1;
    if (lstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return CLI_DONE;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && unlink(file) == 0) {
        *kept = fd;
        return CLI_DONE;
    }
    cli_warn("can't replace '%s': %s", file, strerror(errno));
    if (fd >= 0)
        close(fd);
    return CLI_FAILED;
}

/* Returns 0 or an errno. */
static int file_copy(int from, int to)
{
    char buffer[1 << 16];
    ssize_t got;
    while ((got = read(from, buffer, sizeof(buffer))) > 0) {
        for (ssize_t at = 0; at < got;) {
            ssize_t put = write(to, buffer + at, (size_t)(got - at));
            if (put <= 0)
                return put < 0 ? errno : ENOSPC;
            at += put;
        }
    }
    return got < 0 ? errno : 0;
}

void run_trace_restore(const char *file, int kept)
{
    struct stat status;
    if (kept < 0)
        return;
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = fd < 0 || fstat(kept, &status) != 0 ? errno : file_copy(kept, fd);
    if (!error) {
        const struct timespec times[2] = {status.st_atim, status.st_mtim};
        if (fchmod(fd, status.st_mode & 0777) != 0 || futimens(fd, times) != 0)
            error = errno;
    }
    if (error)
        cli_warn("can't put '%s' back: %s", file, strerror(error));
    if (fd >= 0)
        close(fd);
    close(kept);
}
