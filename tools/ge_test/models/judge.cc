// When two runs of a random model agree. ref's answer is wanted; how far another engine may be off
// is measured, not guessed: ref runs again with every rounded result off by a little, and what that
// does to an output, taken several times, is allowed. Whole numbers and bools must be equal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "tools/ge_test/models/random_models.h"
#include "tools/ge_test/random/bounds.h"

namespace ge::test {
namespace {

// Relative to the greatest magnitude of a value. In f32 ten times what an operator may be off in
// its own random cases; in the narrow types the last bit.
double NoiseOf(DType t) {
  return t == DType::kBfloat16 ? 0x1p-8 : t == DType::kFloat16 ? 0x1p-11 : 1e-5;
}
// Of the greatest magnitude of an output, whatever the noise says.
double FloorOf(DType t) {
  return t == DType::kBfloat16 ? 0x1p-6 : t == DType::kFloat16 ? 0x1p-9 : 1e-4;
}
constexpr double kNoiseTimes = 5;    // this much of what noise changes is allowed
constexpr double kModelAtol = 1e-6;  // of values around 1: for what should be 0
constexpr double kLoose = 0.01;      // an output that may be off by more says little

bool IsNoisy(DType t) { return (Bit(t) & kFloats) != 0; }

// Whether a node's floats are rounded at all: what only moves or chooses is exact.
bool IsRounded(const Node& n) {
  if (n.domain.empty() && (n.op == "Cast" || n.op == "DequantizeLinear")) return true;
  const OpDef* op = FindOp(n.domain, n.op);
  const RandomOp* record = op != nullptr ? FindRandomOp(*op) : nullptr;
  return record != nullptr && record->bound > 0;
}

// Whether a node takes a mean away and divides by the deviation: where its numbers are nearly
// equal, the mean's last bit is the answer, and how it falls differs from kernel to kernel.
bool IsCentring(const Node& n) {
  return n.domain.empty() && (n.op == "MeanVarianceNormalization" || n.op == "LayerNormalization" ||
                              n.op == "InstanceNormalization" || n.op == "GroupNormalization");
}

class NoiseMaker {
 public:
  NoiseMaker(const RandomModel& model, uint64_t seed) : model_(model), r_(seed) {}

  // The model's graph with something added to each rounded result.
  Result<Graph> Disturbed() {
    Graph g = model_.graph;
    Function& main = g.fn(RandomModel::kMainFn);
    for (const ValueId v : main.params) {
      main.value(v).type = TensorType(model_.values[v]->dtype, model_.values[v]->dims);
    }
    Graph typed = g;
    FillDefaults(&typed);
    GE_RETURN_IF_ERROR(Infer(&typed));
    for (FunctionId fn = 1; fn < g.functions.size(); ++fn) Disturb(&g, fn, typed.fn(fn));
    return g;
  }

  std::vector<std::shared_ptr<HostTensor>> Inputs() {
    std::vector<std::shared_ptr<HostTensor>> out;
    for (const ValueId v : model_.main().params) {
      auto t = Convert(*model_.values[v], model_.values[v]->dtype);
      const bool noisy = IsNoisy(t->dtype) && model_.exact.count(v) == 0;
      for (int64_t i = 0, n = noisy ? t->count() : 0; i < n; ++i) {
        SetElement(t.get(), i, ElementAsDouble(*t, i) * (1 + Sign() * NoiseOf(t->dtype)));
      }
      out.push_back(std::move(t));
    }
    return out;
  }

 private:
  double Sign() { return r_.Chance(0.5) ? 1 : -1; }

  void Disturb(Graph* g, FunctionId fn, const Function& typed) {
    std::vector<Node> nodes = std::move(g->fn(fn).nodes);
    g->fn(fn).nodes.clear();
    std::map<ValueId, ValueId> instead;
    const auto replace = [&](ValueId* v) {
      const auto it = instead.find(*v);
      if (it != instead.end()) *v = it->second;
    };
    for (Node& n : nodes) {
      // Equal numbers that were only moved here carry equal noise, if any; other readers keep them.
      const ValueId x = IsCentring(n) ? n.inputs[0] : 0;
      for (ValueId& v : n.inputs) replace(&v);
      if (x != 0 && instead.count(x) == 0 && IsNoisy(typed.value(x).type.dtype)) {
        n.inputs[0] = AddNoise(g, fn, x, typed.value(x).type);
      }
      const bool rounded = IsRounded(n);
      const std::vector<ValueId> outputs = n.outputs;
      g->fn(fn).nodes.push_back(std::move(n));
      for (const ValueId v : outputs) {
        if (v == 0 || !rounded || !IsNoisy(typed.value(v).type.dtype)) continue;
        instead[v] = AddNoise(g, fn, v, typed.value(v).type);
      }
    }
    for (ValueId& v : g->fn(fn).results) replace(&v);
  }

  // In the main function, where the values are known, by a share of the greatest magnitude; in
  // bodies by a share of each element.
  ValueId AddNoise(Graph* g, FunctionId fn, ValueId v, const Type& type) {
    const HostTensor* known = fn == RandomModel::kMainFn ? model_.values[v].get() : nullptr;
    const Dims dims = known ? known->dims : type.is_static() ? type.static_dims() : Dims();
    auto noise = MakeTensor(type.dtype, dims);
    if (!noise.ok()) return v;
    const double size = NoiseOf(type.dtype) * (known ? GreatestFinite(*known) : 1);
    for (int64_t i = 0, n = noise->count(); i < n; ++i) {
      SetElement(&*noise, i, (known ? 0 : 1) + Sign() * size);
    }
    const ValueId c = AddConstValue(g, &g->fn(fn), ToConst(*noise, ""));
    return AppendModelNode(g, fn, known ? "Add" : "Mul", {v, c}, {});
  }

