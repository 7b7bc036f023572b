#include "ge/capsule/manifest.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "ge/base/text/json_text.h"

namespace ge {
namespace {

using nlohmann::json;

constexpr char kFormat[] = "graphengine capsule";

json Json(const CapsuleTensor& t) {
  json out = {
      {"name", t.name}, {"dtype", DTypeName(t.dtype)}, {"dims", t.dims}, {"member", t.member}};
  if (t.plan_value != 0) out["plan_value"] = t.plan_value;
  return out;
}
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

// Fields of an object, each of which must have its kind where it is there. The first fault stays.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) Fail("", "an object");
  }
  Fields& Text(const char* name, std::string* to) {
    if (const json* v = At(name)) {
      if (v->is_string()) {
        *to = v->get<std::string>();
      } else {
        Fail(name, "a string");
      }
    }
    return *this;
  }
  template <typename T>
  Fields& Whole(const char* name, T* to) {
    if (const json* v = At(name)) {
      const bool fits = v->is_number_unsigned() &&
                        v->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max());
      if (fits) {
        *to = static_cast<T>(v->get<uint64_t>());
      } else {
        Fail(name, "a whole number");
      }
    }
    return *this;
  }
  Fields& Flag(const char* name, bool* to) {
    if (const json* v = At(name)) {
      if (v->is_boolean()) {
        *to = v->get<bool>();
      } else {
        Fail(name, "true or false");
      }
    }
    return *this;
  }
  Fields& Type(const char* name, DType* to) {
    std::string text;
    Text(name, &text);
    if (text.empty()) return *this;
    if (const auto dtype = DTypeFromName(text)) {
      *to = *dtype;
    } else {
      Fail(name, "an element type");
    }
    return *this;
  }
  Fields& Dims(const char* name, std::vector<int64_t>* to) {
    const json* v = At(name);
    if (v == nullptr) return *this;
    for (size_t i = 0; v->is_array() && i < v->size(); ++i) {
      const json& d = (*v)[i];
      if (!d.is_number_unsigned() || d.get<uint64_t>() > INT64_MAX) return Fail(name, "sizes");
      to->push_back(d.get<int64_t>());
    }
    return v->is_array() ? *this : Fail(name, "a list of sizes");
  }
  Fields& Numbers(const char* name, std::vector<uint32_t>* to) {
    std::vector<int64_t> wide;
    Dims(name, &wide);
    for (const int64_t v : wide) {
      if (v > UINT32_MAX) return Fail(name, "numbers below 2^32");
      to->push_back(static_cast<uint32_t>(v));
    }
    return *this;
  }
  template <typename T>
  Fields& List(const char* name, std::vector<T>* to, void (*read)(Fields*, T*)) {
    const json* v = At(name);
    if (v == nullptr) return *this;
    if (!v->is_array()) return Fail(name, "a list");
    for (size_t i = 0; i < v->size() && status_.ok(); ++i) {
      Fields item((*v)[i], fmt::format("{}{}[{}].", where_, name, i));
      T& made = to->emplace_back();
      read(&item, &made);
      status_ = item.status_;
    }
    return *this;
  }
  const Status& status() const { return status_; }

 private:
  const json* At(const char* name) const {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  Fields& Fail(const char* name, const char* wanted) {
    if (status_.ok()) {
      status_ = Status(Code::kDataCorrupt,
                       fmt::format("its field '{}{}' is wrong, wanted {}", where_, name, wanted));
    }
    return *this;
  }

  const json& object_;
  std::string where_;
  Status status_;
};

void ReadTensor(Fields* f, CapsuleTensor* t) {
  f->Text("name", &t->name).Whole("plan_value", &t->plan_value).Type("dtype", &t->dtype);
  f->Dims("dims", &t->dims).Text("member", &t->member);
}
void ReadStage(Fields* f, CapsuleGraph* g) {
  f->Text("stage", &g->stage).Text("member", &g->member);
}
void ReadEngine(Fields* f, CapsuleEngine* e) {
  f->Text("name", &e->name).Text("version", &e->version).Text("hash", &e->hash);
}

Result<json> ReadJson(const CapsuleReader& capsule, const char* member) {
  GE_ASSIGN_OR_RETURN(const auto bytes, capsule.Read(member));
  auto read = ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (read.ok()) return read;
  return Status(read.status().code(), fmt::format("capsule '{}': member '{}': {}", capsule.path(),
                                                  member, read.status().message()));
}

Status OfMember(const CapsuleReader& capsule, const char* member, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), fmt::format("capsule '{}': member '{}': {}", capsule.path(), member,
                                           status.message()));
}

Status CheckVersion(const json& j) {
  std::string format;
  int64_t version = 0;
  Fields fields(j, "");
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
                    {"engines", List(m.engines)},
                    {"graphs", List(m.graphs)},
                    {"plan", m.plan},
                    {"expanded", m.expanded},
                    {"inputs", List(m.inputs)},
                    {"states", List(m.states)},
                    {"values", List(m.values)},
                    {"outputs", List(m.outputs)}};
  return writer->Add(kManifestMember,
                     out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<CapsuleManifest> ReadManifest(const CapsuleReader& capsule) {
  GE_ASSIGN_OR_RETURN(const json j, ReadJson(capsule, kManifestMember));
  GE_RETURN_IF_ERROR(OfMember(capsule, kManifestMember, CheckVersion(j)));
  CapsuleManifest m;
  Fields f(j, "");
  f.Text("product", &m.product).Text("model", &m.model).Text("entry", &m.entry);
  f.Text("isa", &m.isa).Whole("threads", &m.threads).Text("numerics", &m.numerics);
  f.Text("precision", &m.precision).Text("denormals", &m.denormals).Whole("seed", &m.seed);
  f.List("engines", &m.engines, ReadEngine).List("graphs", &m.graphs, ReadStage);
  f.Text("plan", &m.plan).Numbers("expanded", &m.expanded).List("inputs", &m.inputs, ReadTensor);
  f.List("states", &m.states, ReadTensor).List("values", &m.values, ReadTensor);
  f.List("outputs", &m.outputs, ReadTensor);
  GE_RETURN_IF_ERROR(OfMember(capsule, kManifestMember, f.status()));
  return m;
}

Status WriteOutcome(const CapsuleOutcome& outcome, CapsuleWriter* writer) {
  const json out = {{"done", outcome.done}, {"message", outcome.message}};
  return writer->Add(kOutcomeMember,
                     out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<CapsuleOutcome> ReadOutcome(const CapsuleReader& capsule) {
  CapsuleOutcome out;
  if (!capsule.Has(kOutcomeMember)) return out;
  GE_ASSIGN_OR_RETURN(const json j, ReadJson(capsule, kOutcomeMember));
  Fields f(j, "");
  f.Flag("done", &out.done).Text("message", &out.message);
  GE_RETURN_IF_ERROR(OfMember(capsule, kOutcomeMember, f.status()));
  return out;
}

}  // namespace ge
