#include "passes/data/pictures/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "passes/data/pictures/codecs.h"
#include "passes/data/pictures/resize_loops.h"

namespace ge::data {
namespace {

// Taps take 8 bytes for each pixel of a side.
constexpr int64_t kMostSide = 1 << 20;
// So that sums of places stay far from their limits.
constexpr int64_t kMostPlace = int64_t{1} << 40;

// The frame with its sizes filled in, for a picture of that size.
Frame Whole(const Frame& f, int64_t height, int64_t width) {
  Frame out = f;
  if (f.width == 0 && f.height == 0) {
    out.width = width;
    out.height = height;
  }
  if (f.full_height == 0 && f.full_width == 0) {
    out.full_height = out.height;
    out.full_width = out.width;
  }
  const auto side = [](int64_t n) { return n >= 1 && n <= kMostSide; };
  const auto near = [](int64_t n) { return n >= -kMostPlace && n <= kMostPlace; };
  const bool good = side(height) && side(width) && side(out.width) && side(out.height) &&
                    out.full_height >= 1 && out.full_width >= 1 && near(out.full_height) &&
                    near(out.full_width) && near(f.x) && near(f.y) && near(f.top) && near(f.left);
  if (good) return out;
  throw Refusal{GE_OUT_OF_RANGE,
                fmt::format("a picture of {}x{} pixels, box ({}, {}, {}, {}) resized to {}x{}; "
                            "wanted sides of 1 to {} pixels",
                            width, height, f.x, f.y, out.width, out.height, out.full_width,
                            out.full_height, kMostSide)};
}

// Feeds lines of a picture to a resampler, with zeros where the box lies beyond the picture.
class Feeder {
 public:
  Feeder(const Frame& frame, const Planes& to, int64_t height, int64_t width) : to_(to) {
    const Frame f = Whole(frame, height, width);
    resampler_.Begin(f.height, f.width, f.full_height, f.full_width, f.top, f.left, to);
    // In pixels of the picture.
    const int64_t top = f.y + resampler_.first_row(), left = f.x + resampler_.first_column();
    rows_ = resampler_.end_row() - resampler_.first_row();
    columns_ = resampler_.end_column() - resampler_.first_column();
    part_.y = std::clamp<int64_t>(top, 0, height);
    part_.x = std::clamp<int64_t>(left, 0, width);
    part_.height = std::max<int64_t>(std::min(top + rows_, height) - part_.y, 0);
    part_.width = std::max<int64_t>(std::min(left + columns_, width) - part_.x, 0);
    if (part_.height == 0 || part_.width == 0) part_.height = part_.width = 0;
    above_ = part_.height > 0 ? part_.y - top : rows_;
    margin_ = part_.x - left;
  }
  // The part of the picture whose lines Line wants, one after the other; may be empty.
  const ge_image_box& part() const { return part_; }
  // Memory for the pixels of the next line, interleaved.
  uint8_t* line() {
    Zeros(&above_);
    return resampler_.line() + margin_ * to_.channels;
  }
  void Line() {
    resampler_.Line();
    ++fed_;
  }
  void Finish() {
    Zeros(&above_);
    int64_t below = rows_ - fed_;
    Zeros(&below);
    resampler_.Finish();
  }

