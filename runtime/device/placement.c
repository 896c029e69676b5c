/* SPDX-License-Identifier: MIT */
/* Which real VkQueues are opened, and which of the program's queues is placed on which. */
#include "device/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "scheduler/window.h"

/* Queues of one priority in a merged request, or of several of the lowest ones, and the VkQueues
 * that they share in turn (PL-4). */
struct level {
    float least; /* and up to the next higher level's */
    uint32_t queues, opened, next;
    uint32_t engines[BF_MAX_ENGINES];
};

/* The queues of a real family that are asked for with the same flags: one merged request, or a part
 * of another's (PL-6). */
struct group {
    uint32_t family;
    VkDeviceQueueCreateFlags flags;
    struct group *joined; /* on whose VkQueues they are; NULL: on its own */
    uint32_t request, asked, opened, first_engine, next;
    uint32_t level_count; /* the highest comes first */
    struct level *levels;
};

struct groups {
    struct group *list;
    uint32_t count;
    struct group **of; /* whose VkQueues each of the program's requests is on */
};

/* Room for the priorities of a request's spares, behind those of its queues. */
#define SPARES 2

/* A VkQueue with these flags does all that one without them does. */
#define JOINED_FLAGS (VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT | BF_QUEUE_INTERNALLY_SYNCHRONIZED)

static VkResult placement_check(const struct bf_family_map *map,
                                const VkDeviceQueueCreateInfo *asked)
{
    uint32_t f = asked->queueFamilyIndex;
    if (f >= map->shown_count || asked->queueCount > map->shown[f].count) {
        bf_message(BF_MESSAGE_ERROR, "vkCreateDevice: %u queues of family %u: it has %u",
                   asked->queueCount, f, f < map->shown_count ? map->shown[f].count : 0);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    return VK_SUCCESS;
}

static struct group *group_of(struct groups *groups, uint32_t family,
                              VkDeviceQueueCreateFlags flags)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        struct group *g = &groups->list[i];
        if (g->family == family && g->flags == flags)
            return g;
    }
    struct group *g = &groups->list[groups->count++];
    *g = (struct group){.family = family, .flags = flags};
    return g;
}

/* Has two groups of the family, whose flags differ in these alone, share their VkQueues, which have
 * the flags of both. False: there are no such two. */
static bool groups_join_two(struct groups *groups, uint32_t family, VkDeviceQueueCreateFlags differ)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        struct group *g = &groups->list[i];
        for (uint32_t k = i + 1; k < groups->count && !g->joined && g->family == family; k++) {
            struct group *other = &groups->list[k];
            if (other->joined || other->family != family || (g->flags ^ other->flags) & ~differ)
                continue;
            other->joined = g;
            g->flags |= other->flags;
            g->asked += other->asked;
            return true;
        }
    }
    return false;
}

/* PL-6. */
static void groups_join(const struct bf_family_map *map, struct groups *groups)
{
    for (uint32_t family = 0; family < map->real_count; family++) {
        uint32_t apart = 0;
        for (uint32_t i = 0; i < groups->count; i++)
            apart += groups->list[i].family == family;
        while (apart > map->real_queues[family] &&
               (groups_join_two(groups, family, BF_QUEUE_INTERNALLY_SYNCHRONIZED) ||
                groups_join_two(groups, family, JOINED_FLAGS)))
            apart--;
    }
}

/* Opens VkQueues one by one, for each group in turn, as long as the family and the limit on engines
 * allow. Every group needs one, so the first round serves all groups first. */
static void groups_open_queues(const struct bf_family_map *map, struct groups *groups)
{
    uint32_t used[BF_MAX_FAMILIES] = {0}, total = 0;
    bool opened = true;
    while (opened) {
        opened = false;
        for (uint32_t i = 0; i < groups->count && total < BF_MAX_ENGINES; i++) {
            struct group *g = &groups->list[i];
            if (!g->joined && g->opened < g->asked &&
                used[g->family] < map->real_queues[g->family]) {
                g->opened++;
                used[g->family]++;
                total++;
                opened = true;
            }
        }
    }
}

/* The global priority that a chain asks for; 0: none, which means MEDIUM. */
static VkQueueGlobalPriorityKHR chain_global_priority(const void *chain)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR)
            return ((const VkDeviceQueueGlobalPriorityCreateInfoKHR *)s)->globalPriority;
    }
    return 0;
}

