#include "plugins/gpu/families/library_products.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "plugins/gpu/cublaslt_product.h"
#include "plugins/gpu/families/family.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/units/matmul/matmul.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

// Launches a product. Its places are the product's.
class CublasLtCall final : public device::Kernel {
 public:
  explicit CublasLtCall(std::unique_ptr<CublasLtProduct> product) : product_(std::move(product)) {}
  Result Queue(const device::Call& call) const override {
    return product_->Queue(reinterpret_cast<cuda::Stream>(call.stream), call.at);
  }

 private:
  const std::unique_ptr<CublasLtProduct> product_;
};

bool FindType(int32_t dtype, cublaslt::DataType* type) {
  switch (dtype) {
    case GE_F32:
      return *type = cublaslt::kF32, true;
    case GE_F16:
      return *type = cublaslt::kF16, true;
    case GE_BF16:
      return *type = cublaslt::kBf16, true;
    default:
      return false;
  }
}

// What of a unit goes into the library's call.
struct Epilogue {
  float alpha = 1;
  uint32_t bias = 0, added = 0;  // values; 0: none
  cublaslt::Epilogue activation = cublaslt::kEpilogueDefault;
  size_t biases = 0, post_ops = 0;  // so many of the unit's, from the first
  bool wide = false;                // the product stays in float32 for what follows
};

class EpilogueOf {
 public:
  EpilogueOf(const Unit& unit, const Parser& parser, bool rough)
      : unit_(unit), parser_(parser), rough_(rough) {}

  Epilogue Find() {
    Take();
    if (e_.biases + e_.post_ops >= OwnSteps()) return e_;
    // What one operator makes is rounded once: its other parts meet the product in float32.
    Epilogue factor;
    factor.alpha = e_.alpha;
    factor.post_ops = unit_.bias.empty() && IsFactor(unit_.post_ops[0]) ? 1 : 0;
    factor.wide = parser_.dtype(unit_.out[0]) != GE_F32;
    return factor;
  }

 private:
  // Of a Gemm's own: its factor and its C.
  size_t OwnSteps() const {
    for (const uint32_t n : unit_.nodes) {
      const ge_node& node = parser_.node(n);
      if (!gp::IsOp(node, "Gemm")) continue;
      return (node.n_in > 2 && node.in[2] != 0 ? 1u : 0u) +
             (As<ProductSpec>(unit_)->alpha != 1 ? 1u : 0u);
    }
    return 0;
  }
  void Take() {
    if (!unit_.bias.empty()) {
      if (unit_.bias_factor != 1 || !TakeBias(unit_.bias[0])) return;
      e_.biases = 1;
      if (unit_.bias.size() > 1) return;  // what follows stands behind all of them
    } else if (!unit_.post_ops.empty() && IsFactor(unit_.post_ops[0])) {
      e_.alpha = unit_.post_ops[e_.post_ops++].a;
    }
    while (e_.post_ops < unit_.post_ops.size() && TakeAdd(unit_.post_ops[e_.post_ops])) {
      ++e_.post_ops;
    }
    if (e_.post_ops < unit_.post_ops.size() && TakeActivation(unit_.post_ops[e_.post_ops])) {
      ++e_.post_ops;
    }
  }
  static bool IsFactor(const PostOp& q) { return q.fn == Fn::kLinear && q.b == 0; }
  bool OneDtype(uint32_t value) const {
    return parser_.dtype(value) == parser_.dtype(unit_.out[0]);
  }
  // One element a column of the result, the same for all rows.
  bool TakeBias(uint32_t value) {
    const Dims d = parser_.dims(value);
    if (e_.bias != 0 || !OneDtype(value) || d.empty() || d.back() != unit_.dims.back() ||
        Product(d) != d.back()) {
      return false;
    }
    e_.bias = value;
    return true;
  }
  bool TakeAdd(const PostOp& q) {
    if (q.fn != Fn::kAdd || q.operand == 0) return false;
    if (TakeBias(q.operand)) return true;
    if (e_.added != 0 || !OneDtype(q.operand) ||
        Product(parser_.dims(q.operand)) != Product(unit_.dims)) {
      return false;
    }
    e_.added = q.operand;
    return true;
  }
  bool TakeActivation(const PostOp& q) {
    if (q.fn == Fn::kRelu && q.a == 0) {
      e_.activation = cublaslt::kEpilogueRelu;
    } else if (q.fn == Fn::kGeluTanh && rough_) {
      e_.activation = cublaslt::kEpilogueGelu;
    } else {
      return false;
    }
    return true;
  }

  const Unit& unit_;
  const Parser& parser_;
  const bool rough_;  // nobody says to how many digits the library's tanh is right
  Epilogue e_;
};

Unit Behind(const Unit& unit, const Epilogue& e) {
  Unit rest = unit;
  rest.bias.erase(rest.bias.begin(), rest.bias.begin() + static_cast<std::ptrdiff_t>(e.biases));
  rest.post_ops.erase(rest.post_ops.begin(),
                      rest.post_ops.begin() + static_cast<std::ptrdiff_t>(e.post_ops));
  return rest;
}

int64_t Matrices(const Dims& d) { return Product(d) / (d[d.size() - 2] * d.back()); }

