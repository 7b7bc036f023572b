// The manifest of a capsule: what it holds, who made it, of which run. Written first, so that it is
// there however the run ends; the outcome is a member of its own, written last. JSON. Values owned
// by their holder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/ir/dtype.h"

namespace ge {

inline constexpr char kManifestMember[] = "manifest.json";
// The record of the machine, which engines scale their prices by, as ge/host/probe.h writes it.
inline constexpr char kMachineMember[] = "machine.json";
inline constexpr char kOutcomeMember[] = "outcome.json";
// What a run in pieces has made, whose sizes the manifest cannot know.
inline constexpr char kResultsMember[] = "results.json";
inline constexpr int64_t kCapsuleVersion = 1;

struct CapsuleGraph {
  std::string stage;  // "load", "rewrite", "check": after this stage
  std::string member;
};

struct CapsuleEngine {
  std::string name, version;
  std::string hash;  // build id of the plugin
};

// A tensor of the run.
struct CapsuleTensor {
  std::string name;
  uint32_t plan_value = 0;   // index into the plan's values; 0 for one inside of a segment
  uint32_t graph_value = 0;  // id in the graph of stage "check"; 0 for one that it does not have
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::string member;  // empty where its statistics alone are recorded
  // Empty for a tensor, else "sequence", of dims[0] values that follow it in the list, "map", whose
  // keys and values follow, or "none".
  std::string kind = {};
};

struct CapsuleManifest {
  std::string product;  // "GraphEngine 0.9.0"
  std::string model;    // the file's name, without its folder
  std::string entry;
  std::string isa;
  uint32_t threads = 0;
  std::string numerics, precision, denormals;  // of the session, as the command line spells them
  uint64_t seed = 0;                           // of inputs that were made up
  uint64_t run = 0;                            // of the session, from 1; 0 = it was not counted
  int64_t kv_cache = 0;                        // rows that growing caches have; 0 = there are none
  std::vector<CapsuleEngine> engines;
  std::vector<CapsuleGraph> graphs;
  std::string plan;                // member; empty where there is none
  bool in_pieces = false;          // the run has plans of pieces alone; see pieces.h
  std::vector<uint32_t> expanded;  // nodes of the bound graph that became their parts before PLACE
  std::vector<CapsuleTensor> inputs, states;
  // Members that a finished run has, in the order of their making.
  std::vector<CapsuleTensor> values, outputs;
  std::vector<CapsuleTensor> states_after;  // that the run writes, as it left them
  std::vector<std::string> left_out;        // values that lie in a device's memory
};

struct CapsuleOutcome {
  bool done = false;
  std::string message;  // of the failure
};

Status WriteManifest(const CapsuleManifest& manifest, CapsuleWriter* writer);
// The outputs and states that a run in pieces has made.
Status WriteResults(const std::vector<CapsuleTensor>& outputs,
                    const std::vector<CapsuleTensor>& states_after, CapsuleWriter* writer);
// With those results, where there are any. DATA_CORRUPT naming capsule, member and field;
// UNSUPPORTED: a later version.
Result<CapsuleManifest> ReadManifest(const CapsuleReader& capsule);
Status WriteOutcome(const CapsuleOutcome& outcome, CapsuleWriter* writer);
// Not done, without a message, where the run's process was ended before it was written.
Result<CapsuleOutcome> ReadOutcome(const CapsuleReader& capsule);

}  // namespace ge
