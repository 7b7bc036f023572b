#include "ge/session/value_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ge/base/sha256.h"
#include "ge/base/text/utf8.h"
#include "ge/capsule/json_fields.h"
#include "ge/capsule/tensor_members.h"
#include "ge/control/tensor_values.h"

namespace ge {
namespace {

constexpr int kMaxDepth = 8;  // of sequences in maps in sequences: types allow fewer
constexpr char kSequence[] = "sequence", kMap[] = "map", kNone[] = "none";

std::string KeyOf(const CapsuleTensor& t, const void* data, uint64_t bytes) {
  return fmt::format("{} {} {}", DTypeName(t.dtype), fmt::join(t.dims, ","),
                     Sha256({static_cast<const std::byte*>(data), bytes}));
}

std::string CharacterForByte(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) AppendUtf8(static_cast<unsigned char>(c), &out);
  return out;
}

// False for a character beyond a byte.
bool ByteForCharacter(std::string* text) {
  std::string out;
  for (size_t i = 0; i < text->size(); ++i) {
    const auto c = static_cast<unsigned char>((*text)[i]);
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    if (c > 0xc3 || ++i == text->size()) return false;
    out += static_cast<char>((c & 3) << 6 | ((*text)[i] & 0x3f));
  }
  *text = std::move(out);
  return true;
}

// Takes the values that a list describes from its front to its end.
class ListReader {
 public:
  ListReader(const CapsuleReader& capsule, const std::vector<CapsuleTensor>& list)
      : capsule_(capsule), list_(list) {}
  bool done() const { return at_ == list_.size(); }
  Result<FlowValue> Take(int depth) {
    if (done() || depth > kMaxDepth) return Cut();
    const CapsuleTensor& t = list_[at_++];
    if (t.kind == kNone) return FlowValue();
    if (t.kind == kMap) {
      GE_ASSIGN_OR_RETURN(FlowValue keys, Take(depth + 1));
      GE_ASSIGN_OR_RETURN(FlowValue values, Take(depth + 1));
      if (!keys.is_tensor() || !values.is_tensor() || keys.count() != values.count()) return Cut();
      return MapOf(std::move(keys), std::move(values));
    }
    if (t.kind == kSequence) return Sequence(t, depth);
    if (!t.kind.empty()) return Cut();
    return t.dtype == DType::kString ? Strings(t) : Tensor(t);
  }

 private:
  Status Cut() const {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': a list of values ends within one of them, or it holds "
                              "what no run has",
                              capsule_.path()));
  }
  Result<FlowValue> Sequence(const CapsuleTensor& t, int depth) {
    if (t.dims.size() != 1 || t.dims[0] > static_cast<int64_t>(list_.size() - at_)) return Cut();
    std::vector<FlowValue> elements;
    for (int64_t i = 0; i < t.dims[0]; ++i) {
      GE_ASSIGN_OR_RETURN(elements.emplace_back(), Take(depth + 1));
    }
    return SequenceOf(t.dtype, std::move(elements));
  }
  Result<FlowValue> Tensor(const CapsuleTensor& t) const {
    if (t.dims.size() > FlowDims::kMost) return Cut();
    GE_ASSIGN_OR_RETURN(const auto bytes, ReadTensorMember(capsule_, t));
    return ValueOf(TensorView{t.dtype, t.dims, const_cast<std::byte*>(bytes.data()), bytes.size()});
  }
  Result<FlowValue> Strings(const CapsuleTensor& t) const {
    GE_ASSIGN_OR_RETURN(const nlohmann::json j, ReadJsonMember(capsule_, t.member));
    JsonFields f(j, "");
    std::vector<std::string> texts;
    bool bytes = false;
    f.Texts("texts", &texts).Flag("bytes", &bytes);
    GE_RETURN_IF_ERROR(OfJsonMember(capsule_, t.member, f.status()));
    for (std::string& s : texts) {
      if (bytes && !ByteForCharacter(&s)) return Cut();
    }
    if (t.dims.size() > FlowDims::kMost) return Cut();
    const FlowDims dims(t.dims);
    if (dims.Product(0, dims.size()) != static_cast<int64_t>(texts.size())) return Cut();
    return StringsOf(dims, std::move(texts));
  }

  const CapsuleReader& capsule_;
  const std::vector<CapsuleTensor>& list_;
  size_t at_ = 0;
};

}  // namespace

