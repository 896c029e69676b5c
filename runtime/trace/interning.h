/* SPDX-License-Identifier: MIT */
/*
 * The strings of a trace that are written once and then referred to by number (Perfetto's
 * interning).
 *
 * The trace's own strings have fixed numbers; names that the program gives get a number when they
 * are first used. Of the latter, the most recently used are remembered, up to a limit: a name that
 * comes back after it was forgotten is written again, under another number. A number never changes
 * its meaning.
 *
 * Thread-safety: none; the trace's lock is held.
 */
#ifndef BELFRY_TRACE_INTERNING_H
#define BELFRY_TRACE_INTERNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a string with its 0. Longer ones are cut, between characters. */
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
    X(TRACING_ENDS, "Belfry: tracing ends")                                                        \
    X(DEVICE_LOST, "device lost")                                                                  \
    X(STANDSTILL, "standstill")                                                                    \
    X(STOPPED, "stopped")                                                                          \
    X(PREEMPTED, "preempted")                                                                      \
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
    X(OBJECT, "object")                                                                            \
    X(VALUE, "value")                                                                              \
    X(WAITS_FOR, "waits for")                                                                      \
    X(UNTIMED, "without GPU times")                                                                \
    /* why a packet is, in the order of enum bf_trace_untimed */                                   \
    X(UNTIMED_EMPTY, "no command buffers")                                                         \
    X(UNTIMED_FAMILY, "its queue family has no timestamps")                                        \
    X(UNTIMED_PROTECTED, "its work is protected")                                                  \
    X(UNTIMED_PERFORMANCE, "it has performance queries")                                           \
    X(UNTIMED_PEER, "it waits for another process")                                                \
    X(UNTIMED_SLOTS, "too many were in flight")                                                    \
    X(UNTIMED_UNREAD, "the driver has not written them")                                           \
    X(WINDOW, "a priority window")                                                                 \
    X(PREEMPTION, "a preemption request")                                                          \
    X(SUSPENSION, "a resumption of its queue")                                                     \
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
    X(LATER_BATCH, "later batch")                                                                  \
    X(DESTROYED, "fence destroyed")                                                                \
    X(AT_MOST, "at most")                                                                          \
    X(AT_LEAST_NS, "at least ns")                                                                  \
    X(LINE, "line")                                                                                \
    /* user-mode submission */                                                                     \
    X(RINGS, "rings")                                                                              \
    X(RING_READ, "ring read")                                                                      \
    X(RING_CONNECTED, "doorbell connected")                                                        \
    X(RING_DISCONNECTED, "doorbell taken away")                                                    \
    X(RING_NOTIFIED, "doorbell notified")                                                          \
    X(ENTRIES, "entries")                                                                          \
    X(LEFT, "left")                                                                                \
    X(ENGINE, "engine")                                                                            \
    X(REQUEST, "request")                                                                          \
    X(LATENCY, "latency ns")                                                                       \
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
        BF_STRING_OWN /* numbers below are the trace's own strings */
};

/* A string is written once for each role in each sequence of packets. */
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
    uint64_t next; /* how many names of the program there were */
    uint64_t clock;
    uint8_t announced[BF_STRING_OWN];
    struct bf_string_entry entries[BF_STRING_SETS][BF_STRING_WAYS];
};

/* The number of a program's name, an existing or a new one; 0 for NULL and "". A zeroed struct is
 * ready for use. */
uint64_t bf_interning_number(struct bf_interning *interning, const char *text);

/* NULL for 0 and for a name that was forgotten. Valid until the next bf_interning_number. */
const char *bf_interning_text(const struct bf_interning *interning, uint64_t number);

/* Must the string be written in this role and sequence (0 or 1)? True at most once; false for a
 * name that was forgotten. */
bool bf_interning_announce(struct bf_interning *interning, uint64_t number,
                           enum bf_string_role role, uint32_t sequence);

/* Copies what fits and never cuts a UTF-8 character in two. */
void bf_name_copy(char *to, size_t size, const char *name);

#endif