 private:
  void Zeros(int64_t* lines) {
    if (*lines <= 0) return;
    std::memset(resampler_.line(), 0, static_cast<size_t>(columns_ * to_.channels));
    for (; *lines > 0; --*lines) Line();
  }
  Planes to_;
  Resampler resampler_;
  ge_image_box part_{};
  int64_t rows_ = 0, columns_ = 0, above_ = 0, margin_ = 0, fed_ = 0;
};

// A window of one plane as it is, 0 beyond it. copy(from, n, to): of n pixels, reversed where
// pictures are flipped.
template <class T, class Copy>
void CopyPlane(const uint8_t* from, int64_t height, int64_t width, int64_t top, int64_t left,
               const Planes& to, T zero, T* out, const Copy& copy) {
  const int64_t begin = std::clamp<int64_t>(-left, 0, to.width);
  const int64_t many = std::clamp<int64_t>(width - left, begin, to.width) - begin;
  const int64_t before = to.flip ? to.width - begin - many : begin;
  for (int64_t y = 0; y < to.height; ++y, out += to.width) {
    const int64_t row = top + y;
    if (row < 0 || row >= height) {
      std::fill_n(out, to.width, zero);
      continue;
    }
    std::fill_n(out, before, zero);
    copy(from + row * width + left + begin, many, out + before);
    std::fill_n(out + before + many, to.width - before - many, zero);
  }
}

void CopyWindow(const uint8_t* pixels, int64_t channels, int64_t height, int64_t width, int64_t top,
                int64_t left, const Planes& to) {
  for (int64_t c = 0; c < to.channels; ++c) {
    const uint8_t* from = pixels + (channels == 1 ? 0 : c) * height * width;
    const int64_t at = c * to.height * to.width;
    if (to.floats != nullptr) {
      const float* table = to.table + c * 256;
      CopyPlane(from, height, width, top, left, to, table[0], to.floats + at,
                [&](const uint8_t* line, int64_t n, float* out) {
                  to.loops->look(line, 1, n, to.flip, table, out);
                });
    } else {
      CopyPlane(from, height, width, top, left, to, uint8_t{0}, to.bytes + at,
                [&](const uint8_t* line, int64_t n, uint8_t* out) {
                  to.flip ? std::reverse_copy(line, line + n, out) : std::copy_n(line, n, out);
                });
    }
  }
}

// ITU-R 601 in 16 bits, as the codecs make gray of colours.
uint8_t Gray(uint32_t r, uint32_t g, uint32_t b) {
  return static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16);
}

// What the codecs call back. Nothing may be thrown through them.
struct Decoding {
  const Frame& frame;
  const Planes& to;
  std::optional<Feeder> feeder = {};
  std::optional<Refusal> refused = {};

  static void Choose(void* self, int64_t height, int64_t width, ge_image_box* box) {
    auto* d = static_cast<Decoding*>(self);
    try {
      d->feeder.emplace(d->frame, d->to, height, width);
      *box = d->feeder->part();
    } catch (const Refusal& r) {
      d->refused = r;
    } catch (const std::bad_alloc&) {
      d->refused = Refusal{GE_OUT_OF_MEMORY, "no memory to resize a picture"};
    }
    if (d->refused) box->width = box->height = 0;
  }
  static void Line(void* self, const uint8_t* pixels) {
    auto* d = static_cast<Decoding*>(self);
    const int64_t bytes = d->feeder->part().width * d->to.channels;
    std::memcpy(d->feeder->line(), pixels, static_cast<size_t>(bytes));
    d->feeder->Line();
  }
};

ge_rc CodeOf(int32_t answer) {
  switch (answer) {
    case GE_IMAGE_NO_MEMORY:
      return GE_OUT_OF_MEMORY;
    case GE_IMAGE_INTERNAL:
      return GE_INTERNAL;
    case GE_IMAGE_STOPPED:
      return GE_CANCELLED;
    default:
      return GE_DATA_LOSS;
  }
}

void Decode(const Source& source, size_t column, int64_t row, ge_image_request* request) {
  const Blob blob = source.ReadBlob(column, row);
  request->bytes = reinterpret_cast<const uint8_t*>(blob.bytes.data());
  request->size = blob.bytes.size();
  const int32_t answer = ImageCodecs()(request);
  if (answer == GE_IMAGE_OK) return;
  throw Refusal{CodeOf(answer),
                fmt::format("{}, column '{}': {}; bring the picture back, or add the step 'bad "
                            "replace'",
                            source.NameOfRow(row), source.columns()[column].name, request->why)};
}

}  // namespace

bool HoldsPictures(const Column& c) {
  if (c.kind == Column::Kind::kPicture) return true;
  if (c.kind != Column::Kind::kArray || c.dtype != GE_U8 || !c.classes.empty()) return false;
  const bool channels = c.dims.size() == 3 && (c.dims[0] == 1 || c.dims[0] == 3);
  return (c.dims.size() == 2 || channels) &&
         std::all_of(c.dims.begin(), c.dims.end(), [](int64_t d) { return d > 0; });
}

