#include "passes/grad/control/loop_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "passes/grad/kit.h"
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// Beyond, a number of rounds says no more than that a condition ends them.
constexpr int64_t kMostRounds = int64_t{1} << 31;

// The constant that a value is; NULL where it is none.
const void* DataOf(Val v) {
  return v ? v.fn->edit()->value(v.fn->edit()->host, v.fn->id(), v.id)->data : nullptr;
}

bool IsTrue(const void* data) { return data != nullptr && *static_cast<const char*>(data) != 0; }

Val ShapeFrom(Val v, int64_t start) { return v.fn->Op("Shape", {v}, Attrs().Int("start", start)); }
Val ShapeUpTo(Val v, int64_t end) {
  return v.fn->Op("Shape", {v}, Attrs().Int("start", 0).Int("end", end));
}

std::vector<int64_t> Sizes(const Type& t) {
  std::vector<int64_t> sizes;
  for (const ge_dim& d : t.dims) sizes.push_back(d.value);
  return sizes;
}

Val ReshapeToSizes(Val v, const std::vector<int64_t>& sizes) {
  return v.fn->Op("Reshape", {v, v.fn->Ints(sizes)}, Attrs().Int("allowzero", 1));
}

Val Padded(Val v, Val more) {  // behind its first axis
  Fn& fn = *v.fn;
  return fn.Op("Pad", {v, Joined({fn.Ints({0}), more}), Val{}, fn.Ints({0})});
}

}  // namespace

// ---- whether there are windows

// -1 where that is not known.
int64_t CheckpointedLoop::KnownRounds() const {
  if (!l_.loop) {
    const Type t = fn_.TypeOf(it_.in_[l_.element(0)]);
    const int64_t axis = Axis(kInput, 0);
    return axis >= 0 && axis < t.rank ? t.dims[static_cast<size_t>(axis)].value : -1;
  }
  const void* data = DataOf(it_.in_[0]);
  if (data == nullptr) return -1;
  int64_t rounds = 0;
  std::memcpy(&rounds, data, sizeof rounds);
  return rounds >= kMostRounds ? -1 : std::max<int64_t>(rounds, 0);
}

// Whether a condition may end the rounds before there were as many as a Loop says.
bool CheckpointedLoop::MayEnd() const {
  if (!l_.loop) return false;
  if (it_.in_[1] && !IsTrue(DataOf(it_.in_[1]))) return true;
  const ge_edit* e = it_.r_.context().edit;
  const ge_graph* body = e->graph(e->host, it_.body_);
  const uint32_t more = GoesOn(body);
  return more != body->in[1] && !it_.AlwaysGoesOn();
}

bool CheckpointedLoop::ReadsNumber() const {
  if (!l_.loop) return false;
  const ge_edit* e = it_.r_.context().edit;
  const ge_graph* body = e->graph(e->host, it_.body_);
  return GE_VALUE(body, body->in[0])->n_user > 0 ||
         std::count(body->out, body->out + body->n_out, body->in[0]) > 0;
}

// Why rounds cannot be run in windows, "" = they can.
std::string CheckpointedLoop::Obstacle() const {
  for (size_t i = 0; i < l_.carried; ++i) {
    if (it_.params_[l_.lead + i].dtype != 0) continue;
    return "what it carries as number " + std::to_string(i) +
           " is a sequence or a function, and loop-checkpoint stacks tensors; carry tensors, or "
           "leave loop-checkpoint at none";
  }
  const std::string drawn = DrawsAnew(it_.r_.context().edit, it_.n_);
  if (!drawn.empty()) {
    return "it runs " + drawn +
           ", which has no seed and draws other numbers when loop-checkpoint runs a round again; "
           "give it a seed, or leave loop-checkpoint at none";
  }
  for (const Side side : {kInput, kOutput}) {
    for (size_t i = 0; i < (side == kInput ? l_.elements : l_.scanned); ++i) {
      if (Axis(side, i) >= 0) continue;
      return "what it scans has an axis that is counted from its end and a rank that is not known; "
             "loop-checkpoint needs one of both, or leave it at none";
    }
  }
  return {};
}

