#include "sdk/conform/levels/op_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace ge::conform {
namespace {

using mock::Attr;

// By position of the inputs, the last one for all that follow.
const std::vector<std::vector<Dims>> kShapeSets = {
    {{4}},    {{3, 5}},   {{2, 3, 4}},        {{}},          {{1, 1}},
    {{0, 4}}, {{17, 33}}, {{6, 16}, {9, 16}}, {{3, 5}, {5}}, {{3, 5}, {5}, {}},
    {{4, 4}}, {{7}, {}},  {{1, 3, 8, 8}}};

const std::vector<int32_t> kTypes = {GE_F32, GE_F64, GE_I64, GE_I32, GE_U8, GE_I8, GE_BOOL};

bool Takes(const ge_port& port, int32_t dtype) {
  return port.dtypes == 0 || (port.dtypes & (uint64_t{1} << dtype)) != 0;
}

int32_t FirstOf(const ge_port& port) {
  for (int32_t t : kTypes) {
    if (Takes(port, t)) return t;
  }
  return GE_F32;
}

std::vector<Attr> AttrsOf(const ge_op_def& op) {
  std::vector<Attr> out;
  for (uint32_t i = 0; i < op.n_attr; ++i) {
    const ge_attr& a = op.attr[i].value;
    if (op.attr[i].flags == 0) continue;
    Attr one;
    one.name = std::string(plugin::View(a.name));
    one.kind = a.kind;
    const bool has = (op.attr[i].flags & GE_ATTR_HAS_DEFAULT) != 0;
    one.i = has ? a.i : 1;
    one.f = has ? a.f : 1;
    one.s = has ? std::string(plugin::View(a.s)) : "a";
    if (a.kind == GE_ATTR_INTS && has) one.ints.assign(a.ints, a.ints + a.n);
    if (a.kind == GE_ATTR_INTS && !has) one.ints = {1};
    out.push_back(std::move(one));
  }
  return out;
}

// Input ports that a model names, variadic ones twice.
std::vector<const ge_port*> PortsOf(const ge_op_def& op) {
  std::vector<const ge_port*> out;
  for (uint32_t i = 0; i < op.n_input; ++i) {
    const ge_port& p = op.input[i];
    if ((p.flags & GE_PORT_STATE) != 0) continue;
    const uint32_t n = (p.flags & GE_PORT_VARIADIC) != 0 ? std::max(2u, p.min_count) : 1;
    out.insert(out.end(), n, &p);
  }
  return out;
}

uint32_t OutputsOf(const ge_op_def& op) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < op.n_output; ++i) n += (op.output[i].flags & GE_PORT_STATE) == 0;
  return n;
}

// What answers a rule's infer.
struct InferHost {
  mock::Host& host;
  OpSample& s;
  std::vector<bool> told;
  uint32_t fresh = 1000;

  static InferHost& Of(void* h) { return *static_cast<InferHost*>(h); }
  static ge_rc Output(void* h, uint32_t i, int32_t dtype, int32_t rank, const ge_dim* dims) {
    InferHost& me = Of(h);
    if (i >= me.told.size() || rank > 16 || plugin::ElementBits(dtype) == 0) {
      me.host.Complain(fmt::format("infer: output {} of {} is said to have dtype {} and rank {}", i,
                                   me.told.size(), dtype, rank));
      return GE_INVALID_ARGUMENT;
    }
    mock::Type type = {dtype, {}, rank >= 0};
    for (int32_t d = 0; d < rank; ++d) {
      if (dims == nullptr) {
        me.host.Complain(fmt::format("infer: output {} has rank {} and no dims", i, rank));
        return GE_INVALID_ARGUMENT;
      }
      type.dims.push_back(dims[d].value);
    }
    mock::Graph& g = me.s.sample.graph;
    g.values[g.nodes[0].out[i]].type = std::move(type);
    me.told[i] = true;
    return GE_OK;
  }
  static const ge_dim* Ints(void*, uint32_t, uint32_t* n) {
    *n = 0;
    return nullptr;
  }
  static ge_rc OutputInts(void*, uint32_t, const ge_dim*, uint32_t) { return GE_OK; }
  static ge_dim Unknown(InferHost& me) { return {-1, 0, INT64_MAX, ++me.fresh, 0, {}, 0}; }
  static ge_rc Dim(void* h, uint32_t op, const ge_dim* a, const ge_dim* b, ge_dim* out) {
    if (a->value < 0 || b->value < 0) return *out = Unknown(Of(h)), GE_OK;
    const int64_t x = a->value, y = b->value;
    const bool divides = op == GE_DIM_FLOOR_DIV || op == GE_DIM_CEIL_DIV || op == GE_DIM_MOD;
    int64_t v = 0;
    bool over = divides && y == 0;
    if (op == GE_DIM_ADD) over = __builtin_add_overflow(x, y, &v);
    if (op == GE_DIM_SUB) over = __builtin_sub_overflow(x, y, &v);
    if (op == GE_DIM_MUL) over = __builtin_mul_overflow(x, y, &v);
    if (over || op < GE_DIM_ADD || op > GE_DIM_MAX) return GE_OUT_OF_RANGE;
    if (op == GE_DIM_FLOOR_DIV) v = x / y;
    if (op == GE_DIM_CEIL_DIV) v = x / y + (x % y != 0);
    if (op == GE_DIM_MOD) v = x % y;
    if (op == GE_DIM_MIN) v = std::min(x, y);
    if (op == GE_DIM_MAX) v = std::max(x, y);
    *out = {v, v, v, 0, 0, {}, 0};
    return GE_OK;
  }
  static ge_rc DataDim(void* h, ge_str, ge_dim* out) {
    Of(h).s.sized_by_data = true;
    return *out = Unknown(Of(h)), GE_OK;
  }
};

