// Bytes as the text form of a graph, through all of load.
#include "tests/fuzz/load_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ge::fuzz::LoadModel(data, size, GE_FORMAT_TEXT);
  return 0;
}
