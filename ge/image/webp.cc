// WebP, lossy and lossless, through libwebp. Alpha is dropped; animations are refused, which the
// library decodes through another one.
#include <webp/decode.h>

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
  code = WebPDecode(in.data(), in.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (code == VP8_STATUS_OUT_OF_MEMORY) return {GE_IMAGE_NO_MEMORY, WebpWhy(code)};
  return code == VP8_STATUS_OK ? Outcome{} : Corrupt(WebpWhy(code));
}

}  // namespace ge_image
