#include "plugins/units/recurrent/recurrent.h"

#include <algorithm>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

struct KnownFn {
  std::string_view name;
  CellFn fn;
  int parameters;
};

// Parameters' defaults are ONNX's.
constexpr KnownFn kFns[] = {
    {"Relu", {CellFn::kRelu, 0, 0}, 0},
    {"Tanh", {CellFn::kTanh, 0, 0}, 0},
    {"Sigmoid", {CellFn::kSigmoid, 0, 0}, 0},
    {"Affine", {CellFn::kAffine, 1, 0}, 2},
    {"LeakyRelu", {CellFn::kLeakyRelu, 0.01f, 0}, 1},
    {"ThresholdedRelu", {CellFn::kThresholdedRelu, 1, 0}, 1},
    {"ScaledTanh", {CellFn::kScaledTanh, 1, 1}, 2},
    {"HardSigmoid", {CellFn::kHardSigmoid, 0.2f, 0.5f}, 2},
    {"Elu", {CellFn::kElu, 1, 0}, 1},
    {"Softsign", {CellFn::kSoftsign, 0, 0}, 0},
    {"Softplus", {CellFn::kSoftplus, 0, 0}, 0},
};

// Names are told apart without regard to case.
const KnownFn* FindFn(std::string_view name) {
  const auto lower = [](char ch) {
    return ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch + ('a' - 'A')) : ch;
  };
  for (const KnownFn& k : kFns) {
    if (std::equal(name.begin(), name.end(), k.name.begin(), k.name.end(),
                   [&](char x, char y) { return lower(x) == lower(y); })) {
      return &k;
    }
  }
  return nullptr;
}

bool ReadFns(const ge_node& n, RecurrentSpec* s, Why* why) {
  static constexpr CellFn::Kind kUsual[][3] = {
      {CellFn::kTanh, CellFn::kTanh, CellFn::kTanh},
      {CellFn::kSigmoid, CellFn::kTanh, CellFn::kTanh},
      {CellFn::kSigmoid, CellFn::kTanh, CellFn::kTanh},
  };
  const size_t each = static_cast<size_t>(s->cell) + 1;
  const size_t count = each * static_cast<size_t>(s->directions);
  const ge_attr* names = gp::FindAttr(n, "activations", GE_ATTR_STRINGS);
  if (names != nullptr && names->n != count) {
    return why->Say(GE_WHY_ATTRIBUTE, "activations has " + std::to_string(names->n) + " names, " +
                                          std::to_string(count) + " are wanted");
  }
  const auto alphas = gp::AttrFloats(n, "activation_alpha");
  const auto betas = gp::AttrFloats(n, "activation_beta");
  size_t alpha = 0, beta = 0;
  for (size_t i = 0; i < count; ++i) {
    s->fn[i] = {kUsual[static_cast<size_t>(s->cell)][i % each], 0, 0};
    if (names == nullptr) continue;
    const std::string_view name = gp::View(names->strings[i]);
    const KnownFn* known = FindFn(name);
    if (known == nullptr) {
      return why->Say(GE_WHY_ATTRIBUTE,
                      "activation '" + std::string(name.substr(0, 40)) + "' is not known");
    }
    s->fn[i] = known->fn;
    // The lists have entries for the activations with such a parameter alone, in their order.
    if (known->parameters > 0 && alpha < alphas.size()) {
      s->fn[i].a = static_cast<float>(alphas[alpha++]);
    }
    if (known->parameters > 1 && beta < betas.size()) {
      s->fn[i].b = static_cast<float>(betas[beta++]);
    }
  }
  return true;
}

