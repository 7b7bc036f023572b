// What If, Loop, Scan and Call hand to the functions that they name. ONNX rules; captured values
// are trailing inputs.
#include <algorithm>

#include "ge/infer/module_infer.h"
#include "ge/ops/gradient.h"

namespace ge::infer {
namespace {

constexpr int kMaxLoopRounds = 4;  // Then what still changes has an unknown rank.

// A scanned input without its scan axis, as the body sees one step of it.
Result<Type> StepOf(const Type& t, int64_t axis) {
  Type step = t;
  if (!t.ranked) return step;
  const auto rank = static_cast<int64_t>(t.rank());
  if (axis < -rank || axis >= rank) {
    return Status(Code::kInvalidGraph, "scans axis " + std::to_string(axis) +
                                           " of an input of rank " + std::to_string(rank));
  }
  step.dims.erase(step.dims.begin() + (axis < 0 ? axis + rank : axis));
  return step;
}

// The content of a tensor is not passed into functions: a body runs many times.
Type ArgType(const Function& f, ValueId v) { return v ? f.value(v).type : Type{}; }

// True when every dim of `t` that differs from `other` may be any number.
bool Generalise(Type* t, const Type& other, Graph* g, const std::string& stem) {
  if (!t->is_tensor() || !other.is_tensor() || !t->ranked) return false;
  if (!other.ranked || other.dims.size() != t->dims.size()) {
    t->ranked = false;
    t->dims.clear();
    return true;
  }
  bool changed = false;
  for (size_t i = 0; i < t->dims.size(); ++i) {
    if (t->dims[i] == other.dims[i]) continue;
    Symbol s;
    s.name = stem + "_" + std::to_string(i);
    s.origin = "a size that differs between calls";
    const Dim any = g->dims.OfSymbol(g->dims.AddSymbol(s));
    changed |= !(t->dims[i] == any);
    t->dims[i] = any;
  }
  return changed;
}

// Where a function calls itself, what it returns is not known yet: its declared types count.
Status WantDeclaredResults(const Function& f) {
  for (const ValueId v : f.results) {
    if (f.value(v).type.kind != TypeKind::kUnknown) continue;
    return Status(Code::kInvalidGraph, "calls '" + f.name + "' from within it, and result '" +
                                           f.value(v).name + "' of it has no type; declare one");
  }
  return {};
}

}  // namespace

Result<std::vector<Type>> ModuleInfer::Arguments(const Function& caller, const Node& node) {
  std::vector<Type> args;
  const auto count = static_cast<int64_t>(node.inputs.size());
  const bool onnx = node.domain.empty();
  int64_t first = onnx && node.op == "If" ? 1 : 0;
  if (onnx && node.op == "Loop") {
    args = {TensorType(DType::kInt64, std::vector<Dim>{}),
            TensorType(DType::kBool, std::vector<Dim>{})};
    first = 2;
  }
  int64_t scan_begin = count, scan_end = count;
  if (onnx && node.op == "Scan") {
    scan_end = count - CapturesOf(node);
    const int64_t scans = AttrInt(node, "num_scan_inputs");
    if (scans < 1 || scans > scan_end) {
      return Status(Code::kInvalidGraph, "num_scan_inputs is " + std::to_string(scans) +
                                             ", wanted 1 to " + std::to_string(scan_end));
    }
    scan_begin = scan_end - scans;
  }
  const std::vector<int64_t>& axes = AttrInts(node, "scan_input_axes");
  for (int64_t i = first; i < count; ++i) {
    Type t = ArgType(caller, node.inputs[i]);
    if (onnx && node.op == "SequenceMap" && i < count - CapturesOf(node) && !t.elems.empty()) {
      t = Type(t.elems[0]);  // an element at a time
    }
    if (i >= scan_begin && i < scan_end) {
      const auto k = static_cast<size_t>(i - scan_begin);
      GE_ASSIGN_OR_RETURN(t, StepOf(t, k < axes.size() ? axes[k] : 0));
    }
    args.push_back(std::move(t));
  }
  return args;
}

Status ModuleInfer::SetParams(FunctionId callee, const std::string& role,
                              const std::vector<Type>& args, bool* changed) {
  Function& f = graph_->fn(callee);
  if (f.params.size() != args.size()) {
    return Status(Code::kInvalidGraph, role + " '" + f.name + "' takes " +
                                           std::to_string(f.params.size()) +
                                           " inputs but is given " + std::to_string(args.size()));
  }
  std::vector<Type>& declared = declared_[callee];
  if (progress_[callee] == Progress::kNew) {
    for (const ValueId p : f.params) declared.push_back(f.value(p).type);
  }
  for (size_t i = 0; i < args.size(); ++i) {
    Value& v = f.value(f.params[i]);
    if (v.type == args[i]) continue;
    const std::string what = "input " + std::to_string(i) + " of " + role + " '" + f.name + "'";
    Type next = v.type;
    if (call_sites_[callee] > 1 && next.ranked && args[i].is_tensor() &&
        next.dtype == args[i].dtype) {
      // One function for all its callers: it knows only what they have in common.
      Generalise(&next, args[i], graph_, f.name + "_" + std::to_string(i));
    } else {
      // Its only caller may have taken narrower types before: what is declared counts alone.
      const Type& before = call_sites_[callee] == 1 ? declared[i] : v.type;
      GE_ASSIGN_OR_RETURN(next, MergeTypes(before, args[i], graph_->dims, {}, what));
    }
    *changed |= !(next == v.type);
    v.type = std::move(next);
  }
  return {};
}

Status ModuleInfer::RunCallee(const Node& node, FunctionId callee, int depth, bool changed,
                              bool* spared) {
  if (changed) failures_[callee] = RunFunction(callee, depth + 1);
  const Status& status = failures_[callee];
  const bool branch = node.domain.empty() && node.op == "If";
  const bool may_be_spared = branch && status.code() == Code::kInvalidGraph && !*spared;
  if (status.ok() || !may_be_spared) return status;
  *spared = true;
  ForgetComputed(callee);
  Function& f = graph_->fn(callee);
  for (const Node& n : f.nodes) {
    for (const ValueId v : n.outputs) f.value(v).type = Type{};
  }
  return {};
}

// A call like one before it: most of them where layers are functions.
bool ModuleInfer::TakesAlready(const Function& caller, const Node& node, FunctionId callee) const {
  const Function& f = graph_->fn(callee);
  if (node.domain != "ge" || node.op != "Call" || progress_[callee] == Progress::kNew) return false;
  if (node.inputs.size() != f.params.size()) return false;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == 0 || !(caller.value(v).type == f.value(f.params[i]).type)) return false;
  }
  return true;
}

