// Text cases: .gt files with a graph, commands to run on it and the expected output. This header is
// the file format; commands.h describes `run`. Used by one thread.
//
//   # What this case shows.
//   --- graph                 the graph under test, as ParseText reads it
//   --- input x               a tensor for a command: "f32[2] = [1, 2]"
//   --- run infer             a command of commands.def and its arguments; as many as wanted
//   --- expect                exact text: the graph as it stands now, or what the command printed
//   --- expect-has            lines that the text must contain
//   --- expect-not            lines that it must not contain
//   --- expect-value NAME     an output of `run run`, as a tensor: floats to 1e-5, all else exactly
//   --- refuse INVALID_GRAPH  the step before must fail so; the lines below are in its message
//   --- skip WHY              the case is counted as skipped, with its reason
//   --- case NAME             a further case in the same file
//
// A file without sections, or with a graph alone, is a round trip: text -> Graph -> text and
// text -> Graph -> proto -> Graph -> text must give equal graphs and equal text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"

namespace ge::test {

struct Section {
  std::string kind;           // "graph", "run", ...
  std::string argument;       // the rest of its line
  size_t line = 0;            // of the "---" line, counted from 0
  size_t begin = 0, end = 0;  // its body: lines [begin, end) of the file
};

struct Case {
  std::string name;  // empty for the first of a file
  std::vector<Section> sections;
};

struct CaseFile {
  std::string path;
  std::vector<std::string> lines;
  std::vector<Case> cases;
};

Result<CaseFile> ReadCaseFile(const std::string& path);
// A section's body without blank lines at its end; lines end with '\n'.
std::string Body(const CaseFile& file, const Section& section);

struct Replacement {  // of the body of an `expect` section
  size_t begin = 0, end = 0;
  std::string text;
};

struct Outcome {
  enum class Kind { kPassed, kFailed, kSkipped } kind = Kind::kPassed;
  std::string why;  // the failure with its differences, or the reason for skipping
  std::vector<Replacement> replacements;  // what --update would write
};

Outcome RunCase(const CaseFile& file, const Case& sample, bool update);

// Writes the file anew with the bodies replaced, by a temporary file and a rename.
Status WriteUpdated(const CaseFile& file, const std::vector<Replacement>& replacements);

// "-" lines are only in `wanted`, "+" lines only in `found`; it leaves out equal lines far from
// both.
std::string LineDiff(std::string_view wanted, std::string_view found);
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace ge::test
