#include "plugins/device/pipeline_testing.h"

#include <algorithm>
#include <cmath>

#include "ge/ge_plugin.hpp"

namespace ge_engines::device {
namespace {

constexpr int64_t kRows = 24, kColumns = 33;
constexpr uint64_t kBytes = kRows * kColumns * sizeof(float);

// How engines of this process are made; one Machine at a time changes it.
struct Making {
  Machine::Wrap wrap;
  sim::Simulator* simulator = nullptr;
  std::vector<sim::Report>* found = nullptr;
};
Making g_making;

std::unique_ptr<Engine> MakeEngineOfTest(const ge_create_args& args) {
  sim::SimOptions options = sim::SimOptionsOf(args.options);
  auto own = std::make_unique<sim::SimDriver>(options.simulator, options.strict);
  sim::Simulator* simulator = &own->simulator();
  std::unique_ptr<Driver> driver = std::move(own);
  if (g_making.wrap) driver = g_making.wrap(std::move(driver));
  auto engine =
      std::make_unique<sim::SimEngine>(args, std::move(options), std::move(driver), simulator);
  g_making.simulator = simulator;
  engine->at_end = [found = g_making.found](const auto& reports) { *found = reports; };
  return engine;
}

std::vector<float> Wanted(const std::vector<float>& x, const std::vector<float>& c) {
  std::vector<float> out(x.size());
  for (int64_t j = 0; j < kColumns; ++j) {
    double sum = 0, most = -1e30;
    for (int64_t i = 0; i < kRows; ++i) {
      most = std::max(most, double{x[i * kColumns + j] * c[i * kColumns + j]});
    }
    for (int64_t i = 0; i < kRows; ++i) {
      sum += std::exp(double{x[i * kColumns + j] * c[i * kColumns + j]} - most);
    }
    for (int64_t i = 0; i < kRows; ++i) {
      const double e = std::exp(double{x[i * kColumns + j] * c[i * kColumns + j]} - most);
      out[j * kRows + i] = static_cast<float>(e / sum);
    }
  }
  return out;
}

std::vector<float> Numbers(int seed) {
  std::vector<float> out(kRows * kColumns);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>((i * 37 + static_cast<size_t>(seed) * 101) % 113) / 40.0f - 1.0f;
  }
  return out;
}

}  // namespace

Machine::Machine(const std::string& options, const Wrap& wrap) {
  g_making = {wrap, nullptr, &found_};
  const ge_plugin_desc* desc = Describe("simdev", "0.1", MakeEngineOfTest);
  engine_ = std::make_unique<mock::Engine>(desc, host_, mock::EngineOptions{options});
  simulator_ = g_making.simulator;
}

Machine::~Machine() = default;

std::vector<sim::Report> Machine::End() {
  engine_.reset();
  return found_;
}

Block::Block(Machine& m, uint32_t device, uint32_t domain, uint64_t bytes) : m_(m), bytes_(bytes) {
  ge_engine* e = m.engine().handle();
  rc_ = m.engine().api().mem_alloc(e, device, domain, bytes, 64, &mem_, &address_, nullptr);
}
Block::~Block() {
  if (rc_ == GE_OK) m_.engine().api().mem_free(m_.engine().handle(), mem_);
}
ge_buf Block::buf() const {
  ge_buf b = {};
  b.ptr = address_;
  b.mem = mem_;
  b.bytes = bytes_;
  b.domain = 1;
  return b;
}

// ---- the pipeline ------------------------------------------------------------------------------

template <class Call>
ge_rc Pipeline::Do(const char* name, const Call& call) {
  ge_err err = {};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  const ge_rc rc = call(&err);
  if (rc == GE_OK) return rc;
  error_ = err;
  text_ = std::string(name) + " answered " + std::to_string(rc) + ": " +
          std::string(err.msg, err.msg_len);
  return rc;
}

Pipeline::Pipeline(Machine* machine, uint64_t wait_ns) : m_(*machine), wait_ns_(wait_ns) {}

Pipeline::~Pipeline() {
  Drain();
  const ge_engine_api& api = m_.engine().api();
  if (capture_ != nullptr) api.capture_destroy(capture_);
  if (stamps_ != nullptr) api.stamps_destroy(stamps_);
  for (ge_stream* s : stream_) {
    if (s != nullptr) api.stream_destroy(s);
  }
  for (ge_event* e : event_) {
    if (e != nullptr) api.event_destroy(e);
  }
}

