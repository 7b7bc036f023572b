// Graphs in a capsule: `graph/STAGE.gepb` in our own format, the payloads of its constants as
// members `const/N-NAME.npy` that several graphs share. Graphs that are read have their constants
// where the file is mapped, and keep it open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ge/base/status.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/ir/graph.h"

namespace ge {

// Writes each payload once, however many graphs have it. One thread; the writer outlives it.
class GraphMembers {
 public:
  explicit GraphMembers(CapsuleWriter* writer) : writer_(*writer) {}
  // `member`: the graph's name in the capsule. The file's constants must be readable.
  Status Write(const std::string& member, const Graph& graph);

 private:
  struct Payload {
    std::shared_ptr<const void> owner;  // no other payload takes its address meanwhile
    ExternalRef place;
  };
  Result<ExternalRef> PlaceOf(const Const& constant);

  CapsuleWriter& writer_;
  std::map<std::pair<const void*, uint64_t>, Payload> payloads_;
};

// DATA_CORRUPT with the capsule, the member and the field. `trusted`: the payloads of constants are
// mapped and their checksums not computed, which reads them all.
Result<Graph> ReadGraphMember(const std::shared_ptr<const CapsuleReader>& capsule,
                              const std::string& member, bool trusted = false);

}  // namespace ge
