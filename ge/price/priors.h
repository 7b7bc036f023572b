// Priors: the error of engines' prices on processors like this one, measured before (`ge tune
// --export`) and shipped, so a machine without measurements does not begin with guesses.
// share/graphengine/priors/ISA-one.json holds one thread, ISA-several.json more: reading them is
// part of each session's start. A newer processor under a cap has a file of its own,
// ISA-of-BEST-one.json, since its cores and caches differ from those of a processor with no more
// than ISA. It measures nothing. Stateless.
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

// Rows of one device of an engine, both by name ("native", "cpu").
struct PriorBook {
  std::string engine, device;
  std::vector<PriorRow> rows;
};

// "priors/avx512-one.json" for the machine's instruction set and threads; measured on processors
// with another `best` instruction set: "priors/avx2-of-avx512-one.json".
std::string PriorsFileName(const MachineRecord& machine, uint32_t best);
// Of the vendor and threads nearest to the machine's; empty for a text in another format.
// DATA_CORRUPT, beginning with "it", where the text is damaged.
Result<std::vector<PriorBook>> PriorsFromText(const std::string& text,
                                              const MachineRecord& machine);
// `present` with these books replacing those of this vendor and as many threads, a prior a line.
// DATA_CORRUPT, as above, where `present` is damaged.
Result<std::string> WithPriors(const std::string& present, const MachineRecord& machine,
                               const std::vector<PriorBook>& books);
// The shipped priors; empty for the fixed machine, and, with a warning, for a damaged file.
std::vector<PriorBook> ShippedPriors(const MachineRecord& machine);

}  // namespace ge
