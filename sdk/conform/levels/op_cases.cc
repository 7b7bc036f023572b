#include "sdk/conform/levels/op_cases.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace ge::conform {
namespace {

using mock::Attr;

// Empty, scalar, around every vector's width, several dims, and larger than the first cache.
const std::vector<Dims> kSizes = {{0},       {},        {1},          {3},    {5},  {7},
                                  {17},      {31},      {33},         {63},   {65}, {3, 0, 2},
                                  {1, 1, 1}, {2, 3, 5}, {2, 3, 5, 7}, {40001}};

// Numbers whose results are rounded by hand in many kernels: both zeros, infinities, NaN, huge
// ones. Below the least normal number is another matter: see the session's mode.
Tensor Special(int32_t dtype) {
  const double inf = std::numeric_limits<double>::infinity();
  const double big = dtype == GE_F16 ? 60000 : dtype == GE_F64 ? 1e300 : 3e38;
  const double small = dtype == GE_F16 ? 1e-4 : dtype == GE_F64 ? 1e-300 : 1e-35;
  std::vector<double> v = {0,   -0.0, 1,    -1,  0.5,   -0.5,  1.5,  -1.5,   2.5,   inf, -inf,
                           NAN, big,  -big, 100, -1000, small, 1e-3, -small, 12345, 3};
  Tensor t(dtype, {static_cast<int64_t>(v.size())});
  for (size_t i = 0; i < v.size(); ++i) SetElement(&t, static_cast<int64_t>(i), v[i]);
  return t;
}

bool Unary(Net* n, const OpCase& c, int which, double*) {
  const int sizes = static_cast<int>(kSizes.size());
  const bool special = which == sizes && IsFloat(c.dtype);
  if (which >= sizes && !special) return false;
  const uint32_t x = special ? n->In(Special(c.dtype))
                             : n->In(c.dtype, kSizes[static_cast<size_t>(which)], c.lo, c.hi);
  n->Out(n->Unary(c.op, x, c.attrs));
  return true;
}

struct Pair {
  Dims a, b;
};
const std::vector<Pair> kPairs = {
    {{17}, {17}},       {{2, 3, 5}, {5}},       {{2, 3, 5}, {3, 1}},  {{33}, {}},
    {{}, {31}},         {{4, 1, 3}, {1, 7, 1}}, {{0, 3}, {1, 3}},     {{}, {}},
    {{1}, {1, 1}},      {{3, 0, 2}, {3, 0, 2}}, {{65, 63}, {65, 63}}, {{2, 7, 5, 5}, {7, 1, 1}},
    {{40001}, {40001}}, {{63, 65}, {65}},       {{1, 5}, {5, 1}}};

// Twice: the second operand as an input, then as a constant.
bool Binary(Net* n, const OpCase& c, int which, double*) {
  const int pairs = static_cast<int>(kPairs.size());
  const bool special = which == 2 * pairs && IsFloat(c.dtype);
  if (which >= 2 * pairs && !special) return false;
  if (special) {
    const Tensor t = Special(c.dtype);
    Tensor turned = t;
    for (int64_t i = 0; i < t.count(); ++i) {
      SetElement(&turned, i, ElementOf(t, (i * 5 + 3) % t.count()));
    }
    const uint32_t a = n->In(t);
    n->Out(n->Binary(c.op, a, n->In(turned), c.attrs));
    return true;
  }
  const Pair& p = kPairs[static_cast<size_t>(which % pairs)];
  const uint32_t a = n->In(c.dtype, p.a, c.lo, c.hi);
  const uint32_t b =
      which < pairs ? n->In(c.dtype, p.b, c.lo, c.hi) : n->Const(c.dtype, p.b, c.lo, c.hi);
  const bool compares = c.to == GE_BOOL;
  n->Out(compares ? n->Compare(c.op, a, b) : n->Binary(c.op, a, b, c.attrs));
  return true;
}

// Division and remainders: no zero, and no smallest number by -1, which C++ does not define.
bool Divide(Net* n, const OpCase& c, int which, double*) {
  const int pairs = static_cast<int>(kPairs.size());
  if (which >= pairs) return false;
  const Pair& p = kPairs[static_cast<size_t>(which)];
  const uint32_t a = n->In(c.dtype, p.a, c.lo, c.hi);
  n->Out(n->Binary(c.op, a, n->In(c.dtype, p.b, 1, 9), c.attrs));
  return true;
}

bool Products(Net* n, const OpCase& c, int which, double* terms) {
  const std::vector<Pair> pairs = {{{1, 1}, {1, 1}},
                                   {{3, 5}, {5, 7}},
                                   {{17, 33}, {33, 31}},
                                   {{5}, {5, 3}},
                                   {{3, 5}, {5}},
                                   {{7}, {7}},
                                   {{63, 65}, {65, 17}},
                                   {{2, 3, 5}, {5, 7}},
                                   {{2, 3, 5}, {2, 5, 7}},
                                   {{0, 5}, {5, 3}},
                                   {{3, 0}, {0, 4}},
                                   {{1, 129}, {129, 65}},
                                   {{2, 1, 3, 5}, {4, 5, 2}},
                                   {{67, 257}, {257, 96}}};
  const int count = static_cast<int>(pairs.size());
  if (which >= 2 * count) return false;
  const Pair& p = pairs[static_cast<size_t>(which % count)];
  *terms = static_cast<double>(p.a.back());
  const uint32_t a = n->In(c.dtype, p.a, c.lo, c.hi);
  const uint32_t b =
      which < count ? n->In(c.dtype, p.b, c.lo, c.hi) : n->Const(c.dtype, p.b, c.lo, c.hi);
  n->Out(n->MatMul(a, b, c.op));
  return true;
}

bool Gemms(Net* n, const OpCase& c, int which, double* terms) {
  if (which >= 12) return false;
  const bool ta = (which & 1) != 0, tb = (which & 2) != 0;
  const int64_t rows = which < 4 ? 5 : which < 8 ? 33 : 1, deep = which < 8 ? 17 : 65, wide = 31;
  *terms = static_cast<double>(deep);
  const uint32_t a = n->In(c.dtype, ta ? Dims{deep, rows} : Dims{rows, deep}, c.lo, c.hi);
  const Dims b = tb ? Dims{wide, deep} : Dims{deep, wide};
  const uint32_t w =
      which % 3 == 0 ? n->In(c.dtype, b, c.lo, c.hi) : n->Const(c.dtype, b, c.lo, c.hi);
  const std::vector<Dims> adds = {{wide}, {rows, wide}, {}, {rows, 1}};
  const uint32_t add =
      which % 5 == 4 ? 0 : n->Const(c.dtype, adds[static_cast<size_t>(which % 4)], c.lo, c.hi);
  n->Out(n->Gemm(a, w, add, ta, tb, which < 6 ? 1 : 0.5, which % 2 == 0 ? 1 : 2));
  return true;
}

struct Image {
  Dims x, w;
  Net::Window window;
};
bool Convs(Net* n, const OpCase& c, int which, double* terms) {
  const std::vector<Image> images = {{{1, 3, 7, 7}, {4, 3, 3, 3}, {1, 1, 1, 1}},
                                     {{2, 16, 9, 5}, {32, 16, 1, 1}, {1, 0, 1, 1}},
                                     {{1, 8, 17, 17}, {8, 1, 3, 3}, {2, 1, 1, 8}},
                                     {{1, 4, 9, 9}, {6, 2, 3, 3}, {1, 2, 2, 2}},
                                     {{1, 5, 31}, {7, 5, 4}, {3, 1, 1, 1}},
                                     {{1, 2, 5, 5, 5}, {3, 2, 3, 3, 3}, {1, 1, 1, 1}},
                                     {{1, 16, 13, 13}, {16, 16, 3, 3}, {1, 1, 1, 1}},
                                     {{0, 3, 7, 7}, {4, 3, 3, 3}, {1, 1, 1, 1}},
                                     {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 0, 1, 1}},
                                     {{1, 64, 15, 15}, {33, 64, 3, 3}, {1, 1, 1, 1}}};
  if (which >= static_cast<int>(images.size())) return false;
  const Image& image = images[static_cast<size_t>(which)];
  *terms = static_cast<double>(mock::CountOf(image.w) / image.w[0]);
  const uint32_t x = n->In(c.dtype, image.x, c.lo, c.hi);
  const uint32_t w =
      which == 3 ? n->In(c.dtype, image.w, c.lo, c.hi) : n->Const(c.dtype, image.w, c.lo, c.hi);
  const uint32_t bias = which % 2 == 0 ? n->Const(c.dtype, {image.w[0]}, c.lo, c.hi) : 0;
  n->Out(n->Conv(x, w, bias, image.window));
  return true;
}

