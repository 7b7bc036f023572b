// Pins: their text, where they put a tensor, and each refusal. What steps make of them is a test of
// tests/e2e/training.
#include "passes/parallel/pins.h"

#include <gtest/gtest.h>

#include "passes/kit/refusal.h"
#include "passes/parallel/factors.h"

namespace ge::parallel {
namespace {

std::string RefusalOf(const std::string& text, const Mesh& mesh, const std::vector<int64_t>& dims) {
  try {
    for (const Pin& pin : ReadPins(text)) (void)PlacesOf(pin, mesh, dims);
    return {};
  } catch (const passes::Refusal& r) {
    return r.text;
  }
}

TEST(Pins, Read) {
  const std::vector<Pin> pins = ReadPins("fc.w=-,model|a=b=data*model+-");
  ASSERT_EQ(pins.size(), 2u);
  EXPECT_EQ(pins[0].name, "fc.w");
  EXPECT_EQ(pins[0].dims, (std::vector<std::string>{"-", "model"}));
  EXPECT_EQ(pins[1].name, "a=b");
  EXPECT_EQ(pins[1].dims, (std::vector<std::string>{"data*model", "-"}));
  EXPECT_TRUE(ReadPins("").empty());
  const Mesh mesh = Mesh::Of("data=2,model=3");
  EXPECT_EQ(PlacesOf(pins[0], mesh, {4, 6}), (Places{kWhole, 1}));
  EXPECT_EQ(PlacesOf(pins[1], mesh, {6, 6}), (Places{0, 0}));
  // An axis of one rank splits nothing.
  EXPECT_EQ(PlacesOf(pins[0], Mesh::Of("model=1"), {4, 6}), (Places{kWhole}));
}

TEST(Pins, Refused) {
  const Mesh mesh = Mesh::Of("data=2,model=3");
  for (const auto& [text, words] :
       {std::pair{"w", "write NAME=model,-"},
        {"=data,-", "write NAME=model,-"},
        {"w=modle,-", "no axis 'modle', wanted one of the mesh 'data=2,model=3'"},
        {"w=data", "it has 1 dims, wanted the 2"},
        {"w=-,-,-", "it has 3 dims, wanted the 2"},
        {"w=data,data", "given twice"},
        {"w=model*data,-", "out of order"},
        {"w=-,model", "dim 1 has 2 elements, too few to give some to each of 3 ranks"},
        {"w=data*model,-", "dim 0 has 4 elements, too few to give some to each of 6 ranks"}}) {
    const std::string said = RefusalOf(text, mesh, {4, 2});
    EXPECT_NE(said.find(words), std::string::npos) << text << ": " << said;
  }
  EXPECT_EQ(RefusalOf("w=data,-", mesh, {3, 2}), "");  // uneven is no fault
}

}  // namespace
}  // namespace ge::parallel
