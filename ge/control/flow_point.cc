#include "ge/control/flow_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/interrupt.h"
#include "ge/base/word_hash.h"

namespace ge {
namespace {

constexpr int64_t kMaxContent = 1024;  // elements of a tensor whose content may decide a shape
constexpr size_t kMaxPieces = 256;     // of one place; the oldest go first
constexpr size_t kMaxStructures = 32;  // of one place; so do they
constexpr size_t kMaxChoices = 4;      // then an argument counts as one that always changes
constexpr size_t kLearned = 8;         // pieces by which a place knows what its contents are like
constexpr uint64_t kNoShape = UINT64_MAX;  // in keys

// Values that decide a shape are small whole numbers, truth values or scales.
bool MayDecideShape(const FlowValue& v) {
  const bool numbers = v.is_tensor() && v.data != nullptr && DTypeBits(v.dtype) >= 8 &&
                       (IsInteger(v.dtype) || IsFloat(v.dtype) || v.dtype == DType::kBool);
  return numbers && v.count() <= kMaxContent;
}

bool SameContent(const FlowValue& a, const FlowValue& b) {
  return a.bytes == b.bytes && (a.bytes == 0 || std::memcmp(a.data, b.data, a.bytes) == 0);
}

Result<FlowValue> CopyOf(const FlowValue& v) {
  FlowValue kept = v;
  auto block = FlowBlock::Make(kept.bytes);
  if (!block) return Status(Code::kResourceExhausted, "no memory for a shape");
  if (kept.bytes > 0) std::memcpy(block->data(), kept.data, kept.bytes);
  kept.data = block->data();
  kept.owner = std::move(block);
  return kept;
}

// In the order of FlowPiece::contents.
ValueId ContentAt(const FlowCut& cut, size_t i) {
  return i < cut.by_content.size() ? cut.by_content[i] : cut.chosen_by[i - cut.by_content.size()];
}

std::vector<uint64_t> ShapesOf(const FlowCut& cut, const std::vector<FlowValue>& values) {
  std::vector<uint64_t> shapes;
  for (const ValueId v : cut.in) {
    const FlowValue& x = values[v];
    shapes.push_back(x.is_tensor() ? x.dims.size() : kNoShape);
    for (const int64_t d : x.dims) shapes.push_back(static_cast<uint64_t>(d));
  }
  return shapes;
}

// Without a list of its own: known pieces allocate nothing.
bool HasShapes(const FlowPiece& piece, const std::vector<FlowValue>& values) {
  auto at = piece.shapes.begin();
  for (const ValueId v : piece.cut().in) {
    const FlowValue& x = values[v];
    if (*at++ != (x.is_tensor() ? x.dims.size() : kNoShape)) return false;
    for (const int64_t d : x.dims) {
      if (*at++ != static_cast<uint64_t>(d)) return false;
    }
  }
  return true;
}

// Of a structure and what ShapesOf lists.
uint64_t HashOf(const FlowStructure* structure, const std::vector<FlowValue>& values) {
  WordHash hash;
  hash.Add(reinterpret_cast<uintptr_t>(structure));
  for (const ValueId v : structure->cut.in) {
    const FlowValue& x = values[v];
    hash.Add(x.is_tensor() ? x.dims.size() : kNoShape);
    for (const int64_t d : x.dims) hash.Add(static_cast<uint64_t>(d));
  }
  return hash.sum();
}

uint64_t HashOf(const FlowPiece& piece) {
  WordHash hash;
  hash.Add(reinterpret_cast<uintptr_t>(piece.structure.get()));
  for (const uint64_t x : piece.shapes) hash.Add(x);
  return hash.sum();
}

bool Holds(const FlowPiece& piece, const std::vector<FlowValue>& values) {
  if (!HasShapes(piece, values)) return false;
  for (size_t i = 0; i < piece.contents.size(); ++i) {
    if (!SameContent(piece.contents[i], values[ContentAt(piece.cut(), i)])) return false;
  }
  return true;
}

}  // namespace

Result<FlowValue> ValueOf(const Const& constant) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = constant.type.dtype;
  v.dims = constant.type.static_dims();
  if (constant.type.dtype == DType::kString) {
    v.strings = std::make_shared<const std::vector<std::string>>(constant.strings);
    return v;
  }
  ConstScratch scratch;
  const std::byte* data = ConstBytes(constant, &scratch, UINT64_MAX);
  v.bytes = static_cast<uint64_t>(ByteCount(constant.type).value_or(0));
  const auto none = [&] {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for constant '{}' of {} bytes", constant.name, v.bytes));
  };
  if (!data && v.bytes > 0) return none();
  if (reinterpret_cast<uintptr_t>(data) % 16 == 0) {
    v.data = data;
    v.owner = constant.owner;
    if (!constant.splat.empty()) v.owner = scratch ? scratch : constant.expanded;
    return v;
  }
  auto block = FlowBlock::Make(v.bytes);
  if (!block) return none();
  std::memcpy(block->data(), data, v.bytes);
  v.data = block->data();
  v.owner = std::move(block);
  return v;
}

