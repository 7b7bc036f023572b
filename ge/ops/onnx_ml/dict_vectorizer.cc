#include <fmt/format.h>

#include "ge/ops/families/maps.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferDictVectorizer(InferContext& c) {
  const Node& n = c.node();
  const size_t ints = ListLength(n, "int64_vocabulary");
  const size_t texts = ListLength(n, "string_vocabulary");
  if ((ints > 0) == (texts > 0)) {
    return Bad(n,
               fmt::format("attributes 'int64_vocabulary' and 'string_vocabulary' have {} and {} "
                           "entries, wanted keys in one of them",
                           ints, texts));
  }
  const DType key = texts > 0 ? DType::kString : DType::kInt64;
  const DTypeSet values =
      Bit(DType::kFloat) | Bit(DType::kDouble) | Bit(texts > 0 ? DType::kInt64 : DType::kString);
  GE_ASSIGN_OR_RETURN(const DType dtype, WantMap(c, Bit(key), values));
  return SetTensor(c, 0, dtype, {KnownDim(1), KnownDim(static_cast<int64_t>(ints + texts))});
}

}  // namespace

// The values of a map at the places that a vocabulary gives to their keys, as one row.
GE_OP(onnx_ml_dict_vectorizer) = {
    "ai.onnx.ml",
    "DictVectorizer",
    1,
    {{"X", kAnyType}},
    {{"Y", Bit(DType::kInt64) | Bit(DType::kFloat) | Bit(DType::kDouble) | Bit(DType::kString)}},
    {{"int64_vocabulary", AttrKind::kInts}, {"string_vocabulary", AttrKind::kStrings}},
    InferDictVectorizer,
    PerOutput<0>};

}  // namespace ge
