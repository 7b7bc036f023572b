// What plans of a shape class cost beside those of a search of their own: 16 shapes of each network
// in one session, the smallest first and the largest first, by the prices that engines ask.
// GE_TEST_FULL=1 adds gpt2_small.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "ge/compile/decompose/market_cover.h"
#include "ge/place/from_offers.h"
#include "ge/session/session.h"

namespace ge::test {
namespace {

struct Network {
  const char* file;
  DType dtype;
  std::vector<int64_t> (*dims)(int64_t size);
  std::vector<int64_t> sizes;
};

std::vector<int64_t> Lengths() {
  return {1, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128};
}

const std::vector<Network>& Networks() {
  static const std::vector<Network> all = {
      {"ppocr_rec",
       DType::kFloat,
       [](int64_t s) {
         return std::vector<int64_t>{1, 3, 48, s};
       },
       {160, 192, 224, 256, 288, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 704}},
      {"ppocr_det",
       DType::kFloat,
       [](int64_t s) {
         return std::vector<int64_t>{1, 3, s, s};
       },
       {320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 672, 704, 736, 768, 800, 832}},
      {"minilm", DType::kInt64,
       [](int64_t s) {
         return std::vector<int64_t>{1, s};
       },
       Lengths()},
      {"gpt2_small", DType::kInt64,
       [](int64_t s) {
         return std::vector<int64_t>{1, s};
       },
       Lengths()},
  };
  return all;
}

// The class's cover at the prices of these dims; nothing where its offers are not all made here.
std::optional<double> PriceHere(const Compiled& by_class, const Compiled& searched) {
  const Function& f = searched.graph.fn(searched.fn);
  PlaceOptions options;
  Plan plan = searched.plan;
  options.cover = CoverAmong(CoverOfPlan(by_class.plan, f), plan, f, searched.offers);
  options.cover_method = "class";
  if (options.cover.empty()) return std::nullopt;
  const Status placed = Place(searched.graph, f, searched.offers, {}, options, &plan);
  if (!placed.ok() || plan.place_method != "class") return std::nullopt;
  return plan.predicted_ns;
}

template <int64_t... kRest>
std::vector<int64_t> Batch(int64_t size) {
  return {size, kRest...};
}

// From one row, image or token to a few: a looser class, whose covers are taken unseen.
const std::vector<Network>& FromOne() {
  static const std::vector<int64_t> few = {1, 2, 3, 4, 8, 16, 32};
  static const std::vector<Network> all = {
      {"mlp", DType::kFloat, Batch<784>, few},
      {"lenet", DType::kFloat, Batch<1, 28, 28>, few},
      {"mobilenetv2", DType::kFloat, Batch<3, 224, 224>, few},
      {"squeezenet", DType::kFloat, Batch<3, 224, 224>, few},
      {"minilm", DType::kInt64, Batch<16>, few},
      {"minilm", DType::kInt64,
       [](int64_t s) {
         return std::vector<int64_t>{1, s};
       },
       few},
      {"lstm", DType::kFloat,
       [](int64_t s) {
         return std::vector<int64_t>{16, s, 128};
       },
       few},
      {"resnet50", DType::kFloat, Batch<3, 224, 224>, few},
      {"gpt2_small", DType::kInt64,
       [](int64_t s) {
         return std::vector<int64_t>{1, s};
       },
       few},
  };
  return all;
}

void Regret(const Network& net, bool from_above, double* sum, int* count, double* worst) {
  const std::string path = std::string("build/models/") + net.file + ".onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  SessionOptions options;
  auto engines = ParseEngineList("native,onednn,openblas,ref");
  ASSERT_TRUE(engines.ok());
  options.engines = *engines;
  auto session = Session::Create(std::move(options));
  ASSERT_TRUE(session.ok() && (*session)->LoadFile(path).ok());
  int searches = 0, unpriced = 0;
  double mean = 0, most = 0;
  std::vector<int64_t> sizes = net.sizes;
  if (from_above) std::reverse(sizes.begin(), sizes.end());
  for (int64_t size : sizes) {
    TensorView in;
    in.dtype = net.dtype;
    in.dims = net.dims(size);
    std::vector<std::byte> data(static_cast<size_t>(*ByteCount(TensorType(in.dtype, in.dims))));
    in.data = data.data();
    in.bytes = data.size();
    const auto by_class = (*session)->Compile("", std::span(&in, 1));
    const auto searched = (*session)->CompileApart("", std::span(&in, 1), BuildOptions());
    ASSERT_TRUE(by_class.ok() && searched.ok()) << by_class.status().ToString();
    const auto price = PriceHere(**by_class, **searched);
    searches += (*by_class)->plan.searches > 0;
    unpriced += !price;
    const double ratio = price ? *price / (*searched)->plan.predicted_ns : 1;
    mean += ratio / static_cast<double>(net.sizes.size());
    most = std::max(most, ratio);
    *sum += ratio;
    ++*count;
  }
  std::printf("%-12s %zu shapes %s, %2d searched, %d not to be compared: mean %.4f, worst %.4f\n",
              net.file, sizes.size(), from_above ? "from above" : "from below", searches, unpriced,
              mean, most);
  *worst = std::max(*worst, most);
  EXPECT_LT(unpriced, 8) << net.file;
}

TEST(ShapeClass, PlansCostLittleMoreThanThoseOfASearchOfTheirOwn) {
  double sum = 0, worst = 0;
  int count = 0;
  for (const Network& net : Networks()) {
    if (std::string(net.file) == "gpt2_small" && !std::getenv("GE_TEST_FULL")) continue;
    for (const bool from_above : {false, true}) {
      Regret(net, from_above, &sum, &count, &worst);
      if (IsSkipped() || HasFatalFailure()) return;
    }
  }
  std::printf("of all: mean %.4f, worst %.4f\n", sum / count, worst);
  EXPECT_LE(sum / count, 1.03);
  EXPECT_LE(worst, 1.10);
}

TEST(ShapeClass, AFewCostLittleMoreByTheCoverOfOne) {
  double sum = 0, worst = 0;
  int count = 0;
  for (const Network& net : FromOne()) {
    const bool large = net.file == std::string("gpt2_small") || net.file == std::string("resnet50");
    if (large && !std::getenv("GE_TEST_FULL")) continue;
    Regret(net, /*from_above=*/false, &sum, &count, &worst);
    if (IsSkipped() || HasFatalFailure()) return;
  }
  std::printf("of all: mean %.4f, worst %.4f\n", sum / count, worst);
  EXPECT_LE(sum / count, 1.03);
  EXPECT_LE(worst, 1.10);
}

}  // namespace
}  // namespace ge::test
