// FoldMemo: what nodes of constants gave when they were folded, so that a graph that is bound again
// takes what the first bind has made instead of running the node once more and holding the same
// numbers twice. It keeps no payload alive: what nobody holds any more is forgotten. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ge/ir/graph.h"

namespace ge {

class FoldMemo {
 public:
  // A node, what it reads and the types of what it gives. `inputs` by slot, null = absent; they,
  // and the node, outlive this.
  struct Question {
    const Node& node;
    const std::vector<const Const*>& inputs;
    std::vector<Type> outputs;
  };
  std::optional<std::vector<Const>> Find(const Question& question);
  // Nodes whose inputs are all small are not kept: sizes decide them, and no two signatures agree.
  void Keep(const Question& question, const std::vector<Const>& made);

 private:
  // Small ones count by content, as passes make them anew each time; others by where they lie.
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
