#include "passes/grad/control/iteration.h"

#include <algorithm>
#include <utility>

#include "passes/grad/control/loop_checkpoint.h"
#include "passes/grad/control/pullback.h"

namespace ge::grad {
namespace {

int64_t IntAttr(const ge_node& n, const char* name) {
  const ge_attr* a = ge_find_attr(&n, name);
  return a != nullptr ? a->i : 0;
}

Layout LayoutOf(const ge_node& n) {
  Layout l{};
  l.loop = ge_is(n.op, "Loop");
  l.captures = static_cast<size_t>(IntAttr(n, "captures"));
  if (l.loop) {
    l.lead = 2;
    l.lead_out = 1;
  }
  if (!l.loop) l.elements = static_cast<size_t>(IntAttr(n, "num_scan_inputs"));
  l.carried = n.n_in - l.lead - l.elements - l.captures;
  l.scanned = n.n_out - l.carried;
  return l;
}

}  // namespace

std::vector<int64_t> IntsOf(const ge_node& n, const char* name, size_t count) {
  const ge_attr* a = ge_find_attr(&n, name);
  std::vector<int64_t> v(count, 0);
  for (uint32_t i = 0; a != nullptr && i < a->n && i < count; ++i) v[i] = a->ints[i];
  return v;
}

Iteration::Iteration(Reverse& reverse, const ge_node& n)
    : r_(reverse), n_(n), l_(LayoutOf(n)), body_(NewFunction::Body(n, "body")) {
  for (uint32_t i = 0; i < n.n_in; ++i) in_.push_back(n.in[i] ? reverse.Now(n.in[i]) : Val{});
  cts_ = reverse.Cotangents(n);
}

// A carried value is active where it begins so or a round makes it so; its cotangent is carried
// where it has one at the end or a round gives it one. Both until nothing changes.
bool Iteration::FindActive() {
  active_.assign(l_.inputs(), false);
  const std::vector<bool> wanted = r_.Wanted(n_);
  for (size_t i = 0; i < l_.inputs(); ++i) {
    active_[i] = wanted[i] && i >= l_.lead && IsFloat(params_[i].dtype);
  }
  seeded_.assign(l_.lead_out + l_.carried + l_.scanned, false);
  for (size_t k = 0; k < n_.n_out; ++k) seeded_[l_.lead_out + k] = static_cast<bool>(cts_[k]);
  for (size_t i = 0; i < l_.inputs(); ++i) {
    if (!wanted[i] || params_[i].dtype != 0) continue;
    r_.context().problems.push_back(
        "a sequence or function that a loop reads or carries depends on what is wanted");
    return false;
  }
  for (size_t round = 0; round <= 2 * l_.carried + 1; ++round) {
    joint_ = Joint::Of(r_.context(), body_, active_, seeded_);
    if (!joint_) return false;
    bool changed = false;
    for (size_t i = 0; i < l_.carried; ++i) {
      const size_t p = l_.lead + i, q = l_.lead_out + i;
      if (!active_[p] && joint_->reached()[q] && IsFloat(params_[p].dtype)) {
        active_[p] = changed = true;
      }
      if (!seeded_[q] && joint_->gives()[p]) seeded_[q] = changed = true;
    }
    if (!changed) return true;
  }
  return true;
}

// There are no stacks of functions: what calls itself in a round is run once more on the way back.
bool Iteration::FindWithoutFunctions(std::string* refused) {
  if (!FindActive()) return false;
  if (!KeepsFunctions(*joint_)) return true;
  Context& context = r_.context();
  const bool was = std::exchange(context.again, true);
  const bool found = FindActive();
  context.again = was;
  if (found && KeepsFunctions(*joint_)) {
    *refused =
        "its way back would keep a function of every round, and there are no stacks of functions; "
        "call functions that are known (ge.Call), or leave it out";
    return false;
  }
  return found;
}

// Whether a tensor has the same sizes in each round: they are known, those of something outside, or
// follow from parameters that do not change.
bool Iteration::Fixed(const Type& type, const Needs& needs) const {
  const auto outside = [&](const ge_dim& d) {
    if (d.value >= 0) return true;
    const std::vector<size_t>* by = joint_->Trips(d);
    if (by != nullptr) {
      return std::all_of(by->begin(), by->end(), [&](size_t p) { return p >= l_.capture(0); });
    }
    return std::any_of(in_.begin(), in_.end(), [&](Val v) {
      const Type given = v ? r_.fn().TypeOf(v) : Type{};
      return std::any_of(given.dims.begin(), given.dims.end(),
                         [&](const ge_dim& g) { return Same(d, g); });
    });
  };
  const auto same = [&](const Type& x) {
    return x.rank >= 0 && std::all_of(x.dims.begin(), x.dims.end(), outside);
  };
  if (same(type)) return true;
  return !needs.data && std::all_of(needs.params.begin(), needs.params.end(), [&](size_t p) {
    return p >= l_.capture(0) || (IsFloat(params_[p].dtype) && same(params_[p]));
  });
}

void Iteration::FindKept() {
  for (size_t i = 0; i < joint_->residuals().size(); ++i) {
    kept_.push_back({joint_->residuals()[i]});
    kept_.back().flat = !Fixed(kept_.back().type, joint_->needs(i));
  }
  for (size_t i = 0; i < l_.capture(0); ++i) {
    if (joint_->reads()[i]) kept_.push_back({params_[i], i, !Fixed(params_[i], {{i}, false})});
  }
}

// Whether the body of a Loop says true, whatever it reads.
bool Iteration::AlwaysGoesOn() const {
  if (!l_.loop) return false;
  const ge_graph* body = r_.context().edit->graph(r_.context().edit->host, body_);
  const void* data = GE_VALUE(body, GoesOn(body))->data;
  return data != nullptr && *static_cast<const char*>(data) != 0;
}

// Such a body may answer the condition that it is given, since it runs only where that is true: how
// often it runs is known from outside then.
void Iteration::HandOn(Val condition, std::vector<Val>* results) const {
  if (AlwaysGoesOn()) results->front() = condition;
}

// Parameters and results of n_'s body; rows are carried behind what it carries, the number of the
// first round is captured last, stacks and the number of the round come last.
uint32_t Iteration::ForwardBody(bool from_base) {
  NewFunction made(r_.context(), "FWD", body_);
  Fn& fn = made.fn();
  std::vector<Val> params, values, stacks;
  const auto add = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) params.push_back(made.Param(params_[i]));
  };
  add(0, l_.element(0));
  const std::vector<Val> rows = RowParams(made, kept_);
  add(l_.element(0), l_.inputs());
  if (from_base) params[0] = params[0] + made.Param(Type{GE_I64, 0, {}});
  Joint::Forward forward = joint_->PutForward(fn, params);
  HandOn(params.size() > 1 ? params[1] : Val{}, &forward.results);
  const auto scanned =
      forward.results.begin() + static_cast<std::ptrdiff_t>(l_.lead_out + l_.carried);
  std::vector<Val> results(forward.results.begin(), scanned);
  size_t residual = 0;
  for (const Kept& k : kept_) {
    values.push_back(k.param == SIZE_MAX ? forward.residuals[residual++] : params[k.param]);
  }
  PutOnStacks(fn, kept_, values, rows, &results, &stacks);
  results.insert(results.end(), scanned, forward.results.end());
  results.insert(results.end(), stacks.begin(), stacks.end());
  results.push_back(l_.loop ? params[0] : fn.Scalar(GE_I64, 0));
  return made.Finish(results);
}

