// The host's entry points, over an Engine.
#include "plugins/cpu/kit/engine.h"

#include <algorithm>
#include <string>

#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/offers.h"
#include "plugins/cpu/omp/ge_omp.h"
#include "plugins/units/in_place.h"

namespace gp = ge::plugin;
using namespace ge_engines::cpu;

struct ge_engine {
  std::unique_ptr<Engine> engine;
};
struct ge_exec {
  explicit ge_exec(const Engine& e) : engine(e), program(e.machine().threads, &e.book()) {}
  const Engine& engine;
  Program program;
};
struct ge_frame {
  std::unique_ptr<Frame> frame;
};

// For the time of a launch: whether regions of OpenMP's have helpers.
struct Shares {
  const int before = ge_omp_enter();
  ~Shares() { ge_omp_leave(before); }
};

namespace ge_engines::cpu {
namespace {

// For messages; set once, before any engine exists: "native: query" is there when memory is not.
std::string g_name;  // of the plugin
struct CallNames {
  std::string engine_create, query, compile, shape, fill, enqueue, profile, frame_create;
} g_call;
MakeEngine g_make = nullptr;

uint32_t BestIsa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return GE_ISA_AVX512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return GE_ISA_AVX2;
  }
  return GE_ISA_SSE42;
}

ge_rc EngineCreate(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return gp::Guard(err, g_call.engine_create.c_str(), [&] {
    auto e = std::make_unique<ge_engine>();
    const char* where = g_call.engine_create.c_str();
    if (const ge_rc rc = gp::Understand(args->h, err, where)) return rc;
    if (args->host != nullptr) {
      if (const ge_rc rc = gp::Understand(args->host->h, err, where)) return rc;
    }
    if (!gp::Option(args->options, "denormals", "").empty()) {
      return gp::Fail(
          err, GE_INVALID_ARGUMENT, UINT32_MAX,
          "%s has no option 'denormals' any more: it is one switch for all engines of a "
          "session, --denormals keep (ge_session_options.denormals)",
          g_name.c_str());
    }
    ge_omp_bind(args->host);
    try {
      e->engine = g_make(*args);
    } catch (const Refusal& why) {
      return gp::Fail(err, GE_UNAVAILABLE, UINT32_MAX, "%s: %s", g_name.c_str(), why.what());
    }
    *out = e.release();
    return ge_rc(GE_OK);
  });
}

void EngineDestroy(ge_engine* e) { delete e; }

ge_rc Decline(const ge_sink& sink, uint32_t node, const Why& why) {
  ge_decline d = {};
  d.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
  d.node = node;
  d.why = why.code;
  d.text = gp::Str(why.text);
  return sink.decline(sink.host, &d);
}

// A unit cut down to its first nodes: what is offered when the rest is better done elsewhere.
Unit Cut(const Parser& parser, const Unit& u, const Ids& nodes) {
  std::vector<Unit> units = Matcher(parser, {nodes.begin(), nodes.end()}).Cover();
  return units.size() == 1 ? std::move(units[0]) : u;
}

// A step cannot be ended by ge_launch.stop before it is done, so one of minutes is left to engines
// that look at it.
bool CanEnd(const Engine& e, const Unit& u, const Parser& p, Why* why) {
  constexpr double kLongestNs = 300e9;  // 1e13 flops and more; no net here comes near
  return e.PriceOf(u, p).work_ns < kLongestNs ||
         why->Say(GE_WHY_POLICY, "it would compute for minutes and could not be ended");
}

