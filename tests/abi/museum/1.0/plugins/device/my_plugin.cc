// my_plugin: an engine for a device that works while the host goes on. It runs Add, Mul, Relu and
// MatMul of float32. Make it yours from here: `Read` says which nodes it runs and what their
// launches have to know, `Price` what they cost, `Compute` does them. device.h is the device.
// ge/ge_plugin.h is the whole contract.
#include <algorithm>
#include <memory>

#include "tests/abi/museum/1.0/plugins/device/device.h"

using device::kName;
using ge::plugin::Fail;
using ge::plugin::Guard;
using ge::plugin::Understand;

enum Kind { kAdd, kMul, kRelu, kMatMul };
namespace {
constexpr const char* kOps[] = {"Add", "Mul", "Relu", "MatMul"};
}  // namespace

// One a compiled segment, which is one node; several threads may run it, so enqueue only reads it.
struct ge_exec {
  Kind kind = kAdd;
  uint64_t rows = 1, columns = 0;  // of the result; elementwise operators have one row
  uint64_t inner = 0;              // MatMul: the operands' common size
  uint32_t n_in = 0;
  uint32_t value[2] = {};     // of operands, in the graph
  uint64_t count[2] = {};     // their elements; a smaller one is repeated, as a bias is
  bool constant[2] = {};      // then it comes as a pack, in the device's memory as well
  uint32_t position[2] = {};  // among the launch's inputs or packs
  uint32_t n_pack = 0;
  ge_pack pack[2] = {};
  ge_const_use use[2] = {};
};

