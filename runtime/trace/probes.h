/* SPDX-License-Identifier: MIT */
/*
 * Belfry's probes for tracers of the whole system (bpftrace, perf, SystemTap): static ones of
 * provider 'belfry', each a single nop where nobody listens. docs/probes.md lists them with their
 * arguments.
 *
 * Without <sys/sdt.h> at build (Debian: systemtap-sdt-dev) there are none.
 */
#ifndef BELFRY_TRACE_PROBES_H
#define BELFRY_TRACE_PROBES_H

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define BF_PROBE2(name, a, b)          DTRACE_PROBE2(belfry, name, a, b)
#define BF_PROBE3(name, a, b, c)       DTRACE_PROBE3(belfry, name, a, b, c)
#define BF_PROBE4(name, a, b, c, d)    DTRACE_PROBE4(belfry, name, a, b, c, d)
#define BF_PROBE5(name, a, b, c, d, e) DTRACE_PROBE5(belfry, name, a, b, c, d, e)
#else
#define BF_PROBE2(name, a, b)          ((void)(a), (void)(b))
#define BF_PROBE3(name, a, b, c)       ((void)(a), (void)(b), (void)(c))
#define BF_PROBE4(name, a, b, c, d)    ((void)(a), (void)(b), (void)(c), (void)(d))
#define BF_PROBE5(name, a, b, c, d, e) ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#endif

#endif