Status ModuleInfer::InferCallees(FunctionId fn, const Node& node, int depth) {
  bool spared = false;  // a branch of an If; not both
  for (const Callee& c : node.callees) {
    if (c.fn == 0 || c.fn >= graph_->functions.size()) {
      return Status(Code::kInvalidGraph, "calls function " + std::to_string(c.fn) + " as '" +
                                             c.role + "', which does not exist");
    }
    if (progress_[c.fn] == Progress::kOpen) {
      GE_RETURN_IF_ERROR(WantDeclaredResults(graph_->fn(c.fn)));
      continue;
    }
    if (TakesAlready(graph_->fn(fn), node, c.fn)) {
      GE_RETURN_IF_ERROR(RunCallee(node, c.fn, depth, false, &spared));
      continue;
    }
    GE_ASSIGN_OR_RETURN(std::vector<Type> args, Arguments(graph_->fn(fn), node));
    if (node.domain == "ge" && node.op == "Partial") {  // the others as the function declares them
      const Function& f = graph_->fn(c.fn);
      for (size_t i = args.size(); i < f.params.size(); ++i) {
        args.push_back(f.value(f.params[i]).type);
      }
    }
    if (IsGradient(node)) {  // what stands behind them are cotangents
      args.resize(std::min(args.size(), graph_->fn(c.fn).params.size()));
    }
    bool changed = progress_[c.fn] == Progress::kNew;
    GE_RETURN_IF_ERROR(SetParams(c.fn, c.role, args, &changed));
    GE_RETURN_IF_ERROR(RunCallee(node, c.fn, depth, changed, &spared));
    if (node.domain.empty() && node.op == "Loop") {
      const auto inputs = static_cast<int64_t>(node.inputs.size());
      GE_RETURN_IF_ERROR(SettleCarried(c.fn, 2, 1, inputs - 2 - CapturesOf(node), depth));
    }
    if (node.domain.empty() && node.op == "Scan") {
      const auto inputs = static_cast<int64_t>(node.inputs.size());
      const int64_t states = inputs - CapturesOf(node) - AttrInt(node, "num_scan_inputs");
      GE_RETURN_IF_ERROR(SettleCarried(c.fn, 0, 0, states, depth));
    }
  }
  return {};
}

// Carried values whose size changes from step to step get a symbol of their own, until the body
// gives back what it takes.
Status ModuleInfer::SettleCarried(FunctionId body, size_t first_param, size_t first_result,
                                  int64_t carried, int depth) {
  for (int round = 0; round < kMaxLoopRounds; ++round) {
    Function& f = graph_->fn(body);
    bool changed = false;
    for (int64_t i = 0; i < carried; ++i) {
      const auto at = static_cast<size_t>(i);
      const size_t param = first_param + at, result = first_result + at;
      if (param >= f.params.size() || result >= f.results.size()) continue;
      Type& want = f.value(f.params[param]).type;
      const Type& have = f.value(f.results[result]).type;
      if (want.is_tensor() && have.is_tensor() && IsKnown(have.dtype) && want.dtype != have.dtype) {
        return Status(Code::kInvalidGraph, "carried value " + std::to_string(i) + " is " +
                                               std::string(DTypeName(want.dtype)) + " before and " +
                                               std::string(DTypeName(have.dtype)) +
                                               " after a step of '" + f.name + "'");
      }
      Type next = want;
      if (round + 1 == kMaxLoopRounds && next.dims != have.dims) next.ranked = false;
      if (!next.ranked) next.dims.clear();
      Generalise(&next, have, graph_, f.name + "_carried_" + std::to_string(i));
      changed |= !(next == want);
      want = std::move(next);
    }
    if (!changed) return {};
    GE_RETURN_IF_ERROR(RunFunction(body, depth + 1));
  }
  return {};
}

}  // namespace ge::infer
