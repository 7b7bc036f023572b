// Frame: everything owned by one run in flight. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ge/run/device_values.h"
#include "ge/run/program.h"
#include "ge/run/red_zones.h"
#include "ge/run/stream_stamps.h"

namespace ge {

class Frame {
 public:
  explicit Frame(const Program& program) : program_(program) {}
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  Status Build();
  // A device had not ended the work of the run when it was given up: until Settled, the frame and
  // all that the run was given must stay as they are.
  bool in_flight() const { return !unsettled_.empty(); }
  // Whether all of that work has ended meanwhile.
  bool Settled();

 private:
  friend class Program;
  friend class Captures;

  // One instruction, everything resolved.
  struct Record {
    PlanOp op = PlanOp::kLaunch;
    uint32_t index = 0;  // of the instruction, for messages
    uint32_t engine = 0;
    ge_exec* exec = nullptr;
    ge_launch launch{};
    ge_copy copy{};
    ge_stream* stream = nullptr;
    ge_event* event = nullptr;
    uint64_t value = 0;
    uint64_t limit_ns = 0;  // of a wait of the host; 0 = none
  };
  // A buffer record whose address the caller gives at each run.
  struct Patch {
    ge_buf* buf;
    uint32_t index;
    bool output;
  };
  // A buffer record in an arena of a pool, whose address each run may change.
  struct Moving {
    ge_buf* buf;
    uint64_t offset;  // from the begin of the run's block
  };
  static constexpr uint32_t kHost = UINT32_MAX;
  struct Block {
    void* address = nullptr;  // null: in a pool's block
    uint64_t pooled = 0;      // where it begins there
    uint32_t lent = kHost;    // index of the domain that lends it
  };
  // What a run takes of one domain that is not the host's memory.
  struct Lent {
    DomainMemory* memory = nullptr;
    uint64_t bytes = 0, align = 64;
    uint64_t number = 0;       // of the block of the last run
    bool shows_block = false;  // launches and copies name it, as that of a device
    std::optional<DomainMemory::Lease> lease;
    std::vector<Moving> moving;
    void Attach();  // moves all addresses to the lease's block
  };

  Status Failed(uint32_t engine, uint32_t device, const char* call, ge_rc rc,
                const ge_err& err) const;
  // Moves all pooled addresses to the block at `base`.
  void Attach(char* base);
  Status TakeBlocks();
  void GiveBlocks();
  void NoteBlocks(const void* const* inputs, void* const* outputs);
  Lent* LentOf(DomainMemory* memory);
  const PlanDevice* PinningDevice() const;
  // A place at the end of a pool's block.
  static Status AddPooled(uint64_t bytes, uint64_t align, uint64_t* total, Block* block);
  Status AllocateHost(uint64_t bytes, uint64_t align, Block* block);
  Status AllocateArenas();
  Status MakeRedZones();
  Status CreateStreams();
  Status BuildRecords();
  Status BuildLaunch(const Instruction& ins, Record* record);
  ge_buf BufOf(PlanValueId id);
  void NotePatch(PlanValueId id, ge_buf* buf);
  PlanValueId Root(PlanValueId id) const;
  const RunEngine& engine(uint32_t engine) const;

  const Program& program_;
  std::vector<Block> arenas_;
  std::vector<Lent> lent_;
  std::vector<uint64_t> block_numbers_;  // of the run; for captures
  std::unique_ptr<RedZones> zones_;      // null: not guarded
  std::vector<ge_stream*> streams_;      // [0] null
  std::vector<ge_event*> events_;
  std::vector<uint32_t> event_device_;  // of the engine, whose streams signal it
  std::vector<ge_event*> drain_;        // by stream, for failures and observers
  uint64_t drained_ = 0;                // the greatest value signalled by any of them
  struct Unsettled {
    size_t stream;
    uint64_t value;  // of its drain event
  };
  std::vector<Unsettled> unsettled_;
  std::optional<ArenaPool::Lease> lease_;  // of a run in flight that was given up
  std::vector<uint64_t> last_value_;       // by event: greatest value signalled by the plan
  uint64_t epoch_ = 0;                     // runs done so far
  bool committed_ = false;                 // the run in flight overwrites states
  RunObserver* observer_ = nullptr;        // of the run in flight, where it is observed
  const Record* attended_ = nullptr;       // the launch whose steps the observer is told of
  DeviceValues on_host_;                   // what it was told of last
  std::vector<Record> records_;
  std::vector<uint64_t> stamps_;           // of a timed run: one a record, and the end
  std::vector<std::vector<ge_buf>> bufs_;  // launch arguments; never resized after Build
  std::vector<int64_t> dims_;              // of all plan values, one after another
  std::vector<uint32_t> first_dim_;        // by plan value, and the end
  std::vector<Patch> patches_;
  std::vector<Patch> device_patches_;  // where the caller gives a DevicePlace (state_memory.h)
  std::vector<Moving> moving_;
  uint64_t pooled_bytes_ = 0;                              // taken from the pool by each run
  char* base_ = nullptr;                                   // of the block of the last run
  std::vector<std::pair<SegmentId, ge_exec*>> own_execs_;  // of serial segments
  struct EngineFrame {
    uint32_t engine;
    ge_exec* exec;
    ge_frame* frame;
  };
  std::vector<EngineFrame> engine_frames_;
  std::unique_ptr<Captures> captures_;           // null: nothing to capture
  std::unique_ptr<StreamStamps> stream_stamps_;  // null: streams take no times; behind the streams
};

}  // namespace ge
