#include "passes/grad/train/loss.h"

#include "passes/grad/entry.h"

namespace ge::grad {
namespace {

constexpr char kLabel[] = "label";

// What the last node, if it is this one, was applied to: a loss begins at the logits.
Val Under(Fn& fn, uint32_t output, std::string_view op) {
  const ge_graph* g = fn.Picture();
  const ge_value& v = *GE_VALUE(g, output);
  if (v.producer == UINT32_MAX) return fn.At(output);
  const ge_node& n = *GE_NODE(g, v.producer);
  if (!plugin::IsOp(n, op) || n.n_in < 1 || n.in[0] == 0) return fn.At(output);
  const ge_attr* axis = ge_find_attr(&n, "axis");
  const bool last = axis == nullptr || axis->i == -1 || axis->i == v.type.rank - 1;
  return last ? fn.At(n.in[0]) : fn.At(output);
}

Val Label(Fn& fn, Type type) {
  const ge_graph* g = fn.Picture();
  for (uint32_t i = 0; i < g->n_in; ++i) {
    if (plugin::View(GE_VALUE(g, g->in[i])->name) == kLabel) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    "the entry has an input 'label' already; the loss brings one of that name: "
                    "rename the input, or train with loss=none"};
    }
  }
  // How many samples there are is the same as of the first input.
  if (type.rank > 0 && type.dims[0].value < 0 && type.dims[0].id == 0 && g->n_in > 0) {
    const Type first = fn.TypeOf(fn.At(g->in[0]));
    if (first.rank > 0) type.dims[0] = first.dims[0];
  }
  return fn.Param(kLabel, type);
}

Val Total(Val v) { return v.fn->Op("ReduceSum", {v}, Attrs().Int("keepdims", 0)); }

// How many elements, in the dtype of `like`.
Val Count(Fn& fn, Val v, Val like) {
  const Type t = fn.TypeOf(v);
  const int32_t dtype = fn.TypeOf(like).dtype;
  if (t.known()) return fn.Scalar(dtype, static_cast<double>(t.elements()));
  return fn.Cast(Unary("Size", v), dtype);
}

Val Classes(Fn& fn, Val z) {
  const int64_t count = fn.TypeOf(z).dims.back().value;  // of a type that is gone behind this line
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return fn.Ints(numbers);
}

Loss SoftmaxCrossEntropy(Fn& fn, uint32_t output) {
  Loss made;
  Val z = made.of = Under(fn, output, "Softmax");
  if (z.id == output) z = made.of = Under(fn, output, "LogSoftmax");
  Type type = fn.TypeOf(z);
  if (type.rank < 2 || type.dims.back().value < 2) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "loss softmax-ce wants an output of samples by classes, the number of classes "
                  "fixed and last; output '" +
                      NameOf(fn.Picture(), output) + "' is of rank " + std::to_string(type.rank)};
  }
  Type label_type = type;
  label_type.dtype = GE_I64;
  label_type.rank -= 1;
  label_type.dims.pop_back();
  made.label = Label(fn, label_type);
  const int64_t last = type.rank - 1;
  const auto along = [&](std::string_view op, Val v) {
    return op == "ReduceSum" ? ReduceSum(v, {last}, true)
                             : fn.Op(op, {v, fn.Ints({last})}, Attrs().Int("keepdims", 1));
  };
  // In such an order that of what is as large as z two are there at a time: z itself may be the
  // largest of all that a step makes.
  const Val best = fn.Op("ArgMax", {z}, Attrs().Int("axis", last).Int("keepdims", 0));
  made.correct = Total(fn.Cast(Compare("Equal", best, made.label), GE_I64));
  const Val n = Count(fn, made.label, z), centred = z - along("ReduceMax", z);
  const Val at = Compare("Equal", Unsqueeze(made.label, {last}), Classes(fn, z));
  const Val mine = Total(Where(at, centred, fn.Scalar(type.dtype, 0)));
  const Val e = Exp(centred), sum = along("ReduceSum", e);
  made.value = (Total(Log(sum)) - mine) / n;
  made.change = (e / sum - fn.Cast(at, type.dtype)) / n;
  return made;
}

Loss MeanSquare(Fn& fn, uint32_t output) {
  Loss made;
  made.of = fn.At(output);
  made.label = Label(fn, fn.TypeOf(made.of));
  const Val off = made.of - made.label, n = Count(fn, made.of, made.of);
  made.value = fn.Op("ReduceSumSquare", {off}, Attrs().Int("keepdims", 0)) / n;
  made.change = off * 2 / n;
  return made;
}

// Of logits z and labels y in [0, 1]: max(z, 0) - z y + log(1 + e^-|z|), whose parts do not grow.
Loss BinaryCrossEntropy(Fn& fn, uint32_t output) {
  Loss made;
  const Val z = made.of = Under(fn, output, "Sigmoid");
  made.label = Label(fn, fn.TypeOf(z));
  const Val n = Count(fn, z, z);
  const Val small = Log(1 + Exp(-Unary("Abs", z)));
  made.value = Total(Unary("Relu", z) - z * made.label + small) / n;
  made.change = (Sigmoid(z) - made.label) / n;
  return made;
}

Loss Own(Fn& fn, uint32_t output) {
  Loss made;
  made.of = made.value = fn.At(output);
  const Type t = fn.TypeOf(made.of);
  if (!t.known() || t.elements() != 1) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "loss none takes an output of one element as the loss; output '" +
                      NameOf(fn.Picture(), output) +
                      "' has more, or is of a size that is not known: choose a loss, or another "
                      "output by output=NAME"};
  }
  made.change = fn.Fill(made.of, 1);
  return made;
}

}  // namespace

Loss AddLoss(Fn& fn, const std::string& loss, uint32_t output) {
  if (loss == "softmax-ce") return SoftmaxCrossEntropy(fn, output);
  if (loss == "mse") return MeanSquare(fn, output);
  if (loss == "bce") return BinaryCrossEntropy(fn, output);
  return Own(fn, output);
}

}  // namespace ge::grad
