#include "passes/kit/fn.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace ge::passes {

bool Type::known() const {
  return rank >= 0 && std::all_of(dims.begin(), dims.end(), [](auto& d) { return d.value >= 0; });
}

int64_t Type::elements() const {
  int64_t n = 1;
  for (const ge_dim& d : dims) n *= d.value;
  return n;
}

bool IsFloat(int32_t dtype) {
  return dtype == GE_F32 || dtype == GE_F64 || dtype == GE_F16 || dtype == GE_BF16;
}

bool KnownInts(const ge_value& value, std::vector<int64_t>* numbers) {
  const bool wide = value.type.dtype == GE_I64;
  if (value.data == nullptr || (!wide && value.type.dtype != GE_I32)) return false;
  const size_t each = wide ? sizeof(int64_t) : sizeof(int32_t);
  numbers->clear();
  for (uint64_t at = 0; at + each <= value.data_bytes; at += each) {
    const char* from = static_cast<const char*>(value.data) + at;
    int64_t n64 = 0;
    int32_t n32 = 0;
    if (wide) std::memcpy(&n64, from, sizeof n64);
    if (!wide) {
      std::memcpy(&n32, from, sizeof n32);
      n64 = n32;
    }
    numbers->push_back(n64);
  }
  return true;
}

bool Same(const ge_dim& left, const ge_dim& right) {
  return left.value >= 0 ? left.value == right.value
                         : right.value < 0 && left.id != 0 && left.id == right.id;
}

bool Same(const Type& left, const Type& right) {
  if (left.rank < 0 || left.rank != right.rank) return false;
  for (size_t i = 0; i < left.dims.size(); ++i) {
    if (!Same(left.dims[i], right.dims[i])) return false;
  }
  return true;
}

// ---- attributes

Attrs& Attrs::Int(const char* name, int64_t value) {
  Item item;
  item.a.name = ge_text(name);
  item.a.kind = GE_ATTR_INT;
  item.a.i = value;
  items_.push_back(std::move(item));
  return *this;
}

Attrs& Attrs::Float(const char* name, double value) {
  Item item;
  item.a.name = ge_text(name);
  item.a.kind = GE_ATTR_FLOAT;
  item.a.f = value;
  items_.push_back(std::move(item));
  return *this;
}

Attrs& Attrs::Text(const char* name, std::string text) {
  Item item;
  item.a.name = ge_text(name);
  item.a.kind = GE_ATTR_STRING;
  item.text = std::move(text);
  items_.push_back(std::move(item));
  return *this;
}

Attrs& Attrs::Ints(const char* name, std::vector<int64_t> values) {
  Item item;
  item.a.name = ge_text(name);
  item.a.kind = GE_ATTR_INTS;
  item.ints = std::move(values);
  items_.push_back(std::move(item));
  return *this;
}

Attrs& Attrs::Add(const ge_attr& attr) {
  Item item;
  item.a = attr;
  items_.push_back(std::move(item));
  return *this;
}

std::vector<ge_attr> Attrs::Abi() const {
  std::vector<ge_attr> abi;
  for (const Item& item : items_) {
    ge_attr a = item.a;
    if (!item.text.empty()) a.s = {item.text.data(), item.text.size()};
    if (!item.ints.empty()) {
      a.ints = item.ints.data();
      a.n = static_cast<uint32_t>(item.ints.size());
    }
    abi.push_back(a);
  }
  return abi;
}

// ---- nodes

Type Fn::TypeOf(Val val) const {
  const ge_value* value = e_->value(e_->host, id_, val.id);
  if (value == nullptr) return {};  // a node that the host refused, for which it fails the pass
  Type t{value->type.dtype, value->type.rank, {}};
  if (t.dtype == 0) {
    t.of_fn = id_;
    t.of_value = val.id;
  }
  for (int32_t i = 0; i < t.rank; ++i) {
    ge_dim d{};
    d.value = d.min = d.max = value->type.dims[i];
    if (value->dim != nullptr) d = value->dim[i];
    d.name = {};
    t.dims.push_back(d);
  }
  return t;
}

