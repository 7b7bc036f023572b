#include "ge/engine/from_abi.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/engine/view.h"

namespace ge {
namespace {

constexpr int32_t kMaxRank = 32;            // more than VERIFY lets any value have
constexpr uint32_t kMaxElements = 1 << 20;  // of a list that is an attribute

Status CheckList(const ge_attr& a, const void* list) {
  if (a.n <= kMaxElements && (a.n == 0 || list != nullptr)) return {};
  return NotLegal(
      fmt::format("attribute '{}' has {} elements at {}; wanted at most {}, and where they "
                  "are",
                  TextOf(a.name), a.n, fmt::ptr(list), kMaxElements));
}

Status CheckDType(int32_t dtype) {
  if (dtype > 0 && dtype < kDTypeCount) return {};
  return NotLegal(fmt::format("dtype {} is none of GE_F32 ... GE_F6E3M2", dtype));
}

}  // namespace

Status NotLegal(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

Result<Type> StaticTypeFromAbi(const ge_type& type) {
  GE_RETURN_IF_ERROR(CheckDType(type.dtype));
  const bool legal = type.dtype != GE_STRING && type.rank >= 0 && type.rank <= kMaxRank &&
                     (type.rank == 0 || type.dims);
  if (!legal) {
    return NotLegal(
        fmt::format("a type of dtype {} and rank {} is given; wanted numbers of a known "
                    "rank up to {}",
                    type.dtype, type.rank, kMaxRank));
  }
  const std::vector<int64_t> dims(type.dims, type.dims + (type.rank > 0 ? type.rank : 0));
  for (const int64_t d : dims) {
    if (d < 0) return NotLegal(fmt::format("a size is {}; wanted a known one", d));
  }
  return TensorType(static_cast<DType>(type.dtype), dims);
}

Result<Type> TypeFromAbi(int32_t dtype, int32_t rank, const ge_dim* dims, const DimTable& table) {
  GE_RETURN_IF_ERROR(CheckDType(dtype));
  if (rank < -1 || rank > kMaxRank || (rank > 0 && !dims)) {
    return NotLegal(
        fmt::format("a type of rank {} is given; wanted up to {}, and its sizes", rank, kMaxRank));
  }
  Type t = UnrankedTensor(static_cast<DType>(dtype));
  t.ranked = rank >= 0;
  for (int32_t i = 0; i < rank; ++i) {
    const auto d = DimFromAbi(dims[i], table);
    if (!d) {
      return NotLegal(fmt::format("size {} is {} with id {}; wanted a number, or one of a picture",
                                  i, dims[i].value, dims[i].id));
    }
    t.dims.push_back(*d);
  }
  return t;
}

Result<Const> ConstFromAbi(const ge_type& type, const void* data, uint64_t bytes) {
  GE_ASSIGN_OR_RETURN(Type t, StaticTypeFromAbi(type));
  const auto wanted = ByteCount(t);
  if (!wanted || static_cast<uint64_t>(*wanted) != bytes || (bytes > 0 && data == nullptr)) {
    return NotLegal(fmt::format("a constant of {} bytes is given {}", wanted.value_or(-1), bytes));
  }
  return MakeConst(std::move(t), data, bytes);
}

Result<Attr> AttrFromAbi(const ge_attr& attr, const std::function<ConstId(Const)>& add_const,
                         size_t functions) {
  Attr out{TextOf(attr.name), int64_t{0}};
  if (out.name.empty()) return NotLegal("an attribute has no name");
  switch (attr.kind) {
    case GE_ATTR_INT:
      return out.value = attr.i, out;
    case GE_ATTR_FLOAT:
      return out.value = attr.f, out;
    case GE_ATTR_STRING:
      return out.value = TextOf(attr.s, kMaxElements), out;
    case GE_ATTR_INTS:
      GE_RETURN_IF_ERROR(CheckList(attr, attr.ints));
      return out.value = std::vector<int64_t>(attr.ints, attr.ints + attr.n), out;
    case GE_ATTR_FLOATS:
      GE_RETURN_IF_ERROR(CheckList(attr, attr.floats));
      return out.value = std::vector<double>(attr.floats, attr.floats + attr.n), out;
    case GE_ATTR_STRINGS: {
      GE_RETURN_IF_ERROR(CheckList(attr, attr.strings));
      std::vector<std::string> texts;
      for (uint32_t i = 0; i < attr.n; ++i) texts.push_back(TextOf(attr.strings[i], kMaxElements));
      return out.value = std::move(texts), out;
    }
    case GE_ATTR_TENSOR: {
      GE_ASSIGN_OR_RETURN(Const c, ConstFromAbi(attr.tensor_type, attr.tensor, attr.tensor_bytes));
      return out.value = ConstRef{add_const(std::move(c))}, out;
    }
    case GE_ATTR_FUNCTION:
      if (attr.i <= 0 || static_cast<uint64_t>(attr.i) >= functions) {
        return NotLegal(fmt::format("attribute '{}' names function {}; there are {}", out.name,
                                    attr.i, functions - 1));
      }
      return out.value = FunctionRef{static_cast<FunctionId>(attr.i)}, out;
    case GE_ATTR_PARAM:
      return out.value = AttrRef{TextOf(attr.s)}, out;
    default:
      return NotLegal(fmt::format("attribute '{}' is of kind {}, which this host does not know",
                                  out.name, attr.kind));
  }
}

}  // namespace ge
