#include <string>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {
namespace {

// A PGM or PPM of 1 to 9 pixels a side, in bytes or in text. The formats of libraries are checked
// by ONNX's node tests.
void ImageDecoderCase(CaseMaker& m) {
  const int64_t width = m.r.Int(1, 9), height = m.r.Int(1, 9),
                greatest = m.r.Pick<int64_t>({255, 255, 1, 7, 100, 254});
  const bool text = m.r.Chance(0.5), color = m.r.Chance(0.6);
  std::string s = "P" + std::to_string((text ? 2 : 5) + (color ? 1 : 0));
  if (m.r.Chance(0.3)) s += "\n# a comment";
  s += "\n" + std::to_string(width) + " " + std::to_string(height) + "\n";
  s += std::to_string(greatest) + "\n";
  for (int64_t i = 0; i < width * height * (color ? 3 : 1); ++i) {
    const int64_t v = m.r.Int(0, greatest);
    if (text) {
      s += std::to_string(v) + (m.r.Chance(0.1) ? "\n" : " ");
    } else {
      s += static_cast<char>(v);
    }
  }
  Dims bytes;
  for (const char c : s) bytes.push_back(static_cast<unsigned char>(c));
  m.Add(m.Ints(DType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes));
  const std::vector<std::string> orders = {"RGB", "BGR", "Grayscale"};
  if (m.r.Chance(0.8)) m.Set("pixel_format", m.r.Pick(orders));
}

// Words up to the samples, read by the library of C++.
bool PlainImageDecoder(const RandomCase& c, HostTensor* out) {
  const HostTensor& in = *c.inputs[0].tensor;
  std::string s;
  for (const int64_t b : Values(in)) s += static_cast<char>(b);
  if (s[3] == '#') s.erase(3, s.find('\n', 3) - 3);  // binary samples may be one, too
  size_t at = 2;
  const auto number = [&] {
    size_t used = 0;
    const int64_t n = std::stoll(s.substr(at), &used);
    at += used;
    return n;
  };
  const int64_t width = number(), height = number(), greatest = number();
  const bool text = s[1] <= '3', color = s[1] == '3' || s[1] == '6';
  const Attr* a = FindAttr(c, "pixel_format");
  const std::string order = a != nullptr ? std::get<std::string>(a->value) : "RGB";
  const int64_t channels = order == "Grayscale" ? 1 : 3;
  if (out->dims != Dims{height, width, channels}) return false;
  if (!text) ++at;
  for (int64_t i = 0; i < width * height; ++i) {
    double rgb[3];
    for (int k = 0; k < (color ? 3 : 1); ++k) {
      const double v = text ? static_cast<double>(number()) : static_cast<unsigned char>(s[at++]);
      rgb[k] = std::floor(v * 255 / static_cast<double>(greatest) + 0.5);
    }
    if (!color) rgb[1] = rgb[2] = rgb[0];
    const double gray = (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 32768) / 65536;
    for (int64_t k = 0; k < channels; ++k) {
      const double v = channels == 1 ? gray : rgb[order == "BGR" ? 2 - k : k];
      SetIntElement(out, i * channels + k, static_cast<int64_t>(v));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(image_decoder) = {"ImageDecoder", ImageDecoderCase, 0, Error::kOfElement,
                               PlainImageDecoder};

}  // namespace ge::test
