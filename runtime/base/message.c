/* SPDX-License-Identifier: MIT */
/* Messages to the user: to stderr, or to the program's callback (bfSetMessageCallback). */
#include "base/message.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/lock.h"

#define PREFIX      "belfry: "
#define PREFIX_SIZE (sizeof(PREFIX) - 1)

static _Atomic int log_level = BF_MESSAGE_WARNING;

/* The program's callback. bfSetMessageCallback waits until no thread is in the former callback. For
 * that, calls are counted, in one of two counters: 'turn' says in which. So calls of the new
 * callback, in the other counter, don't prolong the wait. */
static struct {
    _Atomic bool set; /* false: there is no callback, and the rest isn't read */
    struct bf_lock lock;
    PFN_bfMessageCallback function;
    void *context;
    uint32_t turn;
    uint32_t calls[2];
    struct bf_signpost returned;
    struct bf_lock setter_lock; /* held by bfSetMessageCallback; taken first */
} callback;

/* The thread is in a callback. In the static TLS block, as in background/worker_pool.c. */
static _Thread_local bool in_callback __attribute__((tls_model("initial-exec")));

void bf_message_set_level(enum bf_message_level level)
{
    atomic_store(&log_level, (int)level);
}

/* Passes a message to the callback. False: there is none. */
static bool message_call_back(enum bf_message_level level, const char *text)
{
    if (in_callback || !atomic_load(&callback.set))
        return false;
    bf_lock_acquire(&callback.lock);
    PFN_bfMessageCallback function = callback.function;
    void *context = callback.context;
    uint32_t turn = callback.turn;
    callback.calls[turn] += function != NULL;
    bf_lock_release(&callback.lock);
    if (!function)
        return false;
    in_callback = true;
    function((BfMessageSeverity)level, text, context);
    in_callback = false;
    bf_lock_acquire(&callback.lock);
    callback.calls[turn]--;
    bf_lock_release(&callback.lock);
    bf_signpost_announce(&callback.returned);
    return true;
}

VkResult bfSetMessageCallback(PFN_bfMessageCallback pfnCallback, void *pUserData)
{
    if (in_callback) {
        bf_message(BF_MESSAGE_ERROR, "bfSetMessageCallback: called by the callback");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_lock_acquire(&callback.setter_lock);
    bf_lock_acquire(&callback.lock);
    uint32_t former = callback.turn;
    callback.turn = !former;
    callback.function = pfnCallback;
    callback.context = pUserData;
    atomic_store(&callback.set, pfnCallback != NULL);
    bf_lock_release(&callback.lock);
    bool timed_out = false;
    uint32_t ticket = bf_signpost_enter(&callback.returned);
    for (;;) {
        bf_lock_acquire(&callback.lock);
        bool over = callback.calls[former] == 0;
        bf_lock_release(&callback.lock);
        if (over)
            break;
        ticket = bf_signpost_sleep(&callback.returned, ticket, NULL, &timed_out);
    }
    bf_signpost_leave(&callback.returned);
    bf_lock_release(&callback.setter_lock);
    return VK_SUCCESS;
}

static void message_send(enum bf_message_level level, bool callable, const char *format,
                         va_list arguments)
{
    if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed))
        return;
    char line[1024] = PREFIX;
    int printed = vsnprintf(line + PREFIX_SIZE, sizeof(line) - PREFIX_SIZE - 1, format, arguments);
    if (printed < 0 || (callable && message_call_back(level, line + PREFIX_SIZE)))
        return;
    size_t length = PREFIX_SIZE + (size_t)printed;
    if (length > sizeof(line) - 2)
        length = sizeof(line) - 2;
    line[length++] = '\n';
    /* There is nothing to be done where stderr is closed. */
    ssize_t ignored = write(STDERR_FILENO, line, length);
    (void)ignored;
}

void bf_message_list(enum bf_message_level level, const char *format, va_list arguments)
{
    message_send(level, true, format, arguments);
}

void bf_message(enum bf_message_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_send(level, true, format, arguments);
    va_end(arguments);
}

void bf_message_at_exit(enum bf_message_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_send(level, false, format, arguments);
    va_end(arguments);
}
