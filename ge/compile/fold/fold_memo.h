// FoldMemo: remembers the results of folded nodes. A graph bound again takes the results of the
// first bind instead of running the node once more and holding the same numbers twice. It keeps no
// payload alive and forgets results that nobody holds. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ge/ir/graph.h"

namespace ge {

class FoldMemo {
 public:
  // A node, its inputs and the types of its outputs. `inputs` by slot, null = absent; node and
  // inputs outlive this.
  struct Question {
    const Node& node;
    const std::vector<const Const*>& inputs;
    std::vector<Type> outputs;
  };
  std::optional<std::vector<Const>> Find(const Question& question);
  // Does not keep nodes with only small inputs: sizes decide these, and no two signatures agree.
  void Keep(const Question& question, const std::vector<Const>& made);

 private:
  // Small inputs compare by content, since passes make them anew each time; others by address.
  struct Input {
    Type type;
    std::vector<std::byte> content;
    const std::byte* data = nullptr;
    std::weak_ptr<const void> owner;
    bool Is(const Const* constant) const;
  };
  struct Made {
    Const constant;  // without its owner
    std::weak_ptr<const void> owner;
  };
  struct Entry {
    std::string domain, op;
    std::vector<Attr> attrs;
    std::vector<Input> inputs;
    std::vector<Type> outputs;
    std::vector<Made> made;
    bool Answers(const Question& question) const;
  };
  static bool IsSmall(const Const& constant);
  static bool IsPlain(const Question& question);

  static constexpr uint64_t kSmallBytes = 256;
  static constexpr size_t kMost = 64;  // those kept last
  std::mutex mutex_;
  std::vector<Entry> entries_;  // a ring
  size_t next_ = 0;
};

}  // namespace ge
