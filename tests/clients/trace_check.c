/* SPDX-License-Identifier: MIT */
/* Reads a program's timeline back:
 *
 *   belfry-trace-check FILE PROGRAM ARROWS [QUEUE SUBMISSIONS]...
 *
 * The file must be whole and hold what holds for any trace; be PROGRAM's; have ARROWS arrows from
 * signal to wait ('-': any number); and for each QUEUE (the beginning of a track's name)
 * SUBMISSIONS packets on its software track, and as many on its hardware track, with a beginning
 * and an end. Exits with 0 or 1. */
#include "support/test.h"

#include "../trace/trace_decode.h"

static struct {
    int count;
    char **words;
} given;

/* The packets that begin on the track 'kind' of a queue; *ended counts those that end, too. */
static unsigned long packets_on(const struct decoded *d, const char *kind, const char *queue,
                                unsigned long *ended)
{
    unsigned long begun = 0;
    *ended = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *event = &d->packets[i];
        if (event->kind != DECODED_EVENT)
            continue;
        const struct decoded_packet *track = decoded_track(d, event->uuid);
        const struct decoded_packet *around = decoded_track(d, track->parent);
        if (!around || !decoded_is(track->name, kind) || !decoded_starts_with(around->name, queue))
            continue;
        /* Captions are the program's; a packet whose caption is not its kind says that beside
         * it. */
        const struct decoded_annotation *said = decoded_annotation(event, "kind");
        bool executes = decoded_is(said ? said->text : event->name, "execute");
        begun += event->type == DECODED_BEGIN && executes && decoded_annotation(event, "packet");
        *ended += event->type == DECODED_END;
    }
    return begun;
}

TEST(trace)
{
    struct decoded d = decode_file(given.words[0]);
    assert_int_equal(d.whole, d.size);
    size_t arrows = decoded_check(&d);
    if (strcmp(given.words[2], "-") != 0)
        assert_int_equal(arrows, strtoul(given.words[2], NULL, 10));

    unsigned processes = 0;
    for (size_t i = 0; i < d.count; i++) {
        if (d.packets[i].process) {
            processes++;
            assert_true(decoded_is(d.packets[i].process_name, given.words[1]));
        }
    }
    assert_int_equal(processes, 1);

    for (int i = 3; i + 1 < given.count; i += 2) {
        const char *queue = given.words[i];
        unsigned long expected = strtoul(given.words[i + 1], NULL, 10), ended;
        unsigned long software = packets_on(&d, "software queue", queue, &ended);
        unsigned long hardware = packets_on(&d, "hardware queue", queue, &ended);
        print_message("%s: %lu packets queued, %lu executed\n", queue, software, hardware);
        assert_int_equal(software, expected);
        assert_int_equal(hardware, expected);
        assert_int_equal(ended, expected);
    }
    decoded_free(&d);
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc % 2) {
        fprintf(stderr, "usage: belfry-trace-check FILE PROGRAM ARROWS [QUEUE SUBMISSIONS]...\n");
        return 2;
    }
    given.count = argc - 1;
    given.words = argv + 1;
    return test_run(NULL) ? 1 : 0;
}
