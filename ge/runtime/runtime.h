// Runtime: shared by the sessions of a process: its threads and instruction set, the opened
// engines, and the known prices. It knows no model. Engines and prices live as long as a runtime or
// a session uses them. Thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine_list.h"
#include "ge/host/machine.h"
#include "ge/price/price_cache.h"
#include "ge/runtime/run_queue.h"

namespace ge {

class Runtime {
 public:
  // Fixes the process's threads and instruction set; FAILED_PRECONDITION naming both values where
  // they are fixed to others already. All runtimes of a process have the same.
  static Result<std::shared_ptr<Runtime>> Create(const ProcessFacts& facts);
  // The runtime of sessions without one: made by the first of them, gone with the last.
  static Result<std::shared_ptr<Runtime>> OfProcess(const ProcessFacts& facts);

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // As OpenEngines; shares an engine already open with the same options and words. An engine listed
  // twice is two engines.
  Result<EngineList> Open(const std::vector<EngineSpec>& list, const EngineWords& words);
  // The same for one plugin, without options.
  Result<std::shared_ptr<Engine>> Open(const std::shared_ptr<const Plugin>& plugin,
                                       const EngineWords& words);
  // The prices learned from runs on this machine, with the priors of these engines: read from the
  // cache folder at the first call.
  std::shared_ptr<PriceCache> Prices(const EngineList& engines);
  // Only the shipped prices of similar machines, made anew: for the caller alone.
  static std::shared_ptr<PriceCache> ShippedPrices(const EngineList& engines);
  size_t open_engines() const;
  // Asynchronous runs of its sessions wait there for their turn.
  RunQueue& runs() { return runs_; }

 private:
  // As many runs at once as compute, and a few where they wait for devices.
  explicit Runtime(uint32_t threads) : runs_(std::max(threads, 4u)) {}
  // The `place`th engine of the same options in a list; with mutex_ held.
  Result<std::shared_ptr<Engine>> OpenOne(const std::shared_ptr<const Plugin>& plugin,
                                          const std::string& options, const EngineWords& words,
                                          uint32_t place);
  // Path, options, words, and the number among equals in a list.
  using EngineKey = std::tuple<std::string, std::string, EngineWords, uint32_t>;
  mutable std::mutex mutex_;
  std::map<EngineKey, std::shared_ptr<Engine>> engines_;
  std::shared_ptr<PriceCache> prices_;
  std::set<const Engine*> with_priors_;  // engines whose shipped rows prices_ has
  RunQueue runs_;
};

}  // namespace ge
