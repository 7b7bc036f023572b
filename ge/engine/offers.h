// Offers: what one engine answers to query, copied and checked by the host. A bad offer is
// rejected alone, with a diagnostic; the others stand.
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
};

struct Offer {
  uint32_t engine = 0, device = 0;  // index of the engine in the session; of its device
  std::vector<uint32_t> nodes;      // positions in the function, ascending
  bool growable = false, convert = false;
  uint32_t const_align = 0;
  uint64_t cookie = 0;
  double setup_ns = 0, launch_ns = 0, edge_saving_ns = 0;
  std::vector<OfferChoice> choices;  // at least one unless convert
  std::string source;                // "analytic", ...; "host" when the engine stated no price
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

}  // namespace ge
