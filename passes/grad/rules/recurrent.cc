// LSTM, GRU and RNN, taken apart: one Scan a direction, whose way back is a Scan.
#include <algorithm>

#include "passes/grad/kit.h"
#include "passes/grad/reverse.h"
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// An activation of the lists that the attributes hold: the parameters of those that have any
// follow each other.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

// Names count whatever their case.
std::string CanonicalName(std::string_view given) {
  const auto lower = [](char ch) { return ch >= 'A' && ch <= 'Z' ? ch + ('a' - 'A') : ch + 0; };
  for (const std::string_view name :
       {"Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
        "HardSigmoid", "Elu", "Softsign", "Softplus"}) {
    const bool same = std::equal(name.begin(), name.end(), given.begin(), given.end(),
                                 [&](char a, char b) { return lower(a) == lower(b); });
    if (same) return std::string(name);
  }
  return std::string(given);
}

std::vector<Activation> ActivationsOf(Back& b, const std::vector<const char*>& usual, size_t dirs) {
  struct Known {
    const char* name;
    int parameters;
    double alpha, beta;
  };
  static constexpr Known kKnown[] = {{"Affine", 2, 1, 0},           {"LeakyRelu", 1, 0.01f, 0},
                                     {"ThresholdedRelu", 1, 1, 0},  {"ScaledTanh", 2, 1, 1},
                                     {"HardSigmoid", 2, 0.2f, 0.5}, {"Elu", 1, 1, 0}};
  const ge_attr* names = ge_find_attr(&b.node(), "activations");
  const auto alphas = plugin::AttrFloats(b.node(), "activation_alpha");
  const auto betas = plugin::AttrFloats(b.node(), "activation_beta");
  std::vector<Activation> all;
  size_t next_alpha = 0, next_beta = 0;
  for (size_t i = 0; i < usual.size() * dirs; ++i) {
    Activation a;
    a.name = names != nullptr && i < names->n ? CanonicalName(plugin::View(names->strings[i]))
                                              : usual[i % usual.size()];
    for (const Known& k : kKnown) {
      if (a.name != k.name) continue;
      a.alpha = k.alpha;
      a.beta = k.beta;
      if (k.parameters > 0 && next_alpha < alphas.size()) a.alpha = alphas[next_alpha++];
      if (k.parameters > 1 && next_beta < betas.size()) a.beta = betas[next_beta++];
    }
    all.push_back(a);
  }
  return all;
}

Val Apply(const Activation& a, Val x) {
  const Attrs alpha = Attrs().Float("alpha", a.alpha);
  if (a.name == "Affine") return x * a.alpha + a.beta;
  if (a.name == "ScaledTanh") return Tanh(x * a.beta) * a.alpha;
  if (a.name == "HardSigmoid") {
    return x.fn->Op(a.name, {x}, Attrs().Float("alpha", a.alpha).Float("beta", a.beta));
  }
  const bool bent = a.name == "LeakyRelu" || a.name == "ThresholdedRelu" || a.name == "Elu";
  return bent ? x.fn->Op(a.name, {x}, alpha) : Unary(a.name, x);
}

// What a round reads: gates of the input, made before; of the state, by r; and the cell's own.
struct Cell {
  Val gates, h, c, r, state_bias, peep;
  const Activation* act;
  int64_t hidden;
  double clip;
  bool input_forget, linear_before_reset;

  Val Part(Val v, int64_t i) const { return Slice(v, {i * hidden}, {(i + 1) * hidden}, {-1}); }
  Val Act(int i, Val v) const {
    Fn& fn = *v.fn;
    const int32_t dtype = fn.TypeOf(v).dtype;
    if (clip > 0) v = fn.Op("Clip", {v, fn.Scalar(dtype, -clip), fn.Scalar(dtype, clip)});
    return Apply(act[i], v);
  }
};

using Step = std::vector<Val> (*)(const Cell&);

std::vector<Val> RnnStep(const Cell& c) { return {c.Act(0, c.gates + MatMul(c.h, c.r))}; }

// Gates: update, reset, hidden.
std::vector<Val> GruStep(const Cell& c) {
  const int64_t n = c.hidden;
  const Val rr = Slice(c.r, {0}, {2 * n}, {-1}), rh = c.Part(c.r, 2);
  const Val both = c.Act(0, Slice(c.gates, {0}, {2 * n}, {-1}) + MatMul(c.h, rr));
  const Val update = c.Part(both, 0), reset = c.Part(both, 1);
  Val state = c.linear_before_reset ? MatMul(c.h, rh) : MatMul(reset * c.h, rh);
  if (c.state_bias) state = state + c.state_bias;
  if (c.linear_before_reset) state = reset * state;
  const Val fresh = c.Act(1, c.Part(c.gates, 2) + state);
  return {(1 - update) * fresh + update * c.h};
}

