// PriceFit: how far engines' prices are off where nothing was measured, fitted from rows of like
// work. It knows no file, no graph and no engine: log errors go in, corrections come out. Filled
// once, then only read; owned by a PriceCache.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ge {

// Which engine, as the cache tells them apart: plugin hash, options and device.
struct PriceBook {
  std::string plugin_hash, device;  // "cpu" or "cpu?price=10"
  friend auto operator<=>(const PriceBook&, const PriceBook&) = default;
};

// How far an engine's price is off, where nothing was measured.
struct Correction {
  double factor = 1;  // measured / asked
  uint32_t rows = 0;  // that it was fitted from; 0 = nothing is known
};

// What kind of work a row is about; see OfferName.
struct WorkName {
  std::string_view signature, family;
  double size = 0;  // log2 of bytes
};

class PriceFit {
 public:
  // log(measured / asked) of one row. `kind` keeps apart what is not to be compared.
  void Add(const PriceBook& book, const WorkName& work, int kind, double log);
  // After the last Add.
  void Finish();

  // Median over rows of the same book and kind: of the signature, those of a like size first; as
  // far as these are of other sizes, and where there are none, of the family and bucket of size,
  // else of the family, else of all that begin with its first operator, else of the engine, else of
  // every engine within a factor of two; blended with 1 by the number of rows and the engine's
  // confidence (0..1). Where `raised`, by a third of the rows' spread more: a plan takes the offers
  // that seem cheapest, which are those whose prices err on the low side (the optimizer's curse;
  // Smith and Winkler, 2006).
  Correction Find(const PriceBook& book, const WorkName& work, int kind, double confidence,
                  bool raised) const;

 private:
  struct Scope {
    struct Row {
      double log = 0, size = 0;
    };
    std::vector<Row> kept;              // after Finish of signatures alone
    double log_factor = 0, spread = 0;  // median, and how far rows lie from it as a rule
    uint32_t rows = 0;
    bool of_signature = false;
  };
  using Keys = std::array<uint64_t, 6>;  // one a level, narrow to wide
  static Keys KeysOf(const PriceBook& book, const WorkName& work, int kind);
  struct Local {
    double log_factor = 0, spread = 0;
    double rows = 0;     // by what each says about that size
    double nearest = 0;  // what the one nearest in size says: 1 of the same size, less farther away
  };
  static Local At(const Scope& signature, double size);
  // Of wider scopes, without the rows of `signature` (null = none); rows 0 where there is nothing.
  Correction Wider(const Keys& keys, const Scope* signature, double size, double confidence,
                   bool raised) const;
  std::unordered_map<uint64_t, Scope> scopes_;  // by a hash: texts of some hundred bytes are many
};

}  // namespace ge
