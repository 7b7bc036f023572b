// Engine: one created engine of a plugin, with its devices, links and the host's calls outside of
// a run. Shared by the sessions of a runtime; query and compile are called by one thread at a
// time.
#pragma once

#include <compare>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ge/base/no_throw.h"
#include "ge/base/plugin_call.h"
#include "ge/base/status.h"
#include "ge/domain/domain_memory.h"
#include "ge/engine/device_losses.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/plan/plan.h"

namespace ge {

struct EngineDomain {
  std::string id;  // 16 bytes; empty = host memory
  uint32_t flags = GE_MEM_HOST_VISIBLE;
  int64_t align = 64, bytes = 0;  // of blocks; limit, 0 = none
};
struct EngineDevice {
  std::string name;
  uint32_t flags = 0, max_streams = 1;
  std::vector<EngineDomain> domains{1};  // [0]: where its tensors lie
  double flops_per_ns = 0, bytes_per_ns = 0;
  uint64_t timeout_ns = 0;  // of its work; 0 = none
};
struct EngineLink {
  std::string from, to;  // domain ids, empty = host
  double latency_ns = 0, bytes_per_ns = 0;
};

// A session's settings for every engine: GE_DENORMALS_*, GE_NUMERICS_* and GE_PRECISION_*.
struct EngineWords {
  uint32_t denormals = GE_DENORMALS_FLUSH, numerics = GE_NUMERICS_FAST;
  uint32_t precision = GE_PRECISION_F32;
  auto operator<=>(const EngineWords&) const = default;
};

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  // options: "key=value;key=value" for the plugin.
  static Result<std::unique_ptr<Engine>> Create(std::shared_ptr<const Plugin> plugin,
                                                const std::string& options,
                                                const EngineWords& words = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& name() const { return plugin_->name; }
  const Plugin& plugin() const { return *plugin_; }
  const std::string& options() const { return options_; }  // as the user gave them
  const EngineWords& words() const { return words_; }
  // A slot is null where the plugin did not fill it or is too old to have it.
  const ge_engine_api& api() const { return api_; }
  ge_engine* handle() const { return handle_; }
  const std::vector<EngineDevice>& devices() const { return devices_; }
  const std::vector<EngineLink>& links() const { return links_; }
  // What is allocated in a domain of one of its devices; null where that is the host's memory.
  DomainMemory* memory(uint32_t device, uint32_t domain = 0) const {
    return memory_[device][domain].get();
  }
  // The device, or with `all` each of them, is out for all sessions: it gets no work any more.
  // Where the engine has several and this one answers, it is the one that does not. Says so in the
  // log.
  void Lose(uint32_t device, bool all, const std::string& why) const;
  bool IsLost(uint32_t device) const { return losses_->Has(device); }
  bool AllLost() const;
  const std::atomic<bool>* LostFlag(uint32_t device) const { return losses_->Flag(device); }
  std::map<uint32_t, std::string> Losses() const { return losses_->All(); }
  // What is lost for that engine of the same devices is so for this one. Before its first use.
  void ShareLosses(const Engine& other) { losses_ = other.losses_; }
  // Held around query and compile: one thread at a time may call these.
  std::mutex& call_mutex() const { return call_mutex_; }

 private:
  Engine() = default;
  Status ReadDevices();
  Status ReadDevice(const ge_device& device);
  Result<EngineDomain> ReadDomain(const ge_device& device, uint32_t i, const std::string& of) const;
  Status ReadLinks();
  void MakeMemory();
  std::shared_ptr<const Plugin> plugin_;
  std::string options_;
  EngineWords words_;
  mutable std::mutex call_mutex_;
  ge_engine_api api_{};
  ge_engine* handle_ = nullptr;
  std::vector<EngineDevice> devices_;
  std::vector<EngineLink> links_;
  std::vector<std::vector<std::unique_ptr<DomainMemory>>> memory_;  // by device and domain
  std::shared_ptr<DeviceLosses> losses_ = std::make_shared<DeviceLosses>();
};

// The engines of a session, in the order of its list; sessions share them.
using EngineList = std::vector<std::shared_ptr<Engine>>;

// PLUGIN_ERROR (or CANCELLED, RESOURCE_EXHAUSTED, DEVICE_LOST ...) naming engine, call and text.
// With an engine and one of its devices it is lost where the error's scope says so.
Status FromEngine(const Engine& engine, uint32_t device, std::string_view call, ge_rc rc,
                  const ge_err& err);
Status FromEngine(std::string_view engine, std::string_view call, ge_rc rc, const ge_err& err);
ge_err EmptyError();
// Calls a plugin's function: an exception becomes GE_INTERNAL or GE_OUT_OF_MEMORY and a text, and
// until the call returns it can be named. `what`: as of PluginCall.
template <typename What, typename Call>
ge_rc CallPlugin(const What& what, ge_err* err, Call&& call) {
  const PluginCall named(what);
  return NoThrow<ge_rc>(GE_OUT_OF_MEMORY, GE_INTERNAL, err, call);
}
// "engine 'onednn', compile".
std::string CallText(const Engine& engine, std::string_view call);

}  // namespace ge
