/* SPDX-License-Identifier: MIT */
/* Exit codes and error messages: one line on stderr. */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void sample_complain(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
}

VkResult sample_check(VkResult result, const char *call)
{
    if (result < 0)
        sample_complain("%s failed: %s", call, sample_result_name(result));
    return result;
}

const char *sample_result_name(VkResult result)
{
    switch (result) {
#define NAME(enumerant)                                                                            \
    case enumerant:                                                                                \
        return #enumerant
        NAME(VK_SUCCESS);
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_SUBOPTIMAL_KHR);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FORMAT_NOT_SUPPORTED);
        NAME(VK_ERROR_SURFACE_LOST_KHR);
        NAME(VK_ERROR_OUT_OF_DATE_KHR);
        NAME(VK_ERROR_UNKNOWN);
#undef NAME
    default:
        return "an unlisted VkResult";
    }
}
