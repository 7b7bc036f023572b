// TIFF through libtiff's reader of whole pictures, in bands of a strip or a row of tiles.
// Orientation tags are ignored, alpha is dropped and not applied, 16 bits are cut to the upper 8.
// Of several pictures the first.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ge/image/codec.h"

#if TIFFLIB_VERSION < 20221213
#error "libtiff 4.5 or later is needed: handlers of errors of one file"
#endif

namespace ge_image {
namespace {

constexpr int64_t kMostTiffAlloc = GE_IMAGE_MAX_PIXELS * 4;

class TiffFile {
 public:
  explicit TiffFile(Bytes in) : in_(in) {
    TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
    if (options == nullptr) return;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMostTiffAlloc);
    TIFFOpenOptionsSetErrorHandlerExtR(options, Error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options, Warning, this);
    // m: reads go through the functions below, which know where the bytes end.
    tif_ = TIFFClientOpenExt("the stream", "rm", this, Read, Write, Seek, Close, Size, nullptr,
                             nullptr, options);
    TIFFOpenOptionsFree(options);
  }
  ~TiffFile() {
    if (tif_ != nullptr) TIFFClose(tif_);
  }
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* tif() { return tif_; }
  // The first error that libtiff told, else `other`.
  std::string Why(const char* other) const { return why_[0] != '\0' ? why_ : other; }

 private:
  static TiffFile* Self(thandle_t h) { return static_cast<TiffFile*>(h); }
  static tmsize_t Read(thandle_t h, void* to, tmsize_t n) {
    TiffFile* f = Self(h);
    if (n <= 0 || f->at_ >= f->in_.size()) return 0;
    const size_t got = std::min(static_cast<size_t>(n), f->in_.size() - f->at_);
    std::memcpy(to, f->in_.data() + f->at_, got);
    f->at_ += got;
    return static_cast<tmsize_t>(got);
  }
  static tmsize_t Write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t Seek(thandle_t h, toff_t to, int from) {
    TiffFile* f = Self(h);
    if (from == SEEK_CUR) to += f->at_;
    if (from == SEEK_END) to += f->in_.size();
    return f->at_ = to;
  }
  static int Close(thandle_t) { return 0; }
  static toff_t Size(thandle_t h) { return Self(h)->in_.size(); }

  // An answer other than 0 keeps libtiff from calling the handler of the whole process, which
  // prints.
  static int Error(TIFF*, void* self, const char*, const char* format, va_list args) {
    auto* f = static_cast<TiffFile*>(self);
    if (f->why_[0] == '\0') std::vsnprintf(f->why_, sizeof f->why_, format, args);
    return 1;
  }
  static int Warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

  Bytes in_;
  uint64_t at_ = 0;
  TIFF* tif_ = nullptr;
  char why_[240] = "";
};

class TiffPicture {
 public:
  explicit TiffPicture(TIFF* tif) {
    made_ = TIFFRGBAImageOK(tif, why_) != 0 && TIFFRGBAImageBegin(&image_, tif, 1, why_) != 0;
    if (!made_) return;
    image_.req_orientation = image_.orientation;  // as it is stored
    for (int v = 0; image_.Bitdepth16To8 != nullptr && v < 65536; ++v) {
      image_.Bitdepth16To8[v] = static_cast<uint8_t>(v >> 8);
    }
  }
  ~TiffPicture() {
    if (made_) TIFFRGBAImageEnd(&image_);
  }
  TiffPicture(const TiffPicture&) = delete;
  TiffPicture& operator=(const TiffPicture&) = delete;
  bool made() const { return made_; }
  const char* why() const { return why_; }

  bool ReadBand(int64_t y, int64_t rows, uint32_t* raster, Canvas* canvas) {
    image_.row_offset = static_cast<int>(y);
    const auto width = static_cast<uint32_t>(canvas->width());
    if (!TIFFRGBAImageGet(&image_, raster, width, static_cast<uint32_t>(rows))) return false;
    for (int64_t r = 0; r < rows; ++r) {
      uint8_t* to = canvas->row(y + r);
      const uint32_t* from = raster + r * canvas->width();
      for (int64_t x = 0; x < canvas->width(); ++x, to += 3) {
        to[0] = static_cast<uint8_t>(TIFFGetR(from[x]));
        to[1] = static_cast<uint8_t>(TIFFGetG(from[x]));
        to[2] = static_cast<uint8_t>(TIFFGetB(from[x]));
      }
    }
    return true;
  }

 private:
  TIFFRGBAImage image_{};
  char why_[1024] = "";
  bool made_ = false;
};

// What libtiff would convert in a way that nobody asked for.
Outcome TiffCheckKind(TIFF* tif) {
  uint16_t photometric = 0, compression = COMPRESSION_NONE;
  TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &photometric);
  TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &compression);
  if (photometric == PHOTOMETRIC_SEPARATED) {
    return Unsupported("its colours are CMYK, wanted gray, a palette, RGB or YCbCr");
  }
  if (compression == COMPRESSION_OJPEG) {
    return Unsupported("its compression is the JPEG of TIFF 6.0, which was withdrawn");
  }
  // Alpha that is said to be applied already is left alone.
  uint16_t extra = 0, *kinds = nullptr;
  if (TIFFGetField(tif, TIFFTAG_EXTRASAMPLES, &extra, &kinds) && extra > 0) {
    const std::vector<uint16_t> applied(extra, EXTRASAMPLE_ASSOCALPHA);
    TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, extra, applied.data());
  }
  return {};
}

}  // namespace

Outcome DecodeTiff(Bytes in, Canvas* canvas) {
  TiffFile file(in);
  TIFF* tif = file.tif();
  if (tif == nullptr) return Corrupt(file.Why("its directory cannot be read"));
  uint32_t width = 0, height = 0, band = 0;
  TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &height);
  if (Outcome size = CheckSize(width, height); !size.ok()) return size;
  if (Outcome kind = TiffCheckKind(tif); !kind.ok()) return kind;
  TiffPicture picture(tif);
  if (!picture.made()) return Unsupported(file.Why(picture.why()));
  TIFFGetFieldDefaulted(tif, TIFFIsTiled(tif) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &band);
  band = std::clamp(band, uint32_t{1}, height);
  if (Outcome begun = canvas->Begin(width, height); !begun.ok()) return begun;
  std::unique_ptr<uint32_t[]> raster(new uint32_t[size_t{width} * band]);
  for (int64_t y = 0; y < height && !canvas->stopped(); y += band) {
    const int64_t rows = std::min<int64_t>(band, height - y);
    if (!picture.ReadBand(y, rows, raster.get(), canvas)) {
      return Corrupt(file.Why("its pixels cannot be decoded"));
    }
  }
  return {};
}

}  // namespace ge_image
