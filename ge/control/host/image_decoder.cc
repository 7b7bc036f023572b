#include <fmt/format.h>

#include "ge/base/interrupt.h"
#include "ge/control/host_op.h"
#include "ge/control/image_codecs.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Where the pixels go, as the codecs see it.
struct ImageTarget {
  HostCall* call;
  Status status;

  static uint8_t* Reserve(void* self, int64_t height, int64_t width, int64_t channels) {
    auto* t = static_cast<ImageTarget*>(self);
    std::byte* to = nullptr;
    t->status = t->call->pool->NewTensor(DType::kUint8, {height, width, channels},
                                         &t->call->outputs[0], &to);
    return t->status.ok() ? reinterpret_cast<uint8_t*>(to) : nullptr;
  }
};

Code CodeOfImage(int32_t answer) {
  switch (answer) {
    case GE_IMAGE_UNKNOWN:
      return Code::kInvalidArgument;
    case GE_IMAGE_CORRUPT:
      return Code::kDataCorrupt;
    case GE_IMAGE_UNSUPPORTED:
      return Code::kUnsupported;
    case GE_IMAGE_TOO_LARGE:
      return Code::kLimitExceeded;
    case GE_IMAGE_INTERNAL:
      return Code::kInternal;
    default:
      return Code::kResourceExhausted;
  }
}

Status RunImageDecoder(HostCall& c) {
  const FlowValue& stream = c.in(0);
  if (!stream.is_tensor() || stream.dtype != DType::kUint8 || stream.dims.size() != 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("ImageDecoder: input 'encoded_stream' is {}, wanted u8 of rank 1",
                              Describe(stream)));
  }
  GE_ASSIGN_OR_RETURN(const DecodeImageFn decode, ImageCodecs());
  const std::string_view order = AttrString(c.node, "pixel_format");
  ImageTarget target{&c, {}};
  ge_image_request request{};
  request.bytes = reinterpret_cast<const uint8_t*>(stream.data);
  request.size = stream.bytes;
  request.order = order == "Grayscale" ? GE_IMAGE_GRAYSCALE
                  : order == "BGR"     ? GE_IMAGE_BGR
                                       : GE_IMAGE_RGB;
  request.reserve = ImageTarget::Reserve;
  request.self = &target;
  if (const Interrupt* interrupt = CurrentInterrupt()) request.stop = interrupt->word();
  const int32_t answer = decode(&request);
  if (answer == GE_IMAGE_OK) return {};
  if (!target.status.ok()) return target.status;
  GE_RETURN_IF_ERROR(CheckInterrupt());
  return Status(CodeOfImage(answer), fmt::format("ImageDecoder: {}", request.why));
}

}  // namespace

GE_HOST_OP(image_decoder) = {"", "ImageDecoder", RunImageDecoder};

}  // namespace ge
