// PriceCache: what offers were measured to take on this machine, and how far engines are off where
// nothing was measured. It never runs anything and knows no graph: rows go in, prices come out.
// One file a machine in the cache folder (cache_folder.h): JSON, mergeable, with the machine in its
// header; a file that is damaged or about another machine is ignored with a log line.
// Owned by a session; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/base/status.h"
#include "ge/host/probe.h"
#include "ge/price/price_fit.h"
#include "ge/price/prior_scale.h"
#include "ge/price/priors.h"
#include "ge/price/signature.h"

namespace ge {

// What an offer asks less for says nothing by a ratio: a view that turned out to be a copy, a
// Transpose that an engine takes for free inside a segment and whose share of it is some
// microseconds. By the first a Split of 1.5 ms had once made others a million times dearer.
inline constexpr double kNextToNothingNs = 50;

// A geometric mean with the number of samples behind it, bounded so that new ones always count.
struct Sampled {
  double ns = 0;
  uint32_t count = 0;     // 0 = unknown
  bool doubtful = false;  // taken on a machine that was busy: a sound sample takes their place
  // False when nothing changed: there are sound samples, and these are not.
  bool Add(const Sampled& more);
  // log(measured / asked); of doubtful samples a quarter of it.
  double Log(double asked_ns) const;
};

struct PriceRow {
  std::string family;
  double size = 0;             // log2 of bytes
  double asked_ns = 0;         // by the engine, for the offer alone
  Sampled alone;               // a segment of its own
  double asked_inside_ns = 0;  // marginal less what it saves inside a segment
  Sampled inside;              // its share of a larger segment
  uint32_t day = 0;            // since 1970, of the last sample
};

class PriceCache {
 public:
  // Empty; `machine` gives cpu, isa and threads.
  explicit PriceCache(const MachineRecord& machine);

  // Reads the file of this machine; what is not usable is ignored.
  void Load();
  // Merges what was added since Load into the file. Nothing to do, no folder or no right to write
  // is no error.
  void Save();

  bool Empty() const;
  // What is taken for this engine's rows where this machine has none of the same signature and a
  // like size, at the scale of the rows that it has. Never written to the file.
  void SetPriors(const PriceBook& book, std::vector<PriorRow> rows);
  // The rows of a book as they may ship: those that are sound, alone.
  std::vector<PriorRow> AsPriors(const PriceBook& book) const;
  // The row of exactly this offer; false when there is none.
  bool Find(const PriceBook& book, const OfferName& name, PriceRow* out) const;
  // kInsideShare, only to be asked for: how much further the price inside is off than that alone,
  // of rows that know both.
  enum class Kind { kAlone, kInside, kInsideShare };
  // `asked_ns` is what the engine asked for it in the same circumstance. Doubtful samples are
  // dropped where there are sound ones, and sound ones take the place of doubtful ones.
  // `trusted_now`: this cache takes them as sound, the file as what they are. Who compares offers
  // measured under one load learns which is the fastest, though not how long it takes.
  void Add(const PriceBook& book, const OfferName& name, Kind kind, double asked_ns,
           const Sampled& samples, bool trusted_now = false);
  // How far the engine is off where this row is not known; see PriceFit::Find. A share is not
  // raised.
  Correction CorrectionFor(const PriceBook& book, const OfferName& name, Kind kind,
                           double confidence) const;

  // ---- the file's text, for tests ---------------------------------------------------------------
  std::string ToText() const;
  // DATA_CORRUPT or FAILED_PRECONDITION (another format or machine); then nothing has changed.
  Status FromText(const std::string& text);

 private:
  struct Book {
    std::unordered_map<std::string, PriceRow> rows;  // by signature, a bar, shape
  };
  using Books = std::map<PriceBook, Book>;
  Status Parse(const std::string& text, Books* out) const;
  std::string Print(const Books& books) const;
  void Fitted() const;
  // Priors as they ship, and how far this machine's rows are from them.
  PriceFit FitOfPriors() const;
  PriorScale PriorScaleHere() const;
  void FitPriors() const;
  static void Merge(const Books& from, Books* into);
  static void Prune(Books* books);

  const std::string cpu_;
  const uint32_t isa_, threads_;
  mutable std::mutex mutex_;
  Books books_;  // all that is known
  std::map<PriceBook, std::vector<PriorRow>> priors_;
  Books fresh_;  // what Add has brought since the last Save
  mutable bool fit_valid_ = false;
  mutable PriceFit fit_;
  mutable std::optional<PriceFit> priors_alone_;  // priors never change, rows do
};

}  // namespace ge
