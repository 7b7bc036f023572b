// Queueing a launch allocates nothing, whatever the driver does.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "plugins/device/memory.h"
#include "plugins/device/pipeline_testing.h"

namespace {

std::atomic<bool> g_watch{false};
std::atomic<int> g_allocations{0};

}  // namespace

// GCC must not see through them in others' functions.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (g_watch) ++g_allocations;
  void* p = std::malloc(bytes == 0 ? 1 : bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace ge_engines::device {
namespace {

// A device whose work is done at once, by nobody.
class Idle final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;
  Result Launch(int, StreamHandle, const KernelLaunch&) override { return ++calls_, Result(); }
  Result Copy(int, StreamHandle, void*, const void*, uint64_t) override {
    return ++calls_, Result();
  }
  Result EventRecord(int, EventHandle, StreamHandle) override { return ++calls_, Result(); }
  Result EventQuery(int, EventHandle) override { return ++calls_, Result(); }
  Result StreamWait(int, StreamHandle, EventHandle) override { return ++calls_, Result(); }
  static inline int calls_ = 0;
};

TEST(Queue, AllocatesNothing) {
  Machine m("", [](std::unique_ptr<Driver> to) { return std::make_unique<Idle>(std::move(to)); });
  const int64_t n = 16;
  mock::Graph g;
  uint32_t v = g.Input(GE_F32, {n});
  for (int k = 0; k < 4; ++k) {
    v = g.Op1("Softmax", {v}, {GE_F32, {n}});
    g.nodes.back().attrs.push_back(mock::Attr::Int("axis", -1));
  }
  g.Output(v);
  const mock::Answer answer = m.engine().Query(g);
  ASSERT_EQ(answer.offers.size(), 4u);
  const auto exec = mock::Compiler(m.engine(), g, answer)
                        .Compile(mock::MakeSegment(g, answer, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
  ASSERT_EQ(exec->rc, GE_OK) << exec->error;
  EXPECT_EQ(exec->n_step, 4u);
  EXPECT_NE(exec->flags & GE_COMPILED_CAPTURABLE, 0u);
  ASSERT_EQ(exec->internals.size(), 3u);
  Block in(m, 0, 0, 64), out(m, 0, 0, 64), a(m, 0, 0, 64), b(m, 0, 0, 64), c(m, 0, 0, 64);
  mock::Stream stream(m.engine(), 0);
  mock::Event event(m.engine(), 0);
  ge_buf x = in.buf(), y = out.buf();
  ge_buf internal[] = {a.buf(), b.buf(), c.buf()};
  ge_launch l = {};
  l.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
  l.stream = stream.get();
  l.in = &x;
  l.out = &y;
  l.internal = internal;
  l.n_in = l.n_out = 1;
  l.n_internal = 3;
  const ge_engine_api& api = m.engine().api();
  uint64_t value = 0;
  const auto run = [&] {
    bool good = true;
    for (int k = 0; k < 100; ++k) {
      good = good && api.enqueue(exec->handle, &l, nullptr) == GE_OK &&
             api.stream_signal(stream.get(), event.get(), ++value, nullptr) == GE_OK &&
             api.event_wait(event.get(), value, 0, nullptr) == GE_OK;
    }
    return good;
  };
  ASSERT_TRUE(run());  // the pool of events has grown
  const int calls = Idle::calls_;
  g_watch = true;
  const bool good = run();
  g_watch = false;
  EXPECT_TRUE(good);
  EXPECT_EQ(g_allocations, 0);
  EXPECT_EQ(Idle::calls_ - calls, 100 * 6);  // four kernels, a record, a question
}

// What a launch is given is checked before anything is queued: a wrong address would cost the
// device.
TEST(Queue, ChecksPlaces) {
  Machine m("device=all");
  mock::Graph g;
  g.Output(g.Op1("Relu", {g.Input(GE_F32, {16})}, {GE_F32, {16}}));
  const mock::Answer answer = m.engine().Query(g);
  const auto exec =
      mock::Compiler(m.engine(), g, answer).Compile(mock::MakeSegment(g, answer, {{0, 0}}));
  ASSERT_EQ(exec->rc, GE_OK) << exec->error;
  Block in(m, 0, 0, 64), out(m, 0, 0, 64), far(m, 1, 0, 64), pinned(m, 0, 1, 64);
  mock::Stream stream(m.engine(), 0), other(m.engine(), 1);
  ge_buf x = in.buf(), y = out.buf();
  const auto enqueue = [&](ge_stream* on, const ge_buf& from, const ge_buf& to) {
    ge_buf result = to;
    ge_launch l = {};
    l.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
    l.stream = on;
    l.in = &from;
    l.out = &result;
    l.n_in = l.n_out = 1;
    return m.engine().api().enqueue(exec->handle, &l, nullptr);
  };
  ge_buf host = x, small = x, moved = x, beyond = x;
  host.mem = nullptr;
  small.bytes = 60;
  moved.ptr = static_cast<char*>(moved.ptr) + 4;
  beyond.offset = 4;
  beyond.ptr = static_cast<char*>(beyond.ptr) + 4;
  for (const ge_buf& bad : {host, small, moved, beyond, far.buf()}) {
    EXPECT_EQ(enqueue(stream.get(), bad, y), GE_INVALID_ARGUMENT);
    EXPECT_EQ(enqueue(stream.get(), x, bad), GE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(enqueue(nullptr, x, y), GE_INVALID_ARGUMENT);
  EXPECT_EQ(enqueue(other.get(), x, y), GE_INVALID_ARGUMENT);
  EXPECT_EQ(m.simulator().calls(sim::Call::kLaunch), 0u);
  EXPECT_TRUE(m.simulator().reports().empty());
}

}  // namespace
}  // namespace ge_engines::device
