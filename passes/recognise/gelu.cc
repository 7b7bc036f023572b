#include "passes/recognise/gelu.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "passes/recognise/pattern.h"

namespace ge {
namespace {

// f32 constants are off by 6e-8, a product of two by twice that. 16-bit ones are off by as much as
// what is computed with them is rounded anyway: 2^-11 and 2^-8, a product of two by twice that.
double ToleranceOf(DType dtype) {
  if (dtype == DType::kFloat16) return 1e-3;
  return dtype == DType::kBfloat16 ? 8e-3 : 1e-6;
}
constexpr double kRootHalf = 0.70710678118654752, kRootTwoByPi = 0.79788456080286536;
constexpr int kMaxDepth = 8;  // of nested steps; the longest known form has five
constexpr int kMaxClimb = 6;  // readers from erf to the result
constexpr size_t kMaxLeaves = 16;

// A value as sum of plain[k] x^k + e * sum of with_e[k] x^k, where e is the erf or tanh.
struct Form {
  std::array<double, 4> plain{}, with_e{};
};

bool Multiply(const std::array<double, 4>& a, const std::array<double, 4>& b,
              std::array<double, 4>* sum) {
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= 4) return false;
      (*sum)[i + j] += a[i] * b[j];
    }
  }
  return true;
}

bool Free(const std::array<double, 4>& a) { return a == std::array<double, 4>{}; }

std::optional<Form> Product(const Form& a, const Form& b) {
  if (!Free(a.with_e) && !Free(b.with_e)) return std::nullopt;  // e^2
  Form out;
  const bool fits = Multiply(a.plain, b.plain, &out.plain) &&
                    Multiply(a.plain, b.with_e, &out.with_e) &&
                    Multiply(a.with_e, b.plain, &out.with_e);
  return fits ? std::optional(out) : std::nullopt;
}

std::optional<double> NumberOf(const Form& f) {
  Form rest = f;
  rest.plain[0] = 0;
  return Free(rest.plain) && Free(rest.with_e) ? std::optional(f.plain[0]) : std::nullopt;
}

bool Near(const std::array<double, 4>& found, const std::array<double, 4>& wanted,
          double tolerance) {
  for (size_t i = 0; i < 4; ++i) {
    if (!(std::fabs(found[i] - wanted[i]) <= tolerance * std::fabs(wanted[i]))) return false;
  }
  return true;
}

// One attempt: e is given, x is a guess.
class Reader {
 public:
  Reader(Pattern* pattern, ValueId x, ValueId e) : p_(*pattern), x_(x), e_(e) {}

  // Takes what it walks through into the pattern. No answer when there is anything but x, e,
  // numbers and arithmetic, or too high a power.
  std::optional<Form> Read(ValueId v, int depth = 0) {
    Form f;
    if (v == x_) return f.plain[1] = 1, f;
    if (v == e_) return f.with_e[0] = 1, f;
    if (const auto number = p_.Number(v)) {
      if (!std::isfinite(*number)) return std::nullopt;  // times nothing it is no number
      return f.plain[0] = *number, f;
    }
    const Node* n = depth < kMaxDepth ? p_.Made(v) : nullptr;
    if (!n || n->inputs.size() != 2) return std::nullopt;
    const std::string_view op = n->op;
    const auto a = Read(n->inputs[0], depth + 1);
    const auto b = a ? Read(n->inputs[1], depth + 1) : std::nullopt;
    if (!b) return std::nullopt;
    p_.Take(v);
    return Combine(op, *a, *b);
  }

