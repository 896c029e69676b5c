/* SPDX-License-Identifier: MIT */
/*
 * BF_SHARED marks a function of libbelfry that the layer calls although programs may not: visible
 * in the library, absent from the public header, free to change with every version.
 */
#ifndef BELFRY_BASE_EXPORT_H
#define BELFRY_BASE_EXPORT_H

#define BF_SHARED __attribute__((visibility("default")))

#endif
