// WeightUses: finds the uses of a constant and their roles, and which are one weight. Exporters
// write a constant once where several parameters have equal first values: a norm's running mean and
// its bias, the scales of two norms. One thread, over one picture of a function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "passes/grad/train/settings.h"

namespace ge::grad {

// Inputs of BatchNormalization.
namespace batch_norm {
inline constexpr uint32_t kScale = 1, kBias = 2, kMean = 3, kVariance = 4;
}

// Input `input` of the node with this index in the picture.
struct Operand {
  uint32_t node, input;
};

// A weight found: its readers, and its first value.
struct Found {
  uint32_t value;  // read at the places
  uint32_t first;  // the constant of its first value
  std::string name;
  bool trained;                 // false: running statistics
  bool everywhere;              // all readers of `value` read this weight
  std::vector<Operand> places;  // where not everywhere
};

class WeightUses {
 public:
  WeightUses(const ge_graph* graph, const TrainSettings& settings);
  // In the order of values. A constant read under another name, given by an Identity, is another
  // weight there; statistics are weights of their own. Throws a Refusal where it cannot tell
  // whether a constant is one weight or several.
  std::vector<Found> Weights();
  // Names of reads of constants trained apart, for a note.
  const std::vector<std::string>& apart() const { return apart_; }

 private:
  // The role of a constant at one place. A running statistic is that of a module: two nodes that
  // also read the same scale and bias are one module applied twice.
  struct Use {
    Operand at;
    uint32_t role;  // 0 = trained; else the input of BatchNormalization, 3 or 4
    uint32_t scale, bias;
  };
  uint32_t RootOf(uint32_t value) const;
  bool IsMerged(const ge_node& n) const;
  void FindAliases();
  bool IsReadAsStatistic(const ge_value& given, uint32_t value) const;
  bool IsStatisticAgain(uint32_t alias) const;
  bool IsSetting(const ge_node& n, uint32_t input, bool zero) const;
  bool OnlySets(uint32_t value, bool zero, int depth) const;
  // Without settings, and without the readers of an alias of its own.
  std::vector<Use> UsesOf(uint32_t value, bool zero, bool* all) const;
  void AddUses(uint32_t value, bool zero, bool* all, std::vector<Use>* to) const;
  void Split(uint32_t value, uint32_t first, std::vector<Found>* to);
  bool MergesNothing(const ge_value& like) const;
  void WantOne(const std::string& name, const ge_value& begins, const std::vector<Use>& trained);
  std::string NameAt(uint32_t value, const Operand& at) const;
  bool Matches(const std::vector<std::string>& patterns, std::string_view name);
  std::string Label(const Operand& at) const;

  const ge_graph* g_;
  const TrainSettings& s_;
  std::map<uint32_t, uint32_t> aliases_;  // a value with a name of its own, to the constant
  bool merged_ = false;                   // whether the exporter names the constants it merges
  std::set<std::string> used_;            // patterns that fitted something
  std::vector<std::string> apart_;
  std::string unclear_;     // constants that may be one weight or several
  std::string unclear_by_;  // the first of them, and its readers
};

}  // namespace ge::grad
