#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ge/control/maps.h"
#include "ge/control/strings.h"

namespace ge {
namespace {

// Keys and values of any type as texts: a text itself, or an element's bytes. Keys that count as
// equal have equal bytes: every NaN is one key, and so are the two zeros.
using EncoderTexts = std::vector<std::string>;

template <typename T>
std::string EncoderBytes(T v, bool key) {
  if constexpr (std::is_floating_point_v<T>) {
    if (key && std::isnan(v)) v = std::numeric_limits<T>::quiet_NaN();
    if (key && v == 0) v = 0;
  }
  return std::string(reinterpret_cast<const char*>(&v), sizeof v);
}

std::string EncoderElement(DType dtype, const std::byte* p, bool key) {
  const auto load = [&](auto v) {
    std::memcpy(&v, p, sizeof v);
    return EncoderBytes(v, key);
  };
  switch (dtype) {
    case DType::kFloat:
      return load(float{});
    case DType::kDouble:
      return load(double{});
    default:
      return std::string(reinterpret_cast<const char*>(p),
                         static_cast<size_t>(DTypeBits(dtype)) / 8);
  }
}

EncoderTexts EncoderElements(DType dtype, const std::byte* p, int64_t count, bool key) {
  EncoderTexts out;
  for (int64_t i = 0; i < count; ++i) {
    out.push_back(EncoderElement(dtype, p + i * (DTypeBits(dtype) / 8), key));
  }
  return out;
}

EncoderTexts OfConst(const Const& k, bool key) {
  if (k.type.dtype == DType::kString) return k.strings;
  ConstScratch scratch;
  const std::byte* data = ConstBytes(k, &scratch);
  return EncoderElements(k.type.dtype, data, data ? ElementCount(k.type).value_or(0) : 0, key);
}

const Const* EncoderTensor(const HostCall& c, std::string_view name) {
  const Attr* a = c.node.attr(name);
  const auto* ref = a ? std::get_if<ConstRef>(&a->value) : nullptr;
  return ref ? &c.graph.consts[ref->id] : nullptr;
}

// The list keys_* or values_* that is given, and its element type.
EncoderTexts EncoderListed(const HostCall& c, const std::string& kind, DType* dtype) {
  const bool key = kind == "keys";
  *dtype = DType::kString;
  if (const auto& texts = TextList(c.node, kind + "_strings"); !texts.empty()) return texts;
  EncoderTexts out;
  for (const int64_t v : AttrInts(c.node, kind + "_int64s")) out.push_back(EncoderBytes(v, key));
  *dtype = DType::kInt64;
  if (!out.empty()) return out;
  const Attr* a = c.node.attr(kind + "_floats");
  if (const auto* floats = a ? std::get_if<std::vector<double>>(&a->value) : nullptr) {
    for (const double v : *floats) out.push_back(EncoderBytes(static_cast<float>(v), key));
  }
  *dtype = DType::kFloat;
  if (!out.empty()) return out;
  const Const* k = EncoderTensor(c, kind + "_tensor");
  if (k == nullptr) return out;
  *dtype = k->type.dtype;
  return OfConst(*k, key);
}

std::string EncoderDefault(const HostCall& c, DType dtype) {
  if (const Const* k = EncoderTensor(c, "default_tensor")) {
    const EncoderTexts only = OfConst(*k, false);
    if (only.size() == 1) return only[0];
  }
  const double real = AttrFloat(c.node, "default_float");
  const int64_t whole = AttrInt(c.node, "default_int64");
  switch (dtype) {
    case DType::kString:
      return std::string(AttrString(c.node, "default_string"));
    case DType::kFloat:
      return EncoderBytes(static_cast<float>(real), false);
    case DType::kDouble:
      return EncoderBytes(real, false);
    case DType::kInt32:
      return EncoderBytes(static_cast<int32_t>(whole), false);
    case DType::kInt16:
      return EncoderBytes(static_cast<int16_t>(whole), false);
    default:
      return EncoderBytes(whole, false);
  }
}

// From or to texts; from numbers to numbers the engines do it.
Status RunLabelEncoder(HostCall& c) {
  DType key_type = DType::kUndefined, type = DType::kUndefined;
  const EncoderTexts keys = EncoderListed(c, "keys", &key_type);
  const EncoderTexts values = EncoderListed(c, "values", &type);
  const FlowValue& x = c.in(0);
  if (x.dtype != key_type || keys.size() != values.size()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("input 'X' is {}, wanted {}, for which there are {} keys and {} values",
                    Describe(x), DTypeName(key_type), keys.size(), values.size()));
  }
  std::unordered_map<std::string_view, size_t> known;
  for (size_t i = 0; i < keys.size(); ++i) known.insert_or_assign(keys[i], i);
  const std::string absent = EncoderDefault(c, type);
  // The key and the value of each element, as texts.
  GE_RETURN_IF_ERROR(c.pool->Room(static_cast<uint64_t>(x.count()) * 2 * sizeof(std::string)));
  const EncoderTexts asked =
      x.strings ? EncoderTexts() : EncoderElements(x.dtype, x.data, x.count(), true);
  EncoderTexts out;
  for (const std::string& key : x.strings ? *x.strings : asked) {
    const auto found = known.find(key);
    out.push_back(found == known.end() ? absent : values[found->second]);
  }
  if (type == DType::kString) {
    return c.pool->NewStrings(x.dims, std::move(out), &c.outputs[0]);
  }
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(type, x.dims, &c.outputs[0], &to));
  for (const std::string& v : out) {
    std::memcpy(to, v.data(), v.size());
    to += v.size();
  }
  return {};
}

}  // namespace

GE_HOST_OP(onnx_ml_label_encoder) = {"ai.onnx.ml", "LabelEncoder", RunLabelEncoder, true};

}  // namespace ge
