#include "passes/recognise/kv_cache_rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/known_ints.h"

namespace ge {
namespace {

bool IsInput(const Function& f, const std::vector<KvPair>& pairs, ValueId v) {
  const bool past =
      std::any_of(pairs.begin(), pairs.end(), [&](const KvPair& p) { return p.past == v; });
  return !past && std::find(f.params.begin(), f.params.end(), v) != f.params.end();
}

size_t ReadersOf(const Function& f, ValueId v) {
  size_t n = 0;
  for (const Node& node : f.nodes) {
    n += static_cast<size_t>(std::count(node.inputs.begin(), node.inputs.end(), v));
  }
  return n;
}

}  // namespace

Status KvCacheRewrite::Refuse(const Node& node, const std::string& why) const {
  return Status(Code::kUnsupported,
                fmt::format("{} {}; run the model without key and value caches", node.op, why))
      .AtNode(NodeLabel(node));
}

Status KvCacheRewrite::Run() {
  Status status = Begin();
  for (uint32_t i = 0; status.ok() && i < old().nodes.size(); ++i) {
    status = Step(i);
    if (status.ok()) status = failure_;
    steps_ += status.ok();
  }
  if (status.ok()) status = Finish();
  if (!status.ok()) Withdraw();
  return status;
}

void KvCacheRewrite::Withdraw() {
  if (old_ != 0) g_.functions.resize(old_);
  if (first_states_ != 0) g_.states.resize(first_states_);
}

Status KvCacheRewrite::Begin() {
  first_states_ = g_.states.size();
  old_ = g_.AddFunction("").id;
  new_ = g_.AddFunction("").id;
  for (const FunctionId id : {old_, new_}) {
    g_.fn(id) = g_.fn(fn_);
    g_.fn(id).id = id;
  }
  now().nodes.clear();
  changed_.assign(old().values.size(), false);
  GE_RETURN_IF_ERROR(TypePasts());
  GE_RETURN_IF_ERROR(TypeMasks());
  return WriteCaches();
}

// The one of an earlier attempt, if there was one.
Dim KvCacheRewrite::Named(const std::string& name, const std::string& origin, int64_t least) {
  DimTable& d = g_.dims;
  SymbolId id = d.FindSymbol(name);
  if (id == 0 || d.symbol(id).origin != origin) {
    Symbol symbol;
    symbol.name = name;
    symbol.min = least;
    id = id != 0 ? d.FreshSymbol(name) : d.AddSymbol(symbol);
    d.symbol(id).origin = origin;
  }
  return d.OfSymbol(id);
}

// The past of each pair is as its new rows are, but P long.
Status KvCacheRewrite::TypePasts() {
  DimTable& d = g_.dims;
  past_ = Named("kv_length", "rows in the caches", 0);
  room_ = Named("kv_capacity", "rows that the caches have room for", 1);
  past_symbol_ = d.expr(past_.expr).symbol;
  for (const KvPair& p : pairs_) {
    const Type& rows = TypeOf(p.rows);
    const std::string name = old().value(p.past).name;
    if (!rows.ranked || rows.rank() != p.perm.size()) {
      return Status(Code::kUnsupported, "the rank of what joins '" + name + "' is not known");
    }
    Type type = TensorType(rows.dtype, std::vector<Dim>(rows.rank()));
    for (size_t k = 0; k < rows.rank(); ++k) {
      type.dims[static_cast<size_t>(p.perm[k])] = k == p.axis ? past_ : rows.dims[k];
    }
    g_.fn(old_).value(p.past).type = type;
    changed_[p.past] = true;
  }
  const auto all = d.Add(past_, rows_);
  if (!all) return Status(Code::kUnsupported, "the rows are too many to count");
  all_ = *all;
  return {};
}

// An input named as a mask, an axis of which is of a size of its own: exporters name it "past +
// sequence" or the like, and nothing else in the model says that it is as long as both together.
Status KvCacheRewrite::TypeMasks() {
  Function& f = g_.fn(old_);
  std::map<uint32_t, int> inputs_with;
  for (const ValueId v : f.params) {
    if (!IsInput(f, pairs_, v)) continue;
    for (const Dim& d : f.value(v).type.dims) inputs_with[d.expr] += d.known() ? 0 : 1;
  }
  for (const ValueId v : f.params) {
    if (!IsInput(f, pairs_, v)) continue;
    const bool mask = f.value(v).name.find("mask") != std::string::npos;
    for (Dim& d : f.value(v).type.dims) {
      const bool own = !d.known() && g_.dims.expr(d.expr).op == DimOp::kSymbol &&
                       inputs_with[d.expr] == 1 && !(d == rows_);
      if (mask && own) {
        d = all_;
        changed_[v] = true;
      }
    }
    for (const Dim& d : f.value(v).type.dims) changed_[v] = changed_[v] || CountsPast(d);
    if (!changed_[v]) continue;
    Type type = f.value(v).type;
    for (Dim& d : type.dims) {
      if (RowsOf(d) == Rows::kPast || !RowsOf(d)) {
        return Status(
            Code::kUnsupported,
            fmt::format("input '{}' is as long as the past, or a multiple of it; only one "
                        "of past and new rows together has a rule",
                        f.value(v).name));
      }
      d = Now(d);
    }
    now().value(v).type = std::move(type);
  }
  return {};
}

// States, their reads, and the length before and after the run.
Status KvCacheRewrite::WriteCaches() {
  auto add_state = [&](std::string name, Type type) {
    while (std::any_of(g_.states.begin() + 1, g_.states.end(),
                       [&](const State& s) { return s.name == name; })) {
      name += "_";
    }
    State s;
    s.name = std::move(name);
    s.type = std::move(type);
    g_.states.push_back(std::move(s));
    const auto id = static_cast<StateId>(g_.states.size() - 1);
    now().effects.push_back({EffectKind::kState, id});
    return id;
  };
  auto read = [&](StateId id, ValueId into) {
    Node n;
    n.id = now().next_node_id++;
    n.domain = "ge";
    n.op = "Read";
    n.effects = {{EffectKind::kState, id}};
    n.origin = {{"recognise-kv-cache", {}}};
    if (into == 0) into = AddValue(&now(), Type{});
    now().value(into).type = g_.states[id].type;
    n.outputs = {into};
    now().nodes.push_back(std::move(n));
    return into;
  };
  for (const KvPair& p : pairs_) {
    Type type = TypeOf(p.rows);
    type.dims[p.axis] = room_;
    states_.push_back(add_state(old().value(p.past).name, std::move(type)));
    read(states_.back(), p.before);
    rest_[p.before] = rest_[p.past] = Rest::kFinite;
  }
  length_state_ = add_state("kv_length", TensorType(DType::kInt64, std::vector<Dim>{}));
  length_ = read(length_state_, 0);
  total_ = Make("Add", {length_, Scalar(Size(rows_))});
  for (const KvPair& p : pairs_) {
    const bool only_joined = p.before == p.past || ReadersOf(old(), p.past) == 1;
    if (only_joined) continue;
    std::vector<int64_t> back(p.perm.size());
    for (size_t k = 0; k < back.size(); ++k)
      back[static_cast<size_t>(p.perm[k])] = static_cast<int64_t>(k);
    Make("Transpose", {p.before}, {{"perm", back}}, p.past);
  }
  return failure_;
}

Status KvCacheRewrite::Step(uint32_t index) {
  const Node node = old().nodes[index];
  const bool changes = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId v) { return v != 0 && changed_[v]; });
  if (!changes) {
    now().nodes.push_back(node);
    return {};
  }
  origin_ = NodeLabel(node);
  if (!node.effects.empty() || !node.callees.empty()) {
    return Refuse(node, "depends on the past, and has effects or bodies");
  }
  GE_RETURN_IF_ERROR(TypeOutputs(index));
  bool all_known = true, written = false;
  for (const ValueId v : node.outputs) {
    if (v == 0) continue;
    changed_[v] = true;
    all_known &= IntsOf(v).has_value();
    for (const KvPair& p : pairs_) written |= p.before == v;  // as the state is read
    for (const Dim& d : TypeOf(v).dims) {
      if (RowsOf(d)) continue;
      return Refuse(node, fmt::format("makes a size of {}, which is neither the past nor past and "
                                      "new rows",
                                      g_.dims.ToString(d)));
    }
  }
  if (written) return {};
  if (all_known) {
    known_.insert(node.outputs.begin(), node.outputs.end());
    return {};
  }
  return Apply(node);
}

