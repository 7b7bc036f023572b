#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "frontend/text/text.h"
#include "ge/ops/defaults.h"
#include "tools/ge_test/text/case.h"
#include "tools/ge_test/text/commands.h"

namespace ge::test {
namespace {

constexpr std::string_view kCaseStage = "ge-test";

std::string Indent(std::string_view text) {
  std::string out;
  for (const std::string& line : SplitLines(text)) out += "    " + line + "\n";
  return out;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

class CaseRunner {
 public:
  CaseRunner(const CaseFile& file, const Case& c, bool update)
      : file_(file), c_(c), update_(update) {
    state_.file = file.path;
  }

  Outcome Run() {
    bool checks = false;
    for (const Section& s : c_.sections) {
      if (s.kind == "skip") {
        outcome_.kind = Outcome::Kind::kSkipped;
        outcome_.why = s.argument.empty() ? "no reason given" : s.argument;
        return outcome_;
      }
      checks |= s.kind == "run" || s.kind == "refuse" || s.kind.rfind("expect", 0) == 0;
    }
    for (const Section& s : c_.sections) {
      if (!Step(s)) return outcome_;
    }
    if (!checks && status_.ok()) status_ = RunRoundTrip(&state_, {});
    if (IsCaseError(status_)) {
      Fail(c_.sections.back(), status_.message(), "");
    } else if (!status_.ok()) {
      Fail(c_.sections.back(), "this step failed", status_.ToString());
    }
    return outcome_;
  }

 private:
  bool Fail(const Section& s, const std::string& what, const std::string& detail) {
    outcome_.kind = Outcome::Kind::kFailed;
    outcome_.why += fmt::format("  {}:{}: {}\n{}", file_.path, s.line + 1, what, Indent(detail));
    return false;
  }

  // False ends the case.
  bool Step(const Section& s) {
    if (s.kind == "refuse") return Refuse(s);
    if (!status_.ok()) return Fail(*failed_, "this step failed", status_.ToString());
    failed_ = &s;
    if (s.kind == "graph") {
      ParseGraph(s);
    } else if (s.kind == "input") {
      state_.inputs[s.argument] = Body(file_, s);
    } else if (s.kind == "run") {
      return Command(s);
    } else if (s.kind == "expect") {
      return Expect(s);
    } else if (s.kind == "expect-value") {
      const Status same = ExpectValue(state_, s.argument, Body(file_, s));
      return same.ok() || Fail(s, "another value than expected", same.message());
    } else {
      return ExpectLines(s, s.kind == "expect-has");
    }
    return true;
  }

  void ParseGraph(const Section& s) {
    // Empty lines in front, so that messages name the line of the file.
    state_.graph_text = std::string(s.begin, '\n') + Body(file_, s);
    auto graph = ParseText(state_.graph_text, file_.path);
    state_.graph.reset();
    state_.output.reset();
    status_ = graph.status();
    if (!graph.ok()) return;
    state_.graph = *std::move(graph);
    FillDefaults(&*state_.graph);
  }

  bool Command(const Section& s) {
    std::vector<std::string> args = Words(s.argument);
    if (args.empty()) return Fail(s, "found no command after 'run'", "");
    const std::string name = args[0];
    args.erase(args.begin());
    if (!state_.graph) return Fail(s, "found 'run' without a graph section above", "");
    for (const CommandInfo& command : AllCommands()) {
      if (command.name != name) continue;
      state_.output.reset();
      status_ = command.run(&state_, args);
      return IsCaseError(status_) ? Fail(s, status_.message(), "") : true;
    }
    std::string known;
    for (const CommandInfo& command : AllCommands()) known += std::string(" ") + command.name;
    return Fail(s, fmt::format("found the command '{}', wanted one of:{}", name, known), "");
  }

  bool Refuse(const Section& s) {
    const Status found = std::exchange(status_, Status());
    if (found.ok()) return Fail(s, "wanted a refusal, but the step before passed", "");
    bool good = CodeName(found.code()) == s.argument;
    for (const std::string& line : SplitLines(Body(file_, s))) {
      good = good && found.ToString().find(line) != std::string::npos;
    }
    if (good) return true;
    return Fail(
        s, "another refusal than wanted",
        fmt::format("wanted {}:\n{}found:\n{}\n", s.argument, Body(file_, s), found.ToString()));
  }

  bool Expect(const Section& s) {
    const std::string wanted = Body(file_, s), found = CurrentText(state_);
    if (wanted == found) return true;
    if (update_) {
      outcome_.replacements.push_back({s.begin, s.end, found});
      outcome_.why +=
          fmt::format("  {}:{}: updated\n{}", file_.path, s.line + 1, LineDiff(wanted, found));
      return true;
    }
    Fail(s, "another text than expected (- expected, + found)", "");
    outcome_.why += LineDiff(wanted, found);
    return false;
  }

  bool ExpectLines(const Section& s, bool has) {
    const std::string found = CurrentText(state_);
    for (const std::string& line : SplitLines(Body(file_, s))) {
      if (line.empty() || (found.find(line) != std::string::npos) == has) continue;
      return Fail(s, has ? "the text lacks a line" : "the text has a line that it must not have",
                  fmt::format("{}\nthe text is:\n{}", line, found));
    }
    return true;
  }

  const CaseFile& file_;
  const Case& c_;
  const bool update_;
  CaseState state_;
  Status status_;
  const Section* failed_ = nullptr;  // the step that status_ is of
  Outcome outcome_;
};

}  // namespace

Status CaseError(const std::string& what) {
  return Status(Code::kInvalidArgument, what).AtStage(kCaseStage);
}
bool IsCaseError(const Status& status) { return status.stage() == kCaseStage; }

std::string CurrentText(const CaseState& state) {
  if (state.output) return *state.output;
  return state.graph ? PrintText(*state.graph) : std::string();
}

const std::vector<CommandInfo>& AllCommands() {
  static const std::vector<CommandInfo> commands = {
#define GE_TEST_COMMAND(name, function, summary) {name, function, summary},
#include "tools/ge_test/text/commands.def"
#undef GE_TEST_COMMAND
  };
  return commands;
}

Outcome RunCase(const CaseFile& file, const Case& sample, bool update) {
  return CaseRunner(file, sample, update).Run();
}

}  // namespace ge::test
