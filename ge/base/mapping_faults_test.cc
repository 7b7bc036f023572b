// Reads of a mapped file that is cut short: zeros and a mark, in any thread, also where it blocks
// signals; each other SIGBUS goes where it went before.
#include "ge/base/mapping_faults.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "ge/base/file_mapping.h"
#include "ge/base/sanitizer.h"

namespace ge {
namespace {

constexpr uint64_t kFileBytes = 16 * 4096;

class CutFile {
 public:
  CutFile() : file_(std::tmpfile()) {
    const std::string content(kFileBytes, 'x');
    EXPECT_EQ(std::fwrite(content.data(), 1, kFileBytes, file_), kFileBytes);
    std::fflush(file_);
  }
  ~CutFile() { std::fclose(file_); }
  void* Map() const { return mmap(nullptr, kFileBytes, PROT_READ, MAP_PRIVATE, fileno(file_), 0); }
  void Cut(uint64_t bytes) const { EXPECT_EQ(ftruncate(fileno(file_), off_t(bytes)), 0); }

 private:
  FILE* file_;
};

TEST(MappingFaults, WhatIsBehindTheEndReadsAsZeros) {
  const CutFile file;
  const FileMapping mapping(file.Map(), kFileBytes);
  const auto* at = reinterpret_cast<const volatile char*>(mapping.data());
  EXPECT_EQ(at[kFileBytes - 1], 'x');
  EXPECT_TRUE(mapping.Check().ok());
  file.Cut(2 * 4096);
  EXPECT_EQ(at[0], 'x');
  EXPECT_EQ(at[5 * 4096], 0);
  EXPECT_EQ(at[kFileBytes - 1], 0);
  EXPECT_EQ(at[3 * 4096], 0);  // before the first that was found missing
  EXPECT_EQ(at[4096], 'x');
  EXPECT_EQ(mapping.Check().code(), Code::kIoError);
}

TEST(MappingFaults, AThreadThatBlocksSignalsReadsOn) {
  const CutFile file;
  const FileMapping mapping(file.Map(), kFileBytes);
  file.Cut(0);
  std::thread other([&] {
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    {
      const FaultScope faults;
      EXPECT_EQ(static_cast<int>(reinterpret_cast<const volatile char*>(mapping.data())[1]), 0);
    }
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    EXPECT_EQ(sigismember(&now, SIGBUS), 1);
  });
  other.join();
  EXPECT_FALSE(mapping.Check().ok());
}

TEST(MappingFaults, AMappingThatFollowsAtItsPlaceIsWhole) {
  const CutFile file, next;
  {
    const FileMapping mapping(file.Map(), kFileBytes);
    file.Cut(0);
    (void)reinterpret_cast<const volatile char*>(mapping.data())[1];
    EXPECT_FALSE(mapping.Check().ok());
  }
  const FileMapping mapping(next.Map(), kFileBytes);
  EXPECT_EQ(static_cast<char>(mapping.data()[1]), 'x');
  EXPECT_TRUE(mapping.Check().ok());
}

// How a process ends whose SIGBUS nobody of ours takes: by the signal, or as a sanitizer has it.
bool EndedByBus(int status) {
  const bool watched = GE_ADDRESS_SANITIZER || GE_THREAD_SANITIZER;
  return testing::KilledBySignal(SIGBUS)(status) ||
         (watched && WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 42);
}

// The process's own handler was there before ours, and is asked about what is not ours.
void Own(int) { _exit(42); }

TEST(MappingFaultsDeathTest, OthersGoWhereTheyWentBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [](bool own) {
    if (own) (void)signal(SIGBUS, &Own);
    const CutFile ours, foreign;
    const FileMapping mapping(ours.Map(), kFileBytes);
    const auto* at = static_cast<const volatile char*>(foreign.Map());
    foreign.Cut(0);
    (void)at[1];
  };
  EXPECT_EXIT(fault(false), EndedByBus, "");
  EXPECT_EXIT(fault(true), testing::ExitedWithCode(42), "");
  // And one that a process sends.
  const auto sent = [](bool own) {
    if (own) (void)signal(SIGBUS, &Own);
    const CutFile ours;
    const FileMapping mapping(ours.Map(), kFileBytes);
    (void)raise(SIGBUS);
  };
  EXPECT_EXIT(sent(false), EndedByBus, "");
  EXPECT_EXIT(sent(true), testing::ExitedWithCode(42), "");
}

TEST(MappingFaultsDeathTest, SignalsAreLeftAloneWhereThatIsAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [] {
    const CutFile file;
    const FileMapping mapping(file.Map(), kFileBytes);
    file.Cut(0);
    (void)reinterpret_cast<const volatile char*>(mapping.data())[1];
  };
  {  // this process has read what it is asked
    const CutFile file;
    const FileMapping mapping(file.Map(), kFileBytes);
  }
  // The child, which begins anew, reads it once, maybe in a thread that starts before the test.
  ASSERT_EQ(setenv("GE_SIGNALS", "keep", 1), 0);
  EXPECT_EXIT(fault(), EndedByBus, "");
  ASSERT_EQ(unsetenv("GE_SIGNALS"), 0);
}

}  // namespace
}  // namespace ge
