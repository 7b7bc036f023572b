#include "ge/compile/compiled/kept_run.h"

#include <atomic>
#include <mutex>

namespace ge {
namespace {

// Never destroyed: at the process's end devices may still be at work.
struct Kept {
  std::mutex mutex;
  std::vector<std::shared_ptr<KeptRun>> runs;
};

Kept& TheKept() {
  static Kept* const kept = new Kept;
  return *kept;
}

std::atomic<uint64_t> g_kept{0};  // so that nobody locks where there are none

}  // namespace

std::shared_ptr<KeptRun> KeepRun(std::shared_ptr<Compiled> compiled, Compiled::PinnedPacks packs,
                                 std::unique_ptr<Frame> frame) {
  auto run = std::make_shared<KeptRun>();
  run->compiled = std::move(compiled);
  run->packs = std::move(packs);
  run->frame = std::move(frame);
  Kept& kept = TheKept();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  kept.runs.push_back(run);
  g_kept.store(kept.runs.size(), std::memory_order_relaxed);
  return run;
}

uint64_t KeptRuns() {
  if (g_kept.load(std::memory_order_relaxed) == 0) return 0;
  std::vector<std::shared_ptr<KeptRun>> ended;  // freed without the lock
  Kept& kept = TheKept();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  std::erase_if(kept.runs, [&](const std::shared_ptr<KeptRun>& run) {
    // One that its maker still adds to has hardly ended.
    const bool over = run.use_count() == 1 && run->frame->Settled();
    if (over) ended.push_back(run);
    return over;
  });
  g_kept.store(kept.runs.size(), std::memory_order_relaxed);
  return kept.runs.size();
}

}  // namespace ge