// As a host does before it frees anything: whatever was queued has ended, or the device is lost.
void Pipeline::Drain() {
  const ge_engine_api& api = m_.engine().api();
  for (int k = 0; k < kStreams; ++k) {
    if (stream_[k] == nullptr || event_[k] == nullptr) continue;
    if (api.stream_signal(stream_[k], event_[k], ++signalled_[k], nullptr) != GE_OK) continue;
    (void)api.event_wait(event_[k], signalled_[k], wait_ns_, nullptr);
  }
}

ge_rc Pipeline::Compile() {
  const mock::Dims dims = {kRows, kColumns}, turned = {kColumns, kRows};
  for (mock::Graph& g : graph_) g = mock::Graph();
  const uint32_t c = graph_[0].Constant(mock::Tensor::Of<float>(GE_F32, dims, Numbers(1000)));
  const uint32_t x = graph_[0].Input(GE_F32, dims);
  graph_[0].Output(graph_[0].Op1("Mul", {x, c}, {GE_F32, dims}));
  const uint32_t y = graph_[1].Input(GE_F32, dims);
  const uint32_t t = graph_[1].Op1("Transpose", {y}, {GE_F32, turned});
  graph_[1].nodes.back().attrs.push_back(mock::Attr::Ints("perm", {1, 0}));
  graph_[1].Output(graph_[1].Op1("Softmax", {t}, {GE_F32, turned}));
  graph_[1].nodes.back().attrs.push_back(mock::Attr::Int("axis", -1));
  for (int k = 0; k < 2; ++k) {
    answer_[k] = m_.engine().Query(graph_[k]);
    if (answer_[k].rc != GE_OK) return text_ = "query: " + answer_[k].error, answer_[k].rc;
    std::vector<mock::Taken> taken;
    for (uint32_t n = 0; n < graph_[k].nodes.size(); ++n) {
      for (uint32_t o = 0; o < answer_[k].offers.size(); ++o) {
        const mock::Offer& offer = answer_[k].offers[o];
        if (offer.device != 0 || offer.nodes != std::vector<uint32_t>{n}) continue;
        taken.push_back({o, 0});
        break;
      }
    }
    exec_[k] = mock::Compiler(m_.engine(), graph_[k], answer_[k])
                   .Compile(mock::MakeSegment(graph_[k], answer_[k], taken));
    if (exec_[k]->rc != GE_OK) return text_ = "compile: " + exec_[k]->error, exec_[k]->rc;
    for (const auto& p : exec_[k]->packs) {
      if (!p->ok()) return text_ = p->error(), GE_INTERNAL;
    }
  }
  return GE_OK;
}

ge_rc Pipeline::Prepare() {
  if (exec_[1] != nullptr) return GE_OK;
  if (const ge_rc rc = Compile()) return rc;
  ge_engine* e = m_.engine().handle();
  const ge_engine_api& api = m_.engine().api();
  for (int k = 0; k < kStreams; ++k) {
    const uint32_t device = k == kPeer ? 1 : 0;
    ge_rc rc = Do("stream_create",
                  [&](ge_err* err) { return api.stream_create(e, device, &stream_[k], err); });
    if (rc != GE_OK) return rc;
    rc = Do("event_create",
            [&](ge_err* err) { return api.event_create(e, device, &event_[k], err); });
    if (rc != GE_OK) return rc;
  }
  std::unique_ptr<Block>* const blocks[] = {&in_, &scaled_, &between_, &out_, &peer_};
  for (std::unique_ptr<Block>* b : blocks) {
    *b = std::make_unique<Block>(m_, b == &peer_ ? 1 : 0, 0, kBytes);
    if ((*b)->rc() != GE_OK) return text_ = "mem_alloc", (*b)->rc();
  }
  for (int k = 0; k < 2; ++k) {
    for (std::unique_ptr<Block>* b : {&pinned_in_[k], &pinned_out_[k]}) {
      *b = std::make_unique<Block>(m_, 0, 1, kBytes);
      if ((*b)->rc() != GE_OK) return text_ = "mem_alloc of pinned memory", (*b)->rc();
    }
  }
  return GE_OK;
}

ge_rc Pipeline::Wait(On on, uint64_t value) {
  return Do("event_wait", [&](ge_err* err) {
    return m_.engine().api().event_wait(event_[on], value, wait_ns_, err);
  });
}
ge_rc Pipeline::Signal(On on, uint64_t value) {
  signalled_[on] = std::max(signalled_[on], value);
  return Do("stream_signal", [&](ge_err* err) {
    return m_.engine().api().stream_signal(stream_[on], event_[on], value, err);
  });
}
ge_rc Pipeline::StreamWait(On on, On signaller, uint64_t value) {
  return Do("stream_wait", [&](ge_err* err) {
    return m_.engine().api().stream_wait(stream_[on], event_[signaller], value, err);
  });
}

