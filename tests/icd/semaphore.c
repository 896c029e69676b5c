/* SPDX-License-Identifier: MIT */
/* Semaphores, binary and timeline, and their export as opaque file descriptors: within the process,
 * and of timelines to others. */
#include "icd.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define SEMAPHORE(handle_) ICD_FROM(icd_semaphore, ICD_KIND_SEMAPHORE, handle_)

#define OUTSIDE_MAGIC UINT64_C(0x656e696c656d6974) /* "timeline" */
#define LOOK_NS       UINT64_C(1000000)

/* Payloads ---------------------------------------------------------------------------------- */

static struct icd_payload *payload_new(const struct icd_device *device, bool timeline,
                                       uint64_t value)
{
    struct icd_payload *payload = calloc(1, sizeof(*payload));
    if (!payload)
        return NULL;
    payload->refs = 1;
    payload->ordinal = device->config->ordinal;
    payload->timeline = timeline;
    payload->difference = device->config->difference;
    payload->value = &payload->own.value;
    payload->submitted = &payload->own.submitted;
    *payload->value = timeline ? value : 0;
    *payload->submitted = *payload->value;
    payload->fd = -1;
    return payload;
}

/* Those that other processes may see, each once. */
static struct icd_payload *outsiders;

static VkResult payload_map(struct icd_payload *payload, int fd)
{
    struct stat status;
    void *outside =
        mmap(NULL, sizeof(*payload->outside), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (outside == MAP_FAILED)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    fstat(fd, &status);
    payload->outside = outside;
    payload->value = &payload->outside->value;
    payload->submitted = &payload->outside->submitted;
    payload->inode = status.st_ino;
    icd_lock();
    payload->next_exported = outsiders;
    outsiders = payload;
    icd_unlock();
    return VK_SUCCESS;
}

/* Gives the payload a memory that others can map. */
static VkResult payload_put_outside(struct icd_payload *payload)
{
    uint64_t value = *payload->value;
    payload->fd = memfd_create("belfry-test-timeline", MFD_CLOEXEC);
    if (payload->fd < 0)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (ftruncate(payload->fd, sizeof(*payload->outside)))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = payload_map(payload, payload->fd);
    if (result != VK_SUCCESS)
        return result;
    payload->outside->ordinal = payload->ordinal;
    payload->outside->value = payload->outside->submitted = value;
    payload->outside->magic = OUTSIDE_MAGIC;
    return VK_SUCCESS;
}

void icd_outside_wake(struct icd_outside *outside)
{
    outside->turn++;
    syscall(SYS_futex, &outside->turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void icd_payload_submitted(struct icd_payload *payload, uint64_t value)
{
    uint64_t known = *payload->submitted;
    while (known < value && !atomic_compare_exchange_weak(payload->submitted, &known, value)) {
    }
}

struct icd_payload *icd_payload_ref(struct icd_payload *payload)
{
    payload->refs++;
    return payload;
}

void icd_payload_unref(struct icd_payload *payload)
{
    if (!payload || --payload->refs)
        return;
    if (payload->fd >= 0)
        close(payload->fd);
    if (payload->outside) {
        struct icd_payload **link = &outsiders;
        while (*link != payload)
            link = &(*link)->next_exported;
        *link = payload->next_exported;
        munmap(payload->outside, sizeof(*payload->outside));
    }
    free(payload);
}

/* Locked: lets everybody go on whom the payload's value now satisfies. */
static void payload_wake(struct icd_payload *payload)
{
    struct icd_queue **link = &payload->blocked;
    while (*link) {
        struct icd_queue *queue = *link;
        if (*payload->value >= queue->blocked_value) {
            *link = queue->next_blocked;
            queue->blocked_on = NULL;
            icd_queue_run(queue);
        } else {
            link = &queue->next_blocked;
        }
    }
    if (payload->host_waiters)
        pthread_cond_broadcast(&icd_world.host);
    if (payload->outside)
        icd_outside_wake(payload->outside);
}

void icd_payload_signal(struct icd_payload *payload, uint64_t value, const char *who)
{
    if (payload->timeline) {
        uint64_t old = *payload->value;
        while (value > old && !atomic_compare_exchange_weak(payload->value, &old, value)) {
        }
        if (value <= old) {
            icd_violation(BELFRY_ICD_TIMELINE_NOT_INCREASING,
                          "%s signals %llu on a timeline semaphore at %llu", who,
                          (unsigned long long)value, (unsigned long long)old);
            return;
        }
        if (value - old > payload->difference)
            icd_violation(BELFRY_ICD_TIMELINE_FAR,
                          "%s signals %llu on a timeline semaphore at %llu", who,
                          (unsigned long long)value, (unsigned long long)old);
        icd_payload_submitted(payload, value);
    } else {
        if (*payload->value > payload->consumed)
            icd_violation(BELFRY_ICD_BINARY_RESIGNAL,
                          "%s signals a binary semaphore that is signalled", who);
        (*payload->value)++;
    }
    payload_wake(payload);
}

void icd_payload_signal_now(struct icd_payload *payload, const char *who)
{
    if (*payload->submitted > payload->waits)
        icd_violation(BELFRY_ICD_BINARY_RESIGNAL,
                      "%s signals a binary semaphore that is signalled or about to be", who);
    (*payload->submitted)++;
    icd_payload_signal(payload, 0, who);
}

/* Semaphores -------------------------------------------------------------------------------- */

static VkResult icd_CreateSemaphore(VkDevice device_, const VkSemaphoreCreateInfo *pCreateInfo,
                                    const VkAllocationCallbacks *pAllocator,
                                    VkSemaphore *pSemaphore)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pSemaphore, device);
    bool timeline = false, exportable = false;
    uint64_t value = 0;
    for (const VkBaseInStructure *s = pCreateInfo->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) {
            const VkSemaphoreTypeCreateInfo *type = (const void *)s;
            timeline = type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
            value = type->initialValue;
        }
        if (s->sType == VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO)
            exportable = ((const VkExportSemaphoreCreateInfo *)(const void *)s)->handleTypes;
    }
    struct icd_semaphore *semaphore =
        icd_object_new(device, ICD_KIND_SEMAPHORE, sizeof(*semaphore));
    if (!semaphore)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    semaphore->payload = payload_new(device, timeline, value);
    if (!semaphore->payload) {
        icd_object_free(semaphore);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (timeline && exportable && device->config->processes &&
        payload_put_outside(semaphore->payload) != VK_SUCCESS) {
        icd_lock();
        icd_payload_unref(semaphore->payload);
        icd_unlock();
        icd_object_free(semaphore);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *pSemaphore = ICD_HANDLE(VkSemaphore, semaphore);
    return VK_SUCCESS;
}

static void icd_DestroySemaphore(VkDevice device_, VkSemaphore semaphore_,
                                 const VkAllocationCallbacks *pAllocator)
{
    if (!semaphore_)
        return;
    struct icd_semaphore *semaphore = SEMAPHORE(semaphore_);
    icd_lock();
    /* A shared payload may be pending through another semaphore: not this one's fault. */
    if (semaphore->payload->pending && semaphore->payload->fd < 0 && !semaphore->payload->outside)
        icd_violation(BELFRY_ICD_DESTROY_PENDING,
                      "a semaphore is destroyed while %u pending "
                      "submissions use it",
                      semaphore->payload->pending);
    if (semaphore->payload->late)
        icd_violation(BELFRY_ICD_LATE_WAIT,
                      "a timeline is destroyed that %u finished operations use",
                      semaphore->payload->late);
    icd_payload_unref(semaphore->payload);
    icd_payload_unref(semaphore->temporary);
    icd_unlock();
    icd_object_free(semaphore);
}

/* The host uses the semaphore's value. */
static void semaphore_valued(struct icd_device *device, VkSemaphore handle, const char *call)
{
    icd_device_seen(device, SEMAPHORE(handle), call);
    if (!SEMAPHORE(handle)->payload->timeline)
        icd_violation(BELFRY_ICD_BINARY_VALUE, "%s on a binary semaphore", call);
}

static VkResult icd_GetSemaphoreCounterValue(VkDevice device_, VkSemaphore semaphore,
                                             uint64_t *pValue)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    semaphore_valued(device, semaphore, "vkGetSemaphoreCounterValue");
    *pValue = *SEMAPHORE(semaphore)->payload->value;
    return VK_SUCCESS;
}

VkResult icd_SignalSemaphore(VkDevice device_, const VkSemaphoreSignalInfo *pSignalInfo)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    struct icd_payload *payload = SEMAPHORE(pSignalInfo->semaphore)->payload;
    semaphore_valued(device, pSignalInfo->semaphore, "vkSignalSemaphore");
    icd_block(__func__, false);
    icd_lock();
    icd_payload_signal(payload, pSignalInfo->value, "the host");
    icd_free_pump();
    icd_unlock();
    return VK_SUCCESS;
}

