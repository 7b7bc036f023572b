#include "plugins/gpu/sim/door.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ge/ge_plugin.hpp"
#include "plugins/gpu/sim/current.h"
#include "plugins/gpu/sim/machine.h"

namespace ge_engines::gpu::sim {
namespace {

class MachineDoor final : public Door {
 public:
  MachineDoor() {
    const char* given = std::getenv("GE_SIM_LIBRARIES");
    std::string_view rest = given == nullptr ? "" : given;
    for (ge::plugin::OptionText t; ge::plugin::NextOption(&rest, &t);) {
      if (t.key == "calls") {
        calls_file_ = t.value;
      } else if (t.key == "fail" && Plant(std::string(t.value))) {
        continue;
      } else {
        (void)std::fprintf(stderr, "GE_SIM_LIBRARIES: '%.*s' is not understood\n",
                           static_cast<int>(t.key.size()), t.key.data());
        wrong_ = true;
      }
    }
  }
  ~MachineDoor() {
    std::FILE* file = calls_file_.empty() ? nullptr : std::fopen(calls_file_.c_str(), "a");
    if (file == nullptr) return;
    const auto tell = [&](const char* words, uint64_t n) {
      (void)std::fprintf(file, "%s%llu\n", words, static_cast<unsigned long long>(n));
    };
    tell("", calls_);
    for (const auto& [function, n] : calls_of_) tell((function + " ").c_str(), n);
    (void)std::fclose(file);
  }

  int Device() override { return CurrentDevice(); }
  cuda::Status Launch(cuda::Stream stream, const char* name, std::vector<simulated::Range> reads,
                      std::vector<simulated::Range> writes, std::function<void()> body) override {
    if (CurrentDevice() < 0) return cuda::kInvalidContext;
    return Machine::Get().Launch(stream, name, std::move(reads), std::move(writes),
                                 [body = std::move(body)] { return body(), true; });
  }
  int Planted(const char* function) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++calls_;
    ++calls_of_[function];
    if (wrong_) return 1;  // whatever that means to a library, it is no success
    if (left_ == 0 || (function_ != "any" && function_ != function)) return 0;
    return --left_ == 0 ? status_ : 0;
  }

 private:
  // FUNCTION:K:STATUS; false where it is no such text.
  bool Plant(const std::string& text) {
    const size_t first = text.find(':'), last = text.rfind(':');
    if (first == std::string::npos || first == last) return false;
    function_ = text.substr(0, first);
    left_ = std::strtoull(text.c_str() + first + 1, nullptr, 10);
    status_ = std::atoi(text.c_str() + last + 1);
    return left_ > 0 && status_ != 0;
  }

  std::mutex mutex_;  // of what follows
  uint64_t calls_ = 0;
  std::map<std::string, uint64_t> calls_of_;  // by function
  std::string calls_file_, function_;
  uint64_t left_ = 0;  // calls until the one that fails
  int status_ = 0;
  bool wrong_ = false;
};

}  // namespace
}  // namespace ge_engines::gpu::sim

extern "C" __attribute__((visibility("default"))) ge_engines::gpu::sim::Door* ge_sim_door() {
  static ge_engines::gpu::sim::MachineDoor door;
  return &door;
}
