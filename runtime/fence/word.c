#include "fence/word.h"

#include <stdlib.h>

#include "device/device.h"

/* A free place in pages of the kind; the lock is held. */
static bool take(struct bf_word_pages *pages, enum bf_word_kind kind, struct bf_word *word)
{
    for (; pages; pages = pages->next) {
        if (pages->kind != kind || pages->single || pages->used == BF_WORDS_PER_PAGE)
            continue;
        uint32_t i = 0;
        while (pages->taken[i] == UINT64_MAX)
            i++;
        uint32_t bit = (uint32_t)__builtin_ctzll(~pages->taken[i]);
        pages->taken[i] |= UINT64_C(1) << bit;
        pages->used++;
        *word = (struct bf_word){.pages = pages, .offset = (i * 64 + bit) * BF_WORD_STRIDE};
        return true;
    }
    return false;
}

static void free_unused(struct bf_device *device)
{
    struct bf_words *words = &device->words;
    bf_lock_acquire(&words->lock);
    struct bf_word_pages *unused = words->unused;
    words->unused = NULL;
    bf_lock_release(&words->lock);
    while (unused) {
        struct bf_word_pages *next = unused->next;
        bf_buffer_destroy(device, &unused->buffer);
        free(unused);
        unused = next;
    }
}

static VkResult add_pages(struct bf_device *device, enum bf_word_kind kind, bool single,
                          struct bf_word_pages **out)
{
    static const enum bf_buffer_place places[] = {
        [BF_WORD_CURRENT] = BF_BUFFER_SHOWN,
        [BF_WORD_MONITORED] = BF_BUFFER_HOST,
        [BF_WORD_LOCAL] = BF_BUFFER_DEVICE,
    };
    struct bf_word_pages *pages = calloc(1, sizeof(*pages));
    if (!pages)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pages->kind = kind;
    pages->single = single;
    VkResult result = bf_buffer_create(device, single ? BF_WORD_PAGE : BF_WORD_PAGES, places[kind],
                                       &pages->buffer);
    if (result != VK_SUCCESS) {
        free(pages);
        return result;
    }
    *out = pages;
    return VK_SUCCESS;
}

VkResult bf_word_create(struct bf_device *device, enum bf_word_kind kind, bool single,
                        struct bf_word *word)
{
    struct bf_words *words = &device->words;
    bool taken = false;
    free_unused(device);
    if (!single) {
        bf_lock_acquire(&words->lock);
        taken = take(words->pages, kind, word);
        bf_lock_release(&words->lock);
    }
    if (!taken) {
        struct bf_word_pages *pages;
        VkResult result = add_pages(device, kind, single, &pages);
        if (result != VK_SUCCESS)
            return result;
        if (single)
            *word = (struct bf_word){.pages = pages};
        else
            take(pages, kind, word);
        bf_lock_acquire(&words->lock);
        pages->next = words->pages;
        words->pages = pages;
        bf_lock_release(&words->lock);
    }
    char *mapped = word->pages->buffer.mapped;
    if (mapped) {
        word->value = (_Atomic uint64_t *)(mapped + word->offset);
        atomic_store(word->value, 0);
    }
    return VK_SUCCESS;
}

void bf_word_destroy(struct bf_device *device, struct bf_word *word)
{
    struct bf_words *words = &device->words;
    struct bf_word_pages *pages = word->pages;
    if (!pages)
        return;
    bf_lock_acquire(&words->lock);
    if (pages->single) {
        struct bf_word_pages **link = &words->pages;
        while (*link != pages)
            link = &(*link)->next;
        *link = pages->next;
        pages->next = words->unused;
        words->unused = pages;
    } else {
        uint32_t i = word->offset / BF_WORD_STRIDE;
        pages->taken[i / 64] &= ~(UINT64_C(1) << (i % 64));
        pages->used--;
    }
    bf_lock_release(&words->lock);
    *word = (struct bf_word){0};
}

void bf_words_finish(struct bf_device *device)
{
    struct bf_words *words = &device->words;
    free_unused(device);
    while (words->pages) {
        struct bf_word_pages *next = words->pages->next;
        bf_buffer_destroy(device, &words->pages->buffer);
        free(words->pages);
        words->pages = next;
    }
}
