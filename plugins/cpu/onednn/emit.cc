// oneDNN's primitives as steps of a program.
#include "plugins/cpu/onednn/emit.h"

#include <omp.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "plugins/cpu/omp/ge_omp.h"
#include "plugins/cpu/onednn/price.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {
namespace {

void Check(dnnl_status_t status, const char* what) {
  if (status != dnnl_success) {
    throw std::runtime_error(std::string(what) + " failed with oneDNN status " +
                             std::to_string(static_cast<int>(status)));
  }
}

dnnl_memory_t MakeMemory(const Desc& d, dnnl_engine_t engine) {
  dnnl_memory_t m = nullptr;
#if DNNL_VERSION_MAJOR >= 3
  Check(dnnl_memory_create(&m, d.get(), engine, DNNL_MEMORY_NONE), "dnnl_memory_create");
#else
  Check(dnnl_memory_create(&m, &d.data, engine, DNNL_MEMORY_NONE), "dnnl_memory_create");
#endif
  return m;
}

// Whether it divides its work among the threads that there were when it was made, and these wait
// for each other: with fewer it would not end. Of oneDNN's kernels that are used here the gradient
// of a convolution's weights is such a one; others ask when they run.
bool NeedsTeam(const dnnl::primitive_desc_base& pd) {
  dnnl_prop_kind_t kind = dnnl_prop_kind_undef;
  const auto asked = dnnl_primitive_desc_query(pd.get(), dnnl_query_prop_kind, 0, &kind);
  return asked == dnnl_success && kind == dnnl_backward_weights;
}

}  // namespace

// Runs once it is made: its kernel is generated apart from the others', on any thread.
class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(dnnl_engine_t engine, std::string label, dnnl::primitive_desc_base from,
                  std::vector<int> arg, std::vector<Desc> desc)
      : engine_(engine),
        label_(std::move(label)),
        team_(NeedsTeam(from)),
        from_(std::move(from)),
        arg_(std::move(arg)),
        desc_(std::move(desc)) {}

  void Make() {
    prim_ = dnnl::primitive(from_.get());
    from_ = {};
  }

  std::unique_ptr<KernelState> NewState() const override {
    auto s = std::make_unique<State>();
    s->arg.reserve(arg_.size());
    for (size_t k = 0; k < arg_.size(); ++k) {
      s->arg.push_back({arg_[k], MakeMemory(desc_[k], engine_)});
    }
    return s;
  }

  void Bind(const Call& call) const override {
    auto& s = static_cast<State&>(*call.state);
    for (size_t k = 0; k < s.arg.size(); ++k) {
      Check(dnnl_memory_set_data_handle(s.arg[k].memory, call.p[k]), "dnnl_memory_set_data_handle");
    }
  }

  ge_rc Do(const Call& call) const override {
    const auto& s = static_cast<const State&>(*call.state);
    const int before = team_ ? ge_omp_enter_team() : 0;
    const dnnl_status_t status =
        dnnl_primitive_execute(prim_.get(), static_cast<dnnl_stream_t>(call.frame),
                               static_cast<int>(s.arg.size()), s.arg.data());
    if (team_) ge_omp_leave(before);
    if (status == dnnl_success) return GE_OK;
    ge::plugin::Fail(call.err, GE_INTERNAL, call.node, "oneDNN returned status %d in %s",
                     static_cast<int>(status), label_.c_str());
    if (call.err != nullptr) call.err->vendor_code = static_cast<uint32_t>(status);
    return GE_INTERNAL;
  }

 private:
  struct State final : KernelState {
    std::vector<dnnl_exec_arg_t> arg;
    ~State() override {
      for (const dnnl_exec_arg_t& a : arg) dnnl_memory_destroy(a.memory);
    }
  };
  dnnl_engine_t engine_;
  std::string label_;
  const bool team_;
  dnnl::primitive_desc_base from_;  // until it is made
  dnnl::primitive prim_;
  std::vector<int> arg_;
  std::vector<Desc> desc_;
};

OnednnBuilder::OnednnBuilder(const Vendor& vendor, const Machine& machine, const Simd& simd,
                             const ge_host_api* host, const Parser& parser,
                             const ge_segment& segment, Program* program)
    : Builder(simd, host, parser, segment, program), vendor_(vendor), machine_(machine) {
  program->frame_data = [engine = vendor.engine().get()]() -> std::shared_ptr<void> {
    dnnl_stream_t stream = nullptr;
    Check(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "dnnl_stream_create");
    return std::shared_ptr<void>(
        stream, [](void* s) { dnnl_stream_destroy(static_cast<dnnl_stream_t>(s)); });
  };
}

void OnednnBuilder::Start(const std::vector<Unit>& units) {
  if (machine_.rounded == nullptr) return;
  for (const Unit& u : units) {
    const bool rounds = Rounds(u, p_, machine_);
    for (size_t i = rounds ? 1 : 0; i < u.in.size(); ++i) whole_.insert(u.in[i]);
    for (const PostOp& q : u.post_ops) whole_.insert(q.operand);
  }
}

