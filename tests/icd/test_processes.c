/* SPDX-License-Identifier: MIT */
/* Timeline semaphores that two processes share (BELFRY_ICD_PROCESSES): this executable, run again,
 * is the other one, and does what it is told. */
#include "support/world.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ENVIRONMENT "SHAPE=q2 PROCESSES=1"
#define SEMAPHORE   3 /* in the peer: the descriptor to import, and where orders come from */
#define ORDERS      4

extern char **environ;

enum op {
    VALUE,  /* the counter */
    SIGNAL, /* by the host */
    SUBMIT_SIGNAL,
    SUBMIT_WAIT, /* and then a store of the value */
    STORED,
    AWAIT, /* by the host */
    PAUSE,
    QUIT,
};

struct order {
    uint64_t op, value;
};

struct peer {
    pid_t pid;
    int socket;
};

static void peer_start(struct peer *peer, int semaphore)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    char name[] = "peer", argument[] = "--peer";
    char *const arguments[] = {name, argument, NULL};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    /* Neither is one of those that they become. */
    int from = dup(semaphore), to = dup(ends[1]);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from, SEMAPHORE + 40);
    posix_spawn_file_actions_adddup2(&actions, to, ORDERS + 40);
    posix_spawn_file_actions_adddup2(&actions, SEMAPHORE + 40, SEMAPHORE);
    posix_spawn_file_actions_adddup2(&actions, ORDERS + 40, ORDERS);
    assert_int_equal(posix_spawn(&peer->pid, "/proc/self/exe", &actions, NULL, arguments, environ),
                     0);
    posix_spawn_file_actions_destroy(&actions);
    close(from);
    close(to);
    close(ends[1]);
    close(semaphore);
    peer->socket = ends[0];
}

static uint64_t peer_do(struct peer *peer, enum op op, uint64_t value)
{
    struct order order = {op, value};
    uint64_t answer = 0;
    assert_int_equal(send(peer->socket, &order, sizeof(order), MSG_NOSIGNAL), sizeof(order));
    assert_int_equal(recv(peer->socket, &answer, sizeof(answer), 0), sizeof(answer));
    return answer;
}

static void peer_end(struct peer *peer, int how)
{
    int status;
    if (how)
        kill(peer->pid, how);
    else
        peer_do(peer, QUIT, 0);
    close(peer->socket);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    assert_true(how ? WIFSIGNALED(status) : status == 0);
}

static const VkExportSemaphoreCreateInfo exportable = {
    VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
    .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};

static VkSemaphore make(struct device *f, uint64_t value)
{
    const VkSemaphoreTypeCreateInfo type = {
        VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO), .pNext = &exportable,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE, .initialValue = value};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(f->device, &info, NULL, &semaphore));
    return semaphore;
}

static int export_it(struct device *f, VkSemaphore semaphore)
{
    const VkSemaphoreGetFdInfoKHR info = {
        VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = semaphore,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    assert_success(vkGetSemaphoreFdKHR(f->device, &info, &fd));
    return fd;
}

static VkResult import_it(struct device *f, VkSemaphore semaphore, int fd)
{
    const VkImportSemaphoreFdInfoKHR info = {
        VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR), .semaphore = semaphore,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, .fd = fd};
    return vkImportSemaphoreFdKHR(f->device, &info);
}

/* -------------------------------------------------------------------------------- The peer's -- */

