// Messages for wrong command lines, where CLI11 has none. Parses nothing, prints nothing.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ge::tool {

// If the first word is no subcommand: a sentence with the nearest ones, and all of them. Empty if
// nothing is wrong.
std::string WhyNoSubcommand(const CLI::App& app, int argc, const char* const* argv);

// Makes every option of whole numbers from 0 on, those of subcommands too, refuse a negative number
// as typed: C++ would take it modulo 2^64.
void RefuseNegatives(CLI::App* app);

}  // namespace ge::tool
