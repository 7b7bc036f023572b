#include "tools/ge/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace ge::tool {
namespace {

template <class T>
void Compare(const TensorView& out, const TensorView& exact, nlohmann::json* j) {
  const auto *p = static_cast<const T*>(out.data), *q = static_cast<const T*>(exact.data);
  double greatest = 0, largest = 0;
  uint64_t unlike = 0;
  for (uint64_t i = 0; i < out.bytes / sizeof(T); ++i) {
    if (std::isfinite(q[i])) largest = std::max(largest, std::fabs(double{q[i]}));
    if (std::isfinite(p[i]) && std::isfinite(q[i])) {
      greatest = std::max(greatest, std::fabs(double{p[i]} - double{q[i]}));
    } else if (!(p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i])))) {
      ++unlike;
    }
  }
  (*j)["greatest"] = greatest;
  (*j)["largest"] = largest;
  (*j)["unlike"] = unlike;
  // A difference where all is zero has no size to be held against.
  (*j)["relative"] = greatest == 0 ? nlohmann::json(0)
                     : largest > 0 ? nlohmann::json(greatest / largest)
                                   : nlohmann::json();
}

// Of types whose elements are equal or not; those below a byte count by bytes.
void CountDiffering(const TensorView& out, const TensorView& exact, nlohmann::json* j) {
  const uint64_t width = std::max<uint64_t>(1, static_cast<uint64_t>(DTypeBits(out.dtype)) / 8);
  const auto *p = static_cast<const char*>(out.data), *q = static_cast<const char*>(exact.data);
  uint64_t differing = 0;
  for (uint64_t i = 0; i + width <= out.bytes; i += width) {
    differing += std::memcmp(p + i, q + i, width) != 0 ? 1 : 0;
  }
  (*j)["differing"] = differing;
  (*j)["elements"] = out.bytes / width;
}

}  // namespace

nlohmann::json AccuracyOf(const std::vector<Tensor>& outputs, const std::vector<Tensor>& exact) {
  nlohmann::json all = nlohmann::json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView &out = outputs[i].view, &other = exact[i].view;
    nlohmann::json j = {{"output", outputs[i].name}};
    if (!outputs[i].kind.empty() || !exact[i].kind.empty()) {
      j["kind"] = outputs[i].kind;
      j["differing"] = outputs[i].text != exact[i].text ? 1 : 0;
      j["elements"] = 1;
    } else if (out.dims != other.dims || out.dtype != other.dtype || out.bytes != other.bytes) {
      j["dims"] = {out.dims, other.dims};
    } else if (out.dtype == DType::kFloat) {
      Compare<float>(out, other, &j);
    } else if (out.dtype == DType::kDouble) {
      Compare<double>(out, other, &j);
    } else {
      CountDiffering(out, other, &j);
    }
    all.push_back(std::move(j));
  }
  return all;
}

void PrintAccuracy(const nlohmann::json& accuracy) {
  fmt::print("against float32\n");
  for (const auto& j : accuracy) {
    const auto name = j["output"].get<std::string>();
    if (j.contains("dims")) {
      fmt::print("  {:<24} other dims\n", name);
    } else if (j.contains("differing")) {
      fmt::print("  {:<24} {} of {} elements differ\n", name, j["differing"].get<uint64_t>(),
                 j["elements"].get<uint64_t>());
    } else {
      const auto unlike = j["unlike"].get<uint64_t>();
      fmt::print(
          "  {:<24} differs by at most {:.3g}, {} of the largest ({:.3g}){}\n", name,
          j["greatest"].get<double>(),
          j["relative"].is_null() ? "any part" : fmt::format("{:.3g}", j["relative"].get<double>()),
          j["largest"].get<double>(),
          unlike > 0 ? fmt::format("; {} are infinite or NaN in one alone", unlike) : "");
    }
  }
}

}  // namespace ge::tool
