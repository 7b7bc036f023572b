// Graphs in which the sizes that stay the same are bound: when they are made, and that plans from
// them are those that the model's graph gives.
#include "ge/session/part_bound.h"

#include <gtest/gtest.h>

#include <string>

#include "frontend/load.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/session/session.h"

namespace ge::test {
namespace {

using PartShapes = PartBound::Shapes;

// A branch that K decides, and shape arithmetic of both sizes.
const char* const kBranchBySize = R"(ge 1
opset "" 28
const two : i64[1] = [2]
const three : i64[] = 3
const axis : i64[] = 1
fn wide() -> (z) {
  z: f32[1] = Constant() {value_floats=[2.0]}
}
fn narrow() -> (z) {
  z: f32[1] = Constant() {value_floats=[-1.0]}
}
fn main(x: f32[N,K]) -> (y) {
  s: i64[2] = Shape(x)
  k: i64[] = Gather(s, axis)
  b: bool[] = Greater(k, three)
  z: f32[1] = If(b) calls {then_branch=wide, else_branch=narrow}
  m = Mul(x, z)
  t = Transpose(m) {perm=[1, 0]}
  r = Reshape(t, s)
  y = Add(r, x)
}
entry infer "main" = main
)";

Result<Graph> LoadedGraph(const std::string& text) {
  GE_ASSIGN_OR_RETURN(LoadedModel model, LoadModelBytes(text, Format::kText));
  FillDefaults(&model.graph);
  GE_RETURN_IF_ERROR(Infer(&model.graph));
  return std::move(model.graph);
}

Result<std::unique_ptr<Session>> OpenText(const std::string& text) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList("native,ref"));
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(text, Format::kText));
  return session;
}

TEST(PartBound, IsMadeOnceAnotherSignatureShowsWhatChanges) {
  auto model = LoadedGraph(kBranchBySize);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const Entry& entry = model->entries[0];
  PartBound part;
  int folds = 0;
  const PartBound::Fold fold = [&](Graph* g) {
    ++folds;
    EXPECT_EQ(g->entries.size(), 1u);
    return Status();
  };
  const auto from = [&](const PartShapes& shapes) {
    return *part.For(*model, entry, shapes, fold);
  };
  EXPECT_EQ(from({{2, 5}}), &*model);
  EXPECT_EQ(from({{2, 5}}), &*model) << "nothing is known to change";
  const Graph* rows = from({{3, 5}});
  ASSERT_NE(rows, &*model);
  const Type x = rows->fn(entry.fn).value(rows->fn(entry.fn).params[0]).type;
  EXPECT_FALSE(x.dims[0].known());
  EXPECT_EQ(x.dims[1], KnownDim(5));
  EXPECT_EQ(from({{7, 5}}), rows);
  EXPECT_EQ(folds, 1);
  EXPECT_EQ(from({{7, 6}}), &*model) << "nothing stays the same any more";
  EXPECT_EQ(from({{2, 5}}), &*model);
  EXPECT_EQ(part.made(), 1u);
}

TEST(PartBound, WhereAPassFailsTheModelStays) {
  auto model = LoadedGraph(kBranchBySize);
  ASSERT_TRUE(model.ok());
  const Entry& entry = model->entries[0];
  PartBound part;
  const PartBound::Fold fold = [](Graph*) { return Status(Code::kInternal, "wants all sizes"); };
  for (const int64_t n : {2, 3, 4}) EXPECT_EQ(*part.For(*model, entry, {{n, 5}}, fold), &*model);
  EXPECT_EQ(part.made(), 0u);
}

TEST(PartBound, OpenSizesKeepWhatTheModelSaysAndOthersAreChecked) {
  auto graph = LoadedGraph(kBranchBySize);
  ASSERT_TRUE(graph.ok());
  Graph bound = *graph;
  ASSERT_TRUE(BindInPart(&bound, "main", {{kOpenSize, 5}}).ok());
  EXPECT_FALSE(bound.fn(bound.entries[0].fn).value(1).type.is_static());
  Status status = BindInPart(&(bound = *graph), "main", {{-2, 5}});
  EXPECT_NE(status.message().find("sizes are 0 or more"), std::string::npos) << status.ToString();
  status = Bind(&(bound = *graph), "main", {{kOpenSize, 5}});
  EXPECT_NE(status.message().find("sizes are 0 or more"), std::string::npos) << status.ToString();
  auto unranked = LoadedGraph(R"(ge 1
opset "" 28
fn main(x: f32[?]) -> (y) {
  y = Neg(x)
}
entry infer "main" = main
)");
  ASSERT_TRUE(unranked.ok()) << unranked.status().ToString();
  status = BindInPart(&*unranked, "main", {{kOpenSize, 5}});
  EXPECT_NE(status.message().find("an open size wants a declared rank"), std::string::npos)
      << status.ToString();
}

// The same numbers for nodes and values, or no plan would be like another.
TEST(PartBound, PlansAreThoseOfTheModelsGraph) {
  for (const bool by_rows : {true, false}) {
    auto together = OpenText(kBranchBySize);
    ASSERT_TRUE(together.ok()) << together.status().ToString();
    for (const int64_t size : {4, 6, 2, 9}) {
      const std::vector<int64_t> dims =
          by_rows ? std::vector<int64_t>{size, 5} : std::vector<int64_t>{5, size};
      std::vector<float> x(static_cast<size_t>(size * 5), 0.5f);
      const TensorView in{DType::kFloat, dims, x.data(), x.size() * sizeof(float)};
      auto alone = OpenText(kBranchBySize);
      auto a = (*together)->Compile("", {&in, 1}), b = (*alone)->Compile("", {&in, 1});
      ASSERT_TRUE(a.ok() && b.ok()) << a.status().ToString();
      EXPECT_EQ((*a)->shape_class, (*b)->shape_class) << by_rows << " " << size;
      EXPECT_EQ((*a)->nodes, (*b)->nodes);
      TensorView ours, wanted;
      ASSERT_TRUE((*together)->Run("", {&in, 1}, {&ours, 1}).ok());
      ASSERT_TRUE((*alone)->Run("", {&in, 1}, {&wanted, 1}).ok());
      const auto* y = static_cast<const float*>(ours.data);
      const float z = !by_rows && size <= 3 ? -0.5f : 1.0f;
      for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], z + 0.5f) << size;
      EXPECT_EQ(std::string(static_cast<const char*>(ours.data), ours.bytes),
                std::string(static_cast<const char*>(wanted.data), wanted.bytes));
      FreeAligned()(static_cast<std::byte*>(ours.data));
      FreeAligned()(static_cast<std::byte*>(wanted.data));
    }
  }
}

}  // namespace
}  // namespace ge::test
