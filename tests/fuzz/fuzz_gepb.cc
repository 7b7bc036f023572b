// Bytes as our own serialized form, through all of load.
#include "tests/fuzz/load_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ge::fuzz::LoadModel(data, size, GE_FORMAT_PROTO);
  return 0;
}
