#include "ge/ir/dim.h"

#include <algorithm>
#include <numeric>

#include "ge/base/checked.h"
#include "ge/ir/dim_arithmetic.h"

namespace ge {
namespace {

constexpr uint32_t kMaxParts = 512;  // Bounds the depth of every recursion over an expression.
constexpr size_t kMaxProducts = 64;  // Products of larger sums are kept as one factor each.

// For one more element, so that to add it cannot fail.
template <typename T>
void MakeRoom(std::vector<T>* list) {
  if (list->size() == list->capacity()) list->reserve(2 * list->size() + 4);
}

uint64_t Mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001b3ull ^ (h >> 29); }

uint64_t HashOf(const DimTable::Expr& e) {
  uint64_t h = 0xcbf29ce484222325ull;
  h = Mix(h, static_cast<uint64_t>(e.op));
  h = Mix(h, e.symbol);
  h = Mix(h, static_cast<uint64_t>(e.constant));
  for (const auto& t : e.terms) {
    h = Mix(h, t.atom);
    h = Mix(h, static_cast<uint64_t>(t.coefficient));
  }
  for (const Dim& d : {e.a, e.b}) {
    h = Mix(h, static_cast<uint64_t>(d.value));
    h = Mix(h, d.expr);
  }
  return h;
}

}  // namespace

// ---- symbols and expressions --------------------------------------------------------------------

DimTable::DimTable()
    : symbols_(1), exprs_(1), ranges_(1, Range{0, 0}), sizes_(1, 1), symbol_exprs_(1, 0) {}

SymbolId DimTable::AddSymbol(const Symbol& symbol) {
  const auto known = names_.find(symbol.name);
  if (known == names_.end()) {
    Symbol made = symbol;
    if (made.multiple_of < 1) made.multiple_of = 1;
    MakeRoom(&symbols_);
    MakeRoom(&symbol_exprs_);
    const auto id = static_cast<SymbolId>(symbols_.size());
    names_.emplace(symbol.name, id);
    symbols_.push_back(std::move(made));  // nothing can fail any more
    symbol_exprs_.push_back(0);
    return id;
  }
  Symbol& s = symbols_[known->second];
  s.min = std::max(s.min, symbol.min);
  s.max = std::min(s.max, symbol.max);
  if (symbol.multiple_of > 1) {
    const int64_t g = std::gcd(s.multiple_of, symbol.multiple_of);
    if (auto lcm = CheckedMul(s.multiple_of / g, symbol.multiple_of)) s.multiple_of = *lcm;
  }
  if (s.origin.empty()) s.origin = symbol.origin;
  s.data_dependent |= symbol.data_dependent;
  return known->second;
}

SymbolId DimTable::FindSymbol(const std::string& name) const {
  auto it = names_.find(name);
  return it == names_.end() ? 0 : it->second;
}

Dim DimTable::OfSymbol(SymbolId id) {
  if (id >= symbol_exprs_.size()) return Dim{};
  if (!symbol_exprs_[id]) {
    Expr e;
    e.op = DimOp::kSymbol;
    e.symbol = id;
    symbol_exprs_[id] = Intern(std::move(e)).expr;
  }
  return Dim{0, symbol_exprs_[id]};
}

SymbolId DimTable::FreshSymbol(const std::string& stem) {
  std::string name = stem;
  uint32_t& last = stems_[stem];
  while (name.empty() || names_.count(name)) name = stem + "_" + std::to_string(++last);
  Symbol s;
  s.name = name;
  return AddSymbol(s);
}

uint32_t DimTable::SizeOf(const Expr& expr) const {
  uint64_t size = 1 + expr.terms.size();
  for (const Term& t : expr.terms) size += sizes_[t.atom];
  if (!expr.a.known()) size += sizes_[expr.a.expr];
  if (!expr.b.known()) size += sizes_[expr.b.expr];
  return static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
}

