#include "tools/shardcheck/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge::shardcheck {
namespace {

std::string Joined(const std::vector<std::string>& parts, const char* by) {
  return fmt::format("{}", fmt::join(parts, by));
}

// The nodes of term i's scalar, named t<i>.
std::string TermText(const NetTerm& term, size_t i) {
  const std::string& v = term.value.name;
  switch (term.form) {
    case 0:
      return fmt::format("  t{} = ReduceMean({}) {{keepdims=0}}\n", i, v);
    case 1:
      return fmt::format("  t{0}a = Sin({1})\n  t{0} = ReduceSum(t{0}a) {{keepdims=0}}\n", i, v);
    case 2:
      return fmt::format(
          "  t{0}a = ReduceSumSquare({1}) {{keepdims=0}}\n  t{0} = Mul(t{0}a, tenth)\n", i, v);
    default:
      return fmt::format("  t{} = ReduceLogSumExp({}) {{keepdims=0}}\n", i, v);
  }
}

}  // namespace

int64_t CountOf(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

std::set<std::string> RankProgram::Live() const {
  std::set<std::string> live;
  for (const NetTerm& t : terms) live.insert(t.value.name);
  for (size_t i = nodes.size(); i-- > 0;) {
    const bool read = std::any_of(nodes[i].out.begin(), nodes[i].out.end(),
                                  [&](const NetValue& v) { return live.count(v.name) != 0; });
    if (read) live.insert(nodes[i].in.begin(), nodes[i].in.end());
  }
  return live;
}

std::string RankProgram::Text() const {
  if (!said_text.empty()) return said_text;
  const std::set<std::string> live = Live();
  std::string text = "ge 1\nopset \"\" 28\nopset \"ge\" 1\n";
  for (const NetConstant& c : constants) {
    if (live.count(c.name) == 0) continue;
    text += fmt::format("const {} : {}[{}] = {}\n", c.name, c.dtype, fmt::join(c.dims, ","),
                        c.elements);
  }
  const bool scaled =
      std::any_of(terms.begin(), terms.end(), [](const NetTerm& t) { return t.form == 2; });
  if (loss == "none" && scaled) text += "const tenth : f64[] = 0.1\n";
  if (symbolic) text += "symbol N\n";
  std::vector<std::string> params;
  for (const NetInput& in : inputs) {
    if (live.count(in.name) == 0 && &in != inputs.data()) continue;
    Dims rest(in.dims.begin() + 1, in.dims.end());
    std::string dims = symbolic ? "N" : std::to_string(in.dims[0]);
    for (const int64_t d : rest) dims += "," + std::to_string(d);
    params.push_back(fmt::format("{}: {}[{}]", in.name, in.below > 0 ? "i64" : "f64", dims));
  }
  const std::string result = loss == "none" ? "loss" : terms[0].value.name;
  text += fmt::format("fn main({}) -> ({}) {{\n", Joined(params, ", "), result);
  for (const NetNode& n : nodes) {
    std::vector<std::string> out;
    bool read = false;
    for (const NetValue& v : n.out) {
      out.push_back(v.name);
      read = read || live.count(v.name) != 0;
    }
    if (!read) continue;
    text += fmt::format("  {} = {}({}){}{}\n", Joined(out, ", "), n.op, Joined(n.in, ", "),
                        n.attrs.empty() ? "" : " ", n.attrs);
  }
  if (loss == "none") {
    std::string sum;
    for (size_t i = 0; i < terms.size(); ++i) {
      text += TermText(terms[i], i);
      sum += (i == 0 ? "t" : ", t") + std::to_string(i);
    }
    text += "  loss = Sum(" + sum + ")\n";
  }
  return text + "}\nentry infer \"main\" = main\n";
}

std::string RankProgram::Train() const {
  if (!said_train.empty()) return said_train;
  std::string text = "train:loss=" + loss;
  const std::set<std::string> live = Live();
  if (std::any_of(live.begin(), live.end(), [](const auto& name) { return name[0] == 'k'; })) {
    text += ";freeze=k*";
  }
  for (const std::string& o : options) text += ";" + o;
  return text;
}

std::string RankProgram::Mesh() const {
  std::string text;
  for (size_t a = 0; a < axes.size(); ++a) {
    text += fmt::format("{}{}={}", a == 0 ? "" : "+", axes[a], sizes[a]);
  }
  return text;
}

std::string RankProgram::Parallel(int64_t rank) const {
  std::string text = fmt::format("parallel:mesh={};rank={};batch={}", Mesh(), rank, batch);
  if (!states.empty()) text += ";states=" + states;
  std::string pinned;
  for (const ProgramPin& p : pins) {
    std::string dims = p.dims;
    std::replace(dims.begin(), dims.end(), ',', '+');
    pinned += (pinned.empty() ? "" : "|") + p.name + "=" + dims;
  }
  if (!pinned.empty()) text += ";pins=" + pinned;
  return text;
}

std::vector<NetInput> RankProgram::Given() const {
  std::vector<NetInput> given = inputs;
  if (loss == "none" || !said_text.empty()) return given;
  NetInput label{"label", terms[0].value.dims, 0};
  if (loss == "softmax-ce") {
    label.below = label.dims.back();
    label.dims.pop_back();
  }
  given.push_back(std::move(label));
  return given;
}

}  // namespace ge::shardcheck
