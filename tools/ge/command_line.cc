#include "tools/ge/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "ge/base/text/edit_distance.h"

namespace ge::tool {
namespace {

std::vector<const CLI::App*> Subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* a) { return !a->get_name().empty(); });
}

// "'run' or 'train'"; empty where no name is near.
std::string Nearest(const std::vector<std::string>& all, std::string_view word) {
  const size_t most = std::min(word.size() - 1, std::max<size_t>(2, word.size() / 3));
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : all) {
    const bool begun = word.size() > 1 && name.compare(0, word.size(), word) == 0;
    const size_t distance = begun ? 0 : EditDistance(word, name);
    if (distance <= most) near.emplace_back(distance, "'" + name + "'");
  }
  std::sort(near.begin(), near.end());
  std::string out;
  for (const auto& [distance, name] : near) {
    if (distance == near[0].first) out += (out.empty() ? "" : " or ") + name;
  }
  return out;
}

// "did you mean 'run'? ", or nothing.
std::string DidYouMean(const std::vector<std::string>& all, std::string_view word) {
  const std::string nearest = Nearest(all, word);
  return nearest.empty() ? "" : "did you mean " + nearest + "? ";
}

std::string RefuseBelowZero(const std::string& text) {
  const size_t at = text.find_first_not_of(" \t");
  if (at == std::string::npos || text[at] != '-') return "";
  return fmt::format("{} is below 0, wanted a whole number from 0", text);
}

}  // namespace

CLI::App* SubcommandList::Add(const std::string& name, const std::string& sentence) {
  CLI::App* sub = app_->add_subcommand(name, sentence);
  return name == asked_ ? sub : nullptr;
}

std::string WhyNoSubcommand(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  std::string called = app.get_name().empty() ? "ge" : app.get_name();
  for (int i = 1; i < argc && at->get_require_subcommand_min() > 0; ++i) {
    const std::string_view word = argv[i];
    if (word.empty() || word[0] == '-') return "";  // --help, --version
    const std::vector<const CLI::App*> all = Subcommands(*at);
    const auto it = std::find_if(all.begin(), all.end(),
                                 [&](const CLI::App* a) { return a->get_name() == word; });
    if (it == all.end()) {
      std::vector<std::string> names;
      for (const CLI::App* a : all) names.push_back(a->get_name());
      return fmt::format("'{}' is no subcommand of {}; {}they are: {}; {} --help says more", word,
                         called, DidYouMean(names, word), fmt::join(names, ", "), called);
    }
    at = *it;
    called += " " + at->get_name();
  }
  return "";
}

std::string WhyNoOption(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  std::string called = "ge";                // the app has the name that it was called by
  while (!at->get_subcommands().empty()) {  // those that were asked for
    at = at->get_subcommands()[0];
    called += " " + at->get_name();
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : at->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    word = word.substr(0, word.find('='));
    if (word == "--") break;
    if (!word.starts_with("--") || std::find(names.begin(), names.end(), word) != names.end()) {
      continue;
    }
    return fmt::format("'{}' is no option of {}; {}{} --help lists them", word, called,
                       DidYouMean(names, word), called);
  }
  return "";
}

void RefuseNegatives(CLI::App* app) {
  for (CLI::Option* option : app->get_options()) {
    if (option->get_type_name().find("UINT") != std::string::npos) {
      option->check(CLI::Validator(RefuseBelowZero, "", "not below 0"));
    }
  }
  for (CLI::App* sub : app->get_subcommands([](CLI::App*) { return true; })) RefuseNegatives(sub);
}

}  // namespace ge::tool
