/* SPDX-License-Identifier: MIT */
/* How functions of GLSL.std.450 choose. */
#include "specialize/dry_run/choice.h"

#include <spirv/unified1/GLSL.std.450.h>

struct bf_choice bf_choice_of(uint32_t function)
{
    switch (function) {
    case GLSLstd450FMin:
    case GLSLstd450FMax:
    case GLSLstd450NMin:
    case GLSLstd450NMax:
        return (struct bf_choice){BF_CHOICE_ORDER, BF_NUMBER_FLOAT, {5, 6}};
    case GLSLstd450SMin:
    case GLSLstd450SMax:
        return (struct bf_choice){BF_CHOICE_ORDER, BF_NUMBER_INT, {5, 6}};
    case GLSLstd450UMin:
    case GLSLstd450UMax:
        return (struct bf_choice){BF_CHOICE_ORDER, BF_NUMBER_UINT, {5, 6}};
    case GLSLstd450FSign:
        return (struct bf_choice){BF_CHOICE_SIGN, BF_NUMBER_FLOAT, {5}};
    case GLSLstd450SSign:
        return (struct bf_choice){BF_CHOICE_SIGN, BF_NUMBER_INT, {5}};
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
        return (struct bf_choice){BF_CHOICE_CLAMP, BF_NUMBER_FLOAT, {5, 6, 7}};
    case GLSLstd450SClamp:
        return (struct bf_choice){BF_CHOICE_CLAMP, BF_NUMBER_INT, {5, 6, 7}};
    case GLSLstd450UClamp:
        return (struct bf_choice){BF_CHOICE_CLAMP, BF_NUMBER_UINT, {5, 6, 7}};
    case GLSLstd450SmoothStep:
        return (struct bf_choice){BF_CHOICE_CLAMP, BF_NUMBER_FLOAT, {7, 5, 6}};
    case GLSLstd450Step:
        return (struct bf_choice){BF_CHOICE_STEP, BF_NUMBER_FLOAT, {5, 6}};
    case GLSLstd450FaceForward:
        return (struct bf_choice){BF_CHOICE_FORWARD, BF_NUMBER_FLOAT, {5, 6, 7}};
    case GLSLstd450Refract:
        return (struct bf_choice){BF_CHOICE_REFRACT, BF_NUMBER_FLOAT, {5, 6, 7}};
    default:
        return (struct bf_choice){.kind = BF_CHOICE_NONE};
    }
}
