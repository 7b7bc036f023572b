#include "tools/ge/capsule/reduce/fewest_nodes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ge/ir/walk.h"

namespace ge::tool {
namespace {

using Places = std::vector<size_t>;  // positions in Function::nodes, ascending

class Search {
 public:
  Search(const Function& function, NodeChoice whole, std::vector<ValueId> wrong,
         const FailureTest& test)
      : f_(function), def_(BuildDefUse(function)), test_(test), least_(std::move(whole)) {
    wrong_ = std::move(wrong);
  }

  NodeChoice Run() {
    if (!Halve()) {
      ShortenAtEnd();
      TakeNearest();
    }
    DropGroups();
    DropResults();
    return std::move(least_);
  }

 private:
  static Places PlacesOf(const std::vector<bool>& keep) {
    Places places;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) places.push_back(i);
    }
    return places;
  }

  NodeChoice ChoiceOf(const Places& places, std::vector<ValueId> results) const {
    NodeChoice choice{std::vector<bool>(f_.nodes.size(), false), std::move(results)};
    for (const size_t i : places) choice.keep[i] = true;
    return choice;
  }

  // What these nodes hand to others: an error that leaves the model leaves them here.
  std::vector<ValueId> HandedOn(const Places& places) const {
    const std::set<size_t> inside(places.begin(), places.end());
    std::vector<ValueId> out;
    for (const size_t i : places) {
      for (const ValueId v : f_.nodes[i].outputs) {
        if (v == 0) continue;
        bool is_read_here = false, is_read_outside = def_.result_uses[v] > 0;
        for (const Use& use : def_.uses[v]) {
          (inside.count(use.node_index) != 0 ? is_read_here : is_read_outside) = true;
        }
        if (is_read_outside || !is_read_here) out.push_back(v);
      }
    }
    return out;
  }

  // Of these nodes, those that the values need.
  Places ConeOf(const std::vector<ValueId>& values, const Places& places) const {
    std::set<ValueId> needed(values.begin(), values.end());
    Places cone;
    for (size_t i = places.size(); i-- > 0;) {
      const Node& n = f_.nodes[places[i]];
      if (std::none_of(n.outputs.begin(), n.outputs.end(),
                       [&](ValueId v) { return v != 0 && needed.count(v) != 0; })) {
        continue;
      }
      needed.insert(n.inputs.begin(), n.inputs.end());
      cone.push_back(places[i]);
    }
    std::reverse(cone.begin(), cone.end());
    return cone;
  }

  // The cone of the wrong value that needs the fewest nodes; all places where the run itself ended.
  Places SmallestCone(const Places& places) const {
    Places best = places;
    for (const ValueId v : wrong_) {
      Places cone = ConeOf({v}, places);
      if (!cone.empty() && cone.size() < best.size()) best = std::move(cone);
    }
    return best;
  }

  bool Fails(const NodeChoice& choice) {
    if (choice.size() == 0) return false;
    auto wrong = test_(choice);
    if (!wrong) return false;
    least_ = choice;
    wrong_ = *std::move(wrong);
    return true;
  }
  bool Fails(const Places& places) { return Fails(ChoiceOf(places, HandedOn(places))); }

  // Halves the nodes in their order: where the first half is right, the second one is taken to be
  // wrong without being asked. Ends at one node, which is. False where that one is right: the fault
  // takes several nodes, and least_ is the last choice that failed.
  bool Halve() {
    Places left = SmallestCone(PlacesOf(least_.keep));
    bool sure = left.size() == least_.size();
    while (left.size() > 1) {
      const auto middle = left.begin() + static_cast<ptrdiff_t>(left.size() / 2);
      const Places first(left.begin(), middle);
      sure = Fails(first);
      left = sure ? SmallestCone(first) : Places(middle, left.end());
      sure = sure && left.size() == first.size();
    }
    return left.size() == 1 && (sure || Fails(left));
  }

