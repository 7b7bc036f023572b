#include "ge/stage/pass_order.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

class NamedPass : public Pass {
 public:
  NamedPass(std::string name, std::vector<std::string> before = {},
            std::vector<std::string> after = {}, std::string plugin = "")
      : name_(std::move(name)),
        plugin_(std::move(plugin)),
        before_(std::move(before)),
        after_(std::move(after)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "does nothing"; }
  std::string_view plugin() const override { return plugin_; }
  std::vector<std::string> before() const override { return before_; }
  std::vector<std::string> after() const override { return after_; }
  Status Run(Transaction&, const PassContext&) override { return {}; }

 private:
  std::string name_, plugin_;
  std::vector<std::string> before_, after_;
};

template <typename... Args>
void Add(PassList* list, Args... args) {
  list->push_back(std::make_unique<NamedPass>(std::move(args)...));
}

using Names = std::vector<std::string>;

std::string InOrder(PassList list) {
  const Status s = OrderPasses(&list);
  if (!s.ok()) return s.message();
  std::string out;
  for (const auto& p : list) out += std::string(p->name()) + " ";
  return out;
}

TEST(PassOrder, WithoutWishesItStays) {
  PassList list;
  Add(&list, "c");
  Add(&list, "a");
  Add(&list, "b");
  EXPECT_EQ(InOrder(std::move(list)), "c a b ");
}

TEST(PassOrder, KeepsWishesAndElseTheOrderGiven) {
  PassList list;
  Add(&list, "a");
  Add(&list, "b");
  Add(&list, "c");
  Add(&list, "early", Names{"b"});
  Add(&list, "late", Names{}, Names{"not-there"});
  Add(&list, "between", Names{"c"}, Names{"early"});
  EXPECT_EQ(InOrder(std::move(list)), "a early b between c late ");
}

TEST(PassOrder, NamesTheCircle) {
  PassList list;
  Add(&list, "a");
  Add(&list, "x", Names{"y"}, Names{}, "acme");
  Add(&list, "y", Names{"z"});
  Add(&list, "z", Names{"x"});
  Add(&list, "waits", Names{}, Names{"z"});
  const std::string said = InOrder(std::move(list));
  EXPECT_NE(said.find("in a circle: "), std::string::npos) << said;
  EXPECT_NE(said.find("pass 'x' of plugin 'acme' before pass 'y'"), std::string::npos) << said;
  EXPECT_NE(said.find("pass 'y' before pass 'z'"), std::string::npos) << said;
  EXPECT_EQ(said.find("waits"), std::string::npos) << said;
}

TEST(PassOrder, AheadOfItself) {
  PassList list;
  Add(&list, "a", Names{"a"});
  EXPECT_EQ(InOrder(std::move(list)), "passes want to run in a circle: pass 'a' before pass 'a'");
}

TEST(PassOrder, TwoOfOneName) {
  PassList list;
  Add(&list, "a");
  Add(&list, "a", Names{}, Names{}, "acme");
  EXPECT_EQ(InOrder(std::move(list)),
            "pass 'a' of plugin 'acme' has the name of pass 'a'; load one of them, or rename it");
}

TEST(PassOrder, RunsBeforeOnlyWhatIsThere) {
  PassList others;
  Add(&others, "a");
  EXPECT_TRUE(RunsBefore(NamedPass("x", {"b", "a"}), others));
  EXPECT_FALSE(RunsBefore(NamedPass("x", {"b"}, {"a"}), others));
}

}  // namespace
}  // namespace ge
