// Shared by random cases of RNN, GRU and LSTM: the case, and the plain answer's walk over
// directions, samples and steps.
#pragma once

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

// Draws functions of PlainActivation; their parameters are listed in the same order.
inline void SetActivations(CaseMaker& maker, size_t count) {
  std::vector<std::string> names(count);
  std::vector<double> alphas, betas;
  const bool more = maker.r.Chance(0.5);
  for (std::string& name : names) {
    name = maker.r.Pick(std::vector<std::string>{"Tanh", "Sigmoid", "Relu", "Softsign"});
    if (more) name = maker.r.Pick(std::vector<std::string>{"LeakyRelu", "HardSigmoid", name});
    if (name == "LeakyRelu" || name == "HardSigmoid") alphas.push_back(maker.r.Between(0.1, 0.4));
    if (name == "HardSigmoid") betas.push_back(maker.r.Between(0.2, 0.6));
  }
  maker.Set("activations", names);
  if (!alphas.empty() && maker.r.Chance(0.7)) maker.Set("activation_alpha", alphas);
  if (!betas.empty() && maker.r.Chance(0.7)) maker.Set("activation_beta", betas);
}

inline void RecurrentCase(CaseMaker& maker, int64_t gates, size_t activations) {
  const LargeLayer large = maker.large ? MakeLargeLayer(maker, gates) : LargeLayer{};
  const int64_t steps = maker.large ? large.steps : maker.r.Int(1, 4),
                batch = maker.large ? large.batch : maker.r.Int(1, 3),
                in = maker.large ? large.in : maker.r.Int(1, 4),
                hidden = maker.large ? large.hidden : maker.r.Int(1, 4);
  const std::string direction =
      maker.r.Pick(std::vector<std::string>{"forward", "reverse", "bidirectional"});
  const int64_t dirs = direction == "bidirectional" ? 2 : 1;
  const bool batch_first = maker.r.Chance(0.3);
  maker.Add(Signal(maker, batch_first ? Dims{batch, steps, in} : Dims{steps, batch, in}));
  maker.AddWeight(TameWeight(maker, {dirs, gates * hidden, in}, in));
  maker.AddWeight(TameWeight(maker, {dirs, gates * hidden, hidden}, hidden));
  if (maker.r.Chance(0.7)) {
    maker.Add(Signal(maker, {dirs, 2 * gates * hidden}));
    const bool lengths = maker.r.Chance(0.4), states = maker.r.Chance(0.5);
    if (lengths) {
      maker.Add(maker.Numbers(DType::kInt32, {batch}, 0, static_cast<double>(steps)));
    } else if (states) {
      maker.AddAbsent();
    }
    if (states) {
      maker.Add(Signal(maker, batch_first ? Dims{batch, dirs, hidden} : Dims{dirs, batch, hidden}));
    }
  }
  maker.c.outputs = static_cast<int>(maker.r.Int(1, 2));
  maker.Set("hidden_size", hidden);
  if (dirs == 2 || maker.r.Chance(0.7)) maker.Set("direction", direction);
  if (maker.r.Chance(0.2)) maker.Set("clip", 0.5);
  if (batch_first) maker.Set("layout", int64_t{1});
  if (maker.r.Chance(0.3)) SetActivations(maker, activations * static_cast<size_t>(dirs));
}

struct PlainFn {
  PlainFn(const char* n) : name(n) {}  // NOLINT: lists of names
  explicit PlainFn(std::string n) : name(std::move(n)) {}
  std::string name;
  double alpha = name == "HardSigmoid" ? 0.2f : 0.01f, beta = 0.5;
};

