// Reduction: a large reduction over a group, as an exchange, a sum of what came, and a gather: each
// rank sends and adds its part of the work, where Open MPI's nonblocking ones let one rank do all.
// Added in the order of the ranks, so that results follow from the group alone.
//
// It goes in pieces, of which one is under way while another is added up. Every rank begins the
// same calls in the same order. Owned by a call; one caller at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/comm/mpi/library.h"

namespace ge_engines::mpi {

class Reduction {
 public:
  // block: elements of each rank's part, by place. gathers: all get all parts, else each its own.
  Reduction(const Library* mpi, MPI_Comm comm, size_t place, int32_t dtype, MPI_Op op,
            const std::vector<uint64_t>& block, bool gathers);
  uint64_t room() const { return kUnderWay * room_bytes_; }  // bytes
  // A reason; empty: begun. `to` is not `from`; room: memory for it until it is done.
  std::string Begin(const void* from, void* to, char* room);
  // Goes on. A reason; empty: as *done says.
  std::string Step(bool* done);

 private:
  // What the ranks exchange at once, in elements: by rank, to it and from it; then what is
  // gathered.
  struct Piece {
    std::vector<int> to_count, to_at, from_count, from_at;
    int first = 0, count = 0;  // of this rank's part in the tensor
    MPI_Request exchanged = nullptr, gathered = nullptr;
  };
  std::string Exchange(size_t piece);
  std::string AddUp(const Piece& piece, const char* room);
  char* RoomOf(size_t piece) const { return room_ + piece % kUnderWay * room_bytes_; }

  static constexpr size_t kUnderWay = 2;  // pieces
  const Library& mpi_;
  const MPI_Comm comm_;
  const size_t place_;
  const uint64_t each_;  // bytes of an element
  const MPI_Datatype type_;
  const MPI_Op op_;
  const bool gathers_;
  int own_ = 0;  // where this rank's part begins in the tensor
  std::vector<Piece> piece_;
  uint64_t room_bytes_ = 0;
  char* room_ = nullptr;
  const char* from_ = nullptr;
  char* to_ = nullptr;
  size_t added_ = 0, gathered_ = 0;  // pieces done
};

}  // namespace ge_engines::mpi