ge_rc Pipeline::Copy(ge_stream* stream, const ge_buf& from, const ge_buf& to) {
  ge_copy copy = {};
  copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
  copy.stream = stream;
  copy.src = from;
  copy.dst = to;
  return Do("copy",
            [&](ge_err* err) { return m_.engine().api().copy(m_.engine().handle(), &copy, err); });
}

ge_rc Pipeline::Launch(On on, const mock::Exec& exec, const ge_buf& in, const ge_buf& out,
                       const ge_buf* internal) {
  std::vector<ge_buf> packs;
  for (const auto& p : exec.packs) packs.push_back(p->Buf());
  ge_buf result = out, inner = internal != nullptr ? *internal : ge_buf{};
  ge_launch l = {};
  l.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
  l.stream = stream_[on];
  l.in = &in;
  l.n_in = 1;
  l.out = &result;
  l.n_out = 1;
  l.internal = &inner;
  l.n_internal = internal != nullptr ? 1 : 0;
  l.pack = packs.data();
  l.n_pack = static_cast<uint32_t>(packs.size());
  return Do("enqueue",
            [&](ge_err* err) { return m_.engine().api().enqueue(exec.handle, &l, err); });
}

ge_rc Pipeline::Fill(int round) {
  const int slot = round % 2;
  const std::vector<float> x = Numbers(round);
  wanted_[slot] = Wanted(x, Numbers(1000));
  std::copy(x.begin(), x.end(), pinned_in_[slot]->floats());
  m_.simulator().HostWrite(pinned_in_[slot]->floats(), kBytes);
  return GE_OK;
}

ge_rc Pipeline::Check(int round) {
  const int slot = round % 2;
  m_.simulator().HostRead(pinned_out_[slot]->floats(), kBytes);
  for (size_t i = 0; i < wanted_[slot].size(); ++i) {
    const float is = pinned_out_[slot]->floats()[i];
    if (std::abs(is - wanted_[slot][i]) < 1e-6) continue;
    text_ = "round " + std::to_string(round) + ": element " + std::to_string(i) + " is " +
            std::to_string(is) + ", wanted " + std::to_string(wanted_[slot][i]);
    return GE_DATA_LOSS;
  }
  return GE_OK;
}

#define GE_TRY(call) \
  if (const ge_rc rc = (call); rc != GE_OK) return rc

ge_rc Pipeline::Queue(int slot, uint64_t value, bool waits) {
  if (waits) GE_TRY(StreamWait(kIn, kScale, value - 1));
  GE_TRY(Copy(stream_[kIn], pinned_in_[slot]->buf(), in_->buf()));
  GE_TRY(Signal(kIn, value));
  GE_TRY(StreamWait(kScale, kIn, value));
  if (waits) GE_TRY(StreamWait(kScale, kSoftmax, value - 1));
  GE_TRY(Launch(kScale, *exec_[0], in_->buf(), scaled_->buf(), nullptr));
  GE_TRY(Signal(kScale, value));
  GE_TRY(StreamWait(kSoftmax, kScale, value));
  if (waits) GE_TRY(StreamWait(kSoftmax, kOut, value - 1));
  const ge_buf between = between_->buf();
  GE_TRY(Launch(kSoftmax, *exec_[1], scaled_->buf(), out_->buf(), &between));
  GE_TRY(Signal(kSoftmax, value));
  GE_TRY(StreamWait(kOut, kSoftmax, value));
  GE_TRY(Copy(stream_[kOut], out_->buf(), pinned_out_[slot]->buf()));
  return Signal(kOut, value);
}

ge_rc Pipeline::Rounds(int n) {
  GE_TRY(Prepare());
  const uint64_t before = *std::max_element(signalled_, signalled_ + kStreams);
  for (int r = 1; r <= n; ++r) {
    const uint64_t value = before + static_cast<uint64_t>(r);
    if (r > 2) GE_TRY(Wait(kIn, value - 2));  // its place is written anew
    GE_TRY(Fill(r));
    GE_TRY(Queue(r % 2, value, r > 1));
    if (r == 1) continue;
    GE_TRY(Wait(kOut, value - 1));
    GE_TRY(Check(r - 1));
  }
  GE_TRY(Wait(kOut, before + static_cast<uint64_t>(n)));
  return Check(n);
}

