// PictureColumn: pictures of a source, encoded ones or arrays of bytes: their sizes, and parts of
// them resized. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "passes/data/pictures/resize.h"
#include "passes/data/sources/source.h"

namespace ge::data {

// What is kept of a picture.
struct Frame {
  // The box, in pixels; what lies beyond the picture is 0. Height and width 0: the whole picture.
  int64_t x = 0, y = 0, width = 0, height = 0;
  // The box is resized to full_height x full_width (0 and 0: as it is); the window that is kept
  // begins at (top, left), and is 0 beyond it.
  int64_t full_height = 0, full_width = 0, top = 0, left = 0;
};

// Columns of arrays u8[h, w] or u8[c, h, w] of 1 or 3 channels hold pictures, too.
bool HoldsPictures(const Column& column);

class PictureColumn {
 public:
  // Throws where the column holds no pictures.
  PictureColumn(std::shared_ptr<const Source> source, size_t column);
  const Source& source() const { return *source_; }
  // Height and width, by the header alone.
  std::array<int64_t, 2> SizeOf(int64_t row) const;
  // Decodes the whole picture and keeps nothing of it; throws as Draw does.
  void Check(int64_t row, const uint32_t* stop) const;
  // GE_DATA_LOSS as Refusal, with file and row, where the picture is damaged; GE_CANCELLED soon
  // after *stop is not 0, which may be NULL; the rest are mistakes of the caller's.
  void Draw(int64_t row, const Frame& frame, const Planes& to, const uint32_t* stop) const;

 private:
  void DrawArray(int64_t row, const Frame& frame, const Planes& to) const;
  void DrawEncoded(int64_t row, const Frame& frame, const Planes& to, const uint32_t* stop) const;
  const Column& column() const { return source_->columns()[column_]; }
  std::shared_ptr<const Source> source_;
  size_t column_;
};

}  // namespace ge::data
