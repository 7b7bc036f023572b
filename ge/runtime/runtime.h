// Runtime: what the sessions of a process share: its threads and instruction set, the engines that
// they have opened, and what is known of prices. It knows no model. Engines and prices live as long
// as a runtime or a session that uses them. Thread-safe.
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
  // The one of sessions that name none: made by the first of them, gone with the last.
  static Result<std::shared_ptr<Runtime>> OfProcess(const ProcessFacts& facts);

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // As OpenEngines; what is open already with the same options and words is shared. An engine that
  // a list names twice is two engines.
  Result<EngineList> Open(const std::vector<EngineSpec>& list, const EngineWords& words);
  // The same for one plugin, without options.
  Result<std::shared_ptr<Engine>> Open(const std::shared_ptr<const Plugin>& plugin,
                                       const EngineWords& words);
  // What runs on this machine have shown, with the priors of these engines: read from the cache
  // folder when it is first asked for.
  std::shared_ptr<PriceCache> Prices(const EngineList& engines);
  // Only what ships for the like of this machine, made anew: for the caller alone.
  static std::shared_ptr<PriceCache> ShippedPrices(const EngineList& engines);
  size_t open_engines() const;
  // Where asynchronous runs of its sessions wait for their turn.
  RunQueue& runs() { return runs_; }

 private:
  // As many runs at once as compute, and a few where they wait for devices.
  explicit Runtime(uint32_t threads) : runs_(std::max(threads, 4u)) {}
  // The `place`th of its like in a list; with mutex_ held.
  Result<std::shared_ptr<Engine>> OpenOne(const std::shared_ptr<const Plugin>& plugin,
                                          const std::string& options, const EngineWords& words,
                                          uint32_t place);
  // Path, options, words, and the how-manieth of its like in a list.
  using EngineKey = std::tuple<std::string, std::string, EngineWords, uint32_t>;
  mutable std::mutex mutex_;
  std::map<EngineKey, std::shared_ptr<Engine>> engines_;
  std::shared_ptr<PriceCache> prices_;
  std::set<const Engine*> with_priors_;  // whose shipped rows prices_ has
  RunQueue runs_;
};

}  // namespace ge
