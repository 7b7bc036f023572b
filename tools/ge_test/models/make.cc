// How a random model comes about: step by step a case of an operator whose inputs are, where that
// is legal, earlier values made to fit. Each step is run on ref at once, so that what ref refuses,
// and what is not finite, never gets in.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ge/control/host_op.h"
#include "tools/ge_test/models/random_models.h"
#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

bool IsFitNode(const Node& node) { return node.name.rfind(kFitNodePrefix, 0) == 0; }

namespace {

constexpr int64_t kModelMostElements = 4096;  // of a value that is read again
constexpr int64_t kModelFewestSteps = 13, kModelMostSteps = 26;

struct ModelOp {
  const OpDef* op;
  const RandomOp* record;
};

bool ModelListHas(std::string_view words, std::string_view name) {
  const std::string padded = fmt::format(" {} ", words), wanted = fmt::format(" {} ", name);
  return padded.find(wanted) != std::string::npos;
}

// Operators whose answer jumps: an engine's rounding of an input would show as another result, so
// their inputs are inputs of the graph. Of those in the second list only input 0 may be computed;
// those in the third take whole numbers of any size within the case's own.
constexpr std::string_view kModelJumps =
    "ArgMax ArgMin TopK Round Floor Ceil Sign Equal Greater GreaterOrEqual Less LessOrEqual IsInf "
    "IsNaN CastLike BitCast DynamicQuantizeLinear QuantizeLinear QLinearConv QLinearMatMul Hardmax "
    "OneHot NonZero Unique NonMaxSuppression ThresholdedRelu Shrink Mod Range MelWeightMatrix";
constexpr std::string_view kModelFirstOnly =
    "Clip Resize GridSample RoiAlign MaxRoiPool Pow MaxUnpool Compress Pad Dropout DeformConv";
constexpr std::string_view kModelWhole =
    "Add Sub Mul Neg Abs Min Max Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor Not "
    "BitwiseAnd BitwiseOr BitwiseXor BitwiseNot Where Concat Transpose Reshape Flatten Squeeze "
    "Unsqueeze Identity Expand Tile Split ReduceSum ReduceMax ReduceMin Shape Size Cast";
// Of other domains than ONNX's own those that are known to be smooth.
constexpr std::string_view kModelSmooth =
    "BiasGelu FastGelu QuickGelu Gelu FusedMatMul FusedConv FusedGemm SkipLayerNormalization "
    "SkipSimplifiedLayerNormalization SimplifiedLayerNormalization RotaryEmbedding Attention "
    "MultiHeadAttention GroupQueryAttention Scaler";
// What engines have kernels of their own for: half of all steps.
constexpr std::string_view kModelHot =
    "Conv ConvTranspose MatMul Gemm MaxPool AveragePool GlobalAveragePool GlobalMaxPool ReduceMean "
    "ReduceSum ReduceMax ReduceMin Relu LeakyRelu Sigmoid Tanh HardSigmoid HardSwish Gelu Erf Exp "
    "Sqrt Abs Neg Reciprocal Sin Add Sub Mul Div Max Min Pow Clip BatchNormalization Softmax "
    "LayerNormalization Concat Resize Reshape Flatten Squeeze Unsqueeze Identity Transpose Slice "
    "Split Expand Gather Cast Equal LSTM Where";
// Those that take any shape, so that they can follow a value as it is.
constexpr std::string_view kModelUnary =
    "Relu LeakyRelu Sigmoid Tanh HardSigmoid HardSwish Gelu Erf Exp Sqrt Abs Neg Reciprocal Sin "
    "Softplus Softsign Elu Selu Celu Mish Swish Cos Log Identity Softmax Clip LogSoftmax";
constexpr std::string_view kModelBinary = "Add Sub Mul Div Max Min Add Mul";
// What such functions are often computed along with.
constexpr std::string_view kModelLayers =
    "Conv ConvTranspose MatMul Gemm BatchNormalization Add Mul";

bool ModelJumps(const OpDef& op) {
  if (op.domain[0] != 0) return !ModelListHas(kModelSmooth, op.name);
  return ModelListHas(kModelJumps, op.name);
}

bool ModelTakes(const OpDef& op) {
  const std::string_view name = op.name;
  if (FindRandomOp(op) == nullptr || std::string_view(op.domain) == "ge") return false;
  if (name.rfind("Random", 0) == 0 || name == "Bernoulli" || name == "Multinomial") return false;
  return op.deterministic || name == "Dropout";
}

const std::vector<ModelOp>& ModelOps(bool hot) {
  static const std::array<std::vector<ModelOp>, 2> kAll = [] {
    std::array<std::vector<ModelOp>, 2> all;
    for (const OpDef* op : AllOps()) {
      if (!ModelTakes(*op)) continue;
      all[0].push_back({op, FindRandomOp(*op)});
      if (op->domain[0] == 0 && ModelListHas(kModelHot, op->name)) {
        all[1].push_back(all[0].back());
      }
    }
    return all;
  }();
  return kAll[hot ? 1 : 0];
}

bool IsModelFloat(DType t) { return (Bit(t) & kFloats) != 0; }

DType ModelDType(const OpDef& op, Random* r) {
  const bool from_input = !op.inputs.empty() && std::string_view(op.name) != "ConstantOfShape";
  const DTypeSet legal = from_input ? op.inputs[0].dtypes : op.outputs[0].dtypes;
  if ((legal & Bit(DType::kFloat)) != 0 && r->Chance(0.82)) return DType::kFloat;
  static const std::vector<DType> kTypes = {
      DType::kFloat,    DType::kDouble, DType::kDouble, DType::kFloat16, DType::kFloat16,
      DType::kBfloat16, DType::kInt8,   DType::kInt16,  DType::kInt32,   DType::kInt64,
      DType::kUint8,    DType::kUint16, DType::kUint32, DType::kUint64,  DType::kBool};
  for (;;) {
    const DType t = r->Pick(kTypes);
    if ((legal & Bit(t)) != 0) return t;
  }
}

struct ModelRange {
  double lo = 0, hi = 0, gap = 0;  // gap: the least magnitude
  bool any = false, finite = true;
};

void Widen(ModelRange* range, const HostTensor& t) {
  for (int64_t i = 0, n = t.count(); i < n; ++i) {
    const double v = ElementAsDouble(t, i);
    if (!std::isfinite(v)) range->finite = false;
    if (!range->any) *range = {v, v, std::fabs(v), true, range->finite};
    range->lo = std::min(range->lo, v);
    range->hi = std::max(range->hi, v);
    range->gap = std::min(range->gap, std::fabs(v));
  }
}

// What an input of the operator holds in many of its cases: the domain, as far as cases know it.
const ModelRange& FloatRange(const ModelOp& op, size_t input) {
  constexpr int kDraws = 24;
  static std::map<std::pair<const OpDef*, size_t>, ModelRange> known;
  const auto [it, fresh] = known.try_emplace({op.op, input});
  if (!fresh) return it->second;
  const bool f32 = !op.op->inputs.empty() && (op.op->inputs[0].dtypes & Bit(DType::kFloat)) != 0;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    Random random(draw * 7919 + 1);
    CaseMaker maker(*op.op, f32 ? DType::kFloat : ModelDType(*op.op, &random), &random);
    op.record->make(maker);
    const HostTensor* t =
        input < maker.c.inputs.size() ? maker.c.inputs[input].tensor.get() : nullptr;
    if (t != nullptr && IsModelFloat(t->dtype)) Widen(&it->second, *t);
  }
  return it->second;
}

