#include "plugins/comm/mpi/world.h"

#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>

namespace ge_engines::mpi {
namespace {

constexpr uint64_t kMostCount = uint64_t{1} << 30;  // elements of one call, whose counts are int
constexpr int kSpins = 1000;  // looks before the core is offered to others, a few us each

// Set by what starts processes that speak MPI: mpirun, and managers of clusters.
bool IsLaunched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (getenv(name) != nullptr) return true;
  }
  return false;
}

// MPI's end waits for all ranks. Who fails must not wait: the others are in a collective and would
// wait for it. So it ends them.
void EndAtExit(int status, void* library) {
  const auto* mpi = static_cast<const Library*>(library);
  if (status == 0) {
    (void)mpi->finalize();
  } else {
    (void)mpi->abort(mpi->world, status);
  }
}

}  // namespace

World* World::Get(std::string* why) {
  static std::mutex mutex;
  static World* world = nullptr;
  static std::string refused;
  const std::lock_guard lock(mutex);
  if (world == nullptr && refused.empty()) {
    auto* made = new World;  // not freed where it refuses: MPI's end may have to be made through it
    if (made->Begin(&refused)) world = made;
  }
  *why = refused;
  return world;
}

bool World::Begin(std::string* why) {
  if (!IsLaunched()) {
    *why = "this process was started alone: start ranks by mpirun -np N";
    return false;
  }
  if (!mpi_.Open(why)) return false;
  int begun = 0, has = 0;
  mpi_.initialized(&begun);
  const int code = begun ? mpi_.query_thread(&has)
                         : mpi_.init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &has);
  if (code != MPI_SUCCESS) {
    *why = Failure("MPI_Init_thread", code);
    return false;
  }
  if (!begun) on_exit(EndAtExit, &mpi_);  // the process's other user of MPI ends what it began
  if (has < MPI_THREAD_SERIALIZED) {
    *why = "MPI was begun for one thread alone; begin it with MPI_THREAD_SERIALIZED";
  }
  mpi_.comm_rank(mpi_.world, &rank_);
  mpi_.comm_size(mpi_.world, &ranks_);
  mpi_.comm_dup(mpi_.world, &comm_);
  mpi_.comm_set_errhandler(comm_, mpi_.errors_return);
  return why->empty();
}

std::string World::Failure(const char* call, int code) const {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int n = 0;
  (void)mpi_.error_string(code, text, &n);
  return std::string(call) + " on rank " + std::to_string(rank_) + ": " + text;
}

std::string World::Finish(std::vector<MPI_Request>* requests, const uint32_t* stop,
                          bool* cancelled) {
  int spins = 0;
  for (MPI_Request& request : *requests) {
    for (int done = 0; done == 0;) {
      const int code = mpi_.test(&request, &done, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return Failure("MPI_Test", code);
      if (done != 0) break;
      if (stop != nullptr && __atomic_load_n(stop, __ATOMIC_ACQUIRE) != 0) {
        given_up_ = *cancelled = true;
        return "rank " + std::to_string(rank_) + " gave up waiting for the others";
      }
      if (++spins > kSpins) (void)sched_yield();
    }
  }
  return {};
}

std::string World::AllReduce(std::span<const Sum> sums, const uint32_t* stop, bool* cancelled) {
  const std::lock_guard turn(turn_);
  if (given_up_) return "an earlier collective was given up, so that ranks no longer agree";
  std::vector<MPI_Request> requests;
  for (const Sum& s : sums) {
    const MPI_Datatype type = mpi_.Summed(s.dtype);
    const uint64_t each = s.dtype == GE_F32 || s.dtype == GE_I32 ? 4 : 8;
    for (uint64_t at = 0; at < s.count; at += kMostCount) {
      const auto n = static_cast<int>(std::min(kMostCount, s.count - at));
      const char* from = static_cast<const char*>(s.from) + at * each;
      char* to = static_cast<char*>(s.to) + at * each;
      requests.emplace_back();
      const int code = mpi_.iallreduce(from == to ? MPI_IN_PLACE : from, to, n, type, mpi_.sum,
                                       comm_, &requests.back());
      if (code != MPI_SUCCESS) return Failure("MPI_Iallreduce", code);
    }
  }
  return Finish(&requests, stop, cancelled);
}

std::string World::AllGather(const void* from, const std::vector<int>& bytes, void* to,
                             const uint32_t* stop, bool* cancelled) {
  const std::lock_guard turn(turn_);
  if (given_up_) return "an earlier collective was given up, so that ranks no longer agree";
  std::vector<int> at(bytes.size(), 0);
  for (size_t i = 1; i < bytes.size(); ++i) at[i] = at[i - 1] + bytes[i - 1];
  std::vector<MPI_Request> requests(1);
  const int code = mpi_.iallgatherv(from, bytes[static_cast<size_t>(rank_)], mpi_.byte, to,
                                    bytes.data(), at.data(), mpi_.byte, comm_, requests.data());
  if (code != MPI_SUCCESS) return Failure("MPI_Iallgatherv", code);
  return Finish(&requests, stop, cancelled);
}

// The greatest of the numbers, and the least by their complements.
std::string World::WantSame(uint64_t digest, const uint32_t* stop, bool* cancelled) {
  const std::lock_guard turn(turn_);
  if (given_up_) return "an earlier collective was given up, so that ranks no longer agree";
  const uint64_t mine[2] = {digest, ~digest};
  uint64_t most[2] = {0, 0};
  std::vector<MPI_Request> requests(1);
  const int code = mpi_.iallreduce(mine, most, 2, mpi_.uint64, mpi_.max, comm_, requests.data());
  if (code != MPI_SUCCESS) return Failure("MPI_Iallreduce", code);
  const std::string why = Finish(&requests, stop, cancelled);
  if (!why.empty() || (most[0] == digest && most[1] == ~digest)) return why;
  return "ranks meet with different programs here: start all with the same model and options";
}

}  // namespace ge_engines::mpi
