// Programs as files: a .gt text, and in comments ahead of it how it is trained.
#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "tools/shardcheck/program.h"

namespace ge::shardcheck {
namespace {

std::vector<std::string> Apart(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) parts.emplace_back();
    if (c != by) parts.back() += c;
  }
  return parts;
}

bool ReadCount(const std::string& text, int64_t* n) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *n);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && *n >= 0;
}

bool ReadDims(const std::string& text, Dims* dims) {
  for (const std::string& one : Apart(text, ',')) {
    if (!ReadCount(one, &dims->emplace_back())) return false;
  }
  return true;
}

bool ReadMesh(const std::string& text, RankProgram* p) {
  for (const std::string& axis : Apart(text, ',')) {
    const size_t equals = axis.find('=');
    if (equals == std::string::npos) return false;
    p->axes.push_back(axis.substr(0, equals));
    if (!ReadCount(axis.substr(equals + 1), &p->sizes.emplace_back())) return false;
  }
  return p->ranks() > 0;
}

// "w1=data,-", maybe with " refused" behind it.
bool ReadPin(const std::vector<std::string>& words, RankProgram* p) {
  const size_t equals = words[1].rfind('=');
  if (equals == std::string::npos || words.size() > 3) return false;
  const bool refused = words.size() == 3;
  if (refused && words[2] != "refused") return false;
  p->pins.push_back({words[1].substr(0, equals), words[1].substr(equals + 1), !refused});
  return true;
}

// "x f64 4,3", "ids i64 4,2 below 9".
bool ReadInput(const std::vector<std::string>& words, RankProgram* p) {
  NetInput in;
  if (words.size() != 4 && words.size() != 6) return false;
  in.name = words[1];
  if (!ReadDims(words[3], &in.dims)) return false;
  const bool whole = words.size() == 6;
  if (whole && (words[4] != "below" || !ReadCount(words[5], &in.below) || in.below < 1)) {
    return false;
  }
  p->inputs.push_back(std::move(in));
  return words[2] == (whole ? "i64" : "f64");
}

bool ReadLine(const std::string& line, RankProgram* p) {
  const std::vector<std::string> words = Apart(line, ' ');
  if (words.size() < 2) return true;  // of people
  int64_t n = 0;
  if (words[0] == "mesh") return ReadMesh(words[1], p);
  if (words[0] == "batch") return ReadCount(words[1], &p->batch) && p->batch > 0;
  if (words[0] == "train") p->said_train = "train:" + words[1];
  if (words[0] == "states") p->states = words[1];
  if (words[0] == "plugin") p->plugin = words[1];
  if (words[0] == "pin") return ReadPin(words, p);
  if (words[0] == "input") return ReadInput(words, p);
  if (words[0] != "steps" && words[0] != "seed") return true;
  if (!ReadCount(words[1], &n)) return false;
  if (words[0] == "steps") p->steps = static_cast<int>(n);
  if (words[0] == "seed") p->seed = static_cast<uint64_t>(n);
  return true;
}

}  // namespace

std::string FileTextOf(const RankProgram& p) {
  std::string mesh = p.Mesh();
  for (char& c : mesh) c = c == '+' ? ',' : c;
  std::string text = fmt::format("# mesh {}\n# batch {}\n# steps {}\n# train {}\n", mesh, p.batch,
                                 p.steps, p.Train().substr(p.Train().find(':') + 1));
  if (!p.states.empty()) text += "# states " + p.states + "\n";
  for (const ProgramPin& pin : p.pins) {
    text += fmt::format("# pin {}={}{}\n", pin.name, pin.dims, pin.legal ? "" : " refused");
  }
  const std::string net = p.Text();
  for (const NetInput& in : p.Given()) {
    if (in.name != "label" && net.find(in.name + ":") == std::string::npos) continue;
    text += fmt::format("# input {} {} {}", in.name, in.below > 0 ? "i64" : "f64",
                        fmt::join(in.dims, ","));
    text += in.below > 0 ? fmt::format(" below {}\n", in.below) : "\n";
  }
  return text + fmt::format("# seed {}\n", p.seed) + net;
}

std::string ReadProgram(const std::string& text, RankProgram* p) {
  std::istringstream lines(text);
  int at = 0;
  for (std::string line; std::getline(lines, line);) {
    ++at;
    if (line.rfind("# ", 0) != 0) continue;
    if (!ReadLine(line.substr(2), p)) {
      return fmt::format("line {} is '{}', which tools/shardcheck/program.h does not describe", at,
                         line);
    }
  }
  p->said_text = text;
  if (p->sizes.empty() || p->batch == 0 || p->said_train.empty() || p->inputs.empty()) {
    return "it has no comments '# mesh', '# batch', '# train' and '# input' ahead of the graph";
  }
  return {};
}

}  // namespace ge::shardcheck
