// Shared by the readers of the formats: the encoded bytes, error reports, and the canvas to fill
// with RGB. A codec lives for one call, in one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ge/ge_image.h"

namespace ge_image {

using Bytes = std::span<const uint8_t>;

constexpr int32_t kSizeWasAll = -1;  // a caller's wish, OK beyond the codecs

struct Outcome {
  int32_t code = GE_IMAGE_OK;
  std::string why;
  bool ok() const { return code == GE_IMAGE_OK; }
};
inline Outcome Corrupt(std::string why) { return {GE_IMAGE_CORRUPT, std::move(why)}; }
// The caller has asked to end.
inline Outcome Stopped() { return {GE_IMAGE_STOPPED, "decoding was stopped"}; }
inline Outcome Unsupported(std::string why) { return {GE_IMAGE_UNSUPPORTED, std::move(why)}; }

// Whether a picture of that size is decoded at all; products of such sizes and a few bytes do not
// wrap. `samples` of a pixel count where a codec keeps each of them in memory of its own.
Outcome CheckSize(int64_t width, int64_t height, int64_t samples = 1);

// The picture's destination: packed rows of RGB, even if the caller asked for another order or for
// a part.
class Canvas {
 public:
  explicit Canvas(const ge_image_request& request) : request_(request) {}

  // Checks the size, then reserves. Called once, before anything of the picture's size is
  // allocated.
  Outcome Begin(int64_t width, int64_t height, int64_t samples = 1);
  // For a codec that decodes parts: whether one is wanted. Then it calls BeginPart instead of
  // Begin, and Line for each row of part().
  bool wants_part() const { return request_.reserve == nullptr; }
  Outcome BeginPart(int64_t width, int64_t height);
  const ge_image_box& part() const { return part_; }
  void Line(const uint8_t* rgb);
  uint8_t* row(int64_t y) { return rgb_ + y * width_ * 3; }
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  // Whether the caller has asked to end: to be asked every few milliseconds.
  bool stopped() const {
    return request_.stop != nullptr && __atomic_load_n(request_.stop, __ATOMIC_RELAXED) != 0;
  }
  // Brings the RGB into the order of the request; hands out the lines of a part.
  void Finish();

 private:
  const ge_image_request& request_;
  int64_t width_ = 0, height_ = 0;
  uint8_t *out_ = nullptr, *rgb_ = nullptr;
  ge_image_box part_{};
  std::unique_ptr<uint8_t[]> own_;  // the RGB where the caller's memory has one channel, or is none
  std::unique_ptr<uint8_t[]> line_;  // of a part, in the order of the request
};

// value / greatest as eight bits, rounded; value <= greatest < 2^32.
inline uint8_t Scaled(uint64_t value, uint64_t greatest) {
  return static_cast<uint8_t>((value * 255 + greatest / 2) / greatest);
}

// One a format. The bytes begin as the format does.
Outcome DecodeBmp(Bytes in, Canvas* canvas);
Outcome DecodeJpeg(Bytes in, Canvas* canvas);
Outcome DecodeJpeg2000(Bytes in, Canvas* canvas);
Outcome DecodePng(Bytes in, Canvas* canvas);
Outcome DecodePnm(Bytes in, Canvas* canvas);
Outcome DecodeTiff(Bytes in, Canvas* canvas);
Outcome DecodeWebp(Bytes in, Canvas* canvas);

}  // namespace ge_image
