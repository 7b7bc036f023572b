// Beats: whether the other ranks live, and what they say at their end, on a communicator of its
// own. Each tells all others once a second how many collectives it has begun; a rank that is silent
// for longer than the lease is lost. Who fails tells the reason. One caller at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/comm/mpi/library.h"

namespace ge_engines::mpi {

class Beats {
 public:
  // comm: duplicated from the world's, with errors that return.
  Beats(const Library* mpi, MPI_Comm comm, int rank, int ranks, uint64_t lease_ns);
  // Called all the time. begun: collectives of this rank.
  void Tend(uint64_t begun);
  // Tells all that this rank cannot go on, or that its process ends. Once each.
  void TellFailed(const std::string& why, uint64_t begun);
  void TellLeaving(int status, uint64_t begun);
  // Nobody is heard any more; before MPI ends.
  void Stop();

  // Why no collective can go on: a rank is lost, or failed. Empty: none.
  const std::string& fault() const { return fault_; }
  // Of the ranks that have begun fewer collectives: those that ended; all, for people.
  std::string EndedBefore(uint64_t begun) const;
  std::string Behind(uint64_t begun) const;
  // Whether each other rank has left, or is lost.
  bool AllGone() const;
  bool AllLeftWell() const;

 private:
  enum class Kind : uint32_t { kBeat, kFailed, kLeaving };
  // What is sent; the same machine type on all ranks.
  struct Word {
    Kind kind;
    int32_t status;
    uint64_t begun;
    char text[368];
  };
  struct Peer {
    uint64_t heard_ns = 0, begun = 0;
    bool left = false, lost = false;
    int32_t status = 0;
    Word beat{};
    MPI_Request beating = nullptr;
  };
  bool IsMe(size_t r) const { return r == static_cast<size_t>(rank_); }
  void Listen();
  void Hear(const Word& word, size_t from, uint64_t now);
  void SendBeats(uint64_t begun);
  void Judge(uint64_t now);
  void Tell(Kind kind, int status, const std::string& text, uint64_t begun);

  const Library& mpi_;
  const MPI_Comm comm_;
  const int rank_;
  const uint64_t lease_ns_;
  std::vector<Peer> peer_;  // by rank
  Word heard_{};
  MPI_Request listening_ = nullptr;
  uint64_t tended_ns_ = 0, sent_ns_ = 0;
  bool stopped_ = false;
  std::string fault_;
};

}  // namespace ge_engines::mpi
