#include "ge/session/compiled_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "frontend/text/plan_text.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/plan_members.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/engine/resident/pack_hash.h"
#include "ge/host/machine.h"
#include "ge/infer/infer.h"
#include "ge/session/recorder.h"
#include "ge/session/session.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

constexpr double kThousandths = 1000;

std::string_view TextOf(const void* data, uint64_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

CompiledIndex IndexOf(const Session& session) {
  const CapsuleManifest about = AboutSession(session);
  const MachineRecord machine = HostMachine();
  CompiledIndex x;
  x.cpu = machine.cpu;
  x.isa_mask = machine.isa_mask;
  x.isa = about.isa;
  x.threads = about.threads;
  x.numerics = about.numerics;
  x.precision = about.precision;
  x.denormals = about.denormals;
  return x;
}

// Those that bring operators or passes serve the graph, whatever its plans are.
std::vector<CompiledEngine> EnginesOf(const EngineList& engines) {
  std::vector<CompiledEngine> out;
  for (const auto& e : engines) {
    const bool more = (e->plugin().desc->kinds & (GE_KIND_OPS | GE_KIND_PASSES)) != 0;
    out.push_back({e->name(), e->plugin().hash, e->options(), more});
  }
  return out;
}

// What a load needs: engines and devices by name, layouts, conversions, segments and their offers.
Plan PlacementOf(const Plan& plan) {
  Plan out;
  out.graph_name = plan.graph_name;
  out.entry = plan.entry;
  out.engines = plan.engines;
  out.devices = plan.devices;
  out.layouts = plan.layouts;
  out.conversions = plan.conversions;
  out.functions.resize(1);
  out.functions[0].name = plan.functions[0].name;
  out.functions[0].values.resize(1);
  for (const PlanSegment& s : plan.functions[0].segments) {
    if (s.offers.empty()) continue;
    PlanSegment& mine = out.functions[0].segments.emplace_back();
    mine.device = s.device;
    mine.offers = s.offers;
  }
  return out;
}

class Saver {
 public:
  Saver(Session* session, const EngineList& engines, std::unique_ptr<CapsuleWriter> writer,
        SaveReport* report)
      : session_(session),
        writer_(std::move(writer)),
        graphs_(writer_.get()),
        report_(*report),
        index_(IndexOf(*session)) {
    index_.engines = EnginesOf(engines);
  }

  Status Run(std::span<const PlanToSave> plans) {
    CapsuleManifest manifest = AboutSession(*session_);
    manifest.entry = plans.empty() ? "" : plans[0].entry;
    for (const CompiledEngine& e : index_.engines) {
      manifest.engines.push_back({e.name, "", e.hash});
    }
    manifest.graphs.push_back({"rewrite", "graph/00-rewrite.gepb"});
    GE_RETURN_IF_ERROR(graphs_.Write(manifest.graphs[0].member, session_->graph()));
    for (const PlanToSave& p : plans) GE_RETURN_IF_ERROR(Add(p));
    for (const Entry& e : session_->graph().entries) {
      if (session_->RunsInPieces(e.name)) index_.in_pieces.push_back(e.name);
    }
    GE_RETURN_IF_ERROR(writer_->Add(kMachineMember, MachineToText(HostMachine())));
    GE_RETURN_IF_ERROR(WriteCompiledIndex(index_, writer_.get()));
    GE_RETURN_IF_ERROR(WriteManifest(manifest, writer_.get()));
    GE_RETURN_IF_ERROR(writer_->Finish());
    report_.plans = plans.size();
    report_.bytes = writer_->bytes();
    return {};
  }

 private:
  Status Add(const PlanToSave& p) {
    const Compiled& c = *p.compiled;
    CompiledPlan& plan = index_.plans.emplace_back();
    const size_t i = index_.plans.size() - 1;
    plan.entry = p.entry;
    plan.piece = c.exact_key;
    plan.fn = c.fn;
    for (const Compiled::Port& port : c.inputs) plan.inputs.push_back({port.dims});
    plan.graph = fmt::format("graph/{:02}-bound.gepb", i + 1);
    plan.plan = fmt::format("plan/{}.plan", i);
    plan.expanded.assign(c.expanded.begin(), c.expanded.end());
    plan.states_in.assign(c.states_in.begin(), c.states_in.end());
    plan.states_out.assign(c.states_out.begin(), c.states_out.end());
    plan.shape_class = c.shape_class.value_or(0);
    plan.looser_class = c.looser_class.value_or(0);
    plan.over_floor = static_cast<uint64_t>(std::llround(c.over_floor * kThousandths));
    NoteUsed(c.plan);
    GE_RETURN_IF_ERROR(graphs_.Write(plan.graph, c.graph));
    GE_RETURN_IF_ERROR(writer_->Add(plan.plan, PrintPlan(PlacementOf(c.plan), {false})));
    return AddPacks(p.compiled.get(), &plan);
  }

  void NoteUsed(const Plan& plan) {
    for (const PlanSegment& s : plan.functions[0].segments) {
      const PlanEngine& by = plan.engines[plan.devices[s.device].engine];
      for (CompiledEngine& e : index_.engines) e.used |= e.name == by.name;
    }
  }

  Status AddPacks(Compiled* c, CompiledPlan* plan) {
    Compiled::PinnedPacks pinned;
    GE_RETURN_IF_ERROR(pinned.Pin(c));
    const auto& residents = c->residents();
    for (uint32_t s = 0; s < residents.size(); ++s) {
      for (uint32_t k = 0; k < residents[s].size(); ++k) {
        const Resident& r = *residents[s][k];
        // The others are filled by each process: their bytes are no numbers alone, or lie in a
        // device's memory.
        if (!r.any_bytes() || r.buf().domain != 0 || r.buf().ptr == nullptr) continue;
        GE_ASSIGN_OR_RETURN(CompiledPack pack, MemberOf(r));
        pack.segment = s;
        pack.values = c->pack_values()[s][k];
        plan->packs.push_back(std::move(pack));
      }
    }
    return {};
  }

  Result<CompiledPack> MemberOf(const Resident& r) {
    const auto known = packs_.find(&r);
    if (known != packs_.end()) return known->second;
    CompiledPack pack;
    pack.name = r.Name();
    pack.member = fmt::format("pack/{}", packs_.size());
    const std::string_view bytes = TextOf(r.buf().ptr, r.bytes());
    pack.hash = fmt::format("{:016x}", PackHash(std::as_bytes(std::span(bytes))));
    GE_RETURN_IF_ERROR(writer_->Add(pack.member, bytes, kPackAlign));
    ++report_.packs;
    report_.pack_bytes += r.bytes();
    packs_.emplace(&r, pack);
    return pack;
  }

  Session* session_;
  std::unique_ptr<CapsuleWriter> writer_;
  GraphMembers graphs_;
  SaveReport& report_;
  CompiledIndex index_;
  std::map<const Resident*, CompiledPack> packs_;
};

}  // namespace