bool AllFinite(const HostTensor& t) {
  ModelRange range;
  Widen(&range, t);
  return range.finite;
}

class ModelMaker {
 public:
  ModelMaker(uint64_t seed, std::map<std::string, int64_t>* refused) : r_(seed), refused_(refused) {
    model_.graph.opsets[""] = kCanonicalOpset;
    Function& f = model_.graph.AddFunction("main");
    model_.graph.entries.push_back(Entry{"main", f.id, Entry::Role::kInfer, {}});
  }

  RandomModel Make() {
    const bool data_shapes = r_.Chance(0.12), control = r_.Chance(0.2), symbols = r_.Chance(0.5);
    const int64_t steps = r_.Int(kModelFewestSteps, kModelMostSteps);
    int64_t until_wrap = control ? r_.Int(2, 8) : steps + 1;
    for (int64_t i = 0; i < steps; ++i) {
      begins_.push_back(model_.main().nodes.size());
      for (int tries = 0; tries < 40 && !Step(data_shapes); ++tries) {
      }
      if (--until_wrap > 0) continue;
      until_wrap = Wrap() ? r_.Int(5, 20) : 1;
    }
    ChooseResults();
    if (symbols) SymboliseInputs(&model_, &r_);
    return std::move(model_);
  }

 private:
  struct Planned {
    RandomCase c;
    const RandomOp* record = nullptr;
    std::vector<ValueId> from;  // by input; 0 = as the case made it
    std::vector<FitBounds> bounds;
  };

