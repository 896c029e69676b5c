/* SPDX-License-Identifier: MIT */
// Integer hashes, which give the same on every device, unlike functions that use sin().
uint hash(uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

// In [0, 1), from the upper 24 bits, which a float holds exactly.
float unit(uint x)
{
    return float(hash(x) >> 8) * (1.0 / 16777216.0);
}
