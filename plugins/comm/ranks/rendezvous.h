// Rendezvous: a Transport between sessions of one process, of which each is a rank. Ranks of one
// mesh text find each other; the last to come does the work of all, reducing in the order of the
// group. The oracle of tests. Any thread may call.
//
// A mesh in which one rank fails, comes twice at once, or is gone while others wait is broken: all
// of its ranks end with the reason, until all of their programs are gone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/comm/kit/transport.h"

namespace ge_engines::ranks {

using comm::Failure;
using comm::Group;
using comm::Round;
using comm::Transfer;

class Rendezvous : public comm::Transport {
 public:
  // keeps: it fails as MPI does, as if it still had the buffers of what did not end.
  Rendezvous(uint64_t wait_ns, bool keeps) : wait_ns_(wait_ns), keeps_(keeps) {}
  std::string WhyNot(Group* group) override;
  bool Reduces(int32_t dtype) const override;
  uint64_t MostBytes() const override { return UINT64_MAX; }
  bool InPlace() const override { return true; }
  std::unique_ptr<Round> NewRound(const Group& group, const std::string& node) override;
  Price PriceOf(const Group& group) const override;
  bool Known(const Round& round, uint64_t digest) override;
  Failure Begin(Round* round, std::span<const Transfer> transfers) override;
  Failure Test(Round* round, bool* done) override;
  Failure GiveUp(Round* round) override;

 private:
  // Those of a group who have come, by place.
  struct Meeting {
    struct Arrival {
      Round* round = nullptr;
      std::span<const Transfer> transfers;
    };
    std::vector<Arrival> came;
    size_t n = 0;
  };
  struct World {
    std::string broken;                               // why; empty: it is not
    std::map<int64_t, size_t> programs;               // rounds by rank, also of those that had some
    std::map<std::vector<int64_t>, Meeting> meeting;  // by members
    std::set<std::pair<int64_t, uint64_t>> known;     // ranks and digests
  };
  class Place;  // a Round
  void Leave(const Place& place);
  static void Break(World* world, const std::string& why);
  static void WorkOfAll(Meeting* meeting);
  static std::string Missing(const World& world, const Group& group);
  Failure BrokenIn(const World& world) const;

  const uint64_t wait_ns_;
  const bool keeps_;
  std::mutex mutex_;
  std::map<std::string, World> world_;  // by the mesh's text
};

}  // namespace ge_engines::ranks
