#include "ge/capsule/json_fields.h"

#include "ge/base/text/json_text.h"

namespace ge {

nlohmann::json TensorJson(const CapsuleTensor& t) {
  nlohmann::json out = {{"name", t.name}, {"dims", t.dims}, {"member", t.member}};
  if (t.dtype != DType::kUndefined) out["dtype"] = DTypeName(t.dtype);
  if (t.plan_value != 0) out["plan_value"] = t.plan_value;
  if (t.graph_value != 0) out["graph_value"] = t.graph_value;
  if (!t.kind.empty()) out["kind"] = t.kind;
  return out;
}

void ReadCapsuleTensor(JsonFields* f, CapsuleTensor* t) {
  f->Text("name", &t->name).Whole("plan_value", &t->plan_value).Type("dtype", &t->dtype);
  f->Whole("graph_value", &t->graph_value);
  f->Dims("dims", &t->dims).Text("member", &t->member).Text("kind", &t->kind);
}

Result<nlohmann::json> ReadJsonMember(const CapsuleReader& capsule, const std::string& member) {
  GE_ASSIGN_OR_RETURN(const auto bytes, capsule.Read(member));
  auto read = ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (read.ok()) return read;
  return Status(read.status().code(), fmt::format("capsule '{}': member '{}': {}", capsule.path(),
                                                  member, read.status().message()));
}

Status OfJsonMember(const CapsuleReader& capsule, const std::string& member, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), fmt::format("capsule '{}': member '{}': {}", capsule.path(), member,
                                           status.message()));
}

}  // namespace ge