  bool Step(bool data_shapes) {
    Planned p;
    const ValueId layer = LastLayer();
    if (layer != 0 && r_.Chance(0.6)) {
      if (!PlanFollower(layer, &p)) return false;
    } else if (r_.Chance(0.3) ? !PlanFollower(Recent(Pool(true)), &p)
                              : !PlanCase(data_shapes, &p)) {
      return false;
    }
    const RandomModel before = model_;
    const size_t begin = model_.main().nodes.size();
    AddCase(p);
    if (Evaluate(begin)) return true;
    model_ = before;
    return false;
  }

  // What the last node gave, when it is one that engines take what follows along with.
  ValueId LastLayer() const {
    const Function& f = model_.main();
    if (f.nodes.empty() || !ModelListHas(kModelLayers, f.nodes.back().op)) return 0;
    const ValueId v = f.nodes.back().outputs[0];
    const HostTensor& t = *model_.values[v];
    const bool small = t.count() > 0 && t.count() <= kModelMostElements;
    return small && IsModelFloat(t.dtype) && AllFinite(t) ? v : 0;
  }

  // A case as the operator's file makes it, some of its inputs replaced.
  bool PlanCase(bool data_shapes, Planned* p) {
    const ModelOp& op = r_.Pick(ModelOps(r_.Chance(0.5)));
    if (!data_shapes && IsHostOnly(op.op->domain, op.op->name)) return false;
    CaseMaker maker(*op.op, ModelDType(*op.op, &r_), &r_);
    op.record->make(maker);
    p->c = maker.c;
    p->record = op.record;
    p->from.resize(p->c.inputs.size());
    p->bounds.resize(p->c.inputs.size());
    for (size_t i = 0; i < p->c.inputs.size(); ++i) {
      const auto& in = p->c.inputs[i];
      if (!in.tensor || in.constant || in.tensor->count() == 0 || r_.Chance(0.15)) continue;
      if (in.tensor->count() > kModelMostElements || !BoundsOf(op, p->c, i, &p->bounds[i])) {
        continue;
      }
      p->from[i] = PickValue(*in.tensor);
    }
    return true;
  }

  // An operator of any shape right behind a value, as layers and activations follow each other.
  bool PlanFollower(ValueId x, Planned* p) {
    if (x == 0) return false;
    const HostTensor& t = *model_.values[x];
    const int64_t kind = r_.Int(0, 13);
    if (kind <= 5) {
      Follow(p, Word(kModelUnary), x, {});
      if ((p->c.op->inputs[0].dtypes & Bit(t.dtype)) == 0) return false;
      return BoundsOf({p->c.op, p->record}, p->c, 0, &p->bounds[0]);
    }
    if (kind <= 9) {
      Follow(p, Word(kModelBinary), x, {});
      AddSecond(p, t);
    } else if (!PlanLayer(kind, x, t, p)) {
      return false;
    }
    p->bounds[0] = {-8, 8};  // keeps numbers in a range where tolerances mean something
    return (p->c.op->inputs[0].dtypes & Bit(t.dtype)) != 0;
  }

