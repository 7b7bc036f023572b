#include "tools/adcheck/interpreter.h"

#include <fmt/format.h>

#include <cstring>

#include "ge/ops/op.h"
#include "tools/adcheck/kernels.h"

namespace ge::adcheck {
namespace {

constexpr int kMaxDepth = 200;         // of calls: this runs on the stack of C++
constexpr int64_t kMaxRounds = 10000;  // of a Loop: one that does not end is no program of ours

size_t ElementSize(DType t) {
  return Thing::IsReal(t) ? sizeof(Real) : static_cast<size_t>(DTypeBits(t)) / 8;
}

Thing Flat(const Thing& t) {
  Thing flat = t;
  for (int64_t k = 0; k < flat.count(); ++k) {
    if (k == 0) flat.data = std::make_shared<std::vector<char>>(*t.data);
    flat.reals()[k] = flat.reals()[k].v;
  }
  return flat;
}

double NumberAt(const Thing& t, int64_t k) {
  const char* at = t.data->data() + static_cast<size_t>(k) * ElementSize(t.dtype);
  if (t.dtype == DType::kBool) return *at != 0;
  int64_t wide = 0;
  int32_t narrow = 0;
  if (t.dtype == DType::kInt64)
    return std::memcpy(&wide, at, sizeof wide), static_cast<double>(wide);
  return std::memcpy(&narrow, at, sizeof narrow), narrow;
}

bool IsCast(DType t) {
  return Thing::IsReal(t) || t == DType::kInt64 || t == DType::kInt32 || t == DType::kBool;
}

Result<Thing> Cast(const Thing& x, DType to) {
  if (!IsCast(x.dtype) || !IsCast(to)) {
    return Status(Code::kUnsupported,
                  fmt::format("Cast of {} to {}: the oracle has floats, i64, i32 and "
                              "bool",
                              DTypeName(x.dtype), DTypeName(to)));
  }
  Thing y = Thing::Make(to, x.dims);
  for (int64_t k = 0; k < x.count(); ++k) {
    const Real v = Thing::IsReal(x.dtype) ? x.reals()[k] : Real(NumberAt(x, k));
    char* at = y.data->data() + static_cast<size_t>(k) * ElementSize(to);
    const auto wide = static_cast<int64_t>(v.v);
    if (Thing::IsReal(to)) y.reals()[k] = v;
    if (to == DType::kBool) *at = v.v != 0;
    if (to == DType::kInt64 || to == DType::kInt32) std::memcpy(at, &wide, ElementSize(to));
  }
  return y;
}

// Slice `k` of t along `axis`, without that axis.
Thing SliceOf(const Thing& t, int64_t axis, int64_t k) {
  std::vector<int64_t> dims = t.dims;
  dims.erase(dims.begin() + axis);
  Thing s = Thing::Make(t.dtype, dims);
  int64_t outer = 1, inner = static_cast<int64_t>(ElementSize(t.dtype));
  for (int64_t d = 0; d < static_cast<int64_t>(t.dims.size()); ++d) {
    (d < axis ? outer : inner) *= d == axis ? 1 : t.dims[static_cast<size_t>(d)];
  }
  const int64_t n = t.dims[static_cast<size_t>(axis)];
  for (int64_t o = 0; o < outer; ++o) {
    std::memcpy(s.data->data() + o * inner, t.data->data() + (o * n + k) * inner,
                static_cast<size_t>(inner));
  }
  return s;
}

// Slices one behind the other along a new axis.
Thing Stack(const std::vector<Thing>& parts, int64_t axis, const Type& type) {
  if (parts.empty()) {
    std::vector<int64_t> dims;
    for (const Dim d : type.dims) dims.push_back(d.known() ? d.value : 0);
    dims.insert(dims.begin() + axis, 0);
    return Thing::Make(type.dtype, dims);
  }
  std::vector<int64_t> dims = parts[0].dims;
  if (axis < 0) axis += static_cast<int64_t>(dims.size()) + 1;
  dims.insert(dims.begin() + axis, static_cast<int64_t>(parts.size()));
  Thing all = Thing::Make(parts[0].dtype, dims);
  int64_t outer = 1, inner = static_cast<int64_t>(ElementSize(all.dtype));
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    (d < axis ? outer : inner) *= d == axis ? 1 : dims[static_cast<size_t>(d)];
  }
  const auto n = static_cast<int64_t>(parts.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < n; ++k) {
      std::memcpy(all.data->data() + (o * n + k) * inner,
                  parts[static_cast<size_t>(k)].data->data() + o * inner,
                  static_cast<size_t>(inner));
    }
  }
  return all;
}

