// Types of values: tensors first, then the containers and the nominal types for later capabilities.
// A Type is a plain value; copying it copies its element types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ir/dim.h"
#include "ge/ir/dtype.h"

namespace ge {

using FunctionId = uint32_t;  // 0 = absent

enum class TypeKind : uint8_t {
  kUnknown,  // not inferred yet
  kTensor,
  kSequence,  // elems[0]
  kOptional,  // elems[0]
  kMap,       // dtype = key, elems[0] = value
  kTuple,     // elems, field_names
  kFunc,      // elems = params then results (params counts the first part), candidates
  kPack,      // residuals of function `fn`
  kSparse,    // elems[0] = values, dtype = index dtype, dims = dense shape
  kRagged,    // elems[0] = values, elems[1] = splits
  kToken,
  kZero,  // symbolic zero of elems[0]
};

struct Type {
  // Copies and ends out of line: every file that holds a Type would otherwise generate them again.
  Type() = default;
  Type(const Type&);
  Type(Type&&) noexcept = default;
  Type& operator=(const Type&);
  Type& operator=(Type&&) noexcept;
  ~Type();

  TypeKind kind = TypeKind::kUnknown;
  DType dtype = DType::kUndefined;
  bool ranked = false;  // when false, dims is empty and the rank is unknown
  std::vector<Dim> dims;
  std::vector<Type> elems;
  std::vector<std::string> field_names;
  std::vector<FunctionId> candidates;
  uint32_t params = 0;
  FunctionId fn = 0;

  bool is_tensor() const { return kind == TypeKind::kTensor; }
  size_t rank() const { return dims.size(); }
  bool is_static() const;                    // A ranked tensor whose dims are all known.
  std::vector<int64_t> static_dims() const;  // Only when is_static().
  friend bool operator==(const Type&, const Type&) = default;
};

Type TensorType(DType dtype, std::vector<Dim> dims);
Type TensorType(DType dtype, const std::vector<int64_t>& dims);
Type UnrankedTensor(DType dtype);
// Elements of a static tensor; nullopt on overflow or when not static.
std::optional<int64_t> ElementCount(const Type& type);
// Whether a static tensor may be a value of declared type `wanted`: an unknown size there fits
// any.
bool FitsDeclared(const Type& have, const Type& wanted);
// Bytes of a static tensor in plain row-major layout; nullopt like ElementCount, and for strings.
std::optional<int64_t> ByteCount(const Type& type);
// "f32[N,3,224,224]", "seq(f32[?])" ...; "f32[?]" marks an unknown rank.
std::string TypeToString(const Type& type, const DimTable& dims);

}  // namespace ge