namespace {

// ---- which nodes, and at what price -------------------------------------------------------------

// An elementwise operand has the result's dims, or the last of them.
bool Repeats(const ge_type& x, const ge_type& y) {
  const int32_t outer = y.rank - x.rank;
  return x.rank >= 0 && outer >= 0 && std::equal(x.dims, x.dims + x.rank, y.dims + outer);
}

bool ReadOperand(const ge_graph& g, const ge_node& n, uint32_t i, ge_exec* x, uint32_t* why) {
  const ge_value* v = ge::plugin::Input(g, n, i);
  int64_t count = 0;
  *why = GE_WHY_OTHER;
  if (v == nullptr || Understand(v->h, nullptr, kName)) return false;
  *why = GE_WHY_DTYPE;
  if (v->type.dtype != GE_F32) return false;
  *why = GE_WHY_DYNAMIC;
  if (!ge::plugin::ElementCount(v->type, &count)) return false;
  x->value[i] = n.in[i];
  x->count[i] = static_cast<uint64_t>(count);
  x->constant[i] = (v->flags & GE_VALUE_CONSTANT) != 0;
  *why = GE_WHY_SHAPE;
  return count != 0 || !x->constant[i];  // there are no packs of nothing
}

// Whether the device runs the node, and what of it a launch needs; *why not, else.
bool Read(const ge_graph& g, const ge_node& n, ge_exec* x, uint32_t* why) {
  *why = GE_WHY_OP;
  const auto* op = std::find_if(std::begin(kOps), std::end(kOps),
                                [&](const char* name) { return ge::plugin::IsOp(n, name); });
  if (op == std::end(kOps) || n.n_body != 0) return false;
  *why = GE_WHY_OTHER;  // rule 3 of ge_plugin.h holds for each struct
  const ge_value* y = ge::plugin::Output(g, n, 0);
  if (y == nullptr || Understand(n.h, nullptr, kName) || Understand(y->h, nullptr, kName)) {
    return false;
  }
  x->kind = static_cast<Kind>(op - kOps);
  x->n_in = x->kind == kRelu ? 1 : 2;
  for (uint32_t i = 0; i < x->n_in; ++i) {
    if (!ReadOperand(g, n, i, x, why)) return false;
  }
  int64_t count = 0;
  *why = GE_WHY_DYNAMIC;
  if (!ge::plugin::ElementCount(y->type, &count)) return false;
  x->columns = static_cast<uint64_t>(count);
  *why = GE_WHY_SHAPE;
  const ge_type& a = GE_VALUE(&g, x->value[0])->type;
  if (x->kind != kMatMul) {
    return Repeats(a, y->type) &&
           (x->n_in == 1 || Repeats(GE_VALUE(&g, x->value[1])->type, y->type));
  }
  if (a.rank != 2 || GE_VALUE(&g, x->value[1])->type.rank != 2) return false;
  x->rows = static_cast<uint64_t>(a.dims[0]);
  x->inner = static_cast<uint64_t>(a.dims[1]);
  x->columns = static_cast<uint64_t>(y->type.dims[1]);
  return true;
}

// In ns, of the device's work; `persistent` are the packs.
ge_cost Price(const ge_exec& x) {
  ge_cost cost = {};
  cost.h = GE_HDR(ge_cost, GE_TAG_COST);
  const double elements = static_cast<double>(x.rows * x.columns + x.count[0] + x.count[1]);
  const double flops = 2.0 * static_cast<double>(x.rows * x.columns * x.inner);
  cost.marginal_ns = static_cast<uint64_t>(elements * sizeof(float) / device::kBytesPerNs +
                                           flops / device::kFlopsPerNs);
  cost.setup_ns = device::kLaunchNs;
  cost.source = GE_PRICE_ANALYTIC;
  for (int i = 0; i < 2; ++i) cost.persistent += x.constant[i] ? x.count[i] * sizeof(float) : 0;
  return cost;
}

ge_rc Answer(const ge_graph& g, uint32_t node, const ge_sink& sink) {
  ge_exec x;
  ge_decline no = {};
  no.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
  no.node = node;
  if (!Read(g, *GE_NODE(&g, node), &x, &no.why)) return sink.decline(sink.host, &no);
  const ge_cost cost = Price(x);
  ge_offer offer = {};
  offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
  offer.node = &node;
  offer.n_node = 1;
  offer.cost = &cost;
  return sink.offer(sink.host, &offer);
}

ge_rc Query(ge_engine*, const ge_graph* g, const ge_sink* sink, ge_err* err) {
  if (Understand(g->h, err, kName) || Understand(sink->h, err, kName)) return GE_UNIMPLEMENTED;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_rc rc = Answer(*g, i, *sink);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

// ---- compile ------------------------------------------------------------------------------------

// The host brings a pack into the device's memory once, whatever asks for it.
void AskForPack(uint32_t i, ge_exec* x) {
  ge_pack& p = x->pack[x->n_pack];
  p.h = GE_HDR(ge_pack, GE_TAG_PACK);
  p.value = &x->value[i];
  p.n_value = 1;
  p.flags = GE_PACK_ANY_BYTES;
  p.key = ge::plugin::Str("plain");
  p.bytes = x->count[i] * sizeof(float);
  x->use[x->n_pack].value = x->value[i];
  x->use[x->n_pack].disposition = GE_CONST_PACKED;
  x->position[i] = x->n_pack++;
}

ge_rc CompileOne(const ge_segment& s, ge_compiled* c) {
  return Guard(c->err, kName, [&]() -> ge_rc {
    if (Understand(s.h, c->err, kName)) return GE_UNIMPLEMENTED;
    if (Understand(s.graph->h, c->err, kName)) return GE_UNIMPLEMENTED;
    auto x = std::make_unique<ge_exec>();
    uint32_t why = 0;
    if (!Read(*s.graph, *GE_NODE(s.graph, s.taken[0].node[0]), x.get(), &why)) {
      return Fail(c->err, GE_UNIMPLEMENTED, s.taken[0].node[0], "%s: not a node of mine", kName);
    }
    for (uint32_t i = 0; i < x->n_in; ++i) {
      if (x->constant[i]) {
        AskForPack(i, x.get());
      } else {
        x->position[i] = static_cast<uint32_t>(std::find(s.in, s.in + s.n_in, x->value[i]) - s.in);
      }
    }
    c->pack = x->pack;
    c->pack_stride = sizeof x->pack[0];
    c->constant = x->use;
    c->n_pack = c->n_constant = x->n_pack;
    c->flags = GE_COMPILED_CAPTURABLE;
    c->exec = x.release();
    return GE_OK;
  });
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err*) {
  const char* from = reinterpret_cast<const char*>(segment);
  char* to = reinterpret_cast<char*>(out);
  for (uint32_t i = 0; i < n; ++i, from += segment_stride, to += out_stride) {
    auto* c = reinterpret_cast<ge_compiled*>(to);
    c->rc = CompileOne(*reinterpret_cast<const ge_segment*>(from), c);
  }
  return GE_OK;
}

void ExecDestroy(ge_exec* exec) { delete exec; }

// Into host memory; the host copies it to the device.
ge_rc Fill(ge_engine*, const ge_pack* pack, const ge_buf* from, const ge_buf* to, ge_err* err) {
  if (Understand(pack->h, err, kName)) return GE_UNIMPLEMENTED;
  std::copy_n(static_cast<const char*>(from->ptr), pack->bytes, static_cast<char*>(to->ptr));
  return GE_OK;
}

// ---- run ----------------------------------------------------------------------------------------

ge_rc Enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  if (Understand(l->h, err, kName)) return GE_UNIMPLEMENTED;
  device::Task task = {};
  task.kind = device::Task::kLaunch;
  task.exec = x;
  for (uint32_t i = 0; i < x->n_in; ++i) {
    const ge_buf& b = (x->constant[i] ? l->pack : l->in)[x->position[i]];
    if (b.bytes != 0 && b.mem == nullptr) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%s: operand %u lies in the host's memory",
                  kName, i);
    }
    task.in[i] = static_cast<const float*>(b.ptr);
  }
  task.out = static_cast<float*>(l->out[0].ptr);
  task.stop = l->stop;
  return l->stream->Queue(task, err);
}