  // Layers as networks have them.
  bool PlanLayer(int64_t kind, ValueId x, const HostTensor& t, Planned* p) {
    const auto rank = static_cast<int64_t>(t.dims.size());
    const bool picture = rank == 4 && t.dtype == DType::kFloat;
    if (picture && r_.Chance(0.6)) {
      if (kind == 10) return PlanPool(x, t, p);
      const int64_t size = r_.Pick(std::vector<int64_t>{1, 3, 3});
      std::vector<std::shared_ptr<const HostTensor>> w = {
          Fresh(t.dtype, {r_.Int(1, 40), t.dims[1], size, size}, -0.5, 0.5)};
      if (r_.Chance(0.5)) w.push_back(Fresh(t.dtype, {w[0]->dims[0]}, -1, 1));
      Follow(p, "Conv", x, std::move(w));
      // A third with taps apart; told by the channels, so that what is drawn behind stays the same.
      const int64_t apart = size == 3 && p->c.inputs[1].tensor->dims[0] % 3 == 0 ? 2 : 1;
      if (apart > 1) p->c.attrs.push_back({"dilations", Dims{apart, apart}});
      if (size == 3) p->c.attrs.push_back({"pads", Dims(4, apart)});
      return true;
    }
    if (rank < 2) return false;
    if (kind <= 11 && t.dtype == DType::kFloat) {
      Follow(p, "MatMul", x, {Fresh(t.dtype, {t.dims.back(), r_.Int(1, 40)}, -0.5, 0.5)});
    } else if (kind == 12) {
      const Dims c = {t.dims[1]};
      Follow(p, "BatchNormalization", x,
             {Fresh(t.dtype, c, 0.5, 2), Fresh(t.dtype, c, -1, 1), Fresh(t.dtype, c, -1, 1),
              Fresh(t.dtype, c, 0.3, 2)});
    } else if (r_.Chance(0.5)) {
      Follow(p, "Concat", x, {});
      AddSecond(p, t);
      p->c.attrs.push_back({"axis", r_.Int(0, rank - 1)});
    } else {
      Follow(p, "Transpose", x, {});
      Dims order;
      for (int64_t i = 0; i < rank; ++i) order.insert(order.begin() + r_.Int(0, i), i);
      p->c.attrs.push_back({"perm", order});
    }
    return true;
  }

  bool PlanPool(ValueId x, const HostTensor& t, Planned* p) {
    if (t.dims[2] < 2 || t.dims[3] < 2 || r_.Chance(0.2)) {
      Follow(p, r_.Chance(0.5) ? "GlobalAveragePool" : "GlobalMaxPool", x, {});
      return true;
    }
    Follow(p, r_.Chance(0.5) ? "MaxPool" : "AveragePool", x, {});
    p->c.attrs.push_back({"kernel_shape", Dims{2, 2}});
    if (r_.Chance(0.5)) p->c.attrs.push_back({"strides", Dims{2, 2}});
    return true;
  }

  void Follow(Planned* p, const std::string& op, ValueId x,
              std::vector<std::shared_ptr<const HostTensor>> constants) {
    p->c.op = FindOp("", op);
    p->record = FindRandomOp(*p->c.op);
    p->c.inputs.push_back({model_.values[x], false});
    for (auto& c : constants) p->c.inputs.push_back({std::move(c), true});
    p->from.assign(p->c.inputs.size(), 0);
    p->from[0] = x;
    p->bounds.resize(p->c.inputs.size());
  }

  // The other operand: a value of the same type where there is one, else new numbers.
  void AddSecond(Planned* p, const HostTensor& x) {
    CaseMaker maker(*p->c.op, x.dtype, &r_);
    const bool whole = std::string_view(p->c.op->name) == "Concat" || r_.Chance(0.5);
    const Dims dims = whole ? x.dims : maker.Narrowed(x.dims);
    p->c.inputs.push_back({Fresh(x.dtype, dims, 0.5, 2), r_.Chance(0.5)});
    p->bounds.emplace_back();
    p->from.push_back(0);
    if (dims != x.dims || std::string_view(p->c.op->name) == "Div") return;
    for (const ValueId v : Pool(true)) {
      const HostTensor& t = *model_.values[v];
      if (t.dtype == x.dtype && t.dims == dims && r_.Chance(0.5)) p->from[1] = v;
    }
  }