// What answers a kernel.
struct KernelHost {
  mock::Host& host;
  unsigned char garbage;
  std::vector<std::unique_ptr<mock::GuardedBlock>> blocks;
  std::vector<Dims> dims;
  std::vector<int32_t> dtypes;
  std::vector<ge_buf> out;

  void Give(uint32_t i, Dims d) {
    dims[i] = std::move(d);
    const uint64_t bytes = mock::BytesOf(dtypes[i], dims[i]);
    blocks[i] = std::make_unique<mock::GuardedBlock>(bytes, 64, "an output");
    blocks[i]->Fill(garbage);
    out[i].ptr = blocks[i]->data();
    out[i].bytes = bytes;
    out[i].dims = dims[i].data();
    out[i].rank = static_cast<int32_t>(dims[i].size());
    out[i].dtype = dtypes[i];
  }
  static ge_rc Resize(void* h, uint32_t i, int32_t rank, const int64_t* d) {
    KernelHost& me = *static_cast<KernelHost*>(h);
    bool good = i < me.out.size() && rank >= 0 && rank <= 16 && (rank == 0 || d != nullptr);
    for (int32_t k = 0; good && k < rank; ++k) good = d[k] >= 0 && d[k] < (int64_t{1} << 30);
    if (!good) {
      me.host.Complain(fmt::format("kernel: resize of output {} to rank {}", i, rank));
      return GE_INVALID_ARGUMENT;
    }
    me.Give(i, Dims(d, d + rank));
    return GE_OK;
  }
};

}  // namespace

std::vector<OpSample> SamplesOf(const ge_op_def& op, uint64_t seed) {
  std::vector<OpSample> out;
  const std::vector<const ge_port*> ports = PortsOf(op);
  const std::vector<int32_t> lead = ports.empty() ? std::vector<int32_t>{GE_F32} : kTypes;
  for (int32_t type : lead) {
    if (!ports.empty() && !Takes(*ports[0], type)) continue;
    for (const auto& shapes : kShapeSets) {
      Net net(seed + out.size());
      std::vector<uint32_t> in;
      for (size_t i = 0; i < ports.size(); ++i) {
        const bool same = plugin::View(ports[i]->type_var) == plugin::View(ports[0]->type_var) &&
                          ports[0]->type_var.n != 0;
        const int32_t dtype = i == 0 || same ? type : FirstOf(*ports[i]);
        const double low = dtype == GE_U8 || dtype == GE_BOOL ? 0 : -3;
        in.push_back(net.In(dtype, shapes[std::min(i, shapes.size() - 1)], low, 3));
      }
      const std::vector<mock::Type> types(OutputsOf(op), mock::Type{GE_F32, {}, false});
      const std::string name(plugin::View(op.name));
      for (uint32_t v :
           net.graph.Op(name, in, types, AttrsOf(op), std::string(plugin::View(op.domain)))) {
        net.Out(v);
      }
      net.graph.nodes[0].version = op.version;
      out.push_back({net.Take(name), false});
      if (ports.empty()) return out;
    }
  }
  return out;
}

bool Infer(const ge_op_def& op, mock::Host& host, OpSample* sample, std::string* why) {
  InferHost me = {host, *sample, std::vector<bool>(sample->sample.graph.nodes[0].out.size())};
  const mock::View view(sample->sample.graph, host.style, nullptr, "the graph of infer", true);
  ge_infer c = {};
  c.graph = view.get();
  c.host = &me;
  c.output = InferHost::Output;
  c.ints = InferHost::Ints;
  c.output_ints = InferHost::OutputInts;
  c.dim = InferHost::Dim;
  c.data_dim = InferHost::DataDim;
  mock::Arena arena("the arguments of infer", host.style.exact);
  const ge_infer* given = arena.Struct(host.style, c, GE_TAG_INFER);
  mock::Error err(host);
  ge_rc rc = GE_OK;
  {
    mock::CallScope scope(host, "infer");
    rc = op.infer(given, err.get());
    scope.Returned();
  }
  *why = err.Text("infer", rc);
  if (rc != GE_OK) return false;
  for (size_t i = 0; i < me.told.size(); ++i) {
    if (me.told[i]) continue;
    host.Complain(fmt::format("infer: answers GE_OK, but said no type of output {}", i));
    return false;
  }
  return true;
}

