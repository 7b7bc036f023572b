#include "ge/ops/work.h"

namespace ge {

double ElementsOf(const Type& type) {
  double n = 1;
  if (!type.is_static()) return 0;
  for (const Dim& d : type.dims) n *= static_cast<double>(d.value);
  return n;
}

double BytesOf(std::span<const Type> in, std::span<const Type> out) {
  double bytes = 0;
  for (auto types : {in, out}) {
    for (const Type& t : types) bytes += ElementsOf(t) * DTypeBits(t.dtype) / 8;
  }
  return bytes;
}

Work WorkOf(const OpDef& op, const Node& node, std::span<const Type> in,
            std::span<const Type> out) {
  return op.work ? op.work(node, in, out) : PerOutput<1>(node, in, out);
}

}  // namespace ge