ge_rc Query(ge_engine* handle, const ge_graph* graph, const ge_sink* sink, ge_err* err) {
  const Engine& e = *handle->engine;
  return gp::Guard(err, g_call.query.c_str(), [&]() -> ge_rc {
    const char* where = g_call.query.c_str();
    if (const ge_rc rc = gp::UnderstandGraph(*graph, err, where)) return rc;
    if (const ge_rc rc = gp::Understand(sink->h, err, where)) return rc;
    const Parser parser(*graph, e.Kinds());
    Offers offers(e, parser, *sink);
    std::vector<uint32_t> allowed;
    for (uint32_t i = 0; i < graph->n_node; ++i) {
      Unit u;
      Why why;
      const bool parsed = parser.Parse(i, &u, &why),
                 takes = parsed && e.Takes(u, parser, &why) && CanEnd(e, u, parser, &why);
      if (takes || (parsed && e.Joins(u, parser))) {
        allowed.push_back(i);
        offers.Announce(u);
      }
      const ge_rc rc = takes ? offers.Add(u, u.nodes) : Decline(*sink, i, why);
      if (rc != GE_OK) return rc;
    }
    Matcher matcher(parser, allowed);
    Why why;
    const std::vector<Unit> units = matcher.Cover();
    for (size_t k = 0; k < units.size(); ++k) {
      const Unit& u = units[k];
      if (u.nodes.size() < 2 || !e.Takes(u, parser, &why)) continue;
      if (const ge_rc rc = offers.Add(u, u.nodes); rc != GE_OK) return rc;
      const Ids& prefix = matcher.prefixes()[k];
      if (prefix.size() < 2 || prefix.size() == u.nodes.size()) continue;
      const Unit cut = Cut(parser, u, prefix);
      if (const ge_rc rc = offers.Add(cut, prefix); rc != GE_OK) return rc;
    }
    return offers.AddConversions();
  });
}

// Whether each unit is one that a query would have offered.
bool StillTakes(const Engine& e, const Parser& parser, const std::vector<Unit>& units, Why* why) {
  for (const Unit& u : units) {
    if (Is<NothingSpec>(u)) continue;  // any engine's work, at no size
    if (!e.Takes(u, parser, why) || !CanEnd(e, u, parser, why)) return false;
  }
  return true;
}

void StateAliases(const Parser& parser, const ge_segment& segment, const Unit& u, Program* program,
                  ge_compiled* c) {
  program->alias = AliasesOf(parser, segment, u);
  c->alias = program->alias.data();
  c->alias_count = static_cast<uint32_t>(program->alias.size() / 2);
}

// Units into steps, or a conversion where there are none; false where *c says why not.
bool BuildProgram(Builder* builder, const std::vector<Unit>& units, ge_compiled* c) {
  const auto refuse = [&](ge_rc rc, const char* why) {
    c->rc = gp::Fail(c->err, rc, builder->current_node(), "%s: %s", g_name.c_str(), why);
    return false;
  };
  try {
    if (units.empty()) {
      builder->BuildConversion();
    } else {
      builder->Build(units);
    }
    return true;
  } catch (const Stopped& x) {
    return refuse(GE_CANCELLED, x.what());
  } catch (const std::bad_alloc&) {  // says nothing of the segment
    return refuse(GE_OUT_OF_MEMORY, "no memory");
  } catch (const std::exception& x) {
    return refuse(GE_UNIMPLEMENTED, x.what());
  }
}

// Compiles one segment into *c. `like`: one of other dims; null otherwise. With it, and where the
// host says so, no query has offered what is taken. Throws.
void CompileOne(const Engine& e, const ge_segment& segment, const ge_exec* like, ge_compiled* c) {
  const Parser parser(*segment.graph, e.Kinds());
  const bool unasked = like != nullptr || (segment.flags & GE_SEGMENT_UNASKED) != 0;
  std::vector<uint32_t> allowed;
  for (uint32_t t = 0; t < segment.n_taken; ++t) {
    const ge_taken& taken = segment.taken[t];
    allowed.insert(allowed.end(), taken.node, taken.node + taken.n_node);
  }
  const size_t n_node = allowed.size();
  std::sort(allowed.begin(), allowed.end());
  allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  const std::vector<Unit> units = Matcher(parser, allowed).Cover();
  size_t covered = 0;
  for (const Unit& u : units) covered += u.nodes.size();
  if (covered != n_node) {
    c->rc = gp::Fail(c->err, unasked ? GE_UNIMPLEMENTED : GE_INVALID_ARGUMENT, UINT32_MAX,
                     "%s: the segment has %zu nodes, only %zu of them can be compiled; take "
                     "offers of this graph alone",
                     g_name.c_str(), n_node, covered);
    return;
  }
  Why why;
  if (unasked && !StillTakes(e, parser, units, &why)) {
    c->rc =
        gp::Fail(c->err, GE_UNIMPLEMENTED, UINT32_MAX, "%s: %s", g_name.c_str(), why.text.c_str());
    return;
  }
  auto exec = std::make_unique<ge_exec>(e);
  Program& program = exec->program;
  program.profile = e.profile();
  program.like = like != nullptr ? &like->program : nullptr;
  if (like != nullptr) program.small = like->program.small;
  const std::unique_ptr<Builder> builder = e.MakeBuilder(parser, segment, &program);
  if (!BuildProgram(builder.get(), units, c)) return;
  program.like = nullptr;
  c->rc = GE_OK;
  c->flags = e.profile() ? GE_COMPILED_SERIAL : 0;
  if (const Unit* u = InPlaceUnit(units); u != nullptr) {
    StateAliases(parser, segment, *u, &program, c);
    // Rows that are appended may not fit; the others allocate nothing.
    if (u->kind().in_place != InPlace::kFirst) c->flags |= GE_COMPILED_INFALLIBLE;
  }
  c->workspace = program.workspace;
  c->workspace_align = 64;
  c->internal = program.internals.data();
  c->n_internal = static_cast<uint32_t>(program.internals.size());
  c->n_step = std::max<uint32_t>(1, static_cast<uint32_t>(program.steps.size()));
  if (!units.empty() && !program.steps.empty()) {
    c->step = program.told.records();
    c->step_stride = sizeof(ge_step);
  }
  c->constant = program.uses.data();
  c->n_constant = static_cast<uint32_t>(program.uses.size());
  c->pack = program.packs.data();
  c->n_pack = static_cast<uint32_t>(program.packs.size());
  c->pack_stride = sizeof(ge_pack);
  c->exec = exec.release();
}

