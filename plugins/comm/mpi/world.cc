#include "plugins/comm/mpi/world.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "plugins/comm/kit/execution.h"

namespace ge_engines::mpi {
namespace {

constexpr uint64_t kLarge = 32 << 10;  // bytes of a reduction that goes in pieces
constexpr size_t kMostAxes = 4;        // each set of them gets a communicator
// Who fails stays for so long, until the others have ended and said why.
constexpr uint64_t kGraceNs = 3'000'000'000;
constexpr useconds_t kLookUs = 500;
int g_pid = 0;

// Set by what starts processes that speak MPI: mpirun, and managers of clusters.
std::string WhyNotLaunched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (getenv(name) != nullptr) return {};
  }
  if (getenv("WORLD_SIZE") != nullptr) {
    return "this process was started by torchrun or the like, and MPI does not find other ranks "
           "by its variables: start them by mpirun -np N";
  }
  return "this process was started alone: start ranks by mpirun -np N";
}

void EndAtExit(int status, void* world) {
  if (getpid() == g_pid) static_cast<World*>(world)->Leave(status);
}

uint64_t SumOf(const std::vector<uint64_t>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

// Counts and places of blocks, by place in the group, as MPI wants them; they stay until the
// transfers are done.
class World::Call : public Round {
 public:
  Call(const Group& group, const std::string& node, MPI_Comm comm)
      : Round(group, node), comm(comm) {}
  ~Call() override { (void)room.release(); }  // MPI may write it yet, where it is not given back
  const MPI_Comm comm;
  std::vector<MPI_Request> request;
  size_t done = 0;
  // One a large transfer, the same in each launch. One after the other: all ranks make the same
  // calls in the same order.
  struct Large {
    std::unique_ptr<Reduction> reduction;
    const void* from = nullptr;
    void* to = nullptr;
  };
  std::vector<Large> large;
  size_t larges = 0, reduced = 0;  // of this launch: in all, done
  bool begun = false;              // the one behind those done
  std::unique_ptr<Room> room;
  uint64_t index = 0, begin_ns = 0;  // among the rounds of this rank
  struct Blocks {
    std::vector<int> count, at;
    void Set(const std::vector<uint64_t>& bytes, uint64_t each) {
      count.clear();
      at.clear();
      int next = 0;
      for (const uint64_t b : bytes) {
        at.push_back(next);
        count.push_back(static_cast<int>(b / each));
        next += count.back();
      }
    }
  } sent, received;
  char empty = 0;  // the place of an empty tensor
  char self[2] = {0, 0};
};

// ---- begin -------------------------------------------------------------------------------------

std::string World::Start() {
  if (std::string why = WhyNotLaunched(); !why.empty()) return why;
  std::string why;
  if (!mpi_.Open(&why)) return why;
  int begun = 0, has = 0;
  mpi_.initialized(&begun);
  const int code = begun ? mpi_.query_thread(&has)
                         : mpi_.init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &has);
  if (code != MPI_SUCCESS) return mpi_.Said("MPI_Init_thread", code);
  g_pid = getpid();
  if (has < MPI_THREAD_SERIALIZED) {
    return "MPI was begun for one thread alone; begin it with MPI_THREAD_SERIALIZED";
  }
  mpi_.comm_rank(mpi_.world, &rank_);
  mpi_.comm_size(mpi_.world, &ranks_);
  MPI_Comm beats = nullptr;
  mpi_.comm_dup(mpi_.world, &comm_);
  mpi_.comm_dup(mpi_.world, &beats);
  mpi_.comm_set_errhandler(comm_, mpi_.errors_return);
  mpi_.comm_set_errhandler(beats, mpi_.errors_return);
  beats_ = std::make_unique<Beats>(&mpi_, beats, rank_, ranks_, options_.lease_ns);
  if (!begun) on_exit(EndAtExit, this);  // the process's other user of MPI ends what it began
  FitPrice();
  return {};
}

