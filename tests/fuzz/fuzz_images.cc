// Bytes as an encoded picture: our side of the codecs, instrumented, and the system's libraries
// behind it, which are not.
#include <cstdint>
#include <vector>

#include "ge/ge_image.h"
#include "tests/fuzz/require.h"

namespace {

constexpr int64_t kMostBytes = 1 << 20;  // of a picture that claims to be large

uint8_t* Reserve(void* self, int64_t height, int64_t width, int64_t channels) {
  if (height > kMostBytes / width / channels) return nullptr;
  auto* pixels = static_cast<std::vector<uint8_t>*>(self);
  pixels->resize(static_cast<size_t>(height * width * channels));
  return pixels->data();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint8_t> pixels;
  ge_image_request request{};
  request.bytes = data;
  request.size = size;
  request.order = data[size - 1] % 3;
  request.reserve = Reserve;
  request.self = &pixels;
  const int32_t answer = ge_image_decode_3(&request);
  REQUIRE(answer >= GE_IMAGE_OK && answer < GE_IMAGE_INTERNAL, request.why);
  REQUIRE(answer == GE_IMAGE_OK || request.why[0] != '\0', "refused without words");
  return 0;
}
