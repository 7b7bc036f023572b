// Reads the fields of a JSON object of a capsule. Values; one thread at a time.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/ir/dtype.h"

namespace ge {

// Fields of an object, each of which must have its kind where it is there. The first fault stays.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) Fail("", "an object");
  }
  JsonFields& Text(const char* name, std::string* to) {
    if (const nlohmann::json* v = At(name)) {
      if (v->is_string()) {
        *to = v->get<std::string>();
      } else {
        Fail(name, "a string");
      }
    }
    return *this;
  }
  template <typename T>
  JsonFields& Whole(const char* name, T* to) {
    if (const nlohmann::json* v = At(name)) {
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
  JsonFields& Real(const char* name, double* to) {
    if (const nlohmann::json* v = At(name)) {
      if (v->is_number()) {
        *to = v->get<double>();
      } else {
        Fail(name, "a number");
      }
    }
    return *this;
  }
  JsonFields& Flag(const char* name, bool* to) {
    if (const nlohmann::json* v = At(name)) {
      if (v->is_boolean()) {
        *to = v->get<bool>();
      } else {
        Fail(name, "true or false");
      }
    }
    return *this;
  }
  JsonFields& Type(const char* name, DType* to) {
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
  JsonFields& Dims(const char* name, std::vector<int64_t>* to) {
    const nlohmann::json* v = At(name);
    if (v == nullptr) return *this;
    for (size_t i = 0; v->is_array() && i < v->size(); ++i) {
      const nlohmann::json& d = (*v)[i];
      if (!d.is_number_unsigned() || d.get<uint64_t>() > INT64_MAX) return Fail(name, "sizes");
      to->push_back(d.get<int64_t>());
    }
    return v->is_array() ? *this : Fail(name, "a list of sizes");
  }
  JsonFields& Texts(const char* name, std::vector<std::string>* to) {
    const nlohmann::json* v = At(name);
    if (v == nullptr) return *this;
    for (size_t i = 0; v->is_array() && i < v->size(); ++i) {
      if (!(*v)[i].is_string()) return Fail(name, "texts");
      to->push_back((*v)[i].get<std::string>());
    }
    return v->is_array() ? *this : Fail(name, "a list of texts");
  }
  JsonFields& Numbers(const char* name, std::vector<uint32_t>* to) {
    std::vector<int64_t> wide;
    Dims(name, &wide);
    for (const int64_t v : wide) {
      if (v > UINT32_MAX) return Fail(name, "numbers below 2^32");
      to->push_back(static_cast<uint32_t>(v));
    }
    return *this;
  }
  template <typename T>
  JsonFields& List(const char* name, std::vector<T>* to, void (*read)(JsonFields*, T*)) {
    const nlohmann::json* v = At(name);
    if (v == nullptr) return *this;
    if (!v->is_array()) return Fail(name, "a list");
    for (size_t i = 0; i < v->size() && status_.ok(); ++i) {
      JsonFields item((*v)[i], fmt::format("{}{}[{}].", where_, name, i));
      T& made = to->emplace_back();
      read(&item, &made);
      status_ = item.status_;
    }
    return *this;
  }
  const Status& status() const { return status_; }

 private:
  const nlohmann::json* At(const char* name) const {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  JsonFields& Fail(const char* name, const char* wanted) {
    if (status_.ok()) {
      status_ = Status(Code::kDataCorrupt,
                       fmt::format("its field '{}{}' is wrong, wanted {}", where_, name, wanted));
    }
    return *this;
  }

  const nlohmann::json& object_;
  std::string where_;
  Status status_;
};

nlohmann::json TensorJson(const CapsuleTensor& tensor);
void ReadCapsuleTensor(JsonFields* fields, CapsuleTensor* tensor);

// A member of JSON. DATA_CORRUPT with capsule and member.
Result<nlohmann::json> ReadJsonMember(const CapsuleReader& capsule, const std::string& member);
// `status` of fields of the member, which then names capsule and member.
Status OfJsonMember(const CapsuleReader& capsule, const std::string& member, const Status& status);

}  // namespace ge
