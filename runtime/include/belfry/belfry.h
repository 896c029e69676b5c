/*
 * Belfry's public C API.
 *
 * Self-contained: compiles as C11 and as C++17. Every declaration says what it does, who owns what,
 * whether it may be called from several threads at once, and every error it returns.
 */
#ifndef BELFRY_BELFRY_H
#define BELFRY_BELFRY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BF_VERSION_MAJOR 0
#define BF_VERSION_MINOR 1
#define BF_VERSION_PATCH 0

#if defined(__GNUC__)
#define BF_API __attribute__((visibility("default")))
#else
#define BF_API
#endif

/*
 * The version of the library that was loaded, packed like VK_MAKE_API_VERSION(0, major, minor,
 * patch): it may be newer than the BF_VERSION_* a program was compiled with.
 *
 * Never fails. Thread-safety: safe.
 */
BF_API uint32_t bfGetVersion(void);

/* The name by which the Vulkan loader knows Belfry's layer. */
#define BF_LAYER_NAME "VK_LAYER_BELFRY_multi_engine"

#ifdef __cplusplus
}
#endif

#endif
