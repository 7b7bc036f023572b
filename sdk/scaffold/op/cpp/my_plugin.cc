// my_plugin: the operator my_plugin.Squash(x), limit * x / (1 + |x|). Make it yours from here:
// `Port` and `Limit` say what it takes, `Infer` what comes out, `Decompose` what it is made of:
// with that every engine runs it. ge/ge_plugin_op.h is the whole contract; a kernel of its own,
// derivatives and the rest stay NULL until you need them.
#include <cstdio>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_op.h"

namespace {

constexpr char kName[] = "my_plugin";  // of the plugin and of the operator's domain

// Every function of the table is wrapped in Guard: an exception must not leave the plugin.
ge_rc Infer(const ge_infer* c, ge_err* err) {
  return ge::plugin::Guard(err, "Squash: infer", [&]() -> ge_rc {
    if (const ge_rc rc = ge::plugin::Understand(c->h, err, "Squash: infer")) return rc;
    return ge_infer_like(c, 0, 0);  // the result has the input's type
  });
}

// What fails of building nodes the host says; the calls answer 0 then.
struct Builder {
  const ge_builder* b;
  uint32_t operator()(const char* op, uint32_t x, uint32_t y = 0) const {
    return ge_build(b, op, x, y, 0);
  }
};

ge_rc Decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  return ge::plugin::Guard(err, "Squash: decompose", [&]() -> ge_rc {
    if (const ge_rc rc = ge::plugin::Understand(b->h, err, "Squash: decompose")) return rc;
    const Builder node{b};
    const uint32_t x = b->graph->node->in[0];
    const uint32_t limit = ge_build_scalar(b, x, ge_find_attr(b->graph->node, "limit")->f);
    const uint32_t below = node("Add", ge_build_scalar(b, x, 1), node("Abs", x));
    out[0] = node("Mul", limit, node("Div", x, below));
    return GE_OK;
  });
}

constexpr ge_port Port() {
  ge_port p = {};
  p.name = {"x", 1};
  p.type_var = {"T", 1};
  p.dtypes = 1u << GE_F32 | 1u << GE_F64;
  return p;
}
constexpr ge_port kPort = Port();

constexpr ge_attr_def Limit() {
  ge_attr_def a = {};
  a.value.name = {"limit", 5};
  a.value.kind = GE_ATTR_FLOAT;
  a.value.f = 1;
  a.flags = GE_ATTR_HAS_DEFAULT;
  return a;
}
constexpr ge_attr_def kLimit = Limit();

constexpr ge_op_def Squash() {
  ge_op_def op = {};
  op.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  op.domain = {kName, sizeof kName - 1};
  op.name = {"Squash", 6};
  op.version = 1;
  op.input = op.output = &kPort;
  op.attr = &kLimit;
  op.n_input = op.n_output = op.n_attr = 1;
  op.infer = Infer;
  op.decompose = Decompose;
  return op;
}
constexpr ge_op_def kSquash = Squash();

constexpr ge_plugin_desc Describe() {
  ge_plugin_desc d = {};
  d.magic = GE_PLUGIN_MAGIC;
  d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  d.abi_major = GE_ABI_MAJOR;
  d.abi_minor = GE_ABI_MINOR;
  d.header_hash = GE_HEADER_HASH;
  d.name = {kName, sizeof kName - 1};
  d.version = {"0.1", 3};
  d.vendor = {"me", 2};
  d.kinds = GE_KIND_OPS;
  d.sanitizer = GE_SANITIZER_HERE;
  d.op = &kSquash;
  d.n_op = 1;
  d.op_stride = sizeof kSquash;
  return d;
}
constexpr ge_plugin_desc kDesc = Describe();

}  // namespace

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &kDesc;
  std::snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
                GE_ABI_MAJOR, args->host_major);
  return nullptr;
}
