#include "ge/engine/op/kernel_exec.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/plugin_call.h"
#include "ge/engine/engine.h"
#include "ge/engine/op/one_node.h"
#include "ge/ops/kernel_call.h"

namespace ge {

ge_str KeptNode::Str(ge_str text) {
  const std::string& kept =
      texts_.emplace_back(text.p ? std::string(text.p, text.n) : std::string());
  return {kept.data(), kept.size()};
}

ge_attr KeptNode::CopyOf(const ge_attr& attr) {
  ge_attr out = attr;
  out.name = Str(attr.name);
  out.s = Str(attr.s);
  if (attr.kind == GE_ATTR_INTS)
    out.ints = ints_.emplace_back(attr.ints, attr.ints + attr.n).data();
  if (attr.kind == GE_ATTR_FLOATS)
    out.floats = floats_.emplace_back(attr.floats, attr.floats + attr.n).data();
  if (attr.kind == GE_ATTR_STRINGS) {
    auto& list = strings_.emplace_back();
    for (uint32_t i = 0; i < attr.n; ++i) list.push_back(Str(attr.strings[i]));
    out.strings = list.data();
  }
  if (attr.kind == GE_ATTR_TENSOR) {
    const ge_type& t = attr.tensor_type;
    out.tensor_type.dims = ints_.emplace_back(t.dims, t.dims + std::max(t.rank, 0)).data();
    out.tensor = Str({static_cast<const char*>(attr.tensor), attr.tensor_bytes}).p;
  }
  return out;
}

void KeptNode::Keep(const ge_node& node) {
  node_ = node;
  node_.h = GE_HDR(ge_node, GE_TAG_NODE);
  node_.domain = Str(node.domain);
  node_.op = Str(node.op);
  node_.name = Str(node.name);
  for (uint32_t i = 0; i < node.n_attr; ++i) attrs_.push_back(CopyOf(node.attr[i]));
  node_.attr = attrs_.data();
  node_.in = values_.emplace_back(node.in, node.in + node.n_in).data();
  node_.out = values_.emplace_back(node.out, node.out + node.n_out).data();
}

KernelExec::Port KernelExec::PortOf(const ge_value& value) {
  Port p{};
  const auto& dims =
      dims_.emplace_back(value.type.dims, value.type.dims + std::max(value.type.rank, 0));
  p.buf.dims = dims.data();
  p.buf.rank = value.type.rank;
  p.buf.dtype = value.type.dtype;
  return p;
}

KernelExec::~KernelExec() {
  if (!opened_) return;
  ge_err err = EmptyError();
  (void)CallPlugin(RuleText(*op_, "close"), &err, [&] {
    op_->def.close(kept_);
    return GE_OK;
  });
}

ge_rc KernelExec::Open(ge_err* err) {
  if (!op_->def.open) return GE_OK;
  const ge_rc rc = CallPlugin(RuleText(*op_, "open"), err,
                              [&] { return op_->def.open(node_.get(), HostApi(), &kept_, err); });
  opened_ = rc == GE_OK;
  return rc;
}

ge_rc KernelExec::Compile(std::shared_ptr<const PluginOp> op, const ge_segment& s, ge_err* err) {
  op_ = std::move(op);
  kernel_text_ = Interned(RuleText(*op_, "kernel"));
  const ge_node& n = *GE_NODE(s.graph, s.taken[0].node[0]);
  node_.Keep(n);
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const ge_value& v = *GE_VALUE(s.graph, n.in[i]);
    Port p = PortOf(v);
    const uint32_t* at = std::find(s.in, s.in + s.n_in, n.in[i]);
    if (n.in[i] == 0) {
      p.from = Port::From::kNowhere;
    } else if (v.flags & GE_VALUE_CONSTANT) {
      p.from = Port::From::kConstant;
      p.buf.ptr = const_cast<void*>(v.data);
      p.buf.bytes = v.data_bytes;
    } else {
      p.from = Port::From::kInput;
      p.position = static_cast<uint32_t>(at - s.in);
    }
    in_.push_back(p);
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    const ge_value& v = *GE_VALUE(s.graph, n.out[i]);
    Port p = PortOf(v);
    const uint32_t* at = std::find(s.out, s.out + s.n_out, n.out[i]);
    p.from = Port::From::kNowhere;
    if (n.out[i] != 0 && at != s.out + s.n_out) {
      p.from = Port::From::kOutput;
      p.position = static_cast<uint32_t>(at - s.out);
    } else if (n.out[i] != 0) {
      p.from = Port::From::kInternal;
      p.position = static_cast<uint32_t>(internals_.size());
      ge_internal internal{};
      uint64_t bytes = v.type.bits;
      for (int32_t k = 0; k < v.type.rank; ++k) bytes *= static_cast<uint64_t>(v.type.dims[k]);
      internal.bytes = (bytes + 7) / 8;
      internal.alias_of = UINT32_MAX;
      internal.value = n.out[i];
      internals_.push_back(internal);
    }
    out_.push_back(p);
  }
  return Open(err);
}

