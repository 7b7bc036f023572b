// JPEG through libjpeg-turbo, with its defaults: the exact inverse transform and "fancy"
// upsampling, which ONNX asks for. Of a part only the blocks are transformed that it needs: whole
// rows of blocks are skipped, columns are cut, with one block more on each side, where upsampling
// looks.
//
// libjpeg leaves by longjmp when something is wrong. What runs between a setjmp and its longjmp has
// no object with a destructor; those of the callers outlive the jump.
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <memory>

// It wants size_t and FILE from whoever includes it.
#include <jerror.h>
#include <jpeglib.h>

#include "ge/image/codec.h"

namespace ge_image {
namespace {

// A progressive file repeats the whole picture in each scan; encoders write about ten.
constexpr int kMostScans = 500;

struct JpegErrors {
  jpeg_error_mgr base;  // first: libjpeg hands out a pointer to it
  std::jmp_buf back;
  char why[JMSG_LENGTH_MAX];
};

[[noreturn]] void JpegLeave(j_common_ptr c) {
  auto* e = reinterpret_cast<JpegErrors*>(c->err);
  c->err->format_message(c, e->why);
  std::longjmp(e->back, 1);
}

// Warnings are of damaged data, whose pixels would be guessed, but for a few.
void JpegWarn(j_common_ptr c, int level) {
  if (level >= 0) return;  // a trace
  switch (c->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:  // bytes between segments, which some cameras write
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
      return;
    default:
      JpegLeave(c);
  }
}

void JpegSilent(j_common_ptr) {}

// What libjpeg calls for each row of blocks.
struct JpegProgress {
  jpeg_progress_mgr base;  // first, as above
  const Canvas* canvas;
};

void JpegWatch(j_common_ptr c) {
  auto* e = reinterpret_cast<JpegErrors*>(c->err);
  if (reinterpret_cast<JpegProgress*>(c->progress)->canvas->stopped()) std::longjmp(e->back, 1);
  if (reinterpret_cast<j_decompress_ptr>(c)->input_scan_number <= kMostScans) return;
  std::snprintf(e->why, sizeof e->why, "has more than %d scans", kMostScans);
  std::longjmp(e->back, 1);
}

// The bytes in parts, since rows of blocks that are skipped are not told to JpegWatch.
struct JpegSource {
  jpeg_source_mgr base;  // first, as above
  Bytes left;
  static constexpr size_t kPart = 256 << 10;  // some 10 ms

