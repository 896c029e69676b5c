/* SPDX-License-Identifier: MIT */
/* Reads a Perfetto trace back, independently of what wrote it. */
#include "support/test.h"
#include "trace_decode.h"

/* Wire format --------------------------------------------------------------------------------- */

struct reader {
    const uint8_t *at;
    const uint8_t *end;
};

struct field {
    uint32_t number;
    uint32_t type;
    uint64_t value; /* varint, fixed64 */
    struct reader body;
};

static bool varint_read(struct reader *r, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (r->at == r->end)
            return false;
        uint8_t byte = *r->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* False at the end, or where a field is cut short: then the reader stands before it. */
static bool field_read(struct reader *r, struct field *field)
{
    struct reader start = *r;
    uint64_t tag;
    if (!varint_read(r, &tag))
        goto cut;
    field->number = (uint32_t)(tag >> 3);
    field->type = tag & 7;
    assert_int_not_equal(field->number, 0);
    switch (field->type) {
    case 0:
        if (!varint_read(r, &field->value))
            goto cut;
        return true;
    case 1:
        if (r->end - r->at < 8)
            goto cut;
        field->value = 0;
        for (int i = 0; i < 8; i++)
            field->value |= (uint64_t)*r->at++ << (8 * i);
        return true;
    case 2: {
        uint64_t size;
        if (!varint_read(r, &size) || size > (uint64_t)(r->end - r->at))
            goto cut;
        field->body = (struct reader){r->at, r->at + size};
        r->at += size;
        return true;
    }
    default:
        fail_msg("wire type %u", field->type);
    }
cut:
    *r = start;
    return false;
}

static struct text text_of(const struct field *field)
{
    assert_int_equal(field->type, 2);
    return (struct text){(const char *)field->body.at, (size_t)(field->body.end - field->body.at)};
}

/* --- Messages ---------------------------------------------------------------------------------*/

static void unexpected(const char *message, const struct field *field)
{
    fail_msg("%s has a field %u of type %u", message, field->number, field->type);
}

static void clocks_read(struct reader body, struct decoded_packet *p)
{
    struct field f, c;
    while (field_read(&body, &f)) {
        if (f.number == 2) {
            p->primary_clock = f.value;
            continue;
        }
        if (f.number != 1)
            unexpected("ClockSnapshot", &f);
        uint64_t id = 0;
        uint64_t time = 0;
        bool incremental = false;
        while (field_read(&f.body, &c))
            if (c.number == 1)
                id = c.value;
            else if (c.number == 2)
                time = c.value;
            else if (c.number == 3)
                incremental = c.value;
            else
                unexpected("Clock", &c);
        assert_true(incremental == (id >= 64));
        if (incremental) {
            assert_in_range(id, 64, 127);
            p->incremental_clock = id;
            p->incremental_base = time;
        } else {
            assert_in_range(id, 1, 15);
            p->clocks[id] = time;
        }
    }
    assert_ptr_equal(body.at, body.end);
}

static void process_read(struct reader body, struct decoded_packet *p)
{
    struct field f;
    p->process = true;
    while (field_read(&body, &f))
        if (f.number == 1)
            p->pid = (int64_t)f.value;
        else if (f.number == 6)
            p->process_name = text_of(&f);
        else
            unexpected("ProcessDescriptor", &f);
    assert_ptr_equal(body.at, body.end);
}

static void track_read(struct reader body, struct decoded_packet *p)
{
    struct field f;
    while (field_read(&body, &f)) {
        switch (f.number) {
        case 1:
            p->uuid = f.value;
            break;
        case 2:
            p->name = text_of(&f);
            break;
        case 3:
            process_read(f.body, p);
            break;
        case 5:
            p->parent = f.value;
            break;
        case 8:
            p->counter = true;
            break;
        case 11:
            p->ordering = f.value;
            break;
        case 12:
            p->rank = (int64_t)f.value;
            break;
        default:
            unexpected("TrackDescriptor", &f);
        }
    }
    assert_ptr_equal(body.at, body.end);
}

static void annotation_read(struct reader body, struct decoded_annotation *a)
{
    struct field f;
    while (field_read(&body, &f)) {
        switch (f.number) {
        case 1:
            a->name_number = f.value;
            break;
        case 17:
            a->text_number = f.value;
            a->is_text = true;
            break;
        case 6:
            a->text = text_of(&f);
            a->is_text = true;
            break;
        case 7:
            a->is_pointer = true;
            a->number = f.value;
            break;
        case 3:
            a->number = f.value;
            break;
        default:
            unexpected("DebugAnnotation", &f);
        }
    }
    assert_ptr_equal(body.at, body.end);
}

static void event_read(struct reader body, struct decoded_packet *p)
{
    struct field f;
    while (field_read(&body, &f)) {
        switch (f.number) {
        case 4:
            assert_true(p->annotation_count < DECODED_ANNOTATIONS);
            annotation_read(f.body, &p->annotations[p->annotation_count++]);
            break;
        case 9:
            p->type = f.value;
            break;
        case 11:
            p->uuid = f.value;
            break;
        case 3:
            assert_int_equal(p->category_number, 0);
            p->category_number = f.value;
            break;
        case 10:
            p->name_number = f.value;
            break;
        case 30:
            p->value = (int64_t)f.value;
            break;
        case 47:
            assert_int_equal(f.type, 1);
            assert_true(p->flow_count < DECODED_FLOWS);
            p->flows[p->flow_count++] = f.value;
            break;
        case 48:
            assert_int_equal(f.type, 1);
            assert_true(p->terminating_count < DECODED_FLOWS);
            p->terminating[p->terminating_count++] = f.value;
            break;
        default:
            unexpected("TrackEvent", &f);
        }
    }
    assert_ptr_equal(body.at, body.end);
}

/* --- Words, clocks and defaults, by sequence
 * -----------------------------------------------------*/

enum { CATEGORIES, NAMES, ANNOTATIONS, TEXTS, ROLES };
#define SEQUENCES 8
#define PLACES    (1 << 14) /* powers of two; numbers are found by probing */

struct word {
    uint64_t number;
    struct text text;
};

struct decoder {
    struct word *words[SEQUENCES][ROLES];
    uint64_t default_clock[SEQUENCES];
    uint64_t incremental_clock[SEQUENCES];
    uint64_t last[SEQUENCES];
};

static struct word *word_place(struct decoder *r, uint64_t sequence, int role, uint64_t number)
{
    assert_in_range(sequence, 1, SEQUENCES - 1);
    struct word **words = &r->words[sequence][role];
    if (!*words)
        *words = calloc(PLACES, sizeof(**words));
    assert_non_null(*words);
    for (uint64_t i = number * 0x9E3779B97F4A7C15u >> 40, steps = 0;; i++, steps++) {
        struct word *word = &(*words)[i % PLACES];
        if (!word->number || word->number == number)
            return word;
        assert_true(steps < PLACES);
    }
}

static void words_read(struct decoder *r, struct reader body, uint64_t sequence)
{
    struct field f, w;
    while (field_read(&body, &f)) {
        int role = f.number == 29 ? TEXTS : (int)f.number - 1;
        if (f.number != 29 && f.number > 3)
            unexpected("InternedData", &f);
        uint64_t number = 0;
        struct text text = {0};
        while (field_read(&f.body, &w))
            if (w.number == 1)
                number = w.value;
            else if (w.number == 2)
                text = text_of(&w);
            else
                unexpected("an interned word", &w);
        assert_int_not_equal(number, 0);
        struct word *word = word_place(r, sequence, role, number);
        assert_int_equal(word->number, 0); /* said once, and never to be something else */
        *word = (struct word){number, text};
    }
    assert_ptr_equal(body.at, body.end);
}

static struct text word_of(struct decoder *r, uint64_t sequence, int role, uint64_t number)
{
    if (!number)
        return (struct text){0};
    struct word *word = word_place(r, sequence, role, number);
    if (word->number != number)
        fail_msg("word %u is not known on sequence %u", (unsigned)number, (unsigned)sequence);
    return word->text;
}

static uint64_t defaults_read(struct reader body)
{
    struct field f;
    uint64_t clock = 0;
    while (field_read(&body, &f)) {
        if (f.number != 58)
            unexpected("TracePacketDefaults", &f);
        clock = f.value;
    }
    return clock;
}

/* Numbers become texts, and distances times. */
static void packet_resolve(struct decoder *r, struct decoded_packet *p)
{
    p->category = word_of(r, p->sequence, CATEGORIES, p->category_number);
    p->name = p->name_number ? word_of(r, p->sequence, NAMES, p->name_number) : p->name;
    for (uint32_t i = 0; i < p->annotation_count; i++) {
        struct decoded_annotation *a = &p->annotations[i];
        a->name = word_of(r, p->sequence, ANNOTATIONS, a->name_number);
        if (a->text_number)
            a->text = word_of(r, p->sequence, TEXTS, a->text_number);
    }
    if (p->incremental_clock) {
        r->incremental_clock[p->sequence] = p->incremental_clock;
        r->last[p->sequence] = p->incremental_base;
    }
    if (p->kind != DECODED_EVENT)
        return;
    if (!p->clock)
        p->clock = r->default_clock[p->sequence];
    if (p->clock == r->incremental_clock[p->sequence]) {
        p->time = r->last[p->sequence] += p->time;
        p->clock = 3;
    }
}

static void packet_read(struct decoder *r, struct reader body, struct decoded_packet *p)
{
    struct field f;
    struct reader words = {0};
    while (field_read(&body, &f)) {
        switch (f.number) {
        case 6:
            p->kind = DECODED_CLOCKS;
            clocks_read(f.body, p);
            break;
        case 8:
            p->time = f.value;
            break;
        case 10:
            p->sequence = f.value;
            break;
        case 11:
            p->kind = DECODED_EVENT;
            event_read(f.body, p);
            break;
        case 12:
            words = f.body;
            break;
        case 13:
            p->flags = f.value;
            break;
        case 42:
            assert_int_equal(f.value, 1);
            break;
        case 58:
            p->clock = f.value;
            break;
        case 59:
            assert_in_range(p->sequence, 1, SEQUENCES - 1);
            r->default_clock[p->sequence] = defaults_read(f.body);
            break;
        case 60:
            p->kind = DECODED_TRACK;
            track_read(f.body, p);
            break;
        case 87:
            p->first_on_sequence = f.value;
            break;
        default:
            unexpected("TracePacket", &f);
        }
    }
    assert_ptr_equal(body.at, body.end);
    if (words.at)
        words_read(r, words, p->sequence);
    packet_resolve(r, p);
}

/* --- Interface --------------------------------------------------------------------------------*/

struct decoded decode_bytes(const uint8_t *bytes, size_t size)
{
    struct decoded d = {0};
    struct reader r = {bytes, bytes + size};
    struct field f;
    size_t capacity = 0;
    struct decoder decoder = {0};
    while (field_read(&r, &f)) {
        assert_int_equal(f.number, 1);
        assert_int_equal(f.type, 2);
        if (d.count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            d.packets = realloc(d.packets, capacity * sizeof(*d.packets));
            assert_non_null(d.packets);
        }
        memset(&d.packets[d.count], 0, sizeof(*d.packets));
        packet_read(&decoder, f.body, &d.packets[d.count++]);
    }
    for (int s = 0; s < SEQUENCES; s++)
        for (int role = 0; role < ROLES; role++)
            free(decoder.words[s][role]);
    d.whole = (size_t)(r.at - bytes);
    return d;
}

struct decoded decode_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("can't open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    struct decoded d = decode_bytes(bytes, size);
    d.bytes = bytes;
    d.size = size;
    return d;
}

void decoded_free(struct decoded *d)
{
    free(d->bytes);
    free(d->packets);
    *d = (struct decoded){0};
}

bool decoded_is(struct text text, const char *expected)
{
    return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

bool decoded_starts_with(struct text text, const char *expected)
{
    return text.size >= strlen(expected) && memcmp(text.data, expected, strlen(expected)) == 0;
}

const struct decoded_packet *decoded_track(const struct decoded *d, uint64_t uuid)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->packets[i].kind == DECODED_TRACK && d->packets[i].uuid == uuid)
            return &d->packets[i];
    return NULL;
}

