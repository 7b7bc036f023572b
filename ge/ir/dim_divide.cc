// Division, remainder, minimum and maximum of symbolic dims: the rules that prove equalities.
#include <algorithm>
#include <numeric>

#include "ge/base/checked.h"
#include "ge/ir/dim.h"
#include "ge/ir/dim_arithmetic.h"

namespace ge {

void AppendSymbolName(std::string_view name, std::string* out) {
  bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name) {
    plain &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  if (plain) {
    *out += name;
    return;
  }
  *out += '"';
  for (char c : name) {
    if (c == '"' || c == '\\') *out += '\\';
    *out += c;
  }
  *out += '"';
}

// Is coefficient * atom a multiple of `divisor` for every value of the atom?
bool DimTable::TermDivisible(const Term& term, int64_t divisor) const {
  const Expr& e = exprs_[term.atom];
  const int64_t g = std::gcd(term.coefficient, divisor);
  if (g == divisor) return true;
  return e.op == DimOp::kSymbol && symbols_[e.symbol].multiple_of % (divisor / g) == 0;
}

// floor(a / c), c > 1. Multiples of c leave the division; what stays is reduced to
// coefficients and constant in [0, c) over the smallest divisor.
std::optional<Dim> DimTable::FloorDivBy(Dim dim, int64_t c) {
  const Sum s = SumOf(dim);
  Sum whole{FloorDivide(s.constant, c), {}};
  Sum rest{FloorRemainder(s.constant, c), {}};
  std::vector<Term> alone;  // multiples of c through their symbol alone
  for (const Term& t : s.terms) {
    const int64_t q = FloorDivide(t.coefficient, c), r = FloorRemainder(t.coefficient, c);
    if (q) whole.terms.push_back(Term{t.atom, q});
    if (r) (TermDivisible(Term{t.atom, r}, c) ? alone : rest.terms).push_back(Term{t.atom, r});
  }
  for (const Term& t : alone) {
    const int64_t g = std::gcd(t.coefficient, c);
    const Dim numerator = OfSum(Sum{0, {Term{t.atom, t.coefficient / g}}});
    auto next = Combine(whole, SumOf(*Binary(DimOp::kFloorDiv, numerator, KnownDim(c / g))), 1);
    if (!next) return std::nullopt;
    whole = std::move(*next);
  }
  if (rest.terms.empty()) return OfSum(std::move(whole));
  int64_t g = c;
  for (const Term& t : rest.terms) g = std::gcd(g, t.coefficient);
  for (Term& t : rest.terms) t.coefficient /= g;
  rest.constant = FloorDivide(rest.constant, g);
  int64_t divisor = c / g;
  const Range range = RangeOfSum(rest);
  if (range.lo >= 0 && range.hi < divisor) return OfSum(std::move(whole));
  // floor((floor(x/k) + r) / c) = floor((x + r*k) / (k*c))
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
    const Expr inner = exprs_[rest.terms[0].atom];
    const bool nested = inner.op == DimOp::kFloorDiv && inner.b.known() && inner.b.value > 1;
    const auto product = nested ? CheckedMul(inner.b.value, divisor) : std::nullopt;
    const auto shift = product ? CheckedMul(rest.constant, inner.b.value) : std::nullopt;
    const auto numerator = shift ? Add(inner.a, KnownDim(*shift)) : std::nullopt;
    if (numerator) {
      const auto flat = FloorDivBy(*numerator, *product);
      return flat ? Add(OfSum(std::move(whole)), *flat) : std::nullopt;
    }
  }
  const Dim quotient = *Binary(DimOp::kFloorDiv, OfSum(std::move(rest)), KnownDim(divisor));
  return Add(OfSum(std::move(whole)), quotient);
}

// dim - divisor * floor(dim / divisor), divisor > 1.
std::optional<Dim> DimTable::ModBy(Dim dim, int64_t divisor) {
  const Sum s = SumOf(dim);
  Sum rest{FloorRemainder(s.constant, divisor), {}};
  for (const Term& t : s.terms) {
    const int64_t r = FloorRemainder(t.coefficient, divisor);
    if (r && !TermDivisible(Term{t.atom, r}, divisor)) rest.terms.push_back(Term{t.atom, r});
  }
  if (rest.terms.empty()) return KnownDim(rest.constant);
  const Range range = RangeOfSum(rest);
  const Dim reduced = OfSum(std::move(rest));
  if (range.lo >= 0 && range.hi < divisor) return reduced;
  return Binary(DimOp::kMod, reduced, KnownDim(divisor));
}

