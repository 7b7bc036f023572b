#include "plugins/cpu/kit/unit.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ge_cpu {

size_t UnaryPosts(const Unit& u) {
  size_t n = 0;
  while (n < u.posts.size() && !u.posts[n].binary()) ++n;
  return n;
}

std::string ToText(const Dims& d) {
  std::string s = "[";
  for (size_t i = 0; i < d.size(); ++i) s += (i > 0 ? "," : "") + std::to_string(d[i]);
  return s + "]";
}

// Which dtypes an operator's tensors may have. Index inputs (axes, shapes, starts) are told from
// tensors by their position: `data` inputs come first, 0 = all are data.
enum class Types {
  kFloat,   // float32
  kWord,    // 4 bytes, moved and not looked at
  kNumber,  // float32, int32, int64, bool
  kCode,    // float32, int32, int8, uint8
  kAny,     // whole bytes, moved
};

struct Parser::Entry {
  const char* op;
  bool (Parser::*parse)(uint32_t, Unit*, Why*) const;
  Types types = Types::kFloat;
  uint32_t data = 1;
  static const Entry kTable[];
};

constexpr Parser::Entry Parser::Entry::kTable[] = {
    {"Conv", &Parser::Conv},
    {"ConvTranspose", &Parser::ConvTranspose},
    {"MatMul", &Parser::MatMul, Types::kFloat, 0},
    {"Gemm", &Parser::Gemm, Types::kFloat, 0},
    {"MaxPool", &Parser::Pool},
    {"AveragePool", &Parser::Pool},
    {"GlobalAveragePool", &Parser::GlobalPool},
    {"GlobalMaxPool", &Parser::GlobalPool},
    {"ReduceMean", &Parser::ReduceOp},
    {"ReduceSum", &Parser::ReduceOp},
    {"ReduceMax", &Parser::ReduceOp},
    {"ReduceMin", &Parser::ReduceOp},
    {"Relu", &Parser::Unary},
    {"LeakyRelu", &Parser::Unary},
    {"Sigmoid", &Parser::Unary},
    {"Tanh", &Parser::Unary},
    {"HardSigmoid", &Parser::Unary},
    {"HardSwish", &Parser::Unary},
    {"Gelu", &Parser::Unary},
    {"Erf", &Parser::Unary},
    {"Exp", &Parser::Unary},
    {"Sqrt", &Parser::Unary},
    {"Abs", &Parser::Unary},
    {"Neg", &Parser::Unary},
    {"Reciprocal", &Parser::Unary},
    {"Sin", &Parser::Unary},
    {"Cos", &Parser::Unary},
    {"Log", &Parser::Unary},
    {"Floor", &Parser::Unary},
    {"Ceil", &Parser::Unary},
    {"Round", &Parser::Unary},
    {"Sign", &Parser::Unary},
    {"Elu", &Parser::Unary},
    {"Softplus", &Parser::Unary},
    {"Add", &Parser::Binary, Types::kNumber, 0},
    {"Sub", &Parser::Binary, Types::kNumber, 0},
    {"Mul", &Parser::Binary, Types::kNumber, 0},
    {"Div", &Parser::Binary, Types::kNumber, 0},
    {"Max", &Parser::Binary, Types::kNumber, 0},
    {"Min", &Parser::Binary, Types::kNumber, 0},
    {"Pow", &Parser::Pow},
    {"Clip", &Parser::Clip},
    {"BatchNormalization", &Parser::BatchNorm, Types::kFloat, 0},
    {"Softmax", &Parser::Softmax},
    {"LayerNormalization", &Parser::LayerNorm, Types::kFloat, 0},
    {"Concat", &Parser::Concat, Types::kWord, 0},
    {"Resize", &Parser::Resize},
    {"Reshape", &Parser::View, Types::kAny},
    {"Flatten", &Parser::View, Types::kAny},
    {"Squeeze", &Parser::View, Types::kAny},
    {"Unsqueeze", &Parser::View, Types::kAny},
    {"Identity", &Parser::View, Types::kAny},
    {"Transpose", &Parser::Transpose, Types::kWord},
    {"Slice", &Parser::Slice, Types::kWord},
    {"Split", &Parser::Split, Types::kWord},
    {"Expand", &Parser::Expand, Types::kWord},
    {"Gather", &Parser::Gather, Types::kAny, 0},
    {"Cast", &Parser::Cast, Types::kNumber, 0},
    {"Equal", &Parser::Equal, Types::kNumber, 0},
    {"LSTM", &Parser::Lstm, Types::kFloat, 0},
    {"ConvInteger", &Parser::ConvInteger, Types::kCode, 0},
    {"QLinearConv", &Parser::ConvInteger, Types::kCode, 0},
    {"MatMulInteger", &Parser::MatMulInteger, Types::kCode, 0},
    {"QLinearMatMul", &Parser::MatMulInteger, Types::kCode, 0},
    {"DynamicQuantizeLinear", &Parser::Quantize, Types::kCode, 0},
    {"QuantizeLinear", &Parser::Quantize, Types::kCode, 0},
    {"DequantizeLinear", &Parser::Dequantize, Types::kCode, 0},
};