bool ReadSpec(const Parser& g, const ge_node& n, RecurrentSpec* s, Why* why) {
  const std::string_view op = gp::View(n.op), direction = gp::AttrString(n, "direction");
  s->cell = op == "RNN" ? Cell::kRnn : op == "GRU" ? Cell::kGru : Cell::kLstm;
  s->directions = direction == "bidirectional" ? 2 : 1;
  s->reverse = direction == "reverse";
  if (s->directions == 1 && !s->reverse && direction != "forward") {
    return why->Say(GE_WHY_ATTRIBUTE, "direction is not known");
  }
  s->batch_first = gp::AttrInt(n, "layout") != 0;
  s->input_forget = s->cell == Cell::kLstm && gp::AttrInt(n, "input_forget") != 0;
  s->reset_after = s->cell == Cell::kGru && gp::AttrInt(n, "linear_before_reset") != 0;
  s->clip = static_cast<float>(gp::AttrFloat(n, "clip"));
  const Dims x = g.dims(n.in[0]), r = g.dims(n.in[2]);
  s->steps = x[s->batch_first ? 1 : 0];
  s->batch = x[s->batch_first ? 0 : 1];
  s->inputs = x[2];
  s->hidden = r.size() == 3 ? r[2] : 0;
  return ReadFns(n, s, why);
}

bool HasShapes(const Parser& g, const ge_node& n, const RecurrentSpec& s) {
  const int64_t d = s.directions, h = s.hidden, gates = s.gates();
  const Dims state = s.batch_first ? Dims{s.batch, d, h} : Dims{d, s.batch, h};
  const Dims all = s.batch_first ? Dims{s.batch, s.steps, d, h} : Dims{s.steps, d, s.batch, h};
  const auto in = [&](uint32_t k, const Dims& want) {
    return k >= n.n_in || n.in[k] == 0 || g.dims(n.in[k]) == want;
  };
  const auto out = [&](uint32_t k, const Dims& want) {
    return k >= n.n_out || n.out[k] == 0 || g.dims(n.out[k]) == want;
  };
  return h > 0 && in(1, {d, gates, s.inputs}) && in(2, {d, gates, h}) && in(3, {d, 2 * gates}) &&
         in(4, {s.batch}) && in(5, state) && in(6, state) && in(7, {d, 3 * h}) && out(0, all) &&
         out(1, state) && out(2, state);
}

bool ParseRecurrent(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 3 || n.in[1] == 0 || n.in[2] == 0 || g.dims(n.in[0]).size() != 3 || n.n_in > 8 ||
      n.n_out > 3) {
    return why->Say(GE_WHY_SHAPE, "needs X of rank 3, W and R");
  }
  for (uint32_t k = 0; k < n.n_in; ++k) {
    const int32_t want = k == 4 ? GE_I32 : GE_F32;
    if (n.in[k] == 0) continue;
    const int32_t t = g.dtype(n.in[k]);
    if (t == want || (k != 4 && g.IsReal(t))) continue;
    return why->Say(GE_WHY_DTYPE, "input " + std::to_string(k) + " is " + gp::DTypeName(t) +
                                      ", only " + gp::DTypeName(want));
  }
  auto& s = u->spec.emplace<RecurrentSpec>();
  if (!ReadSpec(g, n, &s, why)) return false;
  if (!HasShapes(g, n, s)) {
    return why->Say(GE_WHY_SHAPE, "an input has not the shape of its role");
  }
  u->in = {n.in[0], n.in[1], n.in[2]};
  for (uint32_t k = 3; k < 8; ++k) u->in.push_back(k < n.n_in ? n.in[k] : 0);
  u->out.clear();
  bool* const made[] = {&s.y, &s.y_h, &s.y_c};
  for (uint32_t k = 0; k < 3; ++k) {
    *made[k] = k < n.n_out && n.out[k] != 0;
    if (*made[k]) u->out.push_back(n.out[k]);
  }
  if (u->out.empty()) return why->Say(GE_WHY_OP, "no output is wanted");
  u->dims = g.dims(u->out[0]);
  return true;
}

constexpr Operator kRecurrentOperators[] = {
    {.op = "RNN", .parse = ParseRecurrent, .types = Types::kNumber, .data = 0, .skips_first = true},
    {.op = "GRU", .parse = ParseRecurrent, .types = Types::kNumber, .data = 0, .skips_first = true},
    {.op = "LSTM",
     .parse = ParseRecurrent,
     .types = Types::kNumber,
     .data = 0,
     .skips_first = true},
};
}  // namespace

const UnitKind RecurrentSpec::kKind = {.name = "recurrent", .operators = kRecurrentOperators};

}  // namespace ge_engines
