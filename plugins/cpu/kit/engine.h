// Engine: the entry points of our CPU engines. query prices units, compile turns a segment's units
// into a Program, enqueue runs it. An engine derives from Engine and brings its own choice of
// units, prices and builder. The host makes it through ge_plugin_desc; one thread at a time calls
// query and compile, any thread runs programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/rounded.h"
#include "plugins/units/match.h"

namespace ge_engines::cpu {

struct Machine {
  uint32_t isa = 0;  // GE_ISA_*, never NATIVE
  int threads = 1;
  bool exact = false;  // GE_NUMERICS_EXACT: no kernel that transforms its operands
  // GE_PRECISION_BF16's kernels, if the processor has them and denormals count as zero (its
  // instructions flush them). Else nullptr.
  const Rounded* rounded = nullptr;
  // Speed relative to the machine on which prices were measured: arithmetic of one thread, and
  // bytes in the second cache, the third and memory.
  double compute = 1;
  double stream[3] = {1, 1, 1};
};
// Reads the host's cap, this CPU's abilities and the host's measurements.
Machine MachineOf(const ge_host_api* host);
// The kernels of an instruction set, GE_ISA_* and never NATIVE.
const Simd& SimdOf(uint32_t isa);

struct Price {
  double work_ns = 0;
  double border_ns = 0;  // to copy the result out, where inside a segment it is only a view
  double shape_ns = 0;   // for code that is made for these dims
  double launch_ns = 0;  // beside the engine's LaunchNs, once a segment that holds such a unit
  uint64_t workspace = 0, packed = 0;
};

// Thrown by an engine's constructor if the machine lacks something. The host shows the text.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Engine {
 public:
  explicit Engine(const ge_create_args& args);
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;

  // The kinds whose operators the engine knows; a table of the program's.
  virtual std::span<const UnitKind* const> Kinds() const = 0;
  // Whether the engine has a kernel for a parsed unit; also called for patterns.
  virtual bool Takes(const Unit& unit, const Parser& parser, Why* why) const = 0;
  // Whether a node declined by Takes may still be part of a pattern of this engine.
  virtual bool Joins(const Unit&, const Parser&) const { return false; }
  virtual Price PriceOf(const Unit& unit, const Parser& parser) const = 0;
  // Whether the unit rounds its inputs (GE_OFFER_ROUNDS): always when rounding is cheaper.
  virtual bool Rounds(const Unit&, const Parser&) const { return false; }
  // Layouts of the images that a kernel reads and writes; nullopt for loops, which take the layout
  // of their input.
  virtual std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const Unit&,
                                                                          const Parser&) const {
    return std::nullopt;
  }
  // Whether such a kernel is as fast in all layouts of ForeignLayouts(), in and out.
  virtual bool AnyLayout(const Unit&, const Parser&) const { return false; }
  // Whether such a kernel writes a plain image at no extra cost over its preferred layout.
  virtual bool PlainOutput(const Unit&, const Parser&) const { return false; }
  // Whether the unit, a loop without preferred layouts, keeps the layout of its images.
  virtual bool KeepsLayout(const Unit&) const { return true; }
  // Layouts of images that such units accept from other engines.
  virtual std::vector<LayoutTag> ForeignLayouts() const { return {}; }
  virtual std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                               Program* program) const = 0;
  // Binds addresses, once a segment and run.
  virtual uint64_t LaunchNs() const { return 300; }

  const ge_host_api* host() const { return host_; }
  const Machine& machine() const { return machine_; }
  const Simd& simd() const { return *simd_; }
  PackBook& book() const { return book_; }

  // Option of every engine: profile=1 logs the time of each step at level 2 and launches one at a
  // time.
  bool profile() const { return profile_; }

 private:
  const ge_host_api* host_;
  Machine machine_;
  const Simd* simd_;
  mutable PackBook book_;  // safe for any thread by itself
  bool profile_;
};

// Fills all of *desc but the version text's owner; make may throw.
using MakeEngine = std::unique_ptr<Engine> (*)(const ge_create_args& args);
const ge_plugin_desc* Describe(const char* name, const char* version, MakeEngine make);

}  // namespace ge_engines::cpu
