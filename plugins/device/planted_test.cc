// Races on purpose: faults that plugins/device could have, planted between it and the driver. The
// simulator must find each under every schedule, and nothing without them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "plugins/device/pipeline_testing.h"

namespace ge_engines::device {
namespace {

// A fault, and the calls of the pipeline in which it shows.
struct Planted {
  const char* name;
  ge_rc (*run)(Pipeline* pipeline);
  bool eager = false;  // alone: later, work would touch what the host has freed
};

ge_rc InRounds(Pipeline* p) { return p->Rounds(4); }
ge_rc InCaptures(Pipeline* p) { return p->Captured(2); }
ge_rc InPeers(Pipeline* p) { return p->Peers(); }
ge_rc InCopies(Pipeline* p) { return p->Now(); }

constexpr Planted kPlanted[] = {
    {"a signal records no event", InRounds},
    {"a wait is dropped", InRounds},
    {"a signal stands before the work that it tells of", InRounds},
    {"a wait takes the event as it was before its signal", InRounds},
    {"the host asks about a signal of long ago", InRounds},
    {"the host's wait does not look", InRounds},
    {"kernels of a launch go to two streams", InRounds},
    {"a copy goes to a stream of its own", InRounds},
    {"a copy that the host waits for is not waited for", InCopies, true},
    {"a wait inside a capture is dropped", InCaptures},
    {"a capture is launched on a stream of its own", InCaptures},
    {"a copy between devices waits for neither", InPeers},
};

// The fault of the given place in the table.
class Spoiled final : public ForwardingDriver {
 public:
  Spoiled(std::unique_ptr<Driver> to, size_t fault)
      : ForwardingDriver(std::move(to)), is_(kPlanted[fault].name) {}

  Result StreamCreate(int d, StreamHandle* s) override {
    const Result result = to_->StreamCreate(d, s);
    if (result.ok()) streams_.push_back({d, *s});
    return result;
  }
  Result EventRecord(int d, EventHandle e, StreamHandle s) override {
    if (Is("a signal records no event") && ++records_ > 3) return Result();
    if (Is("a wait takes the event as it was before its signal")) {
      Late();
      late_ = {d, e, s};
      has_late_ = true;
      return Result();
    }
    const Result result = to_->EventRecord(d, e, s);
    if (first_ == EventHandle::kNone) first_ = e;
    if (Is("a signal stands before the work that it tells of")) FlushLaunch();
    return result;
  }
  Result EventQuery(int d, EventHandle e) override {
    Late();
    // Before the first launch the host's own memory is copied, which it frees.
    if (Is("the host's wait does not look") && launches_ > 0) return Result();
    if (Is("a copy that the host waits for is not waited for")) return Result();
    if (Is("the host asks about a signal of long ago") && launches_ > 0) e = first_;
    return to_->EventQuery(d, e);
  }
  Result StreamWait(int d, StreamHandle s, EventHandle e) override {
    if (Is("a wait is dropped") && ++waits_ % 3 == 0) return Result();
    if (Is("a wait inside a capture is dropped") && capturing_ && ++waits_ == 2) return Result();
    if (Is("a copy between devices waits for neither") && d == 1) return Result();
    const Result result = to_->StreamWait(d, s, e);
    Late();
    return result;
  }
  Result Launch(int d, StreamHandle s, const KernelLaunch& l) override {
    if (Is("a signal stands before the work that it tells of")) {
      FlushLaunch();
      launch_ = l;
      buffers_.assign(l.buffers.begin(), l.buffers.end());
      launch_.buffers = buffers_;
      on_ = {d, s};
      held_ = true;
      return Result();
    }
    ++launches_;
    if (Is("kernels of a launch go to two streams") && launches_ % 3 == 0) s = Another(d, s);
    return to_->Launch(d, s, l);
  }
  Result Copy(int d, StreamHandle s, void* to, const void* from, uint64_t n) override {
    if (Is("a copy goes to a stream of its own") && ++copies_ > 2) s = Own(d);
    return to_->Copy(d, s, to, from, n);
  }
  Result CaptureBegin(int d, StreamHandle s) override {
    capturing_ = true;
    return to_->CaptureBegin(d, s);
  }
  Result CaptureEnd(int d, StreamHandle s, GraphHandle* g) override {
    capturing_ = false;
    return to_->CaptureEnd(d, s, g);
  }
  Result GraphLaunch(int d, GraphHandle g, StreamHandle s) override {
    return to_->GraphLaunch(d, g, Is("a capture is launched on a stream of its own") ? Own(d) : s);
  }
  void Close(int d) override {
    for (const auto& [device, stream] : own_) {
      if (device == d) to_->StreamDestroy(d, stream);
    }
    to_->Close(d);
  }

