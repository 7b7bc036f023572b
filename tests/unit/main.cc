// Runs the unit tests. Sessions here compute with two threads, whatever the machine has: what
// several tests expect of plans holds where a small product is not worth sharing among sixteen.
#include <gtest/gtest.h>

#include <cstdio>

#include "ge/host/machine.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ge::ProcessFacts facts;
  facts.threads = 2;
  const ge::Status fixed = ge::FixProcessFacts(facts);
  if (!fixed.ok()) {
    std::fprintf(stderr, "%s\n", fixed.ToString().c_str());
    return 2;
  }
  return RUN_ALL_TESTS();
}
