// ge-test --attributes N: whether an engine that ignored an attribute or an optional input would be
// noticed. A case tells of one where it states it and ref answers otherwise without it. Of each
// engine that takes an operator up to N such cases are compared with ref, for each of the
// operator's attributes and optional inputs; one that is declined for its sake, or for the sake of
// what it matters beside, counts, too. What no case reaches is a row of the table that is printed;
// what cannot matter is in no_matter_attributes.def with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/ge_test/random/bounds.h"

namespace ge::test {
namespace {

constexpr int64_t kAttributeDraws = 800;  // of an operator, among which those that tell are found
constexpr size_t kFewTelling = 8;         // that an engine is asked for, of one attribute
constexpr size_t kMostTelling = 60;       // where those leave it open
constexpr int64_t kRefusals = 20;         // cases to which a value is added that may be refused
constexpr int64_t kAskedCases = 60;  // cases of an operator that tell whether an engine takes it
constexpr int kShownAttributes = 3;  // failures of an operator

struct NoMatter {
  std::string_view op, name, why;
};
constexpr NoMatter kNoMatter[] = {
#define GE_NO_MATTER(op, name, why) {op, name, why},
#include "tools/ge_test/random/no_matter_attributes.def"
#undef GE_NO_MATTER
};

const NoMatter* FindNoMatter(const OpDef& op, std::string_view name) {
  const std::string full = FullName(op);
  const auto* at = std::find_if(std::begin(kNoMatter), std::end(kNoMatter),
                                [&](const NoMatter& n) { return n.op == full && n.name == name; });
  return at == std::end(kNoMatter) ? nullptr : at;
}

struct TellingCase {
  RandomCase c;
  DType dtype;
  std::string types = {};  // of inputs and output 0, once asked for
};

// An attribute or an optional input.
struct AttributeItem {
  std::string name;
  bool is_input = false, required = false;
  size_t at = 0;  // of an input
  size_t wanted = kFewTelling;
  const NoMatter* no_matter = nullptr;
  std::vector<TellingCase*> telling;

  bool IsIn(const RandomCase& c) const {
    if (is_input) return at < c.inputs.size() && c.inputs[at].tensor != nullptr;
    const auto named = [&](const auto& a) { return NameOf(a) == name; };
    return std::any_of(c.attrs.begin(), c.attrs.end(), named) ||
           std::any_of(c.tensors.begin(), c.tensors.end(), named) ||
           (name == "value" && c.value != nullptr);
  }
  RandomCase Without(RandomCase c) const {
    if (is_input) {
      c.inputs[at] = {};
      while (!c.inputs.empty() && c.inputs.back().tensor == nullptr) c.inputs.pop_back();
      return c;
    }
    const auto named = [&](const auto& a) { return NameOf(a) == name; };
    std::erase_if(c.attrs, named);
    std::erase_if(c.tensors, named);
    if (name == "value") c.value = nullptr;
    return c;
  }

 private:
  static const std::string& NameOf(const Attr& a) { return a.name; }
  template <typename T>
  static const std::string& NameOf(const std::pair<std::string, T>& a) {
    return a.first;
  }
};

std::vector<AttributeItem> AttributeItems(const OpDef& op) {
  std::vector<AttributeItem> items;
  const auto add = [&](const char* name) -> AttributeItem& {
    items.emplace_back();
    items.back().name = name;
    items.back().no_matter = FindNoMatter(op, name);
    return items.back();
  };
  for (const AttrDef& a : op.attrs) add(a.name).required = a.required;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i].arity != Arity::kOptional) continue;
    AttributeItem& item = add(op.inputs[i].name);
    item.is_input = true;
    item.at = i;
  }
  return items;
}

class AttributesOfOne {
 public:
  AttributesOfOne(const SweepOptions& options, const OpDef& op)
      : options_(options), op_(op), record_(*FindRandomOp(op)), items_(AttributeItems(op)) {}

