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

bool FoldMemo::IsSmall(const Const& constant) { return constant.bytes <= kSmallBytes; }

// Nothing counts but what an entry compares.
bool FoldMemo::IsPlain(const Question& question) {
  const auto bound_to_a_graph = [](const Attr& a) {
    return std::holds_alternative<ConstRef>(a.value) ||
           std::holds_alternative<FunctionRef>(a.value) || std::holds_alternative<AttrRef>(a.value);
  };
  const auto odd = [](const Const* c) {
    return c && (c->data == nullptr || !c->type.is_static() || (!IsSmall(*c) && !c->owner));
  };
  return question.node.callees.empty() && question.node.effects.empty() &&
         std::none_of(question.node.attrs.begin(), question.node.attrs.end(), bound_to_a_graph) &&
         std::none_of(question.inputs.begin(), question.inputs.end(), odd) &&
         std::any_of(question.inputs.begin(), question.inputs.end(),
                     [](const Const* c) { return c && !IsSmall(*c); });
}

bool FoldMemo::Input::Is(const Const* constant) const {
  if (constant == nullptr || !(type == constant->type))
    return constant == nullptr && type.kind == TypeKind::kUnknown;
  if (!IsSmall(*constant)) return data == constant->data && SameOwner(owner, constant->owner);
  return data == nullptr && std::equal(content.begin(), content.end(), constant->data,
                                       constant->data + constant->bytes);
}

bool FoldMemo::Entry::Answers(const Question& question) const {
  return op == question.node.op && domain == question.node.domain && outputs == question.outputs &&
         SameAttrs(attrs, question.node.attrs) &&
         std::equal(inputs.begin(), inputs.end(), question.inputs.begin(), question.inputs.end(),
                    [](const Input& mine, const Const* c) { return mine.Is(c); });
}

std::optional<std::vector<Const>> FoldMemo::Find(const Question& question) {
  if (!IsPlain(question)) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& e : entries_) {
    if (!e.Answers(question)) continue;
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

void FoldMemo::Keep(const Question& question, const std::vector<Const>& made) {
  const bool owned = std::all_of(made.begin(), made.end(),
                                 [](const Const& c) { return c.owner && c.data != nullptr; });
  if (!IsPlain(question) || !owned) return;
  Entry e{question.node.domain, question.node.op, question.node.attrs, {}, question.outputs, {}};
  for (const Const* c : question.inputs) {
    Input& in = e.inputs.emplace_back();
    if (c == nullptr) continue;
    in.type = c->type;
    if (IsSmall(*c)) in.content.assign(c->data, c->data + c->bytes);
    if (!IsSmall(*c)) {
      in.data = c->data;
      in.owner = c->owner;
    }
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
