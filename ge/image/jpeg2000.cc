// JPEG 2000, as a file (JP2) and as a bare codestream, through OpenJPEG. Alpha is dropped; samples
// of more than 8 bits are rounded to 8, as Pillow does.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>

#include "ge/image/codec.h"

namespace ge_image {
namespace {

// OpenJPEG's words, without the end of the line; the first that came.
void J2kSay(const char* text, void* why) {
  auto* to = static_cast<std::string*>(why);
  if (!to->empty()) return;
  *to = text;
  while (!to->empty() && to->back() == '\n') to->pop_back();
}
void J2kSilent(const char*, void*) {}

class J2kReader {
 public:
  explicit J2kReader(Bytes in) : in_(in) {
    const bool file = in[0] == 0;
    codec_ = opj_create_decompress(file ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    stream_ = opj_stream_default_create(OPJ_TRUE);
    if (codec_ == nullptr || stream_ == nullptr) return;
    opj_set_error_handler(codec_, J2kSay, &why_);
    opj_set_warning_handler(codec_, J2kSilent, nullptr);
    opj_set_info_handler(codec_, J2kSilent, nullptr);
    opj_stream_set_user_data(stream_, this, nullptr);
    opj_stream_set_user_data_length(stream_, in.size());
    opj_stream_set_read_function(stream_, Read);
    opj_stream_set_skip_function(stream_, Skip);
    opj_stream_set_seek_function(stream_, Seek);
  }
  ~J2kReader() {
    opj_image_destroy(image_);
    opj_destroy_codec(codec_);
    opj_stream_destroy(stream_);
  }
  J2kReader(const J2kReader&) = delete;
  J2kReader& operator=(const J2kReader&) = delete;

  bool ReadHeader() {
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    return codec_ != nullptr && stream_ != nullptr && opj_setup_decoder(codec_, &parameters) &&
           opj_read_header(stream_, codec_, &image_) && image_ != nullptr;
  }
  bool Decode() {
    return opj_decode(codec_, stream_, image_) && opj_end_decompress(codec_, stream_);
  }
  const opj_image_t& image() const { return *image_; }
  std::string why() const { return why_.empty() ? "the data are damaged" : why_; }

 private:
  static J2kReader* Self(void* p) { return static_cast<J2kReader*>(p); }
  static OPJ_SIZE_T Read(void* to, OPJ_SIZE_T n, void* p) {
    J2kReader* r = Self(p);
    if (r->at_ >= r->in_.size()) return static_cast<OPJ_SIZE_T>(-1);
    n = std::min<OPJ_SIZE_T>(n, r->in_.size() - r->at_);
    std::memcpy(to, r->in_.data() + r->at_, n);
    r->at_ += n;
    return n;
  }
  static OPJ_OFF_T Skip(OPJ_OFF_T n, void* p) {
    J2kReader* r = Self(p);
    const auto left = static_cast<OPJ_OFF_T>(r->in_.size() - r->at_);
    if (n < 0 || left == 0) return -1;
    n = std::min(n, left);
    r->at_ += static_cast<size_t>(n);
    return n;
  }
  static OPJ_BOOL Seek(OPJ_OFF_T to, void* p) {
    J2kReader* r = Self(p);
    if (to < 0 || static_cast<uint64_t>(to) > r->in_.size()) return OPJ_FALSE;
    r->at_ = static_cast<size_t>(to);
    return OPJ_TRUE;
  }

  Bytes in_;
  size_t at_ = 0;
  std::string why_;
  opj_codec_t* codec_ = nullptr;
  opj_stream_t* stream_ = nullptr;
  opj_image_t* image_ = nullptr;
};

// One component as eight bits at any place of the picture.
class J2kPlane {
 public:
  J2kPlane(const opj_image_t& image, const opj_image_comp_t& c) : image_(image), c_(c) {
    const int bits = std::clamp(static_cast<int>(c.prec), 1, 31);  // there() refuses others
    offset_ = c.sgnd ? int64_t{1} << (bits - 1) : 0;
    greatest_ = (int64_t{1} << bits) - 1;
    shift_ = bits > 8 ? bits - 8 : 0;
  }
  // False where the component has no samples.
  bool there() const {
    return c_.data != nullptr && c_.w > 0 && c_.h > 0 && c_.prec >= 1 && c_.prec <= 31 &&
           c_.dx > 0 && c_.dy > 0;
  }
  uint8_t At(int64_t x, int64_t y) const {
    // Components of fewer samples are repeated.
    const int64_t cx = std::clamp<int64_t>((image_.x0 + x) / c_.dx - c_.x0, 0, c_.w - 1);
    const int64_t cy = std::clamp<int64_t>((image_.y0 + y) / c_.dy - c_.y0, 0, c_.h - 1);
    const int64_t v = std::clamp<int64_t>(c_.data[cy * c_.w + cx] + offset_, 0, greatest_);
    if (shift_ == 0) return Scaled(static_cast<uint64_t>(v), static_cast<uint64_t>(greatest_));
    const int64_t rounded = (v + (int64_t{1} << (shift_ - 1))) >> shift_;
    return static_cast<uint8_t>(std::min<int64_t>(rounded, 255));
  }

