// The engine `ranks`: collectives of domain comm between sessions of one process, each of which is
// the rank that its nodes state. For tests: what ranks compute is seen without a launcher. With
// GE_RANKS_KEEP the engine `ranks_keep`, which fails as MPI does.
#include "plugins/comm/kit/entry.h"
#include "plugins/comm/ranks/rendezvous.h"

namespace {

#ifdef GE_RANKS_KEEP
constexpr bool kKeeps = true;
#else
constexpr bool kKeeps = false;
#endif

std::shared_ptr<ge_engines::comm::Queue> NewQueue(const ge_engines::comm::Options& options) {
  return std::make_shared<ge_engines::comm::Queue>(
      std::make_unique<ge_engines::ranks::Rendezvous>(options.wait_ns, kKeeps));
}

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  return ge_engines::comm::Describe({kKeeps ? "ranks_keep" : "ranks", false, NewQueue});
}
