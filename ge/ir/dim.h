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
inline Dim KnownDim(int64_t v) { return Dim{v, 0}; }

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
    uint32_t atom;        // expression id of something that is not a sum
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
  SymbolId FreshSymbol(const std::string& stem);  // a name that nobody has yet
  // Where every legal value of `d` lies, both ends included. Narrowing a symbol's range is seen
  // by expressions made afterwards; a range may never be widened.
  struct Range {
    int64_t lo, hi;
  };
  Range RangeOf(Dim d) const;

  // Each answers a canonical Dim; nullopt on overflow or division by zero. Division rounds down
  // and Mod is its remainder. An expression beyond 512 parts becomes a fresh symbol of its range.
  std::optional<Dim> Add(Dim a, Dim b);
  std::optional<Dim> Sub(Dim a, Dim b);
  std::optional<Dim> Mul(Dim a, Dim b);
  std::optional<Dim> FloorDiv(Dim a, Dim b);
  std::optional<Dim> CeilDiv(Dim a, Dim b);
  std::optional<Dim> Mod(Dim a, Dim b);
  std::optional<Dim> Min(Dim a, Dim b);
  std::optional<Dim> Max(Dim a, Dim b);

  const Expr& expr(uint32_t id) const { return exprs_[id]; }
  uint32_t expr_count() const { return static_cast<uint32_t>(exprs_.size()) - 1; }
  // Replaces symbols by numbers; nullopt when a symbol has none or on overflow.
  std::optional<int64_t> Evaluate(Dim d, const std::map<SymbolId, int64_t>& values) const;
  // Replaces the given symbols and leaves the others; nullopt on overflow or division by zero.
  std::optional<Dim> Substitute(Dim d, const std::map<SymbolId, int64_t>& values);
  // "N", "2*N+1", "floordiv(N+1,2)", "N*M", "(N+1)*M", "max(N,3)"; a symbol whose name is not an
  // identifier is quoted: "\"batch size\"" with \\ and \" escaped.
  std::string ToString(Dim d) const;

 private:
  struct Sum {  // an expression as terms and a constant
    int64_t constant = 0;
    std::vector<Term> terms;
  };
  std::optional<Dim> Binary(DimOp op, Dim a, Dim b);
  Dim Intern(Expr e);
  Sum SumOf(Dim d) const;
  Dim OfSum(Sum s);
  std::optional<Sum> Combine(const Sum& a, const Sum& b, int64_t scale_b) const;
  std::optional<Dim> MulSums(const Sum& a, const Sum& b);
  std::optional<Dim> MulAtoms(uint32_t a, uint32_t b);
  void Factors(uint32_t atom, std::vector<uint32_t>* out) const;
  bool TermDivisible(const Term& t, int64_t c) const;
  std::optional<Dim> FloorDivBy(Dim a, int64_t c);
  std::optional<Dim> ModBy(Dim a, int64_t c);
  std::optional<Dim> ExactQuotient(Dim a, Dim b);
  std::optional<Dim> DivideTerms(const Sum& a, const Term& b);
  std::optional<Dim> Extreme(DimOp op, Dim a, Dim b);
  Range RangeOfSum(const Sum& s) const;
  Range ComputeRange(const Expr& e) const;
  uint32_t SizeOf(const Expr& e) const;
  void Print(Dim d, std::string* out) const;
  void PrintSum(const Expr& e, std::string* out) const;
  void PrintFactor(Dim d, std::string* out) const;

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
