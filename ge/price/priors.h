// Priors: how far engines' prices are off on processors like this one, as somebody measured it
// before (`ge tune --export`) and ships it, so that a machine that was never measured does not
// begin with guesses. share/graphengine/priors/ISA-one.json of one thread, ISA-several.json of
// more: to read them is part of each session's start. What a newer processor does under a cap is
// another file, since its cores and caches are not those of a processor that has no more:
// ISA-of-BEST-one.json. It measures nothing. Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/host/probe.h"

namespace ge {

struct PriorRow {
  std::string signature, family;  // of OfferName
  double size = 0;                // log2 of bytes
  double log_error = 0;           // log(measured / asked) of the offer alone
};

// Of one device of an engine, both by name ("native", "cpu").
struct PriorBook {
  std::string engine, device;
  std::vector<PriorRow> rows;
};

// "priors/avx512-one.json" for the machine's instruction set and threads; measured on processors
// whose `best` instruction set is another: "priors/avx2-of-avx512-one.json".
std::string PriorsFileName(const MachineRecord& machine, uint32_t best);
// Of the vendor and threads nearest to the machine's; none of a text in another format.
// DATA_CORRUPT, beginning with "it", where the text is damaged.
Result<std::vector<PriorBook>> PriorsFromText(const std::string& text,
                                              const MachineRecord& machine);
// `present` with these books in the place of those of this vendor and as many threads, a prior a
// line. DATA_CORRUPT, as above, where `present` is damaged.
Result<std::string> WithPriors(const std::string& present, const MachineRecord& machine,
                               const std::vector<PriorBook>& books);
// What ships; nothing for the fixed machine, nor, with a warning, of a damaged file.
std::vector<PriorBook> ShippedPriors(const MachineRecord& machine);

}  // namespace ge
