#include "plugins/cpu/kit/program.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/float_mode.h"

namespace ge_engines::cpu {

ThreadScope::ThreadScope(int threads) : old_(omp_get_max_threads()) {
  if (old_ != threads) omp_set_num_threads(threads);
}
ThreadScope::~ThreadScope() {
  if (omp_get_max_threads() != old_) omp_set_num_threads(old_);
}

std::unique_ptr<Frame> Program::MakeFrame() const {
  auto f = std::make_unique<Frame>();
  f->base.assign(storages.size(), nullptr);
  if (frame_data) f->data = frame_data();
  size_t places = 0;
  for (const Step& s : steps) {
    f->first.push_back(static_cast<uint32_t>(places));
    places += s.places.size();
    f->state.push_back(s.kernel->NewState());
  }
  f->address.assign(places, nullptr);
  return f;
}

void Program::Bind(const ge_launch& launch, Frame& frame) const {
  bool moved = !frame.bound;
  frame.bound = false;  // until all went well
  for (size_t k = 0; k < storages.size(); ++k) {
    const Storage& s = storages[k];
    void* p = nullptr;
    switch (s.kind) {
      case Storage::kIn:
        p = launch.in[s.index].ptr;
        break;
      case Storage::kOut:
        p = launch.out[s.index].ptr;
        break;
      case Storage::kInternal:
        p = launch.internal[s.index].ptr;
        break;
      case Storage::kConstant:
        p = constants[s.index].data();
        break;
      case Storage::kPack:
        p = launch.pack[s.index].ptr;
        break;
      case Storage::kKept:
        p = const_cast<void*>(s.kept);
        break;
      case Storage::kWorkspace:
        p = launch.workspace.ptr;
        break;
    }
    moved |= frame.base[k] != p;
    frame.base[k] = static_cast<char*>(p);
  }
  if (moved) {
    size_t at = 0;
    for (size_t k = 0; k < steps.size(); ++k) {
      const Step& s = steps[k];
      for (const BufferRef& p : s.places) {
        frame.address[at++] = reinterpret_cast<float*>(frame.base[p.storage] + p.offset);
      }
      s.kernel->Bind({frame.address.data() + frame.first[k], frame.state[k].get(), frame.data.get(),
                      s.node, nullptr});
    }
  }
  frame.bound = true;
}

ge_rc Program::Execute(size_t k, Frame& frame, ge_err* err) const {
  const Step& s = steps[k];
  return s.kernel->Do(
      {frame.address.data() + frame.first[k], frame.state[k].get(), frame.data.get(), s.node, err});
}

ge_rc Program::RunIn(const ge_launch& launch, Frame& frame, ge_err* err) {
  Bind(launch, frame);
  if (!profile) {
    for (size_t k = 0; k < steps.size(); ++k) {
      if (launch.stop != nullptr && __atomic_load_n(launch.stop, __ATOMIC_RELAXED) != 0) {
        return ge::plugin::Fail(err, GE_CANCELLED, steps[k].node, "stopped by the host");
      }
      if (const ge_rc rc = Execute(k, frame, err); rc != GE_OK) return rc;
      if (launch.after_step != nullptr) {
        launch.after_step(launch.observer, static_cast<uint32_t>(k));
      }
    }
    return GE_OK;
  }
  step_ns.resize(steps.size());
  ++launches;
  for (size_t k = 0; k < steps.size(); ++k) {
    const auto start = std::chrono::steady_clock::now();
    if (const ge_rc rc = Execute(k, frame, err); rc != GE_OK) return rc;
    const std::chrono::duration<double, std::nano> d = std::chrono::steady_clock::now() - start;
    step_ns[k] = step_ns[k] == 0 ? d.count() : std::min(step_ns[k], d.count());
    if (launch.after_step != nullptr) launch.after_step(launch.observer, static_cast<uint32_t>(k));
  }
  return GE_OK;
}

ge_rc Program::Run(const ge_launch& launch, Frame* frame, ge_err* err) {
  ThreadScope threads(threads_);
  const LibraryMode mode(library ? threads_ : 1);
  if (frame != nullptr) return RunIn(launch, *frame, err);
  std::unique_ptr<Frame> own;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!spare_.empty()) {
      own = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (own == nullptr) own = MakeFrame();
  const ge_rc rc = RunIn(launch, *own, err);
  std::lock_guard<std::mutex> lock(mutex_);
  spare_.push_back(std::move(own));
  return rc;
}

std::string Program::ProfileText() const {
  std::string out;
  double total = 0;
  for (size_t k = 0; k < step_ns.size(); ++k) {
    char line[400];
    std::snprintf(line, sizeof(line), "%9.1f us  node %u  %s\n", step_ns[k] / 1e3, steps[k].node,
                  steps[k].label.c_str());
    out += line;
    total += step_ns[k];
  }
  char line[100];
  std::snprintf(line, sizeof(line), "%9.1f us  total of the fastest of %llu launches\n",
                total / 1e3, static_cast<unsigned long long>(launches));
  return out + line;
}

}  // namespace ge_engines::cpu
