// The shadow of one block's bytes, or of all pageable memory: who wrote each last, and who read it
// since. It compares clocks and so finds each first race on a byte, in whatever order the work
// runs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugins/device/sim/clock.h"

namespace ge_engines::device::sim {

// Who accesses memory, for reports.
struct Actor {
  std::string name;     // of a kernel, copy or fill, or what the host called itself
  uint64_t call = 0;    // the driver call that handed it over; of the host: the last one before
  uint64_t stream = 0;  // 0: the host
  uint64_t graph = 0;   // launched as part of it
  std::string text(bool write) const;
};

// One access as it happens: the epoch is the step of its own lane, the clock is what it comes
// after.
struct Step {
  Epoch epoch;
  const VectorClock* clock = nullptr;
  std::shared_ptr<const Actor> actor;
};

struct Conflict {
  std::shared_ptr<const Actor> earlier;
  bool earlier_writes = false;
  size_t begin = 0;
  size_t end = 0;
};

class Shadow {
 public:
  // Accesses of bytes [begin, end). Each adds what it is in no order with.
  void Read(size_t begin, size_t end, const Step& step, std::vector<Conflict>* conflicts);
  void Write(size_t begin, size_t end, const Step& step, std::vector<Conflict>* conflicts);
  // What a read of [begin, end) would conflict with.
  std::vector<Conflict> Unordered(size_t begin, size_t end, const VectorClock& clock) const;
  // All accesses that `clock` does not know.
  std::vector<Conflict> Unknown(const VectorClock& clock) const;
  // Pairs of begin and end inside [begin, end) that nobody wrote.
  std::vector<std::pair<size_t, size_t>> Unwritten(size_t begin, size_t end) const;
  // Forgets accesses that the host knows, and so all later work: they can be in no race any more.
  void Forget(const VectorClock& host);
  size_t size() const { return cells_.size(); }

 private:
  struct Mark {
    Epoch epoch;
    std::shared_ptr<const Actor> actor;
  };
  struct Cell {
    size_t end = 0;
    Mark writer;                // no actor: nobody
    std::vector<Mark> readers;  // since; none comes after another
  };
  using Cells = std::map<size_t, Cell>;

  Cells::iterator Split(size_t at);  // the first cell at or behind `at`
  static void Collect(size_t begin, size_t end, const Mark& mark, bool writes,
                      const VectorClock& clock, std::vector<Conflict>* conflicts);

  Cells cells_;
};

}  // namespace ge_engines::device::sim
