#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferImageDecoder(InferContext& c) {
  const Type& stream = c.input_type(0);
  if (stream.ranked && stream.rank() != 1) {
    return Bad(c.node(),
               fmt::format("input 'encoded_stream' has rank {}, wanted 1", stream.rank()));
  }
  const std::string_view order = AttrString(c.node(), "pixel_format");
  if (order != "RGB" && order != "BGR" && order != "Grayscale") {
    return Bad(c.node(), fmt::format("attribute 'pixel_format' is '{:.40}', wanted RGB, BGR or "
                                     "Grayscale",
                                     order));
  }
  const Dim height = c.FreshDim("height", true), width = c.FreshDim("width", true);
  return SetTensor(c, 0, DType::kUint8, {height, width, KnownDim(order == "Grayscale" ? 1 : 3)});
}

}  // namespace

// The pixels of a picture file: [height, width, channels].
GE_OP(image_decoder) = {"",
                        "ImageDecoder",
                        20,
                        {{"encoded_stream", Bit(DType::kUint8), "T1"}},
                        {{"image", Bit(DType::kUint8), "T2"}},
                        {{"pixel_format", AttrKind::kString, "RGB"}},
                        InferImageDecoder,
                        PerOutput<20>};

}  // namespace ge
