#include "ge/compile/fold/fold_memo.h"

#include <algorithm>

namespace ge {
namespace {

bool SameAttrs(const std::vector<Attr>& a, const std::vector<Attr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Attr& x, const Attr& y) {
    return x.name == y.name && x.value == y.value;
  });
}

bool SameOwner(const std::weak_ptr<const void>& a, const std::shared_ptr<const void>& b) {
  return b && !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

bool FoldMemo::IsSmall(const Const& c) { return c.bytes <= kSmallBytes; }

// Nothing counts but what an entry compares.
bool FoldMemo::IsPlain(const Question& q) {
  const auto bound_to_a_graph = [](const Attr& a) {
    return std::holds_alternative<ConstRef>(a.value) ||
           std::holds_alternative<FunctionRef>(a.value) || std::holds_alternative<AttrRef>(a.value);
  };
  const auto odd = [](const Const* c) {
    return c && (c->data == nullptr || !c->type.is_static() || (!IsSmall(*c) && !c->owner));
  };
  return q.node.callees.empty() && q.node.effects.empty() &&
         std::none_of(q.node.attrs.begin(), q.node.attrs.end(), bound_to_a_graph) &&
         std::none_of(q.inputs.begin(), q.inputs.end(), odd) &&
         std::any_of(q.inputs.begin(), q.inputs.end(),
                     [](const Const* c) { return c && !IsSmall(*c); });
}

bool FoldMemo::Input::Is(const Const* c) const {
  if (c == nullptr || !(type == c->type)) return c == nullptr && type.kind == TypeKind::kUnknown;
  if (!IsSmall(*c)) return data == c->data && SameOwner(owner, c->owner);
  return data == nullptr && std::equal(content.begin(), content.end(), c->data, c->data + c->bytes);
}

bool FoldMemo::Entry::Answers(const Question& q) const {
  return op == q.node.op && domain == q.node.domain && outputs == q.outputs &&
         SameAttrs(attrs, q.node.attrs) &&
         std::equal(inputs.begin(), inputs.end(), q.inputs.begin(), q.inputs.end(),
                    [](const Input& mine, const Const* c) { return mine.Is(c); });
}

std::optional<std::vector<Const>> FoldMemo::Find(const Question& q) {
  if (!IsPlain(q)) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& e : entries_) {
    if (!e.Answers(q)) continue;
    std::vector<Const> out;
    for (const Made& m : e.made) {
      out.push_back(m.constant);
      out.back().owner = m.owner.lock();
    }
    const bool held = std::all_of(out.begin(), out.end(), [](const Const& c) { return c.owner; });
    if (held) return out;
  }
  return std::nullopt;
}

void FoldMemo::Keep(const Question& q, const std::vector<Const>& made) {
  const bool owned = std::all_of(made.begin(), made.end(),
                                 [](const Const& c) { return c.owner && c.data != nullptr; });
  if (!IsPlain(q) || !owned) return;
  Entry e{q.node.domain, q.node.op, q.node.attrs, {}, q.outputs, {}};
  for (const Const* c : q.inputs) {
    Input& in = e.inputs.emplace_back();
    if (c == nullptr) continue;
    in.type = c->type;
    if (IsSmall(*c)) in.content.assign(c->data, c->data + c->bytes);
    if (!IsSmall(*c)) in.data = c->data, in.owner = c->owner;
  }
  for (const Const& c : made) {
    Made& m = e.made.emplace_back(Made{c, c.owner});
    m.constant.owner.reset();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.size() < kMost) {
    entries_.push_back(std::move(e));
  } else {
    entries_[next_] = std::move(e);
    next_ = (next_ + 1) % kMost;
  }
}

}  // namespace ge
