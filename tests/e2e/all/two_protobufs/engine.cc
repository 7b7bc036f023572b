// An engine of one operator, GE_OP, of float32 tensors of one shape, which keeps what it knows of a
// node in a message of the protobuf that is linked into it: written by compile, read by enqueue. It
// refuses to load where the names of its messages are not its own.
#include <cstdio>
#include <memory>
#include <string>

#include "ge/ge_plugin.hpp"
#include "vendor.pb.h"

using ge::plugin::Fail;
using ge::plugin::Guard;

struct ge_exec {
  std::string kept;  // a serialized vendor.Kept
};

namespace {

constexpr char kName[] = GE_NAME;

bool Takes(const ge_graph& g, const ge_node& n) {
  if (!ge::plugin::IsOp(n, GE_OP)) return false;
  const ge_type& y = ge::plugin::Output(g, n, 0)->type;
  int64_t count = 0, all = 0;
  if (!ge::plugin::ElementCount(y, &all)) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    const ge_value* x = ge::plugin::Input(g, n, i);
    if (x->type.dtype != GE_F32 || (x->flags & GE_VALUE_CONSTANT)) return false;
    if (!ge::plugin::ElementCount(x->type, &count) || count != all) return false;
  }
  return true;
}

ge_rc Query(ge_engine*, const ge_graph* g, const ge_sink* sink, ge_err*) {
  for (uint32_t i = 0; i < g->n_node; ++i) {
    if (!Takes(*g, *GE_NODE(g, i))) continue;
    ge_cost cost = {};
    cost.h = GE_HDR(ge_cost, GE_TAG_COST);
    ge_offer offer = {};
    offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
    offer.node = &i, offer.n_node = 1, offer.cost = &cost;
    if (ge_rc rc = sink->offer(sink->host, &offer)) return rc;
  }
  return GE_OK;
}

ge_rc CompileOne(const ge_segment& s, ge_compiled* c) {
  return Guard(c->err, kName, [&]() -> ge_rc {
    vendor::Kept kept;
    kept.set_op(GE_OP);
    kept.set_factor(2);
    auto exec = std::make_unique<ge_exec>();
    if (!kept.SerializeToString(&exec->kept)) return GE_INTERNAL;
    c->exec = exec.release();
    return GE_OK;
  });
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err*) {
  for (uint32_t i = 0; i < n; ++i) {
    const char* from = reinterpret_cast<const char*>(segment) + uint64_t{i} * segment_stride;
    auto* to =
        reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
    to->rc = CompileOne(*reinterpret_cast<const ge_segment*>(from), to);
  }
  return GE_OK;
}

void ExecDestroy(ge_exec* exec) { delete exec; }

ge_rc Enqueue(ge_exec* exec, const ge_launch* l, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc {
    vendor::Kept kept;
    if (!kept.ParseFromString(exec->kept) || kept.op() != GE_OP) {
      return Fail(err, GE_DATA_LOSS, UINT32_MAX, "%s: what was kept is not what was written",
                  kName);
    }
    const auto* a = static_cast<const float*>(l->in[0].ptr);
    const auto* b = static_cast<const float*>(l->in[l->n_in - 1].ptr);
    auto* y = static_cast<float*>(l->out[0].ptr);
    for (uint64_t i = 0; i < l->out[0].bytes / sizeof *y; ++i) {
      y[i] = kept.op() == "Add" ? a[i] + b[i] : a[i] * b[i];
    }
    return GE_OK;
  });
}

ge_rc EngineCreate(const ge_create_args*, ge_engine** out, ge_err*) {
  static char nothing;
  *out = reinterpret_cast<ge_engine*>(&nothing);
  return GE_OK;
}

const ge_plugin_desc* Description() {
  static const ge_engine_api api = [] {
    ge_engine_api a = {};
    a.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
    a.query = &Query, a.compile = &Compile, a.enqueue = &Enqueue, a.exec_destroy = &ExecDestroy;
    return a;
  }();
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {};
    d.magic = GE_PLUGIN_MAGIC;
    d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
    d.abi_major = GE_ABI_MAJOR, d.abi_minor = GE_ABI_MINOR;
    d.header_hash = GE_HEADER_HASH;
    d.name = ge::plugin::Str(kName);
    d.version = d.vendor = ge::plugin::Str("1");
    d.kinds = GE_KIND_ENGINE;
    d.sanitizer = GE_SANITIZER_HERE;
    d.engine_create = &EngineCreate;
    d.engine = &api;
    return d;
  }();
  return &desc;
}

}  // namespace

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  const auto* fields = vendor::Kept::descriptor();
  const bool own = fields->file()->message_type_count() == 1 &&
                   fields->field_count() == GE_FIELDS && fields->FindFieldByName("op") != nullptr;
  if (own) return Description();
  std::snprintf(args->refusal, sizeof args->refusal, "%s: message %s has %d fields, wanted %d",
                kName, fields->full_name().c_str(), fields->field_count(), GE_FIELDS);
  return nullptr;
}