const Parser::Entry* Parser::Find(std::string_view op) {
  for (const Entry& e : Entry::kTable) {
    if (op == e.op) return &e;
  }
  return nullptr;
}

Dims Parser::dims(uint32_t v) const {
  const auto d = gp::Dims(value(v).type);
  return Dims(d.begin(), d.end());
}

bool Parser::Scalar(uint32_t v, float* out) const {
  int64_t n = 0;
  if (!constant(v) || value(v).type.dtype != GE_F32) return false;
  if (!gp::ElementCount(value(v).type, &n) || n != 1) return false;
  std::memcpy(out, value(v).data, sizeof(float));
  return true;
}

bool Parser::Integers(uint32_t v, Dims* out) const {
  int64_t n = 0;
  if (!constant(v) || !gp::ElementCount(value(v).type, &n)) return false;
  const auto* p = static_cast<const char*>(value(v).data);
  out->clear();
  for (int64_t i = 0; i < n; ++i) {
    if (value(v).type.dtype == GE_I64) {
      int64_t x;
      std::memcpy(&x, p + i * 8, 8);
      out->push_back(x);
    } else if (value(v).type.dtype == GE_I32) {
      int32_t x;
      std::memcpy(&x, p + i * 4, 4);
      out->push_back(x);
    } else {
      return false;
    }
  }
  return true;
}

std::vector<float> Parser::Floats(uint32_t v) const {
  std::vector<float> f(static_cast<size_t>(Product(dims(v))));
  std::memcpy(f.data(), value(v).data, f.size() * sizeof(float));
  return f;
}

// Of a tensor: known, non-zero size, and a dtype that the operator's kernels have. Integer
// constants behind the data are read by the rules that expect them.
bool Parser::CheckValue(uint32_t v, const std::string& name, bool index, const Entry& entry,
                        Why* why) const {
  const ge_type& t = value(v).type;
  int64_t count = 0;
  if (t.rank < 0 || !gp::ElementCount(t, &count)) {
    return why->Say(GE_WHY_DYNAMIC, name + " has no static shape");
  }
  if (t.sharding != 0) return why->Say(GE_WHY_LAYOUT, name + " is sharded");
  if (index && constant(v) && (t.dtype == GE_I64 || t.dtype == GE_I32)) return true;
  const uint32_t bits = gp::ElementBits(t.dtype);
  const Types types = index ? Types::kFloat : entry.types;
  const bool number = t.dtype == GE_I32 || t.dtype == GE_I64 || t.dtype == GE_BOOL;
  const bool code = t.dtype == GE_I32 || t.dtype == GE_I8 || t.dtype == GE_U8;
  const bool fits = types == Types::kFloat    ? t.dtype == GE_F32
                    : types == Types::kNumber ? number || t.dtype == GE_F32
                    : types == Types::kCode   ? code || t.dtype == GE_F32
                    : types == Types::kWord   ? bits == 32
                                              : bits >= 8;
  if (!fits) {
    const char* wanted = types == Types::kFloat    ? "float32"
                         : types == Types::kNumber ? "float32, int32, int64 and bool"
                         : types == Types::kCode   ? "float32, int32, int8 and uint8"
                         : types == Types::kWord   ? "4-byte elements"
                                                   : "elements of whole bytes";
    return why->Say(GE_WHY_DTYPE, name + " is " + gp::DTypeName(t.dtype) + ", only " + wanted);
  }
  if (t.rank > kMaxRank) {
    return why->Say(GE_WHY_SHAPE, name + " has rank " + std::to_string(t.rank) + ", at most " +
                                      std::to_string(kMaxRank));
  }
  // The empty roi and scales of Resize are constants; other empty tensors are not worth a kernel.
  const bool absent = index && constant(v) && std::string_view(entry.op) == "Resize";
  if (count == 0 && !absent) return why->Say(GE_WHY_SHAPE, name + " has no elements");
  if (count > std::numeric_limits<int32_t>::max()) {
    return why->Say(GE_WHY_SHAPE, name + " has more than 2^31 elements");
  }
  return true;
}

