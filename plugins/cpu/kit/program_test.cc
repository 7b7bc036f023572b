// Program: its steps, its frames and its stop, with kernels that only count.
#include "plugins/cpu/kit/program.h"

#include <gtest/gtest.h>

#include "ge/ge_plugin.hpp"

namespace ge_engines::cpu {
namespace {

struct Seen {
  int states = 0, bound = 0, done = 0;
};

// Adds 1 to a number where its place lies, and counts.
class Count : public Kernel {
 public:
  explicit Count(Seen* seen) : seen_(*seen) {}
  std::unique_ptr<KernelState> NewState() const override {
    ++seen_.states;
    return std::make_unique<KernelState>();
  }
  void Bind(const Call&) const override { ++seen_.bound; }
  ge_rc Do(const Call& call) const override {
    ++seen_.done;
    *call.p[0] += 1;
    if (stop != nullptr) *stop = 1;
    return rc;
  }
  uint32_t* stop = nullptr;  // set by the step
  ge_rc rc = GE_OK;

 private:
  Seen& seen_;
};

// Two steps on the first output; nodes 5 and 6.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    Storage out;
    out.kind = Storage::kOut;
    program_.storages = {out};
    for (uint32_t k = 0; k < 2; ++k) {
      auto kernel = std::make_unique<Count>(&seen_[k]);
      work_[k] = kernel.get();
      Step step;
      step.label = k == 0 ? "first" : "second";
      step.node = 5 + k;
      step.kernel = std::move(kernel);
      step.places = {{0, k * sizeof(float)}};
      program_.steps.push_back(std::move(step));
    }
    launch_.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
    launch_.out = &buffer_;
    launch_.n_out = 1;
    buffer_.ptr = numbers_;
    buffer_.bytes = sizeof(numbers_);
    err_.h = GE_HDR(ge_err, GE_TAG_ERR);
  }
  ge_rc Run(Frame* frame = nullptr) { return program_.Run(launch_, frame, &err_); }

  Seen seen_[2];
  Count* work_[2] = {};
  Program program_{1, nullptr};
  float numbers_[2] = {}, others_[2] = {};
  ge_buf buffer_ = {};
  ge_launch launch_ = {};
  ge_err err_ = {};
};

TEST_F(ProgramTest, LaunchesBehindEachOtherShareOneFrame) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Run(), GE_OK);
  EXPECT_EQ(seen_[0].states, 1);
  EXPECT_EQ(seen_[1].states, 1);
  EXPECT_EQ(seen_[0].done, 3);
  EXPECT_EQ(numbers_[1], 3);
}

TEST_F(ProgramTest, AFrameThatIsGivenIsTheOneThatIsUsed) {
  const auto frame = program_.MakeFrame();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Run(frame.get()), GE_OK);
  EXPECT_EQ(seen_[0].states, 1);
  ASSERT_EQ(Run(), GE_OK);
  EXPECT_EQ(seen_[0].states, 2);
}

TEST_F(ProgramTest, WorksAreToldOfAddressesWhenOneMoves) {
  const auto frame = program_.MakeFrame();
  ASSERT_EQ(Run(frame.get()), GE_OK);
  ASSERT_EQ(Run(frame.get()), GE_OK);
  EXPECT_EQ(seen_[1].bound, 1);
  buffer_.ptr = others_;
  ASSERT_EQ(Run(frame.get()), GE_OK);
  EXPECT_EQ(seen_[1].bound, 2);
  EXPECT_EQ(numbers_[1], 2);
  EXPECT_EQ(others_[1], 1);
}

TEST_F(ProgramTest, AHostThatStopsIsHeardBetweenSteps) {
  uint32_t stop = 0;
  launch_.stop = work_[0]->stop = &stop;
  EXPECT_EQ(Run(), GE_CANCELLED);
  EXPECT_EQ(err_.node, 6u);
  EXPECT_EQ(seen_[0].done, 1);
  EXPECT_EQ(seen_[1].done, 0);
}

TEST_F(ProgramTest, NothingRunsBehindAStepThatFailed) {
  for (const bool profile : {false, true}) {
    program_.profile = profile;
    work_[0]->rc = GE_INTERNAL;
    EXPECT_EQ(Run(), GE_INTERNAL);
    EXPECT_EQ(seen_[1].done, 0);
  }
}

TEST_F(ProgramTest, TimesAreKeptWhereTheyAreAskedFor) {
  ASSERT_EQ(Run(), GE_OK);
  EXPECT_EQ(program_.launches, 0u);
  EXPECT_TRUE(program_.step_ns.empty());
  program_.profile = true;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Run(), GE_OK);
  EXPECT_EQ(program_.launches, 2u);
  ASSERT_EQ(program_.step_ns.size(), 2u);
  EXPECT_GT(program_.step_ns[1], 0);
  const std::string text = program_.ProfileText();
  EXPECT_NE(text.find("first"), std::string::npos);
  EXPECT_NE(text.find("second"), std::string::npos);
}

}  // namespace
}  // namespace ge_engines::cpu
