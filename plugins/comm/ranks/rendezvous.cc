#include "plugins/comm/ranks/rendezvous.h"

#include <algorithm>
#include <cstring>

#include "plugins/comm/kit/execution.h"
#include "plugins/comm/ranks/reduce.h"

namespace ge_engines::ranks {
namespace {

// About a copy between threads of one process.
constexpr double kLatencyNs = 2000, kNsPerByte = 0.5;

bool SameBlocks(const Transfer& a, const Transfer& b) {
  if (a.kind != b.kind || a.reduction != b.reduction || a.bytes != b.bytes) return false;
  if (a.kind == Transfer::Kind::kGather) return *a.received == *b.received;
  if (a.kind == Transfer::Kind::kScatter) return *a.sent == *b.sent && a.dtype == b.dtype;
  return a.kind == Transfer::Kind::kExchange || a.dtype == b.dtype;
}

uint64_t Before(const std::vector<uint64_t>& bytes, size_t place) {
  uint64_t at = 0;
  for (size_t i = 0; i < place; ++i) at += bytes[i];
  return at;
}

}  // namespace

class Rendezvous::Place : public Round {
 public:
  Place(Rendezvous* at, const Group& group, const std::string& node)
      : Round(group, node), at_(at) {}
  ~Place() override { at_->Leave(*this); }
  bool done = false;
  uint64_t begin_ns = 0;