bool Parser::Checks(uint32_t node, const Entry& entry, Why* why) const {
  const ge_node& n = this->node(node);
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const bool index = entry.data != 0 && i >= entry.data;
    if (n.in[i] != 0 && !CheckValue(n.in[i], "input " + std::to_string(i), index, entry, why)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    if (n.out[i] != 0 && !CheckValue(n.out[i], "output " + std::to_string(i), false, entry, why)) {
      return false;
    }
  }
  return true;
}

bool Parser::OnlyFloats(const Unit& u, Why* why) const {
  for (const std::vector<uint32_t>* list : {&u.in, &u.out}) {
    for (uint32_t v : *list) {
      if (v == 0 || dtype(v) == GE_F32) continue;
      return why->Say(GE_WHY_DTYPE,
                      std::string("a tensor is ") + gp::DTypeName(dtype(v)) + ", only float32");
    }
  }
  return true;
}

bool Parser::Parse(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const std::string_view domain = gp::View(n.domain);
  const Entry* e = domain.empty() || domain == "ai.onnx" ? Find(gp::View(n.op)) : nullptr;
  if (e == nullptr) return why->Say(GE_WHY_OP, "no kernel for this operator");
  if (n.n_body != 0) return why->Say(GE_WHY_OP, "nodes with bodies are not taken");
  if (n.n_in == 0 || n.n_out == 0 || n.in[0] == 0 || n.out[0] == 0) {
    return why->Say(GE_WHY_OP, "first input or output is missing");
  }
  if (!Checks(i, *e, why)) return false;
  u->root = i;
  u->nodes = {i};
  u->out = {n.out[0]};
  u->in = {n.in[0]};
  u->dims = dims(n.out[0]);
  return (this->*e->parse)(i, u, why);
}

bool Parser::Axes(const ge_node& n, uint32_t input, Dims* out, Why* why) const {
  const auto attr = gp::AttrInts(n, "axes");
  out->assign(attr.begin(), attr.end());
  if (input < n.n_in && n.in[input] != 0 && !Integers(n.in[input], out)) {
    return why->Say(GE_WHY_DYNAMIC, "axes are not constant");
  }
  const int64_t rank = value(n.in[0]).type.rank;
  for (int64_t& a : *out) {
    if (a < 0) a += rank;
    if (a < 0 || a >= rank) return why->Say(GE_WHY_ATTRIBUTE, "an axis is out of range");
  }
  std::sort(out->begin(), out->end());
  return true;
}

bool Parser::Unary(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const std::string_view op = gp::View(n.op);
  Post p;
  u->spec = PointwiseSpec();
  if (op == "Relu") {
    p.fn = Fn::kRelu;
  } else if (op == "LeakyRelu") {
    p.fn = Fn::kRelu;
    p.a = static_cast<float>(gp::AttrFloat(n, "alpha"));
  } else if (op == "Sigmoid") {
    p.fn = Fn::kSigmoid;
  } else if (op == "Tanh") {
    p.fn = Fn::kTanh;
  } else if (op == "HardSigmoid") {
    p.fn = Fn::kHardSigmoid;
    p.a = static_cast<float>(gp::AttrFloat(n, "alpha"));
    p.b = static_cast<float>(gp::AttrFloat(n, "beta"));
  } else if (op == "HardSwish") {
    p = {Fn::kHardSwish, 1.0f / 6.0f, 0.5f, 0, nullptr};
  } else if (op == "Gelu") {
    p.fn = gp::AttrString(n, "approximate") == "tanh" ? Fn::kGeluTanh : Fn::kGelu;
  } else if (op == "Erf") {
    p.fn = Fn::kErf;
  } else if (op == "Exp") {
    p.fn = Fn::kExp;
  } else if (op == "Sqrt") {
    p.fn = Fn::kSqrt;
  } else if (op == "Abs") {
    p.fn = Fn::kAbs;
  } else if (op == "Neg") {
    p = {Fn::kLinear, -1, 0, 0, nullptr};
  } else if (op == "Reciprocal") {
    p.fn = Fn::kReciprocal;
  } else if (op == "Sin") {
    p.fn = Fn::kSin;
  } else if (op == "Cos") {
    p.fn = Fn::kCos;
  } else if (op == "Log") {
    p.fn = Fn::kLog;
  } else if (op == "Floor") {
    p.fn = Fn::kFloor;
  } else if (op == "Ceil") {
    p.fn = Fn::kCeil;
  } else if (op == "Round") {
    p.fn = Fn::kRound;
  } else if (op == "Sign") {
    p.fn = Fn::kSign;
  } else if (op == "Elu") {
    p.fn = Fn::kElu;
    p.a = static_cast<float>(gp::AttrFloat(n, "alpha"));
  } else if (op == "Softplus") {
    p.fn = Fn::kSoftplus;
  } else {
    return why->Say(GE_WHY_OP, "no kernel for this operator");
  }
  u->posts = {p};
  return true;
}

