#include "ge/session/shape_program.h"

#include <algorithm>
#include <unordered_map>

#include "ge/base/interrupt.h"
#include "ge/base/word_hash.h"
#include "ge/control/cut.h"
#include "ge/infer/infer.h"
#include "ge/ops/known_const.h"

namespace ge {
namespace {

// As MergeDuplicates has it: larger constants count by which they are.
constexpr uint64_t kMaxComparedBytes = 1024;

bool IsPlainTensor(const Value& v) {
  const DType d = v.type.dtype;
  return v.type.is_tensor() && d != DType::kString && d != DType::kFloat16 && d != DType::kBfloat16;
}

// Nothing of the node but operator, attributes and wiring has a meaning, and nothing is numbered
// that a graph may number in another way.
bool IsPlain(const Node& n, bool constants) {
  const auto plain = [&](const Attr& a) {
    return !std::holds_alternative<Type>(a.value) && !std::holds_alternative<Dim>(a.value) &&
           !std::holds_alternative<FunctionRef>(a.value) &&
           !std::holds_alternative<AttrRef>(a.value) &&
           !std::holds_alternative<std::vector<Type>>(a.value) &&
           (constants || !std::holds_alternative<ConstRef>(a.value));
  };
  return n.callees.empty() && n.effects.empty() && n.after.empty() &&
         std::all_of(n.attrs.begin(), n.attrs.end(), plain);
}

bool SameNode(const Node& a, const Node& b) {
  const auto same = [](const Attr& x, const Attr& y) {
    return x.name == y.name && x.value == y.value;
  };
  return a.op == b.op && a.domain == b.domain && a.inputs.size() == b.inputs.size() &&
         a.outputs.size() == b.outputs.size() &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), same);
}

bool SamePattern(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const auto at_most_two = [](const Dim& d) { return std::min<int64_t>(d.value, 2); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Dim& x, const Dim& y) { return at_most_two(x) == at_most_two(y); });
}

// Where content counts: what tells it from others. 0 else.
uint64_t ContentOf(const Const& c) {
  const auto bytes = ByteCount(c.type);
  if (!bytes || static_cast<uint64_t>(*bytes) > kMaxComparedBytes) return 0;
  ConstScratch scratch;
  const std::byte* data = ConstBytes(c, &scratch);
  WordHash hash;
  hash.Add(static_cast<uint64_t>(c.type.dtype));
  hash.Add(c.type.dims.size());
  for (const Dim& d : c.type.dims) hash.Add(static_cast<uint64_t>(d.value));
  for (int64_t i = 0; data && i < *bytes; ++i) hash.Add(static_cast<uint64_t>(data[i]));
  return hash.sum() | 1;
}

// Gives a function's parameters the types back that they had, however the work in between ends.
class DeclaredTypes {
 public:
  explicit DeclaredTypes(Function* f) : f_(*f) {
    for (const ValueId v : f_.params) types_.push_back(f_.value(v).type);
  }
  ~DeclaredTypes() {
    for (size_t i = 0; i < types_.size(); ++i) f_.value(f_.params[i]).type = std::move(types_[i]);
  }

 private:
  Function& f_;
  std::vector<Type> types_;
};

}  // namespace

bool ShapeProgram::SamePayload(const Const& left, const Const& right) {
  const bool alike = left.type == right.type && left.bytes == right.bytes &&
                     left.splat == right.splat && left.strings.empty() && right.strings.empty();
  if (!alike || left.data == right.data) return alike;
  return left.data && right.data && left.bytes <= kMaxComparedBytes &&
         std::equal(left.data, left.data + left.bytes, right.data);
}

// Finds what of the part the graph is.
class ShapeProgram::Maker {
 public:
  Maker(const Graph& part, const Graph& made, FunctionId fn, ShapeProgram* out)
      : part_(part),
        p_(part.fn(fn)),
        made_(made),
        g_(made.fn(fn)),
        out_(*out),
        to_(p_.values.size()),
        producer_(p_.values.size()) {
    out_.from_.assign(g_.values.size(), 0);
  }

  bool Run() {
    if (part_.states.size() > 1 || NeedsFlow(made_, g_)) return false;
    if (!std::all_of(p_.values.begin() + 1, p_.values.end(), IsPlainTensor)) return false;
    if (!FindNodes() || !Match(p_.params, g_.params) || !Match(p_.results, g_.results))
      return false;
    for (size_t i = 0; i < p_.nodes.size(); ++i) {
      const Node& n = p_.nodes[i];
      for (ValueId v : n.outputs) {
        if (v && !kept_[i]) producer_[v] = &n;
      }
      if (kept_[i] && !(Match(n.inputs, kept_[i]->inputs) && Match(n.outputs, kept_[i]->outputs))) {
        return false;
      }
    }
    return FindConstants() && MakeCone();
  }

