// StateSlot: the memory of one state: its content, where runs write beside it, and whether it was
// lost. Whoever reads or writes it holds it by a StateAccess (state_locks.h), apart from the
// counts, which any thread may read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/state_memory.h"
#include "ge/run/tensor_view.h"

namespace ge {

struct StateSlot {
  std::string name;
  Type type;           // as it is; static
  uint64_t bytes = 0;  // of it
  StateMemory now;     // none where it was lost to a run in flight
  StateMemory next;    // none until a run writes beside
  bool lost = false;

  // DATA_CORRUPT for a lost state.
  Status Readable() const;
  // Copies the first `size` bytes out of a state that is Readable; its device may be found lost
  // just now.
  Status Out(void* to, uint64_t size) const;
  // Fills in dtype and dims; copies, and allocates where `out` has no data but bytes to give.
  Status Get(TensorView* out) const;
  // A value of this type, which may be of another size than the one before; into host memory.
  Status Set(const Type& given, const void* data);
  // In a memory that a run wants; `moves` counts.
  Status MoveTo(const StateHome& home, std::atomic<uint64_t>* moves);
  // In host memory of its own, not initialised.
  Status MakeAtHost();
  void Count();  // what it holds, after a change of memories

  std::atomic<uint64_t> held{0}, on_device{0};  // bytes of both memories; of them on devices
  // Guarded by the mutex of the StateLocks: who holds it, and whether the next turn is another's.
  uint32_t readers = 0, writers = 0;
  bool due_read = false, due_write = false;
};

}  // namespace ge
