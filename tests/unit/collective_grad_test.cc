// Gradients of the collectives, as rules of parallel.so build them, run by the engine `ranks`:
// those of the sum of what all ranks compute, against differences of that sum.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test::slopes {
namespace {

using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

// One collective over `a=N`, of each rank's dims.
struct Collective {
  const char* op;
  const char* attrs;
  int64_t ranks;
  std::vector<Dims> in, out;  // by rank
};

int64_t CountOf(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

std::string TypeOf(const Dims& dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "f64[" + text + "]";
}

// The sum of the sines of weighted elements, so that every element has a slope of its own.
std::string TextOf(const Collective& c, int64_t rank) {
  const auto r = static_cast<size_t>(rank);
  std::string weights;
  for (int64_t i = 0; i < CountOf(c.out[r]); ++i) {
    const double w = 0.3 + std::cos(static_cast<double>(7 * i + 13 * rank));
    weights += (i == 0 ? "" : ", ") + std::to_string(w);
  }
  return "ge 1\nopset \"\" 28\nopset \"comm\" 1\nconst w : " + TypeOf(c.out[r]) + " = [" + weights +
         "]\nfn main(x: " + TypeOf(c.in[r]) + ") -> (loss) {\n  a = Sin(x)\n  y = comm." + c.op +
         "(a) {" + c.attrs + ", mesh=\"a=" + std::to_string(c.ranks) +
         "\", axes=\"a\", rank=" + std::to_string(rank) +
         "}\n  b = Mul(y, w)\n  c = Sin(b)\n  loss = ReduceSum(c) {keepdims=0}\n}\n"
         "entry infer \"main\" = main\n";
}

class Ranks {
 public:
  explicit Ranks(const Collective& c) : c_(c) {
    for (int64_t r = 0; r < c.ranks; ++r) {
      auto graph = ParseText(TextOf(c, r), "rank.gt");
      auto engines = ParseEngineList("ref," + SamplesFolder() + "ranks.so:wait=60");
      auto passes = ParsePassRequests("grad:of=loss;wrt=x");
      if (!graph.ok() || !engines.ok() || !passes.ok()) return;
      SessionOptions o;
      o.engines = *engines;
      o.plugins = "grad,parallel";
      o.passes = *passes;
      auto session = Session::Create(std::move(o));
      said_ = session.status().ToString();
      if (!session.ok()) return;
      said_ = (*session)->LoadGraph(*std::move(graph)).ToString();
      if (said_ != "OK") return;
      sessions_.push_back(*std::move(session));
    }
  }
  const std::string& said() const { return said_; }
  // Of these inputs by rank the sum of all losses; grads: by rank, where it is not NULL.
  double Loss(std::vector<Numbers>& x, std::vector<Numbers>* grads) {
    Numbers losses(sessions_.size());
    std::vector<std::string> said(sessions_.size());
    std::vector<std::thread> threads;
    for (size_t r = 0; r < sessions_.size(); ++r) {
      threads.emplace_back([&, r] {
        const std::vector<TensorView> in = {
            {DType::kDouble, c_.in[r], x[r].data(), x[r].size() * sizeof(double)}};
        std::vector<TensorView> out(grads == nullptr ? 1 : 2);
        out[0].data = &losses[r];
        out[0].bytes = sizeof(double);
        if (grads != nullptr) {
          out[1].data = (*grads)[r].data();
          out[1].bytes = (*grads)[r].size() * sizeof(double);
        }
        said[r] = sessions_[r]->Run(grads == nullptr ? "main" : "grad", in, out).ToString();
      });
    }
    for (std::thread& t : threads) t.join();
    double sum = 0;
    for (size_t r = 0; r < sessions_.size(); ++r) {
      sum += losses[r];
      if (said[r] != "OK") said_ = said[r];
    }
    return sum;
  }

 private:
  const Collective& c_;
  std::string said_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

std::vector<Numbers> Inputs(const Collective& c) {
  std::vector<Numbers> x;
  for (int64_t r = 0; r < c.ranks; ++r) {
    x.emplace_back();
    for (int64_t i = 0; i < CountOf(c.in[static_cast<size_t>(r)]); ++i) {
      x.back().push_back(std::sin(static_cast<double>(11 * i + 5 * r + 1)));
    }
  }
  return x;
}

void ExpectSlopes(const Collective& c) {
  SCOPED_TRACE(std::string(c.op) + " {" + c.attrs + "} of " + std::to_string(c.ranks));
  Ranks ranks(c);
  ASSERT_EQ(ranks.said(), "OK");
  std::vector<Numbers> x = Inputs(c), grads = x;
  (void)ranks.Loss(x, &grads);
  ASSERT_EQ(ranks.said(), "OK");
  constexpr double kStep = 1e-5;
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t i = 0; i < x[r].size(); ++i) {
      const double at = x[r][i];
      x[r][i] = at + kStep;
      const double more = ranks.Loss(x, nullptr);
      x[r][i] = at - kStep;
      const double less = ranks.Loss(x, nullptr);
      x[r][i] = at;
      // Differences lose half of the digits.
      EXPECT_NEAR(grads[r][i], (more - less) / (2 * kStep), 1e-8) << "rank " << r << ", " << i;
    }
  }
  EXPECT_EQ(ranks.said(), "OK");
}

TEST(CollectiveGrad, AllReduce) {
  for (const char* how : {"reduction=\"sum\"", "reduction=\"max\"", "reduction=\"min\""}) {
    ExpectSlopes({"AllReduce", how, 2, {{2, 3}, {2, 3}}, {{2, 3}, {2, 3}}});
    ExpectSlopes({"AllReduce", how, 3, {{4}, {4}, {4}}, {{4}, {4}, {4}}});
  }
}

// Shares of 5 over 3 ranks are 2, 2, 1; of 4 they are 2, 2 and none.
TEST(CollectiveGrad, AllGather) {
  const Dims whole = {5, 2}, four = {3, 4};
  ExpectSlopes({"AllGather", "dim=0, size=5", 3, {{2, 2}, {2, 2}, {1, 2}}, {whole, whole, whole}});
  ExpectSlopes({"AllGather", "dim=1, size=4", 3, {{3, 2}, {3, 2}, {3, 0}}, {four, four, four}});
}

TEST(CollectiveGrad, ReduceScatter) {
  const Dims whole = {5, 2}, four = {3, 4};
  for (const char* how : {"sum", "max", "min"}) {
    const std::string first = std::string("dim=0, reduction=\"") + how + "\"";
    const std::string second = std::string("dim=1, reduction=\"") + how + "\"";
    ExpectSlopes(
        {"ReduceScatter", first.c_str(), 3, {whole, whole, whole}, {{2, 2}, {2, 2}, {1, 2}}});
    ExpectSlopes(
        {"ReduceScatter", second.c_str(), 3, {four, four, four}, {{3, 2}, {3, 2}, {3, 0}}});
  }
}

TEST(CollectiveGrad, AllToAll) {
  ExpectSlopes({"AllToAll",
                "gather_dim=0, size=5, split_dim=1",
                3,
                {{2, 4}, {2, 4}, {1, 4}},
                {{5, 2}, {5, 2}, {5, 0}}});
  ExpectSlopes(
      {"AllToAll", "gather_dim=1, size=3, split_dim=0", 2, {{3, 2}, {3, 1}}, {{2, 3}, {1, 3}}});
}

// The slope of a greatest that two ranks have goes to both, half each.
TEST(CollectiveGrad, ExtremesThatAreEqual) {
  const Collective c = {"AllReduce", "reduction=\"max\"", 2, {{2}, {2}}, {{2}, {2}}};
  Ranks ranks(c);
  ASSERT_EQ(ranks.said(), "OK");
  std::vector<Numbers> alike = {{0.25, 0.5}, {0.25, 0.25}}, apart = {{0.25, 0.5}, {0.125, 0.25}};
  std::vector<Numbers> both = alike, one = apart;
  (void)ranks.Loss(alike, &both);
  (void)ranks.Loss(apart, &one);
  ASSERT_EQ(ranks.said(), "OK");
  EXPECT_DOUBLE_EQ(both[0][0], one[0][0] / 2);
  EXPECT_DOUBLE_EQ(both[1][0], one[0][0] / 2);
  EXPECT_NE(one[0][0], 0);
  EXPECT_EQ(one[1][0], 0);
  EXPECT_EQ(one[1][1], 0);
}

}  // namespace
}  // namespace ge::test::slopes