bool Parser::Binary(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const std::string_view op = gp::View(n.op);
  if (n.n_in != 2 || n.in[1] == 0) {
    return why->Say(GE_WHY_SHAPE, std::to_string(n.n_in) + " inputs, only 2");
  }
  if (dtype(n.in[0]) != GE_F32) return IntegerMath(i, u, why);
  u->spec = PointwiseSpec();
  Fn fn = op == "Add"   ? Fn::kAdd
          : op == "Sub" ? Fn::kSub
          : op == "Mul" ? Fn::kMul
          : op == "Div" ? Fn::kDiv
          : op == "Max" ? Fn::kMax
                        : Fn::kMin;
  uint32_t x = n.in[0], y = n.in[1];
  // The running tensor is the one that has the result's shape and is no constant.
  const bool x_whole = dims(x) == u->dims, y_whole = dims(y) == u->dims;
  if ((!x_whole && y_whole) || (constant(x) && !constant(y) && y_whole)) {
    std::swap(x, y);
    fn = fn == Fn::kSub ? Fn::kRSub : fn == Fn::kDiv ? Fn::kRDiv : fn;
  }
  u->in = {x};
  Post p;
  float c = 0;
  const bool linear = fn == Fn::kAdd || fn == Fn::kSub || fn == Fn::kMul || fn == Fn::kRSub;
  if (linear && Scalar(y, &c)) {
    p = fn == Fn::kMul    ? Post{Fn::kLinear, c, 0, 0, nullptr}
        : fn == Fn::kRSub ? Post{Fn::kLinear, -1, c, 0, nullptr}
                          : Post{Fn::kLinear, 1, fn == Fn::kAdd ? c : -c, 0, nullptr};
  } else if (fn == Fn::kDiv && Scalar(y, &c) && std::isnormal(c) && std::isnormal(1.0f / c)) {
    p = {Fn::kLinear, 1.0f / c, 0, 0, nullptr};
  } else {
    p.fn = fn;
    p.operand = y;
  }
  u->posts = {p};
  return true;
}

bool Parser::Pow(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  float e = 0;
  if (n.n_in != 2 || !Scalar(n.in[1], &e) || dims(n.in[0]) != u->dims) {
    return why->Say(GE_WHY_ATTRIBUTE, "the exponent is not a constant scalar");
  }
  u->spec = PointwiseSpec();
  Post p;
  if (e == 2) {
    p.fn = Fn::kSquare;
  } else if (e == 3) {
    p.fn = Fn::kCube;
  } else if (e == -1) {
    p.fn = Fn::kReciprocal;
  } else if (e == 1) {
    p.a = 1;
  } else {
    return why->Say(GE_WHY_ATTRIBUTE, "exponent " + std::to_string(e) + ", only -1, 1, 2 and 3");
  }
  u->posts = {p};
  return true;
}

bool Parser::Clip(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  Post p;
  p.fn = Fn::kClip;
  p.a = static_cast<float>(gp::AttrFloat(n, "min", std::numeric_limits<float>::lowest()));
  p.b = static_cast<float>(gp::AttrFloat(n, "max", std::numeric_limits<float>::max()));
  if (n.n_in > 1 && n.in[1] != 0 && !Scalar(n.in[1], &p.a)) {
    return why->Say(GE_WHY_DYNAMIC, "min is not constant");
  }
  if (n.n_in > 2 && n.in[2] != 0 && !Scalar(n.in[2], &p.b)) {
    return why->Say(GE_WHY_DYNAMIC, "max is not constant");
  }
  u->spec = PointwiseSpec();
  u->posts = {p};
  return true;
}

