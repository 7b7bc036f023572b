// A compiled segment: steps over storages, and the frames in which they run. It plans nothing.
// The exec owns the program; a program is not changed after compile, so that any number of threads
// may run it at once, each in a frame of its own. After a frame's first run nothing is allocated
// here (oneDNN's own calls allocate).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/cpu/onednn/vendor.h"

namespace ge_onednn {

// A block of memory that steps read and write. Constants belong to the program.
struct Storage {
  enum Kind { kIn, kOut, kInternal, kConstant, kWorkspace } kind = kInternal;
  uint32_t index = 0;  // position in the launch's list; of the constant
  uint64_t bytes = 0;
  uint32_t value = 0;                     // a value that lies here, for the host's messages
  uint32_t first = UINT32_MAX, last = 0;  // steps
};

struct Place {
  uint32_t storage = 0;
  uint64_t offset = 0;  // bytes
};

// A loop of our own. Run gets the addresses of its places in order.
class Loop {
 public:
  virtual ~Loop() = default;
  virtual void Run(float* const* p) const = 0;
};

struct Step {
  std::string label;
  uint32_t node = 0;  // index in the segment's graph, for messages
  std::unique_ptr<Loop> loop;
  std::vector<Place> places;
  // Or a primitive: argument ids and descs parallel to places.
  dnnl::primitive prim;
  std::vector<int> arg;
  std::vector<Desc> desc;
};

class AlignedBlock {
 public:
  AlignedBlock() = default;
  explicit AlignedBlock(uint64_t bytes);
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* p) const { ::free(p); }
  };
  std::unique_ptr<void, Free> data_;
};

// Sets OpenMP's thread count for the calling thread and puts the old one back.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();

 private:
  int old_;
};

// Treats denormal numbers as zero on all compute threads, and puts the old mode back. Trained
// networks have weights below 1e-38 in dead channels, and such operands cost Intel cores 100 times
// a normal one's time (PP-OCRv6 detection: 2,100 ms instead of 120).
class FlushScope {
 public:
  FlushScope(int threads, bool flush);
  ~FlushScope();

 private:
  int threads_;
  bool flush_;
  uint32_t old_ = 0;
};

struct Frame {
  std::vector<char*> base;       // by storage
  std::vector<float*> loop_ptr;  // all loops' places, in order
  std::vector<dnnl_memory_t> memory;
  std::vector<void*> handle;  // what each memory points at
  std::vector<Place> where;   // of each memory
  std::vector<dnnl_exec_arg_t> arg;
  std::vector<uint32_t> first;  // by step: into loop_ptr or arg
  dnnl_stream_t stream = nullptr;
  bool bound = false;  // all addresses here are those of the last launch
  ~Frame();
};

class Program {
 public:
  Program(dnnl_engine_t engine, int threads) : engine_(engine), threads_(threads) {}
  ~Program();

  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<AlignedBlock> constants;
  // What the host is told; pointers into these go into ge_compiled.
  std::vector<ge_internal> internals;
  std::vector<ge_const_use> uses;
  uint64_t workspace = 0;
  // Times of each step, kept only when profiling is on (then launches must not overlap).
  bool profile = false;
  bool flush = true;  // denormals to zero
  std::vector<double> step_ns;
  uint64_t launches = 0;

  std::unique_ptr<Frame> MakeFrame() const;
  // frame may be nullptr: one from a pool that grows to the number of launches at once.
  ge_rc Run(const ge_launch& launch, Frame* frame, ge_err* err);
  std::string ProfileText() const;

 private:
  ge_rc RunIn(const ge_launch& launch, Frame& f, ge_err* err);
  void Bind(const ge_launch& launch, Frame& f) const;
  ge_rc Execute(size_t step, Frame& f, ge_err* err) const;

  dnnl_engine_t engine_;
  int threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> spare_;
};

}  // namespace ge_onednn