// Every term of `first` divided by the one term `right`; nullopt unless each divides exactly.
std::optional<Dim> DimTable::DivideTerms(const Sum& first, const Term& right) {
  std::vector<uint32_t> divisor;
  Factors(right.atom, &divisor);
  std::sort(divisor.begin(), divisor.end());
  if (first.constant) return std::nullopt;
  Sum out;
  for (const Term& t : first.terms) {
    if (right.coefficient == -1 && t.coefficient == INT64_MIN) return std::nullopt;
    if (t.coefficient % right.coefficient) return std::nullopt;
    std::vector<uint32_t> factors, left;
    Factors(t.atom, &factors);
    std::sort(factors.begin(), factors.end());
    if (!std::includes(factors.begin(), factors.end(), divisor.begin(), divisor.end())) {
      return std::nullopt;
    }
    std::set_difference(factors.begin(), factors.end(), divisor.begin(), divisor.end(),
                        std::back_inserter(left));
    Dim product = KnownDim(1);
    for (uint32_t f : left) {
      const auto next = product.known() ? Dim{0, f} : *MulAtoms(product.expr, f);
      product = next;
    }
    auto next = Combine(out, SumOf(product), t.coefficient / right.coefficient);
    if (!next) return std::nullopt;
    out = std::move(*next);
  }
  return OfSum(std::move(out));
}

// left / right when it is exact for all values (where `right` is not 0); nullopt when that is not
// provable.
std::optional<Dim> DimTable::ExactQuotient(Dim left, Dim right) {
  if (left == right) return KnownDim(1);
  const Sum x = SumOf(left), y = SumOf(right);
  if (y.terms.size() == 1 && y.constant == 0) return DivideTerms(x, y.terms[0]);
  if (y.terms.empty() || x.terms.empty() || x.terms.size() != y.terms.size()) return std::nullopt;
  if (x.terms[0].coefficient == INT64_MIN) return std::nullopt;
  const int64_t k = x.terms[0].coefficient / y.terms[0].coefficient;
  const auto difference = Combine(x, y, -k);
  if (!difference || !difference->terms.empty() || difference->constant) return std::nullopt;
  return KnownDim(k);
}

std::optional<Dim> DimTable::FloorDiv(Dim left, Dim right) {
  if (right == KnownDim(1)) return left;
  if (right.known()) {
    if (right.value == 0 || right.value == INT64_MIN) return std::nullopt;
    if (right.value > 1) return FloorDivBy(left, right.value);
    const auto negated = Sub(KnownDim(0), left);
    return negated ? FloorDiv(*negated, KnownDim(-right.value)) : std::nullopt;
  }
  if (left == KnownDim(0)) return left;
  if (auto q = ExactQuotient(left, right)) return q;
  return Binary(DimOp::kFloorDiv, left, right);
}

std::optional<Dim> DimTable::CeilDiv(Dim left, Dim right) {
  if (right.known()) {
    if (right.value == 0 || right.value == INT64_MIN) return std::nullopt;
    if (right.value < 0) {  // ceil(left / -c) = ceil(-left / c)
      const auto negated = Sub(KnownDim(0), left);
      return negated ? CeilDiv(*negated, KnownDim(-right.value)) : std::nullopt;
    }
    // ceil(left / c) = floor((left + c - 1) / c), so that both spellings are provably equal.
    const auto raised = Add(left, KnownDim(right.value - 1));
    return raised ? FloorDiv(*raised, right) : std::nullopt;
  }
  if (left == KnownDim(0)) return left;
  if (auto q = ExactQuotient(left, right)) return q;
  return Binary(DimOp::kCeilDiv, left, right);
}

std::optional<Dim> DimTable::Mod(Dim left, Dim right) {
  if (right.known()) {
    if (right.value == 0 || right.value == INT64_MIN) return std::nullopt;
    if (right.value == 1 || right.value == -1) return KnownDim(0);
    if (right.value > 1) return ModBy(left, right.value);
    // The remainder takes the divisor's sign: a mod -c = -((-a) mod c).
    const auto negated = Sub(KnownDim(0), left);
    const auto rest = negated ? Mod(*negated, KnownDim(-right.value)) : std::nullopt;
    return rest ? Sub(KnownDim(0), *rest) : std::nullopt;
  }
  if (left == KnownDim(0) || ExactQuotient(left, right)) return KnownDim(0);
  return Binary(DimOp::kMod, left, right);
}

std::optional<Dim> DimTable::Extreme(DimOp op, Dim left, Dim right) {
  if (left == right) return left;
  if (const auto difference = Combine(SumOf(left), SumOf(right), -1)) {
    const Range r = RangeOfSum(*difference);
    if (r.lo >= 0) return op == DimOp::kMax ? left : right;
    if (r.hi <= 0) return op == DimOp::kMax ? right : left;
  }
  const Range x = RangeOf(left), y = RangeOf(right);
  if (x.lo >= y.hi) return op == DimOp::kMax ? left : right;
  if (y.lo >= x.hi) return op == DimOp::kMax ? right : left;
  // One order for both operands: constants last, then by expression.
  const bool swap = left.known() || (!right.known() && right.expr < left.expr);
  return swap ? Binary(op, right, left) : Binary(op, left, right);
}

std::optional<Dim> DimTable::Min(Dim left, Dim right) { return Extreme(DimOp::kMin, left, right); }
std::optional<Dim> DimTable::Max(Dim left, Dim right) { return Extreme(DimOp::kMax, left, right); }

}  // namespace ge
