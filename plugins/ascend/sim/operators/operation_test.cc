// The tables hold each operator that the engine names, and no other.
#include "plugins/ascend/sim/operators/operation.h"

#include <gtest/gtest.h>

namespace ge_engines::ascend::sim {
namespace {

constexpr const char* kNames[] = {
#define GE_ACLNN(name, parameters, names) #name,
#include "plugins/ascend/api/operators.def"
};

TEST(Operations, EachNameOfTheInterfaceHasOne) {
  for (const char* name : kNames) {
    const Operation* found = FindOperation(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_STREQ(found->name, name);
    EXPECT_NE(found->check, nullptr);
    EXPECT_NE(found->run, nullptr);
  }
  EXPECT_EQ(FindOperation("Add "), nullptr);
  EXPECT_EQ(FindOperation(""), nullptr);
}

}  // namespace
}  // namespace ge_engines::ascend::sim