bool Pools(Net* n, const OpCase& c, int which, double*) {
  const std::vector<Image> images = {{{1, 3, 7, 7}, {2}, {2, 0, 1, 1}},
                                     {{2, 17, 9, 5}, {3}, {1, 1, 1, 1}},
                                     {{1, 8, 17, 17}, {3}, {2, 1, 1, 1}},
                                     {{1, 4, 31}, {5}, {3, 2, 1, 1}},
                                     {{1, 2, 5, 5, 5}, {3}, {2, 1, 1, 1}}};
  if (which >= static_cast<int>(images.size())) return false;
  const Image& image = images[static_cast<size_t>(which)];
  const uint32_t x = n->In(c.dtype, image.x, c.lo, c.hi);
  n->Out(c.op[0] == 'G' ? n->GlobalPool(c.op, x) : n->Pool(c.op, x, image.w[0], image.window));
  return true;
}

bool Norms(Net* n, const OpCase& c, int which, double*) {
  const std::vector<Dims> dims = {{1, 7}, {3, 17}, {2, 5, 33}, {2, 4, 6, 6}, {65, 63}};
  if (which >= static_cast<int>(dims.size())) return false;
  const uint32_t x = n->In(c.dtype, dims[static_cast<size_t>(which)], c.lo, c.hi);
  n->Out(c.op == "BatchNormalization" ? n->BatchNorm(x) : n->LayerNorm(x));
  return true;
}

