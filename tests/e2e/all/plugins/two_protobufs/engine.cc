// An engine of one operator, GE_OP, of float32 tensors of one shape, which keeps what it knows of a
// node in a message of the protobuf that is linked into it: written by compile, read by enqueue.
// Its version is that protobuf's. Where the library that it calls is not the one that it was
// compiled with, GOOGLE_PROTOBUF_VERIFY_VERSION ends the process, and so does a second registration
// of the same file in one pool of descriptors.
#include <cstdio>
#include <memory>
#include <string>

#include "ge/ge_plugin.hpp"
#include "google/protobuf/struct.pb.h"

using ge::plugin::Fail;
using ge::plugin::Guard;
using google::protobuf::Struct;

struct ge_exec {
  std::string kept;  // a serialized google.protobuf.Struct
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
    offer.node = &i;
    offer.n_node = 1;
    offer.cost = &cost;
    if (ge_rc rc = sink->offer(sink->host, &offer)) return rc;
  }
  return GE_OK;
}

ge_rc CompileOne(const ge_segment& s, ge_compiled* c) {
  return Guard(c->err, kName, [&]() -> ge_rc {
    Struct kept;
    (*kept.mutable_fields())["op"].set_string_value(GE_OP);
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
    Struct kept;
    const bool read = kept.ParseFromString(exec->kept) && kept.fields().count("op") == 1;
    const std::string op = read ? kept.fields().at("op").string_value() : "";
    if (op != GE_OP) {
      return Fail(err, GE_DATA_LOSS, UINT32_MAX, "%s: what was kept is not what was written",
                  kName);
    }
    const auto* a = static_cast<const float*>(l->in[0].ptr);
    const auto* b = static_cast<const float*>(l->in[l->n_in - 1].ptr);
    auto* y = static_cast<float*>(l->out[0].ptr);
    for (uint64_t i = 0; i < l->out[0].bytes / sizeof *y; ++i) {
      y[i] = op == "Add" ? a[i] + b[i] : a[i] * b[i];
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
    a.query = &Query;
    a.compile = &Compile;
    a.enqueue = &Enqueue;
    a.exec_destroy = &ExecDestroy;
    return a;
  }();
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {};
    d.magic = GE_PLUGIN_MAGIC;
    d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
    d.abi_major = GE_ABI_MAJOR;
    d.abi_minor = GE_ABI_MINOR;
    d.header_hash = GE_HEADER_HASH;
    d.name = ge::plugin::Str(kName);
    static const std::string version = std::to_string(GOOGLE_PROTOBUF_VERSION);
    d.version = ge::plugin::Str(version);
    d.vendor = ge::plugin::Str("tests");
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
  GOOGLE_PROTOBUF_VERIFY_VERSION;
  const auto* file = Struct::descriptor()->file();
  if (file->name() == "google/protobuf/struct.proto") return Description();
  std::snprintf(args->refusal, sizeof args->refusal, "%s: found file '%s'", kName,
                file->name().c_str());
  return nullptr;
}
