#include <fmt/format.h>

#include <algorithm>

#include "frontend/text/parser.h"

namespace ge::text {

// The value of this label, made at its first appearance: names may be read before they are made,
// since a graph out of order is VERIFY's business.
ValueId Parser::Meet(FunctionScope* scope, const Label& label) {
  const auto next = static_cast<ValueId>(scope->f->values.size());
  const auto [it, fresh] = scope->values.try_emplace(label.key, next);
  if (fresh) {
    scope->f->values.emplace_back().name = label.name;
    scope->first_seen.resize(next + size_t{1});
    scope->first_seen[next] = label.token;
    scope->defined.resize(next + size_t{1}, 0);
  }
  return it->second;
}

Status Parser::ValueReference(FunctionScope* scope, ValueId* out) {
  if (AcceptWord("_")) {
    *out = 0;
    return Status();
  }
  Label label;
  GE_RETURN_IF_ERROR(ParseLabel(&label, "the name of a value, or '_' for an absent one"));
  *out = Meet(scope, label);
  return Status();
}

// x: f32[N] loc 3 unknown hex"..."
Status Parser::ValueDefinition(FunctionScope* scope, ValueId* out) {
  if (AcceptWord("_")) {
    *out = 0;
    return Status();
  }
  Label label;
  GE_RETURN_IF_ERROR(ParseLabel(&label, "the name of a value, or '_' for an absent one"));
  *out = Meet(scope, label);
  if (scope->defined[*out]) {
    return FailAt(Code::kInvalidGraph, label.token,
                  fmt::format("found a second definition of {}, wanted one: give it another name, "
                              "or a '%' number after it",
                              Quote(label.name)));
  }
  scope->defined[*out] = 1;
  Value value;
  value.name = label.name;
  if (Accept(":")) GE_RETURN_IF_ERROR(ParseType(&value.type, 0));
  if (IsKeyword("loc") && OnSameLine()) GE_RETURN_IF_ERROR(ParseLocRef(&value.loc));
  if (OnSameLine()) GE_RETURN_IF_ERROR(AcceptUnknown(&value.unknown_fields));
  scope->f->values[*out] = std::move(value);
  return Status();
}

Status Parser::ParseBits(std::vector<bool>* out) {
  std::string bits;
  const size_t token = at_;
  GE_RETURN_IF_ERROR(String(&bits, "a string of 0 and 1"));
  for (const char c : bits) {
    if (c != '0' && c != '1') {
      return FailAt(Code::kDataCorrupt, token, "found another character, wanted only 0 and 1");
    }
    out->push_back(c == '1');
  }
  return Status();
}

Status Parser::ParseDerived(Function::Derived* derived) {
  GE_RETURN_IF_ERROR(String(&derived->kind, "the kind of derivation in quotes"));
  if (AcceptWord("of")) GE_RETURN_IF_ERROR(Reference(functions_, "function", &derived->of));
  if (AcceptWord("in")) GE_RETURN_IF_ERROR(ParseBits(&derived->active_in));
  if (AcceptWord("out")) GE_RETURN_IF_ERROR(ParseBits(&derived->active_out));
  if (AcceptWord("policy")) GE_RETURN_IF_ERROR(String(&derived->policy, "the policy in quotes"));
  if (AcceptWord("pass")) GE_RETURN_IF_ERROR(String(&derived->pass, "the pass in quotes"));
  if (AcceptWord("version"))
    GE_RETURN_IF_ERROR(String(&derived->pass_version, "the version in quotes"));
  return Status();
}

Status Parser::ParseNextId(Function* function) {
  const size_t token = at_;
  GE_RETURN_IF_ERROR(Uint32(&function->next_node_id, "a node id"));
  if (function->next_node_id <= kMaxFileNodeId + 1) return Status();
  return FailAt(Code::kInvalidGraph, token,
                fmt::format("found {} as the next node id, wanted at most {}",
                            function->next_node_id, kMaxFileNodeId + 1));
}

Status Parser::ParseHeaderClause(FunctionScope* scope, bool* found) {
  Function* f = scope->f;
  *found = true;
  if (AcceptWord("overload")) return String(&f->overload, "the overload in quotes");
  if (AcceptWord("effects")) return ParseEffects(&f->effects);
  if (AcceptWord("derived")) return ParseDerived(&f->derived);
  if (AcceptWord("jvp")) return Reference(functions_, "function", &f->custom_jvp);
  if (AcceptWord("vjp")) return Reference(functions_, "function", &f->custom_vjp);
  if (AcceptWord("next")) return ParseNextId(f);
  if (AcceptWord("doc")) return String(&f->doc, "a text in quotes");
  if (IsKeyword("loc")) return ParseLocRef(&f->loc);
  if (IsKeyword("unknown")) return AcceptUnknown(&f->unknown_fields);
  if (AcceptWord("recursive")) {
    f->recursive = true;
    return Status();
  }
  if (AcceptWord("inline")) {
    if (AcceptWord("never")) {
      f->inlining = Function::Inline::kNever;
    } else if (AcceptWord("always")) {
      f->inlining = Function::Inline::kAlways;
    } else {
      return Wanted("'never' or 'always' after 'inline'");
    }
    return Status();
  }
  if (AcceptWord("attrs")) {
    GE_RETURN_IF_ERROR(Expect("[", "and the attribute parameters"));
    while (!Accept("]")) {
      GE_RETURN_IF_ERROR(Name(&f->attr_params.emplace_back(), "an attribute parameter"));
      if (!Accept(",") && !IsPunct("]")) return Wanted("',' or ']' after a parameter");
    }
    return Status();
  }
  *found = false;
  return Status();
}

Status Parser::ParseHeader(FunctionScope* scope) {
  GE_RETURN_IF_ERROR(Expect("(", "and the parameters"));
  while (!Accept(")")) {
    const size_t token = at_;
    ValueId v = 0;
    GE_RETURN_IF_ERROR(ValueDefinition(scope, &v));
    if (v == 0) return FailAt(Code::kInvalidGraph, token, "found '_', wanted a parameter's name");
    scope->f->params.push_back(v);
    if (!Accept(",") && !IsPunct(")")) return Wanted("',' or ')' after a parameter");
  }
  GE_RETURN_IF_ERROR(Expect("->", "and the results, as in -> (y)"));
  GE_RETURN_IF_ERROR(Expect("(", "and the results"));
  while (!Accept(")")) {
    // Kept as labels: they are values of the body, which comes later.
    Label& label = scope->results.emplace_back();
    label.token = at_;
    if (!AcceptWord("_")) GE_RETURN_IF_ERROR(ParseLabel(&label, "the name of a value"));
    if (!Accept(",") && !IsPunct(")")) return Wanted("',' or ')' after a result");
  }
  for (bool found = true; found;) GE_RETURN_IF_ERROR(ParseHeaderClause(scope, &found));
  return Status();
}

// True at "Op(", "dom.Op(" and "()": no list of outputs stands here.
bool Parser::AtOperator() const { return AtName() && (IsPunct("(", 1) || IsPunct(".", 1)); }

Status Parser::ParseBodyStatement(FunctionScope* scope) {
  if (IsKeyword("value") && (AtName(1) || IsPunct("%", 1))) {
    ++at_;
    ValueId v = 0;
    return ValueDefinition(scope, &v);
  }
  std::vector<ValueId> outputs;
  if (!AtOperator()) {
    do {
      GE_RETURN_IF_ERROR(ValueDefinition(scope, &outputs.emplace_back()));
    } while (Accept(","));
    GE_RETURN_IF_ERROR(Expect("=", "after the outputs of a node"));
  }
  const bool constant = IsKeyword("const") && !IsPunct("(", 1) && !IsPunct(".", 1);
  if (!constant) return ParseNode(scope, std::move(outputs));
  ++at_;
  if (outputs.size() != 1 || outputs[0] == 0) return Wanted("one name before '= const'");
  Value& value = scope->f->values[outputs[0]];
  GE_RETURN_IF_ERROR(Reference(consts_, "const", &value.constant));
  return Status();
}

// Names that the body reads and does not make are module constants.
Status Parser::FinishFunction(FunctionScope* scope) {
  Function* f = scope->f;
  for (const Label& label : scope->results) {
    f->results.push_back(label.key.empty() ? 0 : Meet(scope, label));
  }
  std::unordered_map<ValueId, const std::string*> keys;
  for (const auto& [key, id] : scope->values) keys[id] = &key;
  for (ValueId v = 1; v < f->values.size(); ++v) {
    if (scope->defined[v]) continue;
    const auto it = consts_.find(*keys[v]);
    const bool plain = *keys[v] == f->values[v].name;  // "%3" numbers a value, not a const
    if (!plain || it == consts_.end()) {
      return FailAt(
          Code::kInvalidGraph, scope->first_seen[v],
          fmt::format("found {}, which function {} reads but nothing makes; wanted a "
                      "parameter, an output of a node or a const above the function",
                      plain ? Quote(f->values[v].name) : "a numbered value", Quote(f->name)));
    }
    f->values[v].constant = it->second;
    f->values[v].type = g_.consts[it->second].type;
  }
  f->next_node_id = std::max(f->next_node_id, scope->greatest + 1);
  return Status();
}

Status Parser::ParseFunction() {
  Label label;
  GE_RETURN_IF_ERROR(ParseLabel(&label, "the function's name"));
  GE_RETURN_IF_ERROR(CheckPrescanned(functions_, label, next_function_));
  FunctionScope s;
  s.f = &g_.functions[next_function_++];
  s.first_seen.resize(1);
  s.defined.resize(1);
  GE_RETURN_IF_ERROR(ParseHeader(&s));
  GE_RETURN_IF_ERROR(Expect("{", "and the body of the function"));
  while (!Accept("}")) {
    if (Peek().kind == TokenKind::kEnd) return Wanted("'}' at the end of the function");
    GE_RETURN_IF_ERROR(ParseBodyStatement(&s));
  }
  return FinishFunction(&s);
}

}  // namespace ge::text