// n_'s with more scanned results and captures.
Attrs Iteration::AttrsWith(size_t stacks, size_t captures) const {
  Attrs attrs;
  for (uint32_t i = 0; i < n_.n_attr; ++i) {
    const ge_str name = n_.attr[i].name;
    const bool own = ge_is(name, "scan_output_axes") || ge_is(name, "scan_output_directions") ||
                     ge_is(name, "captures");
    if (!own) attrs.Add(n_.attr[i]);
  }
  attrs.Int("captures", static_cast<int64_t>(l_.captures + captures));
  for (const char* name : {"scan_output_axes", "scan_output_directions"}) {
    if (ge_find_attr(&n_, name) == nullptr) continue;
    std::vector<int64_t> v = IntsOf(n_, name, l_.scanned);
    v.resize(l_.scanned + stacks, 0);
    attrs.Ints(name, std::move(v));
  }
  return attrs;
}

Iteration::Forward Iteration::PutForward(Fn& fn, const std::vector<Val>& in, Val base) {
  const std::vector<Val> empty = EmptyRows(fn, kept_);
  const size_t stacks = StacksOf(kept_) + 1;
  std::vector<Val> inputs = in;
  inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(l_.element(0)), empty.begin(),
                empty.end());
  if (base) inputs.push_back(base);
  uint32_t& body = forward_body_[base ? 1 : 0];
  if (body == 0) body = ForwardBody(static_cast<bool>(base));
  const NewFunction::Bodies bodies{{body}, {ge_text("body")}};
  ge_links links = bodies.Links();
  const bool here = fn.id() == r_.fn().id();
  links.replaces = &n_.id;
  links.n_replaces = here ? 1 : 0;
  Forward made;
  const auto outputs = static_cast<uint32_t>(n_.n_out + empty.size() + stacks);
  const std::vector<Val> out =
      fn.Node("", plugin::View(n_.op), inputs, AttrsWith(stacks, base ? 1 : 0), outputs, &links,
              here ? n_.id : 0, &made.node);
  const auto at = [&](size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
  made.out.assign(at(0), at(l_.carried));
  made.out.insert(made.out.end(), at(l_.carried + empty.size()), at(n_.n_out + empty.size()));
  made.kept = StacksIn(out, kept_, l_.carried, n_.n_out + empty.size());
  made.rounds = out.back();
  return made;
}

