// Loop and Scan. Forward: the same node, whose body also answers what the way back reads of each
// round, stacked. Back: a Scan from the last round to the first.
#include <algorithm>

#include "passes/grad/joint.h"
#include "passes/grad/new_function.h"

namespace ge::grad {
namespace {

// How the inputs and outputs of a Loop or Scan lie. A body's parameters are `lead` (iteration,
// condition), carried, elements, captures; its results are `lead_out` (condition), carried,
// scanned.
struct Layout {
  bool loop;
  size_t lead, lead_out, carried, elements, captures, scanned;
  size_t inputs() const { return lead + carried + elements + captures; }
  size_t element(size_t i) const { return lead + carried + i; }
  size_t capture(size_t i) const { return lead + carried + elements + i; }
};

std::vector<int64_t> IntsAttr(const ge_node& n, const char* name, size_t count) {
  const ge_attr* a = ge_find_attr(&n, name);
  std::vector<int64_t> v(count, 0);
  for (uint32_t i = 0; a != nullptr && i < a->n && i < count; ++i) v[i] = a->ints[i];
  return v;
}

int64_t IntAttr(const ge_node& n, const char* name) {
  const ge_attr* a = ge_find_attr(&n, name);
  return a != nullptr ? a->i : 0;
}

Layout LayoutOf(const ge_node& n) {
  Layout l{};
  l.loop = ge_is(n.op, "Loop");
  l.captures = static_cast<size_t>(IntAttr(n, "captures"));
  if (l.loop) l.lead = 2, l.lead_out = 1;
  if (!l.loop) l.elements = static_cast<size_t>(IntAttr(n, "num_scan_inputs"));
  l.carried = n.n_in - l.lead - l.elements - l.captures;
  l.scanned = n.n_out - l.carried;
  return l;
}

Val EmptyRow(Fn& fn, int32_t dtype) {
  static constexpr int64_t kNone = 0;
  ge_type t{};
  t.dtype = dtype, t.rank = 1, t.dims = &kNone, t.bits = plugin::ElementBits(dtype);
  return fn.Constant(t, &kNone, 0);
}

// What lies in `row` from `start` on, in its shape.
Val FromRow(Val row, Val shape, Val start) {
  Fn& fn = *row.fn;
  const Val count = fn.Op("ReduceProd", {shape, fn.Ints({0})});
  const Val elements = fn.Op("Slice", {Reshape(row, {-1}), start, start + count});
  return fn.Op("Reshape", {elements, shape}, Attrs().Int("allowzero", 1));
}

class Iteration {
 public:
  Iteration(Reverse& r, const ge_node& n)
      : r_(r), n_(n), l_(LayoutOf(n)), body_(NewFunction::Body(n, "body")) {
    for (uint32_t i = 0; i < n.n_in; ++i) in_.push_back(n.in[i] ? r.Now(n.in[i]) : Val{});
    cts_ = r.Cotangents(n);
  }
  bool Through();

 private:
  bool FindActive();
  bool Fixed(const Type& t, const Needs& needs) const;
  void PutForward();
  uint32_t ForwardBody();
  Attrs ForwardAttrs(size_t stacks) const;
  void PutBack();
  void GiveBack(const std::vector<Val>& made);
  uint32_t BackBody();