bool Softmaxes(Net* n, const OpCase& c, int which, double*) {
  const std::vector<Dims> dims = {{7}, {3, 1}, {3, 17}, {2, 5, 33}, {0, 4}, {2, 3, 4, 5}, {65, 63}};
  if (which >= 2 * static_cast<int>(dims.size())) return false;
  const uint32_t x = n->In(c.dtype, dims[static_cast<size_t>(which / 2)], c.lo, c.hi);
  n->Out(n->Softmax(c.op, x, which % 2 == 0 ? -1 : 0));
  return true;
}

bool Reductions(Net* n, const OpCase& c, int which, double* terms) {
  struct Wanted {
    Dims dims;
    std::vector<int64_t> axes;
    bool keep;
  };
  const std::vector<Wanted> all = {
      {{17}, {0}, false},           {{3, 5}, {1}, true},      {{3, 5}, {0}, false},
      {{2, 3, 5, 7}, {2, 3}, true}, {{2, 33, 7}, {1}, false}, {{65, 63}, {0, 1}, false},
      {{5, 1}, {1}, false},         {{3, 40001}, {1}, true},  {{2, 3, 4}, {0, 2}, true}};
  if (which >= static_cast<int>(all.size())) return false;
  const Wanted& w = all[static_cast<size_t>(which)];
  const uint32_t x = n->In(c.dtype, w.dims, c.lo, c.hi);
  const uint32_t y = n->Reduce(c.op, x, w.axes, w.keep);
  *terms = static_cast<double>(mock::CountOf(w.dims)) /
           static_cast<double>(std::max<int64_t>(1, mock::CountOf(n->dims(y))));
  n->Out(y);
  return true;
}