bool CheckpointedLoop::Applies(std::string* refused) {
  const LoopCheckpoint& how = it_.r_.context().checkpoint;
  if (how.kind == LoopCheckpoint::kNone) return false;
  bool any = it_.BackStates() > 0;
  for (size_t i = 0; i < l_.elements; ++i) any = any || it_.joint_->gives()[l_.element(i)];
  if (!any) return false;
  const int64_t known = KnownRounds();
  every_ = how.every;
  if (how.kind == LoopCheckpoint::kAuto) {
    every_ = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(known))));
  }
  if (how.kind == LoopCheckpoint::kAuto && known < 0) {
    *refused =
        std::string("loop-checkpoint=auto takes the root of how many rounds there are, and ") +
        (l_.loop ? "input M is no constant below 2^31"
                 : "the size of the axis that is scanned is not known") +
        "; wanted a number of rounds that is known, or loop-checkpoint=NUMBER";
    return false;
  }
  if (known >= 0 && known <= every_) return false;
  *refused = Obstacle();
  return refused->empty();
}

// ---- axes and numbers

int64_t CheckpointedLoop::Axis(Side side, size_t i) const {
  const bool input = side == kInput;
  const size_t count = input ? l_.elements : l_.scanned;
  const int64_t axis = IntsOf(it_.n_, input ? "scan_input_axes" : "scan_output_axes", count)[i];
  const int32_t rank = input ? it_.params_[l_.element(i)].rank
                             : it_.joint_->result(l_.lead_out + l_.carried + i).rank;
  return axis >= 0 ? axis : rank < 0 ? -1 : axis + rank + 1;
}

bool CheckpointedLoop::FromLast(Side side, size_t i) const {
  const bool input = side == kInput;
  return IntsOf(it_.n_, input ? "scan_input_directions" : "scan_output_directions",
                input ? l_.elements : l_.scanned)[i] != 0;
}

// The type of a window's rounds together.
Type CheckpointedLoop::WithWindow(Type type, int64_t axis) const {
  if (type.rank < axis) return Type{type.dtype, -1, {}};
  ge_dim d{};
  d.value = d.min = d.max = every_;
  type.dims.insert(type.dims.begin() + axis, d);
  ++type.rank;
  return type;
}

Val CheckpointedLoop::Scalar(const Count& count) {
  return count.known >= 0 ? fn_.Scalar(GE_I64, static_cast<double>(count.known)) : First(count.v);
}

void CheckpointedLoop::CountRounds() {
  const int64_t known = KnownRounds();
  bounded_ = !l_.loop || it_.in_[0];
  has_rest_ = bounded_ && (known < 0 || known % every_ != 0);
  if (!bounded_) return;
  const auto number = [&](int64_t n) { return Count{n, fn_.Ints({n})}; };
  if (known >= 0) {
    windows_ = number(known / every_);
    in_windows_ = number(known / every_ * every_);
    rest_ = number(known % every_);
    return;
  }
  const Val zero = fn_.Ints({0}), every = fn_.Ints({every_});
  const Val rounds = l_.loop ? fn_.Op("Max", {Reshape(it_.in_[0], {1}), zero})
                             : SizeOf(it_.in_[l_.element(0)], Axis(kInput, 0));
  windows_.v = fn_.Op("Div", {rounds, every});
  in_windows_.v = windows_.v * every;
  rest_.v = rounds - in_windows_.v;
}

// One of the two parts of what is scanned: that of the windows, or of what is left.
Val CheckpointedLoop::PartOf(Val value, int64_t axis, bool from_last, bool rest) {
  const Val zero = fn_.Ints({0}), end = fn_.Ints({INT64_MAX}), along = fn_.Ints({axis});
  const Val cut = from_last ? rest_.v : in_windows_.v;
  const bool first = from_last == rest;
  return fn_.Op("Slice", {value, first ? zero : cut, first ? cut : end, along});
}

// [rounds] -> [windows, every], along the axis.
Val CheckpointedLoop::Split(Val value, int64_t axis) {
  const Type t = fn_.TypeOf(value);
  if (t.known() && windows_.known >= 0) {
    std::vector<int64_t> sizes = Sizes(t);
    sizes[static_cast<size_t>(axis)] = every_;
    sizes.insert(sizes.begin() + axis, windows_.known);
    return ReshapeToSizes(value, sizes);
  }
  std::vector<Val> sizes = {windows_.v, fn_.Ints({every_}), ShapeFrom(value, axis + 1)};
  if (axis > 0) sizes.insert(sizes.begin(), ShapeUpTo(value, axis));
  return ReshapeTo(value, sizes);
}

