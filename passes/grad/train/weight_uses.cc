#include "passes/grad/train/weight_uses.h"

#include <algorithm>
#include <cstring>

#include "passes/grad/entry.h"

namespace ge::grad {
namespace {

constexpr int kDeepest = 8;  // nodes in a row that hand a constant on, as it is or in parts

bool IsTrainable(const ge_value& v) {
  int64_t n = 0;
  return (v.flags & GE_VALUE_CONSTANT) != 0 && v.name.n > 0 && v.n_user > 0 &&
         IsFloat(v.type.dtype) && v.type.rank > 0 && plugin::ElementCount(v.type, &n) && n > 0;
}

bool IsZero(const ge_value& v) {
  const auto* bytes = static_cast<const char*>(v.data);
  return bytes != nullptr &&
         std::all_of(bytes, bytes + v.data_bytes, [](char byte) { return byte == 0; });
}

// More than one element, and all the same: what a norm or a bias begins with before it is trained.
bool IsUniform(const ge_value& v) {
  const auto* bytes = static_cast<const char*>(v.data);
  const uint64_t each = plugin::ElementBits(v.type.dtype) / 8;
  if (bytes == nullptr || each == 0 || v.data_bytes <= each) return false;
  for (uint64_t at = each; at + each <= v.data_bytes; at += each) {
    if (std::memcmp(bytes, bytes + at, each) != 0) return false;
  }
  return true;
}

bool IsStatistic(const ge_node& n, uint32_t input) {
  return plugin::IsOp(n, "BatchNormalization") &&
         (input == batch_norm::kMean || input == batch_norm::kVariance);
}

// Hands its first input on, as it is or in parts.
bool HandsOn(const ge_node& n) {
  static const std::set<std::string_view> ops = {"Slice",     "Expand", "Unsqueeze", "Squeeze",
                                                 "Identity",  "Split",  "Gather",    "Reshape",
                                                 "Transpose", "Cast"};
  return n.domain.n == 0 && ops.count(plugin::View(n.op)) != 0;
}

// Inputs of floats that are numbers of the operator, and no weights: the scales of quantization,
// sizes of pictures, the two values of OneHot, the ratio of Dropout, the bounds of Clip (which some
// exporters write with an axis).
bool IsNumberOf(const ge_node& n, uint32_t input) {
  static const std::map<std::string_view, std::set<uint32_t>> inputs = {
      {"QuantizeLinear", {1, 2}},
      {"DequantizeLinear", {1, 2}},
      {"MatMulNBits", {2, 3}},
      {"MatMulBnb4", {2}},
      {"Resize", {1, 2}},
      {"Upsample", {1}},
      {"OneHot", {2}},
      {"Dropout", {1}},
      {"Clip", {1, 2}},
      {"DynamicQuantizeMatMul", {2}},
      {"MatMulIntegerToFloat", {2, 3}}};
  const std::string_view op = plugin::View(n.op);
  if (op.starts_with("QLinear")) return true;
  const auto found = inputs.find(op);
  return found != inputs.end() && found->second.count(input) != 0;
}

bool IsFirstState(const ge_node& n, uint32_t input) {
  constexpr uint32_t kFirstState = 5, kLastState = 6;  // initial_h and initial_c
  const bool cell = plugin::IsOp(n, "LSTM") || plugin::IsOp(n, "GRU") || plugin::IsOp(n, "RNN");
  return cell && input >= kFirstState && input <= kLastState;
}

}  // namespace

WeightUses::WeightUses(const ge_graph* graph, const TrainSettings& settings)
    : g_(graph), s_(settings) {
  FindAliases();
}

bool WeightUses::Matches(const std::vector<std::string>& patterns, std::string_view name) {
  bool fits = false;
  for (const std::string& pattern : patterns) {
    if (!FitsPattern(name, pattern)) continue;
    fits = true;
    used_.insert(pattern);
  }
  return fits;
}

std::string WeightUses::Label(const Operand& at) const {
  const ge_node& n = *GE_NODE(g_, at.node);
  std::string text(plugin::View(n.op));
  if (n.name.n > 0) return text + " '" + std::string(plugin::View(n.name)) + "'";
  return n.n_out > 0 && n.out[0] != 0 ? text + " of '" + NameOf(g_, n.out[0]) + "'" : text;
}

// The weight behind a row of Identities; 0 = there is none.
uint32_t WeightUses::RootOf(uint32_t value) const {
  for (int depth = 0; depth <= kDeepest; ++depth) {
    const ge_value& v = *GE_VALUE(g_, value);
    if (IsTrainable(v)) return value;
    if (v.producer == UINT32_MAX) return 0;
    const ge_node& n = *GE_NODE(g_, v.producer);
    if (!plugin::IsOp(n, "Identity") || n.n_in != 1 || n.in[0] == 0) return 0;
    value = n.in[0];
  }
  return 0;
}

// The form in which PyTorch's exporter with dynamo=False writes that one parameter equals another
// at first: `b2.bias` is made of `b1.bias` by a node `Identity_0`. A weight that a program truly
// shares has one name there; Identities of the program's own (a clone) have names by its path.
bool WeightUses::IsMerged(const ge_node& n) const {
  constexpr std::string_view kHead = "Identity_";
  const std::string_view name = plugin::View(n.name),
                         made = plugin::View(GE_VALUE(g_, n.out[0])->name);
  return name.starts_with(kHead) && name.size() > kHead.size() &&
         name.find_first_not_of("0123456789", kHead.size()) == std::string_view::npos &&
         !made.starts_with('/') && !made.starts_with("onnx::");
}

void WeightUses::FindAliases() {
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    if (!plugin::IsOp(n, "Identity") || n.n_in != 1 || n.n_out != 1 || n.in[0] == 0) continue;
    const ge_value& v = *GE_VALUE(g_, n.out[0]);
    const uint32_t root = RootOf(n.in[0]);
    if (root == 0 || v.name.n == 0 || v.n_user == 0 || (v.flags & GE_VALUE_OUTPUT) != 0) continue;
    if (IsStatisticAgain(n.out[0])) continue;
    // Statistics follow the batch, and weights their gradients: these are never one.
    const bool statistic = IsReadAsStatistic(v, n.out[0]);
    const bool untied = Matches(s_.untie, plugin::View(v.name));
    if (!statistic && !untied && (!IsMerged(n) || Matches(s_.tie, plugin::View(v.name)))) continue;
    aliases_[n.out[0]] = root;
    merged_ = merged_ || IsMerged(n);
  }
}

