#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

constexpr int kMostOperands = 8;
constexpr int kMostLabels = 2 * kMaxRank;

// An axis name of the equation: a letter, or the place of an ellipsis axis counted from the last
// one (kDots + 0, 1, ...).
using Label = int;
constexpr Label kDots = 256;

struct EinsumAxis {
  Label label;
  int64_t size;
  int64_t stride[kMostOperands];  // 0 where an operand has not this axis
};

// Axes [0, kept) are the output's, in its order; the others are summed.
struct EinsumPlan {
  int operands = 0, kept = 0, count = 0;
  EinsumAxis axis[kMostLabels];
};

struct Labels {
  int n = 0;
  Label at[kMaxRank];
};

// The labels of a term; `dots` axes stand for its ellipsis. The equation has no blanks.
bool ReadLabels(std::string_view term, int dots, Labels* out, Why* why) {
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    const bool ellipsis = term.substr(i, 3) == "...";
    const int more = ellipsis ? dots : 1;
    const bool letter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
    if ((ellipsis ? seen : !letter) || out->n + more > kMaxRank) {
      return why->Say(GE_WHY_ATTRIBUTE, "equation has the term '%.*s'",
                      static_cast<int>(std::min<size_t>(term.size(), 60)), term.data());
    }
    for (int k = dots; ellipsis && k-- > 0;) out->at[out->n++] = kDots + k;
    if (!ellipsis) out->at[out->n++] = static_cast<unsigned char>(term[i]);
    if (ellipsis) {
      seen = true;
      i += 2;
    }
  }
  return true;
}

int LettersOf(std::string_view term) {
  return static_cast<int>(
      std::count_if(term.begin(), term.end(), [](char ch) { return ch != '.'; }));
}

EinsumAxis* FindAxis(EinsumPlan* p, Label label) {
  for (int i = 0; i < p->count; ++i) {
    if (p->axis[i].label == label) return &p->axis[i];
  }
  return nullptr;
}

bool AddAxis(EinsumPlan* p, Label label, int64_t size, Why* why) {
  if (p->count == kMostLabels) return why->Say(GE_WHY_SHAPE, "more than %d axes", kMostLabels);
  p->axis[p->count] = {};
  p->axis[p->count].label = label;
  p->axis[p->count++].size = size;
  return true;
}

bool AddOperand(const TensorType& x, std::string_view term, EinsumPlan* p, Why* why) {
  Labels labels;
  const int dots = x.rank - LettersOf(term);
  if (dots < 0 || !ReadLabels(term, dots, &labels, why) || labels.n != x.rank) {
    return why->Say(GE_WHY_SHAPE, "input %d of rank %d does not fit its term", p->operands, x.rank);
  }
  int64_t stride[kMaxRank];
  DenseStrides(x.shape(), stride);
  for (int d = 0; d < x.rank; ++d) {
    EinsumAxis* axis = FindAxis(p, labels.at[d]);
    if (axis == nullptr) {
      if (!AddAxis(p, labels.at[d], x.dims[d], why)) return false;
      axis = &p->axis[p->count - 1];
    }
    // An axis of one is repeated; strides of a letter that stands twice run along the diagonal.
    if (axis->size == 1) axis->size = x.dims[d];
    if (x.dims[d] != axis->size && x.dims[d] != 1) {
      return why->Say(GE_WHY_SHAPE, "sizes %lld and %lld of one letter",
                      static_cast<long long>(x.dims[d]), static_cast<long long>(axis->size));
    }
    if (x.dims[d] != 1) axis->stride[p->operands] += stride[d];
  }
  ++p->operands;
  return true;
}

// The output's labels where the equation has no "->": the ellipsis, then every letter that stands
// but once, in order.
bool ImplicitLabels(std::string_view inputs, int dots, Labels* out, Why* why) {
  for (int k = dots; k-- > 0;) out->at[out->n++] = kDots + k;
  for (int ch = 'A'; ch <= 'z'; ++ch) {
    const bool letter = ch <= 'Z' || ch >= 'a';
    if (!letter || std::count(inputs.begin(), inputs.end(), static_cast<char>(ch)) != 1) continue;
    if (out->n == kMaxRank) return why->Say(GE_WHY_SHAPE, "the output's rank is too high");
    out->at[out->n++] = ch;
  }
  return true;
}