// Gates: input, output, forget, cell.
std::vector<Val> LstmStep(const Cell& c) {
  const Val all = c.gates + MatMul(c.h, c.r);
  const auto gate = [&](int64_t i, int64_t peep, Val cell) {
    return c.Act(0, c.peep ? c.Part(all, i) + c.Part(c.peep, peep) * cell : c.Part(all, i));
  };
  const Val in = gate(0, 0, c.c), forget = c.input_forget ? 1 - in : gate(2, 2, c.c);
  const Val cell = forget * c.c + in * c.Act(1, c.Part(all, 3));
  // The last activation is not clipped.
  return {gate(1, 1, cell) * Apply(c.act[2], cell), cell};
}

struct Kind {
  Step step;
  int64_t gates;
  std::vector<const char*> usual;
};

struct Direction {
  Val y, h, c;
};

class Recurrence {
 public:
  Recurrence(Back& b, Kind kind) : b_(b), fn_(b.fn()), kind_(std::move(kind)) {}
  std::vector<Val> Parts();

 private:
  Val Of(uint32_t input, int64_t dir);  // that direction's part, without the axis
  Val StateOf(uint32_t input, int64_t dir);
  Direction Run(int64_t dir, bool reverse);
  uint32_t Body(const std::vector<Val>& in, size_t states, const Cell& plan);
  bool cell() const { return kind_.usual.size() == 3; }

  Back& b_;
  Fn& fn_;
  const Kind kind_;
  std::vector<Activation> act_;
  Val x_, length_, mask_;
  int64_t hidden_ = 0;
};

Val Recurrence::Of(uint32_t input, int64_t dir) {
  const Val v = b_.x(input);
  return v ? Gather(v, fn_.Scalar(GE_I64, static_cast<double>(dir)), 0) : v;
}

// [batch, hidden]
Val Recurrence::StateOf(uint32_t input, int64_t dir) {
  const Val v = b_.x(input);
  const int64_t axis = b_.Int("layout") != 0 ? 1 : 0;
  if (v) return Gather(v, fn_.Scalar(GE_I64, static_cast<double>(dir)), axis);
  const Val zero = fn_.Scalar(b_.type(b_.x(0)).dtype, 0);
  return fn_.Op("Expand", {zero, Joined({SizeOf(x_, 1), fn_.Ints({hidden_})})});
}

// Parameters as `in`; results: the states again, and what is kept of the round.
uint32_t Recurrence::Body(const std::vector<Val>& in, size_t states, const Cell& plan) {
  NewFunction made(b_.context(), "CELL", 0);
  std::vector<Val> p;
  for (size_t i = 0; i < in.size(); ++i) {
    Type t = b_.type(in[i]);
    // Elements come without the axis of time.
    const bool element = i >= states && i < states + (mask_ ? 2 : 1);
    if (element) {
      t.dims.erase(t.dims.begin());
      --t.rank;
    }
    p.push_back(made.Param(t));
  }
  Cell c = plan;
  size_t at = 0;
  c.h = p[at++];
  if (cell()) c.c = p[at++];
  c.gates = p[at++];
  const Val there = mask_ ? p[at++] : Val{};
  c.r = p[at++];
  if (plan.state_bias) c.state_bias = p[at++];
  if (plan.peep) c.peep = p[at++];
  std::vector<Val> results = kind_.step(c);
  const Val y = there ? Where(there, results[0], 0.0) : results[0];
  if (there) results[0] = Where(there, results[0], c.h);
  if (there && cell()) results[1] = Where(there, results[1], c.c);
  results.push_back(y);
  return made.Finish(results);
}

