// ge_mock_launch.hpp: one launch of an exec by the mock host, in buffers of its own. Before it,
// outputs, internal values and workspace hold garbage; after it the host complains where anything
// else was written. Header only, C++17; part of ge_mock_host.hpp, which tests include. Threads: a
// Launch is one thread's; several of one exec may run at once, unless that is GE_COMPILED_SERIAL.
#ifndef GE_MOCK_LAUNCH_HPP_
#define GE_MOCK_LAUNCH_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_mock_exec.hpp"
#include "ge/ge_mock_place.hpp"

namespace ge::mock {

struct LaunchOptions {
  unsigned char garbage = 0xFF;  // NaN as a float, -1 as an integer
  bool overlay = false;  // internal values share places as far as their steps and aliases allow
  int alias = -1;        // index into Exec::aliases: that output lies on that input
  const uint32_t* stop = nullptr;  // as ge_launch.stop
  bool null_err = false;
  uint64_t launch_id = 1;
};

class Launch {
 public:
  explicit Launch(const Exec& exec, const LaunchOptions& options = LaunchOptions())
      : x_(exec), e_(exec.engine), o_(options) {
    const uint32_t device = exec.segment.device;
    const auto add = [&](uint64_t bytes, uint64_t align, const char* what) {
      places_.push_back(std::make_unique<Place>(e_, device, bytes, align, what));
      return places_.back().get();
    };
    for (const Border& b : exec.segment.in) {
      in_.push_back(
          add(BytesIn(exec.layouts, b.layout, exec.graph.values[b.value].type), 64, "an input"));
    }
    for (size_t i = 0; i < exec.segment.out.size(); ++i) {
      const bool shared = o_.alias >= 0 && exec.aliases[Index()].first == i;
      out_.push_back(shared ? in_[exec.aliases[Index()].second]
                            : add(exec.out_bytes[i], 64, "an output"));
    }
    PlaceInternals(add);
    if (exec.workspace != 0) {
      workspace_ = add(exec.workspace, exec.workspace_align, "the workspace");
    }
    if (e_.devices()[device].async()) {
      stream_ = std::make_unique<Stream>(e_, device);
      event_ = std::make_unique<Event>(e_, device);
    }
    MakeFrame();
  }
  ~Launch() {
    if (frame_ == nullptr || e_.api().frame_destroy == nullptr) return;
    CallScope scope(e_.host(), "frame_destroy");
    e_.api().frame_destroy(x_.handle, frame_);
    scope.Returned();
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Bytes in the input's layout; those of opaque ones are what a conversion gave.
  void SetInput(uint32_t i, std::vector<unsigned char> bytes) {
    bytes.resize(in_[i]->bytes());
    kept_.resize(in_.size());
    kept_[i] = std::move(bytes);
  }
  // Input i lies where another launch has its output, which must outlive this one.
  void ReadFrom(uint32_t i, const Launch& maker, uint32_t output) { in_[i] = maker.out_[output]; }
  std::vector<unsigned char> Output(uint32_t i) { return out_[i]->Read(); }
  const std::string& error() const { return error_; }

  // Enqueues and waits. Garbage first, complaints afterwards.
  ge_rc Run() {
    Begin();
    const ge_rc rc = RunBare();
    const auto complain = [&](const std::string& what) {
      if (!what.empty()) e_.host().Complain("enqueue: " + what);
    };
    for (const auto& p : places_) complain(p->Harm());
    for (size_t i = 0; i < x_.packs.size(); ++i) {
      complain(x_.packs[i]->Harm());
      if (x_.packs[i]->Read() == x_.packed[i]) continue;
      complain("pack " + std::to_string(i) + " was written; packs are shared and read-only");
    }
    for (size_t i = 0; i < in_.size(); ++i) {
      const bool shared = o_.alias >= 0 && x_.aliases[Index()].second == i;
      const bool given = i < kept_.size() && kept_[i].size() == in_[i]->bytes();
      if (!shared && given && in_[i]->Read() != kept_[i]) {
        complain("input " + std::to_string(i) + " was written");
      }
    }
    return rc;
  }
  // Garbage and inputs into their places.
  void Begin() {
    for (size_t i = 0; i < out_.size(); ++i) out_[i]->Fill(o_.garbage);
    for (Place* p : internal_) p->Fill(o_.garbage);
    if (workspace_ != nullptr) workspace_->Fill(o_.garbage);
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i].empty()) in_[i]->Write(kept_[i].data());
    }
  }
  ge_rc RunBare() {
    for (const auto& p : places_) {
      if (!p->ok()) return error_ = p->error(), GE_OUT_OF_MEMORY;
    }
    if (stream_ != nullptr && (!stream_->ok() || !event_->ok())) {
      return error_ = "no stream or event: " + stream_->error(), GE_INTERNAL;
    }
    ge_rc rc = Enqueue(stream_.get());
    if (stream_ == nullptr || rc != GE_OK) return rc;
    rc = stream_->Signal(*event_, ++value_);
    return rc != GE_OK ? rc : event_->Wait(value_, UINT64_MAX, &error_);
  }
  // The call alone, with records of its own that are gone when it has returned.
  ge_rc Enqueue(Stream* stream) {
    Arena arena("the launch record", e_.host().style.exact);
    const ge_launch* given = Record(stream, &arena);
    Error err(e_.host());
    ge_rc rc = GE_OK;
    {
      CallScope scope(e_.host(), "enqueue");
      steps_ = 0;
      rc = e_.api().enqueue(x_.handle, given, o_.null_err ? nullptr : err.get());
      scope.Returned();
    }
    if (rc == GE_OK && given->after_step != nullptr && steps_ != x_.n_step) {
      e_.host().Complain("enqueue called after_step for " + std::to_string(steps_) + " of " +
                         std::to_string(x_.n_step) + " steps, or out of order");
    }
    error_ = o_.null_err ? "" : err.Text("enqueue", rc);
    return rc;
  }
  // For timing: the record of a call, which stays as long as the arena.
  const ge_launch* Record(Stream* stream, Arena* arena) const {
    ge_launch l = {};
    l.stream = stream != nullptr ? stream->get() : nullptr;
    std::vector<ge_buf> in, out, internal, pack;
    for (size_t i = 0; i < in_.size(); ++i) in.push_back(BufOf(*in_[i], x_.segment.in[i], arena));
    for (size_t i = 0; i < out_.size(); ++i)
      out.push_back(BufOf(*out_[i], x_.segment.out[i], arena));
    for (size_t i = 0; i < internal_.size(); ++i) {
      internal.push_back(BufOf(*internal_[i], {x_.internals[i].value, 0}, arena));
      internal.back().bytes = x_.internals[i].bytes;
    }
    for (const auto& p : x_.packs) pack.push_back(p->Buf());
    l.in = arena->Copy(in);
    l.n_in = static_cast<uint32_t>(in.size());
    l.out = arena->Copy(out.data(), out.size());
    l.n_out = static_cast<uint32_t>(out.size());
    l.internal = arena->Copy(internal.data(), internal.size());
    l.n_internal = static_cast<uint32_t>(internal.size());
    l.pack = arena->Copy(pack);
    l.n_pack = static_cast<uint32_t>(pack.size());
    if (workspace_ != nullptr) l.workspace = workspace_->Buf();
    l.frame = frame_;
    l.launch_id = o_.launch_id;
    l.stop = o_.stop;
    if (x_.tells_steps && stream == nullptr) {
      l.observer = &steps_;
      l.after_step = [](void* steps, uint32_t step) {
        auto* seen = static_cast<uint32_t*>(steps);
        *seen = step == *seen ? step + 1 : UINT32_MAX;  // stays wrong after one out of order
      };
    }
    return arena->Struct(e_.host().style, l, GE_TAG_LAUNCH);
  }

 private:
  mutable uint32_t steps_ = 0;  // that the last call told of
  size_t Index() const { return static_cast<size_t>(o_.alias); }
  ge_buf BufOf(const Place& place, const Border& right, Arena* left) const {
    ge_buf out = place.Buf();
    const Type& t = x_.graph.values[right.value].type;
    out.dims = right.value != 0 ? left->Copy(t.dims) : nullptr;
    out.rank = right.value != 0 ? static_cast<int32_t>(t.dims.size()) : 0;
    out.dtype = right.value != 0 ? t.dtype : 0;
    out.layout = right.layout;
    return out;
  }
  // With `overlay` a value joins the first place if it may overlay every other value there.
  template <class Add>
  void PlaceInternals(const Add& add) {
    struct Shared {
      std::vector<uint32_t> members;
      uint64_t bytes = 0, align = 64;
    };
    std::vector<Shared> shared;
    std::vector<size_t> of;
    for (uint32_t i = 0; i < x_.internals.size(); ++i) {
      const ge_internal& v = x_.internals[i];
      size_t at = 0;
      for (; at < shared.size(); ++at) {
        const bool may =
            o_.overlay &&
            std::all_of(shared[at].members.begin(), shared[at].members.end(), [&](uint32_t m) {
              const ge_internal& o = x_.internals[m];
              return m == v.alias_of || o.last_step < v.first_step || v.last_step < o.first_step;
            });
        if (may) break;
      }
      if (at == shared.size()) shared.emplace_back();
      shared[at].members.push_back(i);
      shared[at].bytes = std::max(shared[at].bytes, v.bytes);
      shared[at].align = std::max<uint64_t>(shared[at].align, v.align);
      of.push_back(at);
    }
    std::vector<Place*> made;
    for (const Shared& s : shared) made.push_back(add(s.bytes, s.align, "an internal value"));
    for (size_t at : of) internal_.push_back(made[at]);
  }
  void MakeFrame() {
    if (e_.api().frame_create == nullptr) return;
    Error err(e_.host());
    ge_rc rc = GE_OK;
    {
      CallScope scope(e_.host(), "frame_create");
      rc = e_.api().frame_create(x_.handle, &frame_, err.get());
      scope.Returned();
    }
    error_ = err.Text("frame_create", rc);
    if (rc != GE_OK) e_.host().Complain("frame_create: failed: " + error_);
  }

  const Exec& x_;
  Engine& e_;
  LaunchOptions o_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<Place*> in_, out_, internal_;
  Place* workspace_ = nullptr;
  std::vector<std::vector<unsigned char>> kept_;
  std::unique_ptr<Event> event_;
  std::unique_ptr<Stream> stream_;  // ends before the event that it signals
  uint64_t value_ = 0;
  ge_frame* frame_ = nullptr;
  std::string error_;
};

}  // namespace ge::mock
#endif  // GE_MOCK_LAUNCH_HPP_
