#include "plugins/comm/kit/execution.h"

#include <cstdlib>
#include <ctime>

#include "plugins/comm/kit/queue.h"

using ge_engines::comm::Failure;
using ge_engines::comm::Transfer;
using ge_engines::comm::Transport;

namespace ge_engines::comm {

uint64_t NowNs() {
  timespec t{};
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

double HeldNsPerByte() {
  static const double held = [] {
    const char* text = std::getenv("GE_COMM_RATE");
    const double gbit = text == nullptr ? 0 : std::strtod(text, nullptr);
    return gbit > 0 ? 8 / gbit : 0;
  }();
  return held;
}

}  // namespace ge_engines::comm

ge_exec::ge_exec(const ge_segment& segment, const ge_engines::comm::Group& group, std::string node,
                 ge_engines::comm::Queue* queue)
    : node_(segment, group, queue->transport()->InPlace()),
      index_(segment.taken[0].node[0]),
      queue_(queue),
      round_(queue->transport()->NewRound(group, std::move(node))),
      compared_(std::make_unique<Compared>()) {
  places_.in.reserve(segment.n_in);
  places_.out.reserve(segment.n_out);
  transfers_.reserve(node_.transfers());
}

ge_exec::~ge_exec() {
  if (own_stream != nullptr) queue_->DestroyStream(own_stream);
}

void ge_exec::Take(const ge_launch& launch) {
  places_.in.clear();
  places_.out.clear();
  for (uint32_t i = 0; i < launch.n_in; ++i) {
    places_.in.push_back(static_cast<const char*>(launch.in[i].ptr));
  }
  for (uint32_t i = 0; i < launch.n_out; ++i) {
    places_.out.push_back(static_cast<char*>(launch.out[i].ptr));
  }
  places_.room = static_cast<char*>(launch.workspace.ptr);
  stop_ = launch.stop;
  phase_ = Phase::kNew;
  (void)std::fegetenv(&mode_);
}

// Reductions are made in the mode of the launch (rule 8), whoever drives the queue.
Failure ge_exec::Step(Transport* transport, bool* done) {
  std::fenv_t callers;
  (void)std::fegetenv(&callers);
  (void)std::fesetenv(&mode_);
  Failure failure = Go(transport, done);
  (void)std::fesetenv(&callers);
  if (failure.code != GE_OK && failure.busy) (void)compared_.release();  // it may be written yet
  return failure.code == GE_OK ? failure : Told(std::move(failure));
}

Failure ge_exec::Go(Transport* transport, bool* done) {
  if (phase_ == Phase::kNew) {
    ++launches_;
    const bool known = transport->Known(*round_, node_.digest());
    const Failure begun = known ? Move(transport) : Compare(transport);
    if (begun.code != GE_OK) return begun;
  }
  if (phase_ != Phase::kHeld) {
    bool moved = false;
    if (const Failure f = transport->Test(round_.get(), &moved); f.code != GE_OK) return f;
    if (!moved) {
      return is_to_end() ? transport->GiveUp(round_.get()) : Failure{};
    }
    if (phase_ == Phase::kCompares) {
      const Compared& c = *compared_;
      if (c.most[0] == c.mine[0] && c.most[1] == c.mine[1]) return Move(transport);
      return {GE_FAILED_PRECONDITION, GE_SCOPE_EXEC, false,
              "ranks meet with different programs here: start all with the same model, options "
              "and mesh"};
    }
    phase_ = Phase::kHeld;
    const double held = ge_engines::comm::HeldNsPerByte() * static_cast<double>(node_.moved());
    held_until_ns_ = held > 0 ? begin_ns_ + static_cast<uint64_t>(held) : 0;
  }
  if (held_until_ns_ > 0 && ge_engines::comm::NowNs() < held_until_ns_) return {};
  node_.Unpack(places_);
  *done = true;
  return {};
}

Failure ge_exec::Compare(Transport* transport) {
  phase_ = Phase::kCompares;
  *compared_ = {{node_.digest(), ~node_.digest()}, {0, 0}};
  transfers_.assign(
      1, {Transfer::Kind::kReduce, ge_engines::comm::Reduction::kMax, GE_U64, compared_->mine,
          compared_->most, sizeof compared_->mine, nullptr, nullptr});
  return transport->Begin(round_.get(), transfers_);
}

Failure ge_exec::Move(Transport* transport) {
  phase_ = Phase::kMoves;
  node_.Pack(places_, &transfers_);
  begin_ns_ = ge_engines::comm::NowNs();
  return transport->Begin(round_.get(), transfers_);
}

Failure ge_exec::Told(Failure failure) const {
  failure.text = "rank " + std::to_string(round_->group().rank) + " in " + round_->node() +
                 ", step " + std::to_string(launches_) + ": " + failure.text;
  return failure;
}