static bool chain_priority_is_higher(const void *chain, const void *than)
{
    VkQueueGlobalPriorityKHR a = chain_global_priority(chain), b = chain_global_priority(than);
    return (a ? a : VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR) >
           (b ? b : VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR);
}

/* The structs to chain to a group's request: the first of its own, or those of its family's highest
 * global priority. */
static const void *group_chain(const struct groups *groups, const struct group *group,
                               uint32_t count, const VkDeviceQueueCreateInfo *asked)
{
    const void *own = NULL, *highest = NULL;
    bool found = false, any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (groups->of[i]->family != group->family)
            continue;
        if (groups->of[i] == group && (!found || chain_priority_is_higher(asked[i].pNext, own) ||
                                       (!own && !chain_priority_is_higher(own, asked[i].pNext)))) {
            own = asked[i].pNext;
            found = true;
        }
        if (!any || chain_priority_is_higher(asked[i].pNext, highest))
            highest = asked[i].pNext;
        any = true;
    }
    return chain_priority_is_higher(highest, own) ? highest : own;
}

/* The group's priorities as levels: no more than it has VkQueues, and the VkQueues shared out, each
 * in turn to the level with the most queues for each that it has. */
static bool group_share(const struct groups *groups, struct group *g, uint32_t count,
                        const VkDeviceQueueCreateInfo *asked)
{
    g->levels = calloc(g->opened ? g->opened : 1, sizeof(*g->levels));
    if (!g->levels)
        return false;
    float above = INFINITY;
    for (uint32_t rest = g->asked; rest && g->level_count < g->opened; g->level_count++) {
        struct level *level = &g->levels[g->level_count];
        bool last = g->level_count + 1 == g->opened;
        level->least = last ? -INFINITY : -1.0f;
        for (uint32_t i = 0; i < count; i++) {
            if (groups->of[i] != g)
                continue;
            for (uint32_t n = 0; n < asked[i].queueCount; n++) {
                float priority = asked[i].pQueuePriorities[n];
                if (priority >= above)
                    continue;
                if (priority > level->least && !last) {
                    level->least = priority;
                    level->queues = 0;
                }
                level->queues += last || priority == level->least;
            }
        }
        level->opened = 1;
        above = level->least;
        rest -= level->queues;
    }
    for (uint32_t left = g->opened - g->level_count; left && g->level_count; left--) {
        struct level *fullest = &g->levels[0];
        for (uint32_t i = 1; i < g->level_count; i++) {
            struct level *level = &g->levels[i];
            if (level->queues * fullest->opened > fullest->queues * level->opened)
                fullest = level;
        }
        fullest->opened++;
    }
    return true;
}

/* The VkQueue for the group's next queue; those that are first needed come first, so that the
 * program's first queue is on the first. */
static uint32_t group_next_engine(struct group *g, float priority)
{
    struct level *level = g->levels;
    while (level < g->levels + g->level_count - 1 && priority < level->least)
        level++;
    uint32_t turn = level->next++;
    if (turn < level->opened)
        level->engines[turn] = g->first_engine + g->next++;
    return level->engines[turn % level->opened];
}

static void groups_finish(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        free(groups->list[i].levels);
    free(groups->list);
    free(groups->of);
}

static bool groups_init(const struct bf_family_map *map, struct groups *groups, uint32_t count,
                        const VkDeviceQueueCreateInfo *asked)
{
    groups->list = calloc(count + 1, sizeof(*groups->list));
    groups->of = calloc(count + 1, sizeof(*groups->of));
    if (!groups->list || !groups->of)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        groups->of[i] =
            group_of(groups, bf_family_real(map, asked[i].queueFamilyIndex), asked[i].flags);
        groups->of[i]->asked += asked[i].queueCount;
    }
    groups_join(map, groups);
    for (uint32_t i = 0; i < count; i++) {
        while (groups->of[i]->joined)
            groups->of[i] = groups->of[i]->joined;
    }
    groups_open_queues(map, groups);
    return true;
}

