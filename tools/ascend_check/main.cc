// ascend_check: tries every rule of AscendCL that the engine `ascend` relies on, each by itself.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tools/ascend_check/report.h"

namespace ascend_check {
namespace {

constexpr int kAllPass = 0, kSomeDiffer = 1, kBadArguments = 2, kNoLibrary = 3;

constexpr char kHelp[] =
    R"(ascend_check: tries each rule of AscendCL that the engine `ascend` relies on by itself, in a
process of its own, and writes a report.

The libraries (libascendcl.so, libnnopbase.so, libopapi.so) are looked for in $ASCEND_HOME_PATH/lib64,
then where the linker looks. A real library takes some seconds a check to start.

  --libraries DIR   look there alone
  --only NAME       the checks of that name, or whose names begin with it; may be given again
  --list            names and sentences of the checks; opens nothing
  --seconds N       a check that takes longer is ended, and hung (120)
  --json            one JSON object on stdout, and nothing else
  -o FILE           the report goes to FILE: as JSON where it ends in .json
  --loud            what the libraries print is let through
  --help            this

Examples:
  ascend_check
  ascend_check -o report.json
  ascend_check --libraries build/release/lib/sim/ascend --only event-
  ascend_check --only aclnnMatmul --loud

Ends with 0 where all pass, 1 where some differ, crash or hang, 2 for wrong arguments, 3 where there
is no library. `told` is asked and not judged; `skipped` needs what is not here.
)";

struct Arguments {
  std::string folder, file;
  std::vector<std::string> only;
  double seconds = 120;
  bool list = false, json = false, loud = false, help = false;
};

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double SecondsOf(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > 86400) {
    throw Wrong("--seconds " + text + ": wanted a whole number from 1 to 86400");
  }
  return n;
}

Arguments Parse(int argc, char** argv) {
  Arguments a;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&]() -> std::string {
      if (k + 1 == argc) throw Wrong(word + " wants a value");
      return argv[++k];
    };
    if (word == "--libraries") {
      a.folder = value();
    } else if (word == "--only") {
      a.only.push_back(value());
    } else if (word == "--seconds") {
      a.seconds = SecondsOf(value());
    } else if (word == "-o") {
      a.file = value();
    } else if (word == "--list") {
      a.list = true;
    } else if (word == "--json") {
      a.json = true;
    } else if (word == "--loud") {
      a.loud = true;
    } else if (word == "--help" || word == "-h") {
      a.help = true;
    } else {
      throw Wrong("there is no argument '" + word + "'; --help has them");
    }
  }
  return a;
}

std::vector<Check> Chosen(const Arguments& a) {
  std::vector<Check> all = AllChecks(), chosen;
  for (const std::string& name : a.only) {
    bool some = false, exact = false;
    for (const Check& check : all) exact = exact || check.name == name;
    for (const Check& check : all) {
      if (exact ? check.name != name : check.name.rfind(name, 0) != 0) continue;
      some = true;
      chosen.push_back(check);
    }
    if (!some) throw Wrong("there is no check '" + name + "'; --list has their names");
  }
  return a.only.empty() ? all : chosen;
}

// Lines of text, a fact each: what a process of its own finds of the libraries.
// `calls`: of the library's own functions, too.
std::string Facts(const std::string& folder, bool calls) {
  Vendor vendor;
  if (!vendor.OpenRuntime(folder)) return "missing " + vendor.why() + "\n";
  std::string text = "file " + vendor.FileOf(kRuntime) + "\n";
  text += std::string("simulated ") + (vendor.simulated() ? "1" : "0") + "\n";
  if (vendor.OpenOperators(folder)) {
    for (const char* name : {kObjects, kOperators}) text += "file " + vendor.FileOf(name) + "\n";
  }
  if (!calls) return text;
  uint32_t count = 0;
  const acl::Functions& f = vendor.f();
  if (f.aclInit == nullptr || f.aclrtGetDeviceCount == nullptr) return text;
  if (f.aclInit(nullptr) != acl::kSuccess || f.aclrtGetDeviceCount(&count) != acl::kSuccess) {
    return text;
  }
  text += "devices " + std::to_string(count) + "\n";
  const char* chip = f.aclrtGetSocName == nullptr ? nullptr : f.aclrtGetSocName();
  return chip == nullptr ? text : text + "chip " + chip + "\n";
}