bool AlongAxis(Net* n, const OpCase& c, int which, double* terms) {
  const std::vector<Dims> dims = {{7}, {3, 17}, {2, 33, 5}, {65, 63}};
  if (which >= 2 * static_cast<int>(dims.size())) return false;
  const Dims& d = dims[static_cast<size_t>(which / 2)];
  const int64_t axis = which % 2 == 0 ? 0 : static_cast<int64_t>(d.size()) - 1;
  const uint32_t x = n->In(c.dtype, d, c.lo, c.hi);
  *terms = static_cast<double>(d[static_cast<size_t>(axis)]);
  n->Out(c.op == "CumSum" ? n->CumSum(x, axis) : n->ArgMax(x, axis, which < 4));
  return true;
}

bool Moves(Net* n, const OpCase& c, int which, double*) {
  const auto in = [&](const Dims& d) { return n->In(c.dtype, d, c.lo, c.hi); };
  const bool odd = which == 1, empty = which == 2, large = which == 3;
  if (which > 3) return false;
  const Dims d = empty   ? Dims{2, 0, 5}
                 : large ? Dims{31, 33, 17}
                 : odd   ? Dims{3, 7, 5}
                         : Dims{2, 4, 6};
  const uint32_t x = in(d);
  if (c.op == "Transpose") {
    n->Out(n->Transpose(x, odd ? std::vector<int64_t>{0, 2, 1} : std::vector<int64_t>{2, 0, 1}));
  } else if (c.op == "Reshape") {
    n->Out(n->Reshape(x, {d[0] * d[1], d[2]}));
  } else if (c.op == "Concat") {
    n->Out(n->Concat({x, in({d[0], 3, d[2]}), x}, 1));
  } else if (c.op == "Slice") {
    n->Out(n->Slice(x, 2, 1, d[2], large ? 3 : 1));
  } else if (c.op == "Gather") {
    if (empty) return n->Out(n->Gather(x, n->Ints({1, 0}), 0)), true;
    n->Out(n->Gather(x, n->Ints({1, 0, 1, 1}), odd ? 2 : 0));
  } else if (c.op == "Expand") {
    n->Out(n->Expand(in({1, d[1], 1}), d));
  } else if (c.op == "Pad") {
    n->Out(n->Pad(x, 1, 2));
  } else if (c.op == "Tile") {
    n->Out(n->Tile(x, {2, 1, 3}));
  } else if (c.op == "Split") {
    for (uint32_t part : n->Split(x, 2, {1, d[2] - 1})) n->Out(part);
  } else {
    n->Out(n->Where(n->In(GE_BOOL, odd ? Dims{7, 1} : d), x, in({d[2]})));
  }
  return true;
}

bool Casts(Net* n, const OpCase& c, int which, double*) {
  if (which >= static_cast<int>(kSizes.size())) return false;
  n->Out(n->Cast(n->In(c.dtype, kSizes[static_cast<size_t>(which)], c.lo, c.hi), c.to));
  return true;
}

bool Codes(Net* n, const OpCase& c, int which, double*) {
  if (which >= static_cast<int>(kSizes.size())) return false;
  const uint32_t x = n->In(c.dtype, kSizes[static_cast<size_t>(which)], c.lo, c.hi);
  const double zero = c.dtype == GE_U8 || c.to == GE_U8 ? 117 : c.dtype == GE_I32 ? 0 : -5;
  n->Out(c.op == "QuantizeLinear" ? n->Quantize(x, 0.0173, zero, c.to)
                                  : n->Dequantize(x, 0.0173, zero));
  return true;
}

