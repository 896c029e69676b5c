/* SPDX-License-Identifier: MIT */
/* What the tests of isolated builds share: a device to open, requests, and the lines for the user,
 * which are counted instead of written. */
#ifndef BELFRY_TEST_ISOLATE_HELPER_H
#define BELFRY_TEST_ISOLATE_HELPER_H

#include "support/test.h"

#include <volk.h>

#include "specialize/isolate/isolate.h"

extern _Atomic uint32_t lines; /* of warnings */

/* The first device's identity, and the helper of this build; the environment is the program's with
 * those in front, NULL at the end. Skips the program (exit 77) where there is no device. */
struct bf_isolate_info info_of(const char *const *variables);
/* Whether that device has the extension. */
bool isolate_device_has(const char *extension);

/* An empty compute shader; its entry point has that name. 'made' holds what it points to. */
struct made {
    struct bf_build_request request;
    VkComputePipelineCreateInfo compute;
    VkPipelineLayoutCreateInfo layout;
    struct bf_build_code code;
    uint32_t words[64];
};
const struct bf_build_request *empty(struct made *made, const char *entry);

/* bf_isolate_check of one pipeline that is built, and not run. */
VkResult isolate_build(struct bf_isolate *isolate, const struct bf_build_request *request,
                       VkResult *driver_result);

/* The same of empty(), and *driver_result is VK_RESULT_MAX_ENUM where the driver hasn't
 * answered. */
VkResult isolate_build_empty(struct bf_isolate *isolate, const char *entry,
                             VkResult *driver_result);
/* That the driver answers so; that it doesn't answer, for that reason. */
void isolate_assert_builds(struct bf_isolate *isolate, const char *entry, VkResult expected);
void isolate_assert_fails(struct bf_isolate *isolate, const char *entry, VkResult expected);

/* Of a test that is a helper itself. What it says is sent, and a request is received and forgotten:
 * false if the program has gone. Ends the process, with 2, if that can't be. */
struct bf_wire_header;
void own_helper_say(const struct bf_wire_header *header);
bool own_helper_hear(void);
/* Its path, which is this program's own. NULL, with a line: that isn't known. */
const char *own_helper_path(void);

#endif