/* Makes the request of a group, and its engines. False: out of memory. */
static bool placement_add_request(struct bf_placement *placement, const struct groups *groups,
                                  struct group *g, uint32_t count,
                                  const VkDeviceQueueCreateInfo *asked)
{
    g->request = placement->request_count++;
    g->first_engine = placement->engine_count;
    if (!group_share(groups, g, count, asked))
        return false;
    const void *chain = group_chain(groups, g, count, asked);
    placement->requests[g->request] = (VkDeviceQueueCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .pNext = chain,
        .flags = g->flags,
        .queueFamilyIndex = g->family,
        .queueCount = g->opened,
        .pQueuePriorities = (float *)placement->memory + g->first_engine + SPARES * g->request,
    };
    for (uint32_t n = 0; n < g->opened; n++)
        placement->engines[placement->engine_count++] = (struct bf_engine_info){
            .family = g->family,
            .index = n,
            .flags = g->flags,
            .global_priority = chain_global_priority(chain),
        };
    return true;
}

/* Places the queues of one of the program's requests on the engines of its group. */
static void placement_add_queues(const struct bf_family_map *map, struct bf_placement *placement,
                                 struct group *g, const VkDeviceQueueCreateInfo *asked)
{
    uint32_t shown = asked->queueFamilyIndex;
    for (uint32_t n = 0; n < asked->queueCount; n++) {
        uint32_t engine = group_next_engine(g, asked->pQueuePriorities[n]);
        placement->queues[placement->queue_count++] = (struct bf_queue_info){
            .family = shown,
            .index = n,
            .family_flags = map->shown[shown].flags,
            .flags = asked->flags,
            .engine = engine,
            /* Its own, whatever others have made of the VkQueue's. */
            .level = bf_level_of_global(chain_global_priority(asked->pNext)),
        };
        float *priority = (float *)placement->memory + engine + SPARES * g->request;
        if (asked->pQueuePriorities[n] > *priority)
            *priority = asked->pQueuePriorities[n];
        placement->engines[engine].queue_priority = *priority;
    }
}

VkResult bf_placement_init(const struct bf_family_map *map, uint32_t count,
                           const VkDeviceQueueCreateInfo *asked, struct bf_placement *placement)
{
    *placement = (struct bf_placement){0};
    uint32_t queues = 0;
    for (uint32_t i = 0; i < count; i++) {
        VkResult checked = placement_check(map, &asked[i]);
        if (checked != VK_SUCCESS)
            return checked;
        queues += asked[i].queueCount;
    }
    placement->queues = calloc(queues + 1, sizeof(*placement->queues));
    placement->engines = calloc(BF_MAX_ENGINES, sizeof(*placement->engines));
    placement->requests = calloc(count + BF_PLACEMENT_RESERVED, sizeof(*placement->requests));
    placement->memory =
        calloc(BF_MAX_ENGINES + SPARES * (count + BF_PLACEMENT_RESERVED), sizeof(float));
    struct groups groups = {0};
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!placement->queues || !placement->engines || !placement->requests || !placement->memory ||
        !groups_init(map, &groups, count, asked))
        goto fail;
    for (uint32_t i = 0; i < groups.count; i++) {
        if (!groups.list[i].joined &&
            !placement_add_request(placement, &groups, &groups.list[i], count, asked))
            goto fail;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (groups.of[i]->opened == 0) {
            bf_message(BF_MESSAGE_ERROR,
                       "vkCreateDevice: no VkQueue is left for family %u, flags %#x",
                       asked[i].queueFamilyIndex, asked[i].flags);
            result = VK_ERROR_INITIALIZATION_FAILED;
            goto fail;
        }
        placement_add_queues(map, placement, groups.of[i], &asked[i]);
    }
    groups_finish(&groups);
    return VK_SUCCESS;

fail:
    groups_finish(&groups);
    bf_placement_finish(placement);
    return result;
}

