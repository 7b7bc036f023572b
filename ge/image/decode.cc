// Which format the bytes are in, and what is the same for all of them.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "ge/image/codec.h"

namespace ge_image {
namespace {

struct Format {
  const char* name;
  bool (*begins)(std::string_view bytes);
  Outcome (*decode)(Bytes in, Canvas* canvas);
};

bool IsPnm(std::string_view b) {
  return b.size() >= 3 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
         (std::strchr(" \t\r\n#", b[2]) != nullptr && b[2] != '\0');
}

// Two formats of the same family whose samples are no bytes, or of any number: not ONNX's either.
bool IsOtherPnm(std::string_view b) {
  return b.starts_with("P7\n") || b.starts_with("PF\n") || b.starts_with("Pf\n");
}

bool IsTiff(std::string_view b) {
  using namespace std::string_view_literals;
  return b.starts_with("II*\0"sv) || b.starts_with("MM\0*"sv) || b.starts_with("II+\0"sv) ||
         b.starts_with("MM\0+"sv);
}

bool IsJpeg2000(std::string_view b) {
  using namespace std::string_view_literals;
  return b.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) || b.starts_with("\xff\x4f\xff\x51"sv);
}

constexpr Format kFormats[] = {
    {"BMP", [](std::string_view b) { return b.starts_with("BM"); }, DecodeBmp},
    {"JPEG", [](std::string_view b) { return b.starts_with("\xff\xd8\xff"); }, DecodeJpeg},
    {"JPEG 2000", IsJpeg2000, DecodeJpeg2000},
    {"PNG", [](std::string_view b) { return b.starts_with("\x89PNG\r\n\x1a\n"); }, DecodePng},
    {"TIFF", IsTiff, DecodeTiff},
    {"WebP",
     [](std::string_view b) {
       return b.size() >= 12 && b.starts_with("RIFF") && b.substr(8, 4) == "WEBP";
     },
     DecodeWebp},
    {"PNM", IsPnm, DecodePnm},
    {"PNM", IsOtherPnm,
     [](Bytes, Canvas*) {
       return Unsupported("PAM and PFM (P7, PF, Pf) are not decoded, wanted P1 to P6");
     }},
};

Outcome Unknown(Bytes in) {
  std::string first;
  for (const uint8_t b : in.first(std::min<size_t>(in.size(), 8))) {
    constexpr const char* kDigits = "0123456789abcdef";
    if (!first.empty()) first += ' ';
    first += kDigits[b >> 4];
    first += kDigits[b & 15];
  }
  return {GE_IMAGE_UNKNOWN,
          "the " + std::to_string(in.size()) + " bytes begin with '" + first +
              "', which is no known format; wanted BMP, JPEG, JPEG 2000, PNG, TIFF, WebP or PNM "
              "(PBM, PGM, PPM)"};
}

Outcome Decode(const ge_image_request& request) {
  const Bytes in(request.bytes, request.size);
  const std::string_view text(reinterpret_cast<const char*>(in.data()),
                              std::min<size_t>(in.size(), 16));
  for (const Format& f : kFormats) {
    if (text.size() < 2 || !f.begins(text)) continue;
    Canvas canvas(request);
    Outcome outcome = f.decode(in, &canvas);
    if (outcome.code == kSizeWasAll) return {};
    if (outcome.ok()) canvas.Finish();
    if (canvas.stopped()) outcome = Stopped();  // whatever came of it
    outcome.why = std::string(f.name) + ": " + outcome.why;
    return outcome;
  }
  return Unknown(in);
}

// RGB as another order; `to` may be `rgb`.
void Reorder(int32_t order, const uint8_t* rgb, int64_t pixels, uint8_t* to) {
  for (int64_t i = 0; i < pixels; ++i) {
    const uint32_t r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    if (order == GE_IMAGE_BGR) {
      to[3 * i] = static_cast<uint8_t>(b);
      to[3 * i + 1] = static_cast<uint8_t>(g);
      to[3 * i + 2] = static_cast<uint8_t>(r);
    } else {
      // ITU-R 601 in 16 bits, as Pillow rounds it.
      to[i] = static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16);
    }
  }
}

}  // namespace

