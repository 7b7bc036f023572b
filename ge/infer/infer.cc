#include "ge/infer/infer.h"

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/infer/module_infer.h"

namespace ge {
namespace infer {

constexpr int kMaxCallDepth = 64;  // The verifier's limit; recursion here is over calls alone.

ModuleInfer::ModuleInfer(Graph* graph, bool checked)
    : graph_(graph),
      checked_(checked),
      progress_(graph->functions.size(), Progress::kNew),
      failures_(graph->functions.size()),
      call_sites_(graph->functions.size(), 0),
      declared_(graph->functions.size()) {
  for (const Function& f : graph->functions) {
    for (const Node& n : f.nodes) {
      for (const Callee& c : n.callees) {
        if (c.fn < call_sites_.size()) ++call_sites_[c.fn];
      }
    }
  }
}

namespace {

// Whether a type says what the elements are, those of a sequence's elements too.
bool SaysElements(const Type& t) {
  if (t.kind == TypeKind::kUnknown) return false;
  if (t.is_tensor()) return IsKnown(t.dtype);
  const bool holds = t.kind == TypeKind::kSequence || t.kind == TypeKind::kOptional;
  return !holds || std::all_of(t.elems.begin(), t.elems.end(), SaysElements);
}

}  // namespace

Status ModuleInfer::Run() {
  for (const Entry& e : graph_->entries) {
    const Function& f = graph_->fn(e.fn);
    for (size_t i = 0; i < f.params.size(); ++i) {
      const Value& v = f.value(f.params[i]);
      if (SaysElements(v.type)) continue;
      return Status(Code::kInvalidGraph, "input '" + v.name + "' of entry '" + e.name +
                                             "' has no element type; declare one");
    }
    GE_RETURN_IF_ERROR(RunFunction(e.fn, 0));
  }
  for (FunctionId i = 1; i < graph_->functions.size(); ++i) {
    if (progress_[i] != Progress::kNew || call_sites_[i] != 0) continue;
    bool typed = true;
    for (ValueId v : graph_->fn(i).params) {
      const Type& type = graph_->fn(i).value(v).type;
      typed &= type.kind != TypeKind::kUnknown && (type.is_tensor() || SaysElements(type));
    }
    if (typed) GE_RETURN_IF_ERROR(RunFunction(i, 0));
  }
  return {};
}

Status ModuleInfer::RunFunction(FunctionId fn, int depth) {
  if (depth > kMaxCallDepth) {
    return Status(Code::kLimitExceeded, "function '" + graph_->fn(fn).name +
                                            "' is called through more than " +
                                            std::to_string(kMaxCallDepth) + " functions");
  }
  if (progress_[fn] == Progress::kDone) ForgetComputed(fn);
  progress_[fn] = Progress::kOpen;
  for (size_t i = 0; i < graph_->fn(fn).nodes.size(); ++i) {
    GE_RETURN_IF_ERROR(CheckInterrupt());
    Status status = InferNode(fn, i, depth);
    if (status.ok()) continue;
    progress_[fn] = Progress::kDone;  // as far as it goes
    return std::move(status).AtNode(NodeLabel(graph_->fn(fn).nodes[i]));
  }
  progress_[fn] = Progress::kDone;
  return {};
}

// What was made from the parameters' former types does not hold for the present ones.
void ModuleInfer::ForgetComputed(FunctionId fn) {
  Function& f = graph_->fn(fn);
  for (const Node& n : f.nodes) {
    if (!n.effects.empty()) continue;  // A state's type is declared.
    for (ValueId v : n.outputs) {
      Type& t = f.value(v).type;
      t = v && t.is_tensor() ? UnrankedTensor(t.dtype) : Type{};
      f.value(v).ints.reset();
    }
  }
}

Status ModuleInfer::InferNode(FunctionId fn, size_t index, int depth) {
  const Node& node = graph_->fn(fn).nodes[index];
  if (!node.callees.empty()) {
    GE_RETURN_IF_ERROR(WantKnown(*graph_, node));
    GE_RETURN_IF_ERROR(InferCallees(fn, node, depth));
  }
  return InferOneNode(graph_, fn, index, checked_);
}

}  // namespace infer

Status InferNode(Graph* graph, FunctionId fn, size_t node) {
  return infer::InferOneNode(graph, fn, node);
}

namespace {

Status InferAll(Graph* graph, bool checked) {
  auto it = graph->opsets.find("");
  if (it != graph->opsets.end() && it->second != kCanonicalOpset) {
    return Status(Code::kFailedPrecondition, "the graph is at opset " + std::to_string(it->second) +
                                                 " of ai.onnx, its shapes are inferred at " +
                                                 std::to_string(kCanonicalOpset) +
                                                 "; import the model to upgrade it");
  }
  for (Function& f : graph->functions) {
    for (Value& v : f.values) {
      if (!v.constant) v.ints.reset();
      if (v.constant && v.type.kind == TypeKind::kUnknown) v.type = graph->consts[v.constant].type;
    }
  }
  return infer::ModuleInfer(graph, checked).Run();
}

}  // namespace

Status Infer(Graph* graph) { return InferAll(graph, false); }

Status InferAgain(Graph* graph) { return InferAll(graph, true); }

}  // namespace ge
