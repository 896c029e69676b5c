/* SPDX-License-Identifier: MIT */
/* Memory of a fixed size, by memfd_create. */
#include "base/sealed_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/descriptor.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

VkResult bf_descriptor_error(int error)
{
    return error == EMFILE || error == ENFILE ? VK_ERROR_TOO_MANY_OBJECTS
           : error == ENOSYS                  ? VK_ERROR_FEATURE_NOT_PRESENT
                                              : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_sealed_memory_create(const char *name, size_t size, int *out)
{
    return bf_memory_create(name, size, BF_SEALS, out);
}

VkResult bf_memory_create(const char *name, size_t size, int seals, int *out)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd == -1 && errno == EINVAL) /* before Linux 6.3 */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    fd = bf_descriptor_lift(fd);
    if (fd == -1)
        return bf_descriptor_error(errno);
    if (ftruncate(fd, (off_t)size) == -1 || fcntl(fd, F_ADD_SEALS, seals) == -1) {
        close(fd);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = fd;
    return VK_SUCCESS;
}
