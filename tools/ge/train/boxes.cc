#include "tools/ge/train/boxes.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace ge::tool {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostElements = int64_t{1} << 48;

bool IsSize(const Json& j) {
  return j.is_number_unsigned() && j.get<uint64_t>() <= static_cast<uint64_t>(kMostElements);
}

// Elements from one step along a dim to the next.
std::vector<int64_t> Strides(const std::vector<int64_t>& size) {
  std::vector<int64_t> strides(size.size(), 1);
  for (size_t d = size.size(); d-- > 1;) strides[d - 1] = strides[d] * size[d];
  return strides;
}

}  // namespace

Box Box::Whole(const std::vector<int64_t>& dims) {
  return {std::vector<int64_t>(dims.size(), 0), dims};
}

int64_t Box::count() const {
  int64_t n = 1;
  for (const int64_t s : size) n *= s;
  return n;
}

Json BoxJson(const Box& box) {
  Json j = Json::array();
  for (size_t d = 0; d < box.size.size(); ++d) j.push_back({box.first[d], box.size[d]});
  return j;
}

std::optional<std::vector<int64_t>> DimsOf(const Json& j) {
  if (!j.is_array() || !std::all_of(j.begin(), j.end(), IsSize)) return std::nullopt;
  const auto dims = j.get<std::vector<int64_t>>();
  int64_t left = kMostElements;
  for (const int64_t d : dims) left /= std::max<int64_t>(d, 1);
  return left > 0 ? std::optional(dims) : std::nullopt;
}

std::optional<Box> BoxOf(const Json& j, const std::vector<int64_t>& dims) {
  if (!j.is_array() || j.size() != dims.size()) return std::nullopt;
  Box box;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto part = DimsOf(j[d]);
    if (!part || part->size() != 2 || (*part)[0] > dims[d] - (*part)[1]) return std::nullopt;
    box.first.push_back((*part)[0]);
    box.size.push_back((*part)[1]);
  }
  return box;
}

Result<StateBoxes> BoxesOfStates(const std::string& metadata) {
  const Json j = Json::parse(metadata, nullptr, false);
  const auto bad = [] {
    return Status(Code::kInternal, "the pass parallel left no boxes of states that can be read");
  };
  if (!j.is_object() || !j.contains("states") || !j["states"].is_object() || !j.contains("rank")) {
    return bad();
  }
  StateBoxes boxes;
  for (const auto& [name, state] : j["states"].items()) {
    const auto dims = DimsOf(state.value("dims", Json()));
    const auto box = dims ? BoxOf(state.value("box", Json()), *dims) : std::nullopt;
    const Json holder = state.value("holder", Json());
    if (!box || !holder.is_number_unsigned()) return bad();
    boxes[name] = {*dims, *box, holder == j["rank"]};
  }
  return boxes;
}

int64_t CopyShared(const Box& have, const std::byte* from, const Box& want, std::byte* to,
                   uint64_t bytes) {
  const size_t rank = want.size.size();
  Box both;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t first = std::max(have.first[d], want.first[d]);
    const int64_t end = std::min(have.first[d] + have.size[d], want.first[d] + want.size[d]);
    if (end <= first) return 0;
    both.first.push_back(first);
    both.size.push_back(end - first);
  }
  const int64_t all = both.count();
  if (to == nullptr) return all;
  const int64_t row = rank == 0 ? 1 : both.size[rank - 1];
  const std::vector<int64_t> out_of = Strides(have.size), into = Strides(want.size);
  std::vector<int64_t> at(rank, 0);
  for (int64_t done = 0; done < all; done += row) {
    int64_t a = 0, b = 0;
    for (size_t d = 0; d < rank; ++d) {
      a += (both.first[d] + at[d] - have.first[d]) * out_of[d];
      b += (both.first[d] + at[d] - want.first[d]) * into[d];
    }
    std::memcpy(to + static_cast<uint64_t>(b) * bytes, from + static_cast<uint64_t>(a) * bytes,
                static_cast<uint64_t>(row) * bytes);
    for (size_t d = rank; d-- > 1;) {  // the next row
      if (++at[d - 1] < both.size[d - 1]) break;
      at[d - 1] = 0;
    }
  }
  return all;
}

}  // namespace ge::tool