// And back.
Val CheckpointedLoop::Merge(Val value, int64_t axis) {
  const Type t = fn_.TypeOf(value);
  if (t.known()) {
    std::vector<int64_t> sizes = Sizes(t);
    sizes[static_cast<size_t>(axis)] *= sizes[static_cast<size_t>(axis) + 1];
    sizes.erase(sizes.begin() + axis + 1);
    return ReshapeToSizes(value, sizes);
  }
  const Val both = fn_.Op("Shape", {value}, Attrs().Int("start", axis).Int("end", axis + 2));
  std::vector<Val> sizes = {fn_.Op("ReduceProd", {both, fn_.Ints({0})}),
                            ShapeFrom(value, axis + 2)};
  if (axis > 0) sizes.insert(sizes.begin(), ShapeUpTo(value, axis));
  return ReshapeTo(value, sizes);
}

Val CheckpointedLoop::Whole(Val windows, Val rest, int64_t axis, bool from_last) {
  if (!rest) return windows;
  return from_last ? Concat({rest, windows}, axis) : Concat({windows, rest}, axis);
}

// ---- forward

// n_'s body as its way back has it, without what it keeps. Behind what is carried: whether it goes
// on, where that may end; behind what is captured: the number of the first round.
uint32_t CheckpointedLoop::PlainBody() {
  NewFunction made(it_.r_.context(), "FWD", it_.body_);
  std::vector<Val> params;
  for (size_t i = 0; i < l_.element(0); ++i) params.push_back(made.Param(it_.params_[i]));
  if (may_end_) made.Param(it_.params_[1]);
  for (size_t i = l_.element(0); i < l_.inputs(); ++i) {
    params.push_back(made.Param(it_.params_[i]));
  }
  if (from_base_) params[0] = params[0] + made.Param(Type{GE_I64, 0, {}});
  std::vector<Val> results = it_.joint_->PutForward(made.fn(), params).results;
  it_.HandOn(params.size() > 1 ? params[1] : Val{}, &results);
  const auto behind = results.begin() + static_cast<std::ptrdiff_t>(l_.lead_out + l_.carried);
  if (may_end_) results.insert(behind, Val(results[0]));
  return made.Finish(results);
}