// The values of a run, as a cut may see them.
class FlowPoint::AtHand {
 public:
  AtHand(const FlowPoint& place, const std::vector<FlowValue>& values) : values(values) {
    known.type = [&values](ValueId v) -> std::optional<Type> {
      const FlowValue& x = values[v];
      if (!x.is_tensor()) return std::nullopt;
      return TensorType(x.dtype, x.dims.vector());
    };
    known.content = [this](ValueId v) -> const Const* {
      const FlowValue& x = this->values[v];
      if (!MayDecideShape(x)) return nullptr;
      const auto found = contents_.find(v);
      if (found != contents_.end()) return &found->second;
      const Type type = TensorType(x.dtype, x.dims.vector());
      return &contents_.emplace(v, MakeConst(type, x.data, x.bytes)).first->second;
    };
    known.all_contents = place.contents_change_;
    known.may_choose = [&place](ValueId v) {
      return place.chooses_ && place.arguments_.count(v) != 0;
    };
  }
  AtHand(const AtHand&) = delete;
  AtHand& operator=(const AtHand&) = delete;

  const std::vector<FlowValue>& values;
  FlowKnown known;

 private:
  std::map<ValueId, Const> contents_;
};

FlowPoint::Piece FlowPoint::Known(const std::vector<FlowValue>& values) {
  // What a loop runs is mostly what it ran before.
  if (!pieces_.empty() && Holds(*pieces_.front(), values)) return pieces_.front();
  for (const Structure& of : structures_) {
    const auto [begin, end] = by_shapes_.equal_range(HashOf(of.get(), values));
    for (auto it = begin; it != end; ++it) {
      const Piece& piece = *it->second;
      if (piece->structure != of || !Holds(*piece, values)) continue;
      pieces_.splice(pieces_.begin(), pieces_, it->second);
      return piece;
    }
  }
  return nullptr;
}

void FlowPoint::Add(Piece piece) {
  const uint64_t hash = HashOf(*piece);
  pieces_.push_front(std::move(piece));
  by_shapes_.emplace(hash, pieces_.begin());
}

// With their pieces.
void FlowPoint::ForgetStructures(const std::function<bool(const FlowStructure&)>& which) {
  std::erase_if(by_shapes_, [&](const auto& known) { return which(*(*known.second)->structure); });
  pieces_.remove_if([&](const Piece& p) { return which(*p->structure); });
  std::erase_if(structures_, [&](const Structure& s) { return which(*s); });
}

void FlowPoint::ForgetOldest() {
  const auto oldest = std::prev(pieces_.end());
  const auto [begin, end] = by_shapes_.equal_range(HashOf(**oldest));
  by_shapes_.erase(std::find_if(begin, end, [&](const auto& x) { return x.second == oldest; }));
  pieces_.pop_back();
}

Result<std::shared_ptr<const FlowPiece>> FlowPoint::Find(const std::vector<FlowValue>& values) {
  if (const Piece known = Known(values)) {
    if (!known->cut().by_content.empty()) ++found_;
    return std::shared_ptr<const FlowPiece>(known);
  }
  GE_ASSIGN_OR_RETURN(Piece made, Make(values));
  if (!StillChooses(made)) {
    GE_ASSIGN_OR_RETURN(made, Make(values));
  }
  Add(made);
  if (!made->cut().by_content.empty()) Learn();
  while (pieces_.size() > kMaxPieces || (pieces_.size() > 1 && flow_.IsFull())) {
    ForgetOldest();
    flow_.evicted_.fetch_add(1, std::memory_order_relaxed);
  }
  return std::shared_ptr<const FlowPiece>(std::move(made));
}

