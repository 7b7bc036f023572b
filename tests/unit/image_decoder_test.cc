// The image codecs on pictures that are written here: exact pixels where the text cases have no
// room, and damaged bytes, on which nothing may crash, be printed or be reserved beyond the limit.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ge/control/image_codecs.h"

namespace ge::image_test {
namespace {

using Stream = std::string;
// Packed rows of RGB.
struct Picture {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

struct Decoded {
  int32_t answer = 0;
  std::string why;
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> bytes;
};

// Memory for damaged headers: what claims more is a refusal of ours, not of the codecs.
constexpr int64_t kMostBytes = int64_t{1} << 22;

Decoded DecodeStream(const Stream& stream, int32_t order = GE_IMAGE_RGB) {
  auto decode = ImageCodecs();
  EXPECT_TRUE(decode.ok()) << decode.status().ToString();
  Decoded d;
  if (!decode.ok()) return d;
  ge_image_request request{};
  // A copy of just that size, so that a sanitizer sees a read behind the end.
  const std::vector<uint8_t> exact(stream.begin(), stream.end());
  request.bytes = exact.data();
  request.size = exact.size();
  request.order = order;
  request.self = &d;
  request.reserve = [](void* self, int64_t height, int64_t width, int64_t channels) -> uint8_t* {
    auto* to = static_cast<Decoded*>(self);
    EXPECT_GE(height, 1);
    EXPECT_GE(width, 1);
    EXPECT_LE(height * width, GE_IMAGE_MAX_PIXELS);
    EXPECT_TRUE(to->bytes.empty()) << "reserved twice";
    if (height * width * channels > kMostBytes) return nullptr;
    to->height = height;
    to->width = width;
    to->channels = channels;
    to->bytes.resize(static_cast<size_t>(height * width * channels));
    return to->bytes.data();
  };
  d.answer = (*decode)(&request);
  d.why = request.why;
  return d;
}

void ExpectPicture(const Stream& stream, const Picture& wanted) {
  const Decoded d = DecodeStream(stream);
  ASSERT_EQ(d.answer, GE_IMAGE_OK) << d.why;
  EXPECT_EQ(d.width, wanted.width);
  EXPECT_EQ(d.height, wanted.height);
  EXPECT_EQ(d.channels, 3);
  EXPECT_EQ(d.bytes, wanted.rgb);
}

Picture RandomPicture(std::mt19937_64* bits, int64_t width, int64_t height) {
  Picture p{width, height, {}};
  for (int64_t i = 0; i < width * height * 3; ++i) p.rgb.push_back(static_cast<uint8_t>((*bits)()));
  return p;
}

Stream Little(uint64_t v, int bytes) {
  Stream s;
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> (8 * i));
  return s;
}

Stream Big(uint32_t v) {
  const Stream s = Little(v, 4);
  return {s.rbegin(), s.rend()};
}

// ---- writers -----------------------------------------------------------------------------------

Stream Ppm(const Picture& p) {
  return "P6 " + std::to_string(p.width) + " " + std::to_string(p.height) + " 255\n" +
         Stream(p.rgb.begin(), p.rgb.end());
}

// `pixel` gives the bits of a pixel, `bits` of them.
Stream Bmp(const Picture& p, int bits, const Stream& palette, const Stream& masks,
           const std::function<uint32_t(const uint8_t*)>& pixel, bool top_down = false) {
  Stream rows;
  for (int64_t r = 0; r < p.height; ++r) {
    const int64_t y = top_down ? r : p.height - 1 - r;
    Stream row(static_cast<size_t>((p.width * bits + 31) / 32 * 4), '\0');
    for (int64_t x = 0; x < p.width; ++x) {
      const uint32_t v = pixel(&p.rgb[static_cast<size_t>((y * p.width + x) * 3)]);
      if (bits < 8) {
        row[static_cast<size_t>(x * bits / 8)] |= static_cast<char>(v << (8 - bits - x * bits % 8));
      } else {
        row.replace(static_cast<size_t>(x * bits / 8), static_cast<size_t>(bits / 8),
                    Little(v, bits / 8));
      }
    }
    rows += row;
  }
  const size_t data = 54 + masks.size() + palette.size();
  Stream s = "BM" + Little(data + rows.size(), 4) + Little(0, 4) + Little(data, 4);
  s += Little(40, 4) + Little(static_cast<uint64_t>(p.width), 4);
  s += Little(static_cast<uint64_t>(top_down ? -p.height : p.height), 4) + Little(1, 2);
  s += Little(static_cast<uint64_t>(bits), 2) + Little(masks.empty() ? 0 : 3, 4);
  s += Little(rows.size(), 4) + Little(0, 8) + Little(palette.size() / 4, 4) + Little(0, 4);
  return s + masks + palette + rows;
}

Stream PngChunk(const Stream& kind, const Stream& data) {
  const Stream body = kind + data;
  uint32_t crc = ~uint32_t{0};
  for (const char c : body) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return Big(static_cast<uint32_t>(data.size())) + body + Big(~crc);
}

// `raw`: each row with its filter byte, less than 65536 bytes in all, stored without compression.
Stream Png(const Picture& p, int depth, int color, bool interlaced, const Stream& raw,
           const Stream& chunks = "") {
  Stream header = Big(static_cast<uint32_t>(p.width)) + Big(static_cast<uint32_t>(p.height));
  header += Stream{static_cast<char>(depth), static_cast<char>(color), 0, 0, interlaced};
  uint32_t a = 1, b = 0;
  for (const char c : raw) {
    a = (a + static_cast<uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const Stream packed = Stream("\x78\x01\x01", 3) + Little(raw.size(), 2) + Little(~raw.size(), 2) +
                        raw + Big(b << 16 | a);
  return "\x89PNG\r\n\x1a\n" + PngChunk("IHDR", header) + chunks + PngChunk("IDAT", packed) +
         PngChunk("IEND", "");
}

Stream PngOf(const Picture& p) {
  Stream raw;
  for (int64_t y = 0; y < p.height; ++y) {
    raw += '\0';
    raw.append(p.rgb.begin() + y * p.width * 3, p.rgb.begin() + (y + 1) * p.width * 3);
  }
  return Png(p, 8, 2, false, raw);
}

// One strip; `samples` of `bits` a pixel in little-endian order as they stand in `pixels`.
Stream Tiff(const Picture& p, int samples, int bits, int photometric, const Stream& pixels,
            int extra, int orientation = 1) {
  Stream s = Stream("II*\0", 4) + Little(8 + pixels.size(), 4) + pixels;
  std::vector<std::pair<int, uint64_t>> tags = {
      {256, static_cast<uint64_t>(p.width)},
      {257, static_cast<uint64_t>(p.height)},
      {258, static_cast<uint64_t>(bits)},  // of the first sample; libtiff takes it for all
      {259, 1},
      {262, static_cast<uint64_t>(photometric)},
      {273, 8},
      {274, static_cast<uint64_t>(orientation)},
      {277, static_cast<uint64_t>(samples)},
      {278, static_cast<uint64_t>(p.height)},
      {279, pixels.size()}};
  if (extra >= 0) tags.emplace_back(338, static_cast<uint64_t>(extra));
  s += Little(tags.size(), 2);
  for (const auto& [tag, value] : tags) {
    const bool wide = tag == 273 || tag == 279;
    s += Little(static_cast<uint64_t>(tag), 2) + Little(wide ? 4 : 3, 2) + Little(1, 4) +
         Little(value, 4);
  }
  return s + Little(0, 4);
}

// ---- pixels ------------------------------------------------------------------------------------

TEST(ImageDecoder, BmpOfEveryDepth) {
  std::mt19937_64 bits(1);
  const Picture p = RandomPicture(&bits, 13, 5);
  const auto rgb = [](const uint8_t* c) { return uint32_t{c[0]} << 16 | c[1] << 8 | c[2]; };
  ExpectPicture(Bmp(p, 24, "", "", rgb), p);
  ExpectPicture(Bmp(p, 24, "", "", rgb, true), p);
  ExpectPicture(Bmp(p, 32, "", "", rgb), p);
  const Stream masks = Little(0xff, 4) + Little(0xff0000, 4) + Little(0xff000000, 4);
  ExpectPicture(
      Bmp(p, 32, "", masks,
          [](const uint8_t* c) { return c[0] | uint32_t{c[1]} << 16 | uint32_t{c[2]} << 24; }),
      p);
  Picture five = p;  // as 5 bits a channel give it back
  for (uint8_t& v : five.rgb) v = static_cast<uint8_t>((v >> 3) * 255 / 31);
  ExpectPicture(
      Bmp(p, 16, "", "",
          [](const uint8_t* c) { return uint32_t{c[0]} >> 3 << 10 | c[1] >> 3 << 5 | c[2] >> 3; }),
      five);
  for (const int depth : {1, 4, 8}) {
    Picture few = p;
    Stream palette;
    for (int i = 0; i < 1 << depth; ++i) palette += Little(static_cast<uint64_t>(i) * 70001, 4);
    std::vector<uint32_t> codes;
    for (size_t i = 0; i < few.rgb.size(); i += 3) {
      codes.push_back(few.rgb[i] & ((1u << depth) - 1));
      const uint64_t color = codes.back() * uint64_t{70001};
      few.rgb[i] = static_cast<uint8_t>(color >> 16);
      few.rgb[i + 1] = static_cast<uint8_t>(color >> 8);
      few.rgb[i + 2] = static_cast<uint8_t>(color);
    }
    const auto code = [&](const uint8_t* c) {
      return codes[static_cast<size_t>(c - few.rgb.data()) / 3];
    };
    ExpectPicture(Bmp(few, depth, palette, "", code), few);
  }
}

TEST(ImageDecoder, PngFillsInPassesAndIgnoresTransparency) {
  std::mt19937_64 bits(2);
  const Picture p = RandomPicture(&bits, 1, 1);
  const Stream pixel(p.rgb.begin(), p.rgb.end());
  ExpectPicture(Png(p, 8, 2, true, Stream(1, '\0') + pixel), p);
  // The colour of the pixel is the one that is transparent; gamma is not applied.
  Stream clear;
  for (const char c : pixel) clear += Stream(1, '\0') + c;
  const Stream chunks = PngChunk("gAMA", Big(100000)) + PngChunk("tRNS", clear);
  ExpectPicture(Png(p, 8, 2, false, Stream(1, '\0') + pixel, chunks), p);
  // 2 x 2 in the seven passes of an interlaced file: the first pixel, then its right, then a row.
  const Picture four = RandomPicture(&bits, 2, 2);
  const auto at = [&](size_t i, size_t n) {
    return Stream(1, '\0') + Stream(four.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i),
                                    four.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (i + n)));
  };
  ExpectPicture(Png(four, 8, 2, true, at(0, 1) + at(1, 1) + at(2, 2)), four);
}

TEST(ImageDecoder, TiffAsItIsStored) {
  std::mt19937_64 bits(3);
  const Picture p = RandomPicture(&bits, 5, 4);
  Stream rgb(p.rgb.begin(), p.rgb.end()), rgba, wide;
  for (size_t i = 0; i < p.rgb.size(); ++i) {
    rgba += rgb[i];
    if (i % 3 == 2) rgba += static_cast<char>(bits());
    wide += static_cast<char>(0x80 | bits());  // the lower byte would round up
    wide += rgb[i];
  }
  ExpectPicture(Tiff(p, 3, 8, 2, rgb, -1), p);
  for (const int orientation : {2, 3, 4, 6}) {
    ExpectPicture(Tiff(p, 3, 8, 2, rgb, -1, orientation), p);
  }
  for (const int extra : {0, 1, 2}) ExpectPicture(Tiff(p, 4, 8, 2, rgba, extra), p);
  ExpectPicture(Tiff(p, 3, 16, 2, wide, -1), p);
  Picture gray = p;
  Stream gray_wide;
  for (size_t i = 0; i < p.rgb.size(); i += 3) {
    gray.rgb[i + 1] = gray.rgb[i + 2] = gray.rgb[i];
    gray_wide += static_cast<char>(0xff);
    gray_wide += rgb[i];
  }
  ExpectPicture(Tiff(p, 1, 16, 1, gray_wide, -1), gray);
  EXPECT_EQ(DecodeStream(Tiff(p, 4, 8, 5, rgba, -1)).why,
            "TIFF: its colours are CMYK, wanted gray, a palette, RGB or YCbCr");
}

TEST(ImageDecoder, SizesAreCheckedFirst) {
  Picture huge{1 << 20, 1 << 20, {}};
  const Stream nothing;
  EXPECT_EQ(DecodeStream(Png(huge, 8, 2, false, nothing)).answer, GE_IMAGE_TOO_LARGE);
  EXPECT_EQ(DecodeStream(Tiff(Picture{60000, 60000, {}}, 3, 8, 2, nothing, -1)).answer,
            GE_IMAGE_TOO_LARGE);
  EXPECT_EQ(DecodeStream(Ppm(huge)).answer, GE_IMAGE_TOO_LARGE);
  Stream bmp = Bmp(Picture{1, 1, {0, 0, 0}}, 24, "", "", [](const uint8_t*) { return 0u; });
  bmp.replace(18, 8, Little(0x7fffffff, 4) + Little(0x80000000, 4));
  EXPECT_EQ(DecodeStream(bmp).answer, GE_IMAGE_TOO_LARGE);
  Stream j2k("\xff\x4f\xff\x51\0\x2f\0\0", 8);  // one component of 60000 x 60000 in one tile
  j2k += Big(60000) + Big(60000) + Big(0) + Big(0) + Big(60000) + Big(60000) + Big(0) + Big(0);
  j2k += Stream("\0\3\7\1\1\7\1\1\7\1\1", 11);
  j2k += Stream("\xff\x52\0\x0c\0\0\0\1\1\0\4\4\0\1", 14);  // how it is coded
  j2k += Stream("\xff\x5c\0\4\x40\x40\xff\x90\0\x0a\0\0\0\0\0\x0e\0\1\xff\x93\xff\xd9", 22);
  EXPECT_EQ(DecodeStream(j2k).answer, GE_IMAGE_TOO_LARGE) << DecodeStream(j2k).why;
}

// ---- damage ------------------------------------------------------------------------------------

void ExpectSane(const Stream& stream) {
  for (const int32_t order : {GE_IMAGE_RGB, GE_IMAGE_GRAYSCALE}) {
    const Decoded d = DecodeStream(stream, order);
    ASSERT_GE(d.answer, GE_IMAGE_OK);
    ASSERT_LE(d.answer, GE_IMAGE_REFUSED);
    ASSERT_TRUE(d.answer == GE_IMAGE_OK || d.why.size() > 4) << d.why;
    ASSERT_TRUE(d.answer != GE_IMAGE_OK || !d.bytes.empty());
  }
}

std::vector<Stream> Originals() {
  std::mt19937_64 bits(4);
  const Picture p = RandomPicture(&bits, 7, 6);
  const auto rgb = [](const uint8_t* c) { return uint32_t{c[0]} << 16 | c[1] << 8 | c[2]; };
  const Stream pixels(p.rgb.begin(), p.rgb.end());
  Stream palette;
  for (int i = 0; i < 16; ++i) palette += Little(bits(), 4);
  return {Ppm(p),
          "P1 3 2\n1 0 1 0 1 0",
          "P2 2 2 9\n1 2 3 9",
          "P3 1 2 255\n1 2 3 250 251 252",
          Stream("P4 9 1\n\xa5\x80", 9),
          Stream("P5 2 1 65535\n\1\2\3\4", 17),
          Bmp(p, 24, "", "", rgb),
          Bmp(p, 4, palette, "", [](const uint8_t* c) { return uint32_t{c[0]} & 15; }),
          Bmp(p, 32, "", Little(0xff0000, 4) + Little(0xff00, 4) + Little(0xff, 4), rgb),
          PngOf(p),
          Tiff(p, 3, 8, 2, pixels, -1),
          Tiff(Picture{7, 6, {}}, 1, 16, 1, pixels, -1)};
}

TEST(ImageDecoder, DamagedBytesAreRefusedOrDecoded) {
  std::mt19937_64 bits(20261122);
  for (const Stream& whole : Originals()) {
    ASSERT_EQ(DecodeStream(whole).answer, GE_IMAGE_OK) << DecodeStream(whole).why;
    for (size_t n = 0; n < whole.size(); ++n) ExpectSane(whole.substr(0, n));
    for (int i = 0; i < 600; ++i) {
      Stream s = whole;
      for (uint64_t k = bits() % 4 + 1; k > 0; --k) {
        // Headers decide most: half of the changes go there.
        const size_t among = bits() % 2 == 0 ? std::min<size_t>(s.size(), 64) : s.size();
        constexpr char kSevere[] = {0, 1, 0x7f, '\x80', '\xff', '9'};
        s[bits() % among] =
            bits() % 2 == 0 ? kSevere[bits() % sizeof kSevere] : static_cast<char>(bits());
      }
      if (bits() % 4 == 0) s.resize(bits() % s.size());
      ExpectSane(s);
    }
  }
}

// Bytes that only begin like a format.
TEST(ImageDecoder, NoiseBehindEveryMagic) {
  std::mt19937_64 bits(5);
  const Stream magics[] = {"BM",
                           "\xff\xd8\xff",
                           "\x89PNG\r\n\x1a\n",
                           Stream("II*\0", 4),
                           Stream("MM\0*", 4),
                           Stream("II+\0\x08\0\0\0", 8),
                           Stream("RIFF\x60\0\0\0WEBPVP8L", 16),
                           Stream("RIFF\x60\0\0\0WEBPVP8 ", 16),
                           Stream("\0\0\0\x0cjP  \r\n\x87\n", 12),
                           "\xff\x4f\xff\x51",
                           "P3 ",
                           "P6 ",
                           ""};
  for (const Stream& magic : magics) {
    for (size_t n = 0; n < magic.size(); ++n) ExpectSane(magic.substr(0, n));
    for (int i = 0; i < 300; ++i) {
      Stream s = magic;
      for (uint64_t n = bits() % 120; n > 0; --n)
        s += static_cast<char>(bits() % (n % 3 ? 256 : 4));
      ExpectSane(s);
    }
  }
}

TEST(ImageDecoder, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const Stream& whole : Originals()) {
    for (size_t n = 0; n < whole.size(); n += 3) (void)DecodeStream(whole.substr(0, n));
  }
  (void)DecodeStream(Stream("\xff\xd8\xff\xe0\0\x10JFIF", 10));
  (void)DecodeStream(Stream("\xff\x4f\xff\x51\0\x2f", 6));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace ge::image_test
