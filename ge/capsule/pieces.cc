#include "ge/capsule/pieces.h"

#include <fmt/format.h>

#include "ge/capsule/json_fields.h"

namespace ge {
namespace {

std::string MemberOfPiece(size_t n) { return fmt::format("piece/{}.json", n); }
std::string MemberOfExecution(size_t n) { return fmt::format("execution/{}.json", n); }

nlohmann::json TensorsJson(const std::vector<CapsuleTensor>& tensors) {
  nlohmann::json out = nlohmann::json::array();
  for (const CapsuleTensor& t : tensors) out.push_back(TensorJson(t));
  return out;
}

Status WriteJson(const std::string& member, const nlohmann::json& j, CapsuleWriter* writer) {
  return writer->Add(member, j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<CapsulePiece> ReadPiece(const CapsuleReader& capsule, const std::string& member) {
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ReadJsonMember(capsule, member));
  CapsulePiece p;
  JsonFields f(j, "");
  f.Text("key", &p.key).Text("function", &p.function).Text("graph", &p.graph);
  f.Text("plan", &p.plan).Numbers("expanded", &p.expanded);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, member, f.status()));
  return p;
}

Result<CapsuleExecution> ReadExecution(const CapsuleReader& capsule, const std::string& member,
                                       size_t pieces) {
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ReadJsonMember(capsule, member));
  CapsuleExecution e;
  JsonFields f(j, "");
  f.Whole("piece", &e.piece).List("inputs", &e.inputs, ReadCapsuleTensor);
  f.List("outputs", &e.outputs, ReadCapsuleTensor).List("values", &e.values, ReadCapsuleTensor);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, member, f.status()));
  if (e.piece < pieces) return e;
  return OfJsonMember(capsule, member,
                      Status(Code::kDataCorrupt, fmt::format("its field 'piece' is {}, wanted one "
                                                             "of the {} pieces before it",
                                                             e.piece, pieces)));
}

}  // namespace

Status WritePiece(size_t number, const CapsulePiece& p, CapsuleWriter* writer) {
  return WriteJson(MemberOfPiece(number),
                   {{"key", p.key},
                    {"function", p.function},
                    {"graph", p.graph},
                    {"plan", p.plan},
                    {"expanded", p.expanded}},
                   writer);
}

Status WriteExecution(size_t number, const CapsuleExecution& e, CapsuleWriter* writer) {
  return WriteJson(MemberOfExecution(number),
                   {{"piece", e.piece},
                    {"inputs", TensorsJson(e.inputs)},
                    {"outputs", TensorsJson(e.outputs)},
                    {"values", TensorsJson(e.values)}},
                   writer);
}

std::string StatisticsMemberOf(size_t execution) {
  return fmt::format("execution/{}/statistics.json", execution);
}

Result<CapsulePieces> ReadPieces(const CapsuleReader& capsule) {
  CapsulePieces out;
  for (size_t n = 0; capsule.Has(MemberOfPiece(n)); ++n) {
    GE_ASSIGN_OR_RETURN(out.pieces.emplace_back(), ReadPiece(capsule, MemberOfPiece(n)));
  }
  for (size_t n = 0; capsule.Has(MemberOfExecution(n)); ++n) {
    GE_ASSIGN_OR_RETURN(out.executions.emplace_back(),
                        ReadExecution(capsule, MemberOfExecution(n), out.pieces.size()));
  }
  return out;
}

}  // namespace ge
