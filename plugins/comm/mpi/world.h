// World: a Transport between the ranks that were launched together with this process. libmpi is
// opened, and MPI begun, when a node is first asked about. One for the process, never destroyed:
// MPI ends once. Any thread may call; all ranks have to begin the same transfers in the same order.
//
// A fault ends it: a rank that is lost or fails, a call that fails, a run that is ended while
// others wait. Every rank hears of it, and no call is made any more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugins/comm/kit/entry.h"
#include "plugins/comm/mpi/beats.h"
#include "plugins/comm/mpi/library.h"
#include "plugins/comm/mpi/reduction.h"

namespace ge_engines::mpi {

using comm::Failure;
using comm::Group;
using comm::Round;
using comm::Transfer;

class World : public comm::Transport {
 public:
  explicit World(const comm::Options& options) : options_(options) {}
  std::string WhyNot(Group* group) override;
  bool Reduces(int32_t dtype) const override { return mpi_.Reduced(dtype) != nullptr; }
  uint64_t MostBytes() const override { return INT32_MAX; }  // MPI counts by int
  // Open MPI takes another algorithm in place, and ranks need not have the same places.
  bool InPlace() const override { return false; }
  std::unique_ptr<Round> NewRound(const Group& group, const std::string& node) override;
  Price PriceOf(const Group&) const override { return price_; }
  bool Known(const Round& round, uint64_t digest) override;
  Failure Begin(Round* round, std::span<const Transfer> transfers) override;
  Failure Test(Round* round, bool* done) override;
  Failure GiveUp(Round* round) override;
  void Tend() override;
  uint64_t TendEveryNs() const override { return 100'000'000; }
  // The process ends with this status: the others hear of it, and MPI ends.
  void Leave(int status);

 private:
  class Call;  // a Round
  using Room = std::vector<char>;
  std::string StepLarge(Call* call);
  std::string Start();
  std::string StartMesh(const Group& group);
  std::string Same(uint64_t number, const char* what);
  void FitPrice();
  double TimeOf(uint64_t bytes);
  std::string Settle(MPI_Request* request);
  std::string Post(Call* call, const Transfer& transfer);
  std::string Reduce(Call* call, const Transfer& transfer);
  Failure Fault(const std::string& why, bool busy);

  const comm::Options options_;
  std::mutex turn_;  // of all calls of MPI, and of the following
  Library mpi_;
  bool asked_ = false, ended_ = false;
  std::string refused_;  // why there is no world
  std::string fault_;
  int rank_ = 0, ranks_ = 1;
  MPI_Comm comm_ = nullptr;
  std::unique_ptr<Beats> beats_;
  uint64_t begun_ = 0;                        // rounds
  std::vector<std::unique_ptr<Room>> rooms_;  // of large transfers, not in use
  Price price_;
  // By mesh and axes.
  std::map<std::pair<std::string, uint32_t>, MPI_Comm> comms_;
  std::map<std::string, std::string> meshes_;  // those that were begun, with why not
  std::map<std::pair<std::string, uint32_t>, std::map<uint64_t, bool>> known_;
};

}  // namespace ge_engines::mpi