// Copies the sample's inputs into guarded blocks, which live in `blocks`, and describes them.
std::vector<ge_buf> GuardedInputs(const OpSample& s,
                                  std::vector<std::unique_ptr<mock::GuardedBlock>>* blocks) {
  std::vector<ge_buf> in;
  for (const Tensor& t : s.sample.inputs) {
    blocks->push_back(std::make_unique<mock::GuardedBlock>(t.bytes.size(), 64, "an input"));
    if (!t.bytes.empty()) std::memcpy(blocks->back()->data(), t.bytes.data(), t.bytes.size());
    ge_buf b = {};
    b.ptr = blocks->back()->data();
    b.bytes = t.bytes.size();
    b.dims = t.dims.data();
    b.rank = static_cast<int32_t>(t.dims.size());
    b.dtype = t.dtype;
    in.push_back(b);
  }
  return in;
}

// What the operator keeps for a node, from its `open` to its `close`.
class Kept {
 public:
  Kept(const ge_op_def& op, mock::Host& host, const ge_node* node)
      : op_(op), host_(host), node_(node) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    if (!opened_) return;
    mock::CallScope scope(host_, "close");
    op_.close(kept_);
    scope.Returned();
  }
  // True where there is nothing to open.
  bool Open(std::string* why) {
    if (op_.open == nullptr) return true;
    mock::Error err(host_);
    mock::CallScope scope(host_, "open");
    const ge_rc rc = op_.open(node_, host_.api(), &kept_, err.get());
    scope.Returned();
    *why = err.Text("open", rc);
    return opened_ = rc == GE_OK;
  }
  void* get() const { return kept_; }

 private:
  const ge_op_def& op_;
  mock::Host& host_;
  const ge_node* node_;
  void* kept_ = nullptr;
  bool opened_ = false;
};

bool RunKernel(const ge_op_def& op, mock::Host& host, const OpSample& sample, unsigned char garbage,
               std::vector<Tensor>* out, std::string* why) {
  const mock::Graph& g = sample.sample.graph;
  const size_t n = g.nodes[0].out.size();
  KernelHost me = {host, garbage, {}, std::vector<Dims>(n), {}, std::vector<ge_buf>(n)};
  me.blocks.resize(n);
  for (uint32_t v : g.nodes[0].out) me.dtypes.push_back(g.values[v].type.dtype);
  for (uint32_t i = 0; !sample.sized_by_data && i < n; ++i) {
    me.Give(i, g.values[g.nodes[0].out[i]].type.dims);
  }
  std::vector<std::unique_ptr<mock::GuardedBlock>> blocks;
  const std::vector<ge_buf> in = GuardedInputs(sample, &blocks);
  const mock::View view(g, host.style, nullptr, "the graph of a kernel", true);
  ge_kernel_call call = {};
  call.node = GE_NODE(view.get(), 0);
  call.in = in.data();
  call.out = me.out.data();
  call.n_in = static_cast<uint32_t>(in.size());
  call.n_out = static_cast<uint32_t>(n);
  call.host = &me;
  call.resize = KernelHost::Resize;
  call.api = host.api();
  Kept kept(op, host, call.node);
  if (!kept.Open(why)) return false;
  call.kept = kept.get();
  mock::Arena arena("the arguments of a kernel", host.style.exact);
  const ge_kernel_call* given = arena.Struct(host.style, call, GE_TAG_KERNEL_CALL);
  mock::Error err(host);
  ge_rc rc = GE_OK;
  {
    mock::CallScope scope(host, "kernel");
    rc = op.kernel(given, err.get());
    scope.Returned();
  }
  *why = err.Text("kernel", rc);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto& t = sample.sample.inputs[i].bytes;
    const bool changed = !t.empty() && std::memcmp(blocks[i]->data(), t.data(), t.size()) != 0;
    if (changed) host.Complain(fmt::format("kernel: input {} was written", i));
  }
  for (const auto& b : me.blocks) {
    const std::string harm = b != nullptr ? b->Harm() : "";
    if (!harm.empty()) host.Complain("kernel: " + harm);
  }
  if (rc != GE_OK) return false;
  for (size_t i = 0; i < n; ++i) {
    if (me.blocks[i] == nullptr) {
      *why = fmt::format("it gave output {} no size", i);
      return false;
    }
    Tensor t(me.dtypes[i], me.dims[i]);
    if (!t.bytes.empty()) std::memcpy(t.bytes.data(), me.blocks[i]->data(), t.bytes.size());
    out->push_back(std::move(t));
  }
  return true;
}

}  // namespace ge::conform