Direction Recurrence::Run(int64_t dir, bool reverse) {
  const int64_t n = kind_.gates * hidden_;
  const Val w = SwapLast(Of(1, dir)), r = SwapLast(Of(2, dir)), bias = Of(3, dir);
  const auto turned = [&](Val v) {
    return fn_.Op("ReverseSequence", {v, length_},
                  Attrs().Int("time_axis", 0).Int("batch_axis", 1));
  };
  const bool by_length = reverse && length_;
  Val gates = MatMul(by_length ? turned(x_) : x_, w);
  Cell plan{};
  plan.act = &act_[static_cast<size_t>(dir) * kind_.usual.size()];
  plan.hidden = hidden_;
  plan.clip = b_.Float("clip");
  plan.input_forget = b_.Int("input_forget") != 0;
  plan.linear_before_reset = b_.Int("linear_before_reset") != 0;
  if (bias) {
    gates = gates + Slice(bias, {0}, {n}, {0});
    // A GRU's last gate has the state's bias inside.
    const bool apart = kind_.gates == 3;
    const Val of_state = Slice(bias, {n}, {apart ? n + 2 * hidden_ : 2 * n}, {0});
    if (apart) plan.state_bias = Slice(bias, {n + 2 * hidden_}, {2 * n}, {0});
    gates = gates + (apart ? fn_.Op("Pad", {of_state, fn_.Ints({0, hidden_})}) : of_state);
  }
  if (b_.x(7)) plan.peep = Of(7, dir);
  std::vector<Val> in = {StateOf(5, dir)};
  if (cell()) in.push_back(StateOf(6, dir));
  const size_t states = in.size();
  in.push_back(gates);
  if (mask_) in.push_back(mask_);
  in.push_back(r);
  if (plan.state_bias) in.push_back(plan.state_bias);
  if (plan.peep) in.push_back(plan.peep);
  const int64_t elements = mask_ ? 2 : 1;
  const NewFunction::Bodies bodies{{Body(in, states, plan)}, {ge_text("body")}};
  const ge_links links = bodies.Links();
  const int64_t way = reverse && !by_length ? 1 : 0;
  Attrs attrs = Attrs().Int("num_scan_inputs", elements);
  attrs.Int("captures", static_cast<int64_t>(in.size() - states) - elements);
  attrs.Ints("scan_input_directions", std::vector<int64_t>(static_cast<size_t>(elements), way));
  attrs.Ints("scan_output_directions", {way});
  const std::vector<Val> out =
      fn_.Node("", "Scan", in, attrs, static_cast<uint32_t>(states) + 1, &links);
  const Val y = by_length ? turned(out[states]) : out[states];
  return {y, out[0], cell() ? out[1] : Val{}};
}

std::vector<Val> Recurrence::Parts() {
  const Type r = b_.type(b_.x(2));
  hidden_ = r.rank == 3 && r.dims[2].value >= 0 ? r.dims[2].value : b_.Int("hidden_size");
  if (b_.rank(b_.x(0)) != 3 || hidden_ < 1) {
    return b_.Fail("its hidden size is not known"), std::vector<Val>{};
  }
  const std::string way = b_.Text("direction", "forward");
  const int64_t dirs = way == "bidirectional" ? 2 : 1;
  const bool layout = b_.Int("layout") != 0;
  act_ = ActivationsOf(b_, kind_.usual, static_cast<size_t>(dirs));
  x_ = layout ? Transpose(b_.x(0), {1, 0, 2}) : b_.x(0);
  if (b_.x(4)) {
    length_ = fn_.Cast(b_.x(4), GE_I64);
    const Val round = Unsqueeze(Iota(SizeOf(x_, 0)), {1, 2});
    mask_ = Compare("Less", round, Unsqueeze(length_, {0, 2}));
  }
  const int64_t at = layout ? 2 : 1;
  std::vector<Val> y, h, c;
  for (int64_t dir = 0; dir < dirs; ++dir) {
    const Direction d = Run(dir, dir == 1 || way == "reverse");
    y.push_back(Unsqueeze(layout ? Transpose(d.y, {1, 0, 2}) : d.y, {at}));
    h.push_back(Unsqueeze(d.h, {at - 1}));
    if (d.c) c.push_back(Unsqueeze(d.c, {at - 1}));
  }
  std::vector<Val> parts = {Concat(y, at), Concat(h, at - 1)};
  if (cell()) parts.push_back(Concat(c, at - 1));
  return parts;
}

std::vector<Val> LstmParts(Back& b) {
  return Recurrence(b, {LstmStep, 4, {"Sigmoid", "Tanh", "Tanh"}}).Parts();
}
std::vector<Val> GruParts(Back& b) {
  return Recurrence(b, {GruStep, 3, {"Sigmoid", "Tanh"}}).Parts();
}
std::vector<Val> RnnParts(Back& b) { return Recurrence(b, {RnnStep, 1, {"Tanh"}}).Parts(); }

}  // namespace

GE_GRAD(recurrent) {
  const std::vector<NoGradient> length = {{4, "lengths"}};
  return {{"", "LSTM", nullptr, length, LstmParts},
          {"", "GRU", nullptr, length, GruParts},
          {"", "RNN", nullptr, length, RnnParts}};
}

}  // namespace ge::grad