FunctionId CalleeOf(const Node& n, std::string_view role) {
  for (const Callee& c : n.callees) {
    if (c.role == role) return c.fn;
  }
  return 0;
}

int64_t ListAt(const Node& n, const char* name, size_t i) {
  if (!HasAttr(n, name)) return 0;
  const std::vector<int64_t>& list = AttrInts(n, name);
  return i < list.size() ? list[i] : 0;
}

}  // namespace

int64_t Thing::count() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

int64_t Thing::integer() const { return static_cast<int64_t>(NumberAt(*this, 0)); }

Thing Thing::Make(DType dtype, std::vector<int64_t> dims) {
  Thing t;
  t.dtype = dtype;
  t.dims = std::move(dims);
  t.data = std::make_shared<std::vector<char>>(static_cast<size_t>(t.count()) * ElementSize(dtype));
  return t;
}

Interpreter::Interpreter(const Graph& graph)
    : graph_(graph), kernels_(std::make_unique<KernelCache>(graph)) {}
Interpreter::~Interpreter() = default;

Thing Interpreter::Constant(ConstId id) const {
  const Const& c = graph_.consts[id];
  ConstScratch scratch;
  const std::byte* bytes = ConstBytes(c, &scratch);
  Thing t = Thing::Make(c.type.dtype, c.type.static_dims());
  if (!Thing::IsReal(t.dtype)) {
    std::memcpy(t.data->data(), bytes, t.data->size());
    return t;
  }
  for (int64_t k = 0; k < t.count(); ++k) {
    double v;
    float narrow;
    const auto at = static_cast<size_t>(k);
    if (t.dtype == DType::kDouble) std::memcpy(&v, bytes + at * sizeof v, sizeof v);
    if (t.dtype == DType::kFloat) {
      std::memcpy(&narrow, bytes + at * sizeof narrow, sizeof narrow);
      v = narrow;
    }
    t.reals()[k] = v;
  }
  return t;
}

Result<std::vector<Thing>> Interpreter::Run(FunctionId fn, const std::vector<Thing>& args,
                                            int depth) {
  const Function& f = graph_.fn(fn);
  if (depth > kMaxDepth) return Status(Code::kLimitExceeded, f.name + ": calls are too deep");
  if (args.size() != f.params.size()) {
    return Status(Code::kInternal, fmt::format("{} takes {} values, given {}", f.name,
                                               f.params.size(), args.size()));
  }
  std::vector<Thing> at(f.values.size());
  for (size_t i = 0; i < args.size(); ++i) at[f.params[i]] = args[i];
  const auto get = [&](ValueId v) {
    if (v != 0 && !at[v] && f.value(v).constant != 0) at[v] = Constant(f.value(v).constant);
    return at[v];
  };
  for (const Node& n : f.nodes) {
    if (n.id == 0) continue;
    Things in;
    for (const ValueId v : n.inputs) in.push_back(v == 0 ? Thing() : get(v));
    GE_ASSIGN_OR_RETURN(const Things out, Node_(n, f, in, depth));
    ++executed_;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      if (n.outputs[k] != 0) at[n.outputs[k]] = out[k];
    }
  }
  Things results;
  for (const ValueId v : f.results) results.push_back(get(v));
  return results;
}

Result<std::vector<Thing>> Interpreter::Node_(const Node& n, const Function& function,
                                              const Things& in, int depth) {
  if (n.op == "If" && n.domain.empty()) return If(n, in, depth);
  if (n.op == "Loop" && n.domain.empty()) return Loop(n, function, in, depth);
  if (n.op == "Scan" && n.domain.empty()) return Scan(n, function, in, depth);
  if (n.op == "Identity" && n.domain.empty()) return Things{in[0]};
  if (n.op == "Cast" && n.domain.empty()) {
    GE_ASSIGN_OR_RETURN(Thing y, Cast(in[0], static_cast<DType>(AttrInt(n, "to"))));
    return Things{std::move(y)};
  }
  if (n.domain != "ge") return kernels_->Run(n, in);
  if (n.op == "Call") return Run(CalleeOf(n, "fn"), in, depth + 1);
  if (n.op == "StopGradient") return Things{Flat(in[0])};
  if (n.op == "Partial") {
    Thing fn;
    fn.fn = CalleeOf(n, "fn");
    fn.captured = in;
    return Things{fn};
  }
  if (n.op == "CallIndirect") {
    Things args = in[0].captured;
    args.insert(args.end(), in.begin() + 1, in.end());
    return Run(in[0].fn, args, depth + 1);
  }
  return kernels_->Run(n, in);
}