static bool semaphores_reached(const VkSemaphoreWaitInfo *info)
{
    bool any = info->flags & VK_SEMAPHORE_WAIT_ANY_BIT;
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        bool reached = *SEMAPHORE(info->pSemaphores[i])->payload->value >= info->pValues[i];
        if (reached == any)
            return any;
    }
    return !any;
}

/* Who else may signal is in another process, and tells no thread of this one: look now and then. */
static bool host_sleep(uint64_t deadline, bool outside)
{
    uint64_t look = icd_deadline(LOOK_NS);
    return icd_host_sleep(outside && look < deadline ? look : deadline) ||
           (outside && look < deadline);
}

static VkResult icd_WaitSemaphores(VkDevice device_, const VkSemaphoreWaitInfo *pWaitInfo,
                                   uint64_t timeout)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; i++)
        semaphore_valued(device, pWaitInfo->pSemaphores[i], "vkWaitSemaphores");
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    if (semaphores_reached(pWaitInfo))
        return VK_SUCCESS;
    if (timeout == 0)
        return VK_TIMEOUT;

    uint64_t deadline = icd_deadline(icd_world.endless_waits ? UINT64_MAX : timeout);
    bool outside = false;
    VkResult result;
    icd_block(__func__, false);
    icd_lock();
    icd_world.watchers++;
    for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; i++)
        SEMAPHORE(pWaitInfo->pSemaphores[i])->payload->host_waiters++;
    for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; i++)
        outside = outside || SEMAPHORE(pWaitInfo->pSemaphores[i])->payload->outside;
    for (bool in_time = true;; in_time = host_sleep(deadline, outside)) {
        result = device->lost                    ? VK_ERROR_DEVICE_LOST
                 : semaphores_reached(pWaitInfo) ? VK_SUCCESS
                                                 : VK_TIMEOUT;
        if (result != VK_TIMEOUT || !in_time)
            break;
    }
    for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; i++)
        SEMAPHORE(pWaitInfo->pSemaphores[i])->payload->host_waiters--;
    icd_world.watchers--;
    icd_unlock();
    icd_block(__func__, true);
    return result;
}

