// PriceCache: measured times of offers on this machine, and the usual error of engines where
// nothing was measured. It never runs anything and knows no graph: rows go in, prices come out. Of
// the machine's file in the cache folder (price_store.h) it reads what is asked for. A damaged
// file, or one about another machine, is ignored with a log line. Owned by a session; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/base/status.h"
#include "ge/host/probe.h"
#include "ge/price/price_file.h"
#include "ge/price/price_fit.h"
#include "ge/price/price_row.h"
#include "ge/price/price_store.h"
#include "ge/price/price_text.h"
#include "ge/price/prior_fit.h"
#include "ge/price/prior_scale.h"
#include "ge/price/priors.h"
#include "ge/price/signature.h"

namespace ge {

class PriceCache {
 public:
  // Empty; `machine` gives cpu, isa and threads.
  explicit PriceCache(const MachineRecord& machine);

  // Opens the file of this machine; ignores it where it is not usable. A file of a release before
  // is taken over first. Where the file has become long it is sorted beside what follows.
  void Load();
  // Appends the rows added since Load to the file. Nothing to do, no folder or no right to write
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
  // All rows of a signature, sizes ascending.
  std::vector<PriceRow> RowsOf(const PriceBook& book, const std::string& signature) const;
  using Kind = PriceKind;
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

  // Of the file, so far.
  PriceFile::Reads Reads() const;
  // ---- all rows as text, for tests --------------------------------------------------------------
  std::string ToText() const;
  // DATA_CORRUPT or FAILED_PRECONDITION (another format or machine); then nothing has changed.
  Status FromText(const std::string& text);

 private:
  // A row that was added or stands in the file's tail: it takes the place of the sorted one.
  struct Kept {
    PriceRow row;
    std::optional<PriceRow> stored;  // what the file says
  };
  void LoadText();
  Kept& RowOf(const PriceBook& book, const std::string& key);
  void Take(const PriceBooks& books);
  PriceBooks AllRows() const;
  PriceFit& Fitted() const;
  void AddPriors() const;
  // This machine's distance from shipped priors.
  PriorScale ScaleHere() const;

  const MachineRecord machine_;
  mutable std::mutex mutex_;
  std::unique_ptr<PriceFile> file_;
  std::map<PriceBook, std::unordered_map<std::string, Kept>> books_;  // by signature, a bar, shape
  PriceBooks fresh_;  // rows of Add since the last Save
  mutable PriorFit priors_;
  mutable std::optional<PriceFit> fit_;  // points to file_; none once something has changed
  PriceStore store_;                     // last: its thread ends first
};

}  // namespace ge
