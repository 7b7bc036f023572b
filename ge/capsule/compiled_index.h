// The index of a compiled model: what its session was, and where each of its plans, their graphs
// and packs lie in the capsule. JSON. Values owned by their holder; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"

namespace ge {

inline constexpr char kCompiledMember[] = "compiled.json";

struct CompiledEngine {
  std::string name, hash, options;
  bool used = true;  // by a plan, or for its operators; the others need not be there
};
struct CompiledPack {
  uint32_t segment = 0;
  uint64_t values = 0;       // as PackValues
  std::string name;          // as Resident::Name
  std::string member, hash;  // XXH3 of its bytes, in hexadecimal
};
struct CompiledShape {
  std::vector<int64_t> dims;
};
struct CompiledPlan {
  std::string entry;
  // Of a piece of an entry that runs in pieces: the key of its bound graph; else empty.
  std::string piece;
  uint32_t fn = 0;                    // of a piece: its function in `graph`
  std::vector<CompiledShape> inputs;  // of the entry's own parameters
  std::string graph, plan;            // members
  std::vector<uint32_t> expanded;     // nodes that had become their parts
  std::vector<uint32_t> states_in, states_out;
  uint64_t shape_class = 0, looser_class = 0;  // keys of ShapeClasses; 0: none
  uint64_t over_floor = 1000;                  // as ClassCover's, in thousandths
  std::vector<CompiledPack> packs;
};
struct CompiledIndex {
  std::string cpu, isa, numerics, precision, denormals;
  uint32_t isa_mask = 0, threads = 0;
  std::vector<CompiledEngine> engines;
  std::vector<CompiledPlan> plans;
  std::vector<std::string> in_pieces;  // entries that run so
};

Status WriteCompiledIndex(const CompiledIndex& index, CapsuleWriter* writer);
// DATA_CORRUPT naming capsule, member and field.
Result<CompiledIndex> ReadCompiledIndex(const CapsuleReader& capsule);

}  // namespace ge
