// PriceFit: the error of engines' prices where nothing was measured, fitted from rows of like work.
// It knows no file, no graph and no engine: log errors go in, corrections come out. A scope of rows
// is put together when it is first asked for. Filled once, then only asked, by one thread at a
// time; owned by a PriceCache.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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
  double factor = 1;       // measured / asked
  uint32_t rows = 0;       // rows behind the fit; 0 = nothing is known
  bool of_others = false;  // of other engines' prices: nothing is known of this one's
};

// The kind of work of a row; see OfferName.
struct WorkName {
  std::string_view signature, family;
  double size = 0;  // log2 of bytes
};

// A row as a fit counts it.
struct LoggedRow {
  double log = 0;   // log(measured / asked)
  double size = 0;  // log2 of bytes
  bool doubtful = false;
};

// Logs of a scope's rows, each list sorted.
struct ScopeLogs {
  std::vector<double> sound, doubtful;
};

class PriceFit {
 public:
  // Narrow to wide: rows of a signature, of a family and bucket of size, of a family, of all that
  // begin with the same operator, of the engine, of every engine.
  enum Level : uint8_t { kSignature, kSize, kFamily, kLead, kEngine, kWorld, kLevels };
  // One a level. Of a kind of row; the same in every build, since they stand in files.
  using Keys = std::array<uint64_t, kLevels>;
  static Keys KeysOf(const PriceBook& book, const WorkName& work, int kind);

  // Rows that lie elsewhere and are read when a scope is asked for.
  class Stored {
   public:
    virtual ~Stored() = default;
    virtual const std::vector<PriceBook>& Books() = 0;
    virtual void AddSignature(const PriceBook& book, std::string_view signature, int kind,
                              std::vector<LoggedRow>* out) = 0;
    // Of kSize to kEngine.
    virtual const ScopeLogs& LogsOf(uint64_t key) = 0;
    virtual uint64_t SoundRows(uint64_t key) = 0;
  };

  // `stored` may be null; else it outlives the fit.
  explicit PriceFit(Stored* stored = nullptr) : stored_(stored) {}

  // One row beside those stored. Rows of different `kind` are never compared. Doubtful rows of an
  // engine tell only where it has no sound ones.
  void Add(const PriceBook& book, const WorkName& work, int kind, double log,
           bool doubtful = false);
  // Takes a stored row out, which Add replaces.
  void Remove(const PriceBook& book, const WorkName& work, int kind, double log, bool doubtful);

  // Median over rows of the same book and kind: of the signature, those of a like size first; as
  // far as these are of other sizes, and where there are none, of the family and bucket of size,
  // else of the family, else of all families with the same first operator, else of the engine,
  // else of every engine within a factor of two; blended with 1 by the number of rows and the
  // engine's confidence (0..1). `raised` adds a third of the rows' spread: a plan takes the offers
  // that seem cheapest, mostly offers priced too low (the optimizer's curse; Smith and Winkler,
  // 2006). After the first call nothing is added.
  Correction Find(const PriceBook& book, const WorkName& work, int kind, double confidence,
                  bool raised);

 private:
  struct Scope {
    std::vector<LoggedRow> kept;        // of signatures alone
    double log_factor = 0, spread = 0;  // median, and the usual distance of rows from it
    uint32_t rows = 0;
  };
  struct Added {
    LoggedRow row;
    bool removed;
    std::array<int32_t, kWorld> next;  // in the same scope, -1 = last
  };
  struct Local {
    double log_factor = 0, spread = 0;
    double rows = 0;     // summed by the weight of each row at that size
    double nearest = 0;  // weight of the row nearest in size: 1 at the same size, less farther away
  };
  void AddRow(const PriceBook& book, const WorkName& work, int kind, const LoggedRow& row,
              bool removed);
  static Local At(const Scope& signature, double size);
  // Calls use(row) for each row that was taken out (or added) here.
  template <class Use>
  void ForEachAdded(uint64_t key, Level level, bool removed, Use use) const;
  bool HasSound(uint64_t engine_key) const;
  const Scope& SignatureScope(const PriceBook& book, const WorkName& work, int kind,
                              const Keys& keys);
  const Scope& WideScope(Level level, const Keys& keys, int kind);
  // Those that count, sorted.
  std::vector<double> WideLogs(Level level, const Keys& keys) const;
  static Scope Finished(const std::vector<double>& sorted);
  // Of wider scopes, without the rows of `signature`; rows 0 where there is nothing.
  Correction Wider(const Keys& keys, const Scope& signature, int kind, double size,
                   double confidence, bool raised);

  Stored* stored_;
  std::vector<Added> added_;
  std::unordered_map<uint64_t, int32_t> first_;  // of added_, by key; not of kWorld
  std::unordered_map<uint64_t, int64_t> sound_;  // rows added less rows taken out, by kEngine's key
  std::map<PriceBook, bool> books_;              // of rows added
  std::unordered_map<uint64_t, Scope> scopes_;   // what was asked for, by key
};

}  // namespace ge