 private:
  bool FindNodes() {
    std::unordered_map<NodeId, const Node*> by_id;
    for (const Node& n : g_.nodes) by_id.emplace(n.id, &n);
    size_t found = 0;
    kept_.assign(p_.nodes.size(), nullptr);
    for (size_t i = 0; i < p_.nodes.size(); ++i) {
      const Node& n = p_.nodes[i];
      const auto at = by_id.find(n.id);
      const bool kept = at != by_id.end();
      if (!IsPlain(n, !kept)) return false;
      if (!kept) continue;
      // What constants alone decide may be folded or not, as its size is.
      const bool computed =
          out_.of_data_ ||
          std::any_of(at->second->inputs.begin(), at->second->inputs.end(),
                      [&](ValueId v) { return v != 0 && g_.value(v).constant == 0; });
      if (!SameNode(n, *at->second) || !computed) return false;
      kept_[i] = at->second;
      ++found;
    }
    return found == g_.nodes.size();
  }

  bool Match(const std::vector<ValueId>& part, const std::vector<ValueId>& made) {
    if (part.size() != made.size()) return false;
    for (size_t i = 0; i < part.size(); ++i) {
      const ValueId p = part[i], g = made[i];
      if ((p == 0) != (g == 0)) return false;
      if (p == 0) continue;
      if (to_[p] == 0 && out_.from_[g] == 0) {
        to_[p] = g;
        out_.from_[g] = p;
      }
      if (to_[p] != g || out_.from_[g] != p) return false;
    }
    return true;
  }

  bool FindConstants() {
    enum class Seen : uint8_t { kNo, kOwn, kMade };
    std::vector<Seen> seen(made_.consts.size(), Seen::kNo);
    for (ValueId g = 1; g < g_.values.size(); ++g) {
      const ValueId p = out_.from_[g];
      if (p == 0) return false;
      const ConstId c = g_.value(g).constant, was = p_.value(p).constant;
      if (c == 0) {
        if (was != 0 || producer_[p] != nullptr || !g_.value(g).type.is_static()) return false;
        continue;
      }
      if (was == 0) {  // What is made anew is nobody else's.
        if (!producer_[p] || seen[c] != Seen::kNo) return false;
        seen[c] = Seen::kMade;
        out_.made_.push_back({c, g, p, needed_.size()});
        needed_.push_back(p);
        continue;
      }
      if (seen[c] == Seen::kMade || !SamePayload(made_.consts[c], part_.consts[was])) return false;
      seen[c] = Seen::kOwn;
      out_.from_[g] = 0;
      if (const uint64_t content = ContentOf(made_.consts[c])) out_.own_.push_back(content);
    }
    std::sort(out_.own_.begin(), out_.own_.end());
    return true;
  }

  // Whose answer the type of what it reads decides: that need not be computed.
  static bool ReadsSizes(const Node& n) {
    return n.domain.empty() && (n.op == "Shape" || n.op == "Size");
  }

  bool MakeCone() {
    std::vector<bool> wanted(p_.values.size());
    for (const ValueId p : needed_) wanted[p] = true;
    std::vector<const Node*> nodes;
    for (size_t i = p_.nodes.size(); i-- > 0;) {
      const Node& n = p_.nodes[i];
      if (kept_[i] || std::none_of(n.outputs.begin(), n.outputs.end(),
                                   [&](ValueId v) { return v != 0 && wanted[v]; })) {
        continue;
      }
      nodes.push_back(&n);
      if (ReadsSizes(n)) continue;
      for (const ValueId v : n.inputs) wanted[v] = true;
    }
    Graph& cone = out_.cone_;
    cone.opsets = part_.opsets;
    cone.ops = part_.ops;
    cone.name = part_.name;
    Function& f = cone.AddFunction(p_.name);
    f.next_node_id = p_.next_node_id;
    cone.entries.push_back({p_.name, f.id});
    out_.cone_from_.assign(1, 0);
    in_cone_.assign(p_.values.size(), 0);
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      Node mine = **n;
      for (ValueId& v : mine.inputs) v = ConeValue(&f, v, /*made=*/false);
      for (ValueId& v : mine.outputs) v = ConeValue(&f, v, /*made=*/true);
      for (Attr& a : mine.attrs) {
        if (auto* ref = std::get_if<ConstRef>(&a.value)) ref->id = ConeConst(ref->id);
      }
      f.nodes.push_back(std::move(mine));
    }
    for (const ValueId p : needed_) f.results.push_back(in_cone_[p]);
    return true;
  }

  ConstId ConeConst(ConstId c) { return out_.cone_.AddConst(part_.consts[c]); }

  ValueId ConeValue(Function* f, ValueId p, bool made) {
    if (p == 0 || in_cone_[p] != 0) return in_cone_[p];
    const Value& v = p_.value(p);
    const ValueId mine = in_cone_[p] = AddValue(f, v.type, v.name);
    out_.cone_from_.push_back(v.constant ? 0 : p);
    if (v.constant) {
      f->value(mine).constant = ConeConst(v.constant);
      f->value(mine).ints = v.ints;
    } else if (!made) {
      f->params.push_back(mine);
    }
    return mine;
  }

  const Graph& part_;
  const Function& p_;
  const Graph& made_;
  const Function& g_;
  ShapeProgram& out_;
  std::vector<ValueId> to_;            // by value of the part: the graph's
  std::vector<const Node*> kept_;      // by node of the part: the graph's
  std::vector<const Node*> producer_;  // by value of the part: a node that is gone
  std::vector<ValueId> needed_;        // of the part: results of the cone
  std::vector<ValueId> in_cone_;       // by value of the part
};

