// The entry points of an engine of collectives over a Transport: query, compile, streams, events.
//
// Options of every such engine:
//   async=0|1     whether its device works while the host goes on (1)
//   wait=SECONDS  how long a rank waits for others that live and do not come (600)
#pragma once

#include <memory>
#include <string>

#include "ge/ge_plugin.hpp"
#include "plugins/comm/kit/queue.h"

namespace ge_engines::comm {

struct Options {
  bool async = true;
  uint64_t wait_ns = 600'000'000'000, lease_ns = 5'000'000'000;
};

// What an engine brings.
struct Brought {
  const char* name;
  bool leases;  // it takes the option lease=SECONDS
  // The queue of an engine that is made; the same one again where the process has one alone.
  std::shared_ptr<Queue> (*queue)(const Options& options);
};
const ge_plugin_desc* Describe(const Brought& brought);

}  // namespace ge_engines::comm