 private:
  const opj_image_t& image_;
  const opj_image_comp_t& c_;
  int64_t offset_ = 0, greatest_ = 0;
  int shift_ = 0;
};

uint8_t J2kCut(double v) { return static_cast<uint8_t>(std::clamp(v + 0.5, 0.0, 255.0)); }

// JFIF's matrix.
void J2kFromYcc(uint8_t* p) {
  const double y = p[0], cb = p[1] - 128.0, cr = p[2] - 128.0;
  p[0] = J2kCut(y + 1.402 * cr);
  p[1] = J2kCut(y - 0.344136 * cb - 0.714136 * cr);
  p[2] = J2kCut(y + 1.772 * cb);
}

// How many samples a pixel has once OpenJPEG has applied a palette, which it does in memory and
// does not tell before. A box is found by its name alone: what looks like one only lowers the
// limit.
int64_t J2kSamples(const opj_image_t& image, Bytes in) {
  int64_t samples = image.numcomps;
  constexpr uint8_t kPalette[] = {'p', 'c', 'l', 'r'}, kData[] = {'j', 'p', '2', 'c'};
  const auto end = std::search(in.begin(), in.end(), std::begin(kData), std::end(kData));
  constexpr std::ptrdiff_t kColumns = 6;  // behind the name and the number of entries
  for (auto at = in.begin();
       (at = std::search(at, end, std::begin(kPalette), std::end(kPalette))) != end; ++at) {
    if (end - at > kColumns) samples = std::max<int64_t>(samples, at[kColumns]);
  }
  return samples;
}

Outcome J2kCheckColors(const opj_image_t& image) {
  const bool known = image.color_space == OPJ_CLRSPC_UNSPECIFIED ||
                     image.color_space == OPJ_CLRSPC_UNKNOWN ||
                     image.color_space == OPJ_CLRSPC_SRGB || image.color_space == OPJ_CLRSPC_GRAY ||
                     image.color_space == OPJ_CLRSPC_SYCC;
  if (!known) return Unsupported("its colours are CMYK or e-YCC, wanted gray, RGB or YCC");
  if (image.numcomps < 1 || image.numcomps > 4) {
    return Unsupported("has " + std::to_string(image.numcomps) + " components, wanted 1 to 4");
  }
  return {};
}

Outcome J2kPaint(const opj_image_t& image, Canvas* canvas) {
  // Of one or two components the first is gray, of three or four the first three are the colours.
  const uint32_t last = image.numcomps >= 3 ? 2 : 0;
  const J2kPlane planes[] = {
      {image, image.comps[0]}, {image, image.comps[last / 2]}, {image, image.comps[last]}};
  for (const J2kPlane& plane : planes) {
    if (!plane.there()) return Corrupt("a component has no samples of 1 to 31 bits");
  }
  const bool ycc = image.color_space == OPJ_CLRSPC_SYCC && last == 2;
  for (int64_t y = 0; y < canvas->height() && !canvas->stopped(); ++y) {
    uint8_t* to = canvas->row(y);
    for (int64_t x = 0; x < canvas->width(); ++x, to += 3) {
      for (int i = 0; i < 3; ++i) to[i] = planes[i].At(x, y);
      if (ycc) J2kFromYcc(to);
    }
  }
  return {};
}

}  // namespace

Outcome DecodeJpeg2000(Bytes in, Canvas* canvas) {
  J2kReader reader(in);
  if (!reader.ReadHeader()) return Corrupt(reader.why());
  const opj_image_t& image = reader.image();
  const int64_t width = int64_t{image.x1} - image.x0, height = int64_t{image.y1} - image.y0;
  // OpenJPEG keeps each sample in four bytes until the end.
  Outcome size = CheckSize(width, height, J2kSamples(image, in));
  if (!size.ok()) return size;
  if (!reader.Decode()) return Corrupt(reader.why());
  // A palette and the colours of a file are known only now.
  if (Outcome colors = J2kCheckColors(image); !colors.ok()) return colors;
  if (Outcome begun = canvas->Begin(width, height); !begun.ok()) return begun;
  return J2kPaint(image, canvas);
}

}  // namespace ge_image
