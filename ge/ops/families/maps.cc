#include "ge/ops/families/maps.h"

#include <fmt/format.h>

namespace ge {

Type MapType(DType key, DType value) {
  Type t;
  t.kind = TypeKind::kMap;
  t.dtype = key;
  t.elems = {UnrankedTensor(value)};
  return t;
}

Result<DType> WantMap(InferContext& context, DTypeSet keys, DTypeSet values) {
  const Type& t = context.input_type(0);
  const bool map = t.kind == TypeKind::kMap && t.elems.size() == 1 && t.elems[0].is_tensor();
  if (map && (keys & Bit(t.dtype)) != 0 && (values & Bit(t.elems[0].dtype)) != 0) {
    return t.elems[0].dtype;
  }
  std::string wanted;
  for (int k = 1; k < kDTypeCount; ++k) {
    for (int v = 1; v < kDTypeCount; ++v) {
      if ((keys >> k & 1) == 0 || (values >> v & 1) == 0) continue;
      wanted += fmt::format("{}map({}, {})", wanted.empty() ? "" : " or ",
                            DTypeName(static_cast<DType>(k)), DTypeName(static_cast<DType>(v)));
    }
  }
  return Bad(context.node(),
             fmt::format("input 'X' is {}, wanted {}", TypeToString(t, context.dims()), wanted));
}

}  // namespace ge
