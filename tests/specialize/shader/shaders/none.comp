/* SPDX-License-Identifier: MIT */
// No push constants.
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Out {
    uint word;
} result;
void main()
{
    result.word = 1;
}
