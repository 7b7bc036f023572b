#include "ge/tune/offer_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "ge/base/aligned.h"
#include "ge/base/file_mapping.h"
#include "ge/engine/resident/pack_set.h"
#include "ge/engine/resident/residents.h"
#include "ge/host/machine.h"
#include "ge/plan/routes.h"
#include "ge/tune/stream_timer.h"

namespace ge {
namespace {

constexpr uint64_t kMaxTimedBytes = uint64_t{1} << 34;  // of one buffer, when only timing
constexpr uint64_t kEvictFrom = 64 << 10;  // constants below are in the cache in a run, too

// Numbers that any operator takes: normal floats; zeros as indices and booleans.
void FillInput(DType dtype, void* data, uint64_t bytes) {
  if (dtype == DType::kFloat16 || dtype == DType::kBfloat16) {
    const uint16_t one = dtype == DType::kFloat16 ? 0x3c00 : 0x3f80;
    for (uint64_t i = 0; i + 1 < bytes; i += 2) {
      std::memcpy(static_cast<char*>(data) + i, &one, sizeof one);
    }
    return;
  }
  if (dtype != DType::kFloat && dtype != DType::kDouble) {
    std::memset(data, 0, bytes);
    return;
  }
  constexpr uint64_t kTable = 4096;  // elements drawn; the rest repeats them
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  const uint64_t width = dtype == DType::kFloat ? 4 : 8;
  auto* out = static_cast<char*>(data);
  const uint64_t first = std::min(bytes / width, kTable) * width;
  for (uint64_t i = 0; i < first; i += width) {
    const double d = normal(rng);
    const float f = static_cast<float>(d);
    std::memcpy(out + i, width == 4 ? static_cast<const void*>(&f) : &d, width);
  }
  for (uint64_t done = first; done < bytes && first > 0; done += first) {
    std::memcpy(out + done, out, std::min(first, bytes - done));
  }
}

// As the producer leaves a tensor: just written.
void Touch(void* data, uint64_t bytes) {
  auto* p = static_cast<volatile char*>(data);
  for (uint64_t i = 0; i < bytes; i += 64) p[i] = p[i];
}

void Read(const void* data, uint64_t bytes) {
  const auto* p = static_cast<const volatile char*>(data);
  for (uint64_t i = 0; i < bytes; i += 64) (void)p[i];
}

}  // namespace

// One compiled exec with everything that a launch of it needs.
class OfferTimer::Launcher {
 public:
  Launcher(std::shared_ptr<Engine> engine, uint32_t device, ge_compiled compiled)
      : owner_(std::move(engine)),
        engine_(*owner_),
        api_(engine_.api()),
        device_(device),
        compiled_(compiled) {}
  ~Launcher() {
    if (frame_ && api_.frame_destroy) api_.frame_destroy(compiled_.exec, frame_);
    streams_.reset();
    for (ge_mem* m : mems_) api_.mem_free(engine_.handle(), m);
    if (api_.exec_destroy) api_.exec_destroy(compiled_.exec);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  Status Prepare(const Graph& graph, const Function& f, const Border& border,
                 const std::vector<PlanLayout>& layouts) {
    const size_t n = border.in.size() + border.out.size() + compiled_.n_internal;
    dims_.reserve(n);
    in_.reserve(border.in.size());
    out_.reserve(border.out.size());
    for (size_t i = 0; i < border.in.size(); ++i) {
      GE_RETURN_IF_ERROR(
          AddBorder(f, border.in[i], layouts, border.in_layout[i], nullptr, true, &in_));
    }
    for (size_t i = 0; i < border.out.size(); ++i) {
      GE_RETURN_IF_ERROR(AddBorder(f, border.out[i], layouts, border.out_layout[i],
                                   compiled_.out_bytes ? &compiled_.out_bytes[i] : nullptr, false,
                                   &out_));
    }
    for (uint32_t i = 0; i < compiled_.n_internal; ++i) {
      const ge_internal& value = compiled_.internal[i];
      ge_buf b{};
      if (value.value && value.value < f.values.size() && f.values[value.value].type.is_static()) {
        dims_.push_back(f.values[value.value].type.static_dims());
        b.dtype = static_cast<int32_t>(f.values[value.value].type.dtype);
      } else {
        dims_.push_back({static_cast<int64_t>(value.bytes)});
      }
      b.dims = dims_.back().data();
      b.rank = static_cast<int32_t>(dims_.back().size());
      GE_RETURN_IF_ERROR(Allocate(value.bytes, value.align, &b));
      internal_.push_back(b);
    }
    launch_.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
    if (compiled_.workspace) {
      GE_RETURN_IF_ERROR(
          Allocate(compiled_.workspace, compiled_.workspace_align, &launch_.workspace));
    }
    launch_.in = in_.data();
    launch_.n_in = static_cast<uint32_t>(in_.size());
    launch_.out = out_.data();
    launch_.n_out = static_cast<uint32_t>(out_.size());
    launch_.internal = internal_.data();
    launch_.n_internal = static_cast<uint32_t>(internal_.size());
    GE_ASSIGN_OR_RETURN(packs_, ResidentsOf(owner_, device_, compiled_, graph, f));
    std::vector<Status> filled;
    pinned_ = std::make_unique<PackSet>(packs_);  // until this offer has been timed
    pinned_->WriteFirst(&filled);
    for (size_t i = 0; i < packs_.size(); ++i) {
      GE_RETURN_IF_ERROR(filled[i]);
      pack_.push_back(packs_[i]->buf());
    }
    launch_.pack = pack_.data();
    launch_.n_pack = static_cast<uint32_t>(pack_.size());
    return PrepareRun();
  }

  // ns of one launch: on a device's stream its own time, without the host's way there and back.
  Result<double> Time(int launches) {
    if (streams_) {
      const auto launch = [&](ge_stream* stream) {
        launch_.stream = stream;
        return Launch();
      };
      GE_ASSIGN_OR_RETURN(const StreamTimer::Times times, streams_->Time(launch, launches));
      return times.one_ns;
    }
    const double start = SteadyNs();
    for (int k = 0; k < launches; ++k) GE_RETURN_IF_ERROR(Launch());
    return (SteadyNs() - start) / launches;
  }

  // Launches that are timed together, where one takes so long with what it needs from the host.
  // Reading the clock takes 25 ns. Without stamps the work must stand out from the visit.
  int Batch(double first_ns, bool evicts) const {
    constexpr double kMostNs = 20e6;
    if (streams_ && !streams_->has_stamps()) {
      return std::clamp(static_cast<int>(kMostNs / std::max(first_ns, 1.0)), 1,
                        StreamTimer::kPieces);
    }
    return evicts ? 1 : std::clamp(static_cast<int>(2000 / std::max(first_ns, 1.0)), 1, 32);
  }

  // Whether what the host reads between launches makes their inputs colder.
  bool SharesCaches() const { return host_memory(); }

  const std::vector<ge_buf>& packs() const { return pack_; }

  void TouchBorder() {
    if (!host_memory()) return;
    for (const auto* list : {&in_, &out_}) {
      for (const ge_buf& b : *list) Touch(b.ptr, b.bytes);
    }
  }

 private:
  Status Launch() {
    ge_err err = EmptyError();
    const ge_rc rc = CallPlugin(CallText(engine_, "enqueue"), &err,
                                [&] { return api_.enqueue(compiled_.exec, &launch_, &err); });
    return rc == GE_OK ? Status() : FromEngine(engine_.name(), "enqueue", rc, err);
  }

  bool host_memory() const { return engine_.devices()[device_].domains[0].id.empty(); }

  Status PrepareRun() {
    ge_err err = EmptyError();
    if (engine_.devices()[device_].flags & GE_DEVICE_ASYNC) {
      GE_ASSIGN_OR_RETURN(streams_,
                          StreamTimer::Make(api_, engine_.handle(), engine_.name(), device_));
    }
    if (!api_.frame_create) return {};
    const ge_rc rc = api_.frame_create(compiled_.exec, &frame_, &err);
    if (rc != GE_OK) return FromEngine(engine_.name(), "frame_create", rc, err);
    launch_.frame = frame_;
    return {};
  }

  Status AddBorder(const Function& f, ValueId v, const std::vector<PlanLayout>& layouts,
                   uint32_t layout, const uint64_t* said, bool input, std::vector<ge_buf>* out) {
    const Type& type = f.values[v].type;
    auto bytes = BytesInLayout(type, layouts[layout]);
    if (layout != 0 && said && *said) bytes = static_cast<int64_t>(*said);
    if (!bytes || *bytes < 0 || !type.is_static()) {
      return Status(Code::kUnsupported, "a border value's size is not known before it is run");
    }
    dims_.push_back(type.static_dims());
    ge_buf b{};
    b.dims = dims_.back().data();
    b.rank = static_cast<int32_t>(dims_.back().size());
    b.dtype = static_cast<int32_t>(type.dtype);
    b.layout = layout;
    GE_RETURN_IF_ERROR(Allocate(static_cast<uint64_t>(*bytes), 64, &b));
    if (input) GE_RETURN_IF_ERROR(Fill(type.dtype, &b));
    out->push_back(b);
    return {};
  }

  Status Allocate(uint64_t bytes, uint64_t align, ge_buf* b) {
    align = std::max<uint64_t>({align, 64, static_cast<uint64_t>(Device().domains[0].align)});
    if (bytes > kMaxTimedBytes || (align & (align - 1)) != 0) {
      return Status(Code::kLimitExceeded, "a buffer is too large to time the offer by itself");
    }
    b->bytes = bytes;
    if (host_memory()) {
      host_.push_back(AllocateAligned(std::max<uint64_t>(bytes, 64), align));
      if (!host_.back()) return Status(Code::kResourceExhausted, "no memory to time an offer");
      b->ptr = host_.back().get();
      std::memset(b->ptr, 0, bytes);
      return {};
    }
    ge_err err = EmptyError();
    const ge_rc rc = api_.mem_alloc(engine_.handle(), device_, 0, std::max<uint64_t>(bytes, 64),
                                    align, &b->mem, &b->ptr, &err);
    if (rc != GE_OK) return FromEngine(engine_.name(), "mem_alloc", rc, err);
    mems_.push_back(b->mem);
    b->domain = 1;
    return {};
  }

  Status Fill(DType dtype, ge_buf* b) {
    if (host_memory()) {
      FillInput(dtype, b->ptr, b->bytes);
      return {};
    }
    AlignedBytes staging = AllocateAligned(std::max<uint64_t>(b->bytes, 64), 64);
    if (!staging) return Status(Code::kResourceExhausted, "no memory to time an offer");
    FillInput(dtype, staging.get(), b->bytes);
    ge_copy copy{};
    copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
    copy.dst = *b;
    copy.src = *b;
    copy.src.ptr = staging.get();
    copy.src.mem = nullptr;
    copy.src.domain = 0;
    ge_err err = EmptyError();
    const ge_rc rc = api_.copy(engine_.handle(), &copy, &err);
    return rc == GE_OK ? Status() : FromEngine(engine_.name(), "copy", rc, err);
  }

  const EngineDevice& Device() const { return engine_.devices()[device_]; }

  std::shared_ptr<Engine> owner_;
  const Engine& engine_;
  const ge_engine_api& api_;
  uint32_t device_;
  ge_compiled compiled_;
  ge_launch launch_{};
  ge_frame* frame_ = nullptr;
  std::unique_ptr<StreamTimer> streams_;  // null: it finishes before it returns
  std::vector<ge_buf> in_, out_, internal_, pack_;
  std::vector<std::shared_ptr<Resident>> packs_;
  std::unique_ptr<PackSet> pinned_;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<AlignedBytes> host_;
  std::vector<ge_mem*> mems_;
};

OfferTimer::OfferTimer(const EngineList& engines, const Graph& graph, const Function& function,
                       const std::vector<PlanLayout>& layouts, GraphView* view)
    : engines_(engines),
      graph_(graph),
      function_(function),
      layouts_(layouts),
      view_(view),
      abi_layouts_(layouts),
      users_(function.values.size()),
      is_result_(function.values.size()) {
  for (uint32_t i = 0; i < function.nodes.size(); ++i) {
    for (ValueId v : function.nodes[i].inputs) {
      if (v) users_[v].push_back(i);
    }
  }
  for (ValueId v : function.results) is_result_[v] = true;
  for (const Const& c : graph.consts) weight_bytes_ += c.bytes;
}

OfferTimer::Border OfferTimer::BorderOf(const Offer& offer, const OfferChoice& choice) const {
  Border b;
  auto inside = [&](uint32_t node) {
    return std::binary_search(offer.nodes.begin(), offer.nodes.end(), node);
  };
  // Tables, since a pattern may have a hundred thousand nodes.
  std::vector<ValueId> made;
  std::unordered_set<ValueId> inner, entered;
  for (uint32_t n : offer.nodes) {
    for (ValueId v : function_.nodes[n].outputs) {
      if (v && inner.insert(v).second) made.push_back(v);
    }
  }
  for (uint32_t n : offer.nodes) {
    for (ValueId v : function_.nodes[n].inputs) {
      if (v == 0 || inner.count(v)) continue;
      if (function_.values[v].constant) {
        b.constant_bytes += static_cast<uint64_t>(ByteCount(function_.values[v].type).value_or(0));
      } else if (entered.insert(v).second) {
        b.in.push_back(v);
      }
    }
  }
  for (ValueId v : made) {
    bool leaves = is_result_[v];
    for (uint32_t user : users_[v]) leaves |= !inside(user);
    if (leaves) b.out.push_back(v);
  }
  const std::unordered_map<ValueId, uint32_t> chosen(choice.layouts.begin(), choice.layouts.end());
  auto layout = [&](ValueId v) {
    const auto it = chosen.find(v);
    return it == chosen.end() ? 0 : it->second;
  };
  for (ValueId v : b.in) b.in_layout.push_back(layout(v));
  for (ValueId v : b.out) b.out_layout.push_back(layout(v));
  return b;
}

Status OfferTimer::AlignConstants(const Offer& offer) {
  for (uint32_t n : offer.nodes) {
    for (ValueId v : function_.nodes[n].inputs) {
      const ge_value* view = GE_VALUE(view_->get(), v);
      if (v == 0 || !view->data || view->data_bytes == 0) continue;
      const uint64_t align =
          offer.const_align ? offer.const_align : std::max<uint64_t>(1, view->type.bits / 8);
      if (reinterpret_cast<uintptr_t>(view->data) % align == 0) continue;
      aligned_.push_back(AllocateAligned(view->data_bytes, align));
      if (!aligned_.back()) return Status(Code::kResourceExhausted, "no memory to time an offer");
      std::memcpy(aligned_.back().get(), view->data, view->data_bytes);
      replaced_.emplace_back(v, view->data);
      view_->SetConstData(v, aligned_.back().get());
    }
  }
  return {};
}

void OfferTimer::RestoreConstants() {
  for (auto [v, data] : replaced_) {
    view_->SetConstData(v, data);
    DropMappedPages(data, GE_VALUE(view_->get(), v)->data_bytes);  // their copy read them
  }
  replaced_.clear();
  aligned_.clear();
}

Result<ge_compiled> OfferTimer::Compile(const Offer& offer, uint32_t choice_index,
                                        const Border& border) {
  const Engine& engine = *engines_[offer.engine];
  ge_taken taken{offer.cookie,
                 offer.nodes.data(),
                 static_cast<uint32_t>(offer.nodes.size()),
                 choice_index,
                 {}};
  ge_segment s{};
  s.h = GE_HDR(ge_segment, GE_TAG_SEGMENT);
  s.graph = view_->get();
  s.taken = &taken;
  s.n_taken = 1;
  s.device = offer.device;
  s.in = border.in.data();
  s.n_in = static_cast<uint32_t>(border.in.size());
  s.out = border.out.data();
  s.n_out = static_cast<uint32_t>(border.out.size());
  s.in_layout = border.in_layout.data();
  s.out_layout = border.out_layout.data();
  s.layout = abi_layouts_.data();
  s.n_layout = abi_layouts_.size();
  s.flags = GE_SEGMENT_OBSERVE;
  ge_compiled out{};
  out.h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
  ge_err err = EmptyError(), why = EmptyError();
  out.err = &why;
  std::lock_guard<std::mutex> lock(engine.call_mutex());
  const ge_rc rc = CallPlugin(CallText(engine, "compile"), &err, [&] {
    return engine.api().compile(engine.handle(), &s, 1, sizeof s, &out, sizeof out, &err);
  });
  if (rc != GE_OK || out.rc != GE_OK || !out.exec) {
    if (out.exec && engine.api().exec_destroy) engine.api().exec_destroy(out.exec);
    return rc != GE_OK ? FromEngine(engine.name(), "compile", rc, err)
                       : FromEngine(engine.name(), "compile", out.rc, why);
  }
  out.err = nullptr;
  return out;
}

// Streams through memory until the constants have left the caches that they have left in a run,
// where every other weight of the model comes between: the first two always, the last when the
// model is larger than it.
void OfferTimer::Evict(uint64_t constant_bytes, const std::vector<ge_buf>& own) {
  if (constant_bytes < kEvictFrom) return;
  const MachineRecord& m = HostMachine();
  const uint64_t l2 = 2 * m.cache_bytes[0];
  const uint64_t wanted =
      std::clamp<uint64_t>(weight_bytes_, l2, std::max<uint64_t>(l2, m.cache_bytes[1]));
  uint64_t left = wanted;
  for (const ge_buf& b : between_) {
    const auto same = [&](const ge_buf& o) { return o.ptr == b.ptr; };
    if (left == 0 || std::any_of(own.begin(), own.end(), same)) continue;
    const uint64_t bytes = std::min(left, b.bytes);
    Read(b.ptr, bytes);
    left -= bytes;
  }
  if (evict_bytes_ < left) {
    evict_ = AllocateAligned(left, 4096);
    evict_bytes_ = evict_ ? left : 0;
    if (evict_) std::memset(evict_.get(), 0, left);
  }
  if (evict_) Touch(evict_.get(), std::min(left, evict_bytes_));
}

double OfferTimer::Timing::ns() const {
  std::vector<double> sorted = of.ns;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

Result<OfferTimer::Timing> OfferTimer::Time(const Offer& offer, const OfferChoice& choice,
                                            uint32_t choice_index, double budget_ns) {
  const Border border = BorderOf(offer, choice);
  Status aligned = AlignConstants(offer);
  Result<ge_compiled> compiled =
      aligned.ok() ? Compile(offer, choice_index, border) : Result<ge_compiled>(aligned);
  if (!compiled.ok()) {
    RestoreConstants();
    return std::move(compiled).status();
  }
  Result<Timing> answer = [&]() -> Result<Timing> {
    Launcher launcher(engines_[offer.engine], offer.device, *compiled);
    GE_RETURN_IF_ERROR(launcher.Prepare(graph_, function_, border, layouts_));
    const double warm = SteadyNs();
    GE_ASSIGN_OR_RETURN(const double alone, launcher.Time(1));  // pays for lazy preparations
    const double first = SteadyNs() - warm;
    if (first > budget_ns) return Timing{{{alone}}};  // Once more would take as long again.
    const bool evicts = border.constant_bytes >= kEvictFrom && launcher.SharesCaches();
    const int batch = launcher.Batch(first, evicts);
    auto sample = [&]() -> Result<double> {
      if (evicts) Evict(border.constant_bytes, launcher.packs());
      launcher.TouchBorder();
      return launcher.Time(batch);
    };
    GE_ASSIGN_OR_RETURN(Repeats of, RepeatTiming(&SteadyNs, evicts ? 3 : 7, 1, budget_ns, sample));
    return Timing{std::move(of)};
  }();
  RestoreConstants();
  return answer;
}

}  // namespace ge