uint32_t bf_placement_spare_family(const struct bf_placement *placement,
                                   const VkQueueFamilyProperties *real, uint32_t count,
                                   uint32_t able)
{
    uint32_t spare = UINT32_MAX;
    if (placement->engine_count == BF_MAX_ENGINES)
        return spare;
    for (uint32_t f = 0; f < count && f < BF_MAX_FAMILIES; f++) {
        bool taken = false;
        for (uint32_t i = 0; i < placement->request_count; i++)
            taken |= placement->requests[i].queueFamilyIndex == f;
        if (taken || !(able & UINT32_C(1) << f) || !real[f].queueCount ||
            !(real[f].queueFlags & VK_QUEUE_COMPUTE_BIT))
            continue;
        if (!(real[f].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            return f;
        if (spare == UINT32_MAX)
            spare = f;
    }
    return spare;
}

/* Is the family's work what command queues do? */
static bool family_takes_spare(VkQueueFlags flags)
{
    const VkQueueFlags kept = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    return (flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) ||
           (flags & ~kept) == VK_QUEUE_TRANSFER_BIT;
}

/* Would a VkQueue more take only what it may of this chain? A raised global priority is for what
 * the program does with it; other structs may share something out among the VkQueues of a
 * request. */
static bool chain_takes_spare(const VkBaseInStructure *chain)
{
    return !chain ||
           (!chain->pNext &&
            chain->sType == VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR &&
            !chain_priority_is_higher(chain, NULL));
}

static void request_add_spare(struct bf_placement *placement, VkDeviceQueueCreateInfo *request,
                              float priority, BfCommandQueuePriority least)
{
    ((float *)request->pQueuePriorities)[request->queueCount] = priority;
    placement->engines[placement->engine_count++] = (struct bf_engine_info){
        .family = request->queueFamilyIndex,
        .index = request->queueCount++,
        .global_priority = chain_global_priority(request->pNext),
        .queue_priority = priority,
        .least = (uint32_t)least,
        .spare = true,
    };
    placement->spare_count++;
}

void bf_placement_take_priorities(struct bf_placement *placement, uint32_t count,
                                  const VkDeviceQueueCreateInfo *asked)
{
    struct bf_queue_info *queue = placement->queues;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t n = 0; n < asked[i].queueCount; n++, queue++) {
            VkQueueGlobalPriorityKHR global = chain_global_priority(asked[i].pNext);
            float priority = asked[i].pQueuePriorities[n];
            if (!global || global == VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR)
                queue->level = priority < 1 / 3.0f   ? BF_LEVEL_LOW
                               : priority < 2 / 3.0f ? BF_LEVEL_NORMAL
                                                     : BF_LEVEL_HIGH;
        }
    }
}

