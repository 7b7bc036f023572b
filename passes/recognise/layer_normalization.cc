#include "passes/recognise/layer_normalization.h"

#include <algorithm>

#include "ge/ops/op.h"
#include "passes/recognise/pattern.h"

namespace ge {
namespace {

struct Match {
  ValueId x = 0, d = 0;  // d = x - mean(x)
  size_t axes = 0;       // how many of the last ones
  double epsilon = 0;
  ValueId normal = 0, scale = 0, bias = 0, y = 0;
};

// How many of the last axes the mean is taken over, kept as ones; 0 when it is another mean.
size_t MeanOfLast(Pattern* p, const Node& mean) {
  const Type& x = p->TypeOf(mean.inputs[0]);
  if (!x.ranked || mean.inputs.size() != 2 || AttrInt(mean, "keepdims") == 0) return 0;
  auto axes = p->Integers(mean.inputs[1]);
  if (!axes) return 0;
  const auto rank = static_cast<int64_t>(x.rank());
  for (int64_t& a : *axes) a += a < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  for (size_t i = 0; i < axes->size(); ++i) {
    if ((*axes)[i] != rank - static_cast<int64_t>(axes->size()) + static_cast<int64_t>(i)) return 0;
  }
  return axes->size();
}

// From the root down to x.
bool ReadVariance(Pattern* p, const Node& root, Match* m) {
  const Node* sum = p->Made(root.inputs[0], "Add");
  if (!sum || sum->inputs.size() != 2) return false;
  const bool first = p->Number(sum->inputs[0]).has_value();
  const auto epsilon = p->Number(sum->inputs[first ? 0 : 1]);
  const Node* variance = p->Made(sum->inputs[first ? 1 : 0], "ReduceMean");
  if (!epsilon || *epsilon < 0 || !variance) return false;
  const Node* square = p->Made(variance->inputs[0]);
  if (!square || square->inputs.size() != 2) return false;
  const auto power = p->Number(square->inputs[1]);
  m->d = square->inputs[0];
  const bool squared = (square->op == "Pow" && power && *power == 2) ||
                       (square->op == "Mul" && square->inputs[1] == m->d);
  const Node* centred = squared ? p->Made(m->d, "Sub") : nullptr;
  const Node* mean = centred ? p->Made(centred->inputs[1], "ReduceMean") : nullptr;
  if (!mean || mean->inputs[0] != centred->inputs[0]) return false;
  m->x = mean->inputs[0];
  m->epsilon = *epsilon;
  m->axes = MeanOfLast(p, *mean);
  if (m->axes == 0 || MeanOfLast(p, *variance) != m->axes) return false;
  for (const Node* n : {mean, centred, square, variance, sum, &root}) p->Take(n->outputs[0]);
  return true;
}

// d / root, or d * (1 / root).
bool ReadQuotient(Pattern* p, ValueId root, Match* m) {
  const ValueId next = p->OnlyReader(root);
  const Node* n = p->Made(next);
  if (!n) return false;
  if (n->op == "Div" && n->inputs[0] == m->d && n->inputs[1] == root) {
    m->normal = next;
  } else {
    const bool inverse = n->op == "Reciprocal" ||
                         (n->op == "Div" && n->inputs[1] == root && p->Number(n->inputs[0]) == 1.0);
    m->normal = inverse ? p->OnlyReader(next) : 0;
    const Node* product = p->Made(m->normal, "Mul");
    if (!product || Pattern::Other(*product, next) != m->d) return false;
    p->Take(next);
  }
  p->Take(m->normal);
  m->y = m->normal;
  return p->TypeOf(m->y) == p->TypeOf(m->x);
}

// A value of just the normalised shape by which the match goes on with `op`; 0 when it does not.
ValueId ReadFactor(Pattern* p, const char* op, Match* m) {
  const ValueId next = p->OnlyReader(m->y);
  const Node* n = p->Made(next, op);
  const ValueId other = n ? Pattern::Other(*n, m->y) : 0;
  if (!other || other == m->y || p->TypeOf(next) != p->TypeOf(m->x)) return 0;
  const Type &type = p->TypeOf(other), &x = p->TypeOf(m->x);
  const std::vector<Dim> last(x.dims.end() - static_cast<std::ptrdiff_t>(m->axes), x.dims.end());
  if (!type.ranked || type.dtype != x.dtype || type.dims != last) return 0;
  p->Take(next);
  m->y = next;
  return other;
}

// A scale of ones where the model has none: the operator wants one.
ValueId Ones(Transaction* t, FunctionId fn, const Type& x, size_t axes) {
  Const c;
  c.type = TensorType(
      x.dtype, std::vector<Dim>(x.dims.end() - static_cast<std::ptrdiff_t>(axes), x.dims.end()));
  const auto count = ElementCount(c.type);
  constexpr int64_t kMost = 1 << 20;
  if (!count || *count > kMost) return 0;
  const std::vector<float> ones(static_cast<size_t>(*count), 1.0f);
  return t->AddConst(fn, MakeConst(c.type, ones.data(), ones.size() * sizeof(float)));
}

void TryNormAt(Transaction* t, FunctionId fn, const Node& root) {
  Pattern p(t, fn);
  Match m;
  if (!p.Made(root.outputs[0]) || p.TypeOf(root.outputs[0]).dtype != DType::kFloat) return;
  if (!ReadVariance(&p, root, &m) || !ReadQuotient(&p, root.outputs[0], &m)) return;
  m.scale = ReadFactor(&p, "Mul", &m);
  if (m.scale) m.bias = ReadFactor(&p, "Add", &m);
  if (!p.Closed(m.y)) return;
  if (!m.scale) m.scale = Ones(t, fn, Type(p.TypeOf(m.x)), m.axes);
  if (!m.scale) return;
  std::vector<ValueId> inputs = {m.x, m.scale};
  if (m.bias) inputs.push_back(m.bias);
  p.Replace(m.y, "LayerNormalization", std::move(inputs),
            {{"axis", -static_cast<int64_t>(m.axes)}, {"epsilon", m.epsilon}});
}

}  // namespace

Status RecogniseLayerNormalization::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (!n.id || !n.domain.empty() || n.op != "Sqrt" || n.inputs.size() != 1) continue;
      if (n.outputs.size() == 1 && n.inputs[0] && n.outputs[0])
        TryNormAt(&transaction, fn, Node(n));
    }
  }
  return {};
}

}  // namespace ge
