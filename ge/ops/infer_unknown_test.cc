// Every operator's rule where little is known: inputs of no known rank, or of ranks whose sizes are
// symbols. It refuses, or says the element types of all results.
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "ge/ops/infer_test_context.h"

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

// 1 where the rule answered, after looking at its answer.
int Answered(const OpDef& op, const std::string& shape, bool all) {
  const Call call(op, shape, all);
  if (call.ports.empty()) return 0;
  const std::string name = (*op.domain ? std::string(op.domain) + "." : "") + op.name;
  TestContext c(op.name, call.inputs, Required(op), call.ports.size());
  c.node_.domain = op.domain, c.node_.op = op.name;
  if (getenv("SHOW")) fprintf(stderr, "%s%s\n", name.c_str(), shape.c_str());
  const std::string answer = c.Run();
  if (answer.rfind("! ", 0) == 0) return 0;
  for (size_t i = 0; i < call.ports.size(); ++i) {
    const Type& t = c.output_type(i);
    EXPECT_NE(t.kind, TypeKind::kUnknown) << name << shape << " output " << i;
    if (!t.is_tensor()) continue;
    const Port& p = *call.ports[i];
    const auto set = *p.type_var != 0 ? call.sets.at(p.type_var) : p.dtypes;
    EXPECT_NE(set & Bit(t.dtype), 0u) << name << shape << " output " << i << ": " << answer;
    bool given = false;
    for (const Port& in : op.inputs)
      given = given || (*in.type_var && in.type_var == std::string(p.type_var));
    if (given) EXPECT_EQ(t.dtype, OneOf(set)) << name << shape << " output " << i << ": " << answer;
  }
  return 1;
}

TEST(InferUnknown, EveryResultHasItsElementType) {
  int unranked = 0, ranked = 0;
  for (const OpDef* op : AllOps()) {
    for (const bool all : {false, true}) {
      unranked += Answered(*op, "[?]", all);
      for (const char* shape : {"[]", "[A]", "[A,B]", "[A,B,C]", "[A,B,C,D]", "[A,B,C,D,E]"}) {
        ranked += Answered(*op, shape, all);
      }
    }
  }
  printf("counts %d %d\n", unranked, ranked);
  EXPECT_GE(unranked, 300);
  EXPECT_GE(ranked, 900);
}

}  // namespace
}  // namespace ge