  void Run(const std::vector<std::string>& engines) {
    Draw();
    for (const AttributeItem& item : items_) JudgeItem(item);
    std::vector<std::pair<std::string, AttributeItem*>> open;
    for (const std::string& engine : engines) {
      if (engine == "ref" || !HasRandomCases(op_, engine) || !Takes(engine)) continue;
      for (AttributeItem& item : items_) {
        if (item.no_matter != nullptr || item.telling.empty()) continue;
        if (!OnEngine(engine, item)) open.emplace_back(engine, &item);
      }
    }
    // Once more, with more cases.
    for (const auto& [engine, item] : open) item->wanted = kMostTelling;
    if (!open.empty()) Draw();
    for (const auto& [engine, item] : open) {
      if (!OnEngine(engine, *item)) Row(*item, engine);
    }
  }

  int64_t reached = 0, declined = 0, failed = 0, excused = 0;

 private:
  // Cases, until every attribute has enough that tell of it.
  void Draw() {
    for (int64_t& i = drawn_; i < kAttributeDraws; ++i) {
      const bool done = std::all_of(items_.begin(), items_.end(),
                                    [&](const AttributeItem& item) { return !Wants(item, i); });
      if (done && i >= kAskedCases) break;
      Random random(MixSeed(options_.seed, op_.name, i));
      CaseMaker maker(op_, PickDType(op_, &random), &random);
      record_.make(maker);
      cases_.push_back(
          std::make_unique<TellingCase>(TellingCase{std::move(maker.c), maker.dtype()}));
      Tell(cases_.back().get());
    }
  }

  // Whether a case that tells of it is still looked for.
  static bool Wants(const AttributeItem& item, int64_t i) {
    return item.telling.size() < item.wanted && (item.no_matter == nullptr || i < kAskedCases);
  }

  // Adds the case to the attributes of which it tells.
  void Tell(TellingCase* one) {
    std::optional<Result<RunResult>> with;
    for (AttributeItem& item : items_) {
      if (!Wants(item, drawn_) || !item.IsIn(one->c)) continue;
      if (!item.required) {
        if (!with) with = RunRandomCase(one->c, DType::kUndefined, "ref");
        if (!with->ok() || !Matters(*one, item, (*with)->outputs)) continue;
      }
      item.telling.push_back(one);
    }
  }

  // Whether ref answers otherwise without it.
  bool Matters(const TellingCase& one, const AttributeItem& item,
               const std::vector<HostTensor>& with) const {
    const auto without = RunRandomCase(item.Without(one.c), DType::kUndefined, "ref");
    if (!without.ok()) return true;
    for (size_t i = 0; i < with.size(); ++i) {
      const HostTensor &a = with[i], &b = without->outputs[i];
      if (a.dtype != b.dtype || a.dims != b.dims) return true;
    }
    return !OutputsDiffer(record_, one.c, one.dtype, without->outputs, with, DType::kUndefined)
                .empty();
  }

  // Whether any case tells of it.
  void JudgeItem(const AttributeItem& item) {
    if (item.no_matter != nullptr) {
      ++excused;
      if (!item.telling.empty()) {
        Fail(fmt::format("{:40} {:28} matters, though no_matter_attributes.def says: {}",
                         FullName(op_), item.name, item.no_matter->why));
      }
    } else if (item.telling.empty() && IsRefused(item)) {
      ++declined;
      if (options_.verbose) Print(item, "INFER", "refused by name");
    } else if (item.telling.empty()) {
      Row(item, "every engine");
    } else {
      ++reached;
    }
  }

  // Whether a value that means something else than absence is refused as not computed, by name.
  bool IsRefused(const AttributeItem& item) const {
    int64_t asked = 0;
    for (const auto& one : cases_) {
      if (item.IsIn(one->c)) continue;
      if (++asked > kRefusals) break;
      for (int64_t other = 0; other < 3; ++other) {
        RandomCase c = one->c;
        if (!State(item, other, &c)) return false;
        const Status s = RunRandomCase(c, DType::kUndefined, "ref").status();
        if (s.code() == Code::kUnsupported && !IsDecline(s) &&
            s.message().find("'" + item.name + "'") != std::string::npos) {
          return true;
        }
      }
    }
    return false;
  }

