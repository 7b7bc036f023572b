// Plan: the value that PLACE, PARTITION, COMPILE, STREAMS and MEMORY fill in and RUN executes. It
// is complete by itself: checking, printing or running it needs no graph, no planner and no engine
// table. Data only; a finished Plan is immutable and may be read by any thread.
//
// Time model of the prover (ge/plan/check), kept by the executor:
//  - Stream 0 is the host thread. It issues the instructions of a function in their order, and
//    itself executes those of stream 0 (synchronous engines run there).
//  - An instruction of stream s > 0 is queued by the host; it starts after every earlier
//    instruction of s has finished, and after everything *executed* by the host when it was queued.
//  - kSignal on s: event reaches `event_value` when all earlier instructions of s have finished.
//  - kWait: the waiter (`stream`, 0 = the host) goes on when the event has reached the value. Its
//    signal is issued before it: devices count an event that nobody has signalled yet as reached.
//  Event values are relative to the run; each event is signalled by one stream, values ascending.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/ir/graph.h"

namespace ge {

using PlanValueId = uint32_t;  // index into PlanFunction::values; 0 = absent
using SegmentId = uint32_t;    // index into PlanFunction::segments
using DeviceId = uint32_t;     // index into Plan::devices; 0 = the host itself (no engine)
using DomainId = uint32_t;     // index into Plan::domains; 0 = host memory
using LayoutId = uint32_t;     // index into Plan::layouts; 0 = plain row-major

struct PlanEngine {  // [0] is the host itself: it copies between host blocks
  std::string name, version;
  std::string plugin_hash;  // hex build id of the .so, else its SHA-256
};

struct PlanDevice {
  uint32_t engine = 0;         // index into Plan::engines
  uint32_t engine_device = 0;  // the engine's own index
  std::string name;            // "onednn/cpu", "devsim/sim:0"
  DomainId domain = 0;
  bool async = false;
  uint32_t max_streams = 1;
  uint32_t pinned = 0;  // the engine's domain of page-locked host memory for it; 0 = none
};

struct PlanDomain {
  std::string name;     // "host", "devsim/sim"
  uint32_t engine = 0;  // that allocates it
  uint32_t engine_device = 0;
  int64_t align = 64;  // of blocks
  uint32_t flags = 0;  // GE_MEM_*
};

// Price of moving bytes from one domain to another, and the engine moving them.
struct PlanLink {
  DomainId from = 0, to = 0;
  uint32_t engine = 0;  // that performs the copy
  double latency_ns = 0, bytes_per_ns = 1;
  // Above 0: the host's end is page-locked, as its arena is, and the host copies a tensor of the
  // caller's so fast to or from there.
  double staging_bytes_per_ns = 0;
};

struct PlanLayout {
  enum class Kind : uint8_t { kPlain, kStrided, kBlocked, kOpaque } kind = Kind::kPlain;
  std::vector<uint32_t> perm, block_axis, block_size;
  std::string tag;
  int64_t opaque_bytes = 0;
  friend bool operator==(const PlanLayout&, const PlanLayout&) = default;
};
// The name in pins and ge explain: "plain", "channels-last", "order0213" (the order of axes),
// "blocked1x8" (axis 1 in blocks of 8), or the tag of an opaque one.
std::string LayoutName(const PlanLayout& layout);

// The origin of a value's bytes.
enum class PlanValueKind : uint8_t {
  kInput,      // bound by the caller at each run
  kOutput,     // bound by the caller, or allocated for it by the session
  kConstant,   // bytes of Graph constant `constant`, in this domain
  kState,      // current content of state `state`
  kTransient,  // lives in an arena between its first write and its last read
  kInternal,   // inside one segment, in an arena, live only for steps of that launch
  kWorkspace,  // scratch of one launch, in an arena
};

struct PlanValue {
  // Out of line: every file that holds one would otherwise generate them again.
  PlanValue();
  PlanValue(const PlanValue&);
  PlanValue(PlanValue&&) noexcept;
  PlanValue& operator=(const PlanValue&);
  PlanValue& operator=(PlanValue&&) noexcept;
  ~PlanValue();