// The case's functions, for all directions.
inline std::vector<PlainFn> PlainFns(const RandomCase& sample,
                                     const std::vector<std::string>& names) {
  const auto list = [&](const char* name) {
    const Attr* a = FindAttr(sample, name);
    return a != nullptr ? std::get<std::vector<double>>(a->value) : std::vector<double>();
  };
  const std::vector<double> alphas = list("activation_alpha"), betas = list("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<PlainFn> fns;
  for (const std::string& name : names) {
    PlainFn fn(name);
    const bool two = name == "HardSigmoid";
    if ((two || name == "LeakyRelu") && alpha < alphas.size()) fn.alpha = alphas[alpha++];
    if (two && beta < betas.size()) fn.beta = betas[beta++];
    fns.push_back(fn);
  }
  return fns;
}

inline double PlainActivation(const PlainFn& fn, double x) {
  const std::string& name = fn.name;
  if (name == "LeakyRelu") return x < 0 ? fn.alpha * x : x;
  if (name == "HardSigmoid") return std::clamp(fn.alpha * x + fn.beta, 0.0, 1.0);
  if (name == "Relu") return x > 0 ? x : 0;
  if (name == "Softsign") return x / (1 + std::fabs(x));
  const double e = std::exp(name == "Sigmoid" ? -x : -2 * x);
  return name == "Sigmoid" ? 1 / (1 + e) : (1 - e) / (1 + e);
}

// Inputs of one direction's cell at one step.
struct PlainCell {
  const RandomCase& c;
  int64_t dir, sample, step, gates;  // step: of X
  std::vector<double> h;
  std::vector<PlainFn> names;       // activations of this direction
  std::vector<double> memory = {};  // of LSTM

  double Act(size_t which, double x) const {
    const double clip = FloatOr(c, "clip", 0);
    return PlainActivation(names[which], clip > 0 ? std::min(std::max(x, -clip), clip) : x);
  }
  double Input(int64_t row) const {
    const HostTensor &x = *Maybe(c, 0), &w = *Maybe(c, 1);
    const bool first = IntOr(c, "layout", 0) == 1;
    double sum = 0;
    for (int64_t i = 0; i < w.dims[2]; ++i) {
      const Dims at = first ? Dims{sample, step, i} : Dims{step, sample, i};
      sum += ElementAsDouble(x, Flat(x.dims, at)) * ElementAsDouble(w, Flat(w.dims, {dir, row, i}));
    }
    return sum + Bias(row);
  }
  double StateBias(int64_t row) const { return Bias(gates * static_cast<int64_t>(h.size()) + row); }
  double State(int64_t row, const std::vector<double>& of) const {
    const HostTensor& r = *Maybe(c, 2);
    double sum = StateBias(row);
    for (size_t i = 0; i < of.size(); ++i) {
      sum += of[i] * ElementAsDouble(r, Flat(r.dims, {dir, row, static_cast<int64_t>(i)}));
    }
    return sum;
  }

 private:
  double Bias(int64_t row) const {
    const HostTensor* b = Maybe(c, 3);
    return b != nullptr ? ElementAsDouble(*b, Flat(b->dims, {dir, row})) : 0;
  }
};

// The case's initial state, or zeros.
inline std::vector<double> PlainStart(const RandomCase& sample, size_t input, const Dims& at,
                                      size_t n) {
  std::vector<double> v(n);
  const HostTensor* given = Maybe(sample, input);
  for (size_t k = 0; given != nullptr && k < n; ++k) {
    v[k] = ElementAsDouble(*given, Flat(given->dims, {at[0], at[1], static_cast<int64_t>(k)}));
  }
  return v;
}

// Output 0 is the hidden state after each step, 1 the last one, 2 the last memory. step(cell)
// answers the next hidden state, and changes the memory.
template <typename Step>
bool PlainRecurrent(const RandomCase& sample, HostTensor* out, int64_t gates,
                    std::vector<PlainFn> names, Step step, size_t output = 0) {
  const bool first = IntOr(sample, "layout", 0) == 1;
  const HostTensor& x = *Maybe(sample, 0);
  const int64_t steps = x.dims[first ? 1 : 0], batch = x.dims[first ? 0 : 1],
                hidden = Maybe(sample, 2)->dims[2], dirs = Maybe(sample, 2)->dims[0];
  const Attr *direction = FindAttr(sample, "direction"), *given = FindAttr(sample, "activations");
  const bool back = direction != nullptr && std::get<std::string>(direction->value) == "reverse";
  const size_t each = names.size(), width = static_cast<size_t>(hidden);
  const Dims all = first ? Dims{batch, steps, dirs, hidden} : Dims{steps, dirs, batch, hidden};
  const Dims one = first ? Dims{batch, dirs, hidden} : Dims{dirs, batch, hidden};
  if (out->dims != (output == 0 ? all : one)) return false;
  for (int64_t i = 0; i < dirs * batch; ++i) {
    const int64_t dir = i / batch, b = i % batch;
    if (given != nullptr) {
      const auto named = PlainFns(sample, std::get<std::vector<std::string>>(given->value));
      names.assign(named.begin() + static_cast<ptrdiff_t>(each) * dir,
                   named.begin() + static_cast<ptrdiff_t>(each) * (dir + 1));
    }
    const Dims row = first ? Dims{b, dir} : Dims{dir, b};
    PlainCell cell{sample, dir, b, 0, gates, PlainStart(sample, 5, row, width), names};
    if (gates == 4) cell.memory = PlainStart(sample, 6, row, width);
    const HostTensor* lengths = Maybe(sample, 4);
    const int64_t length = lengths != nullptr ? ElementAsInt(*lengths, b) : steps;
    for (int64_t s = 0; s < length; ++s) {
      cell.step = back || dir == 1 ? length - 1 - s : s;
      cell.h = step(cell);
      const Dims at = first ? Dims{b, cell.step, dir, 0} : Dims{cell.step, dir, b, 0};
      for (size_t e = 0; output == 0 && e < width; ++e) {
        SetElement(out, Flat(all, at) + static_cast<int64_t>(e), cell.h[e]);
      }
    }
    const std::vector<double>& left = output == 2 ? cell.memory : cell.h;
    for (size_t e = 0; output > 0 && e < width; ++e) {
      SetElement(out, Flat(one, {row[0], row[1], static_cast<int64_t>(e)}), left[e]);
    }
  }
  return true;
}

// The input of the last activation is not clipped, as in ONNX Runtime: the text leaves it open.
// Gates lie in the order i, o, f, c. A peephole shows the memory to i, f and, once it is new, to o.
inline bool PlainLstmOutput(const RandomCase& sample, size_t output, HostTensor* out) {
  const HostTensor* peep = Maybe(sample, 7);
  const bool coupled = IntOr(sample, "input_forget", 0) != 0;
  const auto step = [&](PlainCell& cell) {
    const auto n = static_cast<int64_t>(cell.h.size());
    std::vector<double> next = cell.h;
    for (int64_t k = 0; k < n; ++k) {
      double& memory = cell.memory[static_cast<size_t>(k)];
      const auto sum = [&](int64_t gate) {
        return cell.Input(gate * n + k) + cell.State(gate * n + k, cell.h);
      };
      const auto seen = [&](int64_t part) {
        if (peep == nullptr) return 0.0;
        return ElementAsDouble(*peep, Flat(peep->dims, {cell.dir, part * n + k})) * memory;
      };
      const double in = cell.Act(0, sum(0) + seen(0));
      const double keep = coupled ? 1 - in : cell.Act(0, sum(2) + seen(2));
      memory = keep * memory + in * cell.Act(1, sum(3));
      next[static_cast<size_t>(k)] =
          cell.Act(0, sum(1) + seen(1)) * PlainActivation(cell.names[2], memory);
    }
    return next;
  };
  return PlainRecurrent(sample, out, 4, {"Sigmoid", "Tanh", "Tanh"}, step, output);
}

}  // namespace ge::test
