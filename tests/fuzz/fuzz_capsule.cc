// Bytes as a capsule, its directory, manifest and graph, through all of load.
#include "tests/fuzz/load_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ge::fuzz::LoadModel(data, size, GE_FORMAT_CAPSULE);
  return 0;
}
