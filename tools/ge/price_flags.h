// The flags about prices, of ge's subcommands and of ge-bench. Parses nothing itself.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/ge/command.h"

namespace ge::tool {

inline void AddPriceFlags(CLI::App* app, Options* options) {
  app->add_option(
      "--prices", options->prices,
      "cached (default): what engines ask, corrected by what was measured on this "
      "machine, and runs are remembered; analytic: what they ask, the same everywhere; "
      "measure: time the offers in question before placing, then run whole plans to compare them; "
      "shipped: corrected by what ships for machines like this one alone");
  app->add_option(
      "--measure-budget", options->measure_budget_ms,
      "milliseconds that --prices measure may take for offers, and again for plans (default 2000)");
}

}  // namespace ge::tool