bool WeightUses::IsReadAsStatistic(const ge_value& given, uint32_t value) const {
  for (uint32_t u = 0; u < given.n_user; ++u) {
    const ge_node& n = *GE_NODE(g_, given.user[u]);
    for (uint32_t i = 0; i < n.n_in; ++i) {
      if (n.in[i] == value && IsStatistic(n, i)) return true;
    }
  }
  return false;
}

// Of one module that is applied twice, where the exporter with dynamo=True hands the statistics
// from node to node.
bool WeightUses::IsStatisticAgain(uint32_t alias) const {
  const ge_value& v = *GE_VALUE(g_, alias);
  const uint32_t from = GE_NODE(g_, v.producer)->in[0];
  const auto statistic_of = [&](uint32_t value, uint32_t input, uint32_t scale, uint32_t bias) {
    const ge_value& read = *GE_VALUE(g_, value);
    for (uint32_t u = 0; u < read.n_user; ++u) {
      const ge_node& n = *GE_NODE(g_, read.user[u]);
      if (plugin::IsOp(n, "BatchNormalization") && n.n_in > input && n.in[input] == value &&
          n.in[batch_norm::kScale] == scale && n.in[batch_norm::kBias] == bias) {
        return true;
      }
    }
    return false;
  };
  for (uint32_t u = 0; u < v.n_user; ++u) {
    const ge_node& n = *GE_NODE(g_, v.user[u]);
    if (!plugin::IsOp(n, "BatchNormalization") || n.n_in < 5) return false;
    const uint32_t input =
        n.in[batch_norm::kMean] == alias ? batch_norm::kMean : batch_norm::kVariance;
    if (!statistic_of(from, input, n.in[batch_norm::kScale], n.in[batch_norm::kBias])) return false;
  }
  return true;
}

