#include "ge/ir/type.h"

#include "ge/base/checked.h"

namespace ge {
namespace {

std::string Join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) {
    if (!out.empty()) out += ",";
    out += p;
  }
  return out;
}

std::string DimsToString(const Type& t, const DimTable& dims) {
  if (!t.ranked) return "[?]";
  std::vector<std::string> parts;
  for (const Dim& d : t.dims) parts.push_back(dims.ToString(d));
  return "[" + Join(parts) + "]";
}

constexpr int kMaxPrintedDepth = 64;  // Types nest in files; the verifier refuses deeper ones.

std::string Print(const Type& t, const DimTable& dims, int depth) {
  if (depth > kMaxPrintedDepth) return "...";
  std::vector<std::string> elems;
  for (size_t i = 0; i < t.elems.size(); ++i) {
    const bool named = t.kind == TypeKind::kTuple && i < t.field_names.size();
    elems.push_back((named ? t.field_names[i] + ":" : "") + Print(t.elems[i], dims, depth + 1));
  }
  const std::string dtype(DTypeName(t.dtype));
  switch (t.kind) {
    case TypeKind::kUnknown:
      return "?";
    case TypeKind::kTensor:
      return (IsKnown(t.dtype) ? dtype : "?") + DimsToString(t, dims);
    case TypeKind::kSequence:
      return "seq(" + Join(elems) + ")";
    case TypeKind::kOptional:
      return "opt(" + Join(elems) + ")";
    case TypeKind::kMap:
      return "map(" + dtype + "," + Join(elems) + ")";
    case TypeKind::kTuple:
      return "tuple(" + Join(elems) + ")";
    case TypeKind::kFunc: {
      const size_t split = t.params < elems.size() ? t.params : elems.size();
      const std::vector<std::string> in(elems.begin(), elems.begin() + split);
      const std::vector<std::string> out(elems.begin() + split, elems.end());
      return "func(" + Join(in) + "->" + Join(out) + ")";
    }
    case TypeKind::kPack:
      return "pack(" + std::to_string(t.fn) + ")";
    case TypeKind::kSparse:
      return "sparse(" + dtype + "," + Join(elems) + ")" + DimsToString(t, dims);
    case TypeKind::kRagged:
      return "ragged(" + Join(elems) + ")";
    case TypeKind::kToken:
      return "token";
    case TypeKind::kZero:
      return "zero(" + Join(elems) + ")";
  }
  return "?";
}

}  // namespace

Type::Type(const Type&) = default;
Type& Type::operator=(const Type&) = default;
Type& Type::operator=(Type&&) noexcept = default;
Type::~Type() = default;

bool Type::is_static() const {
  if (!is_tensor() || !ranked) return false;
  for (const Dim& d : dims) {
    if (!d.known()) return false;
  }
  return true;
}

std::vector<int64_t> Type::static_dims() const {
  std::vector<int64_t> out;
  out.reserve(dims.size());
  for (const Dim& d : dims) out.push_back(d.value);
  return out;
}

Type TensorType(DType dtype, std::vector<Dim> dims) {
  Type t;
  t.kind = TypeKind::kTensor;
  t.dtype = dtype;
  t.ranked = true;
  t.dims = std::move(dims);
  return t;
}

Type TensorType(DType dtype, const std::vector<int64_t>& dims) {
  std::vector<Dim> d;
  d.reserve(dims.size());
  for (int64_t v : dims) d.push_back(KnownDim(v));
  return TensorType(dtype, std::move(d));
}

Type UnrankedTensor(DType dtype) {
  Type t;
  t.kind = TypeKind::kTensor;
  t.dtype = dtype;
  return t;
}

std::optional<int64_t> ElementCount(const Type& type) {
  if (!type.is_static()) return std::nullopt;
  int64_t product = 1;
  bool zero = false, fits = true;
  for (const Dim& d : type.dims) {
    if (d.value < 0) return std::nullopt;
    zero |= d.value == 0;
    const auto next = CheckedMul(product, d.value);
    fits &= next.has_value();
    product = next.value_or(1);
  }
  if (zero) return 0;
  return fits ? std::optional(product) : std::nullopt;
}

bool FitsDeclared(const Type& have, const Type& wanted) {
  bool fits = have.is_static() && have.dtype == wanted.dtype && have.rank() == wanted.rank();
  for (size_t i = 0; fits && i < have.rank(); ++i) {
    fits = !wanted.dims[i].known() || wanted.dims[i] == have.dims[i];
  }
  return fits;
}

std::optional<int64_t> ByteCount(const Type& type) {
  const auto count = ElementCount(type);
  if (!count) return std::nullopt;
  return DTypeBytes(type.dtype, *count);
}

std::string TypeToString(const Type& type, const DimTable& dims) { return Print(type, dims, 0); }

}  // namespace ge