ge_rc KernelExec::Run(const ge_launch& l, ge_err* err) const {
  ge_buf in[kMostPorts], out[kMostPorts];
  const auto fill = [&](const Port& p, ge_buf* to) {
    *to = p.buf;
    const ge_buf* from = p.from == Port::From::kInput      ? &l.in[p.position]
                         : p.from == Port::From::kOutput   ? &l.out[p.position]
                         : p.from == Port::From::kInternal ? &l.internal[p.position]
                                                           : nullptr;
    if (from) {
      to->ptr = from->ptr;
      to->bytes = from->bytes;
    }
  };
  for (size_t i = 0; i < in_.size(); ++i) fill(in_[i], &in[i]);
  for (size_t i = 0; i < out_.size(); ++i) fill(out_[i], &out[i]);
  ge_kernel_call call{};
  call.h = GE_HDR(ge_kernel_call, GE_TAG_KERNEL_CALL);
  call.node = node_.get();
  call.in = in;
  call.n_in = static_cast<uint32_t>(in_.size());
  call.out = out;
  call.n_out = static_cast<uint32_t>(out_.size());
  call.resize = [](void*, uint32_t, int32_t, const int64_t*) -> ge_rc {
    return GE_FAILED_PRECONDITION;  // infer has said the sizes
  };
  call.api = HostApi();
  call.stop = l.stop;
  call.kept = kept_;
  return CallPlugin(kernel_text_, err, [&] { return op_->def.kernel(&call, err); });
}

namespace {

// What a kernel whose outputs' sizes the data decide may call.
struct DataSized {
  KernelCall* call;
  std::vector<ge_buf> out;
  std::vector<bool> sized;  // by output: has its memory
  Status failed;

  ge_rc Resize(uint32_t i, int32_t rank, const int64_t* dims) {
    const bool legal = i < out.size() && rank >= 0 && rank <= 32 && (rank == 0 || dims) &&
                       !sized[i] &&
                       std::all_of(dims, dims + rank, [](int64_t d) { return d >= 0; });
    if (!legal) return GE_INVALID_ARGUMENT;
    KernelTensor& t = call->out[i];
    sized[i] = true;
    t.dims.assign(dims, dims + rank);
    failed = call->allocate(i);
    if (!failed.ok()) return GE_OUT_OF_MEMORY;
    out[i].ptr = t.data;
    out[i].bytes = t.bytes;
    out[i].dims = t.dims.data();
    out[i].rank = rank;
    return GE_OK;
  }
};

// The node's names and attributes as a view, without its values.
Result<OneNode> AttrsOf(const KernelCall& call) {
  Node bare = call.node;
  std::vector<OneNode::Input> inputs(bare.inputs.size());
  static const DimTable kNone;
  return OneNode::Make(bare, inputs, {}, kNone,
                       [&](ConstRef ref) { return &call.graph.consts[ref.id]; });
}

}  // namespace

Status RunPluginKernel(const PluginOp& op, KernelCall& call) {
  GE_ASSIGN_OR_RETURN(const OneNode one, AttrsOf(call));
  std::vector<ge_buf> in;
  for (const KernelTensor& t : call.in) {
    ge_buf b{};
    b.ptr = t.data;
    b.bytes = t.bytes;
    b.dims = t.dims.data();
    b.rank = static_cast<int32_t>(t.dims.size());
    b.dtype = static_cast<int32_t>(t.dtype);
    in.push_back(b);
  }
  const size_t n_out = call.out.size();
  DataSized sized{&call, std::vector<ge_buf>(n_out), std::vector<bool>(n_out, false), {}};
  for (size_t i = 0; i < call.out.size(); ++i) {
    sized.out[i].dtype = static_cast<int32_t>(call.out[i].dtype);
  }
  ge_kernel_call c{};
  c.h = GE_HDR(ge_kernel_call, GE_TAG_KERNEL_CALL);
  c.node = one.view()->node;
  c.host = &sized;
  c.in = in.data();
  c.n_in = static_cast<uint32_t>(in.size());
  c.out = sized.out.data();
  c.n_out = static_cast<uint32_t>(sized.out.size());
  c.resize = [](void* host, uint32_t i, int32_t rank, const int64_t* dims) {
    return static_cast<DataSized*>(host)->Resize(i, rank, dims);
  };
  c.api = HostApi();
  ge_err err = EmptyError();
  const ge_rc rc =
      CallPlugin(RuleText(op, "kernel"), &err, [&] { return op.def.kernel(&c, &err); });
  if (!sized.failed.ok()) return sized.failed;
  if (rc != GE_OK) return FromRule(op, "kernel", rc, err);
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (call.node.outputs[i] == 0 || sized.sized[i]) continue;
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': the kernel of {} gave output {} no size; it has to "
                              "call ge_kernel_call.resize",
                              op.plugin, op.name, i));
  }
  return {};
}

}  // namespace ge
