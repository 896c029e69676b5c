/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// Writes one 64-bit value. The host has put the value and its address into a slot.

layout(local_size_x = 1) in;

layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Target {
    uint64_t value;
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Slot {
    uint64_t address;
    uint64_t value;
};

layout(push_constant) uniform Constants {
    uint64_t slot;
};

void main()
{
    Slot s = Slot(slot);
    Target(s.address).value = s.value;
}