// Throws a runtime_error where there is no library.
Report Begin(const Arguments& a) {
  const auto ask = [&](bool calls) {
    return RunApart(
               [&] {
                 return Finding{Outcome::kTold, Facts(a.folder, calls)};
               },
               a.seconds, a.loud)
        .finding;
  };
  const Finding facts = ask(true);
  Report report;
  const char* home = std::getenv("ASCEND_HOME_PATH");
  report.home = home == nullptr ? "" : home;
  std::string text = facts.text;
  if (facts.outcome != Outcome::kTold) {  // a call has crashed or hung; the files are told without
    report.chip = std::string("not told: ") + NameOf(facts.outcome) + ", " + text;
    const Finding files = ask(false);
    text = files.outcome == Outcome::kTold ? files.text : "";
  }
  constexpr const char* kNames[] = {kRuntime, kObjects, kOperators};
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at), space = text.find(' ', at);
    const std::string key = text.substr(at, space - at),
                      value = text.substr(space + 1, end - space - 1);
    at = end + 1;
    if (key == "missing") throw std::runtime_error(value);
    if (key == "simulated") report.simulated = value == "1";
    if (key == "devices") report.devices = std::atoll(value.c_str());
    if (key == "chip") report.chip = value;
    if (key != "file") continue;
    struct stat about {};
    const bool there = stat(value.c_str(), &about) == 0;
    report.files.push_back(
        {kNames[report.files.size()], value, there ? static_cast<long long>(about.st_size) : -1});
  }
  return report;
}

// By another name first, so that a report is whole or not there.
void Write(const std::string& file, const std::string& text) {
  const std::string part = file + ".part";
  std::FILE* out = std::fopen(part.c_str(), "w");
  bool good = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (out != nullptr) good = std::fclose(out) == 0 && good;
  if (good && std::rename(part.c_str(), file.c_str()) == 0) return;
  const std::string why = std::strerror(errno);
  (void)std::remove(part.c_str());
  throw Wrong("the report can't be written to " + file + ": " + why);
}

int Main(int argc, char** argv) {
  const Arguments a = Parse(argc, argv);
  if (a.help) return std::fputs(kHelp, stdout) < 0 ? kSomeDiffer : kAllPass;
  const std::vector<Check> checks = Chosen(a);
  if (a.list) {
    for (const Check& check : checks)
      std::printf("%-37s%s\n", check.name.c_str(), check.sentence.c_str());
    return kAllPass;
  }
  Report report = Begin(a);
  const bool prints = !a.json && a.file.empty(), counts = !prints && isatty(STDERR_FILENO) != 0;
  if (prints) std::fputs(HeadOf(report).c_str(), stdout);
  std::string lines;
  for (const Check& check : checks) {
    report.tried.push_back({check, RunCheck(check, a.folder, a.seconds, a.loud)});
    const std::string line = LineOf(report.tried.back());
    lines += line;
    if (prints) std::fputs(line.c_str(), stdout);
    if (counts) std::fprintf(stderr, "\r%zu of %zu", report.tried.size(), checks.size());
  }
  if (counts) std::fputs("\r                \r", stderr);
  if (prints) std::fputs(EndOf(report).c_str(), stdout);
  if (a.json) std::fputs(JsonOf(report).c_str(), stdout);
  const bool ends_json = a.file.size() > 5 && a.file.compare(a.file.size() - 5, 5, ".json") == 0;
  if (!a.file.empty()) {
    Write(a.file, ends_json ? JsonOf(report) : HeadOf(report) + lines + EndOf(report));
    if (!a.json) std::printf("%s\n", (a.file + ": " + EndOf(report).substr(1)).c_str());
  }
  return report.wrong() == 0 ? kAllPass : kSomeDiffer;
}

}  // namespace
}  // namespace ascend_check

int main(int argc, char** argv) {
  using namespace ascend_check;  // NOLINT: this file is that program
  try {
    return Main(argc, argv);
  } catch (const Wrong& x) {
    std::fprintf(stderr, "ascend_check: %s\n", x.what());
    return kBadArguments;
  } catch (const std::exception& x) {
    std::fprintf(stderr, "ascend_check: %s\n", x.what());
    return kNoLibrary;
  }
}
