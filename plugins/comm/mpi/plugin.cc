// The engine `mpi`: collectives of domain comm through Open MPI, on host memory.
#include "plugins/comm/kit/entry.h"
#include "plugins/comm/mpi/world.h"

namespace {

// The process's one, by the options of its first engine.
std::shared_ptr<ge_engines::comm::Queue> TheQueue(const ge_engines::comm::Options& options) {
  static auto* const queue = new std::shared_ptr<ge_engines::comm::Queue>(
      std::make_shared<ge_engines::comm::Queue>(std::make_unique<ge_engines::mpi::World>(options)));
  return *queue;
}

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  return ge_engines::comm::Describe({"mpi", true, TheQueue});
}
