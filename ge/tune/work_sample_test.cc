#include "ge/tune/work_sample.h"

#include <gtest/gtest.h>

#include <set>

namespace ge {
namespace {

TEST(WorkSample, IsTypedSmallAndOfManyKinds) {
  auto made = MakeWorkSample();
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const Function& f = made->fn(made->entries[0].fn);
  std::set<std::string> ops;
  for (const Node& node : f.nodes) {
    ops.insert(node.op);
    for (ValueId v : node.outputs) {
      EXPECT_TRUE(v == 0 || f.values[v].type.is_static()) << node.op << " " << f.values[v].name;
    }
  }
  EXPECT_GE(ops.size(), 45u);
  EXPECT_GT(f.nodes.size(), 100u);
  int64_t bytes = 0;
  for (const Const& c : made->consts) bytes += ByteCount(c.type).value_or(0);
  EXPECT_LT(bytes, 3 << 20);  // What is measured must be overhead and kernels, not memory.
}

// Every node is asked about: what nothing reads is a result, and patterns end in one.
TEST(WorkSample, EveryValueIsReadOrLeaves) {
  auto made = MakeWorkSample();
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const Function& f = made->fn(made->entries[0].fn);
  std::set<ValueId> read(f.results.begin(), f.results.end());
  for (const Node& node : f.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  for (const Node& node : f.nodes) {
    for (ValueId v : node.outputs) EXPECT_TRUE(v == 0 || read.count(v)) << node.op;
  }
}

}  // namespace
}  // namespace ge
