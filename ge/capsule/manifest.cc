#include "ge/capsule/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "ge/capsule/json_fields.h"
#include "ge/capsule/plan_members.h"

namespace ge {
namespace {

using nlohmann::json;

constexpr char kFormat[] = "graphengine capsule";
constexpr size_t kMostEngines = 64;  // a replay opens each

json Json(const CapsuleTensor& t) { return TensorJson(t); }
json Json(const CapsuleGraph& g) { return {{"stage", g.stage}, {"member", g.member}}; }
json Json(const CapsuleEngine& e) {
  return {{"name", e.name}, {"version", e.version}, {"hash", e.hash}};
}
template <typename T>
json List(const std::vector<T>& items) {
  json out = json::array();
  for (const T& item : items) out.push_back(Json(item));
  return out;
}

void ReadStage(JsonFields* f, CapsuleGraph* g) {
  f->Text("stage", &g->stage).Text("member", &g->member);
}
void ReadEngine(JsonFields* f, CapsuleEngine* e) {
  f->Text("name", &e->name).Text("version", &e->version).Text("hash", &e->hash);
}

Status CheckVersion(const json& j) {
  std::string format;
  int64_t version = 0;
  JsonFields fields(j, "");
  fields.Text("format", &format).Whole("version", &version);
  GE_RETURN_IF_ERROR(fields.status());
  if (format != kFormat) {
    return Status(Code::kDataCorrupt,
                  fmt::format("its field 'format' is '{:.64}', wanted '{}'", format, kFormat));
  }
  if (version > kCapsuleVersion) {
    return Status(Code::kUnsupported,
                  fmt::format("its field 'version' is {}, known here is {}; use a later release",
                              version, kCapsuleVersion));
  }
  return {};
}

// A replay opens engines by these names.
Status CheckEngines(const std::vector<CapsuleEngine>& engines) {
  if (engines.size() > kMostEngines) {
    return Status(Code::kDataCorrupt, fmt::format("its field 'engines' has {} items, wanted {} at "
                                                  "the most",
                                                  engines.size(), kMostEngines));
  }
  for (size_t i = 0; i < engines.size(); ++i) {
    if (IsEngineName(engines[i].name)) continue;
    return Status(Code::kDataCorrupt,
                  fmt::format("its field 'engines[{}].name' is '{:.64}', wanted 1 to 64 characters "
                              "of [a-z0-9_]",
                              i, engines[i].name));
  }
  return {};
}

}  // namespace

Status WriteManifest(const CapsuleManifest& m, CapsuleWriter* writer) {
  const json out = {{"format", kFormat},
                    {"version", kCapsuleVersion},
                    {"product", m.product},
                    {"model", m.model},
                    {"entry", m.entry},
                    {"isa", m.isa},
                    {"threads", m.threads},
                    {"numerics", m.numerics},
                    {"precision", m.precision},
                    {"denormals", m.denormals},
                    {"seed", m.seed},
                    {"run", m.run},
                    {"kv_cache", m.kv_cache},
                    {"engines", List(m.engines)},
                    {"graphs", List(m.graphs)},
                    {"plan", m.plan},
                    {"in_pieces", m.in_pieces},
                    {"expanded", m.expanded},
                    {"inputs", List(m.inputs)},
                    {"states", List(m.states)},
                    {"values", List(m.values)},
                    {"outputs", List(m.outputs)},
                    {"states_after", List(m.states_after)},
                    {"left_out", m.left_out}};
  return writer->Add(kManifestMember,
                     out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<CapsuleManifest> ReadManifest(const CapsuleReader& capsule) {
  GE_ASSIGN_OR_RETURN(const json j, ReadJsonMember(capsule, kManifestMember));
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, kManifestMember, CheckVersion(j)));
  CapsuleManifest m;
  JsonFields f(j, "");
  f.Text("product", &m.product).Text("model", &m.model).Text("entry", &m.entry);
  f.Text("isa", &m.isa).Whole("threads", &m.threads).Text("numerics", &m.numerics);
  f.Text("precision", &m.precision).Text("denormals", &m.denormals).Whole("seed", &m.seed);
  f.List("engines", &m.engines, ReadEngine).List("graphs", &m.graphs, ReadStage);
  f.Text("plan", &m.plan)
      .Numbers("expanded", &m.expanded)
      .List("inputs", &m.inputs, ReadCapsuleTensor);
  f.List("states", &m.states, ReadCapsuleTensor).List("values", &m.values, ReadCapsuleTensor);
  f.List("outputs", &m.outputs, ReadCapsuleTensor)
      .List("states_after", &m.states_after, ReadCapsuleTensor);
  f.Flag("in_pieces", &m.in_pieces);
  f.Whole("run", &m.run).Whole("kv_cache", &m.kv_cache).Texts("left_out", &m.left_out);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, kManifestMember, f.status()));
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, kManifestMember, CheckEngines(m.engines)));
  if (!capsule.Has(kResultsMember)) return m;
  m.outputs.clear();
  m.states_after.clear();
  GE_ASSIGN_OR_RETURN(const json results, ReadJsonMember(capsule, kResultsMember));
  JsonFields r(results, "");
  r.List("outputs", &m.outputs, ReadCapsuleTensor)
      .List("states_after", &m.states_after, ReadCapsuleTensor);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, kResultsMember, r.status()));
  return m;
}

Status WriteResults(const std::vector<CapsuleTensor>& outputs,
                    const std::vector<CapsuleTensor>& states_after, CapsuleWriter* writer) {
  const json out = {{"outputs", List(outputs)}, {"states_after", List(states_after)}};
  return writer->Add(kResultsMember,
                     out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Status WriteOutcome(const CapsuleOutcome& outcome, CapsuleWriter* writer) {
  const json out = {{"done", outcome.done}, {"message", outcome.message}};
  return writer->Add(kOutcomeMember,
                     out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<CapsuleOutcome> ReadOutcome(const CapsuleReader& capsule) {
  CapsuleOutcome out;
  if (!capsule.Has(kOutcomeMember)) return out;
  GE_ASSIGN_OR_RETURN(const json j, ReadJsonMember(capsule, kOutcomeMember));
  JsonFields f(j, "");
  f.Flag("done", &out.done).Text("message", &out.message);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, kOutcomeMember, f.status()));
  return out;
}

}  // namespace ge
