// Parser: the parts of ParseText, one method a construct of the grammar. Internal to this folder.
// The text must outlive it. Used by one thread, once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/text/lexer.h"
#include "frontend/text/text.h"
#include "ge/ir/graph.h"

namespace ge::text {

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view file, const ParseLimits& limits)
      : tokens_(std::move(tokens)), file_(file), limits_(limits) {}

  Status ParseModule();
  Status ParseLoneConst(Const* out);
  Graph TakeGraph() { return std::move(g_); }

 protected:  // PlanParser (plan_parser.cc) reads with the same cursor
  // The functions of one name table: "w", "%3" and "w%3" are three different labels.
  using Labels = std::unordered_map<std::string, uint32_t>;
  struct Label {
    std::string name, key;
    size_t token = 0;
  };
  struct FunctionScope {
    Function* f = nullptr;
    Labels values;
    std::vector<size_t> first_seen;  // by ValueId: token
    std::vector<char> defined;       // by ValueId
    std::vector<Label> results;
    NodeId greatest = 0;
  };

  // parser.cc: the cursor
  const Token& Peek(size_t ahead = 0) const;
  bool IsPunct(std::string_view text, size_t ahead = 0) const;
  bool IsKeyword(std::string_view text, size_t ahead = 0) const;
  bool Accept(std::string_view punct);
  bool AcceptWord(std::string_view word);
  Status Expect(std::string_view punct, std::string_view where);
  Status Wanted(std::string_view wanted) const;  // "found X, wanted ..." at the cursor
  Status FailAt(Code code, size_t token, const std::string& what) const;
  bool AtName(size_t ahead = 0) const;
  bool OnSameLine() const;  // as the token before the cursor
  Status Name(std::string* out, std::string_view wanted);
  Status String(std::string* out, std::string_view wanted);
  Status Hex(std::string* out);
  Status Int(int64_t* out, std::string_view wanted);
  Status Uint(uint64_t* out, uint64_t most, std::string_view wanted);
  Status Uint32(uint32_t* out, std::string_view wanted);
  Status ParseLabel(Label* out, std::string_view wanted);
  Status Find(const Labels& table, const Label& label, std::string_view kind, uint32_t* id) const;
  Status Reference(const Labels& table, std::string_view kind, uint32_t* id);
  Status AcceptUnknown(std::string* out);

  // parser.cc: the module
  void Prescan();
  // The id given by Prescan to the `next`-th entry of a table, which `label` must name.
  Status CheckPrescanned(const Labels& table, const Label& label, uint32_t next) const;
  Status Declare(Labels* table, const Label& label, std::string_view kind, uint32_t id) const;
  Status ParseVersion();
  Status ParseStatement();
  Status ParseOpset();
  Status ParseMeta();
  Status ParseSymbol();
  Status ParseLoc();
  Status ParseState();
  Status ParseStateClause(State* state);
  Status ParseEntry();

  // parser_const.cc
  Status ParseConstStatement();
  Status ParseConstBody(Const* constant);
  Status ParsePayload(Const* constant);
  Status ParseExternal(Const* constant);
  Status ParseElements(const Type& type, std::string* bytes, int64_t* count, int depth);
  Status ParseOneElement(const Type& type, std::string* bytes);
  Status ParseStrings(Const* constant);

  // parser_type.cc
  Status ParseType(Type* out, int depth);
  Status ParseTensor(Type* out);
  Status ParseShape(Type* out);
  Status ParseContainer(Type* out, int depth);
  Status ParseElem(Type* out, int depth);
  Status ParseTuple(Type* out, int depth);
  Status ParseFunc(Type* out, int depth);
  Status ParseDType(DType* out);
  Status ParseDim(Dim* out, int depth);
  Status ParseProduct(Dim* out, int depth);
  Status ParseFactor(Dim* out, int depth);
  Status ParseDimFunction(Dim* out, int depth);
  Status Combined(std::optional<Dim> result, size_t token, Dim* out) const;

  // parser_function.cc
  Status ParseFunction();
  Status ParseHeader(FunctionScope* scope);
  Status ParseNextId(Function* function);
  Status ParseHeaderClause(FunctionScope* scope, bool* found);
  Status ParseDerived(Function::Derived* derived);
  Status ParseBits(std::vector<bool>* out);
  Status ParseBodyStatement(FunctionScope* scope);
  Status FinishFunction(FunctionScope* scope);
  Status ValueReference(FunctionScope* scope, ValueId* out);
  ValueId Meet(FunctionScope* scope, const Label& label);
  Status ValueDefinition(FunctionScope* scope, ValueId* out);
  bool AtOperator() const;

  // parser_node.cc
  Status ParseNode(FunctionScope* scope, std::vector<ValueId> outputs);
  Status ParseOpName(Node* n);
  Status ParseAttrs(Node* n);
  Status ParseAttrValue(Attr::Payload* out);
  Status ParseAttrList(Attr::Payload* out);
  Status ParseNumber(Attr::Payload* out);
  Status ParseNan(double* out);
  Status ParseClause(Node* n, bool* found);
  Status ParseCallees(Node* n);
  Status ParseEffects(std::vector<Effect>* out);
  Status ParseOrigin(Node* n);
  Status ParseHints(Hints* hints);
  Status ParseStringList(std::vector<std::string>* out);
  Status ParseLocRef(LocId* out);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string_view file_;
  ParseLimits limits_;
  Graph g_;
  Labels consts_, states_, functions_;
  uint32_t next_state_ = 1, next_function_ = 1;
  Status prescan_;  // the first duplicate met by Prescan
  struct PendingMaster {
    StateId state;
    Label master;
  };
  std::vector<PendingMaster> masters_;
};

}  // namespace ge::text