 private:
  Rendezvous* const at_;
};

std::string Rendezvous::WhyNot(Group* group) {
  if (group->rank < 0) {
    return "the node does not say which rank of the mesh '" + group->mesh +
           "' this session is; give it the attribute rank";
  }
  comm::Place(group->rank, group);
  return {};
}

bool Rendezvous::Reduces(int32_t dtype) const { return CanReduce(dtype); }

comm::Transport::Price Rendezvous::PriceOf(const Group&) const { return {kLatencyNs, kNsPerByte}; }

std::unique_ptr<Round> Rendezvous::NewRound(const Group& group, const std::string& node) {
  const std::lock_guard lock(mutex_);
  ++world_[group.mesh].programs[group.rank];
  return std::make_unique<Place>(this, group, node);
}

void Rendezvous::Leave(const Place& place) {
  const std::lock_guard lock(mutex_);
  World& world = world_[place.group().mesh];
  --world.programs[place.group().rank];
  const auto gone = [](const auto& rank) { return rank.second == 0; };
  if (std::all_of(world.programs.begin(), world.programs.end(), gone)) {
    world_.erase(place.group().mesh);
  }
}

bool Rendezvous::Known(const Round& round, uint64_t digest) {
  const std::lock_guard lock(mutex_);
  return !world_[round.group().mesh].known.insert({round.group().rank, digest}).second;
}

void Rendezvous::Break(World* world, const std::string& why) {
  if (world->broken.empty()) world->broken = why;
  for (auto& [members, meeting] : world->meeting) {
    for (auto& arrival : meeting.came) arrival = {};
    meeting.n = 0;
  }
}

Failure Rendezvous::BrokenIn(const World& world) const {
  if (keeps_) return {GE_DEVICE_LOST, GE_SCOPE_DEVICE, true, world.broken};
  return {GE_FAILED_PRECONDITION, GE_SCOPE_EXEC, false, world.broken};
}

Failure Rendezvous::Begin(Round* round, std::span<const Transfer> transfers) {
  auto* place = static_cast<Place*>(round);
  const Group& group = round->group();
  const std::lock_guard lock(mutex_);
  World& world = world_[group.mesh];
  place->done = false;
  place->begin_ns = comm::NowNs();
  if (!world.broken.empty()) return BrokenIn(world);
  Meeting& meeting = world.meeting[group.members];
  meeting.came.resize(group.members.size());
  Meeting::Arrival& mine = meeting.came[group.place];
  if (mine.round != nullptr) {
    Break(&world, "rank " + std::to_string(group.rank) + " of the mesh '" + group.mesh +
                      "' came twice at once: give each rank one session");
    return BrokenIn(world);
  }
  mine = {round, transfers};
  if (++meeting.n < meeting.came.size()) return {};
  for (const auto& other : meeting.came) {
    const bool same =
        other.transfers.size() == transfers.size() &&
        std::equal(transfers.begin(), transfers.end(), other.transfers.begin(), SameBlocks);
    if (same) continue;
    Break(&world, "ranks of the mesh '" + group.mesh + "' meet with different programs in " +
                      round->node() + ": give all the same model and options");
    return BrokenIn(world);
  }
  WorkOfAll(&meeting);
  return {};
}

void Rendezvous::WorkOfAll(Meeting* meeting) {
  auto& came = meeting->came;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (size_t t = 0; t < came[0].transfers.size(); ++t) {
    const Transfer& first = came[0].transfers[t];
    if (first.kind == Transfer::Kind::kReduce) {
      from.clear();
      to.clear();
      for (const auto& c : came) {
        from.push_back(c.transfers[t].from);
        to.push_back(c.transfers[t].to);
      }
      Reduce(first.reduction, first.dtype, first.bytes, from, to);
      continue;
    }
    for (size_t r = 0; r < came.size(); ++r) {
      const Transfer& mine = came[r].transfers[t];
      char* at = static_cast<char*>(mine.to);
      if (first.kind == Transfer::Kind::kScatter) {
        from.clear();
        for (const auto& c : came) {
          from.push_back(static_cast<const char*>(c.transfers[t].from) + Before(*mine.sent, r));
        }
        Reduce(first.reduction, first.dtype, (*mine.sent)[r], from, {at});
        continue;
      }
      for (size_t s = 0; s < came.size(); ++s) {
        const Transfer& theirs = came[s].transfers[t];
        const auto* block = static_cast<const char*>(theirs.from);
        if (first.kind == Transfer::Kind::kExchange) block += Before(*theirs.sent, r);
        const uint64_t bytes = (*mine.received)[s];
        if (bytes > 0) std::memcpy(at, block, bytes);
        at += bytes;
      }
    }
  }
  for (auto& c : came) {
    static_cast<Place*>(c.round)->done = true;
    c = {};
  }
  meeting->n = 0;
}

// Ranks of the group that have not come, and what of them is gone.
std::string Rendezvous::Missing(const World& world, const Group& group) {
  std::string text;
  const Meeting& meeting = world.meeting.at(group.members);
  for (size_t i = 0; i < group.members.size(); ++i) {
    if (meeting.came[i].round != nullptr) continue;
    const auto at = world.programs.find(group.members[i]);
    if (at != world.programs.end() && at->second == 0) {
      return "rank " + std::to_string(group.members[i]) + " has ended its session";
    }
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(group.members[i]);
  }
  return text;
}

Failure Rendezvous::Test(Round* round, bool* done) {
  auto* place = static_cast<Place*>(round);
  const std::lock_guard lock(mutex_);
  if (place->done) {
    *done = true;
    return {};
  }
  World& world = world_[round->group().mesh];
  if (world.broken.empty()) {
    const std::string missing = Missing(world, round->group());
    if (missing.find(" ended ") != std::string::npos) {
      Break(&world, missing);
    } else if (comm::NowNs() - place->begin_ns >= wait_ns_) {
      Break(&world, missing + " did not come in " + std::to_string(wait_ns_ / 1'000'000) + " ms");
    }
  }
  if (world.broken.empty()) return {};
  return BrokenIn(world);
}

Failure Rendezvous::GiveUp(Round* round) {
  const std::lock_guard lock(mutex_);
  const std::string why =
      "rank " + std::to_string(round->group().rank) + " was cancelled in " + round->node();
  Break(&world_[round->group().mesh], why);
  return {GE_CANCELLED, GE_SCOPE_EXEC, false, why};
}

}  // namespace ge_engines::ranks
