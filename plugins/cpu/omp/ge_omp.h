// libge_omp.so: the part of OpenMP's runtime that our CPU engines and oneDNN use, on the host's
// pool of threads, so that one process has one pool. An engine links it before the vendor's
// library; the loader then finds these functions before libgomp's. If the application has libgomp
// itself, in the global scope, the loader finds libgomp first: our engines' own calls use names
// that libgomp lacks, and ge_omp_adopt redirects the vendor's library.
#pragma once

#include <stdint.h>

#include "ge/ge_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Regions run on this host's threads from now on; before, on the calling thread alone. The first
// host stays.
void ge_omp_bind(const ge_host_api* host);
// Whether the caller's OpenMP functions are this library's, bound to a host. `parallel`: the
// caller's address of &GOMP_parallel.
int ge_omp_serves(const void* parallel);

// Redirects a library's OpenMP calls to ours; `library` and `engine` are addresses in it and in the
// engine that brought it. Call it before the library's first call. If the application has opened
// the library before, nothing changes: a region of its own may be under way. Returns whether all
// its calls are ours now; if not, it runs on libgomp's threads. Any thread.
int ge_omp_adopt(const void* library, const void* engine);

// From here on the calling thread's regions run on it alone if the host cannot spare a thread now;
// returns an argument for ge_omp_leave. A launch is one or the other from begin to end: a library
// may divide work by the threads of its first region and collect it in a second.
int ge_omp_enter(void);
void ge_omp_leave(int before);

// For a kernel that was made for a number of threads which wait for each other: until ge_omp_leave
// the calling thread's regions have all that they ask for, in turns with other runs.
int ge_omp_enter_team(void);

#ifdef __cplusplus
}
#endif