  std::shared_ptr<const HostTensor> Fresh(DType dtype, const Dims& dims, double lo, double hi) {
    CaseMaker maker(*ModelOps(false)[0].op, dtype, &r_);
    return maker.Numbers(dtype, dims, lo, hi);
  }

  std::string Word(std::string_view words) {
    std::vector<std::string> all;
    for (size_t at = 0; at < words.size();) {
      const size_t end = std::min(words.find(' ', at), words.size());
      all.emplace_back(words.substr(at, end - at));
      at = end + 1;
    }
    return r_.Pick(all);
  }

  // Whether the input may be a computed value, and within which bounds.
  bool BoundsOf(const ModelOp& op, const RandomCase& c, size_t input, FitBounds* bounds) {
    const std::string_view name = op.op->name;
    const HostTensor& t = *c.inputs[input].tensor;
    if (!IsModelFloat(t.dtype)) {
      const bool whole = IsInteger(t.dtype) && DTypeBits(t.dtype) >= 8;
      if (!ModelListHas(kModelWhole, name) || (!whole && t.dtype != DType::kBool)) return false;
      ModelRange own;
      Widen(&own, t);
      if (whole) *bounds = {own.lo, own.hi};
      return std::fabs(own.lo) < 1e6 && std::fabs(own.hi) < 1e6;
    }
    if (ModelJumps(*op.op)) return false;
    if (ModelListHas(kModelFirstOnly, name) && input > 0 && !(name == "DeformConv" && input != 2)) {
      return false;
    }
    if (name == "MaxPool" && c.outputs > 1) return false;
    if (name == "Cast" && !IsModelFloat(static_cast<DType>(IntOr(c, "to", 0)))) return false;
    ModelRange range = FloatRange(op, input);
    if (name == "Pow" || !range.any) {
      range = ModelRange();
      Widen(&range, t);
    }
    if (!range.finite || range.lo >= range.hi) return false;
    const bool hole = range.lo < 0 && range.hi > 0 && range.gap >= 0.2;
    *bounds = {hole ? range.gap : range.lo, range.hi};
    return true;
  }

  // Values that may be read again, oldest first.
  std::vector<ValueId> Pool(bool floats) const {
    std::vector<ValueId> pool;
    for (ValueId v = 1; v < model_.values.size(); ++v) {
      const HostTensor* t = model_.values[v].get();
      if (t == nullptr || t->count() == 0 || t->count() > kModelMostElements) continue;
      if (IsModelFloat(t->dtype) == floats && (!floats || AllFinite(*t))) pool.push_back(v);
    }
    return pool;
  }

  ValueId Recent(const std::vector<ValueId>& pool) {
    if (pool.empty()) return 0;
    const auto last = static_cast<int64_t>(pool.size()) - 1;
    return pool[static_cast<size_t>(std::max(r_.Int(0, last), r_.Int(0, last)))];
  }

  // A value for this input: often one of the very type, else any that can be made to fit.
  ValueId PickValue(const HostTensor& wanted) {
    const bool floats = IsModelFloat(wanted.dtype);
    std::vector<ValueId> pool = Pool(floats), same;
    std::erase_if(pool,
                  [&](ValueId v) { return !floats && model_.values[v]->dtype != wanted.dtype; });
    for (const ValueId v : pool) {
      const HostTensor& t = *model_.values[v];
      if (t.dtype == wanted.dtype && t.dims == wanted.dims) same.push_back(v);
    }
    return Recent(!same.empty() && r_.Chance(0.5) ? same : pool);
  }