Val Fn::Param(std::string_view name, const Type& type) {
  const ge_param p = {plugin::Str(name), type.dtype,    type.rank, type.dims.data(),
                      type.of_fn,        type.of_value, 0};
  uint32_t value = 0;
  e_->param(e_->host, id_, &p, &value);
  return {this, value};
}

std::vector<Val> Fn::Node(std::string_view domain, std::string_view op, const std::vector<Val>& in,
                          const Attrs& attrs, uint32_t outputs, const ge_links* links,
                          uint32_t before, uint32_t* node) {
  std::vector<uint32_t> ids, made(std::max(outputs, 1u));
  for (const Val v : in) ids.push_back(v.id);
  while (!ids.empty() && ids.back() == 0) ids.pop_back();
  const std::vector<ge_attr> abi = attrs.Abi();
  ge_new_node n{};
  n.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  ge_links own{};
  own.h = GE_HDR(ge_links, GE_TAG_LINKS);
  if (links != nullptr) own = *links;
  if (of_ != 0 && before == 0 && before_ == 0 && own.n_replaces == 0) {
    own.replaces = &of_;
    own.n_replaces = 1;
    links = &own;
  }
  if (links != nullptr) n.h.next = &links->h;
  n.domain = plugin::Str(domain);
  n.op = plugin::Str(op);
  const std::string name = std::exchange(next_name_, {});
  n.name = plugin::Str(name);
  n.in = ids.data();
  n.n_in = static_cast<uint32_t>(ids.size());
  n.attr = abi.data();
  n.n_attr = static_cast<uint32_t>(abi.size());
  n.n_out = outputs == 0 ? GE_NO_OUTPUT : outputs;
  uint32_t id = 0;
  if (before == 0) before = before_ != 0 ? before_ : end_;
  e_->node(e_->host, id_, before, &n, &id, made.data());
  if (node != nullptr) *node = id;
  if (record_ != nullptr) record_->push_back(id);
  std::vector<Val> values;
  for (uint32_t i = 0; i < outputs; ++i) values.push_back({this, made[i]});
  return values;
}

std::vector<Val> Fn::Ops(std::string_view op, const std::vector<Val>& in, const Attrs& attrs,
                         uint32_t outputs) {
  return Node("", op, in, attrs, outputs);
}

Val Fn::Op(std::string_view op, const std::vector<Val>& in, const Attrs& attrs) {
  return Node("", op, in, attrs, 1)[0];
}

// ---- constants