static int peer_main(void)
{
    struct device f;
    struct order order;
    world_open(&f, ENVIRONMENT, WORLD_ALL);
    VkSemaphore semaphore = vulkan_timeline(f.device, 0);
    assert_success(import_it(&f, semaphore, SEMAPHORE));
    VkCommandBuffer stores[2];
    for (uint32_t i = 0; i < 2; i++)
        stores[i] = device_store(&f, 0, i, i + 1);
    uint32_t stored = 0;
    do {
        if (recv(ORDERS, &order, sizeof(order), 0) != sizeof(order))
            return 1;
        uint64_t answer = 0;
        switch ((enum op)order.op) {
        case VALUE:
            answer = vulkan_value(f.device, semaphore);
            break;
        case SIGNAL:
            vulkan_signal(f.device, semaphore, order.value);
            break;
        case SUBMIT_SIGNAL:
            assert_submitted(f.queues[0][0], .signal = semaphore, .signal_value = order.value);
            break;
        case SUBMIT_WAIT:
            assert_submitted(f.queues[0][1], .wait = semaphore, .wait_value = order.value,
                             .commands = stores[stored++ % 2]);
            break;
        case STORED:
            f.icd.quiesce();
            answer = __atomic_load_n(&f.words[order.value], __ATOMIC_ACQUIRE);
            break;
        case AWAIT:
            vulkan_wait(f.device, semaphore, order.value);
            break;
        case PAUSE:
            f.icd.pause();
            break;
        case QUIT:
            break;
        }
        if (send(ORDERS, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
            return 1;
    } while (order.op != QUIT);
    vkQueueWaitIdle(f.queues[0][0]);
    vkQueueWaitIdle(f.queues[0][1]);
    vkDestroySemaphore(f.device, semaphore, NULL);
    world_close(&f);
    return 0;
}

/* ------------------------------------------------------------------------------------- Tests -- */

TEST(values_are_one_in_all_processes)
{
    struct device f;
    struct peer peer;
    world_open(&f, ENVIRONMENT, WORLD_ALL);
    VkSemaphore semaphore = make(&f, 3);
    peer_start(&peer, export_it(&f, semaphore));
    assert_int_equal(peer_do(&peer, VALUE, 0), 3);
    vulkan_signal(f.device, semaphore, 5);
    assert_int_equal(peer_do(&peer, VALUE, 0), 5);
    peer_do(&peer, SIGNAL, 9);
    assert_int_equal(vulkan_value(f.device, semaphore), 9);
    peer_do(&peer, SUBMIT_SIGNAL, 12);
    vulkan_wait(f.device, semaphore, 12);
    assert_submitted(f.queues[0][0], .signal = semaphore, .signal_value = 13);
    peer_do(&peer, AWAIT, 13);
    peer_end(&peer, 0);
    vkDestroySemaphore(f.device, semaphore, NULL);
    world_close(&f);
}

/* The wait is in the one's queue before the signal is made by the other's; neither is a violation,
 * as long as it has been submitted. */
TEST(queues_wait_for_each_other_without_the_hosts)
{
    struct device f;
    struct peer peer;
    world_open(&f, ENVIRONMENT, WORLD_ALL);
    VkSemaphore semaphore = make(&f, 0);
    VkCommandBuffer store = device_store(&f, 0, 7, 77);
    peer_start(&peer, export_it(&f, semaphore));
    f.icd.pause();
    assert_submitted(f.queues[0][0], .commands = store, .signal = semaphore, .signal_value = 1);
    peer_do(&peer, SUBMIT_WAIT, 1);
    assert_int_equal(peer_do(&peer, STORED, 0), 0);
    f.icd.resume();
    vulkan_wait(f.device, semaphore, 1);
    peer_do(&peer, SUBMIT_SIGNAL, 2);
    vulkan_wait(f.device, semaphore, 2);
    assert_success(vkQueueWaitIdle(f.queues[0][0]));
    peer_end(&peer, 0); /* it waits until its queues are idle */
    vkDestroySemaphore(f.device, semaphore, NULL);
    world_close(&f);
}

/* What one has promised and the other waits for may be signalled by the host once the one is
 * dead. */
TEST(a_dead_process_leaves_the_semaphore_usable)
{
    struct device f;
    struct peer peer;
    world_open(&f, ENVIRONMENT, WORLD_ALL);
    VkSemaphore semaphore = make(&f, 0);
    VkCommandBuffer store = device_store(&f, 0, 1, 5);
    peer_start(&peer, export_it(&f, semaphore));
    peer_do(&peer, PAUSE, 0);
    peer_do(&peer, SUBMIT_SIGNAL, 1);
    assert_submitted(f.queues[0][1], .wait = semaphore, .wait_value = 1, .commands = store);
    peer_end(&peer, SIGKILL);
    f.icd.quiesce();
    assert_int_equal(__atomic_load_n(&f.words[1], __ATOMIC_ACQUIRE), 0);
    vulkan_signal(f.device, semaphore, 1);
    assert_success(vkQueueWaitIdle(f.queues[0][1]));
    assert_int_equal(f.words[1], 5);
    vkDestroySemaphore(f.device, semaphore, NULL);
    world_close(&f);
}

DEVICE_TEST(a_lost_device_leaves_no_queue_asleep, ENVIRONMENT, WORLD_ALL)
{
    VkSemaphore semaphore = make(w, 0);
    VkCommandBuffer store = device_store(w, 0, 1, 5);
    w->icd.pause();
    assert_submitted(w->queues[0][0], .signal = semaphore, .signal_value = 1);
    assert_submitted(w->queues[0][1], .wait = semaphore, .wait_value = 1, .commands = store);
    w->icd.quiesce();
    w->icd.lose();
    w->icd.resume();
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 1), 0);
    vkDestroySemaphore(w->device, semaphore, NULL);
}