  void AddCase(const Planned& p) {
    const RandomCase& c = p.c;
    Graph& g = model_.graph;
    if (c.op->domain[0] != 0) {
      int64_t& version = g.opsets[c.op->domain];
      version = std::max<int64_t>(version, c.op->since_version);
    }
    const bool jumps = ModelJumps(*c.op) || p.record->bound == 0;
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const auto& in = c.inputs[i];
      if (!in.tensor) {
        inputs.push_back(0);
      } else if (p.from[i] != 0) {
        inputs.push_back(FitValue(&g, RandomModel::kMainFn, p.from[i], *model_.values[p.from[i]],
                                  in.tensor->dtype, in.tensor->dims, p.bounds[i], &r_));
      } else if (in.constant) {
        inputs.push_back(AddConstValue(&g, &model_.main(), ToConst(*in.tensor, "")));
      } else {
        const bool first = ModelListHas(kModelFirstOnly, c.op->name);
        inputs.push_back(AddModelInput(&model_, in.tensor, jumps || first));
      }
    }
    std::vector<Attr> attrs = c.attrs;
    if (c.value) attrs.push_back({"value", ConstRef{g.AddConst(ToConst(*c.value, ""))}});
    Function& f = model_.main();
    Node node;
    node.id = f.next_node_id++;
    node.domain = c.op->domain;
    node.op = c.op->name;
    node.name = fmt::format("n{}", node.id);
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    for (int i = 0; i < c.outputs; ++i) {
      node.outputs.push_back(AddValue(&f, Type(), fmt::format("v{}", f.values.size())));
    }
    f.nodes.push_back(std::move(node));
  }

  // Runs the nodes from `begin` on. False when the model is better off without them.
  bool Evaluate(size_t begin) {
    const Function& f = model_.main();
    std::vector<bool> keep(f.nodes.size(), false);
    std::vector<ValueId> results;
    for (size_t i = begin; i < f.nodes.size(); ++i) {
      keep[i] = true;
      results.insert(results.end(), f.nodes[i].outputs.begin(), f.nodes[i].outputs.end());
    }
    std::erase(results, ValueId{0});
    model_.values.resize(f.values.size());
    const RandomModel part = CutModel(model_, keep, results);
    auto run = RunGraph(TidyGraph(part), "ref", PassNames(std::in_place), ModelInputs(part));
    if (!run.ok()) {
      ++(*refused_)[f.nodes.back().op + ": " + run.status().ToString()];
      return false;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (IsFloat(run->outputs[i].dtype) && !AllFinite(run->outputs[i]) && r_.Chance(0.95)) {
        return false;
      }
      model_.values[results[i]] = std::make_shared<HostTensor>(std::move(run->outputs[i]));
    }
    return true;
  }

  bool Wrap() {
    const auto back = static_cast<size_t>(r_.Int(1, std::min<int64_t>(5, Steps())));
    const size_t begin = begins_[begins_.size() - back];
    const RandomModel before = model_;
    const bool wrapped =
        r_.Chance(0.5) ? WrapInIf(&model_, begin, &r_) : WrapInLoop(&model_, begin, &r_);
    if (wrapped && Evaluate(begin)) {
      begins_.resize(begins_.size() - back + 1);
      return true;
    }
    model_ = before;
    return false;
  }

  int64_t Steps() const { return static_cast<int64_t>(begins_.size()); }

  // Most values that nothing reads, and a few that something does; the rest is dead code.
  void ChooseResults() {
    Function& f = model_.main();
    std::vector<bool> read(f.values.size(), false);
    std::vector<ValueId> made;
    for (const Node& n : f.nodes) {
      for (const ValueId v : n.inputs) read[v] = true;
      for (const ValueId v : n.outputs) {
        if (v != 0) made.push_back(v);
      }
    }
    for (const ValueId v : made) {
      if (r_.Chance(read[v] ? 0.06 : 0.85)) f.results.push_back(v);
    }
    if (f.results.empty() && !made.empty()) f.results.push_back(made.back());
  }

  Random r_;
  std::map<std::string, int64_t>* refused_;
  RandomModel model_;
  std::vector<size_t> begins_;  // of steps: the first node
};

}  // namespace