  Reverse& r_;
  const ge_node& n_;
  const Layout l_;
  const uint32_t body_;
  std::vector<Val> in_, cts_;
  std::shared_ptr<Joint> joint_;
  std::vector<bool> active_, seeded_;  // by the body's parameter and result
  std::vector<Type> params_;           // types of the body's parameters
  // What each round keeps: residuals of the joint, then parameters that its way back reads.
  struct Kept {
    Type type;
    size_t param = SIZE_MAX;  // which one; of a residual none
    // Its size may be another in each round, so there is no stack of it: all its elements in a row,
    // and stacks of its shapes and of where it begins.
    bool flat = false;
    Val all, shapes, starts;  // of the outer function
  };
  std::vector<Kept> kept_;
  std::vector<Val> empty_;  // what rows begin with
  Val rounds_;              // the number of each round
  std::vector<Val> out_;    // of the forward node, as n_'s
};

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

// Whether a tensor has the same sizes in each round: they are known, those of something outside, or
// follow from parameters that do not change.
bool Iteration::Fixed(const Type& t, const Needs& needs) const {
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
  if (same(t)) return true;
  return !needs.data && std::all_of(needs.params.begin(), needs.params.end(), [&](size_t p) {
    return p >= l_.capture(0) || (IsFloat(params_[p].dtype) && same(params_[p]));
  });
}

// Parameters and results of n_'s body; rows are carried behind what it carries, stacks and the
// number of the round come last.
uint32_t Iteration::ForwardBody() {
  NewFunction made(r_.context(), "FWD", body_);
  Fn& fn = made.fn();
  std::vector<Val> params, rows, stacks;
  const auto add = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) params.push_back(made.Param(params_[i]));
  };
  add(0, l_.element(0));
  for (const Val v : empty_) rows.push_back(made.Param(Type{r_.fn().TypeOf(v).dtype, -1, {}}));
  add(l_.element(0), l_.inputs());
  Joint::Forward forward = joint_->PutForward(fn, params);
  const auto scanned =
      forward.results.begin() + static_cast<std::ptrdiff_t>(l_.lead_out + l_.carried);
  std::vector<Val> results(forward.results.begin(), scanned);
  size_t row = 0, residual = 0;
  for (const Kept& k : kept_) {
    const Val v = k.param == SIZE_MAX ? forward.residuals[residual++] : params[k.param];
    if (!k.flat) stacks.push_back(v);
    if (!k.flat) continue;
    const Val before = Reshape(rows[row++], {-1});
    results.push_back(Concat({before, Reshape(v, {-1})}, 0));
    stacks.push_back(fn.Op("Shape", {v})), stacks.push_back(fn.Op("Shape", {before}));
  }
  results.insert(results.end(), scanned, forward.results.end());
  results.insert(results.end(), stacks.begin(), stacks.end());
  results.push_back(l_.loop ? params[0] : fn.Scalar(GE_I64, 0));
  return made.Finish(results);
}

Attrs Iteration::ForwardAttrs(size_t stacks) const {
  Attrs attrs;
  for (uint32_t i = 0; i < n_.n_attr; ++i) {
    const bool axes = ge_is(n_.attr[i].name, "scan_output_axes") ||
                      ge_is(n_.attr[i].name, "scan_output_directions");
    if (!axes) attrs.Add(n_.attr[i]);
  }
  for (const char* name : {"scan_output_axes", "scan_output_directions"}) {
    if (ge_find_attr(&n_, name) == nullptr) continue;
    std::vector<int64_t> v = IntsAttr(n_, name, l_.scanned);
    v.resize(l_.scanned + stacks, 0);
    attrs.Ints(name, std::move(v));
  }
  return attrs;
}

// The forward node in the place of n_.
void Iteration::PutForward() {
  Fn& fn = r_.fn();
  for (size_t i = 0; i < joint_->residuals().size(); ++i) {
    kept_.push_back({joint_->residuals()[i]});
    kept_.back().flat = !Fixed(kept_.back().type, joint_->needs(i));
  }
  for (size_t i = 0; i < l_.capture(0); ++i) {
    if (!joint_->reads()[i]) continue;
    kept_.push_back({params_[i], i});
    kept_.back().flat = !Fixed(params_[i], {{i}, false});
  }
  size_t stacks = 1;
  for (Kept& k : kept_) {
    stacks += k.flat ? 2 : 1;
    if (k.flat) empty_.push_back(EmptyRow(fn, k.type.dtype));
  }
  const size_t more = empty_.size() + stacks;
  std::vector<Val> in = in_;
  in.insert(in.begin() + static_cast<std::ptrdiff_t>(l_.element(0)), empty_.begin(), empty_.end());
  const NewFunction::Bodies bodies{{ForwardBody()}, {ge_text("body")}};
  ge_links links = bodies.Links();
  links.replaces = &n_.id, links.n_replaces = 1;
  uint32_t node = 0;
  const std::vector<Val> out =
      fn.Node("", plugin::View(n_.op), in, ForwardAttrs(stacks),
              n_.n_out + static_cast<uint32_t>(more), &links, n_.id, &node);
  const auto at = [&](size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
  out_.assign(at(0), at(l_.carried));
  out_.insert(out_.end(), at(l_.carried + empty_.size()), at(n_.n_out + empty_.size()));
  r_.Replace(n_, node, out_);
  size_t row = l_.carried, stack = n_.n_out + empty_.size();
  for (Kept& k : kept_) {
    k.all = out[k.flat ? row++ : stack++];
    if (k.flat) k.shapes = out[stack++], k.starts = out[stack++];
  }
  rounds_ = out[stack];
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
  std::vector<Val> kept, shapes, starts;
  for (const Kept& k : kept_) {
    kept.push_back(k.flat ? Val{} : made.Param(k.type));
    const int64_t axes = k.type.rank;
    const Type one{GE_I64, 1, {{1, 1, 1}}};
    const Type vector = axes < 0 ? Type{GE_I64, -1, {}} : Type{GE_I64, 1, {{axes, axes, axes}}};
    shapes.push_back(k.flat ? made.Param(vector) : Val{});
    starts.push_back(k.flat ? made.Param(one) : Val{});
  }
  made.Param(Type{GE_I64, 0, {}});
  for (size_t k = l_.carried; k < n_.n_out; ++k) {
    if (seeded_[l_.lead_out + k])
      cts[l_.lead_out + k] = made.Param(joint_->result(l_.lead_out + k));
  }
  for (size_t i = 0; i < l_.captures; ++i) {
    if (joint_->reads()[l_.capture(i)]) params[l_.capture(i)] = made.Param(params_[l_.capture(i)]);
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!kept_[i].flat) continue;
    const Val row = made.Param(Type{kept_[i].type.dtype, -1, {}});
    kept[i] = FromRow(row, shapes[i], starts[i]);
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].param == SIZE_MAX) residuals.push_back(kept[i]);
    if (kept_[i].param != SIZE_MAX) params[kept_[i].param] = kept[i];
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

