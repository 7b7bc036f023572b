// PBM, PGM and PPM, as text (P1 to P3) and as bytes (P4 to P6). Samples are scaled by what the
// header calls the greatest one. A file of several pictures gives the first.
#include "ge/image/codec.h"

namespace ge_image {
namespace {

constexpr int64_t kGreatestNumber = int64_t{1} << 40;  // no number of a legal file is near it

class PnmText {
 public:
  explicit PnmText(Bytes in) : in_(in) {}
  size_t at = 2;  // behind the magic

  // The next number, behind white space and comments; -1 where there is none.
  int64_t Number() {
    Skip();
    if (at >= in_.size() || !IsDigit(in_[at])) return -1;
    int64_t n = 0;
    for (; at < in_.size() && IsDigit(in_[at]) && n < kGreatestNumber; ++at) {
      n = n * 10 + (in_[at] - '0');
    }
    return n;
  }
  // A 0 or 1, which need no space between them.
  int Bit() {
    Skip();
    if (at >= in_.size() || (in_[at] != '0' && in_[at] != '1')) return -1;
    return in_[at++] - '0';
  }
  bool Space() { return at < in_.size() && IsSpace(in_[at++]); }

 private:
  static bool IsDigit(uint8_t c) { return c >= '0' && c <= '9'; }
  static bool IsSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void Skip() {
    for (; at < in_.size(); ++at) {
      if (in_[at] == '#') {
        while (at + 1 < in_.size() && in_[at] != '\n') ++at;
      } else if (!IsSpace(in_[at])) {
        return;
      }
    }
  }
  Bytes in_;
};

struct PnmHeader {
  int kind;  // the digit of the magic
  int64_t width, height, greatest = 1;
  int channels() const { return kind == 3 || kind == 6 ? 3 : 1; }
  bool bits() const { return kind == 1 || kind == 4; }
  int sample_bytes() const { return greatest > 255 ? 2 : 1; }
  int64_t row_bytes() const {
    return kind == 4 ? (width + 7) / 8 : width * channels() * sample_bytes();
  }
};

void PnmPut(const PnmHeader& h, int64_t x, int channel, uint8_t value, uint8_t* row) {
  if (h.channels() == 3) {
    row[3 * x + channel] = value;
  } else {
    row[3 * x] = row[3 * x + 1] = row[3 * x + 2] = value;
  }
}

Outcome PnmSampleAbove(int64_t sample, const PnmHeader& h) {
  return Corrupt("a sample is " + std::to_string(sample) + ", wanted 0 to " +
                 std::to_string(h.greatest));
}

Outcome PnmFromText(const PnmHeader& h, PnmText text, Canvas* canvas) {
  for (int64_t y = 0; y < h.height && !canvas->stopped(); ++y) {
    uint8_t* row = canvas->row(y);
    for (int64_t i = 0; i < h.width * h.channels(); ++i) {
      const int64_t v = h.bits() ? text.Bit() : text.Number();
      if (v < 0) {
        return Corrupt("no sample at byte " + std::to_string(text.at) + ", in row " +
                       std::to_string(y) + " of " + std::to_string(h.height));
      }
      if (v > h.greatest) return PnmSampleAbove(v, h);
      const uint64_t light = static_cast<uint64_t>(h.bits() ? 1 - v : v);
      PnmPut(h, i / h.channels(), static_cast<int>(i % h.channels()),
             Scaled(light, static_cast<uint64_t>(h.greatest)), row);
    }
  }
  return {};
}

Outcome PnmFromBytes(const PnmHeader& h, const uint8_t* from, Canvas* canvas) {
  for (int64_t y = 0; y < h.height && !canvas->stopped(); ++y, from += h.row_bytes()) {
    uint8_t* row = canvas->row(y);
    for (int64_t i = 0; i < h.width * h.channels(); ++i) {
      int64_t v = 0;
      if (h.bits()) {
        v = 1 - ((from[i / 8] >> (7 - i % 8)) & 1);  // a 1 is black
      } else {
        v = h.sample_bytes() == 2 ? from[2 * i] << 8 | from[2 * i + 1] : from[i];
      }
      if (v > h.greatest) return PnmSampleAbove(v, h);
      PnmPut(h, i / h.channels(), static_cast<int>(i % h.channels()),
             Scaled(static_cast<uint64_t>(v), static_cast<uint64_t>(h.greatest)), row);
    }
  }
  return {};
}

}  // namespace

Outcome DecodePnm(Bytes in, Canvas* canvas) {
  PnmText text(in);
  PnmHeader h{in[1] - '0', 0, 0};
  h.width = text.Number();
  h.height = text.Number();
  if (!h.bits()) h.greatest = text.Number();
  if (h.width < 0 || h.height < 0 || h.greatest < 0) return Corrupt("its header is cut short");
  if (h.greatest < 1 || h.greatest > 65535) {
    return Corrupt("its greatest sample is " + std::to_string(h.greatest) + ", wanted 1 to 65535");
  }
  if (Outcome size = CheckSize(h.width, h.height); !size.ok()) return size;
  const bool as_text = h.kind <= 3;
  if (!as_text && !text.Space()) return Corrupt("its header is cut short");
  // In text a sample takes a digit at least, and a space before the next one unless it is a bit.
  const int64_t samples = h.width * h.height * h.channels();
  const int64_t wanted = !as_text ? h.row_bytes() * h.height : h.bits() ? samples : 2 * samples - 1;
  const auto there = static_cast<int64_t>(in.size() - text.at);
  if (there < wanted) {
    return Corrupt("has " + std::to_string(there) + " bytes of samples, wanted " +
                   (as_text ? "at least " : "") + std::to_string(wanted));
  }
  if (Outcome begun = canvas->Begin(h.width, h.height); !begun.ok()) return begun;
  return as_text ? PnmFromText(h, text, canvas) : PnmFromBytes(h, in.data() + text.at, canvas);
}

}  // namespace ge_image
