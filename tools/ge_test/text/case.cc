#include "tools/ge_test/text/case.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "ge/base/replace_file.h"

namespace ge::test {
namespace {

constexpr std::string_view kKinds[] = {"graph",      "input",      "run",          "expect",
                                       "expect-has", "expect-not", "expect-value", "refuse",
                                       "skip",       "case"};

bool IsKind(std::string_view kind) {
  for (const std::string_view k : kKinds) {
    if (k == kind) return true;
  }
  return false;
}

// "--- KIND ARGUMENT"
Status ParseMarker(const CaseFile& file, size_t line, Section* s) {
  const std::string rest = file.lines[line].substr(4);
  const size_t space = rest.find(' ');
  s->kind = rest.substr(0, space);
  if (space != std::string::npos) s->argument = rest.substr(space + 1);
  while (!s->argument.empty() && s->argument.back() == ' ') s->argument.pop_back();
  s->line = line;
  s->begin = line + 1;
  if (IsKind(s->kind)) return Status();
  return Status(Code::kInvalidArgument,
                fmt::format("{}:{}: found the section '{}', wanted one of {}", file.path, line + 1,
                            s->kind, fmt::join(kKinds, ", ")));
}

}  // namespace

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<CaseFile> ReadCaseFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return Status(Code::kIoError, fmt::format("{}: the case file cannot be read", path));
  CaseFile file;
  file.path = path;
  file.lines = SplitLines(text.str());
  Case* c = &file.cases.emplace_back();
  for (size_t i = 0; i < file.lines.size(); ++i) {
    if (file.lines[i].rfind("--- ", 0) != 0) continue;
    Section s;
    GE_RETURN_IF_ERROR(ParseMarker(file, i, &s));
    if (!c->sections.empty()) c->sections.back().end = i;
    if (s.kind == "case") {
      if (!c->sections.empty()) c = &file.cases.emplace_back();
      c->name = s.argument;
      continue;
    }
    c->sections.push_back(std::move(s));
  }
  if (!c->sections.empty()) c->sections.back().end = file.lines.size();
  if (file.cases.size() == 1 && c->sections.empty()) {
    c->sections.push_back(Section{"graph", "", 0, 0, file.lines.size()});
  }
  return file;
}

std::string Body(const CaseFile& file, const Section& section) {
  size_t end = section.end;
  while (end > section.begin && file.lines[end - 1].empty()) --end;
  std::string out;
  for (size_t i = section.begin; i < end; ++i) out += file.lines[i] + "\n";
  return out;
}

Status WriteUpdated(const CaseFile& file, const std::vector<Replacement>& replacements) {
  std::string text;
  size_t line = 0;
  auto copy_to = [&](size_t end) {
    for (; line < end; ++line) text += file.lines[line] + "\n";
  };
  for (const Replacement& r : replacements) {
    copy_to(r.begin);
    text += r.text;
    line = r.end;
    while (line > r.begin && file.lines[line - 1].empty()) --line;  // keep blank lines after it
  }
  copy_to(file.lines.size());
  return ReplaceFile(file.path, text, false);
}

}  // namespace ge::test