ge_rc Pipeline::Captured(int n) {
  GE_TRY(Prepare());
  const ge_engine_api& api = m_.engine().api();
  ge_stream* const streams[] = {stream_[kIn], stream_[kScale], stream_[kSoftmax], stream_[kOut]};
  GE_TRY(Do("capture_begin",
            [&](ge_err* err) { return api.capture_begin(m_.engine().handle(), streams, 4, err); }));
  ge_rc inside = Queue(0, 1, false);
  if (inside == GE_OK) inside = StreamWait(kIn, kOut, 1);
  if (inside == GE_OK) inside = StreamWait(kIn, kSoftmax, 1);
  if (inside == GE_OK) inside = StreamWait(kIn, kScale, 1);
  const std::string why = text_;
  const ge_rc end = Do("capture_end", [&](ge_err* err) {
    return api.capture_end(m_.engine().handle(), &capture_, err);
  });
  if (inside != GE_OK && end == GE_OK) {
    return text_ = "capture_end forgot: " + why, GE_DATA_LOSS;
  }
  if (end != GE_OK) return end;
  for (int r = 1; r <= n; ++r) {
    GE_TRY(Fill(2 * r));
    GE_TRY(Do("capture_launch",
              [&](ge_err* err) { return api.capture_launch(capture_, stream_[kAll], err); }));
    const uint64_t value = signalled_[kAll] + 1;
    GE_TRY(Signal(kAll, value));
    GE_TRY(Wait(kAll, value));
    GE_TRY(Check(2 * r));
  }
  api.capture_destroy(capture_);
  capture_ = nullptr;
  return GE_OK;
}

ge_rc Pipeline::Peers() {
  GE_TRY(Prepare());
  GE_TRY(Rounds(1));
  const uint64_t value = *std::max_element(signalled_, signalled_ + kStreams) + 1;
  const ge_buf between = between_->buf();
  GE_TRY(Launch(kSoftmax, *exec_[1], scaled_->buf(), out_->buf(), &between));
  GE_TRY(Signal(kSoftmax, value));
  GE_TRY(StreamWait(kPeer, kSoftmax, value));
  GE_TRY(Copy(stream_[kPeer], out_->buf(), peer_->buf()));
  GE_TRY(Signal(kPeer, value));
  GE_TRY(StreamWait(kOut, kPeer, value));
  GE_TRY(Copy(stream_[kOut], peer_->buf(), scaled_->buf()));
  GE_TRY(Copy(stream_[kOut], scaled_->buf(), pinned_out_[1]->buf()));
  GE_TRY(Signal(kOut, value));
  GE_TRY(Wait(kOut, value));
  return Check(1);
}

ge_rc Pipeline::Stamps() {
  GE_TRY(Prepare());
  const ge_engine_api& api = m_.engine().api();
  GE_TRY(Do("stamps_create", [&](ge_err* err) {
    return api.stamps_create(m_.engine().handle(), 0, 3, &stamps_, err);
  }));
  for (uint32_t k = 0; k < 3; ++k) {
    GE_TRY(Do("stream_stamp",
              [&](ge_err* err) { return api.stream_stamp(stream_[kAll], stamps_, k, err); }));
    if (k < 2) GE_TRY(Launch(kAll, *exec_[0], in_->buf(), scaled_->buf(), nullptr));
  }
  const uint64_t value = signalled_[kAll] + 1;
  GE_TRY(Signal(kAll, value));
  GE_TRY(Wait(kAll, value));
  uint64_t ns[3] = {};
  GE_TRY(Do("stamps_read", [&](ge_err* err) { return api.stamps_read(stamps_, 0, 3, ns, err); }));
  api.stamps_destroy(stamps_);
  stamps_ = nullptr;
  if (ns[0] <= ns[1] && ns[1] <= ns[2] && ns[0] != 0) return GE_OK;
  return text_ = "stamps go back", GE_DATA_LOSS;
}

ge_rc Pipeline::Now() {
  GE_TRY(Prepare());
  std::vector<float> x = Numbers(7), back(x.size());
  ge_buf from = {}, to = {};
  from.ptr = x.data();
  to.ptr = back.data();
  from.bytes = to.bytes = kBytes;
  GE_TRY(Copy(nullptr, from, in_->buf()));
  GE_TRY(Copy(nullptr, in_->buf(), peer_->buf()));
  GE_TRY(Copy(nullptr, peer_->buf(), to));
  m_.simulator().HostRead(back.data(), kBytes);
  return back == x ? GE_OK : (text_ = "copies changed the bytes", GE_DATA_LOSS);
}

ge_rc Pipeline::All() {
  GE_TRY(Now());
  GE_TRY(Rounds(3));
  GE_TRY(Captured(2));
  GE_TRY(Peers());
  return Stamps();
}

}  // namespace ge_engines::device