void AddUnary(std::vector<OpCase>* all) {
  const Bound exact = {Rule::kExact, 0, 1}, near = {Rule::kElement, 6, 1};
  const auto add = [&](const char* op, const std::vector<int32_t>& types, const Bound& bound,
                       double lo, double hi, std::vector<Attr> attrs = {}) {
    for (int32_t t : types) all->push_back({op, t, bound, Unary, lo, hi, 0, attrs});
  };
  const std::vector<int32_t> all_floats = {GE_F32, GE_F64, GE_F16};
  add("Relu", {GE_F32, GE_F64, GE_F16, GE_I32}, exact, -9, 9);
  add("Abs", {GE_F32, GE_F64, GE_I32}, exact, -9, 9);
  add("Neg", {GE_F32, GE_I64}, exact, -9, 9);
  add("Identity", {GE_F32, GE_U8}, exact, 0, 9);
  add("Not", {GE_BOOL}, exact, 0, 1);
  for (const char* op : {"Floor", "Ceil", "Round", "Sign"}) add(op, {GE_F32}, exact, -9, 9);
  add("Sqrt", {GE_F32, GE_F64}, near, 0, 9);
  add("Exp", all_floats, near, -9, 9);
  add("Log", {GE_F32, GE_F64}, near, 0.01, 9);
  for (const char* op : {"Tanh", "Sigmoid"}) add(op, all_floats, near, -9, 9);
  for (const char* op : {"Erf", "Sin", "Cos", "Softplus", "Softsign", "HardSwish"}) {
    add(op, {GE_F32}, near, -9, 9);
  }
  add("Reciprocal", {GE_F32}, near, 0.1, 9);
  // Its tail is a difference of two halves.
  add("Gelu", {GE_F32}, {Rule::kOperands, 2, 1}, -6, 6, {Attr::String("approximate", "none")});
  add("LeakyRelu", {GE_F32}, near, -9, 9, {Attr::Float("alpha", 0.009999999776482582)});
  add("Elu", {GE_F32}, near, -9, 9, {Attr::Float("alpha", 1)});
  add("HardSigmoid", {GE_F32}, near, -9, 9,
      {Attr::Float("alpha", 0.20000000298023224), Attr::Float("beta", 0.5)});
}

void AddBinary(std::vector<OpCase>* all) {
  const Bound exact = {Rule::kExact, 0, 1}, near = {Rule::kElement, 4, 1};
  for (const char* op : {"Add", "Sub", "Mul"}) {
    for (int32_t t : {GE_F32, GE_F64, GE_F16}) all->push_back({op, t, near, Binary});
    // Whole ranges, so that they wrap.
    all->push_back({op, GE_I32, exact, Binary, -2147483648.0, 2147483647.0});
    all->push_back({op, GE_I64, exact, Binary, -4e18, 4e18});
    all->push_back({op, GE_U8, exact, Binary, 0, 255});
  }
  for (const char* op : {"Max", "Min"}) {
    for (int32_t t : {GE_F32, GE_I64}) all->push_back({op, t, exact, Binary, -99, 99});
  }
  all->push_back({"Div", GE_F32, near, Binary});
  all->push_back({"Div", GE_I64, exact, Divide, -99, 99});
  all->push_back({"Mod", GE_I64, exact, Divide, -99, 99, 0, {Attr::Int("fmod", 0)}});
  all->push_back({"Pow", GE_F32, {Rule::kElement, 16, 1}, Divide, 0.1, 3});
  for (const char* op : {"And", "Or", "Xor"}) {
    all->push_back({op, GE_BOOL, exact, Binary, 0, 1, GE_BOOL});
  }
  for (const char* op : {"Equal", "Less", "Greater"}) {
    all->push_back({op, GE_F32, exact, Binary, -9, 9, GE_BOOL});
    all->push_back({op, GE_I64, exact, Binary, -3, 3, GE_BOOL});
  }
}