// Puts the output's axes first.
bool OrderAxes(const TensorType& y, const Labels& labels, EinsumPlan* p, Why* why) {
  if (labels.n != y.rank) return why->Say(GE_WHY_SHAPE, "the output's rank is not the equation's");
  for (int d = 0; d < y.rank; ++d) {
    EinsumAxis* axis = FindAxis(p, labels.at[d]);
    if (axis == nullptr || axis < p->axis + d || axis->size != y.dims[d]) {
      return why->Say(GE_WHY_SHAPE, "output dim %d is not what the equation gives", d);
    }
    std::swap(*axis, p->axis[d]);
  }
  p->kept = y.rank;
  return true;
}

bool ReadEinsum(const NodeView& n, EinsumPlan* p, Why* why) {
  char text[256];
  size_t length = 0;
  for (char ch : n.Text("equation")) {
    if (ch == ' ') continue;
    if (length == sizeof text) return why->Say(GE_WHY_ATTRIBUTE, "equation is too long");
    text[length++] = ch;
  }
  const std::string_view equation(text, length);
  const size_t arrow = equation.find("->");
  const std::string_view inputs = equation.substr(0, arrow);
  if (n.n_in() > static_cast<uint32_t>(kMostOperands)) {
    return why->Say(GE_WHY_OP, "%u inputs, at most %d are taken", n.n_in(), kMostOperands);
  }
  int dots = 0;
  std::string_view rest = inputs;
  bool more = true;
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    if (!more) return why->Say(GE_WHY_ATTRIBUTE, "equation has fewer terms than inputs");
    const size_t comma = rest.find(',');
    const std::string_view term = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest = rest.substr(comma + 1);
    if (!AddOperand(n.in(i), term, p, why)) return false;
    dots = std::max(dots, n.in(i).rank - LettersOf(term));
  }
  if (more) return why->Say(GE_WHY_ATTRIBUTE, "equation has more terms than inputs");
  Labels out;
  const bool read = arrow == std::string_view::npos
                        ? ImplicitLabels(inputs, dots, &out, why)
                        : ReadLabels(equation.substr(arrow + 2), dots, &out, why);
  return read && OrderAxes(n.out(0), out, p, why);
}

// One step of an odometer over axes [first, end); offsets of the operands follow. False at its end.
bool StepAxes(const EinsumPlan& p, int first, int end, int64_t* at, int64_t* offset) {
  for (int d = end - 1; d >= first; --d) {
    const EinsumAxis& a = p.axis[d];
    for (int k = 0; k < p.operands; ++k) offset[k] += a.stride[k];
    if (++at[d] < a.size) return true;
    for (int k = 0; k < p.operands; ++k) offset[k] -= a.stride[k] * a.size;
    at[d] = 0;
  }
  return false;
}

// Floats are summed in double, integers modulo 2^n.
template <class T>
ge_rc RunEinsum(const EinsumPlan& p, const Call& c) {
  using W = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  const Tensor y = c.out(0);
  if (y.count == 0) return GE_OK;
  const T* x[kMostOperands];
  for (int k = 0; k < p.operands; ++k) x[k] = c.in(static_cast<uint32_t>(k)).as<T>();
  bool nothing = false;  // no element is summed
  for (int d = p.kept; d < p.count; ++d) nothing = nothing || p.axis[d].size == 0;
  int64_t at[kMostLabels] = {}, offset[kMostOperands] = {};
  for (int64_t i = 0; i < y.count; ++i) {
    W sum = 0;
    for (bool more = !nothing; more; more = StepAxes(p, p.kept, p.count, at, offset)) {
      W product = 1;
      for (int k = 0; k < p.operands; ++k) product *= static_cast<W>(Widen(x[k][offset[k]]));
      sum += product;
      Spend(1);
    }
    y.as<T>()[i] = Narrow<T>(sum);
    StepAxes(p, 0, p.kept, at, offset);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareEinsum(const NodeView& n, Why* why) {
  if (!NeedPorts(n, std::max<uint32_t>(n.n_in(), 1), UINT32_MAX, why)) return nullptr;
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    if (!NeedSameDType(n.in(i), n.out(0), why)) return nullptr;
  }
  EinsumPlan p;
  if (!ReadEinsum(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(n.out(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunEinsum<T>(p, c); });
      })) {
    NoDType(n.out(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(einsum, "Einsum", PrepareEinsum)
