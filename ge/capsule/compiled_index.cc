#include "ge/capsule/compiled_index.h"

#include <nlohmann/json.hpp>

#include "ge/capsule/json_fields.h"

namespace ge {
namespace {

using nlohmann::json;

template <typename T>
json ListOf(const std::vector<T>& items, json (*one)(const T&)) {
  json out = json::array();
  for (const T& item : items) out.push_back(one(item));
  return out;
}

json EngineJson(const CompiledEngine& e) {
  return {{"name", e.name}, {"hash", e.hash}, {"options", e.options}, {"used", e.used}};
}
json PackJson(const CompiledPack& p) {
  return {{"segment", p.segment},
          {"values", p.values},
          {"name", p.name},
          {"member", p.member},
          {"hash", p.hash}};
}
json ShapeJson(const CompiledShape& s) { return {{"dims", s.dims}}; }
json PlanJson(const CompiledPlan& p) {
  return {{"entry", p.entry},
          {"piece", p.piece},
          {"fn", p.fn},
          {"inputs", ListOf(p.inputs, ShapeJson)},
          {"graph", p.graph},
          {"plan", p.plan},
          {"expanded", p.expanded},
          {"states_in", p.states_in},
          {"states_out", p.states_out},
          {"shape_class", p.shape_class},
          {"looser_class", p.looser_class},
          {"over_floor", p.over_floor},
          {"packs", ListOf(p.packs, PackJson)}};
}

void ReadEngineOf(JsonFields* f, CompiledEngine* e) {
  f->Text("name", &e->name).Text("hash", &e->hash).Text("options", &e->options);
  f->Flag("used", &e->used);
}
void ReadPackOf(JsonFields* f, CompiledPack* p) {
  f->Whole("segment", &p->segment).Whole("values", &p->values).Text("name", &p->name);
  f->Text("member", &p->member).Text("hash", &p->hash);
}
void ReadShapeOf(JsonFields* f, CompiledShape* s) { f->Dims("dims", &s->dims); }
void ReadPlanOf(JsonFields* f, CompiledPlan* p) {
  f->Text("entry", &p->entry).List("inputs", &p->inputs, ReadShapeOf).Text("graph", &p->graph);
  f->Text("piece", &p->piece).Whole("fn", &p->fn);
  f->Text("plan", &p->plan).Numbers("expanded", &p->expanded);
  f->Numbers("states_in", &p->states_in).Numbers("states_out", &p->states_out);
  f->Whole("shape_class", &p->shape_class).Whole("looser_class", &p->looser_class);
  f->Whole("over_floor", &p->over_floor).List("packs", &p->packs, ReadPackOf);
}

}  // namespace

Status WriteCompiledIndex(const CompiledIndex& x, CapsuleWriter* writer) {
  const json out = {{"cpu", x.cpu},
                    {"isa", x.isa},
                    {"isa_mask", x.isa_mask},
                    {"threads", x.threads},
                    {"numerics", x.numerics},
                    {"precision", x.precision},
                    {"denormals", x.denormals},
                    {"engines", ListOf(x.engines, EngineJson)},
                    {"plans", ListOf(x.plans, PlanJson)},
                    {"in_pieces", x.in_pieces}};
  return writer->Add(kCompiledMember,
                     out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<CompiledIndex> ReadCompiledIndex(const CapsuleReader& capsule) {
  GE_ASSIGN_OR_RETURN(const json j, ReadJsonMember(capsule, kCompiledMember));
  CompiledIndex x;
  JsonFields f(j, "");
  f.Text("cpu", &x.cpu).Text("isa", &x.isa).Whole("isa_mask", &x.isa_mask);
  f.Whole("threads", &x.threads).Text("numerics", &x.numerics).Text("precision", &x.precision);
  f.Text("denormals", &x.denormals).List("engines", &x.engines, ReadEngineOf);
  f.List("plans", &x.plans, ReadPlanOf).Texts("in_pieces", &x.in_pieces);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, kCompiledMember, f.status()));
  return x;
}

}  // namespace ge