// Parameters: cotangents of what is carried, sums for captures; residuals, read parameters, the
// round, cotangents of scanned results; captures. Results: the first two again, then gradients of
// elements.
uint32_t Iteration::BackBody() {
  NewFunction made(r_.context(), "BWD", body_);
  std::vector<Val> params(l_.inputs()), residuals, cts(seeded_.size()), sums, results;
  for (size_t i = 0; i < l_.carried; ++i) {
    if (seeded_[l_.lead_out + i]) cts[l_.lead_out + i] = made.Param(params_[l_.lead + i]);
  }
  for (size_t i = 0; i < l_.captures; ++i) {
    if (joint_->gives()[l_.capture(i)]) sums.push_back(made.Param(params_[l_.capture(i)]));
  }
  KeptParams kept(made, kept_);
  made.Param(Type{GE_I64, 0, {}});
  for (size_t k = l_.carried; k < n_.n_out; ++k) {
    if (seeded_[l_.lead_out + k])
      cts[l_.lead_out + k] = made.Param(joint_->result(l_.lead_out + k));
  }
  for (size_t i = 0; i < l_.captures; ++i) {
    if (joint_->reads()[l_.capture(i)]) params[l_.capture(i)] = made.Param(params_[l_.capture(i)]);
  }
  const std::vector<Val> values = kept.Values();
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].param == SIZE_MAX) residuals.push_back(values[i]);
    if (kept_[i].param != SIZE_MAX) params[kept_[i].param] = values[i];
  }
  const std::vector<Val> back = joint_->PutBack(made.fn(), params, residuals, cts);
  for (size_t i = 0; i < l_.carried; ++i) {
    if (!seeded_[l_.lead_out + i]) continue;
    const Val ct = back[l_.lead + i];
    results.push_back(ct ? ct : made.fn().Zeros(cts[l_.lead_out + i]));
  }
  for (size_t i = 0, k = 0; i < l_.captures; ++i) {
    const Val g = back[l_.capture(i)];
    if (g) results.push_back(sums[k++] + g);
  }
  for (size_t i = 0; i < l_.elements; ++i) {
    if (back[l_.element(i)]) results.push_back(back[l_.element(i)]);
  }
  return made.Finish(results);
}

// What the Scan back carries: cotangents and sums.
size_t Iteration::BackStates() const {
  size_t states = 0;
  for (size_t i = 0; i < l_.carried; ++i) states += seeded_[l_.lead_out + i];
  for (size_t i = 0; i < l_.captures; ++i) states += joint_->gives()[l_.capture(i)];
  return states;
}

std::vector<Val> Iteration::FirstSums(Fn& fn) {
  std::vector<Val> sums;
  for (size_t i = 0; i < l_.captures; ++i) {
    if (joint_->gives()[l_.capture(i)]) sums.push_back(fn.Zeros(in_[l_.capture(i)]));
  }
  return sums;
}