  std::string name;         // for people; "t5", "Conv_3.Y@devsim"
  ValueId graph_value = 0;  // 0 when it has none (workspace, unnamed internals)
  Type type;                // static; kUnknown for workspace
  int64_t bytes = 0;        // as the layout stores it
  int64_t align = 64;
  DomainId domain = 0;
  LayoutId layout = 0;
  PlanValueKind kind = PlanValueKind::kTransient;
  ConstId constant = 0;
  StateId state = 0;   // kState; an input or output that is a state before or after the run
  uint32_t index = 0;  // kInput, kOutput: position in the entry's signature
  // The place given by MEMORY: arena of this domain (index into PlanFunction::arenas) and offset.
  int32_t arena = -1;  // -1 = not in an arena
  int64_t offset = 0;
  // The same bytes as another value (reshape in place, in-place output): offsets agree by rule. An
  // output may claim the place of an input: the run gives both one address.
  PlanValueId alias_of = 0;
  SegmentId segment = 0;                   // kInternal, kWorkspace: the owner
  uint32_t first_step = 0, last_step = 0;  // kInternal: steps inside the launch
  PlanValueId internal_alias = 0;          // kInternal: may overlay that internal value
};

// A layout change offered by an engine, inside one domain.
struct PlanConversion {
  DeviceId device = 0;
  LayoutId from = 0, to = 0;
  uint64_t cookie = 0;
  double setup_ns = 0, ns_per_byte = 0;  // setup includes the launch
};

struct PlanOffer {  // one offer that a segment takes
  std::vector<NodeId> nodes;
  uint64_t cookie = 0;
  uint32_t choice = 0;
  uint32_t const_align = 0;  // as in ge_offer
  uint32_t offer_index = 0;  // in PLACE's list; COMPILE strikes an offer by it
  bool rounds = false;       // GE_OFFER_ROUNDS
  double setup_ns = 0, marginal_ns = 0, launch_ns = 0, edge_saving_ns = 0;
  // Border values with a layout other than plain in this choice.
  std::vector<std::pair<ValueId, LayoutId>> layouts;
};

struct PlanSegment {
  // Out of line: every file that holds one would otherwise generate them again.
  PlanSegment();
  PlanSegment(const PlanSegment&);
  PlanSegment(PlanSegment&&) noexcept;
  PlanSegment& operator=(const PlanSegment&);
  PlanSegment& operator=(PlanSegment&&) noexcept;
  ~PlanSegment();

  DeviceId device = 0;
  std::vector<PlanOffer> offers;  // topological order
  std::vector<PlanValueId> inputs, outputs, internals;
  PlanValueId workspace = 0;           // 0 = none
  std::vector<PlanValueId> constants;  // read at compile
  uint32_t n_step = 1;                 // of its internal values
  // (output position, input position): may share one place.
  std::vector<std::pair<uint32_t, uint32_t>> may_alias;
  // Segments that must have run before this one though it reads no output of theirs: effects of one
  // object, `after` edges.
  std::vector<SegmentId> after;
  int32_t conversion = -1;  // index into Plan::conversions: a layout change, no nodes
  bool serial = false;      // one exec a frame
  bool infallible = false;  // its launches cannot fail
  bool capturable = false;  // its launch may be captured
  // Its first input is a cache with some rows in use, and its output that cache with more: in place
  // it only writes rows that have no meaning until the run has succeeded, whenever it runs
  // (ge.KvAppend).
  bool appends = false;
  double predicted_ns = 0;  // setup + marginals + launch - savings
};

enum class PlanOp : uint8_t {
  kLaunch,  // segment on stream
  kCopy,    // src -> dst on stream, by `engine`
  kSignal,  // stream signals event/value
  kWait,    // stream (0 = host) waits for event/value
  // The host: every fallible instruction is done, and the caller can no longer cancel the run.
  // Behind it are launches of infallible segments alone, and what the host waits for them by. They
  // overwrite inputs by outputs in their place: states where they lie.
  kCommit,
};

struct Instruction {
  PlanOp op = PlanOp::kLaunch;
  uint32_t stream = 0;
  SegmentId segment = 0;         // kLaunch
  PlanValueId src = 0, dst = 0;  // kCopy
  uint32_t engine = 0;           // kCopy: index into Plan::engines
  uint32_t event = 0;            // kSignal, kWait: index into PlanFunction::events
  uint64_t event_value = 0;
  double predicted_ns = 0;  // kLaunch, kCopy
};

struct PlanStream {
  DeviceId device = 0;  // streams[0]: the host
};

struct PlanEvent {
  uint32_t engine = 0;  // its maker
};

struct PlanArena {
  DomainId domain = 0;
  enum class Use : uint8_t { kTransient, kPersistent, kState } use = Use::kTransient;
  int64_t bytes = 0;
};

struct PlanFunction {
  // Out of line: every file that holds one would otherwise generate them again.
  PlanFunction();
  PlanFunction(const PlanFunction&);
  PlanFunction(PlanFunction&&) noexcept;
  PlanFunction& operator=(const PlanFunction&);
  PlanFunction& operator=(PlanFunction&&) noexcept;
  ~PlanFunction();

