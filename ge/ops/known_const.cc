#include "ge/ops/known_const.h"

#include <cstring>

namespace ge {
namespace {

// Appends `v` as one element; false when the dtype cannot hold it.
template <typename T>
bool Append(int64_t v, std::vector<std::byte>* out) {
  const T x = static_cast<T>(v);
  if (static_cast<int64_t>(x) != v || (v < 0) != (x < T{0})) return false;
  const size_t at = out->size();
  out->resize(at + sizeof x);
  std::memcpy(out->data() + at, &x, sizeof x);
  return true;
}

bool AppendAs(DType dtype, int64_t v, std::vector<std::byte>* out) {
  switch (dtype) {
    case DType::kInt64:
      return Append<int64_t>(v, out);
    case DType::kInt32:
      return Append<int32_t>(v, out);
    case DType::kInt16:
      return Append<int16_t>(v, out);
    case DType::kInt8:
      return Append<int8_t>(v, out);
    case DType::kUint64:
      return v >= 0 && Append<int64_t>(v, out);
    case DType::kUint32:
      return Append<uint32_t>(v, out);
    case DType::kUint16:
      return Append<uint16_t>(v, out);
    case DType::kUint8:
      return Append<uint8_t>(v, out);
    case DType::kBool:
      return (v == 0 || v == 1) && Append<uint8_t>(v, out);
    default:
      return false;
  }
}

}  // namespace

std::optional<Const> KnownConst(const Value& value) {
  if (!value.ints || ElementCount(value.type) != static_cast<int64_t>(value.ints->size()))
    return std::nullopt;
  std::vector<std::byte> bytes;
  for (const Dim& d : *value.ints) {
    if (!d.known() || !AppendAs(value.type.dtype, d.value, &bytes)) return std::nullopt;
  }
  return MakeConst(value.type, bytes.data(), bytes.size());
}

}  // namespace ge