ge_rc Compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err* err) {
  return gp::Guard(err, g_call.compile.c_str(), [&] {
    ThreadScope threads(e->engine->machine().threads);
    const LaunchMode own(e->engine->host());
    const LibraryMode mode(e->engine->machine().threads);
    for (uint32_t i = 0; i < n; ++i) {
      const auto* s = reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                          uint64_t{i} * segment_stride);
      auto* c =
          reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
      c->rc = gp::Guard(c->err, g_call.compile.c_str(), [&] {
        c->rc = gp::Understand(s->h, c->err, g_call.compile.c_str());
        if (c->rc == GE_OK) {
          c->rc = gp::Understand(s->graph->h, c->err, g_call.compile.c_str());
        }
        if (c->rc == GE_OK) CompileOne(*e->engine, *s, nullptr, c);
        return c->rc;
      });
    }
    return ge_rc(GE_OK);
  });
}

ge_rc Shape(ge_exec* like, const ge_segment* segment, ge_compiled* out, ge_err* err) {
  return gp::Guard(err, g_call.shape.c_str(), [&]() -> ge_rc {
    const Engine& e = like->engine;
    if (const ge_rc rc = gp::Understand(segment->h, err, g_call.shape.c_str())) return rc;
    ThreadScope threads(e.machine().threads);
    const LaunchMode own(e.host());
    const LibraryMode mode(e.machine().threads);
    CompileOne(e, *segment, like, out);
    return GE_OK;
  });
}

ge_rc FillPack(ge_engine* e, const ge_pack* pack, const ge_buf* from, const ge_buf* to,
               ge_err* err) {
  return gp::Guard(err, g_call.fill.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = gp::Understand(pack->h, err, g_call.fill.c_str())) return rc;
    const ge_host_api* host = e->engine->host();
    // The host may have many filled at once, a thread each.
    const bool alone = host != nullptr && host->inside != nullptr && host->inside(host->host) != 0;
    ThreadScope threads(alone ? 1 : e->engine->machine().threads);
    const LaunchMode own(host);
    return e->engine->book().Write(*pack, from, *to, err);
  });
}

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  return gp::Guard(err, g_call.enqueue.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = gp::Understand(launch->h, err, g_call.enqueue.c_str())) return rc;
    const LaunchMode own(exec->engine.host());
    const Shares shares;
    Frame* frame = launch->frame != nullptr ? launch->frame->frame.get() : nullptr;
    return exec->program.Run(*launch, frame, err);
  });
}

void ExecDestroy(ge_exec* exec) {
  if (exec->engine.profile() && exec->engine.host() != nullptr) {
    gp::Guard(nullptr, g_call.profile.c_str(), [&] {
      const std::string text = exec->program.ProfileText();
      exec->engine.host()->log(exec->engine.host()->host, 2, gp::Str(text));
      return ge_rc(GE_OK);
    });
  }
  delete exec;
}