  // Adds what the case does not state; false where no value of this kind can be made up.
  bool State(const AttributeItem& item, int64_t other, RandomCase* c) const {
    if (item.is_input) {
      const DTypeSet legal = op_.inputs[item.at].dtypes;
      for (int t = 1; t < kDTypeCount; ++t) {
        if ((legal & Bit(static_cast<DType>(t))) == 0) continue;
        auto tensor = MakeTensor(static_cast<DType>(t), {1});
        if (!tensor.ok()) return false;
        if (c->inputs.size() <= item.at) c->inputs.resize(item.at + 1);
        c->inputs[item.at].tensor = std::make_shared<HostTensor>(*std::move(tensor));
        return true;
      }
      return false;
    }
    const AttrKind kind = FindAttrDef(op_, item.name)->kind;
    if (kind == AttrKind::kInt) c->attrs.push_back({item.name, other});
    if (kind == AttrKind::kFloat) c->attrs.push_back({item.name, 0.5 * static_cast<double>(other)});
    if (kind == AttrKind::kString) c->attrs.push_back({item.name, std::string("OTHER")});
    return kind == AttrKind::kInt || kind == AttrKind::kFloat || kind == AttrKind::kString;
  }

  bool Takes(const std::string& engine) const {
    for (size_t i = 0; i < std::min<size_t>(cases_.size(), kAskedCases); ++i) {
      const auto run = RunRandomCase(cases_[i]->c, DType::kUndefined, engine);
      if (run.ok() || !IsDecline(run.status())) return true;
    }
    return false;
  }

  // False where nothing is known of the attribute on this engine.
  bool OnEngine(const std::string& engine, const AttributeItem& item) {
    int64_t taken = 0;
    for (const TellingCase* one : item.telling) {
      if (taken >= options_.count) break;
      const auto found = RunRandomCase(one->c, DType::kUndefined, engine);
      if (!found.ok() && IsDecline(found.status())) continue;
      ++taken;
      const std::string why = found.ok()
                                  ? DiffersFromRef(record_, one->c, one->dtype, found->outputs)
                                  : found.status().ToString();
      if (why.empty()) continue;
      Fail(fmt::format("{} on {}, attribute or input '{}': {}\n{}", FullName(op_), engine,
                       item.name, why, ToTextCase(one->c, engine)));
      return true;
    }
    if (taken > 0) {
      ++reached;
      if (options_.verbose) Print(item, engine, "compared");
      return true;
    }
    if (!IsDeclined(engine, item)) return false;
    ++declined;
    if (options_.verbose) Print(item, engine, "declined");
    return true;
  }

  bool Accepts(const RandomCase& c, const std::string& engine) const {
    return RunRandomCase(c, DType::kUndefined, engine).ok();
  }

  // Whether the engine takes such a case without the attribute, or it matters only beside what
  // the engine declines: another attribute, a further output, or types that it takes in no case.
  bool IsDeclined(const std::string& engine, const AttributeItem& item) {
    for (const TellingCase* one : item.telling) {
      if (!item.required && Accepts(item.Without(one->c), engine)) return true;
    }
    for (TellingCase* one : item.telling) {
      if (MattersBesideDeclined(engine, item, *one) || !TakesTypes(engine, one)) return true;
    }
    return false;
  }

  bool MattersBesideDeclined(const std::string& engine, const AttributeItem& item,
                             const TellingCase& one) const {
    std::vector<RandomCase> less;
    for (const AttributeItem& other : items_) {
      if (&other == &item || other.required || !other.IsIn(one.c)) continue;
      less.push_back(other.Without(one.c));
      if (one.c.outputs > 1) {
        less.push_back(less.back());
        less.back().outputs = 1;
      }
    }
    if (one.c.outputs > 1) {
      less.push_back(one.c);
      less.back().outputs = 1;
    }
    return std::any_of(less.begin(), less.end(), [&](const RandomCase& c) {
      if (!Accepts(c, engine)) return false;
      const auto with = RunRandomCase(c, DType::kUndefined, "ref");
      return with.ok() && !Matters({c, one.dtype}, item, with->outputs);
    });
  }