void bf_placement_add_spares(const struct bf_family_map *map, struct bf_placement *placement)
{
    for (uint32_t i = 0; i < placement->request_count; i++) {
        VkDeviceQueueCreateInfo *request = &placement->requests[i];
        uint32_t family = request->queueFamilyIndex, opened = 0;
        bool takes = !request->flags && family_takes_spare(map->shown[family].flags);
        for (uint32_t k = 0; k < placement->request_count; k++) {
            if (placement->requests[k].queueFamilyIndex != family)
                continue;
            opened += placement->requests[k].queueCount;
            takes = takes && chain_takes_spare(placement->requests[k].pNext);
        }
        /* The last engines are left for those that are reserved. */
        uint32_t most = BF_MAX_ENGINES - BF_PLACEMENT_RESERVED;
        if (!takes || opened >= map->real_queues[family] || placement->engine_count >= most)
            continue;
        float highest = 0;
        for (uint32_t n = 0; n < placement->engine_count; n++) {
            const struct bf_engine_info *engine = &placement->engines[n];
            if (engine->family == family && engine->queue_priority > highest)
                highest = engine->queue_priority;
        }
        request_add_spare(placement, request, highest, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
        if (highest < 1.0f && opened + 1 < map->real_queues[family] &&
            placement->engine_count < most)
            request_add_spare(placement, request, 1.0f, BF_COMMAND_QUEUE_PRIORITY_HIGH);
    }
}

static bool request_has(const struct bf_placement *placement, uint32_t family,
                        VkDeviceQueueCreateFlags flags)
{
    for (uint32_t i = 0; i < placement->request_count; i++) {
        if (placement->requests[i].queueFamilyIndex == family &&
            placement->requests[i].flags == flags)
            return true;
    }
    return false;
}

/* The engines of a request are those of its family and flags. */
static void request_set_flags(struct bf_placement *placement, VkDeviceQueueCreateInfo *request,
                              VkDeviceQueueCreateFlags flags)
{
    for (uint32_t e = 0; e < placement->engine_count; e++) {
        struct bf_engine_info *engine = &placement->engines[e];
        if (engine->family == request->queueFamilyIndex && engine->flags == request->flags)
            engine->flags = flags;
    }
    request->flags = flags;
}

void bf_placement_synchronize(struct bf_placement *placement)
{
    for (uint32_t i = 0; i < placement->request_count; i++) {
        VkDeviceQueueCreateInfo *request = &placement->requests[i];
        bool spare = false;
        for (uint32_t e = 0; e < placement->engine_count; e++)
            spare |= placement->engines[e].spare &&
                     placement->engines[e].family == request->queueFamilyIndex;
        if (request->flags || spare ||
            request_has(placement, request->queueFamilyIndex, BF_QUEUE_INTERNALLY_SYNCHRONIZED))
            continue;
        request_set_flags(placement, request, BF_QUEUE_INTERNALLY_SYNCHRONIZED);
        placement->synchronized = true;
    }
}

/* Did the program ask for the flag of a request's VkQueues? */
static bool request_is_the_programs(const struct bf_placement *placement,
                                    const VkDeviceQueueCreateInfo *request)
{
    for (uint32_t q = 0; q < placement->queue_count; q++) {
        const struct bf_engine_info *engine = &placement->engines[placement->queues[q].engine];
        if (engine->family == request->queueFamilyIndex && engine->flags == request->flags &&
            placement->queues[q].flags)
            return true;
    }
    return false;
}

static void placement_drop_synchronized(struct bf_placement *placement)
{
    for (uint32_t i = 0; placement->synchronized && i < placement->request_count; i++) {
        VkDeviceQueueCreateInfo *request = &placement->requests[i];
        if (request->flags == BF_QUEUE_INTERNALLY_SYNCHRONIZED &&
            !request_is_the_programs(placement, request))
            request_set_flags(placement, request, 0);
    }
    placement->synchronized = false;
}

void bf_placement_drop_spares(struct bf_placement *placement)
{
    uint32_t kept = 0;
    placement_drop_synchronized(placement);
    for (uint32_t i = 0; i < placement->engine_count; i++) {
        const struct bf_engine_info *engine = &placement->engines[i];
        for (uint32_t r = 0; engine->spare && r < placement->request_count; r++) {
            VkDeviceQueueCreateInfo *request = &placement->requests[r];
            request->queueCount -= request->queueFamilyIndex == engine->family && !request->flags;
        }
        if (!engine->spare)
            placement->engines[kept++] = *engine;
    }
    placement->engine_count = kept;
    placement->spare_count = 0;
}

/* The arrays have room: so many more requests and priorities than were asked for, and
 * BF_MAX_ENGINES engines. */
void bf_placement_reserve(struct bf_placement *placement, uint32_t family,
                          VkQueueGlobalPriorityKHR priority, BfCommandQueuePriority least)
{
    VkDeviceQueueGlobalPriorityCreateInfoKHR *chain = &placement->chains[placement->reserved++];
    uint32_t request = placement->request_count++;
    float *queue_priority = (float *)placement->memory + BF_MAX_ENGINES + SPARES * request;
    *queue_priority = 1.0f;
    *chain = (VkDeviceQueueGlobalPriorityCreateInfoKHR){
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR,
        .globalPriority = priority,
    };
    placement->requests[request] = (VkDeviceQueueCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .pNext = chain,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = queue_priority,
    };
    placement->engines[placement->engine_count++] = (struct bf_engine_info){
        .family = family,
        .global_priority = priority,
        .queue_priority = 1.0f,
        .least = (uint32_t)least,
        .reserved = true,
    };
}

void bf_placement_drop_reserved(struct bf_placement *placement)
{
    bool any = placement->reserved > 0;
    placement->reserved -= any;
    placement->request_count -= any;
    placement->engine_count -= any;
}

void bf_placement_forget_reserved(struct bf_placement *placement, uint32_t engine)
{
    placement->reserved--;
    placement->engine_count--;
    memmove(&placement->engines[engine], &placement->engines[engine + 1],
            (placement->engine_count - engine) * sizeof(*placement->engines));
}

void bf_placement_finish(struct bf_placement *placement)
{
    free(placement->queues);
    free(placement->engines);
    free(placement->requests);
    free(placement->memory);
    *placement = (struct bf_placement){0};
}