ge_rc FrameCreate(ge_exec* exec, ge_frame** out, ge_err* err) {
  return gp::Guard(err, g_call.frame_create.c_str(), [&] {
    auto f = std::make_unique<ge_frame>();
    f->frame = exec->program.MakeFrame();
    *out = f.release();
    return ge_rc(GE_OK);
  });
}
void FrameDestroy(ge_exec*, ge_frame* f) { delete f; }

ge_engine_api MakeApi() {
  ge_engine_api api = {};
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.exec_destroy = ExecDestroy;
  api.frame_create = FrameCreate;
  api.frame_destroy = FrameDestroy;
  api.fill = FillPack;
  api.shape = Shape;
  api.promises = GE_ENGINE_UNASKED;
  return api;
}
const ge_engine_api kApi = MakeApi();

ge_plugin_desc MakeDesc(const char* version) {
  ge_plugin_desc d = {};
  d.magic = GE_PLUGIN_MAGIC;
  d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  d.abi_major = GE_ABI_MAJOR;
  d.abi_minor = GE_ABI_MINOR;
  d.header_hash = GE_HEADER_HASH;
  d.name = gp::Str(g_name);
  d.version = gp::Str(version);
  d.vendor = gp::Str("GraphEngine");
  d.kinds = GE_KIND_ENGINE;
  d.sanitizer = GE_SANITIZER_HERE;
  d.engine_create = EngineCreate;
  d.engine_destroy = EngineDestroy;
  d.engine = &kApi;
  return d;
}
}  // namespace

Machine MachineOf(const ge_host_api* host) {
  const uint32_t cap = host != nullptr ? host->isa_cap : uint32_t{GE_ISA_NATIVE};
  Machine m;
  m.isa = cap == GE_ISA_NATIVE ? BestIsa() : std::min(cap, BestIsa());
  m.threads = host != nullptr && host->threads > 0 ? static_cast<int>(host->threads) : 1;
  if (host == nullptr || host->h.size < offsetof(ge_host_api, call_ns)) return m;
  // Of the machine that prices were fitted on, 2.8 GHz: the host's fixed record says the same.
  constexpr double kCopy[3] = {85, 12, 10};
  const double peak = m.isa >= GE_ISA_AVX512 ? 165 : m.isa == GE_ISA_AVX2 ? 97 : 22;
  if (host->flops_per_ns > 0) m.compute = host->flops_per_ns / peak;
  for (int i = 0; i < 3; ++i) {
    if (host->copy_bytes_per_ns[i] > 0) m.stream[i] = host->copy_bytes_per_ns[i] / kCopy[i];
  }
  return m;
}

const Simd& SimdOf(uint32_t isa) {
  return isa >= GE_ISA_AVX512 ? kSimd_avx512 : isa == GE_ISA_AVX2 ? kSimd_avx2 : kSimd_base;
}

Engine::Engine(const ge_create_args& args)
    : host_(args.host),
      machine_(MachineOf(args.host)),
      simd_(&SimdOf(machine_.isa)),
      profile_(gp::Option(args.options, "profile", "0") == "1") {
  constexpr size_t kWithNumerics = offsetof(ge_create_args, numerics) + sizeof(args.numerics);
  machine_.exact = args.h.size >= kWithNumerics && args.numerics == GE_NUMERICS_EXACT;
  constexpr size_t kWithPrecision = offsetof(ge_create_args, precision) + sizeof(args.precision);
  const bool may_round = args.h.size >= kWithPrecision && args.precision == GE_PRECISION_BF16;
  if (may_round && args.denormals == GE_DENORMALS_FLUSH) machine_.rounded = RoundedOf(machine_.isa);
}

const ge_plugin_desc* Describe(const char* name, const char* version, MakeEngine make) {
  static const ge_plugin_desc desc = [&] {
    g_name = name;
    const std::string of = g_name + ": ";
    g_call = {of + "engine_create", of + "query",   of + "compile", of + "shape",
              of + "fill",          of + "enqueue", of + "profile", of + "frame_create"};
    g_make = make;
    return MakeDesc(version);
  }();
  return &desc;
}

}  // namespace ge_engines::cpu