std::unique_ptr<ShapeProgram> ShapeProgram::Make(const Graph& part, FunctionId fn,
                                                 ReshapeInputs made, bool of_data) {
  std::unique_ptr<ShapeProgram> out(new ShapeProgram);
  out->fn_ = fn;
  out->of_data_ = of_data;
  if (!made.is_back() || !made.shape_class || !Maker(part, made.graph, fn, out.get()).Run()) {
    return nullptr;
  }
  out->reshape_ = std::move(made);
  for (Value& v : out->reshape_.graph.fn(fn).values) v.ints.reset();  // of that signature
  out->alike_ = out->Likenesses();
  out->DropMade();
  return out;
}

void ShapeProgram::TakeBack(ReshapeInputs reshape) {
  reshape_ = std::move(reshape);
  if (usable()) DropMade();
}

void ShapeProgram::DropMade() {
  for (const Made& m : made_) {
    Const& c = reshape_.graph.consts[m.constant];
    c.owner.reset();
    c.expanded.reset();
    c.data = nullptr;
  }
}

std::vector<uint64_t> ShapeProgram::Likenesses() const {
  std::vector<uint64_t> contents, out;
  for (const Made& m : made_) {
    const uint64_t content = ContentOf(reshape_.graph.consts[m.constant]);
    contents.push_back(content);
    const auto own = std::lower_bound(own_.begin(), own_.end(), content);
    if (content != 0 && own != own_.end() && *own == content) {
      out.push_back(content);
      continue;
    }
    const auto first = std::find(contents.begin(), contents.end(), content);
    out.push_back(content == 0 ? 0 : 1 + static_cast<uint64_t>(first - contents.begin()));
  }
  return out;
}

// One of another class is looked for by its own key.
bool ShapeProgram::Fits(const std::vector<Dim>& now, const std::vector<Dim>& then) {
  if (SamePattern(now, then)) return true;
  if (!of_data_ || now.size() != then.size()) return false;
  reshape_.shape_class.reset();
  return true;
}

bool ShapeProgram::TakeTypes(const Function& part) {
  Function& f = reshape_.graph.fn(fn_);
  for (ValueId v = 1; v < f.values.size(); ++v) {
    if (from_[v] == 0 || f.values[v].constant != 0) continue;
    const Type& now = part.value(from_[v]).type;
    Type& type = f.values[v].type;
    if (!now.is_static() || now.dtype != type.dtype || !Fits(now.dims, type.dims)) {
      return false;
    }
    std::copy(now.dims.begin(), now.dims.end(), type.dims.begin());
  }
  return true;
}

bool ShapeProgram::TakeMade(std::vector<Const> made) {
  Function& f = reshape_.graph.fn(fn_);
  for (size_t i = 0; i < made_.size(); ++i) {
    Const& at = reshape_.graph.consts[made_[i].constant];
    if (made[i].type.dtype != at.type.dtype || !Fits(made[i].type.dims, at.type.dims)) return false;
    at = std::move(made[i]);
    f.value(made_[i].value).type = at.type;
  }
  return of_data_ || Likenesses() == alike_;
}

// What is left of the cone for results that inference does not know: from values that it knows on.
class ShapeProgram::Narrower {
 public:
  Narrower(const ShapeProgram& program, const Function& part)
      : whole_(program.cone_),
        w_(whole_.functions[1]),
        from_(program.cone_from_),
        part_(part),
        mine_(w_.values.size()) {}

