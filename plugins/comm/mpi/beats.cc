#include "plugins/comm/mpi/beats.h"

#include <algorithm>
#include <cstring>

#include "plugins/comm/kit/execution.h"

namespace ge_engines::mpi {
namespace {

constexpr int kTag = 1;
constexpr uint64_t kBeatNs = 1'000'000'000, kLookNs = 20'000'000;

std::string Seconds(uint64_t ns) {
  const uint64_t tenths = ns / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

Beats::Beats(const Library* mpi, MPI_Comm comm, int rank, int ranks, uint64_t lease_ns)
    : mpi_(*mpi),
      comm_(comm),
      rank_(rank),
      lease_ns_(lease_ns),
      peer_(static_cast<size_t>(ranks)),
      tended_ns_(comm::NowNs()) {
  for (Peer& p : peer_) {
    p.heard_ns = tended_ns_;
    p.beating = mpi_.request_null;
  }
  Listen();
}

void Beats::Listen() {
  (void)mpi_.irecv(&heard_, sizeof heard_, mpi_.byte, MPI_ANY_SOURCE, kTag, comm_, &listening_);
}

void Beats::Tend(uint64_t begun) {
  const uint64_t now = comm::NowNs();
  if (stopped_ || now - tended_ns_ < kLookNs) return;
  // Who stood still itself has heard nobody meanwhile.
  if (now - tended_ns_ > lease_ns_ / 2) {
    for (Peer& p : peer_) p.heard_ns = now;
  }
  tended_ns_ = now;
  for (int done = 1; done != 0;) {
    MPI_Status status{};
    if (mpi_.test(&listening_, &done, &status) != MPI_SUCCESS || done == 0) break;
    Hear(heard_, static_cast<size_t>(status.MPI_SOURCE), now);
    Listen();
  }
  if (now - sent_ns_ >= kBeatNs) {
    sent_ns_ = now;
    SendBeats(begun);
  }
  Judge(now);
}

void Beats::Hear(const Word& word, size_t from, uint64_t now) {
  if (from >= peer_.size()) return;
  Peer& p = peer_[from];
  p.heard_ns = now;
  p.begun = word.begun;
  const std::string who = "rank " + std::to_string(from);
  const std::string text(word.text, strnlen(word.text, sizeof word.text));
  if (word.kind == Kind::kFailed && fault_.empty()) fault_ = who + " failed: " + text;
  if (word.kind != Kind::kLeaving) return;
  p.left = true;
  p.status = word.status;
  if (word.status == 0 || !fault_.empty()) return;
  fault_ = who + " ended with exit code " + std::to_string(word.status);
}

void Beats::SendBeats(uint64_t begun) {
  for (size_t r = 0; r < peer_.size(); ++r) {
    Peer& p = peer_[r];
    if (IsMe(r) || p.left || p.lost) continue;
    int done = 0;  // one that takes no more beats gets none
    if (mpi_.test(&p.beating, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done == 0) continue;
    p.beat = {Kind::kBeat, 0, begun, {}};
    (void)mpi_.isend(&p.beat, sizeof p.beat, mpi_.byte, static_cast<int>(r), kTag, comm_,
                     &p.beating);
  }
}

void Beats::Judge(uint64_t now) {
  for (size_t r = 0; r < peer_.size(); ++r) {
    Peer& p = peer_[r];
    if (IsMe(r) || p.left || p.lost || now - p.heard_ns <= lease_ns_) continue;
    p.lost = true;
    if (!fault_.empty()) continue;
    fault_ = "rank " + std::to_string(r) + " is lost: nothing was heard of it for " +
             Seconds(now - p.heard_ns) + ", so it was killed or stopped, or its machine is gone";
  }
}

// The words live until the process ends: a rank that is stopped may read them late.
void Beats::Tell(Kind kind, int status, const std::string& text, uint64_t begun) {
  if (stopped_) return;
  auto* word = new Word{kind, status, begun, {}};
  std::memcpy(word->text, text.data(), std::min(text.size(), sizeof word->text));
  for (size_t r = 0; r < peer_.size(); ++r) {
    if (IsMe(r) || peer_[r].lost) continue;  // who left listens yet, until all have
    MPI_Request request = nullptr;
    (void)mpi_.isend(word, sizeof *word, mpi_.byte, static_cast<int>(r), kTag, comm_, &request);
  }
}

void Beats::TellFailed(const std::string& why, uint64_t begun) {
  Tell(Kind::kFailed, 0, why, begun);
}

void Beats::TellLeaving(int status, uint64_t begun) { Tell(Kind::kLeaving, status, {}, begun); }

void Beats::Stop() {
  if (stopped_) return;
  stopped_ = true;
  (void)mpi_.cancel(&listening_);
  int done = 0;
  (void)mpi_.test(&listening_, &done, MPI_STATUS_IGNORE);
}

std::string Beats::EndedBefore(uint64_t begun) const {
  for (size_t r = 0; r < peer_.size(); ++r) {
    if (IsMe(r) || !peer_[r].left || peer_[r].begun >= begun) continue;
    return "rank " + std::to_string(r) + " has ended, with exit code " +
           std::to_string(peer_[r].status);
  }
  return {};
}

std::string Beats::Behind(uint64_t begun) const {
  std::string text;
  for (size_t r = 0; r < peer_.size(); ++r) {
    if (IsMe(r) || peer_[r].begun >= begun) continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(r);
  }
  return text;
}

bool Beats::AllGone() const {
  for (size_t r = 0; r < peer_.size(); ++r) {
    if (!IsMe(r) && !peer_[r].left && !peer_[r].lost) return false;
  }
  return true;
}

bool Beats::AllLeftWell() const {
  for (size_t r = 0; r < peer_.size(); ++r) {
    if (!IsMe(r) && (!peer_[r].left || peer_[r].status != 0)) return false;
  }
  return true;
}

}  // namespace ge_engines::mpi