 private:
  bool Is(const char* name) const { return is_ == name; }
  StreamHandle Another(int d, StreamHandle s) const {
    for (const auto& [device, stream] : streams_) {
      if (device == d && stream != s) return stream;
    }
    return s;
  }
  StreamHandle Own(int d) {
    const auto [it, fresh] = own_.try_emplace(d, StreamHandle::kNone);
    if (fresh) (void)to_->StreamCreate(d, &it->second);
    return it->second;
  }
  void Late() {
    if (!has_late_) return;
    has_late_ = false;
    (void)to_->EventRecord(late_.device, late_.event, late_.stream);
  }
  void FlushLaunch() {
    if (!held_) return;
    held_ = false;
    (void)to_->Launch(on_.first, on_.second, launch_);
  }

  const std::string is_;
  int records_ = 0, waits_ = 0, launches_ = 0, copies_ = 0;
  bool capturing_ = false, held_ = false, has_late_ = false;
  std::vector<std::pair<int, StreamHandle>> streams_;
  std::map<int, StreamHandle> own_;
  EventHandle first_ = EventHandle::kNone;
  struct {
    int device;
    EventHandle event;
    StreamHandle stream;
  } late_ = {};
  KernelLaunch launch_;
  std::vector<Buffer> buffers_;
  std::pair<int, StreamHandle> on_;
};

class PlantedRace : public testing::TestWithParam<size_t> {};

TEST_P(PlantedRace, IsFound) {
  const Planted& planted = kPlanted[GetParam()];
  for (const char* schedule : {"eager", "lazy", "adversarial", "seeded;seed=5", "timed"}) {
    if (planted.eager && std::string(schedule) != "eager") continue;
    for (const bool spoilt : {false, true}) {
      Machine m(std::string("device=all;strict=0;schedule=") + schedule,
                [&](std::unique_ptr<Driver> to) -> std::unique_ptr<Driver> {
                  if (!spoilt) return to;
                  return std::make_unique<Spoiled>(std::move(to), GetParam());
                });
      std::vector<sim::Report> found;
      {
        Pipeline p(&m);
        const ge_rc rc = planted.run(&p);
        found = m.simulator().reports();
        if (!spoilt) {
          EXPECT_EQ(rc, GE_OK) << p.text();
        }
      }
      EXPECT_EQ(!found.empty(), spoilt)
          << planted.name << " under " << schedule << (found.empty() ? "" : ": " + found[0].text());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlantedRace, testing::Range(size_t{0}, std::size(kPlanted)));

// Without strict=0 a finding ends the run.
TEST(PlantedRace, FailsTheRun) {
  Machine m("device=all", [&](std::unique_ptr<Driver> to) {
    return std::make_unique<Spoiled>(std::move(to), 1);
  });
  Pipeline p(&m);
  EXPECT_EQ(p.Rounds(4), GE_INTERNAL);
  EXPECT_NE(p.text().find("the simulator found: race"), std::string::npos) << p.text();
}

}  // namespace
}  // namespace ge_engines::device