// A place where a constant is no weight: a number of the operator, or zeros that a recurrence
// begins with, which exporters write as a constant like any other; also by nodes that hand it on.
bool WeightUses::IsSetting(const ge_node& n, uint32_t input, bool zero) const {
  return IsNumberOf(n, input) || (zero && IsFirstState(n, input));
}

bool WeightUses::OnlySets(uint32_t value, bool zero, int depth) const {
  const ge_value& v = *GE_VALUE(g_, value);
  if ((v.flags & GE_VALUE_OUTPUT) != 0 || depth > kDeepest) return false;
  for (uint32_t u = 0; u < v.n_user; ++u) {
    const ge_node& n = *GE_NODE(g_, v.user[u]);
    for (uint32_t i = 0; i < n.n_in; ++i) {
      if (n.in[i] != value || IsSetting(n, i, zero)) continue;
      if (!HandsOn(n) || i != 0) return false;
      for (uint32_t k = 0; k < n.n_out; ++k) {
        if (n.out[k] != 0 && !OnlySets(n.out[k], zero, depth + 1)) return false;
      }
    }
  }
  return true;
}

void WeightUses::AddUses(uint32_t value, bool zero, bool* all, std::vector<Use>* to) const {
  const ge_value& v = *GE_VALUE(g_, value);
  std::set<uint32_t> seen;
  for (uint32_t u = 0; u < v.n_user; ++u) {
    if (!seen.insert(v.user[u]).second) continue;
    const ge_node& n = *GE_NODE(g_, v.user[u]);
    const bool identity = plugin::IsOp(n, "Identity") && n.n_out == 1;
    for (uint32_t i = 0; i < n.n_in; ++i) {
      if (n.in[i] != value) continue;
      bool sets = IsSetting(n, i, zero) || (identity && aliases_.count(n.out[0]) != 0);
      if (HandsOn(n) && i == 0 && !sets) {
        sets = true;
        for (uint32_t k = 0; k < n.n_out; ++k) {
          sets = sets && (n.out[k] == 0 || OnlySets(n.out[k], zero, 1));
        }
      }
      if (sets) *all = false;
      if (sets) continue;
      if (identity && IsStatisticAgain(n.out[0])) {
        *all = false;
        AddUses(n.out[0], zero, all, to);
        continue;
      }
      const bool statistic = IsStatistic(n, i);
      to->push_back({{v.user[u], i},
                     statistic ? i : 0,
                     statistic ? n.in[batch_norm::kScale] : 0,
                     statistic ? n.in[batch_norm::kBias] : 0});
    }
  }
}

std::vector<WeightUses::Use> WeightUses::UsesOf(uint32_t value, bool zero, bool* all) const {
  std::vector<Use> uses;
  AddUses(value, zero, all, &uses);
  return uses;
}

// The file itself shows that equal constants were not merged, or that each has its name.
bool WeightUses::MergesNothing(const ge_value& like) const {
  if (merged_) return true;
  for (uint32_t id = 1; id < g_->n_value; ++id) {
    const ge_value& v = *GE_VALUE(g_, id);
    if (&v == &like || !IsTrainable(v) || v.type.dtype != like.type.dtype) continue;
    const bool same = v.type.rank == like.type.rank && v.data_bytes == like.data_bytes &&
                      std::equal(v.type.dims, v.type.dims + v.type.rank, like.type.dims);
    if (same && v.data != nullptr && std::memcmp(v.data, like.data, v.data_bytes) == 0) return true;
  }
  return false;
}

// Two nodes that read a constant of one number at the same input: a module that is applied twice,
// or two modules that an exporter has merged.
void WeightUses::WantOne(const std::string& name, const ge_value& begins,
                         const std::vector<Use>& trained) {
  if (trained.size() < 2 || Matches(s_.tie, name) || !IsUniform(begins)) return;
  if (MergesNothing(begins)) return;
  for (size_t i = 1; i < trained.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const Operand a = trained[k].at, b = trained[i].at;
      if (a.node == b.node || a.input != b.input || HandsOn(*GE_NODE(g_, a.node))) continue;
      if (plugin::View(GE_NODE(g_, a.node)->op) != plugin::View(GE_NODE(g_, b.node)->op)) continue;
      if (unclear_.empty()) unclear_by_ = "'" + name + "' by " + Label(a) + " and " + Label(b);
      unclear_ += (unclear_.empty() ? "" : "+") + name;
      return;
    }
  }
}

