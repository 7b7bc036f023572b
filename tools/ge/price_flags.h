// The flags about prices, of ge's subcommands and of ge-bench. Parses nothing itself.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/ge/command.h"

namespace ge::tool {

inline void AddPriceFlags(CLI::App* app, Options* options) {
  app->add_option("--prices", options->prices,
                  "cached (default): engines' prices, corrected by measurements of this "
                  "machine; runs are remembered; analytic: engines' own prices, the same "
                  "everywhere; measure: time the offers in question before placing, then run "
                  "whole plans to compare them; shipped: corrected by shipped prices of "
                  "similar machines alone");
  app->add_option("--measure-budget", options->measure_budget_ms,
                  "milliseconds of --prices measure for offers, and again for plans (default "
                  "2000)");
}

}  // namespace ge::tool
