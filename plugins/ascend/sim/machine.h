// Machine: the simulated devices of a process, behind every function that the simulated libraries
// export. Its options stand in the environment variable GE_SIM_ASCEND, as pairs of a list of
// options; beside those of ../../device/sim/options.h:
//   devices=N          how many there are (1)
//   bytes=N            memory of each (32 GiB)
//   chip=NAME          910b, 310p, or the name of a chip that nobody knows (910b)
//   streams=N          most streams of a device, events=N likewise, of those to be reset
//                      (those of the chip)
//   init=CODE          aclInit answers that
//   off=RULE+RULE      rules of rules.def that are not looked at
//   refuse=FUNCTION:K:CODE  the K-th call of the vendor's FUNCTION, or of `any`, answers CODE and
//                      does nothing else; what destroys or frees does not count
//   spill=N            every operator writes N bytes behind its workspace
//   padding=N          the padding of private formats is filled with this number, not with a NaN of
//                      the simulator's own, before and after each operator
//   without=NAME       an operator, as operators.def names it, that is not simulated
//   calls=FILE         when the process ends, the number of calls of devices is written there, a
//                      line of each kind of them, a line of each function of the vendor's, of each
//                      operator's tensors in private formats, and of the bytes that were copied
//                      from the host and to it
//   reports=FILE       broken rules are appended there, what was left among them when the process
//                      ends
// A rule that is broken fails the call. One that the simulator of devices finds broken, a race say,
// fails all later ones too, so that no test passes over it.
// With a wrong option every call fails, and says which. Any thread may call.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/ascend/sim/door.h"
#include "plugins/ascend/sim/rules.h"
#include "plugins/device/sim/options.h"
#include "plugins/device/sim/simulator.h"

namespace ge_engines::ascend::sim {

namespace simulated = ge_engines::device::sim;

struct ContextState {
  int device = 0;
  simulated::Stream own = simulated::Stream::kNone;  // where the null stream is, once it is used
};
struct EventState {
  uint64_t context = 0;
  bool timed = false, recorded = false;
  bool plain = false;  // it is reset ahead of another record,
  bool reset = false;  // and was
};
struct BlockState {
  uintptr_t end = 0;
  int device = -1;  // -1: page-locked memory of the host
  uint64_t context = 0;
};

// What the process has made. The machine's lock is held around all uses.
struct Tables {
  std::map<uint64_t, ContextState> contexts;  // by number; numbers are never used again
  uint64_t next_context = 0;
  std::vector<uint64_t> primaries;       // of each device; 0: none
  std::map<uint64_t, uint64_t> streams;  // to their contexts
  std::map<uint64_t, EventState> events;
  std::map<uintptr_t, BlockState> blocks;  // by their first byte
  std::set<std::pair<int, int>> peers;     // (device, the other that it may reach)
  std::map<std::string, int64_t> objects;  // how many of each kind live

  // The block that holds an address; end(): none does.
  std::map<uintptr_t, BlockState>::const_iterator BlockAt(const void* address) const;
};

class Machine {
 public:
  static Machine& Get();
  ~Machine();

  std::mutex& mutex() { return mutex_; }  // of the tables and the devices
  simulated::Simulator& simulator() { return *simulator_; }
  Tables& tables() { return tables_; }
  int devices() const { return simulator_->device_count(); }
  const Chip& chip() const { return chip_; }
  uint64_t spill() const { return spill_; }
  std::optional<float> padding() const { return padding_; }
  const std::string& without() const { return without_; }
  acl::Status initialization() const { return init_; }
  bool& initialized() { return initialized_; }

  // Every function of the vendor's asks first: what it must answer, doing nothing else. `counts`:
  // a planted refusal may be of it. Not for `aclInit`: it comes before.
  acl::Status Enter(const char* function, bool counts = true, bool first = false);
  // The answer of a call that breaks a rule; kSuccess where that is off, and the call goes on.
  acl::Status Break(Rule rule, const std::string& what);
  bool Off(Rule rule) const { return off_[static_cast<size_t>(rule)]; }
  // What a call of the simulator's means, and what was found by it.
  acl::Status Of(simulated::Code code);
  // Puts a text beside an answer.
  acl::Status Say(acl::Status status, const std::string& text);
  // Adds to a line of the option `calls`.
  void Count(const std::string& what, uint64_t n);
  // Work that failed: why, for the call that shows it.
  void Late(std::string why);

  // Of the thread's calls. A number; 0: none.
  static uint64_t& Current();
  // The current context; where there is none, and nobody minds, the first device's own.
  acl::Status Context(const char* function, uint64_t* context);
  // The simulator's stream: null is the context's own.
  acl::Status StreamOf(const char* function, uint64_t context, acl::Stream stream,
                       simulated::Stream* found);
  uint64_t PrimaryOf(int device);
  uint64_t AddContext(int device);
  acl::Status EndContext(uint64_t context);

 private:
  Machine();
  void Read(const std::string& options);
  void ReadRules(std::string_view names);
  void ReadRefusal(std::string_view text);
  void ReadChip(std::string_view name);
  void Append(const std::string& path, const std::string& text) const;
  void Tell();

  std::unique_ptr<simulated::Simulator> simulator_;
  std::mutex mutex_;
  Tables tables_;
  Chip chip_;
  std::string chip_name_;
  std::array<bool, static_cast<size_t>(Rule::kCount)> off_{};
  acl::Status init_ = acl::kSuccess;
  bool initialized_ = false;
  uint64_t spill_ = 0;
  std::optional<float> padding_;
  std::string without_;

  std::mutex said_mutex_;  // of what follows: work says it, too, inside a call
  std::string calls_file_, reports_file_, wrong_;
  std::string late_;   // of the work that failed first
  std::string found_;  // the first finding of the simulator; empty: none
  acl::Status found_status_ = acl::kSuccess;
  std::map<std::string, uint64_t> functions_;  // calls of each
  std::map<std::string, uint64_t> counted_;    // what else is told
  std::string refused_;                        // the function of a planted refusal, or `any`
  uint64_t refused_left_ = 0;                  // calls until it
  acl::Status refused_status_ = acl::kSuccess;
};

// Calls use(machine) as a function of the vendor's.
template <class Use>
acl::Status InLibrary(const char* function, bool counts, const Use& use) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  const acl::Status s = machine.Enter(function, counts);
  return s != acl::kSuccess ? s : use(machine);
}
// Calls use(machine, context, its device), in a context.
template <class Use>
acl::Status InContext(const char* function, bool counts, const Use& use) {
  return InLibrary(function, counts, [&](Machine& machine) {
    uint64_t context = 0;
    const acl::Status s = machine.Context(function, &context);
    if (s != acl::kSuccess) return s;
    return use(machine, context, machine.tables().contexts.at(context).device);
  });
}

}  // namespace ge_engines::ascend::sim