PictureColumn::PictureColumn(std::shared_ptr<const Source> source, size_t column)
    : source_(std::move(source)), column_(column) {
  if (HoldsPictures(this->column())) return;
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("column '{}' of '{}' holds no pictures; wanted encoded ones, or u8 of "
                            "[h, w] or [1 or 3, h, w] a row",
                            this->column().name, source_->path())};
}

std::array<int64_t, 2> PictureColumn::SizeOf(int64_t row) const {
  const Column& c = column();
  if (c.kind == Column::Kind::kArray) return {c.dims[c.dims.size() - 2], c.dims.back()};
  std::array<int64_t, 2> size{};
  ge_image_request request{};
  request.self = &size;
  request.choose = [](void* self, int64_t height, int64_t width, ge_image_box* box) {
    *static_cast<std::array<int64_t, 2>*>(self) = {height, width};
    box->width = box->height = 0;
  };
  Decode(*source_, column_, row, &request);
  return size;
}

void PictureColumn::Check(int64_t row, const uint32_t* stop) const {
  if (column().kind == Column::Kind::kArray) return;
  ge_image_request request{};
  request.choose = [](void*, int64_t, int64_t, ge_image_box*) {};
  request.line = [](void*, const uint8_t*) {};
  request.stop = stop;
  Decode(*source_, column_, row, &request);
}

void PictureColumn::Draw(int64_t row, const Frame& frame, const Planes& to,
                         const uint32_t* stop) const {
  column().kind == Column::Kind::kArray ? DrawArray(row, frame, to)
                                        : DrawEncoded(row, frame, to, stop);
}

void PictureColumn::DrawArray(int64_t row, const Frame& frame, const Planes& to) const {
  const Column& c = column();
  const auto [height, width] = SizeOf(row);
  const int64_t channels = c.dims.size() == 3 ? c.dims[0] : 1;
  std::vector<uint8_t> pixels(c.row_bytes());
  source_->Read(column_, {&row, 1}, reinterpret_cast<std::byte*>(pixels.data()));
  const Frame f = Whole(frame, height, width);
  const bool all = f.x == 0 && f.y == 0 && f.width == width && f.height == height;
  if (all && f.full_width == width && f.full_height == height && to.channels >= channels) {
    CopyWindow(pixels.data(), channels, height, width, f.top, f.left, to);
    return;
  }
  Feeder feeder(frame, to, height, width);
  const ge_image_box part = feeder.part();
  const int64_t plane = height * width;
  for (int64_t y = part.y; y < part.y + part.height; ++y) {
    const uint8_t* from = pixels.data() + y * width + part.x;
    uint8_t* line = feeder.line();
    for (int64_t x = 0; x < part.width; ++x, ++from) {
      if (to.channels == 1) {
        line[x] = channels == 1 ? from[0] : Gray(from[0], from[plane], from[2 * plane]);
        continue;
      }
      for (int64_t k = 0; k < 3; ++k) line[3 * x + k] = from[channels == 1 ? 0 : k * plane];
    }
    feeder.Line();
  }
  feeder.Finish();
}

void PictureColumn::DrawEncoded(int64_t row, const Frame& frame, const Planes& to,
                                const uint32_t* stop) const {
  Decoding decoding{frame, to};
  ge_image_request request{};
  request.order = to.channels == 1 ? GE_IMAGE_GRAYSCALE : GE_IMAGE_RGB;
  request.self = &decoding;
  request.choose = Decoding::Choose;
  request.line = Decoding::Line;
  request.stop = stop;
  Decode(*source_, column_, row, &request);
  if (decoding.refused) {
    throw Refusal{decoding.refused->rc,
                  fmt::format("{}: {}", source_->NameOfRow(row), decoding.refused->text)};
  }
  decoding.feeder->Finish();
}

}  // namespace ge::data