// Row by row is the transpose, column by column: the library's A is the unit's b.
CublasLtShape ShapeOf(const Unit& unit, const Parser& parser, const Epilogue& e) {
  const auto& spec = *As<ProductSpec>(unit);
  const Dims a = parser.dims(unit.in[0]), b = parser.dims(unit.in[1]);
  const int64_t a_count = Matrices(a), b_count = Matrices(b);
  CublasLtShape shape;
  (void)FindType(parser.dtype(unit.out[0]), &shape.type);
  shape.result = e.wide ? cublaslt::kF32 : shape.type;
  shape.rows = unit.dims.back();
  shape.columns = unit.dims[unit.dims.size() - 2];
  shape.depth = spec.trans_a ? a[a.size() - 2] : a.back();
  shape.trans_a = spec.trans_b;
  shape.trans_b = spec.trans_a;
  shape.batch = std::max(a_count, b_count);
  if (b_count == 1 && !spec.trans_a) {  // all rows of all matrices are those of one
    shape.columns *= shape.batch;
    shape.batch = 1;
  }
  shape.a_repeats = b_count == 1;
  shape.b_repeats = a_count == 1;
  shape.alpha = e.alpha;
  shape.adds = e.added != 0;
  shape.biased = e.bias != 0;
  shape.activation = e.activation;
  return shape;
}

// What tensor cores do in a clock of one processor, as multiples of what its other units do in
// float32, by the vendor's data sheets.
double TensorCoreGain(const DeviceSpeed& speed, bool halves) {
  const double gain = speed.major >= 10 && speed.major < 12  ? 32
                      : speed.major == 9                     ? 16
                      : speed.major == 8 && speed.minor == 0 ? 8
                                                             : 4;
  if (halves) return gain;
  return speed.major >= 8 ? gain / 2 : 1;  // TF32 came with 8.0
}

// As the vendor advises; what it has no place for has slower algorithms.
uint64_t MostWorkspace(const DeviceSpeed& speed) { return (speed.major >= 9 ? 32 : 4) << 20; }

}  // namespace

bool LibraryProducts::Knows(const Unit& unit) { return Is<ProductSpec>(unit); }

bool LibraryProducts::Has(const Unit& unit, const Parser& parser) const {
  cublaslt::DataType type;
  return Knows(unit) && FindType(parser.dtype(unit.out[0]), &type) &&
         std::all_of(unit.in.begin(), unit.in.end(),
                     [&](uint32_t v) { return parser.dtype(v) == parser.dtype(unit.out[0]); }) &&
         library_.Ready();
}

bool LibraryProducts::Rounds(const Unit& unit, const Parser& parser) const {
  return may_round_ && Has(unit, parser) && parser.dtype(unit.out[0]) == GE_F32 &&
         TensorCoreGain(library_.speed(), false) > 1;
}

Unit LibraryProducts::Rest(const Unit& unit, const Parser& parser) const {
  const bool rough = may_round_ || parser.dtype(unit.out[0]) != GE_F32;
  return Behind(unit, EpilogueOf(unit, parser, rough).Find());
}

void LibraryProducts::Price(const Unit& unit, const Parser& parser, device::Work* work) const {
  // Our own kernel reads two numbers from the first cache for each multiplication: an eighth of the
  // peak where all of them are there.
  constexpr double kPlain = 10;
  const Dims a = parser.dims(unit.in[0]);
  const auto depth = As<ProductSpec>(unit)->trans_a ? a[a.size() - 2] : a.back();
  const double flops = 2 * static_cast<double>(Product(unit.dims)) * static_cast<double>(depth);
  const bool halves = parser.dtype(unit.out[0]) != GE_F32;
  if (!Has(unit, parser)) {
    work->flops += (kPlain - 1) * flops;
    return;
  }
  work->workspace = std::max(work->workspace, MostWorkspace(library_.speed()));
  if (halves || Rounds(unit, parser)) {
    work->flops += flops / TensorCoreGain(library_.speed(), halves) - flops;
  }
}

bool LibraryProducts::Record(const Unit& unit, int device, Recorder* recorder) const {
  const Parser& p = recorder->parser();
  const bool rough = may_round_ || p.dtype(unit.out[0]) != GE_F32;
  Epilogue e = EpilogueOf(unit, p, rough).Find();
  std::unique_ptr<CublasLtProduct> product;
  for (bool plain = false; product == nullptr; plain = true) {
    if (plain) {  // nothing of what follows
      e = Epilogue();
      e.wide = p.dtype(unit.out[0]) != GE_F32 && !(unit.bias.empty() && unit.post_ops.empty());
    }
    CublasLtShape shape = ShapeOf(unit, p, e);
    shape.tf32 = Rounds(unit, p);
    std::string why;
    product = CublasLtProduct::Make(library_, device, shape, MostWorkspace(library_.speed()), &why);
    if (product == nullptr && plain) {
      library_.Say("a product stays with the engine's own kernel: " + why);
      return false;
    }
  }
  // All is read before the result gets its place: it may take the place of one of them.
  std::vector<Use> uses = {Use(), Reads(recorder->Read(unit.in[1])),
                           Reads(recorder->Read(unit.in[0]))};
  if (e.added != 0) uses.push_back(Reads(recorder->Read(e.added)));
  if (e.bias != 0) uses.push_back(Reads(recorder->Read(e.bias)));
  const Ref result = recorder->Write(unit.out[0]);
  const Unit rest = Behind(unit, e);
  const MainResult main = e.wide ? ResultOfMain(rest, result, recorder)
                                 : MainResult{result, NumberOf(p.dtype(unit.out[0]))};
  uses[0] = Writes(main.place);
  if (product->workspace() > 0) uses.push_back(Writes(recorder->Workspace(product->workspace())));
  recorder->Add(std::make_unique<CublasLtCall>(std::move(product)), std::move(uses));
  RecordPostOps(rest, main, result, recorder);
  return true;
}

}  // namespace ge_engines::gpu