Dim DimTable::Intern(Expr expr) {
  const uint64_t hash = HashOf(expr);
  auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (exprs_[it->second] == expr) return Dim{0, it->second};
  }
  const uint32_t size = SizeOf(expr);
  const Range range = ComputeRange(expr);
  if (size > kMaxParts) {
    const SymbolId opaque = FreshSymbol("dim");
    symbols_[opaque].min = range.lo;
    symbols_[opaque].max = range.hi;
    symbols_[opaque].origin = "an expression beyond the limit of 512 parts";
    return OfSymbol(opaque);
  }
  MakeRoom(&exprs_);
  MakeRoom(&ranges_);
  MakeRoom(&sizes_);
  const auto id = static_cast<uint32_t>(exprs_.size());
  index_.emplace(hash, id);
  exprs_.push_back(std::move(expr));  // nothing can fail any more
  ranges_.push_back(range);
  sizes_.push_back(size);
  return Dim{0, id};
}

std::optional<Dim> DimTable::Binary(DimOp op, Dim left, Dim right) {
  Expr e;
  e.op = op;
  e.a = left;
  e.b = right;
  return Intern(std::move(e));
}

// ---- ranges -------------------------------------------------------------------------------------

DimTable::Range DimTable::RangeOf(Dim dim) const {
  if (dim.known()) return Range{dim.value, dim.value};
  const Expr& e = exprs_[dim.expr];
  if (e.op == DimOp::kSymbol) return Range{symbols_[e.symbol].min, symbols_[e.symbol].max};
  return ranges_[dim.expr];
}

DimTable::Range DimTable::RangeOfSum(const Sum& sum) const {
  Range r{sum.constant, sum.constant};
  for (const Term& t : sum.terms) {
    const Range x = RangeOf(Dim{0, t.atom});
    const int64_t p = SaturatingMul(x.lo, t.coefficient), q = SaturatingMul(x.hi, t.coefficient);
    r.lo = SaturatingAdd(r.lo, std::min(p, q));
    r.hi = SaturatingAdd(r.hi, std::max(p, q));
  }
  return r;
}