const struct decoded_annotation *decoded_annotation(const struct decoded_packet *event,
                                                    const char *name)
{
    for (uint32_t i = 0; i < event->annotation_count; i++)
        if (decoded_is(event->annotations[i].name, name))
            return &event->annotations[i];
    return NULL;
}

static const struct decoded_packet *event_with(const struct decoded *d, uint64_t flow, bool target)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        uint32_t count = target ? p->terminating_count : p->flow_count;
        for (uint32_t f = 0; f < count; f++)
            if ((target ? p->terminating[f] : p->flows[f]) == flow)
                return p;
    }
    return NULL;
}

const struct decoded_packet *decoded_flow_source(const struct decoded *d, uint64_t flow)
{
    return event_with(d, flow, false);
}

const struct decoded_packet *decoded_flow_target(const struct decoded *d, uint64_t flow)
{
    return event_with(d, flow, true);
}

/* --- What must hold for any trace --------------------------------------------------------------*/

struct open_track {
    const struct decoded_packet *descriptor; /* NULL: a place that is free */
    int depth;
};

/* By uuid, found by probing. */
struct tracks {
    struct open_track *places;
    size_t size; /* a power of two, twice as many as there are tracks or more */
};

struct arrow {
    uint64_t flow;
    uint64_t time;
    size_t position; /* in the order of time */
    bool target;
};

