// ge-conform: runs the contract of ge_plugin.h against one plugin. This file parses the command
// line, chooses the cases and prints; run_cases.h starts a process for each.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "board.h"
#include "expectations.h"
#include "report.h"
#include "run_cases.h"
#include "subject.h"

namespace ge::conform {
namespace {

namespace fs = std::filesystem;

constexpr int kGood = 0, kBad = 1, kBadArguments = 2, kCannotRun = 3;

struct Flags {
  Setup setup;
  std::vector<std::string> levels, names;
  std::string xfail, html, one_case;
  bool json = false, list = false;
};

int Refuse(int code, const std::string& why) {
  fmt::print(stderr, "ge-conform: {}\n", why);
  return code;
}

// What the installation has beside this program, unless the command line names another.
void FillDefaults(Setup* setup) {
  const fs::path lib = fs::path(OwnProgram()).parent_path() / ".." / "lib";
  std::error_code ec;
  if (setup->ref.empty()) setup->ref = (lib / "graphengine" / "ref.so").lexically_normal();
  for (const char* name : {"libgraphengine.so.0", "libgraphengine.so"}) {
    if (setup->library.empty() && fs::exists(lib / name, ec)) {
      setup->library = (lib / name).lexically_normal();
    }
  }
}

// The cases that --level and --case name; *why where one is unknown.
std::vector<Case> Chosen(const Flags& f, const std::vector<Case>& all, std::string* why) {
  std::vector<bool> levels(kLevels, f.levels.empty());
  for (const std::string& word : f.levels) {
    const bool good = word.size() == 2 && (word[0] == 'L' || word[0] == 'l') && word[1] >= '0' &&
                      word[1] < '0' + kLevels;
    if (!good) return *why = fmt::format("--level is '{}', wanted L0 to L8", word), all;
    levels[static_cast<size_t>(word[1] - '0')] = true;
  }
  std::vector<bool> used(f.names.size());
  std::vector<Case> out;
  for (const Case& c : all) {
    bool wanted = f.names.empty();
    for (size_t i = 0; i < f.names.size(); ++i) {
      if (!Matches(f.names[i], c.name) && !Matches(f.names[i], c.id())) continue;
      wanted = used[i] = true;
    }
    if (wanted && levels[static_cast<size_t>(c.level)]) out.push_back(c);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) *why = fmt::format("there is no case '{}'; --list names them", f.names[i]);
  }
  return out;
}

int PrintList(const std::vector<Case>& cases, bool json) {
  if (!json) {
    for (const Case& c : cases) fmt::print("{}\n", c.id());
    fmt::print("{} cases\n", cases.size());
    return kGood;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Case& c : cases) {
    list.push_back({{"level", fmt::format("L{}", c.level)}, {"case", c.name}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"cases", list}}.dump());
  return kGood;
}

// The process of one case.
int RunOne(const Flags& f, const std::vector<Case>& all) {
  Board* board = MapBoard(kBoardFd);
  if (board == nullptr) return Refuse(kCannotRun, "no board; this flag is for the kit itself");
  for (const Case& c : all) {
    if (c.id() != f.one_case) continue;
    Subject subject(f.setup);
    RunOnBoard(c, subject, board);
    return kGood;
  }
  return Refuse(kBadArguments, fmt::format("there is no case '{}'", f.one_case));
}

bool IsLoad(const Case& c) { return c.level == 0 && c.name == "load"; }

// Case L0/load first; where it fails the plugin is not asked for more.
std::string RunAll(const Flags& f, const std::vector<Case>& chosen, const Expectations& expected,
                   const std::function<void(const Result&)>& print, Report* report) {
  std::string error, unloadable;
  std::vector<Case> load, rest;
  for (const Case& c : AllCases()) {
    if (IsLoad(c)) load.push_back(c);
  }
  const auto quiet = [](const Result&) {};
  const std::vector<Result> first = RunCases(f.setup, load, quiet, &error);
  if (!error.empty()) return error;
  const Outcome& loaded = first[0].outcome;
  if (IsBad(loaded.verdict)) unloadable = loaded.reason;
  // A plugin that loads says its name first.
  if (loaded.verdict == Verdict::kPass) {
    report->engine = loaded.reason.substr(0, loaded.reason.find(' '));
  }
  const auto judge = [&](Result r) {
    r.outcome = expected.Judged(r.what, std::move(r.outcome));
    print(r);
    report->results.push_back(std::move(r));
  };
  for (const Case& c : chosen) {
    const Expectation* out = expected.Excluded(c);
    if (out != nullptr) {
      judge({c, {Verdict::kExcluded, out->reason}, 0});
    } else if (IsLoad(c)) {
      judge(first[0]);
    } else if (!unloadable.empty() && c.level > 0) {
      judge({c, {Verdict::kNotRun, "the plugin cannot be loaded: " + unloadable}, 0});
    } else {
      rest.push_back(c);
    }
  }
  RunCases(f.setup, rest, judge, &error);
  return error;
}

int Judge(const Flags& f, const std::vector<Case>& all, const std::vector<Case>& chosen) {
  std::error_code ec;
  if (!fs::is_regular_file(f.setup.plugin, ec)) {
    return Refuse(kBadArguments, fmt::format("plugin '{}' is no file", f.setup.plugin));
  }
  if (!fs::is_regular_file(f.setup.ref, ec)) {
    return Refuse(kCannotRun, fmt::format("the reference engine '{}' is not there; name it with "
                                          "--ref",
                                          f.setup.ref));
  }
  Expectations expected;
  const std::string wrong = f.xfail.empty() ? "" : expected.Read(f.xfail);
  if (!wrong.empty()) return Refuse(kBadArguments, "--xfail: " + wrong);
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const auto print = [&](const Result& r) {
    if (f.json) return;
    fmt::print("{}\n", Line(r, terminal));
    std::fflush(stdout);
  };
  Report report;
  report.setup = f.setup;
  const std::string error = RunAll(f, chosen, expected, print, &report);
  if (!error.empty()) return Refuse(kCannotRun, error);
  std::stable_sort(report.results.begin(), report.results.end(),
                   [](const Result& a, const Result& b) { return a.what.level < b.what.level; });
  const std::string badge = Badge(report, all);
  fmt::print("{}\n", f.json ? JsonOf(report, badge) : LastLine(report, badge));
  if (!f.html.empty()) {
    const std::string failed = WriteHtml(report, badge, f.html);
    if (!failed.empty()) return Refuse(kCannotRun, "--html: " + failed);
  }
  for (const Result& r : report.results) {
    if (IsBad(r.outcome.verdict)) return kBad;
  }
  return kGood;
}

void AddFlags(CLI::App* app, Flags* f) {
  app->add_option("PLUGIN", f->setup.plugin, "the plugin's shared object")->type_name("PLUGIN.so");
  app->add_option("--options", f->setup.options, "given to the engine: 'key=value;key=value'");
  app->add_option("--level", f->levels, "only these levels: L0,L3")->delimiter(',');
  app->add_option("--case", f->names, "only these cases: red-zones, L4/red-zones, L3/add-*")
      ->delimiter(',');
  app->add_flag("--list", f->list, "print the cases and end");
  app->add_flag("--json", f->json, "one JSON object on stdout, nothing else");
  app->add_option("--html", f->html, "also write a page with the results")->type_name("F.html");
  // C++ would take a number below zero modulo 2^64.
  const auto from_zero = [](const std::string& text) {
    return text.find('-') == text.npos ? "" : text + " is below 0, wanted a whole number from 0";
  };
  app->add_option("--seed", f->setup.seed, "of random numbers and graphs (default 1)")
      ->check(CLI::Validator(from_zero, ""));
  app->add_option("--timeout", f->setup.timeout_s, "seconds that a case may take (default 30)")
      ->check(CLI::Range(0.1, 3600.0));
  app->add_option("--xfail", f->xfail,
                  "lines 'xfail LEVEL/CASE REASON' and 'exclude LEVEL/CASE REASON': failures that "
                  "are known, which is verified, and cases that are left out");
  app->add_option("--ref", f->setup.ref,
                  "the reference engine (default: lib/graphengine/ref.so of this installation)");
  app->add_option("--library", f->setup.library,
                  "libgraphengine, for whole models (default: that of this installation)");
  app->add_option("--jobs", f->setup.jobs, "cases at once (default: the cores)")
      ->check(CLI::Range(1, 256));
  app->add_option(kCaseFlag, f->one_case)->group("");
  app->footer(
      "\nVerdicts: PASS, FAIL, UNSUPPORTED (the plugin declines it), CRASH, HANG, EXCLUDED, XFAIL "
      "(fails as expected), NOT_RUN.\nLevels: L0 load, L1 older and newer hosts, L2 honest offers, "
      "L3 numerics, L4 order and memory, L5 honest\nprices, L6 overhead, L7 faults and stop, L8 "
      "random graphs.\nExit codes: 0 no FAIL, CRASH or HANG; 1 some; 2 bad arguments; 3 the kit "
      "itself cannot run.\n\nExamples:\n  ge-conform ./my_engine.so\n  ge-conform ./my_engine.so "
      "--level L0,L1,L2 --timeout 5\n  ge-conform ./sim.so --options 'wrap=./inner.so' --html "
      "report.html\n  ge-conform ./my_engine.so --case 'L3/matmul-*' --json\n");
}

int Main(int argc, char** argv) {
  CLI::App app(
      "ge-conform: runs the contract of engine plugins against one, each case in a process "
      "of its own");
  Flags f;
  f.setup.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  AddFlags(&app, &f);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kGood : kBadArguments;
  }
  FillDefaults(&f.setup);
  const std::vector<Case> all = AllCases();
  std::string why;
  const std::vector<Case> chosen = Chosen(f, all, &why);
  if (!why.empty()) return Refuse(kBadArguments, why);
  if (f.list) return PrintList(chosen, f.json);
  if (f.setup.plugin.empty()) return Refuse(kBadArguments, "PLUGIN.so is missing; see --help");
  std::error_code ec;
  const fs::path full = fs::canonical(f.setup.plugin, ec);
  if (!ec) f.setup.plugin = full.string();
  return f.one_case.empty() ? Judge(f, all, chosen) : RunOne(f, all);
}

}  // namespace
}  // namespace ge::conform

int main(int argc, char** argv) {
  try {
    return ge::conform::Main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ge-conform: %s\n", e.what());
    return 3;
  }
}
