/* SPDX-License-Identifier: MIT */
/* What is written to stderr, kept for a test to read. */
#ifndef BELFRY_TESTS_SUPPORT_CAPTURE_H
#define BELFRY_TESTS_SUPPORT_CAPTURE_H

struct capture {
    int before;
    void *file;
};

void capture_start(struct capture *capture);
/* All that has been written since; the caller frees it. */
char *capture_stop(struct capture *capture);

#endif