void ValueMembers::Learn(const CapsuleTensor& t, const void* data, uint64_t bytes) {
  members_.emplace(KeyOf(t, data, bytes), t.member);
}

Status ValueMembers::Write(const TensorView& view, const std::string& name, const std::string& stem,
                           std::vector<CapsuleTensor>* list) {
  CapsuleTensor t;
  t.name = name;
  t.dtype = view.dtype;
  t.dims = view.dims;
  const auto [known, is_new] = members_.emplace(KeyOf(t, view.data, view.bytes), stem + ".npy");
  t.member = known->second;
  list->push_back(t);
  if (!is_new) return {};
  Status written =
      WriteTensorMember(t, {static_cast<const std::byte*>(view.data), view.bytes}, &writer_);
  if (!written.ok()) members_.erase(known);
  return written;
}

Status ValueMembers::WriteStrings(const FlowValue& v, const std::string& name,
                                  const std::string& stem, std::vector<CapsuleTensor>* list) {
  CapsuleTensor t;
  t.name = name;
  t.dtype = DType::kString;
  t.dims = v.dims.vector();
  t.member = stem + ".json";
  list->push_back(t);
  // JSON holds UTF-8 alone; other texts go with each byte as a character.
  const bool utf8 = std::all_of(v.strings->begin(), v.strings->end(),
                                [](const std::string& s) { return IsUtf8(s); });
  std::vector<std::string> texts = *v.strings;
  for (std::string& s : texts) {
    if (!utf8) s = CharacterForByte(s);
  }
  const nlohmann::json j = {{"texts", texts}, {"bytes", !utf8}};
  return writer_.Add(t.member, j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Status ValueMembers::Write(const FlowValue& v, const std::string& name, const std::string& stem,
                           std::vector<CapsuleTensor>* list) {
  const auto group = [&](const char* kind, std::vector<int64_t> dims) {
    CapsuleTensor t;
    t.name = name;
    t.kind = kind;
    t.dtype = v.dtype;
    t.dims = std::move(dims);
    list->push_back(std::move(t));
  };
  switch (v.kind) {
    case FlowValue::Kind::kNone:
      return group(kNone, {}), Status();
    case FlowValue::Kind::kTensor:
      if (v.strings) return WriteStrings(v, name, stem, list);
      return Write(TensorView{v.dtype, v.dims.vector(), const_cast<std::byte*>(v.data), v.bytes},
                   name, stem, list);
    case FlowValue::Kind::kSequence:
      group(kSequence, {static_cast<int64_t>(v.elements->size())});
      break;
    case FlowValue::Kind::kMap:
      group(kMap, {});
      break;
    case FlowValue::Kind::kFunction:
      return Status(Code::kUnsupported,
                    fmt::format("value '{}' is a function, which is not recorded", name));
  }
  for (size_t i = 0; i < v.elements->size(); ++i) {
    GE_RETURN_IF_ERROR(Write((*v.elements)[i], fmt::format("{}[{}]", name, i),
                             fmt::format("{}.{}", stem, i), list));
  }
  return {};
}

Result<std::vector<FlowValue>> ReadValueMembers(const CapsuleReader& capsule,
                                                const std::vector<CapsuleTensor>& list) {
  std::vector<FlowValue> values;
  ListReader reader(capsule, list);
  while (!reader.done()) {
    GE_ASSIGN_OR_RETURN(values.emplace_back(), reader.Take(0));
  }
  return values;
}

}  // namespace ge