Result<std::vector<Thing>> Interpreter::If(const Node& n, const Things& in, int depth) {
  const Things captured(in.begin() + 1, in.end());
  return Run(CalleeOf(n, in[0].truth() ? "then_branch" : "else_branch"), captured, depth + 1);
}

Result<std::vector<Thing>> Interpreter::Loop(const Node& n, const Function&, const Things& in,
                                             int depth) {
  const auto captures = static_cast<size_t>(AttrInt(n, "captures", 0));
  const size_t carried = in.size() - 2 - captures;
  const FunctionId body = CalleeOf(n, "body");
  Things state(in.begin() + 2, in.begin() + 2 + static_cast<std::ptrdiff_t>(carried));
  std::vector<Things> scanned(n.outputs.size() - carried);
  Thing go = in[1];
  if (!go) {
    go = Thing::Make(DType::kBool, {});
    (*go.data)[0] = 1;
  }
  const int64_t most = in[0] ? in[0].integer() : INT64_MAX;
  for (int64_t i = 0; i < most && go.truth(); ++i) {
    if (i >= kMaxRounds) return Status(Code::kLimitExceeded, NodeLabel(n) + ": too many rounds");
    Thing round = Thing::Make(DType::kInt64, {});
    std::memcpy(round.data->data(), &i, sizeof i);
    Things args = {round, go};
    args.insert(args.end(), state.begin(), state.end());
    args.insert(args.end(), in.end() - static_cast<std::ptrdiff_t>(captures), in.end());
    GE_ASSIGN_OR_RETURN(const Things out, Run(body, args, depth + 1));
    go = out[0];
    for (size_t k = 0; k < carried; ++k) state[k] = out[1 + k];
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(out[1 + carried + k]);
  }
  const Function& f = graph_.fn(body);
  for (size_t k = 0; k < scanned.size(); ++k) {
    state.push_back(Stack(scanned[k], 0, f.value(f.results[1 + carried + k]).type));
  }
  return state;
}

Result<std::vector<Thing>> Interpreter::Scan(const Node& n, const Function&, const Things& in,
                                             int depth) {
  const auto captures = static_cast<size_t>(AttrInt(n, "captures", 0)),
             elements = static_cast<size_t>(AttrInt(n, "num_scan_inputs"));
  const size_t carried = in.size() - elements - captures;
  const FunctionId body = CalleeOf(n, "body");
  Things state(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(carried));
  std::vector<Things> scanned(n.outputs.size() - carried);
  std::vector<int64_t> axis;
  for (size_t i = 0; i < elements; ++i) {
    const int64_t a = ListAt(n, "scan_input_axes", i);
    axis.push_back(a < 0 ? a + static_cast<int64_t>(in[carried + i].dims.size()) : a);
  }
  const int64_t rounds = elements ? in[carried].dims[static_cast<size_t>(axis[0])] : 0;
  for (int64_t r = 0; r < rounds; ++r) {
    Things args = state;
    for (size_t i = 0; i < elements; ++i) {
      const bool back = ListAt(n, "scan_input_directions", i) != 0;
      args.push_back(SliceOf(in[carried + i], axis[i], back ? rounds - 1 - r : r));
    }
    args.insert(args.end(), in.end() - static_cast<std::ptrdiff_t>(captures), in.end());
    GE_ASSIGN_OR_RETURN(const Things out, Run(body, args, depth + 1));
    for (size_t k = 0; k < carried; ++k) state[k] = out[k];
    for (size_t k = 0; k < scanned.size(); ++k) {
      const bool back = ListAt(n, "scan_output_directions", k) != 0;
      scanned[k].insert(back ? scanned[k].begin() : scanned[k].end(), out[carried + k]);
    }
  }
  const Function& f = graph_.fn(body);
  for (size_t k = 0; k < scanned.size(); ++k) {
    state.push_back(
        Stack(scanned[k], ListAt(n, "scan_output_axes", k), f.value(f.results[carried + k]).type));
  }
  return state;
}

}  // namespace ge::adcheck
