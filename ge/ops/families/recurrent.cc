#include "ge/ops/families/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ge/ops/work.h"

namespace ge {
namespace {

Result<int64_t> Directions(const Node& n) {
  const std::string_view direction = AttrString(n, "direction");
  if (direction == "forward" || direction == "reverse") return 1;
  if (direction == "bidirectional") return 2;
  return Bad(n, fmt::format("attribute 'direction' is '{:.64}', wanted forward, reverse or "
                            "bidirectional",
                            direction));
}

Status CheckActivations(const Node& n, int64_t directions, int64_t each) {
  const Attr* a = n.attr("activations");
  const auto* names = a ? std::get_if<std::vector<std::string>>(&a->value) : nullptr;
  if (names == nullptr || names->empty()) return {};
  if (names->size() != static_cast<size_t>(each * directions)) {
    return Bad(n, fmt::format("attribute 'activations' has {} entries, wanted {}: {} for each "
                              "direction",
                              names->size(), each * directions, each));
  }
  constexpr std::string_view kKnown[] = {
      "relu",       "tanh",        "sigmoid", "affine",   "leakyrelu", "thresholdedrelu",
      "scaledtanh", "hardsigmoid", "elu",     "softsign", "softplus"};
  for (std::string name : *names) {
    for (char& ch : name) ch = static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
    if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
      return Bad(n, fmt::format("attribute 'activations' holds '{:.64}', wanted Sigmoid, Tanh, "
                                "Relu, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, "
                                "HardSigmoid, Elu, Softsign or Softplus",
                                name));
    }
  }
  return {};
}

Status CheckRecurrentAttrs(const Node& n, int64_t directions, int64_t activations) {
  const int64_t layout = AttrInt(n, "layout");
  if (layout != 0 && layout != 1) {
    return Bad(n, fmt::format("attribute 'layout' is {}, wanted 0 (sequence first) or 1 (batch "
                              "first)",
                              layout));
  }
  if (HasAttr(n, "clip") && !(AttrFloat(n, "clip", 1) > 0)) {
    return Bad(n, fmt::format("attribute 'clip' is {}, wanted above 0",
                              static_cast<float>(AttrFloat(n, "clip", 1))));
  }
  if (HasAttr(n, "hidden_size") && AttrInt(n, "hidden_size", 1) < 1) {
    return Bad(n, fmt::format("attribute 'hidden_size' is {}, wanted at least 1",
                              AttrInt(n, "hidden_size", 1)));
  }
  return CheckActivations(n, directions, activations);
}

struct RecurrentSizes {
  Dim dirs, seq, batch, input, hidden;
};

Result<RecurrentSizes> ReadSizes(InferContext& c, int64_t directions) {
  const Type& x = c.input_type(0);
  const Type& w = c.input_type(1);
  const Type& r = c.input_type(2);
  for (size_t i = 0; i < 3; ++i) {
    const Type& t = c.input_type(i);
    if (t.ranked && t.rank() != 3) {
      const char* names[] = {"X", "W", "R"};
      return Bad(c.node(), fmt::format("input '{}' has shape {}, wanted rank 3", names[i],
                                       Show(c.dims(), t.dims)));
    }
  }
  const bool batch_first = AttrInt(c.node(), "layout") == 1;
  RecurrentSizes s;
  s.dirs = KnownDim(directions);
  const auto axis = [&](const Type& t, size_t i, const char* stem) {
    return t.ranked ? t.dims[i] : c.FreshDim(stem, false);
  };
  s.seq = axis(x, batch_first ? 1 : 0, "seq");
  s.batch = axis(x, batch_first ? 0 : 1, "batch");
  s.input = axis(x, 2, "input");
  if (w.ranked) {
    GE_ASSIGN_OR_RETURN(s.input, SameDim(c, s.input, w.dims[2], "input size of 'X' and 'W'"));
  }
  s.hidden = axis(r, 2, "hidden");
  if (HasAttr(c.node(), "hidden_size")) {
    GE_ASSIGN_OR_RETURN(s.hidden,
                        SameDim(c, s.hidden, KnownDim(AttrInt(c.node(), "hidden_size", 1)),
                                "hidden size of 'R' and attribute 'hidden_size'"));
  }
  return s;
}

Status CheckInputs(InferContext& c, const RecurrentSizes& s, int64_t gates) {
  const auto times = [&](int64_t n) {
    return Checked(c.node(), c.dims().Mul(s.hidden, KnownDim(n)), "the size of the gates");
  };
  GE_ASSIGN_OR_RETURN(const Dim h3, times(3));
  GE_ASSIGN_OR_RETURN(const Dim rows, times(gates));
  GE_ASSIGN_OR_RETURN(const Dim biases, times(2 * gates));
  const bool batch_first = AttrInt(c.node(), "layout") == 1;
  const Dim outer = batch_first ? s.batch : s.dirs, inner = batch_first ? s.dirs : s.batch;
  const struct {
    const char* name;
    std::vector<Dim> wanted;
  } inputs[] = {{"X", {}},
                {"W", {s.dirs, rows, s.input}},
                {"R", {s.dirs, rows, s.hidden}},
                {"B", {s.dirs, biases}},
                {"sequence_lens", {s.batch}},
                {"initial_h", {outer, inner, s.hidden}},
                {"initial_c", {outer, inner, s.hidden}},
                {"P", {s.dirs, h3}}};
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (c.has_input(i)) GE_RETURN_IF_ERROR(WantShape(c, i, inputs[i].name, inputs[i].wanted));
  }
  return {};
}