Rep OnednnBuilder::Image(uint32_t value, const Layout& want) {
  const auto made = rounded_.find(value);
  if (want.size == 4 && (made == rounded_.end() || reps_.count(value) > 0)) return Get(value, want);
  if (made != rounded_.end()) {
    for (const Rep& r : made->second) {
      if (r.layout == want) return r;
    }
  }
  const bool only_rounded = reps_.count(value) == 0 && !p_.constant(value);
  const Rep from = only_rounded ? made->second.front() : Main(value);
  const uint64_t bytes = static_cast<uint64_t>(want.extent()) * static_cast<uint64_t>(want.size);
  const Rep result = {want, NewInternal(value, bytes)};
  AddConversion(from, result);
  if (want.size == 4) {
    AddRep(value, result);
  } else {
    rounded_[value].push_back(result);
  }
  return result;
}

void OnednnBuilder::EmitMain(const Unit& unit) {
  if (const auto* conv = As<ConvSpec>(unit)) return EmitConv(unit, *conv);
  if (const auto* grad = As<ConvGradSpec>(unit)) return EmitConvGrad(unit, *grad);
  if (const auto* product = As<ProductSpec>(unit)) return EmitMatMul(unit, *product);
  if (const auto* pool = As<PoolSpec>(unit)) return EmitPool(unit, *pool);
  Builder::EmitMain(unit);
}

void OnednnBuilder::AddConversion(const Rep& from, const Rep& to) {
  // What is not float32 at a border is nothing to calculate with.
  if (Converts() && to.layout.size != 4) return Builder::AddConversion(from, to);
  const auto prim = vendor_.Reorder(from.layout, to.layout);
  if (!prim) throw std::runtime_error("oneDNN has no reorder for " + ToText(to.layout.dims()));
  AddPrim("reorder", *prim,
          {{DNNL_ARG_FROM, from.place, prim->src_desc}, {DNNL_ARG_TO, to.place, prim->dst_desc}});
}

Fill OnednnBuilder::PackingOf(const Layout& want) const {
  return [vendor = &vendor_, from_desc = Vendor::ToDesc(Layout::Dense(want.dims())),
          to_desc = Vendor::ToDesc(want)](const void* const* from, void* to) {
    vendor->Pack(from_desc, from[0], to_desc, to);
  };
}

BufferRef OnednnBuilder::PackWeights(uint32_t value, const Layout& src, const Desc& want) {
  return Pack(
      {value}, "onednn " + KeyOf(src) + " to " + Vendor::KeyOf(want), want.get_size(),
      [vendor = &vendor_, from_desc = Vendor::ToDesc(src), want](
          const void* const* from, void* to) { vendor->Pack(from_desc, from[0], want, to); });
}

void OnednnBuilder::AddPrim(const std::string& label, const Prim& prim, std::vector<Arg> args) {
  if (prim.scratch > 0) {
    args.push_back({DNNL_ARG_SCRATCHPAD, {workspace_, 0}, prim.scratch_desc});
    out_.workspace = std::max(out_.workspace, prim.scratch);
  }
  std::vector<int> ids;
  std::vector<Desc> descs;
  std::vector<BufferRef> places;
  for (const Arg& a : args) {
    ids.push_back(a.id);
    descs.push_back(a.desc);
    places.push_back(a.place);
  }
  const std::string text = label + " " + prim.impl + " " + ToText(prim.dst.dims());
  auto kernel = std::make_unique<PrimitiveKernel>(vendor_.engine().get(), text, prim.desc,
                                                  std::move(ids), std::move(descs));
  unmade_.push_back(kernel.get());
  AddStep(text, std::move(kernel), std::move(places));
}

// Kernels are generated by all threads.
void OnednnBuilder::Finish() {
  struct Making {
    std::vector<PrimitiveKernel*> works;
    int threads;
    std::atomic<bool> failed{false};
    std::mutex mutex;
    std::string why;
  } making{std::move(unmade_), omp_get_max_threads(), {}, {}, {}};
  const auto one = [](void* ctx, uint64_t i) {
    auto& m = *static_cast<Making*>(ctx);
    if (m.failed) return;
    const ThreadScope threads(m.threads);  // oneDNN asks how many will run it
    try {
      m.works[i]->Make();
    } catch (const std::exception& x) {
      const std::lock_guard<std::mutex> lock(m.mutex);
      m.failed = true;
      m.why = x.what();
    }
  };
  const uint64_t n = making.works.size();
  if (host_ != nullptr && host_->parallel_for != nullptr && n > 1) {
    host_->parallel_for(host_->host, n, one, &making);
  } else {
    for (uint64_t i = 0; i < n; ++i) one(&making, i);
  }
  if (making.failed) throw std::runtime_error("oneDNN makes no kernel: " + making.why);
}

}  // namespace ge_engines::cpu::onednn
