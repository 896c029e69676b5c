/*
 * The words of a trace: what is written once and then referred to by number (Perfetto's interning).
 *
 * The writer's own words have fixed numbers; a program's names get theirs when they are first used.
 * Of the latter a bounded number is remembered, the most recently used: a name that comes back
 * after it has been forgotten is written again, with another number. A number never comes to mean
 * something else.
 *
 * Thread-safety: none; the trace's lock is held.
 */
#ifndef BELFRY_TRACE_INTERNING_H
#define BELFRY_TRACE_INTERNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a word with its end; longer ones are cut, between characters. */
#define BF_STRING_SIZE 128

#define BF_STRINGS(X)                                                                              \
    /* categories and names */                                                                     \
    X(BELFRY, "belfry")                                                                            \
    X(QUEUED, "queued")                                                                            \
    X(HELD, "held")                                                                                \
    X(EXECUTED, "executed")                                                                        \
    X(HANDED_OVER, "handed over")                                                                  \
    X(DROPPED, "dropped")                                                                          \
    X(ARROW, "arrow")                                                                              \
    X(FENCE_WAIT, "fence.wait")                                                                    \
    X(FENCE_SIGNAL, "fence.signal")                                                                \
    X(FENCE_BLOCKED, "fence.blocked")                                                              \
    X(HOST, "host")                                                                                \
    X(LOST, "lost")                                                                                \
    X(TRACING_BEGINS, "Belfry: tracing begins")                                                    \
    X(UNCALIBRATED, "GPU times are uncalibrated")                                                  \
    X(HOST_SIGNAL, "host signal")                                                                  \
    X(LOST_EVENTS, "lost events")                                                                  \
    X(LOST_LOG_ENTRIES, "lost log entries")                                                        \
    X(UNBLOCKED, "unblocked")                                                                      \
    X(BLOCKED, "blocked")                                                                          \
    /* kinds of packets, in the order of enum bf_trace_packet_kind */                              \
    X(EXECUTE, "execute")                                                                          \
    X(BIND_SPARSE, "bind sparse")                                                                  \
    X(PRESENT, "present")                                                                          \
    X(SIGNAL, "signal")                                                                            \
    X(WAIT, "wait")                                                                                \
    /* annotations */                                                                              \
    X(PACKET, "packet")                                                                            \
    X(KIND, "kind")                                                                                \
    X(COMMAND_BUFFERS, "command buffers")                                                          \
    X(BUFFERS, "buffers")                                                                          \
    X(LABEL, "label")                                                                              \
    X(SEMAPHORE, "semaphore")                                                                      \
    X(FENCE, "fence")                                                                              \
    X(HANDLE, "handle")                                                                            \
    X(VALUE, "value")                                                                              \
    X(WAITS_FOR, "waits for")                                                                      \
    X(BEFORE_IT, "the packet before it")                                                           \
    X(COUNT, "count")                                                                              \
    X(DEVICE, "device")                                                                            \
    X(DRIVER, "driver")                                                                            \
    X(ENDED_BY, "ended by")                                                                        \
    X(LATE_BOUND, "late-bound entry")                                                              \
    X(WITHOUT_TIME, "entry without time")                                                          \
    X(STAMPS, "stamps")                                                                            \
    X(HAND_OVER, "hand-over")                                                                      \
    X(LOST_ENTRY, "lost entry")                                                                    \
    /* background processing */                                                                    \
    X(BACKGROUND, "background")                                                                    \
    X(ITEM, "item")                                                                                \
    X(BOOSTED_ITEM, "boosted item")                                                                \
    X(CANCELLED, "cancelled")                                                                      \
    X(COMMIT, "commit")                                                                            \
    X(COMMIT_DONE, "commit done")                                                                  \
    X(ITEMS, "items")                                                                              \
    X(SWAP_IN, "variant in")                                                                       \
    X(SWAP_OUT, "variant out")                                                                     \
    X(PIPELINE, "pipeline")                                                                        \
    X(VARIANT, "variant")                                                                          \
    X(REASON, "reason")

enum bf_string {
    BF_STRING_NONE,
#define BF_STRING_NUMBER(name, text) BF_STRING_##name,
    BF_STRINGS(BF_STRING_NUMBER)
#undef BF_STRING_NUMBER
        BF_STRING_OWN /* the writer's own are below */
};

/* A word is written anew for each role it has in each sequence of packets. */
enum bf_string_role {
    BF_STRING_CATEGORY,
    BF_STRING_NAME,
    BF_STRING_ANNOTATION, /* its name */
    BF_STRING_TEXT,       /* an annotation's value */
    BF_STRING_ROLES,
};

#define BF_STRING_SEQUENCES 2
#define BF_STRING_SETS      256
#define BF_STRING_WAYS      4

struct bf_string_entry {
    uint64_t number; /* 0: free */
    uint64_t used;   /* when last */
    uint8_t announced;
    char text[BF_STRING_SIZE];
};

struct bf_interning {
    uint64_t next; /* how many of the program's names there were */
    uint64_t clock;
    uint8_t announced[BF_STRING_OWN];
    struct bf_string_entry entries[BF_STRING_SETS][BF_STRING_WAYS];
};

/* A zeroed struct is ready for use. The number of a program's name: remembered, or new. 0 for NULL
 * and "". */
uint64_t bf_interning_number(struct bf_interning *interning, const char *text);

/* NULL: 0, or forgotten. Good until the next bf_interning_number. */
const char *bf_interning_text(const struct bf_interning *interning, uint64_t number);

/* Must it be written in this role and sequence (0 or 1)? True at most once; false if it has been
 * forgotten. */
bool bf_interning_announce(struct bf_interning *interning, uint64_t number,
                           enum bf_string_role role, uint32_t sequence);

/* Copies what fits and never cuts a UTF-8 character in two. */
void bf_name_copy(char *to, size_t size, const char *name);

#endif
