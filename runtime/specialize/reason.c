/* SPDX-License-Identifier: MIT */
/* The codes and texts of reasons. */
#include "specialize/reason.h"

#define CODE(constant, code, text) [constant] = code,
#define TEXT(constant, code, text) [constant] = text,
static const char *const codes[] = {BF_REASONS(CODE)};
static const char *const texts[] = {BF_REASONS(TEXT)};

const char *bf_reason_code(enum bf_reason reason)
{
    return codes[reason < BF_REASON_COUNT ? reason : BF_REASON_NONE];
}

const char *bf_reason_text(enum bf_reason reason)
{
    return texts[reason < BF_REASON_COUNT ? reason : BF_REASON_NONE];
}