// Ends at the limits of int64 are safe: a value beyond them has no legal evaluation.
DimTable::Range DimTable::ComputeRange(const Expr& expr) const {
  const Range any{INT64_MIN, INT64_MAX};
  if (expr.op == DimOp::kSymbol) return any;
  if (expr.op == DimOp::kSum) return RangeOfSum(Sum{expr.constant, expr.terms});
  const Range a = RangeOf(expr.a), b = RangeOf(expr.b);
  switch (expr.op) {
    case DimOp::kMul: {
      const int64_t p[] = {SaturatingMul(a.lo, b.lo), SaturatingMul(a.lo, b.hi),
                           SaturatingMul(a.hi, b.lo), SaturatingMul(a.hi, b.hi)};
      return Range{*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
    }
    case DimOp::kFloorDiv:
      if (expr.b.known() && b.lo > 0)
        return Range{FloorDivide(a.lo, b.lo), FloorDivide(a.hi, b.lo)};
      return a.lo >= 0 && b.lo >= 1 ? Range{0, a.hi / b.lo} : any;
    case DimOp::kCeilDiv:
      return a.lo >= 0 && b.lo >= 1 ? Range{0, a.hi} : any;
    case DimOp::kMod:
      return b.lo >= 1 ? Range{0, b.hi - 1} : any;
    case DimOp::kMin:
      return Range{std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case DimOp::kMax:
      return Range{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    default:
      return any;
  }
}

// ---- sums and products --------------------------------------------------------------------------

DimTable::Sum DimTable::SumOf(Dim dim) const {
  if (dim.known()) return Sum{dim.value, {}};
  const Expr& e = exprs_[dim.expr];
  if (e.op == DimOp::kSum) return Sum{e.constant, e.terms};
  return Sum{0, {Term{dim.expr, 1}}};
}

Dim DimTable::OfSum(Sum sum) {
  if (sum.terms.empty()) return KnownDim(sum.constant);
  if (sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.constant == 0) {
    return Dim{0, sum.terms[0].atom};
  }
  Expr e;
  e.op = DimOp::kSum;
  e.constant = sum.constant;
  e.terms = std::move(sum.terms);
  return Intern(std::move(e));
}

// first + scale_b * second
std::optional<DimTable::Sum> DimTable::Combine(const Sum& first, const Sum& second,
                                               int64_t scale_b) const {
  const auto scaled = CheckedMul(second.constant, scale_b);
  if (!scaled) return std::nullopt;
  const auto constant = CheckedAdd(first.constant, *scaled);
  if (!constant) return std::nullopt;
  Sum out{*constant, {}};
  out.terms.reserve(first.terms.size() + second.terms.size());
  size_t i = 0, j = 0;
  while (i < first.terms.size() || j < second.terms.size()) {
    const uint32_t left = i < first.terms.size() ? first.terms[i].atom : UINT32_MAX;
    const uint32_t right = j < second.terms.size() ? second.terms[j].atom : UINT32_MAX;
    int64_t k = 0;
    if (left <= right) k = first.terms[i++].coefficient;
    if (right <= left) {
      const auto term = CheckedMul(second.terms[j++].coefficient, scale_b);
      const auto sum = term ? CheckedAdd(k, *term) : std::nullopt;
      if (!sum) return std::nullopt;
      k = *sum;
    }
    if (k) out.terms.push_back(Term{std::min(left, right), k});
  }
  return out;
}

std::optional<Dim> DimTable::Add(Dim left, Dim right) {
  auto s = Combine(SumOf(left), SumOf(right), 1);
  if (!s) return std::nullopt;
  return OfSum(std::move(*s));
}

std::optional<Dim> DimTable::Sub(Dim left, Dim right) {
  auto s = Combine(SumOf(left), SumOf(right), -1);
  if (!s) return std::nullopt;
  return OfSum(std::move(*s));
}

// Products are kept flat: factors sorted by id, the sorted prefix on the left.
void DimTable::Factors(uint32_t atom, std::vector<uint32_t>* out) const {
  while (exprs_[atom].op == DimOp::kMul) {
    out->push_back(exprs_[atom].b.expr);
    atom = exprs_[atom].a.expr;
  }
  out->push_back(atom);
}

std::optional<Dim> DimTable::MulAtoms(uint32_t left, uint32_t right) {
  std::vector<uint32_t> factors;
  Factors(left, &factors);
  Factors(right, &factors);
  std::sort(factors.begin(), factors.end());
  Dim product{0, factors[0]};
  for (size_t i = 1; i < factors.size(); ++i) {
    // A product beyond the size limit has become a symbol; the next factor still applies to it.
    product = *Binary(DimOp::kMul, product, Dim{0, factors[i]});
  }
  return product;
}

std::optional<Dim> DimTable::MulSums(const Sum& left, const Sum& right) {
  Sum out;
  const auto constant = CheckedMul(left.constant, right.constant);
  if (!constant) return std::nullopt;
  out.constant = *constant;
  auto add = [&](Dim atom, int64_t k) {
    auto next = Combine(out, SumOf(atom), k);
    if (next) out = std::move(*next);
    return next.has_value();
  };
  for (const Term& t : left.terms) {
    const auto k = CheckedMul(t.coefficient, right.constant);
    if (!k || (*k && !add(Dim{0, t.atom}, *k))) return std::nullopt;
  }
  for (const Term& u : right.terms) {
    const auto k = CheckedMul(u.coefficient, left.constant);
    if (!k || (*k && !add(Dim{0, u.atom}, *k))) return std::nullopt;
  }
  for (const Term& t : left.terms) {
    for (const Term& u : right.terms) {
      const auto k = CheckedMul(t.coefficient, u.coefficient);
      const auto product = MulAtoms(t.atom, u.atom);
      if (!k || !product || !add(*product, *k)) return std::nullopt;
    }
  }
  return OfSum(std::move(out));
}

std::optional<Dim> DimTable::Mul(Dim left, Dim right) {
  const Sum x = SumOf(left), y = SumOf(right);
  if (x.terms.size() * y.terms.size() <= kMaxProducts) return MulSums(x, y);
  return MulAtoms(left.expr, right.expr);
}

// ---- reading ------------------------------------------------------------------------------------

std::optional<int64_t> DimTable::Evaluate(Dim dim,
                                          const std::map<SymbolId, int64_t>& values) const {
  if (dim.known()) return dim.value;
  const Expr& e = exprs_[dim.expr];
  if (e.op == DimOp::kSymbol) {
    auto it = values.find(e.symbol);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
  if (e.op == DimOp::kSum) {
    std::optional<int64_t> sum = e.constant;
    for (const Term& t : e.terms) {
      const auto x = Evaluate(Dim{0, t.atom}, values);
      const auto product = x ? CheckedMul(*x, t.coefficient) : std::nullopt;
      sum = product ? CheckedAdd(*sum, *product) : std::nullopt;
      if (!sum) return std::nullopt;
    }
    return sum;
  }
  const auto a = Evaluate(e.a, values), b = Evaluate(e.b, values);
  if (!a || !b) return std::nullopt;
  switch (e.op) {
    case DimOp::kMul:
      return CheckedMul(*a, *b);
    case DimOp::kMin:
      return std::min(*a, *b);
    case DimOp::kMax:
      return std::max(*a, *b);
    default:
      break;
  }
  if (*b == 0 || (*a == INT64_MIN && *b == -1)) return std::nullopt;
  const int64_t floor = FloorDivide(*a, *b), rest = FloorRemainder(*a, *b);
  if (e.op == DimOp::kMod) return rest;
  return e.op == DimOp::kCeilDiv && rest != 0 ? floor + 1 : floor;
}

std::optional<Dim> DimTable::Substitute(Dim dim, const std::map<SymbolId, int64_t>& values) {
  if (dim.known()) return dim;
  const Expr e = exprs_[dim.expr];  // A copy: making expressions moves the table.
  if (e.op == DimOp::kSymbol) {
    auto it = values.find(e.symbol);
    return it == values.end() ? dim : KnownDim(it->second);
  }
  if (e.op == DimOp::kSum) {
    std::optional<Dim> sum = KnownDim(e.constant);
    for (const Term& t : e.terms) {
      const auto x = Substitute(Dim{0, t.atom}, values);
      const auto product = x ? Mul(*x, KnownDim(t.coefficient)) : std::nullopt;
      sum = product ? Add(*sum, *product) : std::nullopt;
      if (!sum) return std::nullopt;
    }
    return sum;
  }
  const auto a = Substitute(e.a, values), b = Substitute(e.b, values);
  if (!a || !b) return std::nullopt;
  switch (e.op) {
    case DimOp::kMul:
      return Mul(*a, *b);
    case DimOp::kFloorDiv:
      return FloorDiv(*a, *b);
    case DimOp::kCeilDiv:
      return CeilDiv(*a, *b);
    case DimOp::kMod:
      return Mod(*a, *b);
    case DimOp::kMin:
      return Min(*a, *b);
    default:
      return Max(*a, *b);
  }
}

void DimTable::PrintSum(const Expr& expr, std::string* out) const {
  bool first = true;
  for (const Term& t : expr.terms) {
    if (t.coefficient < 0) {
      *out += '-';
    } else if (!first) {
      *out += '+';
    }
    first = false;
    if (t.coefficient != 1 && t.coefficient != -1) {
      const std::string k = std::to_string(t.coefficient);
      *out += k.substr(k[0] == '-') + "*";
    }
    Print(Dim{0, t.atom}, out);
  }
  if (expr.constant > 0) *out += '+';
  if (expr.constant) *out += std::to_string(expr.constant);
}

void DimTable::PrintFactor(Dim dim, std::string* out) const {
  const bool sum = !dim.known() && exprs_[dim.expr].op == DimOp::kSum;
  if (sum) *out += '(';
  Print(dim, out);
  if (sum) *out += ')';
}

void DimTable::Print(Dim dim, std::string* out) const {
  if (dim.known()) {
    *out += std::to_string(dim.value);
    return;
  }
  const Expr& e = exprs_[dim.expr];
  if (e.op == DimOp::kSymbol) {
    AppendSymbolName(symbols_[e.symbol].name, out);
    return;
  }
  if (e.op == DimOp::kSum) {
    PrintSum(e, out);
    return;
  }
  if (e.op == DimOp::kMul) {
    PrintFactor(e.a, out);
    *out += '*';
    PrintFactor(e.b, out);
    return;
  }
  static constexpr const char* kNames[] = {"", "", "", "floordiv", "ceildiv", "mod", "min", "max"};
  *out += kNames[static_cast<int>(e.op)];
  *out += '(';
  Print(e.a, out);
  *out += ',';
  Print(e.b, out);
  *out += ')';
}

std::string DimTable::ToString(Dim dim) const {
  std::string out;
  Print(dim, &out);
  return out;
}

}  // namespace ge
