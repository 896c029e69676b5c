/* SPDX-License-Identifier: MIT */
/* Reads the layer's report about the variants it has built. */
#include "variants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX "belfry: specialize: "

static const char *const verdicts[] = {"kept", "rejected", "unjudged", "queued"};

const char *variant_verdict_name(enum variant_verdict verdict)
{
    return verdicts[verdict];
}

/* Finds the end of the pipeline's name, which may contain spaces: the first verdict follows it. */
static const char *verdict_find(const char *text, enum variant_verdict *verdict)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < sizeof verdicts / sizeof *verdicts; ++i) {
        char word[16];
        snprintf(word, sizeof word, " %s ", verdicts[i]);
        const char *at = strstr(text, word);
        if (at && (!first || at < first)) {
            first = at;
            *verdict = (enum variant_verdict)i;
        }
    }
    return first;
}

/* Copies the text after "KEY=", up to the next space. False: there is none, or it is too long. */
static bool field(const char *line, const char *key, char *to, size_t size)
{
    char word[24];
    snprintf(word, sizeof word, " %s=", key);
    const char *at = strstr(line, word);
    if (!at)
        return false;
    at += strlen(word);
    size_t length = strcspn(at, " \n");
    if (!length || length >= size)
        return false;
    memcpy(to, at, length);
    to[length] = '\0';
    return true;
}

static bool number(const char *line, const char *key, int base, uint64_t *to)
{
    char text[32], *end;
    if (!field(line, key, text, sizeof text))
        return false;
    *to = strtoull(text, &end, base);
    return !*end;
}

bool variant_parse(const char *line, struct variant *variant)
{
    static const char *const times[] = {"general", "variant", "build", "check", "first"};
    uint64_t values[5], mask;

    *variant = (struct variant){0};
    if (strncmp(line, PREFIX, strlen(PREFIX)))
        return false;
    line += strlen(PREFIX);
    const char *end = verdict_find(line, &variant->verdict);
    if (!end || end == line)
        return false;
    snprintf(variant->name, sizeof variant->name, "%.*s", (int)(end - line), line);
    const char *rest = end + strlen(verdicts[variant->verdict]) + 2;
    size_t length = strcspn(rest, " \n");
    if (!length || length >= sizeof variant->reason || memchr(rest, '=', length))
        return false;
    memcpy(variant->reason, rest, length);
    rest += length;
    for (uint32_t i = 0; i < 5; ++i) {
        if (!number(rest, times[i], 10, &values[i]))
            return false;
    }
    variant->general = (double)values[0];
    variant->variant = (double)values[1];
    variant->build = (double)values[2];
    variant->check = (double)values[3];
    variant->first = (double)values[4];
    if (!number(rest, "mask", 16, &mask) || !number(rest, "uses", 10, &variant->uses) ||
        !number(rest, "picked", 10, &variant->picked) ||
        !field(rest, "form", variant->form, sizeof variant->form))
        return false;
    variant->mask = (uint32_t)mask;
    return true;
}

bool variants_capture_begin(struct variants_capture *capture)
{
    fflush(stderr);
    capture->file = memfd_create("stderr", MFD_CLOEXEC);
    capture->stderr_was = capture->file < 0 ? -1 : dup(STDERR_FILENO);
    if (capture->stderr_was >= 0 && dup2(capture->file, STDERR_FILENO) >= 0)
        return true;
    if (capture->stderr_was >= 0)
        close(capture->stderr_was);
    if (capture->file >= 0)
        close(capture->file);
    return false;
}

void variants_capture_finish(struct variants_capture *capture, struct variants *variants)
{
    char *line = NULL;
    size_t size = 0;

    fflush(stderr);
    dup2(capture->stderr_was, STDERR_FILENO);
    close(capture->stderr_was);
    *variants = (struct variants){0};
    lseek(capture->file, 0, SEEK_SET);
    FILE *from = fdopen(capture->file, "r");
    if (!from) {
        close(capture->file);
        return;
    }
    while (getline(&line, &size, from) > 0) {
        struct variant variant;
        if (strncmp(line, PREFIX, strlen(PREFIX)))
            fputs(line, stderr);
        else if (variant_parse(line, &variant)) {
            if (variants->count < VARIANTS_MOST)
                variants->list[variants->count++] = variant;
        } else if (!variants->summary[0])
            snprintf(variants->summary, sizeof variants->summary, "%.*s",
                     (int)strcspn(line + strlen(PREFIX), "\n"), line + strlen(PREFIX));
    }
    free(line);
    fclose(from);
}

const struct variant *variants_next(const struct variants *variants, const char *name, uint32_t *at)
{
    while (*at < variants->count) {
        const struct variant *variant = &variants->list[(*at)++];
        if (!strcmp(variant->name, name))
            return variant;
    }
    return NULL;
}
