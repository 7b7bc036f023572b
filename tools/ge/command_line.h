// What CLI11 leaves to be said of a command line that is wrong. Parses nothing, prints nothing.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ge::tool {

// Where a subcommand is wanted and the first word is none: a sentence with the nearest ones, and
// all. Empty where nothing is wrong with it.
std::string WhyNoSubcommand(const CLI::App& app, int argc, const char* const* argv);

// From now on a number below zero is refused, as it was typed, by every option of whole numbers
// that begin at 0, those of subcommands too: C++ would take it modulo 2^64.
void RefuseNegatives(CLI::App* app);

}  // namespace ge::tool
