// SubcommandList, and messages for wrong command lines where CLI11 has none. Parses nothing, prints
// nothing.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ge::tool {

// The subcommands of a program. Each has its name and a sentence; options are given to the one that
// was asked for alone, since those of all would take 0.5 ms of every start.
class SubcommandList {
 public:
  SubcommandList(CLI::App* app, int argc, const char* const* argv)
      : app_(app), asked_(argc > 1 ? argv[1] : "") {}
  // Null where another one was asked for.
  CLI::App* Add(const std::string& name, const std::string& sentence);

 private:
  CLI::App* const app_;
  const std::string asked_;
};

// If the first word is no subcommand: a sentence with the nearest ones, and all of them. Empty if
// nothing is wrong.
std::string WhyNoSubcommand(const CLI::App& app, int argc, const char* const* argv);

// If an option is none of the subcommand that was asked for: a sentence with the nearest ones.
// Empty if nothing is wrong. Behind a parse.
std::string WhyNoOption(const CLI::App& app, int argc, const char* const* argv);

// Makes every option of whole numbers from 0 on, those of subcommands too, refuse a negative number
// as typed: C++ would take it modulo 2^64.
void RefuseNegatives(CLI::App* app);

}  // namespace ge::tool