  // Whether the engine takes any case of these types of inputs and outputs.
  bool TakesTypes(const std::string& engine, TellingCase* one) {
    const std::string& types = TypesOf(one);
    const auto [known, fresh] = takes_.try_emplace(engine + ": " + types, false);
    int64_t asked = 0;
    for (const auto& other : cases_) {
      if (!fresh || known->second || asked >= kAskedCases) break;
      if (TypesOf(other.get()) != types) continue;
      ++asked;
      known->second = Accepts(other->c, engine);
    }
    return known->second;
  }
  static const std::string& TypesOf(TellingCase* one) {
    if (!one->types.empty()) return one->types;
    for (const auto& in : one->c.inputs) {
      one->types += in.tensor != nullptr ? DTypeName(in.tensor->dtype) : "none";
      one->types += ' ';
    }
    const auto run = RunRandomCase(one->c, DType::kUndefined, "ref");
    return one->types += run.ok() ? DTypeName(run->outputs[0].dtype) : "refused";
  }

  void Print(const AttributeItem& item, const std::string& engine, const char* what) const {
    fmt::print("{:40} {:28} {:12} {}\n", FullName(op_), item.name, engine, what);
  }
  void Row(const AttributeItem& item, const std::string& engine) {
    ++failed;
    Print(item, engine, "no case reaches it");
  }
  void Fail(const std::string& text) {
    if (++failed <= kShownAttributes) fmt::print("FAILED  {}\n", text);
  }

  const SweepOptions& options_;
  const OpDef& op_;
  const RandomOp& record_;
  std::vector<AttributeItem> items_;
  std::vector<std::unique_ptr<TellingCase>> cases_;
  std::map<std::string, bool> takes_;  // engine and types
  int64_t drawn_ = 0;
};

// Rows of the table of reasons that name nothing.
int64_t StaleReasons() {
  int64_t stale = 0;
  std::set<std::string> all;
  for (const OpDef* op : AllOps()) {
    for (const AttributeItem& item : AttributeItems(*op))
      all.insert(FullName(*op) + " " + item.name);
  }
  for (const NoMatter& n : kNoMatter) {
    if (all.count(fmt::format("{} {}", n.op, n.name)) > 0) continue;
    ++stale;
    fmt::print("FAILED  no_matter_attributes.def names {} of {}, which it has not\n", n.name, n.op);
  }
  return stale;
}

}  // namespace

int RunRandomAttributes(const SweepOptions& options) {
  const std::vector<std::string> engines = EnginesOfCases(options.engines);
  if (engines.empty()) return 2;
  fmt::print("seed {}, up to {} cases for each attribute, optional input and engine\n",
             options.seed, options.count);
  int64_t reached = 0, declined = 0, failed = StaleReasons(), excused = 0, ops = 0, without = 0;
  for (const OpDef* op : AllOps()) {
    if (!options.op.empty() && options.op != FullName(*op)) continue;
    if (!HasRandomCases(*op, "ref") || FindRandomOp(*op) == nullptr) {
      ++without;
      continue;
    }
    ++ops;
    AttributesOfOne one(options, *op);
    one.Run(engines);
    reached += one.reached;
    declined += one.declined;
    failed += one.failed;
    excused += one.excused;
  }
  if (ops == 0) {
    fmt::print(stderr, "ge-test: found no operator '{}' that has random cases\n", options.op);
    return 2;
  }
  fmt::print(
      "{} operators; {} attributes and optional inputs compared, {} declined for their sake, {} "
      "cannot matter; {} operators have no random cases: bodies, sequences, strings and states\n",
      ops, reached, declined, excused, without);
  fmt::print("{} passed, {} failed, 0 skipped\n", reached + declined, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace ge::test
