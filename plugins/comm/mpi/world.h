// World: the ranks that were launched together with this process. libmpi is opened, and MPI begun,
// when somebody first asks for it. One for the process, never destroyed: MPI ends once. Calls take
// turns, so any thread may make them; all ranks have to make the same ones in the same order.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/comm/mpi/library.h"

namespace ge_engines::mpi {

struct Sum {
  int32_t dtype;
  uint64_t count;    // elements
  const void* from;  // may be `to`
  void* to;
};

class World {
 public:
  // Null where this process has no other ranks to speak to, with the reason.
  static World* Get(std::string* why);
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool Sums(int32_t dtype) const { return mpi_.Summed(dtype) != nullptr; }

  // Each answers a reason, empty when done, and GE_CANCELLED by *cancelled when *stop has ended it:
  // no call is made any more then, since the other ranks wait in this one.
  std::string AllReduce(std::span<const Sum> sums, const uint32_t* stop, bool* cancelled);
  // bytes: by rank, in order, at `to`.
  std::string AllGather(const void* from, const std::vector<int>& bytes, void* to,
                        const uint32_t* stop, bool* cancelled);
  // Whether all ranks have come with the same number.
  std::string WantSame(uint64_t digest, const uint32_t* stop, bool* cancelled);

 private:
  World() = default;
  bool Begin(std::string* why);
  std::string Finish(std::vector<MPI_Request>* requests, const uint32_t* stop, bool* cancelled);
  std::string Failure(const char* call, int code) const;

  Library mpi_;
  std::mutex turn_;
  MPI_Comm comm_ = nullptr;
  int rank_ = 0, ranks_ = 1;
  bool given_up_ = false;  // a call was left while others wait in it
};

}  // namespace ge_engines::mpi
