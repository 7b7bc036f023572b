// PriceCache: measured times of offers on this machine, and the usual error of engines where
// nothing was measured. It never runs anything and knows no graph: rows go in, prices come out. One
// file a machine in the cache folder (cache_folder.h): JSON, mergeable, with the machine in its
// header; a damaged file, or one about another machine, is ignored with a log line. Owned by a
// session; thread-safe.
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

// A ratio to a smaller price means nothing: a view that turned out to be a copy, a Transpose that
// an engine takes for free inside a segment and whose share of it is some microseconds. By the
// first a Split of 1.5 ms had once made others a million times dearer.
inline constexpr double kNextToNothingNs = 50;

// A geometric mean with its number of samples, bounded so new ones always count.
struct Sampled {
  double ns = 0;
  uint32_t count = 0;     // 0 = unknown
  bool doubtful = false;  // taken on a busy machine: a sound sample replaces them
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
  double asked_inside_ns = 0;  // marginal less its saving inside a segment
  Sampled inside;              // its share of a larger segment
  uint32_t day = 0;            // since 1970, of the last sample
};

class PriceCache {
 public:
  // Empty; `machine` gives cpu, isa and threads.
  explicit PriceCache(const MachineRecord& machine);

  // Reads the file of this machine; ignores it where it is not usable.
  void Load();
  // Merges the rows added since Load into the file. Nothing to do, no folder or no right to write
  // is no error.
  void Save();

  bool Empty() const;
  // Sets rows to use for this engine where this machine has none of the same signature and a like
  // size, scaled to its own rows. Never written to the file.
  void SetPriors(const PriceBook& book, std::vector<PriorRow> rows);
  // The sound rows of a book, for shipping.
  std::vector<PriorRow> AsPriors(const PriceBook& book) const;
  // The row of exactly this offer; false when there is none.
  bool Find(const PriceBook& book, const OfferName& name, PriceRow* out) const;
  // kInsideShare, only for queries: the error of the price inside, relative to the error alone,
  // from rows with both.
  enum class Kind { kAlone, kInside, kInsideShare };
  // `asked_ns` is the engine's price in the same circumstance. Doubtful samples are dropped where
  // there are sound ones, and sound ones replace doubtful ones. `trusted_now`: this cache takes
  // them as sound, the file as doubtful. Offers measured under one load can be compared to find the
  // fastest, though their times are not known.
  void Add(const PriceBook& book, const OfferName& name, Kind kind, double asked_ns,
           const Sampled& samples, bool trusted_now = false);
  // The engine's error where this row is not known; see PriceFit::Find. A share is not
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
  // Shipped priors, and this machine's distance from them.
  PriceFit FitOfPriors() const;
  PriorScale PriorScaleHere() const;
  void FitPriors() const;
  static void Merge(const Books& from, Books* into);
  static void Prune(Books* books);

  const std::string cpu_;
  const uint32_t isa_, threads_;
  mutable std::mutex mutex_;
  Books books_;  // all known rows
  std::map<PriceBook, std::vector<PriorRow>> priors_;
  Books fresh_;  // rows of Add since the last Save
  mutable bool fit_valid_ = false;
  mutable PriceFit fit_;
  mutable std::optional<PriceFit> priors_alone_;  // priors never change, rows do
};

}  // namespace ge
