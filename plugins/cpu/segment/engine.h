// The entry points that our CPU engines share: query prices units, compile turns a segment's units
// into a Program, enqueue runs it. An engine derives from Engine and says what is its own: what it
// takes, at what price, and how it builds. Made by the host through ge_plugin_desc; query and
// compile are called by one thread at a time, programs run on any.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/segment/builder.h"
#include "plugins/cpu/segment/match.h"

namespace ge_cpu {

struct Machine {
  uint32_t isa = 0;  // GE_ISA_*, never NATIVE
  int threads = 1;
};
// Of the host's cap and what this CPU has.
Machine MachineOf(const ge_host_api* host);

struct Price {
  double work_ns = 0;     // with the result left as the engine likes it
  double reorder_ns = 0;  // to bring the result into plain order
  uint64_t workspace = 0, packed = 0;
};

class Engine {
 public:
  explicit Engine(const ge_create_args& args);
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;

  // Whether a unit that parsed is one that this engine has work for; patterns are asked for, too.
  virtual bool Takes(const Unit& u, const Parser& p, Why* why) const = 0;
  virtual Price PriceOf(const Unit& u, const Parser& p) const = 0;
  virtual std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                               Program* program) const = 0;
  // Once a segment and run: binding addresses.
  virtual uint64_t LaunchNs() const { return 300; }

  const ge_host_api* host() const { return host_; }
  const Machine& machine() const { return machine_; }
  const Simd& simd() const { return *simd_; }

  // Options of every engine: profile=1 logs the time of each step at level 2 and launches one at a
  // time; denormals=keep computes with numbers below 1e-38 instead of taking them for zero.
  bool profile() const { return profile_; }
  bool flush() const { return flush_; }

 private:
  const ge_host_api* host_;
  Machine machine_;
  const Simd* simd_;
  bool profile_, flush_;
};

// Fills all of *desc but the version text's owner; make may throw.
using MakeEngine = std::unique_ptr<Engine> (*)(const ge_create_args& args);
const ge_plugin_desc* Describe(const char* name, const char* version, MakeEngine make);

}  // namespace ge_cpu