 private:
  static std::optional<Form> Combine(std::string_view op, const Form& a, const Form& b) {
    if (op == "Mul") return Product(a, b);
    if (op == "Add" || op == "Sub") {
      Form sum = a;
      for (size_t i = 0; i < 4; ++i) {
        sum.plain[i] += op == "Add" ? b.plain[i] : -b.plain[i];
        sum.with_e[i] += op == "Add" ? b.with_e[i] : -b.with_e[i];
      }
      return sum;
    }
    const auto number = NumberOf(b);
    if (!number) return std::nullopt;
    if (op == "Div" && *number != 0) {
      Form inverse;
      inverse.plain[0] = 1 / *number;
      return Product(a, inverse);
    }
    if (op != "Pow" || (*number != 2 && *number != 3)) return std::nullopt;
    const auto square = Product(a, a);
    return square && *number == 3 ? Product(*square, a) : square;
  }

  Pattern& p_;
  ValueId x_, e_;
};

// Values that the argument is made of by arithmetic, the argument first: x is one of them.
std::vector<ValueId> Guesses(Pattern* p, ValueId argument) {
  std::vector<ValueId> found = {argument};
  for (size_t i = 0; i < found.size() && found.size() < kMaxLeaves; ++i) {
    const Node* n = p->Made(found[i]);
    const bool arithmetic = n && (n->op == "Mul" || n->op == "Div" || n->op == "Add" ||
                                  n->op == "Sub" || n->op == "Pow");
    if (!arithmetic) continue;
    for (const ValueId v : n->inputs) {
      if (v && !p->Number(v) && std::find(found.begin(), found.end(), v) == found.end()) {
        found.push_back(v);
      }
    }
  }
  return found;
}

// Tries one x for the erf or tanh whose output is `e`.
bool TryWith(Transaction* t, FunctionId fn, ValueId e, ValueId argument, ValueId x, bool tanh) {
  const std::array<double, 4> half_x = {0, 0.5, 0, 0};
  const std::array<double, 4> inner =
      tanh ? std::array<double, 4>{0, kRootTwoByPi, 0, kRootTwoByPi * 0.044715}
           : std::array<double, 4>{0, kRootHalf, 0, 0};
  Pattern whole(t, fn);
  const double tolerance = ToleranceOf(whole.TypeOf(x).dtype);
  const auto inside = Reader(&whole, x, e).Read(argument);
  if (!inside || !Free(inside->with_e) || !Near(inside->plain, inner, tolerance)) return false;
  whole.Take(e);
  ValueId y = e;
  for (int i = 0; i < kMaxClimb; ++i) {
    y = whole.OnlyReader(y);
    if (!y) return false;
    Pattern attempt = whole;
    const auto found = Reader(&attempt, x, e).Read(y);
    if (!found) return false;
    const bool gelu =
        Near(found->plain, half_x, tolerance) && Near(found->with_e, half_x, tolerance);
    if (!gelu) continue;
    if (attempt.TypeOf(y) != attempt.TypeOf(x) || !attempt.Closed(y)) return false;
    std::vector<Attr> attrs;
    if (tanh) attrs.push_back({"approximate", std::string("tanh")});
    attempt.Replace(y, "Gelu", {x}, std::move(attrs));
    return true;
  }
  return false;
}

void TryAt(Transaction* t, FunctionId fn, const Node& anchor, bool halves) {
  const bool tanh = anchor.op == "Tanh";
  const ValueId e = anchor.outputs[0], argument = anchor.inputs[0];
  Pattern p(t, fn);
  const DType dtype = p.TypeOf(argument).dtype;
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBfloat16;
  const bool fits = dtype == DType::kFloat || dtype == DType::kDouble || (half && halves);
  if (!p.Made(e) || !fits) return;
  for (const ValueId x : Guesses(&p, argument)) {
    if (TryWith(t, fn, e, argument, x, tanh)) return;
  }
}

}  // namespace

Status RecogniseGelu::Run(Transaction& transaction, const PassContext& context) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (!n.id || !n.domain.empty() || (n.op != "Erf" && n.op != "Tanh")) continue;
      if (n.inputs.size() == 1 && n.inputs[0] && n.outputs.size() == 1 && n.outputs[0]) {
        TryAt(&transaction, fn, Node(n), context.price_each != nullptr);
      }
    }
  }
  return {};
}

}  // namespace ge