  // The last nodes that are not needed go, by halves; then what its last value does not need.
  void ShortenAtEnd() {
    const Places all = PlacesOf(least_.keep);
    size_t right = 0, wrong = all.size();  // so many of the first nodes are
    while (wrong - right > 1) {
      const size_t middle = (right + wrong) / 2;
      (Fails(Places(all.begin(), all.begin() + static_cast<ptrdiff_t>(middle))) ? wrong : right) =
          middle;
    }
    const Places places = PlacesOf(least_.keep);
    for (const ValueId v : std::vector<ValueId>(f_.nodes[places.back()].outputs)) {
      if (v != 0 && Fails(ChoiceOf(ConeOf({v}, places), {v}))) return;
    }
    for (const ValueId v : std::vector<ValueId>(wrong_)) {
      if (Fails(ChoiceOf(ConeOf({v}, places), {v}))) return;
    }
  }

  // By steps from the results towards the inputs.
  Places ByDistance() const {
    const Places places = PlacesOf(least_.keep);
    const std::set<size_t> inside(places.begin(), places.end());
    std::set<size_t> seen;
    Places order;
    const auto reach = [&](ValueId v) {
      const int32_t at = v == 0 ? -1 : def_.producer[v];
      if (at < 0 || inside.count(static_cast<size_t>(at)) == 0) return;
      if (seen.insert(static_cast<size_t>(at)).second) order.push_back(static_cast<size_t>(at));
    };
    for (const ValueId v : least_.results) reach(v);
    for (size_t i = 0; i < order.size(); ++i) {
      for (const ValueId v : f_.nodes[order[i]].inputs) reach(v);
    }
    return order;
  }

  // The fewest nodes around the results: 1, 2, 4 and so on, then between the last two.
  void TakeNearest() {
    const Places order = ByDistance();
    const std::vector<ValueId> results = least_.results;
    const auto fails = [&](size_t count) {
      Places places(order.begin(), order.begin() + static_cast<ptrdiff_t>(count));
      std::sort(places.begin(), places.end());
      return Fails(ChoiceOf(places, results));
    };
    size_t right = 0, wrong = 1;
    while (wrong < order.size() && !fails(wrong)) {
      right = wrong;
      wrong *= 2;
    }
    wrong = std::min(wrong, order.size());
    while (wrong > right + 1) {
      const size_t middle = (right + wrong) / 2;
      (fails(middle) ? wrong : right) = middle;
    }
  }

  // Takes nodes out, in ever smaller groups, until no single one can go.
  void DropGroups() {
    for (size_t size = least_.size() / 2; size > 0;) {
      const size_t before = least_.size();
      for (size_t at = 0; at < least_.size();) {
        Places places = PlacesOf(least_.keep);
        const auto from = places.begin() + static_cast<ptrdiff_t>(at);
        const auto to = places.begin() + static_cast<ptrdiff_t>(std::min(at + size, places.size()));
        places.erase(from, to);
        if (places.empty() || !FailsWithout(places)) at += size;
      }
      if (size > 1 || least_.size() == before) size /= 2;
    }
  }

  // The results that remain, or what then ends the nodes.
  bool FailsWithout(const Places& places) {
    std::vector<ValueId> results;
    for (const ValueId v : least_.results) {
      const int32_t at = def_.producer[v];
      if (std::binary_search(places.begin(), places.end(), static_cast<size_t>(at))) {
        results.push_back(v);
      }
    }
    if (results.empty()) return Fails(places);
    return Fails(ChoiceOf(ConeOf(results, places), results));
  }

  void DropResults() {
    const std::vector<ValueId> results = least_.results;
    if (results.size() < 2) return;
    const Places places = PlacesOf(least_.keep);
    for (const ValueId v : wrong_.empty() ? results : std::vector<ValueId>(wrong_)) {
      if (Fails(ChoiceOf(ConeOf({v}, places), {v}))) return;
    }
  }

  const Function& f_;
  const DefUse def_;
  const FailureTest& test_;
  NodeChoice least_;            // the last that failed: each is smaller than the one before
  std::vector<ValueId> wrong_;  // its
};

}  // namespace

size_t NodeChoice::size() const {
  return static_cast<size_t>(std::count(keep.begin(), keep.end(), true));
}

NodeChoice FewestNodes(const Function& function, NodeChoice whole, std::vector<ValueId> wrong,
                       const FailureTest& test) {
  return Search(function, std::move(whole), std::move(wrong), test).Run();
}

}  // namespace ge::tool