Result<FlowPoint::Piece> FlowPoint::Make(const std::vector<FlowValue>& values) {
  const AtHand at_hand(*this, values);
  for (size_t i = 0; i < structures_.size(); ++i) {
    const Structure of = structures_[i];
    GE_ASSIGN_OR_RETURN(Piece made, MakeOf(of, at_hand));
    if (!made) continue;
    std::rotate(structures_.begin(), structures_.begin() + static_cast<ptrdiff_t>(i),
                structures_.begin() + static_cast<ptrdiff_t>(i) + 1);
    return made;
  }
  GE_ASSIGN_OR_RETURN(const Structure cut, Cut(at_hand));
  GE_ASSIGN_OR_RETURN(Piece made, MakeOf(cut, at_hand));
  if (!made) {
    GE_RETURN_IF_ERROR(CheckInterrupt());  // which ends the walk over shapes, too
    return Status(Code::kInternal, "a cut does not hold for the shapes that it was made for");
  }
  structures_.insert(structures_.begin(), cut);
  if (structures_.size() > kMaxStructures) {
    const Structure oldest = structures_.back();
    ForgetStructures([&](const FlowStructure& s) { return &s == oldest.get(); });
  }
  return made;
}

Result<FlowPoint::Structure> FlowPoint::Cut(const AtHand& at_hand) {
  auto made = std::make_shared<FlowStructure>();
  GE_ASSIGN_OR_RETURN(made->cut, CutFlow(rest_, flow_.hooks_.infer, at_hand.known));
  made->number = flow_.cuts_.fetch_add(1, std::memory_order_relaxed);
  const Graph& g = made->cut.rest.graph;
  const Function& f = g.fn(made->cut.rest.fn);
  std::set<ValueId> read(f.results.begin(), f.results.end());
  for (const HostStep& step : made->cut.host) {
    read.insert(step.node.inputs.begin(), step.node.inputs.end());
  }
  for (const ValueId v : read) {
    if (v == 0 || f.value(v).constant == 0) continue;
    GE_ASSIGN_OR_RETURN(const FlowValue* value, flow_.ConstantOf(f.value(v).constant));
    made->constants.emplace_back(v, value);
  }
  if (!f.nodes.empty()) {
    made->next = std::make_shared<FlowPoint>(&flow_, std::move(made->cut.rest), arguments_);
  }
  made->cut.rest = FlowRest();
  return made;
}

Result<FlowPoint::Piece> FlowPoint::MakeOf(const Structure& of, const AtHand& at_hand) {
  const FlowCut& cut = of->cut;
  std::optional<SizedCut> sized = SizeCut(cut, flow_.hooks_.infer, at_hand.known);
  if (!sized) return Piece();
  auto piece = std::make_shared<FlowPiece>();
  piece->shapes = ShapesOf(cut, at_hand.values);
  piece->structure = of;

  piece->types = std::move(sized->types);
  for (size_t i = 0; i < cut.by_content.size() + cut.chosen_by.size(); ++i) {
    GE_ASSIGN_OR_RETURN(FlowValue kept, CopyOf(at_hand.values[ContentAt(cut, i)]));
    piece->contents.push_back(std::move(kept));
  }
  if (cut.plan_out.empty()) return piece;
  // Arguments that decide conditions alone are no part of the plan.
  const auto [begin, end] = by_shapes_.equal_range(HashOf(*piece));
  for (auto it = begin; it != end; ++it) {
    const Piece& p = *it->second;
    if (p->structure != of || p->shapes != piece->shapes) continue;
    if (!std::equal(p->contents.begin(), p->contents.begin() + cut.by_content.size(),
                    piece->contents.begin(), SameContent)) {
      continue;
    }
    piece->plan = p->plan;
    return piece;
  }
  GE_ASSIGN_OR_RETURN(piece->plan,
                      flow_.MakePlan({std::move(sized->plan), cut.now.fn, of->number}));
  return piece;
}

// Contents that are hardly ever the same again might as well all be looked at together, so that
// they make one piece and not one each.
void FlowPoint::Learn() {
  if (contents_change_ || ++made_ < kLearned || found_ >= made_) return;
  contents_change_ = true;
  ForgetStructures([](const FlowStructure& s) { return !s.cut.by_content.empty(); });
}

bool FlowPoint::StillChooses(const Piece& piece) {
  const FlowCut& cut = piece->cut();
  if (cut.chosen_by.empty()) return true;
  std::string held;
  for (size_t i = cut.by_content.size(); i < piece->contents.size(); ++i) {
    const FlowValue& v = piece->contents[i];
    held += fmt::format("{} ", v.bytes);
    held.append(reinterpret_cast<const char*>(v.data), v.bytes);
  }
  chosen_by_.insert(std::move(held));
  if (chosen_by_.size() <= kMaxChoices) return true;
  chooses_ = false;
  chosen_by_.clear();
  ForgetStructures([](const FlowStructure& s) { return !s.cut.chosen_by.empty(); });
  return false;
}

}  // namespace ge
