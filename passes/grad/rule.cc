#include "passes/grad/rule.h"

#include <map>
#include <utility>

namespace ge::grad {

Back::Back(Fn& fn, const ge_node& node, std::vector<Val> in, std::vector<Val> out,
           std::vector<Val> ct, std::vector<bool> wants, Context* context)
    : fn_(fn),
      node_(node),
      in_(std::move(in)),
      out_(std::move(out)),
      ct_(std::move(ct)),
      given_(in_.size()),
      wants_(std::move(wants)),
      context_(context) {}

int64_t Back::Axis(int64_t axis, Val of) {
  const int32_t rank = fn_.TypeOf(of).rank;
  if (rank < 0) Fail("an input's rank is not known");
  return rank < 0 ? -1 : axis < 0 ? axis + rank : axis;
}

int64_t Back::Int(const char* name, int64_t otherwise) const {
  const ge_attr* a = ge_find_attr(&node_, name);
  return a != nullptr && a->kind == GE_ATTR_INT ? a->i : otherwise;
}

double Back::Float(const char* name, double otherwise) const {
  const ge_attr* a = ge_find_attr(&node_, name);
  return a != nullptr && a->kind == GE_ATTR_FLOAT ? a->f : otherwise;
}

std::string Back::Text(const char* name, const char* otherwise) const {
  const ge_attr* a = ge_find_attr(&node_, name);
  return a != nullptr && a->kind == GE_ATTR_STRING ? std::string(plugin::View(a->s)) : otherwise;
}

std::vector<int64_t> Back::Ints(const char* name) const {
  const ge_attr* a = ge_find_attr(&node_, name);
  if (a == nullptr || a->kind != GE_ATTR_INTS) return {};
  return {a->ints, a->ints + a->n};
}

bool Back::Has(const char* name) const { return ge_find_attr(&node_, name) != nullptr; }

bool Back::Known(Val value, std::vector<int64_t>* numbers) const {
  const ge_edit* e = fn_.edit();
  return value && KnownInts(*e->value(e->host, fn_.id(), value.id), numbers);
}

void Back::Give(uint32_t i, Val value) {
  if (!value || !wants(i)) return;
  // Whole numbers here stand for floats.
  const int32_t dtype = fn_.TypeOf(in_[i]).dtype;
  given_[i] = fn_.SumTo(IsFloat(dtype) ? fn_.Cast(value, dtype) : value, in_[i]);
}

// ---- the table

#define GE_GRAD_ENTRY(stem) std::vector<Rule> RulesOf_##stem();
#include "passes/grad/rule_table.inc"
#undef GE_GRAD_ENTRY

std::span<const Rule> AllRules() {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> all;
#define GE_GRAD_ENTRY(stem) \
  for (Rule & rule : RulesOf_##stem()) all.push_back(std::move(rule));
#include "passes/grad/rule_table.inc"
#undef GE_GRAD_ENTRY
    return all;
  }();
  return table;
}

const Rule* FindRule(std::string_view domain, std::string_view op) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::map<Key, const Rule*> index = [] {
    std::map<Key, const Rule*> by_name;
    for (const Rule& rule : AllRules()) by_name[{rule.domain, rule.op}] = &rule;
    return by_name;
  }();
  const auto found = index.find({domain, op});
  return found == index.end() ? nullptr : found->second;
}

}  // namespace ge::grad
