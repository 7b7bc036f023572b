// PNG through libpng. Colours are taken as they are stored: no gamma, no background. 16 bits are
// cut to the upper 8, alpha is dropped. Of an animation the first picture.
//
// libpng leaves by longjmp when something is wrong. What runs between a setjmp and its longjmp has
// no object with a destructor; those of the callers outlive the jump.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ge/image/codec.h"

namespace ge_image {
namespace {

// Of a chunk that is no pixels: text, colour profiles.
constexpr size_t kMostChunkBytes = size_t{8} << 20;
constexpr uint32_t kMostChunks = 1000;

class PngReader {
 public:
  explicit PngReader(Bytes in) : left_(in) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, Fail, Warn);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool made() const { return info_ != nullptr; }
  bool ReadHeader() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, Read);
    // Our own limit is checked before rows are allocated, and names the size.
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png_, kMostChunkBytes);
    png_set_chunk_cache_max(png_, kMostChunks);
    png_read_info(png_, info_);
    return true;
  }
  // Allocates rows: after the check of the size.
  bool Prepare() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  // The transformations above give three bytes a pixel; memory depends on it.
  bool is_rgb() const { return png_get_rowbytes(png_, info_) == size_t{3} * width(); }
  // Each pass of an interlaced picture fills in pixels of the rows that are there.
  bool ReadRows(Canvas* canvas) {
    canvas_ = canvas;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass) {
      for (int64_t y = 0; y < canvas->height(); ++y) png_read_row(png_, canvas->row(y), nullptr);
    }
    return true;
  }
  bool by_lines() const { return passes_ == 1; }
  // The rows of canvas->part(), by way of one; what lies below is not looked at.
  bool ReadPart(Canvas* canvas) {
    canvas_ = canvas;
    const ge_image_box& part = canvas->part();
    if (row_ == nullptr) row_.reset(new uint8_t[size_t{width()} * 3]);
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int64_t y = 0; y < part.y + part.height; ++y) {
      png_read_row(png_, row_.get(), nullptr);
      if (y >= part.y) canvas->Line(row_.get() + part.x * 3);
    }
    return true;
  }
  uint32_t width() const { return png_get_image_width(png_, info_); }
  uint32_t height() const { return png_get_image_height(png_, info_); }
  std::string why() const { return why_; }

 private:
  [[noreturn]] static void Fail(png_structp png, png_const_charp text) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->why_, sizeof self->why_, "%s", text);
    png_longjmp(png, 1);
  }
  static void Warn(png_structp, png_const_charp) {}
  static void Read(png_structp png, png_bytep to, size_t n) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    // libpng asks for 8 KiB at most, which inflate to 8 MiB at most.
    if (self->canvas_ != nullptr && self->canvas_->stopped()) png_error(png, "stopped");
    Bytes& left = self->left_;
    if (left.size() < n) png_error(png, "the data are cut short");
    std::memcpy(to, left.data(), n);
    left = left.subspan(n);
  }

  Bytes left_;
  const Canvas* canvas_ = nullptr;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::unique_ptr<uint8_t[]> row_;
  char why_[200] = "";
};

}  // namespace

Outcome DecodePng(Bytes in, Canvas* canvas) {
  PngReader reader(in);
  if (!reader.made()) return {GE_IMAGE_NO_MEMORY, "libpng could not be set up"};
  if (!reader.ReadHeader()) return Corrupt(reader.why());
  if (Outcome size = CheckSize(reader.width(), reader.height()); !size.ok()) return size;
  if (!reader.Prepare()) return Corrupt(reader.why());
  if (!reader.is_rgb()) return Unsupported("libpng does not make it RGB of 8 bits");
  const bool part = canvas->wants_part() && reader.by_lines();
  Outcome begun = part ? canvas->BeginPart(reader.width(), reader.height())
                       : canvas->Begin(reader.width(), reader.height());
  if (!begun.ok()) return begun;
  if (!(part ? reader.ReadPart(canvas) : reader.ReadRows(canvas))) return Corrupt(reader.why());
  return {};
}

}  // namespace ge_image
