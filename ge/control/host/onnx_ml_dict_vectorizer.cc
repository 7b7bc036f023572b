#include <algorithm>
#include <cstring>

#include "ge/control/maps.h"

namespace ge {
namespace {

// Where each key of the vocabulary stands in the map; -1 where it is not.
template <typename Key>
std::vector<int64_t> PlacesOfKeys(const std::vector<Key>& keys, const std::vector<Key>& words) {
  std::map<Key, int64_t> at;
  for (size_t i = 0; i < keys.size(); ++i) at.emplace(keys[i], static_cast<int64_t>(i));
  std::vector<int64_t> places;
  for (const Key& word : words) {
    const auto found = at.find(word);
    places.push_back(found == at.end() ? -1 : found->second);
  }
  return places;
}

// Keys that the vocabulary does not have are left out.
Status RunDictVectorizer(HostCall& c) {
  const auto& words = TextList(c.node, "string_vocabulary");
  const bool text = !words.empty();
  GE_ASSIGN_OR_RETURN(const auto* map, KeysAndValues(c, text ? DType::kString : DType::kInt64));
  const FlowValue &keys = (*map)[0], &values = (*map)[1];
  const std::vector<int64_t> places =
      text ? PlacesOfKeys(*keys.strings, words)
           : PlacesOfKeys(IntsOf(keys), AttrInts(c.node, "int64_vocabulary"));
  const FlowDims dims = {1, static_cast<int64_t>(places.size())};
  if (values.dtype == DType::kString) {
    std::vector<std::string> out;
    for (const int64_t at : places) {
      out.push_back(at < 0 ? std::string() : (*values.strings)[static_cast<size_t>(at)]);
    }
    return c.pool->NewStrings(dims, std::move(out), &c.outputs[0]);
  }
  const auto size = static_cast<uint64_t>(DTypeBits(values.dtype)) / 8;
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(values.dtype, dims, &c.outputs[0], &to));
  std::memset(to, 0, c.outputs[0].bytes);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    std::memcpy(to + i * size, values.data + static_cast<uint64_t>(places[i]) * size, size);
  }
  return {};
}

}  // namespace

GE_HOST_OP(onnx_ml_dict_vectorizer) = {"ai.onnx.ml", "DictVectorizer", RunDictVectorizer};

}  // namespace ge