Status SaveCompiledFile(Session* session, std::span<const PlanToSave> plans,
                        const std::string& path, SaveReport* report) {
  if (session->states_grow()) {
    return Status(Code::kUnsupported,
                  "a model whose caches grow cannot be saved compiled yet; leave out kv_cache");
  }
  GE_ASSIGN_OR_RETURN(const EngineList* engines, session->Engines());
  GE_ASSIGN_OR_RETURN(auto writer, CapsuleWriter::Create(path));
  return Saver(session, *engines, std::move(writer), report).Run(plans);
}

// ---- reading ----

Result<std::unique_ptr<CompiledFile>> CompiledFile::Open(
    std::shared_ptr<const CapsuleReader> capsule) {
  auto file = std::make_unique<CompiledFile>();
  GE_ASSIGN_OR_RETURN(file->index_, ReadCompiledIndex(*capsule));
  file->capsule_ = std::move(capsule);
  return file;
}

namespace {

template <typename T>
std::string Differ(const char* what, const T& there, const T& now) {
  return there == now ? std::string() : fmt::format("{}: {} there, {} here", what, there, now);
}

}  // namespace

std::string CompiledFile::MisfitOfOptions(const Session& session) const {
  const CompiledIndex here = IndexOf(session);
  for (std::string text :
       {Differ("processor", index_.cpu, here.cpu),
        Differ("instruction sets", index_.isa_mask, here.isa_mask),
        Differ("isa", index_.isa, here.isa), Differ("threads", index_.threads, here.threads),
        Differ("numerics", index_.numerics, here.numerics),
        Differ("precision", index_.precision, here.precision),
        Differ("denormals", index_.denormals, here.denormals)}) {
    if (!text.empty()) return text;
  }
  return "";
}

