// A compiled model: a capsule with the rewritten graph and, for each signature that was compiled,
// the bound graph, its plan and the packs that its segments read. A session that fits takes a plan
// from it without asking an engine for a price, and maps the packs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/capsule/compiled_index.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/compiled/saved_plan.h"
#include "ge/ir/graph.h"

namespace ge {

class Session;

struct PlanToSave {
  std::string entry;                   // empty: a piece
  std::shared_ptr<Compiled> compiled;  // with its graph
};
struct SaveReport {
  uint64_t plans = 0, packs = 0, pack_bytes = 0, bytes = 0;
};
// IO_ERROR with the path; UNSUPPORTED where caches grow. An earlier file of the name stays whole
// until the new one is.
Status SaveCompiledFile(Session* session, std::span<const PlanToSave> plans,
                        const std::string& path, SaveReport* report);

// Immutable; any thread.
class CompiledFile {
 public:
  // IO_ERROR, DATA_CORRUPT naming member and field.
  static Result<std::unique_ptr<CompiledFile>> Open(std::shared_ptr<const CapsuleReader> capsule);
  // What is not as it was there, "threads: 2 there, 4 here"; empty where all fits: of the session's
  // options and machine; of the engines that the plans need.
  std::string MisfitOfOptions(const Session& session) const;
  std::string MisfitOfEngines(const EngineList& engines) const;
  const CompiledIndex& index() const { return index_; }
  const std::string& path() const { return capsule_->path(); }
  // Everything of the i-th plan; DATA_CORRUPT naming member and field.
  struct Loaded {
    Graph graph;
    FunctionId fn = 0;
    SavedPlan plan;
  };
  Result<Loaded> Load(size_t i) const;

 private:
  Result<SavedPack> PackOf(const CompiledPack& pack) const;
  std::shared_ptr<const CapsuleReader> capsule_;
  CompiledIndex index_;
};

}  // namespace ge