/* Export and import ------------------------------------------------------------------------- */

/* A timeline semaphore that is made exportable lies outside from the first (BELFRY_ICD_PROCESSES):
 * its descriptor is the memory that it lies in.
 *
 * Any other exported payload is named by a memfd, whose inode is unique in the system while it
 * lives. The descriptor a program holds can outlive every semaphore, and its closing can't be seen,
 * so what has been exported is kept until the process has no instance left. */
static struct icd_payload *exported;

void icd_payload_forget_exported(void)
{
    while (exported) {
        struct icd_payload *payload = exported;
        exported = payload->next_exported;
        icd_payload_unref(payload);
    }
}

/* Locked. */
static bool payload_export(struct icd_payload *payload)
{
    if (payload->fd >= 0)
        return true;
    int fd = memfd_create("belfry-test-semaphore", MFD_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return false;
    if (fstat(fd, &status)) {
        close(fd);
        return false;
    }
    payload->fd = fd;
    payload->inode = status.st_ino;
    payload->next_exported = exported;
    exported = icd_payload_ref(payload);
    return true;
}

static VkResult icd_GetSemaphoreFdKHR(VkDevice device_, const VkSemaphoreGetFdInfoKHR *pGetFdInfo,
                                      int *pFd)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    struct icd_payload *payload = SEMAPHORE(pGetFdInfo->semaphore)->payload;
    int fd = -1;
    icd_lock();
    if (payload->outside ? payload->fd >= 0 : payload_export(payload))
        fd = fcntl(payload->fd, F_DUPFD_CLOEXEC, 0);
    icd_unlock();
    if (fd < 0)
        return VK_ERROR_TOO_MANY_OBJECTS;
    *pFd = fd;
    return VK_SUCCESS;
}