// Both matrix products for every step, and about 40 operations per hidden element.
Work EffortRecurrent(const Node&, std::span<const Type> in, std::span<const Type> out) {
  if (in.size() < 3 || !in[0].is_static() || in[0].rank() != 3 || !in[2].is_static() ||
      in[2].rank() != 3) {
    return {0, BytesOf(in, out)};
  }
  const double steps =
      static_cast<double>(in[0].dims[0].value) * static_cast<double>(in[0].dims[1].value);
  const double hidden = static_cast<double>(in[2].dims[0].value * in[2].dims[2].value);
  return {steps * (2 * (ElementsOf(in[1]) + ElementsOf(in[2])) + 40 * hidden), BytesOf(in, out)};
}

}  // namespace

Status InferRecurrent(InferContext& context, int64_t gates, int64_t activations) {
  GE_ASSIGN_OR_RETURN(const int64_t directions, Directions(context.node()));
  GE_RETURN_IF_ERROR(CheckRecurrentAttrs(context.node(), directions, activations));
  GE_ASSIGN_OR_RETURN(const RecurrentSizes s, ReadSizes(context, directions));
  GE_RETURN_IF_ERROR(CheckInputs(context, s, gates));
  const bool batch_first = AttrInt(context.node(), "layout") == 1;
  std::vector<Dim> all = {s.seq, s.dirs, s.batch, s.hidden};
  std::vector<Dim> last = {s.dirs, s.batch, s.hidden};
  if (batch_first) {
    all = {s.batch, s.seq, s.dirs, s.hidden};
    last = {s.batch, s.dirs, s.hidden};
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (!context.has_output(i)) continue;
    GE_RETURN_IF_ERROR(SetTensor(context, i, context.input_type(0).dtype, i == 0 ? all : last));
  }
  return {};
}

OpDef RecurrentRecord(const char* name, Status (*infer)(InferContext&)) {
  OpDef op{"", name, 22, {}, {}, {}, infer, EffortRecurrent};
  const Arity opt = Arity::kOptional;
  op.inputs = {{"X", kFloats, "T"},
               {"W", kFloats, "T"},
               {"R", kFloats, "T"},
               {"B", kFloats, "T", opt},
               {"sequence_lens", Bit(DType::kInt32), "T1", opt},
               {"initial_h", kFloats, "T", opt}};
  op.outputs = {{"Y", kFloats, "T", opt}, {"Y_h", kFloats, "T", opt}};
  op.attrs = {{"activation_alpha", AttrKind::kFloats},
              {"activation_beta", AttrKind::kFloats},
              {"activations", AttrKind::kStrings},
              {"clip", AttrKind::kFloat},
              {"direction", AttrKind::kString, "forward"},
              {"hidden_size", AttrKind::kInt},
              {"layout", AttrKind::kInt, 0}};
  return op;
}

}  // namespace ge
