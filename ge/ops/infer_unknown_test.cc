// Every operator's rule where little is known: inputs of no known rank, or of ranks whose sizes are
// symbols. It refuses, or says the element types of all results.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "ge/ops/infer_context_testing.h"

namespace ge {
namespace {

// float32 where it is legal, else what comes first.
DType OneOf(DTypeSet set) {
  for (const DType t : {DType::kFloat, DType::kInt64}) {
    if ((set & Bit(t)) != 0) return t;
  }
  return static_cast<DType>(std::countr_zero(set));
}

// The legal element types of each variable, of all ports that have it.
std::map<std::string, DTypeSet> Variables(const OpDef& op) {
  std::map<std::string, DTypeSet> sets;
  for (const auto* ports : {&op.inputs, &op.outputs}) {
    for (const Port& p : *ports) {
      if (*p.type_var == 0) continue;
      auto [at, fresh] = sets.emplace(p.type_var, p.dtypes);
      at->second &= p.dtypes;
    }
  }
  return sets;
}

std::vector<Attr> Required(const OpDef& op) {
  std::vector<Attr> attrs;
  for (const AttrDef& a : op.attrs) {
    if (!a.required) continue;
    if (a.kind == AttrKind::kInt) attrs.push_back(A(a.name, int64_t{1}));
    if (a.kind == AttrKind::kFloat) attrs.push_back(A(a.name, 1.0));
    if (a.kind == AttrKind::kInts) attrs.push_back(A(a.name, std::vector<int64_t>{1, 1}));
  }
  return attrs;
}

// An operator's node with inputs of one shape; `all`: those that may be left out, too.
struct Call {
  Call(const OpDef& op, const std::string& shape, bool all) : sets(Variables(op)) {
    for (const Port& p : op.inputs) {
      if (p.arity == Arity::kOptional && !all) break;
      const DTypeSet legal = *p.type_var != 0 ? sets[p.type_var] : p.dtypes;
      const std::string text = std::string(DTypeName(OneOf(legal & ~DTypeSet{1}))) + shape;
      const size_t count = p.arity == Arity::kVariadic ? std::max<size_t>(p.min_count, 2) : 1;
      inputs.insert(inputs.end(), count, text);
    }
    for (const Port& p : op.outputs) {
      if (p.arity != Arity::kVariadic) ports.push_back(&p);
    }
  }
  std::map<std::string, DTypeSet> sets;
  std::vector<std::string> inputs;
  std::vector<const Port*> ports;
};

// What the rule says, after looking at it; empty where it refuses.
std::string Answer(const OpDef& op, const std::string& shape, bool all, size_t unknown = SIZE_MAX) {
  Call call(op, shape, all);
  if (call.ports.empty()) return "";
  if (unknown < call.inputs.size()) {
    std::string& text = call.inputs[unknown];
    text = text.substr(0, text.find('[')) + "[?]";
  }
  const std::string name = FullName(op);
  TestContext c(op.name, call.inputs, Required(op), call.ports.size());
  c.node_.domain = op.domain;
  c.node_.op = op.name;
  const std::string answer = c.Run();
  if (answer.rfind("! ", 0) == 0) return "";
  for (size_t i = 0; i < call.ports.size(); ++i) {
    const Type& t = c.output_type(i);
    EXPECT_NE(t.kind, TypeKind::kUnknown) << name << shape << " output " << i;
    if (!t.is_tensor()) continue;
    const Port& p = *call.ports[i];
    const auto set = *p.type_var != 0 ? call.sets.at(p.type_var) : p.dtypes;
    EXPECT_NE(set & Bit(t.dtype), 0u) << name << shape << " output " << i << ": " << answer;
    const bool given = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Port& in) {
      return *in.type_var != 0 && in.type_var == std::string(p.type_var);
    });
    if (!given) continue;
    EXPECT_EQ(t.dtype, OneOf(set)) << name << shape << " output " << i << ": " << answer;
  }
  return answer;
}

// "Gemm ?..2... f32[A,B]": the ranks of inputs that an operator takes, of those of no known rank,
// of 0 and so on, and the answer for the last of them. Behind "all" with what may be left out.
std::string Line(const OpDef& op) {
  std::string line = FullName(op);
  for (const bool all : {false, true}) {
    std::string ranks, last, shape = "[";
    for (int rank = -1; rank < 6; ++rank) {
      if (rank > 0) shape += std::string(rank > 1 ? "," : "") + static_cast<char>('A' + rank - 1);
      const std::string answer = Answer(op, rank < 0 ? "[?]" : shape + "]", all);
      ranks += answer.empty() ? "." : rank < 0 ? "?" : std::to_string(rank);
      if (!answer.empty()) last = answer;
    }
    if (!last.empty()) line += (all ? " all " : " ") + ranks + " " + last;
  }
  std::string counts, last;
  for (const char* shape : {"[]", "[A]", "[A,B]", "[A,B,C]", "[A,B,C,D]", "[A,B,C,D,E]"}) {
    int count = 0;
    for (size_t i = 0, n = Call(op, shape, true).inputs.size(); n > 1 && i < n; ++i) {
      const std::string answer = Answer(op, shape, true, i);
      count += !answer.empty();
      if (!answer.empty()) last = answer;
    }
    counts += count < 10 ? std::to_string(count) : "+";
  }
  if (!last.empty()) line += " but one " + counts + " " + last;
  if (op.domain != std::string_view("ge")) return line;  // others are compared with their schemas
  char types[16];
  for (const auto* ports : {&op.inputs, &op.outputs}) {
    for (const Port& p : *ports) {
      std::snprintf(types, sizeof types, " %08x", p.dtypes);
      line += std::string(ports == &op.inputs ? " in " : " out ") + p.name + types;
    }
  }
  return line;
}

constexpr const char* kRanks =
#include "ge/ops/infer_ranks.inc"
    ;

// A line that differs is printed: where a rule was changed on purpose it is the new one.
TEST(InferUnknown, EveryOperatorTakesItsRanksAndSaysTheElementTypes) {
  std::set<std::string> wanted, found;
  std::istringstream lines(kRanks);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) wanted.insert(line);
  }
  for (const OpDef* op : AllOps()) found.insert(Line(*op));
  EXPECT_GE(found.size(), 280u);
  for (const std::string& line : found) EXPECT_TRUE(wanted.count(line)) << "found " << line;
  for (const std::string& line : wanted) EXPECT_TRUE(found.count(line)) << "lost " << line;
}

}  // namespace
}  // namespace ge
