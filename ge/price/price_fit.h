// PriceFit: the error of engines' prices where nothing was measured, fitted from rows of like work.
// It knows no file, no graph and no engine: log errors go in, corrections come out. Filled once,
// then only read; owned by a PriceCache.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ge {

// An engine as the cache tells them apart: plugin hash, options and device.
struct PriceBook {
  std::string plugin_hash, device;  // "cpu" or "cpu?price=10"
  friend auto operator<=>(const PriceBook&, const PriceBook&) = default;
};

// The error of an engine's price where nothing was measured.
struct Correction {
  double factor = 1;  // measured / asked
  uint32_t rows = 0;  // rows behind the fit; 0 = nothing is known
};

// The kind of work of a row; see OfferName.
struct WorkName {
  std::string_view signature, family;
  double size = 0;  // log2 of bytes
};

class PriceFit {
 public:
  // log(measured / asked) of one row. Rows of different `kind` are never compared.
  void Add(const PriceBook& book, const WorkName& work, int kind, double log);
  // After the last Add.
  void Finish();

  // Median over rows of the same book and kind: of the signature, those of a like size first; as
  // far as these are of other sizes, and where there are none, of the family and bucket of size,
  // else of the family, else of all families with the same first operator, else of the engine,
  // else of every engine within a factor of two; blended with 1 by the number of rows and the
  // engine's confidence (0..1). `raised` adds a third of the rows' spread: a plan takes the offers
  // that seem cheapest, mostly offers priced too low (the optimizer's curse; Smith and Winkler,
  // 2006).
  Correction Find(const PriceBook& book, const WorkName& work, int kind, double confidence,
                  bool raised) const;

 private:
  struct Scope {
    struct Row {
      double log = 0, size = 0;
    };
    std::vector<Row> kept;              // after Finish of signatures alone
    double log_factor = 0, spread = 0;  // median, and the usual distance of rows from it
    uint32_t rows = 0;
    bool of_signature = false;
  };
  using Keys = std::array<uint64_t, 6>;  // one a level, narrow to wide
  static Keys KeysOf(const PriceBook& book, const WorkName& work, int kind);
  struct Local {
    double log_factor = 0, spread = 0;
    double rows = 0;     // summed by the weight of each row at that size
    double nearest = 0;  // weight of the row nearest in size: 1 at the same size, less farther away
  };
  static Local At(const Scope& signature, double size);
  // Of wider scopes, without the rows of `signature` (null = none); rows 0 where there is nothing.
  Correction Wider(const Keys& keys, const Scope* signature, double size, double confidence,
                   bool raised) const;
  std::unordered_map<uint64_t, Scope> scopes_;  // by a hash: texts of some hundred bytes are many
};

}  // namespace ge
