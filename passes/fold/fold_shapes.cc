#include "passes/fold/fold_shapes.h"

#include <cstring>

#include "passes/purity.h"

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

// The constant that the value is known to be, if it is.
std::optional<Const> KnownConst(const Value& v) {
  if (!v.ints || ElementCount(v.type) != static_cast<int64_t>(v.ints->size())) return std::nullopt;
  std::vector<std::byte> bytes;
  for (const Dim& d : *v.ints) {
    if (!d.known() || !AppendAs(v.type.dtype, d.value, &bytes)) return std::nullopt;
  }
  return MakeConst(v.type, bytes.data(), bytes.size());
}

void FoldNode(Transaction& t, FunctionId fn, size_t index) {
  const std::vector<ValueId> outputs = t.graph().fn(fn).nodes[index].outputs;
  const NodeId id = t.graph().fn(fn).nodes[index].id;
  bool all = true;
  for (ValueId v : outputs) {
    if (!v) continue;
    std::optional<Const> c = KnownConst(t.graph().fn(fn).value(v));
    const bool read = t.IsResult(fn, v) || !t.Readers(fn, v).empty();
    if (c && read) {
      t.ReplaceUses(fn, v, t.AddConst(fn, std::move(*c)));
    } else if (read) {
      all = false;
    }
  }
  if (all) t.Erase(fn, id);
}

}  // namespace

Status FoldShapes::Run(Transaction& t, const PassContext&) {
  for (FunctionId fn = 1; fn < t.graph().functions.size(); ++fn) {
    const size_t count = t.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Function& f = t.graph().fn(fn);
      const Node& n = f.nodes[i];
      bool any = false;
      for (ValueId v : n.outputs) any |= v && f.value(v).ints.has_value();
      if (n.id && any && IsPure(t.graph(), n)) FoldNode(t, fn, i);
    }
  }
  return {};
}

}  // namespace ge
