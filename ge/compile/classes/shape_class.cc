#include "ge/compile/classes/shape_class.h"

#include <algorithm>
#include <cmath>

#include "ge/compile/decompose/structure_hash.h"

namespace ge {
namespace {

// How far apart two lists of dims are, 0 counting as 1; infinite where they are not as many.
double Apart(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const auto at_least_one = [](int64_t d) {
      return static_cast<double>(std::max<int64_t>(d, 1));
    };
    sum += std::abs(std::log2(at_least_one(a[i]) / at_least_one(b[i])));
  }
  return sum;
}

uint64_t Key(const Graph& bound, FunctionId fn, int64_t most) {
  const Function& f = bound.fn(fn);
  StructureHash hash;
  hash.Add(f.name);
  hash.Add(static_cast<uint64_t>(most));
  for (const Value& v : f.values) hash.AddType(v, most);
  for (const std::vector<ValueId>* list : {&f.params, &f.results}) {
    hash.Add(list->size());
    for (const ValueId v : *list) hash.Add(v);
  }
  for (const Node& n : f.nodes) {
    hash.Add(n.id);
    hash.Add(n.domain);
    hash.Add(n.op);
    for (const std::vector<ValueId>* list : {&n.inputs, &n.outputs}) {
      hash.Add(list->size());
      for (const ValueId v : *list) hash.Add(v);
    }
    for (const Attr& a : n.attrs) hash.AddAttr(a);
  }
  return hash.sum();
}

}  // namespace

uint64_t ShapeClasses::KeyOf(const Graph& bound, FunctionId fn) { return Key(bound, fn, 2); }
uint64_t ShapeClasses::LooserKeyOf(const Graph& bound, FunctionId fn) { return Key(bound, fn, 0); }

std::vector<int64_t> ShapeClasses::DimsOf(const Graph& bound, FunctionId fn) {
  std::vector<int64_t> out;
  const Function& f = bound.fn(fn);
  for (const ValueId v : f.params) {
    if (!f.value(v).type.is_tensor() || !f.value(v).type.is_static()) continue;
    const std::vector<int64_t> dims = f.value(v).type.static_dims();
    out.insert(out.end(), dims.begin(), dims.end());
  }
  return out;
}

bool ShapeClasses::IsClose(const std::vector<int64_t>& left, const std::vector<int64_t>& right,
                           double most) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto [low, high] = std::minmax(left[i], right[i]);
    const auto least = static_cast<double>(std::max<int64_t>(low, 1));
    if (static_cast<double>(high) > most * least) return false;
  }
  return true;
}

double ShapeClasses::Growth(const std::vector<int64_t>& left, const std::vector<int64_t>& right) {
  double most = 1;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] > 0)
      most = std::max(most, static_cast<double>(right[i]) / static_cast<double>(left[i]));
  }
  return most;
}

ShapeClasses::Covers ShapeClasses::Near(uint64_t key, const std::vector<int64_t>& dims) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = classes_.find(key);
  if (it == classes_.end()) return {};
  recent_.splice(recent_.begin(), recent_, it->second.place);
  std::vector<std::pair<double, std::shared_ptr<const ClassCover>>> near;
  for (const auto& cover : it->second.covers) {
    const double apart = Apart(cover->dims, dims);
    if (std::isfinite(apart)) near.emplace_back(apart, cover);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Covers out;
  for (auto& [apart, cover] : near) out.push_back(std::move(cover));
  if (out.empty()) return out;
  auto& covers = it->second.covers;
  const auto taken = std::find(covers.begin(), covers.end(), out[0]);
  std::rotate(covers.begin(), taken, taken + 1);
  return out;
}

void ShapeClasses::Add(uint64_t key, ClassCover cover, bool looser) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = classes_.find(key);
  if (it == classes_.end()) {
    if (classes_.size() >= kMostClasses) {
      classes_.erase(recent_.back());
      recent_.pop_back();
    }
    recent_.push_front(key);
    it = classes_.emplace(key, Class{{}, recent_.begin(), looser}).first;
  }
  Covers& covers = it->second.covers;
  std::erase_if(covers, [&](const auto& c) { return c->dims == cover.dims; });
  covers.insert(covers.begin(), std::make_shared<const ClassCover>(std::move(cover)));
  if (covers.size() > kMostCovers) covers.pop_back();
}

void ShapeClasses::Keep(std::shared_ptr<const Compiled> plan) {
  std::shared_ptr<const Compiled> oldest;  // ends when nobody waits for the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = std::find(kept_.begin(), kept_.end(), plan);
  if (it != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, it);
    return;
  }
  kept_.push_front(std::move(plan));
  if (kept_.size() <= kMostKept) return;
  oldest = std::move(kept_.back());
  kept_.pop_back();
}

void ShapeClasses::Clear() {
  std::unordered_map<uint64_t, Class> classes;
  std::list<std::shared_ptr<const Compiled>> kept;  // freed without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  recent_.clear();
  classes.swap(classes_);
  kept.swap(kept_);
}

size_t ShapeClasses::classes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(std::count_if(classes_.begin(), classes_.end(),
                                           [](const auto& c) { return !c.second.looser; }));
}

size_t ShapeClasses::covers() const {
  std::lock_guard<std::mutex> lock(mutex_);
  size_t n = 0;
  for (const auto& [key, c] : classes_) n += c.looser ? 0 : c.covers.size();
  return n;
}

}  // namespace ge
