// Symbolic dimensions: constants, symbols and expressions whose equality can be proved.
// A Dim is a value of 16 bytes; expressions live in the DimTable of their Graph, which owns them.
// Not thread-safe while expressions are being made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ge {

using SymbolId = uint32_t;  // 0 = absent

// A known number (expr == 0) or an index into DimTable.
struct Dim {
  int64_t value = 0;
  uint32_t expr = 0;

  bool known() const { return expr == 0; }
  friend bool operator==(const Dim&, const Dim&) = default;
};
inline Dim KnownDim(int64_t value) { return Dim{value, 0}; }

// A free size. `origin` says which input axis it names, in words ("x axis 0").
struct Symbol {
  std::string name;
  int64_t min = 0, max = INT64_MAX, multiple_of = 1;
  std::string origin;
  bool data_dependent = false;
};

enum class DimOp : uint8_t { kSymbol, kSum, kMul, kFloorDiv, kCeilDiv, kMod, kMin, kMax };

// Sums are canonical (sorted terms with integer coefficients plus a constant), every other
// expression is hash-consed, so two Dims are provably equal exactly when they compare equal.
class DimTable {
 public:
  struct Term {
    uint32_t atom;        // expression id of anything but a sum
    int64_t coefficient;  // never 0
    friend auto operator<=>(const Term&, const Term&) = default;
  };
  struct Expr {
    DimOp op = DimOp::kSymbol;
    SymbolId symbol = 0;      // kSymbol
    int64_t constant = 0;     // kSum
    std::vector<Term> terms;  // kSum
    Dim a, b;                 // the binary operations
    friend bool operator==(const Expr&, const Expr&) = default;
  };

  DimTable();
  // The same name gives the same symbol; ranges are intersected.
  SymbolId AddSymbol(const Symbol& symbol);
  SymbolId FindSymbol(const std::string& name) const;  // 0 when absent
  const Symbol& symbol(SymbolId id) const { return symbols_[id]; }
  Symbol& symbol(SymbolId id) { return symbols_[id]; }
  uint32_t symbol_count() const { return static_cast<uint32_t>(symbols_.size()) - 1; }
  Dim OfSymbol(SymbolId id);
  SymbolId FreshSymbol(const std::string& stem);  // a name not in use yet
  // The bounds of all legal values of `d`, both included. Expressions made later see a narrowed
  // range of a symbol; a range may never be widened.
  struct Range {
    int64_t lo, hi;
  };
  Range RangeOf(Dim dim) const;

  // Each answers a canonical Dim; nullopt on overflow or division by zero. Division rounds down
  // and Mod is its remainder. An expression beyond 512 parts becomes a fresh symbol of its range.
  std::optional<Dim> Add(Dim left, Dim right);
  std::optional<Dim> Sub(Dim left, Dim right);
  std::optional<Dim> Mul(Dim left, Dim right);
  std::optional<Dim> FloorDiv(Dim left, Dim right);
  std::optional<Dim> CeilDiv(Dim left, Dim right);
  std::optional<Dim> Mod(Dim left, Dim right);
  std::optional<Dim> Min(Dim left, Dim right);
  std::optional<Dim> Max(Dim left, Dim right);

  const Expr& expr(uint32_t id) const { return exprs_[id]; }
  uint32_t expr_count() const { return static_cast<uint32_t>(exprs_.size()) - 1; }
  // Replaces symbols by numbers; nullopt when a symbol has none or on overflow.
  std::optional<int64_t> Evaluate(Dim dim, const std::map<SymbolId, int64_t>& values) const;
  // Replaces the given symbols and leaves the others; nullopt on overflow or division by zero.
  std::optional<Dim> Substitute(Dim dim, const std::map<SymbolId, int64_t>& values);
  // "N", "2*N+1", "floordiv(N+1,2)", "N*M", "(N+1)*M", "max(N,3)"; a symbol whose name is not an
  // identifier is quoted: "\"batch size\"" with \\ and \" escaped.
  std::string ToString(Dim dim) const;

 private:
  struct Sum {  // an expression as terms and a constant
    int64_t constant = 0;
    std::vector<Term> terms;
  };
  std::optional<Dim> Binary(DimOp op, Dim left, Dim right);
  Dim Intern(Expr expr);
  Sum SumOf(Dim dim) const;
  Dim OfSum(Sum sum);
  std::optional<Sum> Combine(const Sum& first, const Sum& second, int64_t scale_b) const;
  std::optional<Dim> MulSums(const Sum& left, const Sum& right);
  std::optional<Dim> MulAtoms(uint32_t left, uint32_t right);
  void Factors(uint32_t atom, std::vector<uint32_t>* out) const;
  bool TermDivisible(const Term& term, int64_t divisor) const;
  std::optional<Dim> FloorDivBy(Dim dim, int64_t c);
  std::optional<Dim> ModBy(Dim dim, int64_t divisor);
  std::optional<Dim> ExactQuotient(Dim left, Dim right);
  std::optional<Dim> DivideTerms(const Sum& first, const Term& right);
  std::optional<Dim> Extreme(DimOp op, Dim left, Dim right);
  Range RangeOfSum(const Sum& sum) const;
  Range ComputeRange(const Expr& expr) const;
  uint32_t SizeOf(const Expr& expr) const;
  void Print(Dim dim, std::string* out) const;
  void PrintSum(const Expr& expr, std::string* out) const;
  void PrintFactor(Dim dim, std::string* out) const;

  std::vector<Symbol> symbols_;
  std::map<std::string, SymbolId> names_;
  std::map<std::string, uint32_t> stems_;  // FreshSymbol: the last number tried
  std::vector<Expr> exprs_;
  std::vector<Range> ranges_;                // by expression
  std::vector<uint32_t> sizes_;              // by expression: parts when printed
  std::vector<uint32_t> symbol_exprs_;       // by symbol: its expression, 0 = none yet
  std::multimap<uint64_t, uint32_t> index_;  // hash -> expression id
};

}  // namespace ge
