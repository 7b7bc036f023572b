// Offers: one engine's answers to query, copied and checked by the host. A bad offer is rejected
// alone, with a diagnostic; the others stand.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

struct OfferChoice {
  std::vector<std::pair<ValueId, LayoutId>> layouts;
  double marginal_ns = 0;
  // setup + marginal + launch as the engine asked; CorrectPrices changes the numbers beside it.
  double asked_ns = 0;
  double measured_ns = -1;  // time of this offer alone, from the price cache; -1 = unknown
  double inside_ns = -1;    // its share of a larger segment; -1 = unknown
};

struct Offer {
  uint32_t engine = 0, device = 0;  // index of the engine in the session; of its device
  std::vector<uint32_t> nodes;      // positions in the function, ascending
  bool growable = false, convert = false;
  bool rounds = false;  // GE_OFFER_ROUNDS
  uint32_t const_align = 0;
  uint64_t cookie = 0;
  double setup_ns = 0, launch_ns = 0, edge_saving_ns = 0;
  double shape_ns = 0;               // once for each shape
  std::vector<OfferChoice> choices;  // at least one unless convert
  // "analytic" or "guess" as the engine says, "host" for an engine without a price; "table" and
  // "measured" after a correction by the host, "doubtful" by a time of a busy machine.
  std::string source;
  double confidence = 0;         // 0..1, the engine's own
  bool engine_measured = false;  // it was measured here by the engine, GE_PRICE_MEASURED
  double factor = 1;  // of the correction: price / the engine's price, of the first choice
  double asked_overhead_ns = 0, asked_saving_ns = 0;  // setup + launch, edge saving, as asked
  LayoutId convert_from = 0, convert_to = 0;
  double convert_ns_per_byte = 0;
};

struct Refusal {
  uint32_t engine = 0, node = 0;  // position in the function
  uint32_t why = 0;               // GE_WHY_*
  std::string text;
};
std::string_view WhyName(uint32_t why);  // "dtype"

struct OfferSet {
  std::vector<Offer> offers;
  std::vector<Refusal> refusals;
  std::vector<std::string> rejected;  // diagnostics of illegal offers
};

// Asks one engine about a whole function; adds to `out`. Layouts are interned into *layouts.
// PLUGIN_ERROR when the engine's query itself fails.
Status QueryEngine(const Engine& engine, uint32_t engine_index, const Graph& graph,
                   const Function& function, const ge_graph* view, std::vector<PlanLayout>* layouts,
                   OfferSet* out);
// By this process so far.
uint64_t QueriesMade();

}  // namespace ge