  static void Begin(j_decompress_ptr) {}
  static boolean Fill(j_decompress_ptr d) {
    auto* s = reinterpret_cast<JpegSource*>(d->src);
    static const JOCTET kEnd[] = {0xff, JPEG_EOI};
    if (d->progress != nullptr) JpegWatch(reinterpret_cast<j_common_ptr>(d));
    Bytes part = s->left.first(std::min(kPart, s->left.size()));
    s->left = s->left.subspan(part.size());
    if (part.empty()) {
      WARNMS(d, JWRN_JPEG_EOF);
      part = kEnd;
    }
    s->base.next_input_byte = part.data();
    s->base.bytes_in_buffer = part.size();
    return TRUE;
  }
  static void Skip(j_decompress_ptr d, long bytes) {
    if (bytes <= 0) return;
    auto* s = reinterpret_cast<JpegSource*>(d->src);
    auto n = static_cast<size_t>(bytes);
    const size_t here = std::min(n, s->base.bytes_in_buffer);
    s->base.next_input_byte += here;
    s->base.bytes_in_buffer -= here;
    s->left = s->left.subspan(std::min(n - here, s->left.size()));
  }
  static void End(j_decompress_ptr) {}
};

class JpegReader {
 public:
  explicit JpegReader(const Canvas& canvas) : info_{}, errors_{}, progress_{}, source_{} {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = JpegLeave;
    errors_.base.emit_message = JpegWarn;
    errors_.base.output_message = JpegSilent;
    progress_.base.progress_monitor = JpegWatch;
    progress_.canvas = &canvas;
    source_.base.init_source = JpegSource::Begin;
    source_.base.fill_input_buffer = JpegSource::Fill;
    source_.base.skip_input_data = JpegSource::Skip;
    source_.base.resync_to_restart = jpeg_resync_to_restart;
    source_.base.term_source = JpegSource::End;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  bool ReadHeader(Bytes in) {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.progress = &progress_.base;
    source_.left = in;
    info_.src = &source_.base;
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    return true;
  }
  bool ReadRows(Canvas* canvas) {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = canvas->row(info_.output_scanline);
      jpeg_read_scanlines(&info_, &row, 1);
    }
    return true;
  }
  // The rows of canvas->part(); what lies below is not looked at.
  bool ReadPart(Canvas* canvas) {
    const ge_image_box& part = canvas->part();
    const auto top = static_cast<JDIMENSION>(part.y);
    const auto end = static_cast<JDIMENSION>(part.y + part.height);
    auto left = static_cast<JDIMENSION>(part.x);
    auto width = static_cast<JDIMENSION>(part.width);
    if (row_ == nullptr) row_.reset(new JSAMPLE[size_t{info_.image_width} * 3 + 1]);
    if (setjmp(errors_.back) != 0) return false;
    jpeg_start_decompress(&info_);
    Cut(&left, &width);
    const auto high = static_cast<JDIMENSION>(info_.max_v_samp_factor * DCTSIZE);
    const JDIMENSION above = top / high;
    if (above > 1) jpeg_skip_scanlines(&info_, (above - 1) * high);
    // At an odd place, libjpeg-turbo does not write past the caches, where it is read at once.
    JSAMPROW row = row_.get() + 1;
    while (info_.output_scanline < end) {
      const bool wanted = info_.output_scanline >= top;
      jpeg_read_scanlines(&info_, &row, 1);
      if (wanted) canvas->Line(row + (part.x - left) * 3);
    }
    return true;
  }
  // Each block takes a bit at least, as Huffman codes do. Arithmetic codes need none, and go on
  // behind the end of the data: a file of 8 kB would be decoded for minutes.
  bool HoldsBlocks(uint64_t bytes) const {
    uint64_t blocks = 0;
    for (int i = 0; i < info_.num_components; ++i) {
      const jpeg_component_info& c = info_.comp_info[i];
      blocks += uint64_t{c.width_in_blocks} * c.height_in_blocks;
    }
    return blocks <= 8 * bytes;
  }
  const jpeg_decompress_struct& info() const { return info_; }
  std::string why() const { return errors_.why; }

 private:
  // Widens the columns by a block to each side, and leaves out the others.
  void Cut(JDIMENSION* left, JDIMENSION* width) {
    const auto wide = static_cast<JDIMENSION>(info_.max_h_samp_factor * DCTSIZE);
    const JDIMENSION end = std::min(*left + *width + wide, info_.output_width);
    *left -= std::min(*left, wide);
    *width = end - *left;
    if (*width < info_.output_width) jpeg_crop_scanline(&info_, left, width);
  }

  std::unique_ptr<JSAMPLE[]> row_;
  jpeg_decompress_struct info_;
  JpegErrors errors_;
  JpegProgress progress_;
  JpegSource source_;
};

}  // namespace

Outcome DecodeJpeg(Bytes in, Canvas* canvas) {
  JpegReader reader(*canvas);
  if (!reader.ReadHeader(in)) return Corrupt(reader.why());
  const jpeg_decompress_struct& info = reader.info();
  if (info.jpeg_color_space != JCS_YCbCr && info.jpeg_color_space != JCS_RGB &&
      info.jpeg_color_space != JCS_GRAYSCALE) {
    const bool ink = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    return Unsupported("has " + std::to_string(info.num_components) + " components" +
                       (ink ? " (CMYK)" : "") + ", wanted gray, YCbCr or RGB");
  }
  if (!reader.HoldsBlocks(in.size())) {
    return Corrupt("its " + std::to_string(in.size()) + " bytes cannot hold " +
                   std::to_string(info.image_width) + " x " + std::to_string(info.image_height) +
                   " pixels");
  }
  const bool part = canvas->wants_part();
  const int64_t width = info.image_width, height = info.image_height;
  Outcome begun = part ? canvas->BeginPart(width, height) : canvas->Begin(width, height);
  if (!begun.ok()) return begun;
  if (!(part ? reader.ReadPart(canvas) : reader.ReadRows(canvas))) return Corrupt(reader.why());
  return {};
}

}  // namespace ge_image
