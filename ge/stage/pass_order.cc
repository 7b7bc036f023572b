#include "ge/stage/pass_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace ge {
namespace {

using Edges = std::vector<std::set<size_t>>;  // by pass: those that come ahead of it

// Places each pass in turn, and ahead of it what has to be there.
class Placer {
 public:
  Placer(const PassList& passes, const Edges& ahead)
      : passes_(passes), ahead_(ahead), state_(passes.size(), kNew) {}

  Status Place(size_t i) {
    if (state_[i] == kPlaced) return {};
    if (state_[i] == kWaiting) return Circle(i);
    state_[i] = kWaiting;
    path_.push_back(i);
    for (const size_t first : ahead_[i]) GE_RETURN_IF_ERROR(Place(first));
    path_.pop_back();
    state_[i] = kPlaced;
    order.push_back(i);
    return {};
  }

  std::vector<size_t> order;

 private:
  enum State : uint8_t { kNew, kWaiting, kPlaced };

  // Each pass of the path waits for the next one, and the last one for `i`.
  Status Circle(size_t i) const {
    std::string text = PassLabel(*passes_[i]);
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      text += " before " + PassLabel(*passes_[*it]);
      if (*it == i) break;
    }
    return Status(Code::kInvalidArgument, "passes want to run in a circle: " + text);
  }

  const PassList& passes_;
  const Edges& ahead_;
  std::vector<State> state_;
  std::vector<size_t> path_;
};

}  // namespace

Status OrderPasses(PassList* passes) {
  std::map<std::string, size_t, std::less<>> at;
  for (size_t i = 0; i < passes->size(); ++i) {
    const auto [known, fresh] = at.emplace((*passes)[i]->name(), i);
    if (fresh) continue;
    return Status(Code::kInvalidArgument, PassLabel(*(*passes)[i]) + " has the name of " +
                                              PassLabel(*(*passes)[known->second]) +
                                              "; load one of them, or rename it");
  }
  Edges ahead(passes->size());
  for (size_t i = 0; i < passes->size(); ++i) {
    for (const std::string& name : (*passes)[i]->before()) {
      if (const auto it = at.find(name); it != at.end()) ahead[it->second].insert(i);
    }
    for (const std::string& name : (*passes)[i]->after()) {
      if (const auto it = at.find(name); it != at.end()) ahead[i].insert(it->second);
    }
  }
  Placer placer(*passes, ahead);
  for (size_t i = 0; i < passes->size(); ++i) GE_RETURN_IF_ERROR(placer.Place(i));
  PassList ordered;
  for (const size_t i : placer.order) ordered.push_back(std::move((*passes)[i]));
  *passes = std::move(ordered);
  return {};
}

bool RunsBefore(const Pass& pass, const PassList& others) {
  const std::vector<std::string> before = pass.before();
  return std::any_of(before.begin(), before.end(), [&](const std::string& name) {
    return std::any_of(others.begin(), others.end(),
                       [&](const auto& other) { return other->name() == name; });
  });
}

}  // namespace ge