  std::string name;
  std::vector<PlanValue> values;  // [0] absent
  std::vector<PlanSegment> segments;
  std::vector<PlanStream> streams;  // [0] = host
  std::vector<PlanEvent> events;
  std::vector<PlanArena> arenas;
  std::vector<Instruction> code;
  std::vector<PlanValueId> inputs, outputs;  // by position
};

// One engine's answer for one node; kept for `ge explain`.
struct Bid {
  DeviceId device = 0;
  double price_ns = 0;      // setup + marginal + launch when taken alone
  double analytic_ns = 0;   // as the engine asked it
  double measured_ns = -1;  // as measured; -1 = never
  double inside_ns = -1;    // its measured share of a larger segment; -1 = never
  double factor = 1;        // of the host's correction: price_ns / analytic_ns
  std::string source;       // "analytic", "guess", "host", "table", "measured", "doubtful"
  std::string pattern;      // "Conv+Relu" when it belongs to a pattern, else empty
  bool rounds = false;      // GE_OFFER_ROUNDS
  bool declined = false;
  std::string why;  // decline reason
};

struct NodeReport {
  // Out of line: every file that holds one would otherwise generate them again.
  NodeReport();
  NodeReport(const NodeReport&);
  NodeReport(NodeReport&&) noexcept;
  NodeReport& operator=(const NodeReport&);
  NodeReport& operator=(NodeReport&&) noexcept;
  ~NodeReport();

  NodeId node = 0;
  std::string label, op;
  int32_t chosen = -1;  // index into bids
  int32_t runner_up = -1;
  SegmentId segment = 0;
  std::vector<Bid> bids;
  std::string decomposition;  // why it stayed whole, or the node it is a part of; empty = neither
};

struct Plan {
  // Out of line: every file that holds one would otherwise generate them again.
  Plan();
  Plan(const Plan&);
  Plan(Plan&&) noexcept;
  Plan& operator=(const Plan&);
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  std::string graph_name, entry;
  std::vector<PlanEngine> engines;  // [0] = host
  std::vector<PlanDevice> devices;  // [0] = host
  std::vector<PlanDomain> domains;  // [0] = host
  std::vector<PlanLink> links;
  std::vector<PlanLayout> layouts;  // [0] = plain
  std::vector<PlanConversion> conversions;
  std::vector<PlanFunction> functions;  // [0] = the entry
  uint32_t rank = 0, world = 1;
  std::vector<uint32_t> groups;
  // PLACE's prediction of the whole. NaN until PARTITION for a plan placed like another one: then
  // the sum predicted for that plan's parts.
  double predicted_ns = 0;
  std::string place_method;  // how the solver found it
  uint32_t searches = 0;     // of PLACE, until it was found
  std::vector<NodeReport> report;
  // Used instead of `report` where plans of one class share it: hundreds of bytes a node.
  std::shared_ptr<const std::vector<NodeReport>> shared_report;
  const std::vector<NodeReport>& reports() const { return shared_report ? *shared_report : report; }
};

}  // namespace ge
