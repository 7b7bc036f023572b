// ascend.so: its options stand in ascend_engine.h.
#include "plugins/ascend/ascend_engine.h"

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  namespace device = ge_engines::device;
  return device::Describe("ascend", "0.1",
                          [](const ge_create_args& args) -> std::unique_ptr<device::Engine> {
                            return ge_engines::ascend::AscendEngine::Make(args);
                          });
}