/* What lies outside is one payload in each process, however often it is imported. */
static VkResult import_outside(struct icd_device *device, struct icd_semaphore *semaphore, int fd,
                               ino_t inode)
{
    icd_lock();
    struct icd_payload *payload = outsiders;
    while (payload && payload->inode != inode)
        payload = payload->next_exported;
    if (payload)
        icd_payload_ref(payload);
    icd_unlock();
    VkResult result = VK_SUCCESS;
    if (!payload) {
        payload = payload_new(device, true, 0);
        result = payload ? payload_map(payload, fd) : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS && (payload->outside->magic != OUTSIDE_MAGIC ||
                                 payload->outside->ordinal != device->config->ordinal))
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    icd_lock();
    if (result == VK_SUCCESS) {
        icd_payload_unref(semaphore->payload);
        semaphore->payload = payload;
    } else {
        icd_payload_unref(payload);
    }
    icd_unlock();
    if (result == VK_SUCCESS)
        close(fd);
    return result;
}

static VkResult icd_ImportSemaphoreFdKHR(VkDevice device_, const VkImportSemaphoreFdInfoKHR *pInfo)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    struct icd_semaphore *semaphore = SEMAPHORE(pInfo->semaphore);
    struct stat status;
    if (pInfo->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT ||
        fstat(pInfo->fd, &status))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;

    if (device->config->processes && semaphore->payload->timeline && !pInfo->flags &&
        status.st_size == sizeof(struct icd_outside))
        return import_outside(device, semaphore, pInfo->fd, status.st_ino);
    icd_lock();
    struct icd_payload *payload = exported;
    while (payload && payload->inode != status.st_ino)
        payload = payload->next_exported;
    /* Opaque descriptors are good on the physical device alone that they come from. */
    if (!payload || payload->timeline != semaphore->payload->timeline ||
        payload->ordinal != device->config->ordinal) {
        icd_unlock();
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    icd_payload_ref(payload);
    if (pInfo->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT) {
        icd_payload_unref(semaphore->temporary);
        semaphore->temporary = payload;
    } else {
        icd_payload_unref(semaphore->payload);
        semaphore->payload = payload;
    }
    icd_unlock();
    /* A successful import owns the descriptor. */
    close(pInfo->fd);
    return VK_SUCCESS;
}

const struct icd_entry icd_semaphore_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, CreateSemaphore),
    ICD_CORE(ICD_DEVICE, 0, DestroySemaphore),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_TIMELINE_SEMAPHORE, GetSemaphoreCounterValue),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_TIMELINE_SEMAPHORE, SignalSemaphore),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_TIMELINE_SEMAPHORE, WaitSemaphores),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_EXTERNAL_SEMAPHORE_FD, GetSemaphoreFdKHR, GetSemaphoreFdKHR),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_EXTERNAL_SEMAPHORE_FD, ImportSemaphoreFdKHR,
              ImportSemaphoreFdKHR),
    ICD_END};