static int by_time(const void *a, const void *b)
{
    const struct decoded_packet *const *x = a;
    const struct decoded_packet *const *y = b;
    if ((*x)->time != (*y)->time)
        return (*x)->time < (*y)->time ? -1 : 1;
    return *x < *y ? -1 : 1;
}

static int by_flow(const void *a, const void *b)
{
    const struct arrow *x = a;
    const struct arrow *y = b;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    return (int)x->target - (int)y->target;
}

/* Where the track is, or would be. */
static struct open_track *track_place(const struct tracks *tracks, uint64_t uuid)
{
    size_t at = (size_t)((uuid * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    while (tracks->places[at & (tracks->size - 1)].descriptor &&
           tracks->places[at & (tracks->size - 1)].descriptor->uuid != uuid)
        at++;
    return &tracks->places[at & (tracks->size - 1)];
}

static struct open_track *open_track(const struct tracks *tracks, uint64_t uuid)
{
    struct open_track *track = track_place(tracks, uuid);
    return track->descriptor ? track : NULL;
}

/* In the order of the file: sequences, descriptors before use, times that never fall. */
static void check_order(const struct decoded *d, const struct tracks *tracks)
{
    bool announced[8] = {false};
    uint64_t last = 0;
    assert_int_equal(d->packets[0].kind, DECODED_CLOCKS);
    assert_true(d->packets[0].clocks[3] && d->packets[0].clocks[6]);
    assert_int_equal(d->packets[0].primary_clock, 3);
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        assert_in_range(p->sequence, 1, 7);
        if (p->first_on_sequence) {
            assert_false(announced[p->sequence]);
            assert_int_equal(p->flags, 1);
            announced[p->sequence] = true;
        }
        assert_true(announced[p->sequence]);
        if (p->kind == DECODED_TRACK) {
            assert_int_not_equal(p->uuid, 0);
            struct open_track *known = open_track(tracks, p->uuid);
            if (known) { /* renamed */
                assert_int_equal(known->descriptor->parent, p->parent);
                continue;
            }
            assert_true(p->process == (p->parent == 0));
            assert_true(p->process || open_track(tracks, p->parent));
            track_place(tracks, p->uuid)->descriptor = p;
        }
        if (p->kind != DECODED_EVENT)
            continue;
        assert_int_equal(p->clock, 3);
        bool numbers = p->name_number || p->category_number || p->annotation_count;
        assert_int_equal(p->flags, numbers ? 2 : 0); /* it needs what was interned before */
        struct open_track *track = open_track(tracks, p->uuid);
        assert_non_null(track);
        assert_true(track->descriptor->counter == (p->type == DECODED_COUNTER));
        if (p->sequence == 1) {
            assert_true(p->time >= last);
            last = p->time;
        }
        if (p->type == DECODED_COUNTER)
            assert_true(p->value >= 0);
    }
}

size_t decoded_check(const struct decoded *d)
{
    assert_true(d->count > 0);
    size_t descriptors = 0;
    for (size_t i = 0; i < d->count; i++)
        descriptors += d->packets[i].kind == DECODED_TRACK;
    struct tracks tracks = {.size = 2};
    while (tracks.size < 2 * descriptors + 2)
        tracks.size *= 2;
    tracks.places = calloc(tracks.size, sizeof(*tracks.places));
    const struct decoded_packet **events = calloc(d->count, sizeof(const struct decoded_packet *));
    size_t ends = 1;
    for (size_t i = 0; i < d->count; i++)
        ends += d->packets[i].flow_count + d->packets[i].terminating_count;
    struct arrow *arrows = calloc(ends, sizeof(*arrows));
    assert_true(tracks.places && events && arrows);
    check_order(d, &tracks);

    size_t event_count = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->packets[i].kind == DECODED_EVENT)
            events[event_count++] = &d->packets[i];
    qsort(events, event_count, sizeof(events[0]), by_time);

