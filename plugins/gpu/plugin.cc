// gpu.so: its options stand in gpu_engine.h.
#include "plugins/gpu/gpu_engine.h"

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  namespace device = ge_engines::device;
  return device::Describe("gpu", "0.1",
                          [](const ge_create_args& args) -> std::unique_ptr<device::Engine> {
                            return ge_engines::gpu::GpuEngine::Make(args);
                          });
}