// One request of those that are made while nodes are asked about.
std::string World::Settle(MPI_Request* request) {
  const uint64_t begin = comm::NowNs();
  for (int done = 0;;) {
    const int code = mpi_.test(request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return mpi_.Said("MPI_Test", code);
    if (done != 0) return {};
    beats_->Tend(begun_);
    if (!beats_->fault().empty()) return beats_->fault();
    const uint64_t waited = comm::NowNs() - begin;
    if (waited > options_.wait_ns) return "other ranks do not come to make the mesh's groups";
    if (waited > 1'000'000) (void)sched_yield();
  }
}

double World::TimeOf(uint64_t bytes) {
  static std::vector<char> from, to;
  from.resize(std::max<size_t>(from.size(), bytes));
  to.resize(from.size());
  double best = 1e18;
  for (int i = 0; i < 4; ++i) {  // the first one makes connections
    const uint64_t begin = comm::NowNs();
    MPI_Request request = nullptr;
    const int code = mpi_.iallreduce(from.data(), to.data(), static_cast<int>(bytes / 4),
                                     mpi_.Reduced(GE_F32), mpi_.sum, comm_, &request);
    if (code != MPI_SUCCESS || !Settle(&request).empty()) return 0;
    best = std::min(best, static_cast<double>(comm::NowNs() - begin));
  }
  return best;
}

// Latency and time of a byte, the least squares of relative errors over six sizes; rank 0's for
// all.
void World::FitPrice() {
  double s[5] = {};  // of weights, of bytes, of squares; of times, of times and bytes
  for (const uint64_t bytes : {4, 4 << 10, 32 << 10, 128 << 10, 512 << 10, 1 << 20}) {
    const double t = std::max(TimeOf(bytes), 1.0), w = 1 / (t * t);
    const auto b = static_cast<double>(bytes);
    const double add[5] = {w, w * b, w * b * b, w * t, w * t * b};
    for (int i = 0; i < 5; ++i) s[i] += add[i];
  }
  const double det = s[0] * s[2] - s[1] * s[1];
  auto sent = std::make_unique<std::array<double, 4>>();  // this rank's two, then all ranks'
  double* const mine = sent->data();
  if (rank_ == 0 && det > 0) {
    mine[1] = std::max(0.0, (s[0] * s[4] - s[1] * s[3]) / det);
    mine[0] = std::max(0.0, (s[3] - mine[1] * s[1]) / s[0]);
  }
  MPI_Request request = nullptr;
  const double* const all = mine + 2;
  if (mpi_.iallreduce(mine, mine + 2, 2, mpi_.Reduced(GE_F64), mpi_.sum, comm_, &request) ==
      MPI_SUCCESS) {
    // MPI may write what was given up at any time from here on.
    if (!Settle(&request).empty()) return (void)sent.release();
  }
  price_ = {all[0], all[1], true};
}

// The greatest of the numbers, and the least by their complements.
std::string World::Same(uint64_t number, const char* what) {
  auto sent = std::make_unique<std::array<uint64_t, 4>>();  // this rank's two, then the greatest
  *sent = {number, ~number, 0, 0};
  uint64_t* const mine = sent->data();
  MPI_Request request = nullptr;
  const int code =
      mpi_.iallreduce(mine, mine + 2, 2, mpi_.Reduced(GE_U64), mpi_.max, comm_, &request);
  if (code != MPI_SUCCESS) return mpi_.Said("MPI_Iallreduce", code);
  std::string why = Settle(&request);
  if (!why.empty()) (void)sent.release();  // MPI may write what was given up at any time
  if (!why.empty() || (mine[2] == mine[0] && mine[3] == mine[1])) return why;
  return what;
}

// All groups of the mesh, in one order on all ranks.
std::string World::StartMesh(const Group& group) {
  if (group.sizes.size() > kMostAxes) {
    return "the mesh '" + group.mesh + "' has more than " + std::to_string(kMostAxes) + " axes";
  }
  const std::string other =
      "ranks come with other meshes than '" + group.mesh + "': start all with the same words";
  if (std::string why = Same(HashOf(group.mesh), other.c_str()); !why.empty()) return why;
  for (uint32_t axes = 1; axes < 1u << group.sizes.size(); ++axes) {
    Group each = group;
    each.axes = axes;
    comm::Place(rank_, &each);
    MPI_Comm made = nullptr;
    const int code = mpi_.comm_split(comm_, static_cast<int>(comm::ColorOf(each)),
                                     static_cast<int>(each.place), &made);
    if (code != MPI_SUCCESS) return mpi_.Said("MPI_Comm_split", code);
    mpi_.comm_set_errhandler(made, mpi_.errors_return);
    comms_[{group.mesh, axes}] = made;
  }
  return {};
}

std::string World::WhyNot(Group* group) {
  const std::lock_guard lock(turn_);
  if (!asked_) refused_ = Start();
  asked_ = true;
  if (!refused_.empty()) return refused_;
  if (!fault_.empty()) return fault_;
  if (group->ranks != ranks_) {
    return "the mesh '" + group->mesh + "' has " + std::to_string(group->ranks) +
           " ranks and MPI started " + std::to_string(ranks_) + "; start them by mpirun -np " +
           std::to_string(group->ranks);
  }
  if (group->rank >= 0 && group->rank != rank_) {
    return "the node is of rank " + std::to_string(group->rank) + " of the mesh '" + group->mesh +
           "', and this process is rank " + std::to_string(rank_) +
           " of MPI; give the pass parallel rank=" + std::to_string(rank_);
  }
  comm::Place(rank_, group);
  const auto [at, fresh] = meshes_.emplace(group->mesh, "");
  if (fresh) at->second = StartMesh(*group);
  return at->second;
}

std::unique_ptr<Round> World::NewRound(const Group& group, const std::string& node) {
  const std::lock_guard lock(turn_);
  return std::make_unique<Call>(group, node, comms_.at({group.mesh, group.axes}));
}

// ---- transfers ---------------------------------------------------------------------------------

bool World::Known(const Round& round, uint64_t digest) {
  const std::lock_guard lock(turn_);
  return !known_[{round.group().mesh, round.group().axes}].emplace(digest, true).second;
}

Failure World::Fault(const std::string& why, bool busy) {
  if (fault_.empty()) {
    fault_ = why;
    beats_->TellFailed(why, begun_);
  }
  return {GE_DEVICE_LOST, GE_SCOPE_DEVICE, busy, why};
}

// Small ones by MPI's own, which is one message less; what is large or scattered in pieces.
std::string World::Reduce(Call* call, const Transfer& t) {
  const MPI_Op op = t.reduction == comm::Reduction::kSum   ? mpi_.sum
                    : t.reduction == comm::Reduction::kMax ? mpi_.max
                                                           : mpi_.min;
  const uint64_t each = ge::plugin::ElementBits(t.dtype) / 8, n = t.bytes / each;
  const bool scatters = t.kind == Transfer::Kind::kScatter;
  if (!scatters && t.bytes < kLarge) {
    call->request.emplace_back();
    const int code = mpi_.iallreduce(t.from, t.to, static_cast<int>(n), mpi_.Reduced(t.dtype), op,
                                     call->comm, &call->request.back());
    return code == MPI_SUCCESS ? std::string() : mpi_.Said("MPI_Iallreduce", code);
  }
  if (call->larges == call->large.size()) {
    const size_t ranks = call->group().members.size();
    std::vector<uint64_t> block;
    for (size_t r = 0; r < ranks; ++r) {
      const auto share = comm::ShareOf(static_cast<int64_t>(n), ranks, r).size;
      block.push_back(scatters ? (*t.sent)[r] / each : static_cast<uint64_t>(share));
    }
    call->large.push_back({std::make_unique<Reduction>(&mpi_, call->comm, call->group().place,
                                                       t.dtype, op, block, !scatters)});
  }
  Call::Large& large = call->large[call->larges++];
  large.from = t.from;
  large.to = t.to;
  return {};
}

std::string World::Post(Call* call, const Transfer& t) {
  if (t.kind == Transfer::Kind::kReduce || t.kind == Transfer::Kind::kScatter) {
    return Reduce(call, t);
  }
  call->received.Set(*t.received, 1);
  const auto& received = call->received;
  call->request.emplace_back();
  MPI_Request* request = &call->request.back();
  if (t.kind == Transfer::Kind::kGather) {
    const int code =
        mpi_.iallgatherv(t.from, received.count[call->group().place], mpi_.byte, t.to,
                         received.count.data(), received.at.data(), mpi_.byte, call->comm, request);
    return code == MPI_SUCCESS ? std::string() : mpi_.Said("MPI_Iallgatherv", code);
  }
  call->sent.Set(*t.sent, 1);
  const int code =
      mpi_.ialltoallv(t.from, call->sent.count.data(), call->sent.at.data(), mpi_.byte, t.to,
                      received.count.data(), received.at.data(), mpi_.byte, call->comm, request);
  return code == MPI_SUCCESS ? std::string() : mpi_.Said("MPI_Ialltoallv", code);
}

Failure World::Begin(Round* round, std::span<const Transfer> transfers) {
  auto* call = static_cast<Call*>(round);
  const std::lock_guard lock(turn_);
  call->request.clear();
  call->done = call->larges = call->reduced = 0;
  call->begun = false;
  call->index = ++begun_;
  call->begin_ns = comm::NowNs();
  if (ended_) return Fault("the process ends", false);
  if (!fault_.empty()) return Fault(fault_, false);
  for (Transfer t : transfers) {
    // Equal addresses mean "in place" to Open MPI, which other ranks then are not. Of two tensors
    // that have one, one is empty.
    if (t.from == t.to) {
      const bool in = t.kind == Transfer::Kind::kGather ||
                      (t.kind == Transfer::Kind::kExchange && SumOf(*t.sent) == 0);
      if (in) {
        t.from = &call->empty;
      } else {
        t.to = &call->empty;
      }
    }
    const std::string why = Post(call, t);
    if (!why.empty()) return Fault("rank " + std::to_string(rank_) + ": " + why, true);
  }
  return {};
}

std::string World::StepLarge(Call* call) {
  for (; call->reduced < call->larges; ++call->reduced, call->begun = false) {
    const Call::Large& large = call->large[call->reduced];
    std::string why;
    if (!call->begun) {
      if (call->room == nullptr && !rooms_.empty()) {
        call->room = std::move(rooms_.back());
        rooms_.pop_back();
      }
      if (call->room == nullptr) call->room = std::make_unique<Room>();
      if (call->room->size() < large.reduction->room()) call->room->resize(large.reduction->room());
      why = large.reduction->Begin(large.from, large.to, call->room->data());
      call->begun = true;
    }
    bool done = false;
    if (why.empty()) why = large.reduction->Step(&done);
    if (!why.empty() || !done) return why;
  }
  return {};
}

Failure World::Test(Round* round, bool* done) {
  auto* call = static_cast<Call*>(round);
  const std::lock_guard lock(turn_);
  if (ended_) return Fault("the process ends", true);
  for (; call->done < call->request.size(); ++call->done) {
    int one = 0;
    const int code = mpi_.test(&call->request[call->done], &one, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      return Fault("rank " + std::to_string(rank_) + ": " + mpi_.Said("MPI_Test", code), true);
    }
    if (one == 0) break;
  }
  if (const std::string why = StepLarge(call); !why.empty()) {
    return Fault("rank " + std::to_string(rank_) + ": " + why, true);
  }
  *done = call->done == call->request.size() && call->reduced == call->larges;
  if (*done && call->room != nullptr) rooms_.push_back(std::move(call->room));
  if (*done) return {};
  if (!beats_->fault().empty()) return Fault(beats_->fault(), true);
  if (std::string ended = beats_->EndedBefore(call->index); !ended.empty()) {
    return Fault(ended, true);
  }
  if (comm::NowNs() - call->begin_ns < options_.wait_ns) return {};
  const std::string behind = beats_->Behind(call->index);
  return Fault((behind.empty() ? "all ranks are in it, but what they send does not arrive"
                               : behind + " lives and does not come to it") +
                   "; waited for " + std::to_string(options_.wait_ns / 1'000'000'000) +
                   " s (option wait)",
               true);
}

Failure World::GiveUp(Round* round) {
  const std::lock_guard lock(turn_);
  const std::string why =
      "rank " + std::to_string(rank_) + " was told to end while it was in " + round->node();
  (void)Fault(why, true);
  return {GE_CANCELLED, GE_SCOPE_DEVICE, true, why};
}

void World::Tend() {
  const std::lock_guard lock(turn_);
  if (beats_ != nullptr && !ended_) beats_->Tend(begun_);
}

// ---- end ---------------------------------------------------------------------------------------

// MPI's end waits for all ranks, so that who fails makes none: it tells the others, lets them say
// why they end, and leaves. A launcher ends what is left of them; without one their leases do.
void World::Leave(int status) {
  const std::lock_guard lock(turn_);
  ended_ = true;
  beats_->TellLeaving(status, begun_);
  const uint64_t begin = comm::NowNs();
  const bool well = status == 0 && fault_.empty();
  while (!beats_->AllGone() && (well || comm::NowNs() - begin < kGraceNs)) {
    beats_->Tend(begun_);
    (void)usleep(kLookUs);
  }
  if (!well || !beats_->AllLeftWell()) return;
  beats_->Stop();
  (void)mpi_.finalize();
}

}  // namespace ge_engines::mpi