ValueId AppendModelNode(Graph* graph, FunctionId fn, const char* op, std::vector<ValueId> inputs,
                        std::vector<Attr> attrs) {
  Function& f = graph->fn(fn);
  Node node;
  node.id = f.next_node_id++;
  node.op = op;
  node.name = fmt::format("{}{}", kFitNodePrefix, node.id);
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.outputs.push_back(AddValue(&f, Type(), fmt::format("v{}", f.values.size())));
  f.nodes.push_back(std::move(node));
  return f.nodes.back().outputs[0];
}

ValueId AppendModelInts(Graph* graph, FunctionId fn, const Dims& dims,
                        const std::vector<int64_t>& values) {
  const Const c =
      MakeConst(TensorType(DType::kInt64, dims), values.data(), values.size() * sizeof(int64_t));
  return AddConstValue(graph, &graph->fn(fn), c);
}

ValueId AddModelInput(RandomModel* model, std::shared_ptr<const HostTensor> tensor, bool exact) {
  Function& f = model->main();
  const ValueId v =
      AddValue(&f, TensorType(tensor->dtype, tensor->dims), fmt::format("x{}", f.params.size()));
  f.params.push_back(v);
  model->values.resize(f.values.size());
  model->values[v] = std::move(tensor);
  if (exact) model->exact.insert(v);
  return v;
}

ValueId FitValue(Graph* graph, FunctionId fn, ValueId from, const HostTensor& have, DType dtype,
                 const Dims& dims, const FitBounds& bounds, Random* random) {
  ValueId v = from;
  int64_t wanted = 1;
  for (const int64_t d : dims) wanted *= d;
  Dims now = have.dims;
  if (have.dtype != dtype) {
    v = AppendModelNode(graph, fn, "Cast", {v}, {{"to", static_cast<int64_t>(dtype)}});
  }
  const int64_t count = have.count();
  if (count != wanted) {
    if (now.size() != 1) {
      v = AppendModelNode(graph, fn, "Reshape", {v, AppendModelInts(graph, fn, {1}, {-1})}, {});
    }
    std::vector<int64_t> index;
    const int64_t start = random->Int(0, count - 1),
                  step = random->Pick(std::vector<int64_t>{1, 3});
    for (int64_t i = 0; i < wanted; ++i) index.push_back((start + i * step) % count);
    v = AppendModelNode(graph, fn, "Gather", {v, AppendModelInts(graph, fn, {wanted}, index)}, {});
    now = {wanted};
  }
  if (now != dims) {
    const ValueId shape = AppendModelInts(graph, fn, {static_cast<int64_t>(dims.size())}, dims);
    v = AppendModelNode(graph, fn, "Reshape", {v, shape}, {});
  }
  if (bounds.lo > bounds.hi) return v;
  // A hundredth of the range aside, so that rounding does not lead out of it.
  const double margin = IsModelFloat(dtype) ? (bounds.hi - bounds.lo) / 100 : 0;
  bool inside = true;
  for (int64_t i = 0; i < count; ++i) {
    const double e = ElementAsDouble(have, i);
    inside = inside && e >= bounds.lo + margin && e <= bounds.hi - margin;
  }
  if (inside && random->Chance(0.7)) return v;
  std::vector<ValueId> inputs = {v};
  for (const double bound : {bounds.lo, bounds.hi}) {
    auto t = MakeTensor(dtype, {});
    if (!t.ok()) return v;
    SetElement(&*t, 0, bound);
    inputs.push_back(AddConstValue(graph, &graph->fn(fn), ToConst(*t, "")));
  }
  return AppendModelNode(graph, fn, "Clip", std::move(inputs), {});
}

RandomModel MakeRandomModel(uint64_t seed, int64_t index, std::map<std::string, int64_t>* refused) {
  uint64_t h = (seed * 0x9e3779b97f4a7c15u) ^ (static_cast<uint64_t>(index) + 0x7f4a7c15u);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  return ModelMaker(h ^ (h >> 27), refused).Make();
}

}  // namespace ge::test
