#include "base/message.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int log_level = BF_MESSAGE_WARNING;

void bf_message_set_level(enum bf_message_level level)
{
    atomic_store(&log_level, (int)level);
}

void bf_message_list(enum bf_message_level level, const char *format, va_list arguments)
{
    if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed))
        return;
    char line[1024] = "belfry: ";
    const int prefix = 8;
    int length = vsnprintf(line + prefix, sizeof(line) - prefix - 1, format, arguments);
    if (length < 0)
        return;
    length += prefix;
    if (length > (int)sizeof(line) - 2)
        length = (int)sizeof(line) - 2;
    line[length++] = '\n';
    /* stderr may be closed; there is nobody left to tell */
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
    (void)ignored;
}

void bf_message(enum bf_message_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bf_message_list(level, format, arguments);
    va_end(arguments);
}
