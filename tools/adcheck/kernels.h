// KernelCache: ref's kernels in Reals, by node and by the shapes of its inputs. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/adcheck/interpreter.h"

namespace ge::adcheck {

class KernelCache {
 public:
  explicit KernelCache(const Graph& graph);
  ~KernelCache();
  Result<std::vector<Thing>> Run(const Node& n, const std::vector<Thing>& in);

 private:
  struct Entry;
  Result<std::unique_ptr<Entry>> Prepare(const Node& n, const std::vector<Thing>& in) const;
  static Status TakeApart(Entry* entry, const Node& node, const char* why);
  static std::string KeyOf(const Node& n, const std::vector<Thing>& in);

  const Graph& graph_;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
};

}  // namespace ge::adcheck