    size_t arrow_count = 0;
    for (size_t i = 0; i < event_count; i++) {
        const struct decoded_packet *p = events[i];
        struct open_track *track = open_track(&tracks, p->uuid);
        if (p->type == DECODED_BEGIN)
            track->depth++;
        assert_true((p->category.size > 0) ==
                    (p->type == DECODED_BEGIN || p->type == DECODED_INSTANT));
        if (p->type == DECODED_END)
            assert_true(--track->depth >= 0);
        /* Lanes never overlap. */
        if (p->type == DECODED_BEGIN && decoded_is(track->descriptor->name, "hardware queue"))
            assert_int_equal(track->depth, 1);
        if (p->type == DECODED_BEGIN && decoded_is(track->descriptor->name, "fence operations"))
            assert_int_equal(track->depth, decoded_is(p->category, "fence.blocked") ? 2 : 1);
        for (uint32_t f = 0; f < p->flow_count; f++)
            arrows[arrow_count++] = (struct arrow){p->flows[f], p->time, i, false};
        for (uint32_t f = 0; f < p->terminating_count; f++)
            arrows[arrow_count++] = (struct arrow){p->terminating[f], p->time, i, true};
    }

    qsort(arrows, arrow_count, sizeof(*arrows), by_flow);
    size_t arrived = 0;
    for (size_t i = 0; i < arrow_count; i++) {
        if (!arrows[i].target) /* may lead nowhere: nobody waited */
            continue;
        arrived++;
        assert_true(i > 0);
        assert_int_equal(arrows[i - 1].flow, arrows[i].flow);
        assert_false(arrows[i - 1].target);
        assert_true(arrows[i - 1].position < arrows[i].position);
        if (i > 1)
            assert_true(arrows[i - 2].flow != arrows[i].flow);
    }
    free(tracks.places);
    free(events);
    free(arrows);
    return arrived;
}