// In the old function, with the past's length as P.
Status KvCacheRewrite::TypeOutputs(uint32_t index) {
  const Node node = old().nodes[index];
  for (const ValueId v : node.outputs) {
    if (v == 0) continue;
    g_.fn(old_).value(v).type = Type{};
    g_.fn(old_).value(v).ints.reset();
  }
  if (node.domain.empty() && node.op == "Slice" && !IntsOf(node.outputs[0])) {
    GE_ASSIGN_OR_RETURN(const std::vector<Cut> cuts, CutsOf(node));
    if (std::any_of(cuts.begin(), cuts.end(), [](const Cut& c) { return c.moves; })) {
      Type type = TypeOf(node.inputs[0]);
      for (const Cut& c : cuts) type.dims[static_cast<size_t>(c.axis)] = c.length;
      g_.fn(old_).value(node.outputs[0]).type = type;
      return {};
    }
  }
  const Status typed = infer_(&g_, old_, index);
  if (typed.ok()) return {};
  return Refuse(node, "does not fit a past and new rows of free sizes (" + typed.message() + ")");
}

Status KvCacheRewrite::Apply(const Node& node) {
  for (const ValueId v : node.outputs) {
    if (v == 0) continue;
    now().value(v).type = Type{};
    now().value(v).ints.reset();
  }
  const auto rule = node.domain.empty() ? Rules().find(node.op) : Rules().end();
  if (rule != Rules().end()) {
    GE_RETURN_IF_ERROR((this->*rule->second)(node));
  } else {
    for (const ValueId v : node.inputs) {
      if (v == 0 || !Ragged(v)) continue;
      return Refuse(node, "has no rule for an input as long as the past");
    }
    GE_RETURN_IF_ERROR(Keep(node));
  }
  GE_RETURN_IF_ERROR(failure_);
  return CheckOutputs(node);
}