  Graph Run(const std::vector<ValueId>& results) {
    out_.opsets = whole_.opsets;
    out_.ops = whole_.ops;
    out_.name = whole_.name;
    Function& f = out_.AddFunction(w_.name);
    f.next_node_id = w_.next_node_id;
    out_.entries.push_back({w_.name, f.id});
    const std::vector<const Node*> nodes = Wanted(results);
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      Node mine = **n;
      for (ValueId& v : mine.inputs) v = ValueOf(&f, v, /*made=*/false);
      for (ValueId& v : mine.outputs) v = ValueOf(&f, v, /*made=*/true);
      for (Attr& a : mine.attrs) {
        auto* ref = std::get_if<ConstRef>(&a.value);
        if (ref) ref->id = out_.AddConst(whole_.consts[ref->id]);
      }
      f.nodes.push_back(std::move(mine));
    }
    for (const ValueId v : results) f.results.push_back(ValueOf(&f, v, /*made=*/false));
    return std::move(out_);
  }

 private:
  const Value& InPart(ValueId v) const { return from_[v] ? part_.value(from_[v]) : w_.value(v); }

  std::vector<const Node*> Wanted(const std::vector<ValueId>& results) const {
    std::vector<bool> wanted(w_.values.size());
    for (const ValueId v : results) wanted[v] = true;
    std::vector<const Node*> nodes;
    for (size_t i = w_.nodes.size(); i-- > 0;) {
      const Node& n = w_.nodes[i];
      const auto asked = [&](ValueId v) { return v != 0 && wanted[v]; };
      if (std::none_of(n.outputs.begin(), n.outputs.end(), asked)) continue;
      nodes.push_back(&n);
      for (const ValueId v : n.inputs) wanted[v] = wanted[v] || (v != 0 && !KnownConst(InPart(v)));
    }
    return nodes;
  }

  ValueId ValueOf(Function* f, ValueId v, bool made) {
    if (v == 0 || mine_[v] != 0) return mine_[v];
    const Value& now = InPart(v);
    const ValueId mine = mine_[v] = AddValue(f, now.type, w_.value(v).name);
    f->value(mine).ints = now.ints;
    if (made) return mine;
    if (const ConstId c = w_.value(v).constant) {
      f->value(mine).constant = out_.AddConst(whole_.consts[c]);
    } else if (auto known = KnownConst(now)) {
      f->value(mine).constant = out_.AddConst(*std::move(known));
    } else {
      f->params.push_back(mine);
    }
    return mine;
  }

  const Graph& whole_;
  const Function& w_;
  const std::vector<ValueId>& from_;
  const Function& part_;
  Graph out_;
  std::vector<ValueId> mine_;  // by value of the cone
};

Result<bool> ShapeProgram::FoldCone(const Function& part, const Fold& fold,
                                    std::vector<Const>* made) const {
  std::vector<ValueId> results;  // that inference does not know
  std::vector<size_t> unknown;
  for (const Made& m : made_) {
    std::optional<Const> known = KnownConst(part.value(m.part));
    if (!known) {
      results.push_back(cone_.functions[1].results[m.result]);
      unknown.push_back(made->size());
    }
    made->push_back(known ? *std::move(known) : Const());
  }
  if (results.empty()) return true;
  Graph rest = Narrower(*this, part).Run(results);
  const Status status = fold(&rest);
  GE_RETURN_IF_ERROR(CheckInterrupt());
  for (size_t i = 0; i < unknown.size(); ++i) {
    const Function& f = rest.functions[1];
    const ConstId c = status.ok() ? f.value(f.results[i]).constant : 0;
    if (c == 0) return false;
    (*made)[unknown[i]] = rest.consts[c];
  }
  return true;
}

Result<bool> ShapeProgram::Take(const Function& part, const Fold& fold) {
  std::vector<Const> made;
  Result<bool> good = TakeTypes(part);
  if (*good) good = FoldCone(part, fold, &made);
  if (good.ok() && *good) good = TakeMade(std::move(made));
  if (!good.ok() || !*good) DropMade();
  return good;
}

Status ShapeProgram::HandOver(ReshapeInputs* reshape) {
  if (reshape_.view) {
    GE_RETURN_IF_ERROR(reshape_.view->Renew(reshape_.graph, reshape_.graph.fn(fn_)));
  }
  *reshape = std::move(reshape_);
  reshape_ = {};
  return {};
}

Result<bool> ShapeProgram::Bind(Graph* part, const Entry& entry, const Shapes& shapes,
                                const Fold& fold, ReshapeInputs* reshape) {
  if (!usable()) return false;
  Function& p = part->fn(fn_);
  Result<bool> good = false;
  {
    const DeclaredTypes declared(&p);
    const Status status = BindInPlace(part, entry, shapes);
    GE_RETURN_IF_ERROR(CheckInterrupt());
    if (status.ok()) good = Take(p, fold);
  }
  if (good.ok() && *good) GE_RETURN_IF_ERROR(HandOver(reshape));
  return good;
}

Result<bool> ShapeProgram::BindSized(const Function& part, const Fold& fold,
                                     ReshapeInputs* reshape) {
  if (!usable()) return false;
  const Result<bool> good = Take(part, fold);
  if (good.ok() && *good) GE_RETURN_IF_ERROR(HandOver(reshape));
  return good;
}

}  // namespace ge