namespace {

// The 16-bit forms by rounding to nearest even; numbers here are small.
uint16_t HalfOf(double v) {
  const auto h = static_cast<_Float16>(v);
  uint16_t bits;
  std::memcpy(&bits, &h, sizeof bits);
  return bits;
}

uint16_t BrainOf(double v) {
  const auto f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  if (v != v) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

ge_type ScalarType(int32_t dtype) {
  ge_type t{};
  t.dtype = dtype;
  t.bits = plugin::ElementBits(dtype);
  return t;
}

template <typename T>
uint64_t Put(char* to, T v) {
  std::memcpy(to, &v, sizeof v);
  return sizeof v;
}

uint64_t PutScalar(int32_t dtype, double v, char* to) {
  switch (dtype) {
    case GE_F64:
      return Put(to, v);
    case GE_F16:
      return Put(to, HalfOf(v));
    case GE_BF16:
      return Put(to, BrainOf(v));
    case GE_I64:
      return Put(to, static_cast<int64_t>(v));
    case GE_I32:
      return Put(to, static_cast<int32_t>(v));
    case GE_BOOL:
      return Put(to, static_cast<uint8_t>(v != 0));
    default:
      return Put(to, static_cast<float>(v));
  }
}

}  // namespace

Val Fn::Constant(const ge_type& type, const void* data, uint64_t bytes) {
  uint32_t value = 0;
  e_->constant(e_->host, id_, &type, data, bytes, &value);
  return {this, value};
}

Val Fn::Scalar(int32_t dtype, double value) {
  // Minus zero is a number of its own; not-a-numbers are not kept, since none equals another.
  const bool keep = value == value && !(value == 0 && std::signbit(value));
  Val& there = scalars_[{dtype, keep ? value : 0}];
  if (keep && there) return there;
  char payload[8];
  const uint64_t bytes = PutScalar(dtype, value, payload);
  const Val made = Constant(ScalarType(dtype), payload, bytes);
  if (keep) there = made;
  return made;
}

Val Fn::Ints(const std::vector<int64_t>& values) {
  Val& there = ints_[values];
  if (there) return there;
  const auto n = static_cast<int64_t>(values.size());
  ge_type t = ScalarType(GE_I64);
  t.rank = 1;
  t.dims = &n;
  static constexpr int64_t kNone = 0;
  return there =
             Constant(t, values.empty() ? &kNone : values.data(), values.size() * sizeof(int64_t));
}

Val Fn::Vector(int32_t dtype, const std::vector<double>& values) {
  std::vector<char> payload(values.size() * sizeof(double));
  uint64_t bytes = 0;
  for (const double x : values) bytes += PutScalar(dtype, x, payload.data() + bytes);
  const auto n = static_cast<int64_t>(values.size());
  ge_type t = ScalarType(dtype);
  t.rank = 1;
  t.dims = &n;
  return Constant(t, payload.data(), bytes);
}

// ---- shapes

Val Fn::ShapeOf(Val value) {
  const Type t = TypeOf(value);
  if (!t.known()) return Op("Shape", {value});
  std::vector<int64_t> dims;
  for (const ge_dim& d : t.dims) dims.push_back(d.value);
  return Ints(dims);
}

Val Fn::Fill(Val like, double value) {
  const Type t = TypeOf(like);
  if (t.rank == 0) return Scalar(t.dtype, value);
  return Op("Expand", {Scalar(t.dtype, value), ShapeOf(like)});
}

Val Fn::ExpandTo(Val value, Val like) {
  if (Same(TypeOf(value), TypeOf(like))) return value;
  return Op("Expand", {value, ShapeOf(like)});
}

Val Fn::SumTo(Val value, Val like) {
  if (!value) return value;
  const Type from = TypeOf(value), to = TypeOf(like);
  if (Same(from, to)) return value;
  bool sure = from.rank >= to.rank && to.rank >= 0;
  const int32_t extra = from.rank - to.rank;
  std::vector<int64_t> axes, front;
  for (int32_t i = 0; sure && i < from.rank; ++i) {
    if (i < extra) {
      axes.push_back(i);
      front.push_back(i);
      continue;
    }
    const ge_dim &a = from.dims[static_cast<size_t>(i)],
                 &b = to.dims[static_cast<size_t>(i - extra)];
    if (Same(a, b)) continue;
    if (Is(b, 1)) axes.push_back(i);
    // A size of two and more is not broadcast, so both are equal; any other may have been 1.
    if (!Is(b, 1) && b.value < 2 && !(b.value < 0 && b.min > 1)) sure = false;
  }
  if (!sure) return Node("ge", "SumToShape", {value, ShapeOf(like)}, {}, 1)[0];
  if (axes.empty()) return value;
  if (axes.size() == front.size()) return ReduceSum(value, axes, false);
  const Val kept = ReduceSum(value, axes, true);
  return front.empty() ? kept : Squeeze(kept, front);
}

Val Fn::Cast(Val value, int32_t dtype) {
  if (!value || TypeOf(value).dtype == dtype) return value;
  return Op("Cast", {value}, Attrs().Int("to", dtype));
}

Val Fn::Sum(const std::vector<Val>& terms) {
  std::vector<Val> there;
  for (const Val v : terms) {
    if (v) there.push_back(v);
  }
  if (there.empty()) return {};
  return there.size() == 1 ? there[0] : Op(there.size() == 2 ? "Add" : "Sum", there);
}

// ---- calculating

namespace {

Val Binary(std::string_view op, Val a, Val b) { return a.fn->Op(op, {a, b}); }
Val Like(Val a, double b) { return a.fn->Scalar(a.fn->TypeOf(a).dtype, b); }

}  // namespace

Val operator+(Val left, Val right) { return Binary("Add", left, right); }
Val operator-(Val left, Val right) { return Binary("Sub", left, right); }
Val operator*(Val left, Val right) { return Binary("Mul", left, right); }
Val operator/(Val left, Val right) { return Binary("Div", left, right); }
Val operator-(Val value) { return Unary("Neg", value); }
Val operator+(Val left, double right) { return left + Like(left, right); }
Val operator-(Val left, double right) { return left - Like(left, right); }
Val operator*(Val left, double right) { return left * Like(left, right); }
Val operator/(Val left, double right) { return left / Like(left, right); }
Val operator+(double left, Val right) { return Like(right, left) + right; }
Val operator-(double left, Val right) { return Like(right, left) - right; }
Val operator*(double left, Val right) { return Like(right, left) * right; }
Val operator/(double left, Val right) { return Like(right, left) / right; }
Val Unary(std::string_view op, Val x) { return x.fn->Op(op, {x}); }
Val Compare(std::string_view op, Val left, Val right) { return Binary(op, left, right); }
Val Compare(std::string_view op, Val left, double right) {
  return Binary(op, left, Like(left, right));
}
Val Where(Val condition, Val left, Val right) {
  return left.fn->Op("Where", {condition, left, right});
}
Val Where(Val condition, Val left, double right) {
  return Where(condition, left, Like(left, right));
}
Val Pow(Val left, double right) { return Binary("Pow", left, Like(left, right)); }
Val MatMul(Val left, Val right) { return Binary("MatMul", left, right); }

Val Transpose(Val x, std::vector<int64_t> perm) {
  return x.fn->Op("Transpose", {x}, Attrs().Ints("perm", std::move(perm)));
}

Val SwapLast(Val x) {
  const int32_t rank = x.fn->TypeOf(x).rank;
  std::vector<int64_t> perm;
  for (int32_t i = 0; i < rank; ++i) perm.push_back(i);
  if (rank > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transpose(x, std::move(perm));
}

Val Reshape(Val x, std::vector<int64_t> dims) { return x.fn->Op("Reshape", {x, x.fn->Ints(dims)}); }

Val ReshapeLike(Val x, Val like) {
  if (Same(x.fn->TypeOf(x), x.fn->TypeOf(like))) return x;
  // A size of zero means zero here, not the size that was.
  return x.fn->Op("Reshape", {x, x.fn->ShapeOf(like)}, Attrs().Int("allowzero", 1));
}

Val ReduceSum(Val x, const std::vector<int64_t>& axes, bool keepdims) {
  return x.fn->Op("ReduceSum", {x, x.fn->Ints(axes)}, Attrs().Int("keepdims", keepdims ? 1 : 0));
}

Val Unsqueeze(Val x, const std::vector<int64_t>& axes) {
  return x.fn->Op("Unsqueeze", {x, x.fn->Ints(axes)});
}

Val Squeeze(Val x, const std::vector<int64_t>& axes) {
  return x.fn->Op("Squeeze", {x, x.fn->Ints(axes)});
}

Val Concat(const std::vector<Val>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : parts[0].fn->Op("Concat", parts, Attrs().Int("axis", axis));
}

Val Slice(Val x, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
          const std::vector<int64_t>& axes) {
  Fn& fn = *x.fn;
  return fn.Op("Slice", {x, fn.Ints(starts), fn.Ints(ends), fn.Ints(axes)});
}

Val Gather(Val x, Val indices, int64_t axis) {
  return x.fn->Op("Gather", {x, indices}, Attrs().Int("axis", axis));
}

}  // namespace ge::passes
