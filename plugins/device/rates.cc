#include "plugins/device/rates.h"

#include <algorithm>

#include "plugins/units/attention/attention.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/movement/reshape.h"

namespace ge_engines::device {
namespace {

constexpr double kPointwiseFlops = 8;  // an element and function; most are fewer, exp and tanh more

// Of a convolution, and of its gradients as well.
double ConvFlops(const ConvSpec& conv) {
  const double weights = static_cast<double>(Product(conv.weights));
  const Dims image = conv.transposed ? conv.src : conv.dst;
  const double pixels = static_cast<double>(Product(image)) / static_cast<double>(image[1]);
  return 2 * pixels * weights;
}

// Of the unit's main operator.
double MainFlops(const Unit& u, const Parser& p) {
  const auto out = static_cast<double>(Product(u.dims));
  if (const auto* product = As<ProductSpec>(u)) {
    const Dims a = p.dims(u.in[0]);
    const auto depth = product->trans_a ? a[a.size() - 2] : a[a.size() - 1];
    return 2 * out * static_cast<double>(depth);
  }
  if (const auto* conv = As<ConvSpec>(u)) return ConvFlops(*conv);
  if (const auto* grad = As<ConvGradSpec>(u)) return ConvFlops(grad->conv);
  if (const auto* attend = As<AttendSpec>(u)) {
    const auto scores = static_cast<double>(attend->batch * attend->heads * attend->rows) *
                        static_cast<double>(attend->keys);
    return 2 * scores * static_cast<double>(attend->size + attend->v_size);
  }
  return u.post_ops.empty() ? kPointwiseFlops * out : 0;
}

}  // namespace

double BytesOf(const Parser& parser, uint32_t value) {
  return static_cast<double>(Product(parser.dims(value))) * parser.size(value);
}

Work WorkOf(const Unit& unit, const Parser& parser) {
  Work w;
  const auto pack = [&](uint32_t v) {
    constexpr uint64_t kAlign = 256;
    if (!parser.constant(v)) return;
    w.packed += (static_cast<uint64_t>(BytesOf(parser, v)) + kAlign - 1) / kAlign * kAlign;
  };
  const auto read = [&](uint32_t v) {
    if (v == 0) return;
    w.bytes += BytesOf(parser, v);
    pack(v);
  };
  for (uint32_t v : unit.out) w.bytes += v == 0 ? 0 : BytesOf(parser, v);
  for (uint32_t v : unit.in) read(v);
  for (uint32_t v : unit.bias) read(v);
  for (const PostOp& q : unit.post_ops) read(q.operand);
  if (Is<NothingSpec>(unit)) return Work{.kernels = 0};
  if (Is<ViewSpec>(unit) && unit.post_ops.empty()) {
    return Work{.border_bytes = w.bytes, .kernels = 0, .packed = w.packed};
  }
  const auto out = static_cast<double>(Product(unit.dims));
  w.flops = MainFlops(unit, parser) +
            kPointwiseFlops * out * static_cast<double>(unit.post_ops.size() + unit.bias.size());
  return w;
}

double NsOf(const Work& work, const Rates& rates) {
  if (work.kernels == 0) return 0;
  const double busy = std::max(work.flops / rates.flops_per_ns, work.bytes / rates.bytes_per_ns);
  return std::max(busy + rates.kernel_ns * work.kernels, rates.queue_ns * work.kernels);
}

double ConversionNsOf(double bytes, const Rates& rates) {
  const double rate =
      rates.convert_bytes_per_ns > 0 ? rates.convert_bytes_per_ns : rates.bytes_per_ns;
  return std::max(rates.kernel_ns + bytes / rate, rates.queue_ns);
}

double BorderNsOf(const Work& work, const Rates& rates) {
  if (work.border_bytes <= 0) return 0;
  return std::max(rates.kernel_ns + work.border_bytes / rates.bytes_per_ns, rates.queue_ns);
}

}  // namespace ge_engines::device