std::string CompiledFile::MisfitOfEngines(const EngineList& engines) const {
  const std::vector<CompiledEngine> here = EnginesOf(engines);
  for (const CompiledEngine& there : index_.engines) {
    if (!there.used) continue;
    const CompiledEngine* now = nullptr;
    for (const CompiledEngine& e : here) {
      if (e.name == there.name) now = &e;
    }
    if (now == nullptr) return fmt::format("engine '{}': not in this session", there.name);
    std::string text = Differ("build id", there.hash, now->hash);
    if (text.empty()) text = Differ("options", there.options, now->options);
    if (!text.empty()) return fmt::format("engine '{}', {}", there.name, text);
  }
  return "";
}

Result<SavedPack> CompiledFile::PackOf(const CompiledPack& pack) const {
  SavedPack out;
  out.name = pack.name;
  out.values = pack.values;
  GE_ASSIGN_OR_RETURN(out.data, capsule_->Map(pack.member));
  const char* end = pack.hash.data() + pack.hash.size();
  if (std::from_chars(pack.hash.data(), end, out.hash, 16).ptr != end) {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': member '{}': the hash of '{}' is '{:.32}', wanted 16 "
                              "hexadecimal digits",
                              path(), kCompiledMember, pack.member, pack.hash));
  }
  out.owner = capsule_;
  const auto at = FindInFile(out.data.data(), out.data.size());
  out.file = at ? fmt::format("{},{},{},{},{}", path(), at->file.device, at->file.inode,
                              at->file.size, at->file.changed_ns)
                : fmt::format("{},{}", path(), fmt::ptr(capsule_.get()));
  return out;
}

Result<CompiledFile::Loaded> CompiledFile::Load(size_t i) const {
  const CompiledPlan& p = index_.plans[i];
  Loaded out;
  GE_ASSIGN_OR_RETURN(out.graph, ReadGraphMember(capsule_, p.graph, /*trusted=*/true));
  GE_ASSIGN_OR_RETURN(out.plan.plan, ReadPlanMember(*capsule_, p.plan));
  const Entry* entry = p.piece.empty() ? out.graph.FindEntry(p.entry) : nullptr;
  if (entry == nullptr && (p.piece.empty() || p.fn == 0 || p.fn >= out.graph.functions.size())) {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': member '{}' has no {} '{}'", path(), p.graph,
                              p.piece.empty() ? "entry" : "function",
                              p.piece.empty() ? p.entry : std::to_string(p.fn)));
  }
  out.fn = entry != nullptr ? entry->fn : p.fn;
  out.plan.over_floor = static_cast<double>(p.over_floor) / kThousandths;
  if (p.shape_class != 0) out.plan.shape_class = p.shape_class;
  if (p.looser_class != 0) out.plan.looser_class = p.looser_class;
  out.plan.expanded.assign(p.expanded.begin(), p.expanded.end());
  // Conversions are segments behind those that the text has.
  const size_t segments = 2 * out.plan.plan.functions[0].segments.size() + 4096;
  for (const CompiledPack& pack : p.packs) {
    if (pack.segment >= segments) {
      return Status(Code::kDataCorrupt,
                    fmt::format("capsule '{}': member '{}': '{}' is of segment {}", path(),
                                kCompiledMember, pack.member, pack.segment));
    }
    if (out.plan.packs.size() <= pack.segment) out.plan.packs.resize(pack.segment + 1);
    GE_ASSIGN_OR_RETURN(out.plan.packs[pack.segment].emplace_back(), PackOf(pack));
  }
  return out;
}

}  // namespace ge
