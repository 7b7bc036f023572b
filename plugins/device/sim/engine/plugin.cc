// simdev.so: its options stand in sim_engine.h.
#include "plugins/device/sim/engine/sim_engine.h"

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  namespace device = ge_engines::device;
  return device::Describe("simdev", "0.1",
                          [](const ge_create_args& args) -> std::unique_ptr<device::Engine> {
                            return device::sim::SimEngine::Make(args);
                          });
}