Status KvCacheRewrite::CheckOutputs(const Node& node) {
  for (const ValueId v : node.outputs) {
    if (v == 0 || known_.count(v) != 0) continue;
    Type want = TypeOf(v);
    for (Dim& d : want.dims) d = Now(d);
    const Type& have = now().value(v).type;
    if (have == want) continue;
    return Refuse(node, fmt::format("would make {}, wanted {}: a size of it depends on the past",
                                    TypeToString(have, g_.dims), TypeToString(want, g_.dims)));
  }
  return {};
}

std::optional<std::vector<Dim>> KvCacheRewrite::IntsOf(ValueId value) const {
  const Value& x = old().value(value);
  if (x.ints) return x.ints;
  return x.constant ? ConstInts(g_.consts[x.constant]) : std::nullopt;
}

bool KvCacheRewrite::CountsPast(Dim dim) {
  if (dim.known()) return false;
  const auto without = g_.dims.Substitute(dim, {{past_symbol_, 0}});
  return !without || !(*without == dim);
}

// No answer for a size that has to do with the past and is neither.
std::optional<KvCacheRewrite::Rows> KvCacheRewrite::RowsOf(Dim dim) {
  if (dim == past_) return Rows::kPast;
  if (dim == all_) return Rows::kAll;
  return CountsPast(dim) ? std::nullopt : std::optional(Rows::kFixed);
}

bool KvCacheRewrite::Ragged(ValueId value) {
  const Type& t = TypeOf(value);
  return changed_[value] && std::any_of(t.dims.begin(), t.dims.end(),
                                        [&](Dim d) { return RowsOf(d) != Rows::kFixed; });
}

KvCacheRewrite::Rest KvCacheRewrite::RestOf(ValueId value) const {
  const auto it = rest_.find(value);
  if (it != rest_.end()) return it->second;
  return IsInteger(TypeOf(value).dtype) || TypeOf(value).dtype == DType::kBool ? Rest::kFinite
                                                                               : Rest::kAnything;
}

Status KvCacheRewrite::DropPairs() {
  Function& f = now();
  std::vector<ValueId> results;
  for (uint32_t r = 0; r < f.results.size(); ++r) {
    const bool present =
        std::any_of(pairs_.begin(), pairs_.end(), [&](const KvPair& p) { return p.result == r; });
    if (present) continue;
    const ValueId v = f.results[r];
    if (Ragged(v)) {
      return Status(Code::kUnsupported,
                    fmt::format("output '{}' is as long as the past and grows with it; only keys "
                                "and values can be kept: leave it out of the model, or run that "
                                "without key and value caches",
                                f.value(v).name));
    }
    results.push_back(In(v));
    f.value(results.back()).name = old().value(v).name;
  }
  f.results = std::move(results);
  for (const KvPair& p : pairs_) std::erase(f.params, p.past);
  return failure_;
}

Status KvCacheRewrite::Finish() {
  GE_RETURN_IF_ERROR(DropPairs());
  auto assign = [&](ValueId v, StateId id) {
    Node n;
    n.id = now().next_node_id++;
    n.domain = "ge";
    n.op = "Assign";
    n.inputs = {v};
    n.effects = {{EffectKind::kState, id}};
    n.origin = {{"recognise-kv-cache", {}}};
    now().nodes.push_back(std::move(n));
  };
  for (size_t i = 0; i < pairs_.size(); ++i) assign(pairs_[i].all, states_[i]);
  assign(total_, length_state_);
  now().id = fn_;
  g_.functions[fn_] = std::move(g_.functions[new_]);
  g_.functions.resize(old_);
  return {};
}

}  // namespace ge
