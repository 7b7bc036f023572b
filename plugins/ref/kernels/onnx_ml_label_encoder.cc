#include <cstring>
#include <utility>

#include "plugins/ref/kernels/direct_index.h"
#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

// Keys and values as 64 bits each: a value's bits are those of its element.
struct EncoderTable {
  std::vector<std::pair<uint64_t, uint64_t>> rows;  // sorted by key, no key twice
  uint64_t absent = 0;
  DirectIndex direct;  // of the rows

  uint64_t Of(uint64_t key) const {
    if (!direct.empty()) {
      const int32_t at = direct.Of(static_cast<int64_t>(key));
      return at == DirectIndex::kNone ? absent : rows[static_cast<size_t>(at)].second;
    }
    const auto at = std::lower_bound(rows.begin(), rows.end(), key,
                                     [](const auto& a, uint64_t b) { return a.first < b; });
    return at != rows.end() && at->first == key ? at->second : absent;
  }
};

// Integers as int64; floats as doubles, of which every NaN is one key, and so are the two zeros.
template <class T>
uint64_t EncoderKey(T v) {
  if constexpr (kIsFloat<T>) {
    const double d = static_cast<double>(v);
    if (std::isnan(d)) return std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
    return std::bit_cast<uint64_t>(d == 0 ? 0.0 : d);
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(v));
  }
}

template <class T>
uint64_t EncoderBits(T v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}

template <class F>
bool VisitLabel(int32_t dtype, F&& f) {
  switch (dtype) {
    case GE_F32:
      return f(Tag<float>()), true;
    case GE_F64:
      return f(Tag<double>()), true;
    case GE_I16:
      return f(Tag<int16_t>()), true;
    case GE_I32:
      return f(Tag<int32_t>()), true;
    case GE_I64:
      return f(Tag<int64_t>()), true;
    default:
      return false;
  }
}

// Elements of the list or tensor that is given, of dtype T, each turned into 64 bits. A tensor of
// another type has none.
template <class T, class Turn>
std::vector<uint64_t> EncoderList(const NodeView& n, const std::string& kind, int32_t dtype,
                                  Turn turn) {
  std::vector<uint64_t> out;
  if constexpr (std::is_same_v<T, int64_t>) {
    for (const int64_t v : n.List(kind + "_int64s")) out.push_back(turn(v));
  } else if constexpr (std::is_same_v<T, float>) {
    for (const double v : RealList(n, kind + "_floats")) out.push_back(turn(static_cast<float>(v)));
  }
  const ge_attr* a = ge::plugin::FindAttr(n.node(), kind + "_tensor", GE_ATTR_TENSOR);
  int64_t count = 0;
  if (!out.empty() || a == nullptr || a->tensor_type.dtype != dtype ||
      !ge::plugin::ElementCount(a->tensor_type, &count)) {
    return out;
  }
  for (int64_t i = 0; i < count; ++i)
    out.push_back(turn(Load(static_cast<const T*>(a->tensor), i)));
  return out;
}

template <class T>
uint64_t EncoderAbsent(const NodeView& n, int32_t dtype) {
  const ge_attr* a = ge::plugin::FindAttr(n.node(), "default_tensor", GE_ATTR_TENSOR);
  if (a != nullptr && a->tensor_type.dtype == dtype && a->tensor_bytes == sizeof(T)) {
    return EncoderBits(Load(static_cast<const T*>(a->tensor), 0));
  }
  if constexpr (kIsFloat<T>) return EncoderBits(static_cast<T>(n.Float("default_float")));
  return EncoderBits(static_cast<T>(n.Int("default_int64")));
}

// Of a key that is given more than once the last value counts.
bool FillEncoder(const std::vector<uint64_t>& keys, const std::vector<uint64_t>& values,
                 EncoderTable* t, Why* why) {
  if (keys.empty() || keys.size() != values.size()) {
    return why->Say(GE_WHY_ATTRIBUTE, "%zu keys and %zu values of these types", keys.size(),
                    values.size());
  }
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < keys.size(); ++i) order.emplace_back(keys[i], i);
  std::sort(order.begin(), order.end());
  for (const auto& [key, i] : order) {
    if (!t->rows.empty() && t->rows.back().first == key) t->rows.pop_back();
    t->rows.emplace_back(key, values[i]);
  }
  std::vector<int64_t> distinct;
  for (const auto& row : t->rows) distinct.push_back(static_cast<int64_t>(row.first));
  t->direct = DirectIndex(distinct);
  return true;
}

template <class K>
ge_rc RunLabelEncoder(const EncoderTable& t, size_t size, const Call& c) {
  const Tensor x = c.in(0);
  char* to = c.out(0).as<char>();
  for (int64_t i = 0; i < x.count; ++i, to += size) {
    const uint64_t key = EncoderKey(Load(x.as<K>(), i));
    const uint64_t value = t.Of(key);
    std::memcpy(to, &value, size);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareLabelEncoder(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  const int32_t from = n.in(0).dtype, to = n.out(0).dtype;
  EncoderTable t;
  std::vector<uint64_t> keys, values;
  size_t size = 0;
  const bool known = VisitLabel(to, [&](auto tag) {
    using V = typename decltype(tag)::type;
    values = EncoderList<V>(n, "values", to, [](V v) { return EncoderBits(v); });
    t.absent = EncoderAbsent<V>(n, to);
    size = sizeof(V);
  });
  if (!known) return NoDType(n.out(0), why), nullptr;
  std::unique_ptr<Prepared> made;
  const bool taken = VisitLabel(from, [&](auto tag) {
    using K = typename decltype(tag)::type;
    keys = EncoderList<K>(n, "keys", from, [](K v) { return EncoderKey(v); });
    if (!FillEncoder(keys, values, &t, why)) return;
    made = Make([t = std::move(t), size](const Call& c) { return RunLabelEncoder<K>(t, size, c); });
    made->const_align = 1;
  });
  if (!taken) NoDType(n.in(0), why);
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_label_encoder, "ai.onnx.ml.LabelEncoder", PrepareLabelEncoder)
