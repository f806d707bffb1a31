/* SPDX-License-Identifier: MIT
 *
 * What a shared library shows to ctypes.
 */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#if defined(_WIN32)
#define SHARED __declspec(dllexport)
#else
#define SHARED __attribute__((visibility("default")))
#endif

#endif
