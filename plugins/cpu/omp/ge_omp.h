// libge_omp.so: the part of OpenMP's runtime that our CPU engines and oneDNN use, on the host's
// pool of threads, so that one process has one pool. An engine links it before the vendor's
// library; the loader then finds these functions before libgomp's. Where the application has
// libgomp itself, in the global scope, the loader finds that one first: our engines' own calls are
// linked to names that libgomp has not, and ge_omp_adopt sees to the vendor's library.
#pragma once

#include <stdint.h>

#include "ge/ge_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Regions run on this host's threads from now on; on the calling thread alone before. The first
// host stays.
void ge_omp_bind(const ge_host_api* host);
// Whether the OpenMP functions that the caller sees are those of this library, bound to a host.
// `parallel`: &GOMP_parallel as the caller has it.
int ge_omp_serves(const void* parallel);

// Makes the calls of OpenMP of a library ours; `library` and `engine` are addresses in it and in
// the engine that brought it. Called before the first call of the library. Nothing is changed where
// the application had opened it before, since a region of its own may be under way. Answers whether
// all its calls are ours now; if not, it is on libgomp's threads. Any thread.
int ge_omp_adopt(const void* library, const void* engine);

// From here on the calling thread's regions have it alone where the host has no thread to spare for
// it now; answers what to hand to ge_omp_leave. A launch is one or the other from its begin to its
// end: a library may divide work by the threads of its first region and collect it in a second.
int ge_omp_enter(void);
void ge_omp_leave(int before);

#ifdef __cplusplus
}
#endif