static uint32_t features(struct device *f, VkSemaphoreType type)
{
    const VkSemaphoreTypeCreateInfo chained = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                               .semaphoreType = type};
    const VkPhysicalDeviceExternalSemaphoreInfo info = {
        VK_TYPE(PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO), .pNext = &chained,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties properties = {VK_TYPE(EXTERNAL_SEMAPHORE_PROPERTIES)};
    vkGetPhysicalDeviceExternalSemaphoreProperties(f->physical, &info, &properties);
    return properties.externalSemaphoreFeatures;
}

TEST(the_driver_says_what_it_has)
{
    const VkExternalSemaphoreFeatureFlags both =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
    struct device f;
    world_open(&f, ENVIRONMENT, WORLD_ALL);
    assert_int_equal(features(&f, VK_SEMAPHORE_TYPE_TIMELINE), both);
    assert_int_equal(features(&f, VK_SEMAPHORE_TYPE_BINARY), both);
    world_close(&f);
    world_open(&f, "SHAPE=q2", WORLD_ALL);
    assert_int_equal(features(&f, VK_SEMAPHORE_TYPE_TIMELINE), 0);
    assert_int_equal(features(&f, VK_SEMAPHORE_TYPE_BINARY), both);
    world_close(&f);
}

/* In the process that made it, and of another adapter, which can't have it. */
TEST(what_is_imported_at_home_is_the_same)
{
    struct device f, other;
    world_open(&f, ENVIRONMENT " DEVICES=2", WORLD_ALL);
    world_open_beside(&other, &f, 1);
    VkSemaphore semaphore = make(&f, 4), again = vulkan_timeline(f.device, 0),
                foreign = vulkan_timeline(other.device, 0);
    assert_success(import_it(&f, again, export_it(&f, semaphore)));
    assert_int_equal(vulkan_value(f.device, again), 4);
    vulkan_signal(f.device, again, 6);
    assert_int_equal(vulkan_value(f.device, semaphore), 6);
    vkDestroySemaphore(f.device, semaphore, NULL);
    assert_int_equal(vulkan_value(f.device, again), 6);
    semaphore = make(&f, 0);
    int fd = export_it(&f, semaphore);
    assert_int_equal(import_it(&other, foreign, fd), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    close(fd);
    vulkan_destroy(f.device, semaphore, again);
    vkDestroySemaphore(other.device, foreign, NULL);
    device_close(&other);
    world_close(&f);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--peer") == 0)
        return peer_main();
    return test_run(NULL);
}
