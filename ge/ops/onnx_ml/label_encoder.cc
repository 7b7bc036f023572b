#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct EncoderList {
  std::string name;
  DType dtype = DType::kUndefined;
  int64_t count = 0;
};

// The one of keys_* (or values_*) that is given.
Result<EncoderList> EncoderListOf(InferContext& c, const char* kind) {
  const Node& n = c.node();
  static constexpr std::pair<const char*, DType> kLists[] = {
      {"int64s", DType::kInt64}, {"floats", DType::kFloat}, {"strings", DType::kString}};
  EncoderList found;
  std::string names;
  const auto take = [&](std::string name, DType dtype, int64_t count) {
    if (count == 0) return;
    names += (names.empty() ? "" : ", ") + name;
    found = {std::move(name), dtype, count};
  };
  for (const auto& [suffix, dtype] : kLists) {
    const std::string name = fmt::format("{}_{}", kind, suffix);
    take(name, dtype, static_cast<int64_t>(ListLength(n, name)));
  }
  const std::string name = fmt::format("{}_tensor", kind);
  if (const Const* k = TensorAttr(c, name)) {
    take(name, k->type.dtype, ElementCount(k->type).value_or(0));
  }
  if (names == found.name && found.count > 0) return found;
  return Bad(n, fmt::format("{} of the attributes {}_int64s, {}_floats, {}_strings and {}_tensor "
                            "are given ({}), wanted just one with entries",
                            names.empty() ? "none" : "several", kind, kind, kind, kind,
                            names.empty() ? "none" : names));
}

Status InferLabelEncoder(InferContext& c) {
  const Node& n = c.node();
  GE_ASSIGN_OR_RETURN(const EncoderList keys, EncoderListOf(c, "keys"));
  GE_ASSIGN_OR_RETURN(const EncoderList values, EncoderListOf(c, "values"));
  Type type = c.input_type(0);
  if (keys.dtype != type.dtype) {
    return Bad(n, fmt::format("input 'X' is of {}, wanted {} as the keys in '{}' are",
                              DTypeName(type.dtype), DTypeName(keys.dtype), keys.name));
  }
  if (keys.count != values.count) {
    return Bad(n, fmt::format("attribute '{}' has {} entries and '{}' {}, wanted as many",
                              keys.name, keys.count, values.name, values.count));
  }
  if (const Const* k = TensorAttr(c, "default_tensor")) {
    if (k->type.dtype != values.dtype || ElementCount(k->type) != 1) {
      return Bad(
          n, fmt::format("attribute 'default_tensor' is {}, wanted one element of {} as in "
                         "'{}'",
                         TypeToString(k->type, c.dims()), DTypeName(values.dtype), values.name));
    }
  }
  type.dtype = values.dtype;
  c.SetOutput(0, std::move(type));
  return {};
}

OpDef LabelEncoderRecord() {
  constexpr DTypeSet kLabels = Bit(DType::kString) | Bit(DType::kInt64) | Bit(DType::kFloat) |
                               Bit(DType::kInt32) | Bit(DType::kInt16) | Bit(DType::kDouble);
  OpDef op{"ai.onnx.ml", "LabelEncoder",    4,           {{"X", kLabels, "T1"}}, {{"Y", kLabels}},
           {},           InferLabelEncoder, PerOutput<8>};
  op.attrs = {{"default_float", AttrKind::kFloat, -0.0f},
              {"default_int64", AttrKind::kInt, -1},
              {"default_string", AttrKind::kString, "_Unused"},
              {"default_tensor", AttrKind::kTensor},
              {"keys_floats", AttrKind::kFloats},
              {"keys_int64s", AttrKind::kInts},
              {"keys_strings", AttrKind::kStrings},
              {"keys_tensor", AttrKind::kTensor},
              {"values_floats", AttrKind::kFloats},
              {"values_int64s", AttrKind::kInts},
              {"values_strings", AttrKind::kStrings},
              {"values_tensor", AttrKind::kTensor}};
  return op;
}

}  // namespace

// Each element looked up in a list of keys: the value of its last occurrence there, or a default.
GE_OP(onnx_ml_label_encoder) = LabelEncoderRecord();

}  // namespace ge
