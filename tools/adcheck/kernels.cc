#include "tools/adcheck/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "adcheck/ref/kernel.h"
#include "ge/engine/view.h"
#include "ge/infer/infer.h"
#include "ge/ops/edit.h"
#include "ge/ops/op.h"

namespace ge::adcheck {

// A graph of this one node, and its kernel; or, where it has none, the function that its parts
// make.
struct KernelCache::Entry {
  Graph graph;
  std::unique_ptr<GraphView> view;
  std::unique_ptr<refdual::Prepared> kernel;
  std::unique_ptr<Interpreter> parts;
  std::vector<char> is_param;  // by input
  std::vector<ValueId> outputs;
};

namespace {

refdual::Tensor TensorOf(const Thing& t) {
  refdual::Tensor r;
  r.dtype = static_cast<int32_t>(t.dtype);
  r.rank = static_cast<int>(t.dims.size());
  r.dims = t.dims.data();
  r.count = t.count();
  r.bytes = t.data->size();
  r.data = t.data->data();
  return r;
}

class OneCall final : public refdual::Call {
 public:
  OneCall(const std::vector<Thing>& in, const std::vector<Thing>& out, void* workspace)
      : in_(in), out_(out), workspace_(workspace) {}
  uint32_t n_in() const override { return static_cast<uint32_t>(in_.size()); }
  uint32_t n_out() const override { return static_cast<uint32_t>(out_.size()); }
  bool has_in(uint32_t i) const override { return i < in_.size() && in_[i]; }
  bool has_out(uint32_t i) const override { return i < out_.size() && out_[i]; }
  refdual::Tensor in(uint32_t i) const override { return TensorOf(in_[i]); }
  refdual::Tensor out(uint32_t i) const override { return TensorOf(out_[i]); }
  void* workspace() const override { return workspace_; }
  ge_rc Fail(ge_rc rc, const char* format, ...) const override {
    char text[300];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    failure = text;
    return rc;
  }
  mutable std::string failure;