bool Parser::BatchNorm(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  if (gp::AttrInt(n, "training_mode") != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "training_mode is not taken");
  }
  if (n.n_in != 5 || u->dims.size() < 2) return why->Say(GE_WHY_SHAPE, "needs rank 2 and 5 inputs");
  std::vector<float> v[4];
  for (uint32_t k = 0; k < 4; ++k) {
    if (!constant(n.in[k + 1])) return why->Say(GE_WHY_DYNAMIC, "statistics are not constant");
    v[k] = Floats(n.in[k + 1]);
    if (v[k].size() != static_cast<size_t>(u->dims[1])) {
      return why->Say(GE_WHY_SHAPE, "statistics do not match the channels");
    }
  }
  const double eps = gp::AttrFloat(n, "epsilon");
  auto scale = std::make_shared<std::vector<float>>(),
       shift = std::make_shared<std::vector<float>>();
  for (size_t c = 0; c < v[0].size(); ++c) {
    const double s = v[0][c] / std::sqrt(static_cast<double>(v[3][c]) + eps);
    scale->push_back(static_cast<float>(s));
    shift->push_back(static_cast<float>(v[1][c] - s * v[2][c]));
  }
  u->spec = PointwiseSpec();
  u->posts = {Post{Fn::kMul, 0, 0, 0, scale}, Post{Fn::kAdd, 0, 0, 0, shift}};
  return true;
}

bool Parser::Softmax(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const int rank = static_cast<int>(u->dims.size());
  auto& axis = u->spec.emplace<SoftmaxSpec>().axis;
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += rank;
  if (rank == 0 || axis < 0 || axis >= rank) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  }
  if (n.version < 13 && axis != rank - 1) {
    return why->Say(GE_WHY_VERSION, "Softmax before opset 13 flattens the axes behind its own");
  }
  return true;
}

bool Parser::LayerNorm(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const int64_t rank = static_cast<int64_t>(u->dims.size());
  const int64_t axis = gp::AttrInt(n, "axis");
  if (axis != -1 && axis != rank - 1) return why->Say(GE_WHY_ATTRIBUTE, "only the last axis");
  if (rank == 0) return why->Say(GE_WHY_SHAPE, "a scalar");
  if (n.n_out > 1 && (n.out[1] != 0 || (n.n_out > 2 && n.out[2] != 0))) {
    return why->Say(GE_WHY_ATTRIBUTE, "Mean and InvStdDev are not computed");
  }
  u->spec = LayerNormSpec{static_cast<float>(gp::AttrFloat(n, "epsilon"))};
  for (uint32_t k = 1; k < 3; ++k) {
    const uint32_t v = k < n.n_in ? n.in[k] : 0;
    if (v != 0 && dims(v) != Dims{u->dims.back()}) {
      return why->Say(GE_WHY_SHAPE, "scale or bias is not as long as the last axis");
    }
    u->in.push_back(v);
  }
  return true;
}

bool Parser::ReduceOp(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const std::string_view op = gp::View(n.op);
  auto& r = u->spec.emplace<ReduceSpec>();
  r.reduce = op == "ReduceMean"  ? Reduce::kMean
             : op == "ReduceSum" ? Reduce::kSum
             : op == "ReduceMax" ? Reduce::kMax
                                 : Reduce::kMin;
  r.keep_dims = gp::AttrInt(n, "keepdims") != 0;
  if (!Axes(n, 1, &r.axes, why)) return false;
  if (r.axes.empty()) {
    if (gp::AttrInt(n, "noop_with_empty_axes") != 0) {
      return why->Say(GE_WHY_ATTRIBUTE, "noop_with_empty_axes");
    }
    for (int64_t a = 0; a < value(n.in[0]).type.rank; ++a) r.axes.push_back(a);
  }
  if (value(n.in[0]).type.rank == 0) return why->Say(GE_WHY_SHAPE, "a scalar");
  return true;
}

bool Parser::GlobalPool(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  auto& r = u->spec.emplace<ReduceSpec>();
  r.reduce = gp::View(n.op) == "GlobalAveragePool" ? Reduce::kMean : Reduce::kMax;
  for (int64_t a = 2; a < value(n.in[0]).type.rank; ++a) r.axes.push_back(a);
  if (r.axes.empty()) return why->Say(GE_WHY_SHAPE, "no spatial axes");
  return true;
}

}  // namespace ge_cpu
