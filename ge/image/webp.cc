// WebP, lossy and lossless, through libwebp. Alpha is dropped; animations are refused, which the
// library decodes through another one.
#include <webp/decode.h>

#include <algorithm>

#include "ge/image/codec.h"

namespace ge_image {
namespace {

const char* WebpWhy(VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "libwebp has no memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "uses what libwebp does not decode";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "the data are cut short";
    default:
      return "the data are damaged";
  }
}

// Hands in a part of the bytes after the other, so that decoding can be stopped between them.
VP8StatusCode WebpDecodeByParts(Bytes in, WebPDecoderConfig* config, const Canvas& canvas) {
  constexpr size_t kPart = 64 << 10;  // some 10 ms
  WebPIDecoder* decoder = WebPIDecode(nullptr, 0, config);
  if (decoder == nullptr) return VP8_STATUS_OUT_OF_MEMORY;
  VP8StatusCode code = VP8_STATUS_SUSPENDED;
  for (size_t at = 0; at < in.size() && code == VP8_STATUS_SUSPENDED && !canvas.stopped();) {
    at += std::min(kPart, in.size() - at);
    code = WebPIUpdate(decoder, in.data(), at);
  }
  WebPIDelete(decoder);
  return code;
}

}  // namespace

Outcome DecodeWebp(Bytes in, Canvas* canvas) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return Unsupported("libwebp is of another version");
  VP8StatusCode code = WebPGetFeatures(in.data(), in.size(), &config.input);
  if (code != VP8_STATUS_OK) return Corrupt(WebpWhy(code));
  if (config.input.has_animation) return Unsupported("it is an animation, wanted one picture");
  Outcome begun = canvas->Begin(config.input.width, config.input.height);
  if (!begun.ok()) return begun;
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = canvas->row(0);
  config.output.u.RGBA.stride = static_cast<int>(canvas->width() * 3);
  config.output.u.RGBA.size = static_cast<size_t>(canvas->width() * canvas->height() * 3);
  code = WebpDecodeByParts(in, &config, *canvas);
  WebPFreeDecBuffer(&config.output);
  if (code == VP8_STATUS_OUT_OF_MEMORY) return {GE_IMAGE_NO_MEMORY, WebpWhy(code)};
  return code == VP8_STATUS_OK ? Outcome{} : Corrupt(WebpWhy(code));
}

}  // namespace ge_image