// NAME@2 for the second place of those that read the value, in the order of nodes and inputs: `ge
// train --export` finds it again.
std::string WeightUses::NameAt(uint32_t value, const Operand& at) const {
  const uint32_t read = GE_NODE(g_, at.node)->in[at.input];
  if (read != value) return NameOf(g_, read);
  uint32_t before = 0;
  for (uint32_t i = 0; i <= at.node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; k < n.n_in && (i < at.node || k <= at.input); ++k)
      before += n.in[k] == value;
  }
  return NameOf(g_, value) + "@" + std::to_string(before);
}

// The places of a value as weights: those that train it are one; a statistic that is written like
// one of them is a weight of its own at each place.
void WeightUses::Split(uint32_t value, uint32_t first, std::vector<Found>* to) {
  const ge_value& v = *GE_VALUE(g_, value);
  const ge_value& begins = *GE_VALUE(g_, first);
  const std::string name(plugin::View(v.name));
  bool all = true;
  const std::vector<Use> uses = UsesOf(value, IsZero(begins), &all);
  std::vector<Use> trained, statistics;
  for (const Use& u : uses) (u.role == 0 ? trained : statistics).push_back(u);
  const bool output = (v.flags & GE_VALUE_OUTPUT) != 0;
  if (uses.empty() && !output) return;
  const bool untied = uses.size() > 1 && Matches(s_.untie, name);
  const bool mixed = !trained.empty() && !statistics.empty();
  const bool same = std::all_of(statistics.begin(), statistics.end(), [&](const Use& u) {
    const Use& one = statistics.front();
    return u.role == one.role && u.scale == one.scale && u.bias == one.bias;
  });
  if (mixed && !untied && !IsUniform(begins)) {
    throw Refusal{GE_INVALID_ARGUMENT, "'" + name + "' is a running statistic of " +
                                           Label(statistics[0].at) + " and is read by " +
                                           Label(trained[0].at) + ", too; say untie=" + name +
                                           " where these are two of equal first values, "
                                           "or name it in freeze"};
  }
  if (!untied && !mixed && same) {
    WantOne(name, begins, trained);
    to->push_back({value, first, name, statistics.empty(), all, {}});
    for (const Use& u : uses) to->back().places.push_back(u.at);
    return;
  }
  if (!untied) WantOne(name, begins, trained);
  Found together{value, first, name, true, false, {}};
  for (size_t k = 0; k < uses.size(); ++k) {
    const Use& u = uses[k];
    if (!untied && u.role == 0) {
      together.places.push_back(u.at);
      continue;
    }
    const bool plain = k == 0 && (untied || trained.empty());
    const std::string own = plain ? name : NameAt(value, u.at);
    to->push_back({value, first, own, u.role == 0, false, {u.at}});
    if (!plain) apart_.push_back(own);
  }
  if (!together.places.empty()) to->push_back(std::move(together));
}

std::vector<Found> WeightUses::Weights() {
  std::vector<Found> found;
  for (uint32_t id = 1; id < g_->n_value; ++id) {
    const auto alias = aliases_.find(id);
    if (alias == aliases_.end() && !IsTrainable(*GE_VALUE(g_, id))) continue;
    const size_t before = found.size();
    Split(id, alias == aliases_.end() ? id : alias->second, &found);
    if (alias != aliases_.end() && found.size() > before) apart_.push_back(found[before].name);
  }
  if (!unclear_.empty()) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "weights that hold one number are read more than once: " + unclear_by_ +
                      "; is it one weight, or several that an exporter wrote once (PyTorch: export "
                      "with optimize=False)? Say untie=NAME or tie=NAME, names joined by +: " +
                      unclear_};
  }
  for (const auto* patterns : {&s_.tie, &s_.untie}) {
    for (const std::string& pattern : *patterns) {
      if (used_.count(pattern) != 0) continue;
      const char* option = patterns == &s_.tie ? "tie '" : "untie '";
      throw Refusal{GE_INVALID_ARGUMENT,
                    option + pattern + "' fits no weight that is read more than once"};
    }
  }
  return found;
}

}  // namespace ge::grad
