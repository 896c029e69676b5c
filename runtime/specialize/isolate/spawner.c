/* SPDX-License-Identifier: MIT */
/* One process at a time: who asks leaves what is to be started, and waits. The thread itself takes
 * no lock, so it never waits for one whose holder is SCHED_IDLE. */
#include "specialize/isolate/spawner.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "base/thread.h"
#include "specialize/isolate/spawn.h"

struct request {
    const char *path, *name; /* NULL: it is to end */
    char *const *environment;
    int socket, *pidfd, error;
};

struct bf_spawner {
    pthread_t thread;
    pthread_mutex_t lock; /* over a request, from when it is left to its answer */
    sem_t asked, answered;
    struct request request;
};

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        continue;
}

static void *spawner_run(void *argument)
{
    struct bf_spawner *spawner = argument;
    struct request *r = &spawner->request;
    for (;;) {
        await(&spawner->asked);
        if (!r->path)
            return NULL;
        r->error = bf_spawn(r->path, r->name, r->environment, r->socket, r->pidfd);
        sem_post(&spawner->answered);
    }
}

struct bf_spawner *bf_spawner_start(void)
{
    struct bf_spawner *spawner = calloc(1, sizeof(*spawner));
    if (!spawner)
        return NULL;
    pthread_mutex_init(&spawner->lock, NULL);
    sem_init(&spawner->asked, 0, 0);
    sem_init(&spawner->answered, 0, 0);
    if (!bf_thread_create(&spawner->thread, "bf-spawner", spawner_run, spawner))
        return spawner;
    free(spawner);
    return NULL;
}

void bf_spawner_stop(struct bf_spawner *spawner)
{
    if (!spawner)
        return;
    spawner->request = (struct request){0};
    sem_post(&spawner->asked);
    pthread_join(spawner->thread, NULL);
    sem_destroy(&spawner->answered);
    sem_destroy(&spawner->asked);
    pthread_mutex_destroy(&spawner->lock);
    free(spawner);
}

int bf_spawner_spawn(struct bf_spawner *spawner, const char *path, const char *name,
                     char *const *environment, int socket, int *pidfd)
{
    if (!spawner)
        return bf_spawn(path, name, environment, socket, pidfd);
    pthread_mutex_lock(&spawner->lock);
    spawner->request = (struct request){path, name, environment, socket, pidfd, 0};
    sem_post(&spawner->asked);
    await(&spawner->answered);
    int error = spawner->request.error;
    pthread_mutex_unlock(&spawner->lock);
    return error;
}