// `n` elements from `first` on.
void Elementwise(const device::Task& t, uint64_t first, uint64_t n) {
  const ge_exec& x = *t.exec;
  for (uint64_t i = first; i < first + n; ++i) {
    const float a = t.in[0][i % x.count[0]];
    const float b = x.n_in == 2 ? t.in[1][i % x.count[1]] : 0;
    t.out[i] = x.kind == kAdd ? a + b : x.kind == kMul ? a * b : a < 0 ? 0 : a;  // a NaN stays one
  }
}

void Row(const device::Task& t, uint64_t row) {
  const ge_exec& x = *t.exec;
  float* y = t.out + row * x.columns;
  std::fill_n(y, x.columns, 0.0F);
  for (uint64_t k = 0; k < x.inner; ++k) {
    const float a = t.in[0][row * x.inner + k];
    const float* b = t.in[1] + k * x.columns;
    for (uint64_t j = 0; j < x.columns; ++j) y[j] += a * b[j];
  }
}

}  // namespace

// Looks at `stop` between blocks of its work, which take a millisecond at most, or rows.
ge_rc device::Compute(const Task& t) {
  constexpr uint64_t kBlock = 1 << 18;
  const ge_exec& x = *t.exec;
  const uint64_t blocks = x.kind == kMatMul ? x.rows : (x.columns + kBlock - 1) / kBlock;
  for (uint64_t i = 0; i < blocks; ++i) {
    if (t.stop != nullptr && __atomic_load_n(t.stop, __ATOMIC_RELAXED) != 0) return GE_CANCELLED;
    if (x.kind == kMatMul) {
      Row(t, i);
    } else {
      Elementwise(t, i * kBlock, std::min(kBlock, x.columns - i * kBlock));
    }
  }
  return GE_OK;
}

// ---- the plugin ---------------------------------------------------------------------------------

namespace {

ge_rc EngineCreate(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc {
    if (Understand(args->h, err, kName)) return GE_UNIMPLEMENTED;
    if (Understand(args->host->h, err, kName)) return GE_UNIMPLEMENTED;
    if (args->options.n != 0) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%s: there are no options", kName);
    }
    *out = new ge_engine(args->host);
    return GE_OK;
  });
}

void EngineDestroy(ge_engine* e) { delete e; }

ge_engine_api Api() {
  ge_engine_api api = {};
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.exec_destroy = ExecDestroy;
  api.fill = Fill;
  api.devices = device::Devices;
  api.links = device::Links;
  api.mem_alloc = device::MemAlloc;
  api.mem_free = device::MemFree;
  api.copy = device::Copy;
  api.stream_create = device::StreamCreate;
  api.stream_destroy = device::StreamDestroy;
  api.event_create = device::EventCreate;
  api.event_destroy = device::EventDestroy;
  api.stream_wait = device::StreamWait;
  api.stream_signal = device::StreamSignal;
  api.event_wait = device::EventWait;
  // Optional: without them the host times calls and waits, and makes each call at each run.
  api.stamps_create = device::StampsCreate;
  api.stamps_destroy = device::StampsDestroy;
  api.stream_stamp = device::StreamStamp;
  api.stamps_read = device::StampsRead;
  api.capture_begin = device::CaptureBegin;
  api.capture_end = device::CaptureEnd;
  api.capture_launch = device::CaptureLaunch;
  api.capture_destroy = device::CaptureDestroy;
  return api;
}

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  static const ge_engine_api api = Api();
  static const ge_plugin_desc desc = {
      GE_PLUGIN_HEAD, ge::plugin::Str(kName), {"0.1", 3},  // version
      {"me", 2},                                           // vendor
      GE_KIND_ENGINE, GE_SANITIZER_HERE,      EngineCreate, EngineDestroy, &api,
  };
  if (args->host_major == GE_ABI_MAJOR) return &desc;
  std::snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
                GE_ABI_MAJOR, args->host_major);
  return nullptr;
}