void AddCompute(std::vector<OpCase>* all) {
  const Bound sums = {Rule::kSums, 2, 1}, exact = {Rule::kExact, 0, 1};
  const Bound inputs = {Rule::kInputs, 12, 1};
  for (int32_t t : {GE_F32, GE_F64, GE_F16}) {
    all->push_back({"MatMul", t, sums, Products});
    all->push_back({"Gemm", t, sums, Gemms});
    all->push_back({"Conv", t, sums, Convs});
  }
  all->push_back({"MatMul", GE_I32, exact, Products, -99, 99});
  all->push_back({"MatMulInteger", GE_U8, exact, Products, 0, 255});
  all->push_back({"MatMulInteger", GE_I8, exact, Products, -128, 127});
  all->push_back({"MaxPool", GE_F32, exact, Pools});
  all->push_back({"MaxPool", GE_U8, exact, Pools, 0, 255});
  all->push_back({"AveragePool", GE_F32, sums, Pools});
  all->push_back({"GlobalAveragePool", GE_F32, sums, Pools});
  all->push_back({"BatchNormalization", GE_F32, inputs, Norms});
  all->push_back({"LayerNormalization", GE_F32, inputs, Norms});
  for (int32_t t : {GE_F32, GE_F64}) {
    all->push_back({"Softmax", t, inputs, Softmaxes, -5, 5});
    all->push_back({"LogSoftmax", t, inputs, Softmaxes, -5, 5});
    all->push_back({"ReduceSum", t, sums, Reductions});
  }
  all->push_back({"ReduceMean", GE_F32, sums, Reductions});
  all->push_back({"ReduceMax", GE_F32, exact, Reductions});
  all->push_back({"ReduceMin", GE_F32, exact, Reductions});
  all->push_back({"ReduceProd", GE_F32, {Rule::kInputs, 40, 1}, Reductions, 0.999, 1.001});
  all->push_back({"ReduceSum", GE_I64, exact, Reductions, -99, 99});
  all->push_back({"ArgMax", GE_F32, exact, AlongAxis});
  all->push_back({"ArgMax", GE_I64, exact, AlongAxis, -9, 9});
  all->push_back({"CumSum", GE_F32, sums, AlongAxis});
  all->push_back({"CumSum", GE_I64, exact, AlongAxis, -99, 99});
}

void AddMoves(std::vector<OpCase>* all) {
  const Bound exact = {Rule::kExact, 0, 1};
  for (const char* op : {"Transpose", "Concat", "Slice", "Gather", "Where"}) {
    for (int32_t t : {GE_F32, GE_I64, GE_U8}) all->push_back({op, t, exact, Moves, 0, 99});
  }
  for (const char* op : {"Reshape", "Expand", "Pad", "Tile", "Split"}) {
    all->push_back({op, GE_F32, exact, Moves, 0, 99});
  }
  struct To {
    int32_t from, to;
    double lo, hi;
  };
  for (const To& t :
       {To{GE_F32, GE_I32, -1e6, 1e6}, To{GE_F32, GE_F16, -9, 9}, To{GE_F16, GE_F32, -9, 9},
        To{GE_I64, GE_F32, -1e9, 1e9}, To{GE_F32, GE_BOOL, -1, 1}, To{GE_BOOL, GE_F32, 0, 1},
        To{GE_F64, GE_F32, -9, 9}, To{GE_I32, GE_I64, -1e9, 1e9}, To{GE_F32, GE_U8, 0, 255}}) {
    all->push_back({"Cast", t.from, exact, Casts, t.lo, t.hi, t.to});
  }
  for (int32_t t : {GE_U8, GE_I8}) {
    all->push_back({"QuantizeLinear", GE_F32, {Rule::kCodes, 0, 1}, Codes, -4, 4, t});
    all->push_back({"DequantizeLinear",
                    t,
                    {Rule::kElement, 4, 1},
                    Codes,
                    t == GE_U8 ? 0.0 : -128.0,
                    t == GE_U8 ? 255.0 : 127.0});
  }
  all->push_back({"DequantizeLinear", GE_I32, {Rule::kElement, 4, 1}, Codes, -1e6, 1e6});
}

}  // namespace

std::string OpCase::name() const {
  std::string out;
  for (size_t i = 0; i < op.size(); ++i) {
    const auto c = static_cast<unsigned char>(op[i]);
    out += static_cast<char>(std::tolower(c));
  }
  out += "-" + ShortName(dtype);
  if (to != 0 && to != GE_BOOL) out += "-to-" + ShortName(to);
  return to == GE_BOOL && op == "Cast" ? out + "-to-bool" : out;
}

std::vector<OpCase> OpCases() {
  std::vector<OpCase> all;
  AddUnary(&all);
  AddBinary(&all);
  AddCompute(&all);
  AddMoves(&all);
  return all;
}

}  // namespace ge::conform
