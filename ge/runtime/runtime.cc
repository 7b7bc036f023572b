#include "ge/runtime/runtime.h"

#include "ge/base/log.h"
#include "ge/price/correct.h"
#include "ge/price/priors.h"

namespace ge {
namespace {

// The rows that ship for this machine's like.
void AddPriors(const EngineList& engines, PriceCache* prices) {
  if (engines.empty()) return;
  for (PriorBook& prior : ShippedPriors(HostMachine())) {
    for (const auto& e : engines) {
      for (uint32_t d = 0; e->name() == prior.engine && d < e->devices().size(); ++d) {
        const PriceBook book = BookOf(*e, d);
        if (book.device == prior.device) prices->SetPriors(book, prior.rows);
      }
    }
  }
}

}  // namespace

Result<std::shared_ptr<Runtime>> Runtime::Create(const ProcessFacts& facts) {
  GE_RETURN_IF_ERROR(FixProcessFacts(facts));
  return std::shared_ptr<Runtime>(new Runtime(CurrentProcessFacts().threads));
}

Result<std::shared_ptr<Runtime>> Runtime::OfProcess(const ProcessFacts& facts) {
  static std::mutex mutex;
  static std::weak_ptr<Runtime> present;
  GE_RETURN_IF_ERROR(FixProcessFacts(facts));
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Runtime> runtime = present.lock();
  if (runtime) return runtime;
  GE_ASSIGN_OR_RETURN(runtime, Create(facts));
  present = runtime;
  return runtime;
}

Result<EngineList> Runtime::Open(const std::vector<EngineSpec>& list, const EngineWords& words) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::pair<std::string, std::string>, uint32_t> named;
  return OpenEngines(list, [&](const auto& plugin, const std::string& options) {
    return OpenOne(plugin, options, words, named[{plugin->path, options}]++);
  });
}

Result<std::shared_ptr<Engine>> Runtime::Open(const std::shared_ptr<const Plugin>& plugin,
                                              const EngineWords& words) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return OpenOne(plugin, "", words, 0);
}

Result<std::shared_ptr<Engine>> Runtime::OpenOne(const std::shared_ptr<const Plugin>& plugin,
                                                 const std::string& options,
                                                 const EngineWords& words, uint32_t place) {
  const EngineKey key{plugin->path, options, words, place};
  std::shared_ptr<Engine>& known = engines_[key];
  if (!known) {
    Result<std::unique_ptr<Engine>> made = Engine::Create(plugin, options, words);
    if (!made.ok()) {
      engines_.erase(key);
      return made.status();
    }
    known = std::move(*made);
    for (const auto& [other, engine] : engines_) {  // its own devices, under other words
      const auto& [path, text, of, nth] = other;
      if (engine && path == plugin->path && text == options && nth == place && engine != known) {
        known->ShareLosses(*engine);
      }
    }
  }
  return known;
}

std::shared_ptr<PriceCache> Runtime::Prices(const EngineList& engines) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool fresh = !prices_;
  if (fresh) prices_ = std::make_shared<PriceCache>(HostMachine());
  EngineList unknown;
  for (const auto& e : engines) {
    if (with_priors_.insert(e.get()).second) unknown.push_back(e);
  }
  AddPriors(unknown, prices_.get());
  if (fresh) prices_->Load();
  return prices_;
}

std::shared_ptr<PriceCache> Runtime::ShippedPrices(const EngineList& engines) {
  auto prices = std::make_shared<PriceCache>(HostMachine());
  AddPriors(engines, prices.get());
  return prices;
}

size_t Runtime::open_engines() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return engines_.size();
}

}  // namespace ge
