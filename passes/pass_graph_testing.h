// PassGraph: builds small graphs for the unit tests of passes and runs one pass over them.
// For tests alone; owns its graph; one thread.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ge/ops/defaults.h"
#include "ge/stage/pass.h"

namespace ge {

class PassGraph {
 public:
  PassGraph() {
    g.AddFunction("main");
    g.entries.push_back({"main", 1, Entry::Role::kInfer});
  }
  Function& F() { return g.fn(1); }
  static Type F32(const std::vector<int64_t>& dims) { return TensorType(DType::kFloat, dims); }

  ValueId Param(const std::string& name, Type type = F32({2})) {
    const ValueId v = AddValue(&F(), std::move(type), name);
    F().params.push_back(v);
    return v;
  }
  ValueId Floats(const std::string& name, const std::vector<int64_t>& dims,
                 const std::vector<float>& data) {
    return AddConstValue(&g, &F(), MakeConst(F32(dims), data.data(), data.size() * 4, name));
  }
  std::vector<ValueId> Outputs(const std::string& op, std::vector<ValueId> in,
                               std::vector<Type> types, std::vector<Attr> attrs = {}) {
    Node n;
    n.id = F().next_node_id++;
    n.op = op;
    n.name = op + std::to_string(n.id);
    n.inputs = std::move(in);
    n.attrs = std::move(attrs);
    FillDefaults(&n);
    for (Type& t : types) n.outputs.push_back(AddValue(&F(), std::move(t)));
    F().nodes.push_back(n);
    return n.outputs;
  }
  ValueId Add(const std::string& op, std::vector<ValueId> in, std::vector<Attr> attrs = {},
              Type type = F32({2})) {
    return Outputs(op, std::move(in), {std::move(type)}, std::move(attrs))[0];
  }
  void Result(ValueId value, const std::string& name) {
    F().value(value).name = name;
    F().results.push_back(value);
  }
  // The number of edits that the pass makes.
  template <typename P>
  int Run(const PassContext& context = {}) {
    Transaction t(&g, std::string(P().name()));
    const Status s = P().Run(t, context);
    EXPECT_TRUE(s.ok()) << s.ToString();
    t.Commit();
    return t.edits();
  }
  // The operators in order: "Relu Tanh".
  std::string Ops() {
    std::string out;
    for (const Node& n : F().nodes) out += (out.empty() ? "" : " ") + n.op;
    return out;
  }
  std::vector<float> ConstFloats(ValueId value) {
    const Const& c = g.consts[F().value(value).constant];
    ConstScratch scratch;
    const auto* p = reinterpret_cast<const float*>(ConstBytes(c, &scratch));
    return std::vector<float>(p, p + *ElementCount(c.type));
  }

  Graph g;
};

}  // namespace ge