std::vector<Val> Iteration::PutBack(Fn& fn, const std::vector<Val>& in, const Forward& forward,
                                    const std::vector<Val>& cts, const std::vector<Val>& sums) {
  const std::vector<bool>& gives = joint_->gives();
  std::vector<Val> inputs;
  std::vector<int64_t> in_axes, in_ways, out_axes, out_ways;
  for (size_t i = 0; i < l_.carried; ++i) {
    if (!seeded_[l_.lead_out + i]) continue;
    inputs.push_back(cts[i] ? cts[i] : fn.Zeros(forward.out[i]));
  }
  inputs.insert(inputs.end(), sums.begin(), sums.end());
  const size_t states = inputs.size();
  const std::vector<int64_t> axes = IntsOf(n_, "scan_output_axes", l_.scanned);
  const std::vector<int64_t> ways = IntsOf(n_, "scan_output_directions", l_.scanned);
  for (const Val v : ScannedOf(kept_, forward.kept)) inputs.push_back(v);
  inputs.push_back(forward.rounds);
  in_axes.assign(inputs.size() - states, 0);
  in_ways.assign(inputs.size() - states, 1);
  for (size_t k = 0; k < l_.scanned; ++k) {
    if (!cts[l_.carried + k]) continue;
    inputs.push_back(cts[l_.carried + k]);
    in_axes.push_back(axes[k]);
    in_ways.push_back(1 - ways[k]);
  }
  const size_t scans = inputs.size() - states;
  for (size_t i = 0; i < l_.captures; ++i) {
    if (joint_->reads()[l_.capture(i)]) inputs.push_back(in[l_.capture(i)]);
  }
  for (const Val v : RowsOf(kept_, forward.kept)) inputs.push_back(v);
  const size_t captures = inputs.size() - states - scans;
  const std::vector<int64_t> from_axes = IntsOf(n_, "scan_input_axes", l_.elements);
  const std::vector<int64_t> from_ways = IntsOf(n_, "scan_input_directions", l_.elements);
  for (size_t i = 0; i < l_.elements; ++i) {
    if (!gives[l_.element(i)]) continue;
    out_axes.push_back(from_axes[i]);
    out_ways.push_back(1 - from_ways[i]);
  }
  const size_t outputs = states + out_axes.size();
  if (outputs == 0) return {};
  if (back_body_ == 0) back_body_ = BackBody();
  const NewFunction::Bodies bodies{{back_body_}, {ge_text("body")}};
  const ge_links links = bodies.Links();
  Attrs attrs;
  attrs.Int("num_scan_inputs", static_cast<int64_t>(scans))
      .Int("captures", static_cast<int64_t>(captures));
  attrs.Ints("scan_input_axes", in_axes).Ints("scan_input_directions", in_ways);
  if (!out_axes.empty()) {
    attrs.Ints("scan_output_axes", out_axes).Ints("scan_output_directions", out_ways);
  }
  return fn.Node("", "Scan", inputs, attrs, static_cast<uint32_t>(outputs), &links);
}

// What PutBack answered.
void Iteration::GiveBack(const std::vector<Val>& made) {
  const std::vector<bool>& gives = joint_->gives();
  if (made.empty()) return;
  size_t k = 0;
  for (size_t i = 0; i < l_.carried; ++i) {
    if (!seeded_[l_.lead_out + i]) continue;
    const size_t p = l_.lead + i;
    if (r_.Wanted(n_)[p]) r_.Add(n_.in[p], made[k]);
    ++k;
  }
  for (size_t i = 0; i < l_.captures; ++i) {
    if (gives[l_.capture(i)]) r_.Add(n_.in[l_.capture(i)], made[k++]);
  }
  for (size_t i = 0; i < l_.elements; ++i) {
    if (gives[l_.element(i)]) r_.Add(n_.in[l_.element(i)], made[k++]);
  }
}

bool Iteration::Through() {
  const ge_edit* e = r_.context().edit;
  const ge_graph* g = e->graph(e->host, body_);
  if (g == nullptr || g->n_in != l_.inputs()) return false;
  Fn body(e, body_);
  const std::vector<uint32_t> params(g->in, g->in + g->n_in);
  for (const uint32_t p : params) params_.push_back(body.TypeOf(body.At(p)));
  std::string refused;
  const bool found = FindWithoutFunctions(&refused);
  if (!refused.empty()) return r_.Problem(n_, refused), true;
  if (!found) return false;
  FindKept();
  CheckpointedLoop windows(*this);
  const bool taken = windows.Applies(&refused);
  if (!refused.empty()) return r_.Problem(n_, refused), true;
  if (taken) return GiveBack(windows.Through()), true;
  Fn& fn = r_.fn();
  const Forward forward = PutForward(fn, in_, {});
  r_.Replace(n_, forward.node, forward.out);
  GiveBack(PutBack(fn, in_, forward, cts_, FirstSums(fn)));
  return true;
}

bool ThroughIteration(Reverse& r, const ge_node& n) { return Iteration(r, n).Through(); }

}  // namespace ge::grad
