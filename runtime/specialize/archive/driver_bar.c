/* SPDX-License-Identifier: MIT */
/* The bar of a driver: its file, and what holds in this process alone. */
#include "specialize/archive/driver_bar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/library.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/sha256.h"
#include "specialize/archive/folder.h"

/* ------------------------------------------------------------------------------ In this process */

#define HERE_MOST 16

/* Drivers of which a device was lost, and that have no file: once in it, for good (AR-10). */
static struct {
    struct bf_lock lock; /* over all that follows; two who add one at the same time add it twice */
    uint32_t count;      /* above HERE_MOST: all drivers are */
    uint8_t hashes[HERE_MOST][32];
} here;

static bool here_has(const struct bf_driver_bar *bar)
{
    bf_lock_acquire(&here.lock);
    bool has = here.count > HERE_MOST;
    for (uint32_t i = 0; !has && i < here.count; i++)
        has = memcmp(here.hashes[i], bar->hash, sizeof(bar->hash)) == 0;
    bf_lock_release(&here.lock);
    return has;
}

static void here_add(const struct bf_driver_bar *bar)
{
    if (here_has(bar))
        return;
    /* The loader closes a layer with the last instance, and loads it anew with the next. */
    bf_library_stay((uintptr_t)here_add);
    bf_lock_acquire(&here.lock);
    if (here.count < HERE_MOST)
        memcpy(here.hashes[here.count], bar->hash, sizeof(bar->hash));
    here.count += here.count <= HERE_MOST;
    bf_lock_release(&here.lock);
}

/* ------------------------------------------------------------------------------------- The file */

/* Whether others could put a file of the user's there, or take one away. */
static bool is_open_to_others(int folder)
{
    struct stat status;
    if (fstat(folder, &status) || (status.st_uid != geteuid() && status.st_uid != 0))
        return true;
    return (status.st_mode & (S_IWGRP | S_IWOTH)) && !(status.st_mode & S_ISVTX);
}

/* -1, with errno: it can't be used. */
static int base_open(const struct bf_driver_bar *bar)
{
    const int fd = bf_descriptor_lift(open(bar->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0 || !is_open_to_others(fd))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* Whether it isn't known what is there, for now: then nothing is built, and the next build asks
 * again. */
static bool is_short(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}

/* Somebody else's is none. */
static bool file_is_there(const struct bf_driver_bar *bar, int base)
{
    struct stat status;
    return fstatat(base, bar->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid();
}

/* It counts as soon as it is there: what it says is for people. It is on the disk on return, since
 * who loses a device may be about to lose the machine. Returns 0 or an error. */
static int file_make(const struct bf_driver_bar *bar, int base)
{
    const int fd = bf_descriptor_lift(
        openat(base, bar->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd < 0 && errno == EEXIST && file_is_there(bar, base))
        return 0;
    if (fd < 0)
        return errno;
    bf_folder_file_put(fd, bar->about, strlen(bar->about));
    fsync(fd);
    close(fd);
    fsync(base);
    return 0;
}

static int base_make(const struct bf_driver_bar *bar)
{
    int error = bf_folder_make(bar->base);
    const int base = error ? -1 : base_open(bar);
    if (!error)
        error = base < 0 ? errno : file_make(bar, base);
    if (base >= 0)
        close(base);
    return error;
}

/* ------------------------------------------------------------------------------------------ All */

bool bf_driver_bar_init(struct bf_driver_bar *bar, const char *base,
                        const struct bf_archive_driver *driver)
{
    const uint32_t numbers[] = {driver->vendor_id, driver->driver_id, driver->driver_version};
    struct bf_sha256 sha;
    *bar = (struct bf_driver_bar){.base = NULL};
    bf_sha256_init(&sha);
    bf_sha256_add(&sha, numbers, sizeof(numbers));
    bf_sha256_add(&sha, driver->driver_uuid, VK_UUID_SIZE);
    bf_sha256_add_text(&sha, driver->driver_name);
    bf_sha256_add_text(&sha, driver->driver_info);
    bf_sha256_finish(&sha, bar->hash);
    int n = snprintf(bar->name, sizeof(bar->name), "driver-");
    for (uint32_t i = 0; i < 16; i++)
        n += snprintf(bar->name + n, 3, "%02x", bar->hash[i]);
    snprintf(bar->name + n, sizeof(bar->name) - (size_t)n, ".barred");
    if (!base || base[0] != '/' || getauxval(AT_SECURE))
        return true;
    if (asprintf(
            &bar->about,
            "Over a check of a shader that Belfry has rebuilt this driver has lost its device:\n"
            "\n"
            "    %s %s (vendor 0x%x, version 0x%x)\n"
            "\n"
            "So no shader is rebuilt with it any more (the setting 'specialize'), by any "
            "program, until the driver\nis another one, or this file is deleted.\n",
            driver->driver_name ? driver->driver_name : "",
            driver->driver_info ? driver->driver_info : "", driver->vendor_id,
            driver->driver_version) < 0) {
        bar->about = NULL;
        return false;
    }
    bar->base = strdup(base);
    if (!bar->base)
        bf_driver_bar_finish(bar);
    return bar->base != NULL;
}

void bf_driver_bar_finish(struct bf_driver_bar *bar)
{
    free(bar->base);
    free(bar->about);
    bar->base = bar->about = NULL;
}

bool bf_driver_bar_is_up(const struct bf_driver_bar *bar)
{
    if (here_has(bar))
        return true;
    errno = 0;
    const int base = bar->base ? base_open(bar) : -1;
    if (base < 0)
        return is_short(errno);
    errno = 0;
    const bool up = file_is_there(bar, base) || is_short(errno);
    close(base);
    return up;
}

bool bf_driver_bar_has_file(const struct bf_driver_bar *bar)
{
    const int base = bar->base ? base_open(bar) : -1;
    const bool has = base >= 0 && file_is_there(bar, base);
    if (base >= 0)
        close(base);
    return has;
}

void bf_driver_bar_put_up(const struct bf_driver_bar *bar)
{
    const int error = bar->base ? base_make(bar) : 0;
    if (bar->base && !error) {
        bf_message(BF_MESSAGE_WARNING,
                   "specialize: a check has lost its device: no shader is rebuilt with this driver "
                   "any more, by any program, until it changes or this file is deleted: %s/%s",
                   bar->base, bar->name);
        return;
    }
    here_add(bar);
    if (error)
        bf_message(
            BF_MESSAGE_WARNING,
            "specialize: a check has lost its device: no shader is rebuilt with this driver "
            "any more until this process ends; for others that can't be remembered in folder "
            "'%s': %s",
            bar->base,
            error == EPERM ? "it isn't this user's, or others may write to it" : strerror(error));
    else
        bf_message(BF_MESSAGE_WARNING,
                   "specialize: a check has lost its device: no shader is rebuilt with this driver "
                   "any more until this process ends; there is no cache folder to remember it in");
}
