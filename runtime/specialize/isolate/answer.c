/* SPDX-License-Identifier: MIT */
/* What a check's answer means. */
#include "specialize/isolate/isolate.h"

uint32_t bf_check_answer_form(const struct bf_check_answer *answer, uint32_t form_count)
{
    uint32_t form = form_count;
    for (uint32_t i = 0; i < form_count; i++)
        if (answer->forms[i].reason == BF_REASON_NONE)
            form = i;
    return form;
}
