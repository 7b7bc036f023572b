// The context that is current in the calling thread.
#pragma once

namespace ge_engines::gpu::sim {

// Its device; -1: the thread has none.
int CurrentDevice();

}  // namespace ge_engines::gpu::sim
