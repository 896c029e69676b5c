/* SPDX-License-Identifier: MIT */
/* A program in C++ that is built against what was installed. */
#include <belfry/belfry.h>

#include <string>

int main()
{
    const std::string layer = BF_LAYER_NAME;
    return bfGetVersion() >> 22 == BF_VERSION_MAJOR && layer.rfind("VK_LAYER_", 0) == 0 ? 0 : 1;
}
