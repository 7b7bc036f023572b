// Program: a compiled segment, its steps over storages, and the frames of its launches. It plans
// nothing. The exec owns the program. Nothing changes it after compile, so any number of threads
// may run it at once, each in its own frame. After a frame's first run nothing is allocated here (a
// vendor's own calls may).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/kit/packs.h"
#include "plugins/units/layout.h"
#include "plugins/units/told_steps.h"

namespace ge_engines::cpu {

// A block of memory that steps read and write. Constants belong to the program, packs to the host.
struct Storage {
  enum Kind { kIn, kOut, kInternal, kConstant, kPack, kKept, kWorkspace } kind = kInternal;
  uint32_t index = 0;  // position in the launch's list; of the constant
  const void* kept =
      nullptr;  // kKept: a constant's payload, the host's, maybe unaligned; read only
  uint64_t bytes = 0;
  uint32_t value = 0;                     // a value that lies here, for the host's messages
  uint32_t first = UINT32_MAX, last = 0;  // steps
};

struct BufferRef {
  uint32_t storage = 0;
  uint64_t offset = 0;  // bytes
};

// State of a kernel in one frame, beside its addresses.
struct KernelState {
  virtual ~KernelState() = default;
};

struct Call {
  float* const* p = nullptr;     // addresses of the step's buffers, in order
  KernelState* state = nullptr;  // made by this kernel, or nullptr
  void* frame = nullptr;         // Program::frame_data of this frame, or nullptr
  uint32_t node = 0;             // for messages
  ge_err* err = nullptr;
};

// The work of a step. Immutable; any number of threads may run it, each in its own frame.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::unique_ptr<KernelState> NewState() const { return nullptr; }
  // The addresses have changed since the last call in this frame. May throw.
  virtual void Bind(const Call&) const {}
  virtual ge_rc Do(const Call& call) const = 0;
};

// A kernel that cannot fail and keeps nothing.
class Loop : public Kernel {
 public:
  virtual void Run(float* const* p) const = 0;
  ge_rc Do(const Call& call) const final {
    Run(call.p);
    return GE_OK;
  }
};

struct Step {
  std::string label;
  uint32_t node = 0;  // index in the segment's graph, for messages
  std::unique_ptr<Kernel> kernel;
  std::vector<BufferRef> places;
};

// Sets OpenMP's thread count for the calling thread and puts the old one back.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();

 private:
  int old_;
};

struct Frame {
  std::vector<char*> base;                          // by storage
  std::vector<float*> address;                      // of all steps' buffers, in order
  std::vector<uint32_t> first;                      // by step: into `address`
  std::vector<std::unique_ptr<KernelState>> state;  // by step
  std::shared_ptr<void> data;                       // Program::frame_data
  bool bound = false;                               // all addresses are those of the last launch
};

// A pack requested from the host; its position in the launch's list.
struct WantedPack {
  uint32_t index = 0;
  uint64_t bytes = 0;
  uint32_t flags = 0;  // GE_PACK_*
};

// A library's choice for a kernel. The same segment at other dims reuses it without asking again.
struct Choice {
  LayoutTag in, out;
  const char* kernel = nullptr;  // to be taken instead of the library's first; null: none
  bool slow = false;             // there was no better than plain loops
};

class Program {
 public:
  Program(int threads, PackBook* book) : book(book), threads_(threads) {}

  PackBook* const book;  // of the engine
  // During building: the program of the same segment at other dims, with finished packs; null if
  // there is none.
  const Program* like = nullptr;
  std::shared_ptr<SmallPacks> small = std::make_shared<SmallPacks>();  // shared with that one

  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<AlignedBlock> constants;
  std::map<uint32_t, Choice> choices;  // by the last node of a unit
  // Constants with checked payloads that serve a kernel: value -> address of its payload. Those of
  // the program `like` stay in place as long as it lives.
  std::map<uint32_t, const void*> looked_through;
  std::map<PackName, WantedPack> wanted;  // a map: the records below point to its names
  // Reports to the host; ge_compiled holds pointers into these.
  std::vector<ge_internal> internals;
  std::vector<ge_const_use> uses;
  std::vector<ge_pack> packs;
  std::vector<uint32_t> alias;  // pairs (output position, input position) that may share a place
  ToldSteps told;
  uint64_t workspace = 0;
  // Makes data shared by all kernels of one frame, e.g. a vendor's stream; may be empty.
  std::function<std::shared_ptr<void>()> frame_data;
  // Times of each step, kept only when profiling is on (then launches must not overlap).
  bool profile = false;
  bool library = false;  // some step calls a library that may fork regions of its own
  std::vector<double> step_ns;
  uint64_t launches = 0;

  std::unique_ptr<Frame> MakeFrame() const;
  // frame may be nullptr: one from a pool that grows to the number of launches at once.
  ge_rc Run(const ge_launch& launch, Frame* frame, ge_err* err);
  std::string ProfileText() const;

 private:
  ge_rc RunIn(const ge_launch& launch, Frame& frame, ge_err* err);
  void Bind(const ge_launch& launch, Frame& frame) const;
  ge_rc Execute(size_t step, Frame& frame, ge_err* err) const;

  int threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> spare_;
};

}  // namespace ge_engines::cpu