void Iteration::PutBack() {
  Fn& fn = r_.fn();
  const std::vector<bool>& gives = joint_->gives();
  std::vector<Val> inputs;
  std::vector<int64_t> in_axes, in_ways, out_axes, out_ways;
  for (size_t i = 0; i < l_.carried; ++i) {
    if (!seeded_[l_.lead_out + i]) continue;
    inputs.push_back(cts_[i] ? cts_[i] : fn.Zeros(out_[i]));
  }
  for (size_t i = 0; i < l_.captures; ++i) {
    if (gives[l_.capture(i)]) inputs.push_back(fn.Zeros(in_[l_.capture(i)]));
  }
  const size_t states = inputs.size();
  const std::vector<int64_t> axes = IntsAttr(n_, "scan_output_axes", l_.scanned);
  const std::vector<int64_t> ways = IntsAttr(n_, "scan_output_directions", l_.scanned);
  for (const Kept& k : kept_) {
    if (!k.flat) inputs.push_back(k.all);
    if (k.flat) inputs.push_back(k.shapes), inputs.push_back(k.starts);
  }
  inputs.push_back(rounds_);
  in_axes.assign(inputs.size() - states, 0), in_ways.assign(inputs.size() - states, 1);
  for (size_t k = 0; k < l_.scanned; ++k) {
    if (!cts_[l_.carried + k]) continue;
    inputs.push_back(cts_[l_.carried + k]);
    in_axes.push_back(axes[k]), in_ways.push_back(1 - ways[k]);
  }
  const size_t scans = inputs.size() - states;
  size_t captures = 0;
  for (size_t i = 0; i < l_.captures; ++i) {
    if (joint_->reads()[l_.capture(i)]) inputs.push_back(in_[l_.capture(i)]), ++captures;
  }
  for (const Kept& k : kept_) {
    if (k.flat) inputs.push_back(k.all), ++captures;
  }
  const std::vector<int64_t> from_axes = IntsAttr(n_, "scan_input_axes", l_.elements);
  const std::vector<int64_t> from_ways = IntsAttr(n_, "scan_input_directions", l_.elements);
  for (size_t i = 0; i < l_.elements; ++i) {
    if (!gives[l_.element(i)]) continue;
    out_axes.push_back(from_axes[i]), out_ways.push_back(1 - from_ways[i]);
  }
  const size_t outputs = states + out_axes.size();
  if (outputs == 0) return;
  const NewFunction::Bodies bodies{{BackBody()}, {ge_text("body")}};
  const ge_links links = bodies.Links();
  Attrs attrs;
  attrs.Int("num_scan_inputs", static_cast<int64_t>(scans))
      .Int("captures", static_cast<int64_t>(captures));
  attrs.Ints("scan_input_axes", in_axes).Ints("scan_input_directions", in_ways);
  if (!out_axes.empty()) {
    attrs.Ints("scan_output_axes", out_axes).Ints("scan_output_directions", out_ways);
  }
  const std::vector<Val> made =
      fn.Node("", "Scan", inputs, attrs, static_cast<uint32_t>(outputs), &links);
  GiveBack(made);
}

// What the Scan back has made, in the order of its results.
void Iteration::GiveBack(const std::vector<Val>& made) {
  const std::vector<bool>& gives = joint_->gives();
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
  if (!FindActive()) return false;
  PutForward();
  PutBack();
  return true;
}

}  // namespace

bool ThroughIteration(Reverse& r, const ge_node& n) { return Iteration(r, n).Through(); }

}  // namespace ge::grad