  const RandomModel& model_;
  Random r_;
};

// NaN, +inf, -inf or finite.
int KindOf(double v) { return std::isnan(v) ? 3 : !std::isinf(v) ? 0 : v > 0 ? 1 : 2; }

// Whether the noisy runs give the same kind of number here; else nothing can be said.
bool IsSettled(const ModelReference& r, size_t output, int64_t i, int kind) {
  return std::all_of(r.noisy.begin(), r.noisy.end(), [&](const RunResult& run) {
    return KindOf(ElementAsDouble(run.outputs[output], i)) == kind;
  });
}

// Fills allowed, unsettled, judged and loose.
void Measure(ModelReference* r) {
  r->allowed.assign(r->wanted.outputs.size(), 0);
  r->unsettled.assign(r->wanted.outputs.size(), 0);
  for (size_t o = 0; o < r->wanted.outputs.size(); ++o) {
    const HostTensor& w = r->wanted.outputs[o];
    if (!IsNoisy(w.dtype)) continue;
    double moved = 0;
    for (int64_t i = 0, n = w.count(); i < n; ++i) {
      const double v = ElementAsDouble(w, i);
      if (!IsSettled(*r, o, i, KindOf(v))) {
        ++r->unsettled[o];
      } else if (std::isfinite(v)) {
        for (const RunResult& run : r->noisy) {
          moved = std::max(moved, std::fabs(ElementAsDouble(run.outputs[o], i) - v));
        }
      }
    }
    const double most = GreatestFinite(w);
    r->allowed[o] = kModelAtol + FloorOf(w.dtype) * most + kNoiseTimes * moved;
    ++r->judged;
    r->loose +=
        r->unsettled[o] > 0 || (r->allowed[o] > kLoose * most && r->allowed[o] > 2 * kModelAtol);
  }
}

std::string FloatsDiffer(const ModelReference& r, size_t o, const HostTensor& found) {
  const HostTensor& wanted = r.wanted.outputs[o];
  for (int64_t i = 0, n = wanted.count(); i < n; ++i) {
    const double f = ElementAsDouble(found, i), w = ElementAsDouble(wanted, i);
    const int kind = KindOf(w);
    if (!IsSettled(r, o, i, kind)) continue;
    if (KindOf(f) == kind && (kind != 0 || std::fabs(f - w) <= r.allowed[o])) continue;
    return fmt::format("element {} is {}, wanted {} (may be off by {:.3g})", i, f, w, r.allowed[o]);
  }
  return "";
}

}  // namespace

Result<ModelReference> MakeModelReference(const RandomModel& model) {
  const PassNames none(std::in_place);
  ModelReference r;
  GE_ASSIGN_OR_RETURN(r.wanted, RunGraph(TidyGraph(model), "ref", none, ModelInputs(model)));
  for (const uint64_t seed : {11u, 12u}) {
    NoiseMaker noise(model, seed);
    RandomModel disturbed;
    GE_ASSIGN_OR_RETURN(disturbed.graph, noise.Disturbed());
    const auto inputs = noise.Inputs();
    std::vector<const HostTensor*> in;
    for (const auto& t : inputs) in.push_back(t.get());
    GE_ASSIGN_OR_RETURN(r.noisy.emplace_back(), RunGraph(TidyGraph(disturbed), "ref", none, in));
    for (size_t o = 0; o < r.wanted.outputs.size(); ++o) {
      const HostTensor &w = r.wanted.outputs[o], &found = r.noisy.back().outputs[o];
      if (found.dtype == w.dtype && found.dims == w.dims) continue;
      return Status(Code::kInternal,
                    fmt::format("output '{}' is {}, but {} when floats are off by a little",
                                r.wanted.names[o], TypeText(w), TypeText(found)));
    }
  }
  Measure(&r);
  return r;
}

std::string CompareModel(const RandomModel& model, const ModelReference& reference,
                         const std::string& engines) {
  auto run = RunGraph(TidyGraph(model), engines, std::nullopt, ModelInputs(model));
  if (!run.ok()) return run.status().ToString();
  for (size_t o = 0; o < run->outputs.size(); ++o) {
    const HostTensor &found = run->outputs[o], &wanted = reference.wanted.outputs[o];
    const bool floats =
        IsNoisy(wanted.dtype) && found.dtype == wanted.dtype && found.dims == wanted.dims;
    const std::string difference =
        floats ? FloatsDiffer(reference, o, found) : Differs(found, wanted, Tolerance());
    if (!difference.empty()) {
      return fmt::format("output '{}' ({}): {}", reference.wanted.names[o], TypeText(wanted),
                         difference);
    }
  }
  return "";
}

std::string JudgeModel(const RandomModel& model, const std::string& engines) {
  auto reference = MakeModelReference(model);
  if (!reference.ok()) return "ref: " + reference.status().ToString();
  return CompareModel(model, *reference, engines);
}

}  // namespace ge::test