// Parameters and results as n_'s body has them, of which elements and what is scanned are those of
// a window. Behind what is carried: whether it goes on, and rows. Results last: stacks, the number
// of the window, how many rounds it had.
uint32_t CheckpointedLoop::WindowBody() {
  NewFunction made(it_.r_.context(), "WIN", it_.body_);
  Fn& fn = made.fn();
  std::vector<Val> params, stacks;
  for (size_t i = 0; i < l_.element(0); ++i) params.push_back(made.Param(it_.params_[i]));
  std::vector<Val> in = params;
  if (l_.loop) in[0] = fn.Scalar(GE_I64, static_cast<double>(every_));
  if (may_end_) {
    made.Param(it_.params_[1]);
    in.push_back(params[1]);
  }
  const std::vector<Val> rows = RowParams(made, saved_);
  for (size_t i = 0; i < l_.elements; ++i) {
    in.push_back(made.Param(WithWindow(it_.params_[l_.element(i)], Axis(kInput, i))));
  }
  for (size_t i = 0; i < l_.captures; ++i) in.push_back(made.Param(it_.params_[l_.capture(i)]));
  if (from_base_) in.push_back(params[0] * static_cast<double>(every_));
  const NewFunction::Bodies bodies{{PlainBody()}, {ge_text("body")}};
  const ge_links links = bodies.Links();
  const size_t first = l_.carried + (may_end_ ? 1 : 0);
  const std::vector<Val> out =
      fn.Node("", plugin::View(it_.n_.op), in, it_.AttrsWith(0, from_base_ ? 1 : 0),
              static_cast<uint32_t>(first + l_.scanned), &links);
  std::vector<Val> results, scanned(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  if (l_.loop) results.push_back(may_end_ ? out[l_.carried] : params[1]);
  results.insert(results.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(first));
  const std::vector<Val> carried(params.begin() + static_cast<std::ptrdiff_t>(l_.lead),
                                 params.end());
  PutOnStacks(fn, saved_, carried, rows, &results, &stacks);
  Val had;
  for (Val& v : scanned) {
    if (!may_end_) continue;
    had = fn.Op("Shape", {v}, Attrs().Int("start", 0).Int("end", 1));
    v = Padded(v, fn.Ints({every_}) - had);
  }
  results.insert(results.end(), scanned.begin(), scanned.end());
  results.insert(results.end(), stacks.begin(), stacks.end());
  if (l_.loop) results.push_back(params[0]);
  if (had) results.push_back(had);
  return made.Finish(results);
}

// Of a Scan over windows: axes and directions of what n_ scans, then those of `stacks`.
Attrs CheckpointedLoop::ScanAttrs(size_t stacks) const {
  Attrs attrs;
  std::vector<int64_t> axes[2], ways[2];
  for (const Side side : {kInput, kOutput}) {
    for (size_t i = 0; i < (side == kInput ? l_.elements : l_.scanned); ++i) {
      axes[side].push_back(Axis(side, i));
      ways[side].push_back(FromLast(side, i) ? 1 : 0);
    }
  }
  axes[kOutput].resize(l_.scanned + stacks, 0);
  ways[kOutput].resize(l_.scanned + stacks, 0);
  attrs.Int("num_scan_inputs", static_cast<int64_t>(l_.elements));
  attrs.Ints("scan_input_axes", axes[kInput]).Ints("scan_input_directions", ways[kInput]);
  if (axes[kOutput].empty()) return attrs;
  return attrs.Ints("scan_output_axes", axes[kOutput])
      .Ints("scan_output_directions", ways[kOutput]);
}

void CheckpointedLoop::PutWindows() {
  for (size_t i = 0; i < l_.carried; ++i) {
    const size_t p = l_.lead + i;
    saved_.push_back({it_.params_[p], p, !it_.Fixed(it_.params_[p], {{p}, false})});
  }
  for (size_t i = 0; i < l_.elements; ++i) {
    const Val all = it_.in_[l_.element(i)];
    const Val part = has_rest_ ? PartOf(all, Axis(kInput, i), FromLast(kInput, i), false) : all;
    elements_.push_back(Split(part, Axis(kInput, i)));
  }
  std::vector<Val> in;
  if (l_.loop) in = {bounded_ ? Scalar(windows_) : Val{}, it_.in_[1]};
  const auto from = it_.in_.begin();
  in.insert(in.end(), from + static_cast<std::ptrdiff_t>(l_.lead),
            from + static_cast<std::ptrdiff_t>(l_.element(0)));
  if (may_end_) in.push_back(it_.in_[1] ? it_.in_[1] : fn_.Scalar(GE_BOOL, 1));
  const std::vector<Val> rows = EmptyRows(fn_, saved_);
  in.insert(in.end(), rows.begin(), rows.end());
  in.insert(in.end(), elements_.begin(), elements_.end());
  in.insert(in.end(), from + static_cast<std::ptrdiff_t>(l_.capture(0)), it_.in_.end());
  const bool counts = may_end_ && l_.scanned > 0;
  const size_t stacks = StacksOf(saved_) + (l_.loop ? 1 : 0) + (counts ? 1 : 0);
  const size_t row = l_.carried + (may_end_ ? 1 : 0), first = row + rows.size();
  Attrs attrs = l_.loop ? Attrs() : ScanAttrs(stacks);
  attrs.Int("captures", static_cast<int64_t>(l_.captures));
  const NewFunction::Bodies bodies{{WindowBody()}, {ge_text("body")}};
  ge_links links = bodies.Links();
  links.replaces = &it_.n_.id;
  links.n_replaces = 1;
  const std::vector<Val> out =
      fn_.Node("", plugin::View(it_.n_.op), in, attrs,
               static_cast<uint32_t>(first + l_.scanned + stacks), &links, it_.n_.id, &node_);
  const auto at = [&](size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
  out_.assign(at(0), at(l_.carried));
  out_.insert(out_.end(), at(first), at(first + l_.scanned));
  saved_stacks_ = StacksIn(out, saved_, row, first + l_.scanned);
  if (may_end_) go_ = out[l_.carried];
  if (l_.loop) numbers_ = out[first + l_.scanned + StacksOf(saved_)];
  if (!may_end_) return;
  // Fewer than there might have been.
  windows_ = {-1, fn_.ShapeOf(numbers_)};
  if (counts)
    in_windows_ = {-1,
                   fn_.Op("ReduceSum", {out.back(), fn_.Ints({0})}, Attrs().Int("keepdims", 0))};
}

// What is left behind the windows, with all that its way back reads.
void CheckpointedLoop::PutRest() {
  if (!has_rest_) return;
  const auto from = it_.in_.begin();
  if (l_.loop) rest_in_ = {Scalar(rest_), may_end_ ? go_ : it_.in_[1]};
  rest_in_.insert(rest_in_.end(), out_.begin(),
                  out_.begin() + static_cast<std::ptrdiff_t>(l_.carried));
  for (size_t i = 0; i < l_.elements; ++i) {
    const Val all = it_.in_[l_.element(i)];
    rest_in_.push_back(PartOf(all, Axis(kInput, i), FromLast(kInput, i), true));
  }
  rest_in_.insert(rest_in_.end(), from + static_cast<std::ptrdiff_t>(l_.capture(0)), it_.in_.end());
  rest_run_ = it_.PutForward(fn_, rest_in_, from_base_ ? base_ : Val{});
}

// By output of n_.
std::vector<Val> CheckpointedLoop::Results() {
  std::vector<Val> results(l_.carried);
  for (size_t i = 0; i < l_.carried; ++i) results[i] = has_rest_ ? rest_run_.out[i] : out_[i];
  for (size_t k = 0; k < l_.scanned; ++k) {
    const int64_t axis = Axis(kOutput, k);
    Val windows = Merge(out_[l_.carried + k], axis);
    if (may_end_) windows = PartOf(windows, axis, false, false);
    const Val rest = has_rest_ ? rest_run_.out[l_.carried + k] : Val{};
    results.push_back(Whole(windows, rest, axis, FromLast(kOutput, k)));
  }
  return results;
}

// ---- back

// By output of n_: those of what is left, or of the windows, which lie there by windows.
std::vector<Val> CheckpointedLoop::CotangentsOf(bool rest) {
  std::vector<Val> cts = it_.cts_;
  for (size_t k = 0; k < l_.scanned; ++k) {
    Val& ct = cts[l_.carried + k];
    const int64_t axis = Axis(kOutput, k);
    if (ct && (has_rest_ || may_end_)) ct = PartOf(ct, axis, FromLast(kOutput, k), rest);
    if (!ct || rest) continue;
    if (may_end_) ct = Padded(ct, windows_.v * fn_.Ints({every_}) - in_windows_.v);
    ct = Split(ct, axis);
  }
  return cts;
}

// Parameters: what the way back of a round carries; what was carried where the window begins, its
// number, its elements, cotangents of what it scanned; captures, rows. Results: as the way back of
// a round has them.
uint32_t CheckpointedLoop::BackBody() {
  NewFunction made(it_.r_.context(), "BWD", it_.body_);
  Fn& fn = made.fn();
  std::vector<Val> in, cts(it_.n_.n_out), sums, elements;
  for (size_t i = 0; i < l_.carried; ++i) {
    if (it_.seeded_[l_.lead_out + i]) cts[i] = made.Param(it_.params_[l_.lead + i]);
  }
  for (size_t i = 0; i < l_.captures; ++i) {
    const size_t p = l_.capture(i);
    if (it_.joint_->gives()[p]) sums.push_back(made.Param(it_.params_[p]));
  }
  KeptParams saved(made, saved_);
  const Val number = l_.loop ? made.Param(Type{GE_I64, 0, {}}) : Val{};
  for (size_t i = 0; i < l_.elements; ++i) {
    elements.push_back(made.Param(WithWindow(it_.params_[l_.element(i)], Axis(kInput, i))));
  }
  for (size_t k = 0; k < l_.scanned; ++k) {
    const size_t q = l_.lead_out + l_.carried + k;
    if (!it_.seeded_[q]) continue;
    cts[l_.carried + k] = made.Param(WithWindow(it_.joint_->result(q), Axis(kOutput, k)));
  }
  std::vector<Val> captures;
  for (size_t i = 0; i < l_.captures; ++i) {
    captures.push_back(made.Param(it_.params_[l_.capture(i)]));
  }
  if (l_.loop) in = {fn.Scalar(GE_I64, static_cast<double>(every_)), fn.Scalar(GE_BOOL, 1)};
  for (const std::vector<Val>& more : {saved.Values(), elements, captures}) {
    in.insert(in.end(), more.begin(), more.end());
  }
  const Val base = from_base_ ? number * static_cast<double>(every_) : Val{};
  const Iteration::Forward forward = it_.PutForward(fn, in, base);
  for (size_t k = l_.carried; k < cts.size() && may_end_; ++k) {
    if (cts[k]) {
      cts[k] = fn.Op("Slice", {cts[k], fn.Ints({0}), fn.ShapeOf(forward.rounds), fn.Ints({0})});
    }
  }
  return made.Finish(it_.PutBack(fn, in, forward, cts, sums));
}

// states: what the way back carries behind the windows. Answers these ahead of them, then gradients
// of elements.
std::vector<Val> CheckpointedLoop::BackThroughWindows(const std::vector<Val>& states) {
  const std::vector<Val> cts = CotangentsOf(false);
  std::vector<Val> in = states;
  std::vector<int64_t> in_axes, in_ways, out_axes, out_ways;
  const auto scan = [&](Val v, int64_t axis, int64_t way) {
    in.push_back(v);
    in_axes.push_back(axis);
    in_ways.push_back(way);
  };
  for (const Val v : ScannedOf(saved_, saved_stacks_)) scan(v, 0, 1);
  if (l_.loop) scan(numbers_, 0, 1);
  for (size_t i = 0; i < l_.elements; ++i) {
    const int64_t axis = Axis(kInput, i), way = FromLast(kInput, i) ? 0 : 1;
    scan(elements_[i], axis, way);
    if (it_.joint_->gives()[l_.element(i)]) {
      out_axes.push_back(axis);
      out_ways.push_back(way);
    }
  }
  for (size_t k = 0; k < l_.scanned; ++k) {
    const Val ct = cts[l_.carried + k];
    if (ct) scan(ct, Axis(kOutput, k), FromLast(kOutput, k) ? 0 : 1);
  }
  const std::vector<Val> rows = RowsOf(saved_, saved_stacks_);
  in.insert(in.end(), it_.in_.begin() + static_cast<std::ptrdiff_t>(l_.capture(0)), it_.in_.end());
  in.insert(in.end(), rows.begin(), rows.end());
  Attrs attrs;
  attrs.Int("num_scan_inputs", static_cast<int64_t>(in_axes.size()))
      .Int("captures", static_cast<int64_t>(l_.captures + rows.size()));
  attrs.Ints("scan_input_axes", in_axes).Ints("scan_input_directions", in_ways);
  const size_t outputs = states.size() + out_axes.size();
  if (!out_axes.empty()) {
    attrs.Ints("scan_output_axes", out_axes).Ints("scan_output_directions", out_ways);
  }
  const NewFunction::Bodies bodies{{BackBody()}, {ge_text("body")}};
  const ge_links links = bodies.Links();
  return fn_.Node("", "Scan", in, attrs, static_cast<uint32_t>(outputs), &links);
}

std::vector<Val> CheckpointedLoop::Through() {
  std::vector<uint32_t> nodes;
  fn_.PutBefore(it_.n_.id);
  fn_.Record(&nodes);
  may_end_ = MayEnd();
  from_base_ = ReadsNumber();
  CountRounds();
  if (from_base_ && has_rest_) base_ = Scalar(in_windows_);
  PutWindows();
  PutRest();
  const std::vector<Val> results = Results();
  fn_.PutBefore(0);
  fn_.Record(nullptr);
  for (const uint32_t node : nodes) it_.r_.MarkForward(node);
  it_.r_.Replace(it_.n_, node_, results);

  const size_t states = it_.BackStates();
  std::vector<Val> rest;
  if (has_rest_) {
    rest = it_.PutBack(fn_, rest_in_, rest_run_, CotangentsOf(true), it_.FirstSums(fn_));
  }
  std::vector<Val> carried;
  for (size_t i = 0; i < l_.carried && !has_rest_; ++i) {
    if (!it_.seeded_[l_.lead_out + i]) continue;
    carried.push_back(it_.cts_[i] ? it_.cts_[i] : fn_.Zeros(out_[i]));
  }
  if (has_rest_) carried.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(states));
  if (!has_rest_) {
    const std::vector<Val> sums = it_.FirstSums(fn_);
    carried.insert(carried.end(), sums.begin(), sums.end());
  }
  std::vector<Val> made = BackThroughWindows(carried);
  for (size_t i = 0, k = states; i < l_.elements; ++i) {
    if (!it_.joint_->gives()[l_.element(i)]) continue;
    const Val behind = has_rest_ ? rest[k] : Val{};
    const int64_t axis = Axis(kInput, i);
    made[k] = Whole(Merge(made[k], axis), behind, axis, FromLast(kInput, i));
    ++k;
  }
  return made;
}

}  // namespace ge::grad