Outcome CheckSize(int64_t width, int64_t height, int64_t samples) {
  const auto size = [&] { return std::to_string(width) + " x " + std::to_string(height); };
  if (width < 1 || height < 1) return Corrupt("its size is " + size() + ", wanted at least 1 x 1");
  // Divided, since the product may not fit.
  if (width > GE_IMAGE_MAX_PIXELS / height) {
    return {GE_IMAGE_TOO_LARGE, "its size is " + size() + ", wanted at most " +
                                    std::to_string(GE_IMAGE_MAX_PIXELS) + " pixels"};
  }
  if (samples > GE_IMAGE_MAX_PIXELS / (width * height)) {
    return {GE_IMAGE_TOO_LARGE, "its size is " + size() + " with " + std::to_string(samples) +
                                    " samples a pixel, wanted at most " +
                                    std::to_string(GE_IMAGE_MAX_PIXELS) + " samples"};
  }
  return {};
}

Outcome Canvas::Begin(int64_t width, int64_t height, int64_t samples) {
  if (Outcome size = CheckSize(width, height, samples); !size.ok()) return size;
  const auto bytes = static_cast<size_t>(width * height * 3);
  if (wants_part()) {
    if (Outcome part = BeginPart(width, height); !part.ok()) return part;
    own_.reset(new uint8_t[bytes]);
    rgb_ = own_.get();
    return {};
  }
  const bool gray = request_.order == GE_IMAGE_GRAYSCALE;
  out_ = request_.reserve(request_.self, height, width, gray ? 1 : 3);
  if (out_ == nullptr) return {GE_IMAGE_REFUSED, "no memory for the picture"};
  width_ = width;
  height_ = height;
  rgb_ = out_;
  if (gray) {
    own_.reset(new uint8_t[bytes]);
    rgb_ = own_.get();
  }
  return {};
}

Outcome Canvas::BeginPart(int64_t width, int64_t height) {
  if (Outcome size = CheckSize(width, height); !size.ok()) return size;
  width_ = width;
  height_ = height;
  part_ = {0, 0, width, height};
  request_.choose(request_.self, height, width, &part_);
  if (part_.width == 0 && part_.height == 0) return {kSizeWasAll, ""};
  const auto within = [](int64_t at, int64_t n, int64_t all) {
    return at >= 0 && n >= 1 && n <= all && at <= all - n;
  };
  if (!within(part_.x, part_.width, width) || !within(part_.y, part_.height, height)) {
    return {GE_IMAGE_REFUSED, "the part that is wanted does not lie within the picture"};
  }
  if (request_.order != GE_IMAGE_RGB) {
    line_.reset(new uint8_t[static_cast<size_t>(part_.width * 3)]);
  }
  return {};
}

void Canvas::Line(const uint8_t* rgb) {
  if (request_.order != GE_IMAGE_RGB) {
    Reorder(request_.order, rgb, part_.width, line_.get());
    rgb = line_.get();
  }
  request_.line(request_.self, rgb);
}

void Canvas::Finish() {
  if (wants_part()) {
    if (rgb_ == nullptr) return;  // the codec has handed out the lines
    for (int64_t y = part_.y; y < part_.y + part_.height && !stopped(); ++y)
      Line(row(y) + part_.x * 3);
    return;
  }
  if (request_.order != GE_IMAGE_RGB) Reorder(request_.order, rgb_, width_ * height_, out_);
}

}  // namespace ge_image

namespace {

int32_t Answer(int32_t code, std::string_view why, ge_image_request* request) {
  const size_t n = std::min(why.size(), sizeof request->why - 1);
  std::memcpy(request->why, why.data(), n);
  request->why[n] = '\0';
  return code;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int32_t ge_image_decode_3(
    ge_image_request* request) {
  // What is thrown must not cross the border.
  try {
    const ge_image::Outcome outcome = ge_image::Decode(*request);
    return Answer(outcome.code, outcome.why, request);
  } catch (const std::bad_alloc&) {
    return Answer(GE_IMAGE_NO_MEMORY, "no memory to decode the picture", request);
  } catch (const std::exception& e) {
    return Answer(GE_IMAGE_INTERNAL, e.what(), request);
  }
}