 private:
  const std::vector<Thing>&in_, &out_;
  void* workspace_;
};

// What sizes may depend on: whole numbers, and the scales of Resize, which are float32.
bool IsCounted(const Thing& t) {
  if (t.dtype != DType::kFloat) return !Thing::IsReal(t.dtype);
  return std::all_of(t.reals(), t.reals() + t.count(), [](const Real& r) { return IsPlain(r); });
}

// As a Graph holds it.
std::vector<char> PayloadOf(const Thing& t) {
  if (t.dtype != DType::kFloat) return *t.data;
  std::vector<char> bytes(static_cast<size_t>(t.count()) * sizeof(float));
  for (int64_t k = 0; k < t.count(); ++k) {
    const auto v = static_cast<float>(t.reals()[k].v);
    std::memcpy(&bytes[static_cast<size_t>(k) * sizeof v], &v, sizeof v);
  }
  return bytes;
}

}  // namespace

KernelCache::KernelCache(const Graph& graph) : graph_(graph) {}
KernelCache::~KernelCache() = default;

// Sizes may depend on what integers are, so their content belongs to it.
std::string KernelCache::KeyOf(const Node& n, const std::vector<Thing>& in) {
  std::string key = fmt::format("{}", static_cast<const void*>(&n));
  for (const Thing& t : in) {
    if (!t) {
      key += "|_";
      continue;
    }
    key += fmt::format("|{}", static_cast<int>(t.dtype));
    for (const int64_t d : t.dims) key += fmt::format(",{}", d);
    if (IsCounted(t)) key.append(t.data->begin(), t.data->end());
  }
  return key;
}

// What has no kernel in Reals, by its parts.
Status KernelCache::TakeApart(Entry* entry, const Node& node, const char* why) {
  Graph& g = entry->graph;
  const FunctionId fn = 1;
  const OpDef* op = FindOp(g, node);
  if (op == nullptr || !op->decompose) {
    return Status(Code::kUnsupported, fmt::format("{}: the oracle has no kernel for it{}{}",
                                                  NodeLabel(node), why[0] ? ": " : "", why));
  }
  std::vector<ValueId> to;
  {
    Transaction t(&g, "decompose");
    to = op->decompose(t, fn, node);
    if (to.size() == node.outputs.size()) t.Erase(fn, node.id);
  }
  if (to.size() != node.outputs.size()) {
    return Status(Code::kUnsupported,
                  NodeLabel(node) + ": the oracle has no kernel and no parts for it");
  }
  for (const ValueId v : to) {
    if (v != 0) g.fn(fn).results.push_back(v);
  }
  GE_RETURN_IF_ERROR(Infer(&g));
  entry->parts = std::make_unique<Interpreter>(g);
  return {};
}

Result<std::unique_ptr<KernelCache::Entry>> KernelCache::Prepare(
    const Node& n, const std::vector<Thing>& in) const {
  auto e = std::make_unique<Entry>();
  Graph& g = e->graph;
  g.opsets = graph_.opsets;
  g.opsets.emplace("", kCanonicalOpset);
  g.ops = graph_.ops;
  const FunctionId fn = g.AddFunction("node").id;
  Node node = n;
  for (Attr& a : node.attrs) {
    if (auto* ref = std::get_if<ConstRef>(&a.value)) ref->id = g.AddConst(graph_.consts[ref->id]);
  }
  for (size_t i = 0; i < in.size(); ++i) {
    e->is_param.push_back(in[i] && !IsCounted(in[i]));
    if (!in[i]) {
      node.inputs[i] = 0;
      continue;
    }
    const Type type = TensorType(in[i].dtype, in[i].dims);
    if (e->is_param[i]) {
      node.inputs[i] = AddValue(&g.fn(fn), type, fmt::format("p{}", i));
      g.fn(fn).params.push_back(node.inputs[i]);
    } else {
      const std::vector<char> bytes = PayloadOf(in[i]);
      node.inputs[i] = AddConstValue(&g, &g.fn(fn), MakeConst(type, bytes.data(), bytes.size()));
    }
  }
  for (ValueId& v : node.outputs) {
    if (v != 0) v = AddValue(&g.fn(fn), Type());
  }
  e->outputs = node.outputs;
  node.after.clear();
  node.id = g.fn(fn).next_node_id++;
  g.fn(fn).nodes.push_back(node);
  GE_RETURN_IF_ERROR(InferNode(&g, fn, 0));
  for (const ValueId v : node.outputs) {
    if (v != 0 && !g.fn(fn).value(v).type.is_static()) {
      return Status(Code::kUnsupported,
                    NodeLabel(n) + ": only the data say how large its results are");
    }
  }
  GE_ASSIGN_OR_RETURN(e->view, GraphView::Make(g, g.fn(fn)));
  const refdual::Kernel* kernel = refdual::FindKernel(*GE_NODE(e->view->get(), 0));
  refdual::Why why;
  refdual::NodeView view;
  if (kernel != nullptr && refdual::NodeView::Open(*e->view->get(), 0, &view, &why)) {
    e->kernel = kernel->prepare(view, &why);
  }
  if (e->kernel) return e;
  GE_RETURN_IF_ERROR(TakeApart(e.get(), node, why.text));
  return e;
}

Result<std::vector<Thing>> KernelCache::Run(const Node& n, const std::vector<Thing>& in) {
  const std::string key = KeyOf(n, in);
  std::unique_ptr<Entry>& e = entries_[key];
  if (!e) {
    Result<std::unique_ptr<Entry>> made = Prepare(n, in);
    if (!made.ok()) return entries_.erase(key), made.status();
    e = *std::move(made);
  }
  std::vector<Thing> out(e->outputs.size());
  if (e->parts) {
    std::vector<Thing> args;
    for (size_t i = 0; i < in.size(); ++i) {
      if (e->is_param[i]) args.push_back(in[i]);
    }
    GE_ASSIGN_OR_RETURN(const std::vector<Thing> made, e->parts->Run(1, args));
    for (size_t k = 0, m = 0; k < out.size(); ++k) {
      if (e->outputs[k] != 0) out[k] = made[m++];
    }
    return out;
  }
  for (size_t k = 0; k < out.size(); ++k) {
    if (e->outputs[k] == 0) continue;
    const Type& type = e->graph.fn(1).value(e->outputs[k]).type;
    out[k] = Thing::Make(type.dtype, type.static_dims());
  }
  // Kernels ask for doubles' worth in Reals; 64 to align.
  constexpr size_t kGuard = 4096;
  std::vector<char> scratch(e->kernel->workspace + 64 + kGuard, 0x5a);
  void* at = scratch.data();
  size_t room = scratch.size();
  std::align(64, e->kernel->workspace, at, room);
  const char* end = static_cast<const char*>(at) + e->kernel->workspace;
  const OneCall call(in, out, at);
  if (e->kernel->Run(call) != GE_OK) {
    return Status(Code::kInvalidArgument, NodeLabel(n) + ": " + call.failure);
  }
  // A size in bytes of doubles that tools/gen/dual_kernels.py has not found.
  if (std::count(end, end + kGuard - 64, 0x5a) != static_cast<std::ptrdiff_t>(kGuard - 64)) {
    return Status(Code::kInternal,
                  NodeLabel(n) + ": its kernel in Reals writes beyond its workspace");
  }
  return out;
}

}  // namespace ge::adcheck
