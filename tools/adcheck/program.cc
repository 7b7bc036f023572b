#include "tools/adcheck/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "ge/ops/op.h"

namespace ge::adcheck {
namespace {

const std::string kS = "f64[]", kV = "f64[3]", kM = "f64[3,3]", kI = "i64[]", kB = "bool[]";

constexpr const char* kConstants = R"(const half : f64[] = 0.5
const third : f64[] = -0.3
const two : f64[] = 2
const three : f64[3] = [0.4, -0.7, 1.1]
const nine : f64[3,3] = [0.2, -0.4, 0.3, 0.5, 0.1, -0.6, 0.7, -0.2, 0.4]
const front : i64[1] = [0]
const yes : bool[] = true
const i0 : i64[] = 0
const i1 : i64[] = 1
const i2 : i64[] = 2
const i3 : i64[] = 3
const i4 : i64[] = 4
)";

// One function while it is made.
struct Scope {
  ProgramFunction f;
  std::vector<ProgramValue> values;  // floats alone
  int next = 0;
};

class Maker {
 public:
  Maker(uint64_t seed, const ProgramOptions& options) : random_(seed), options_(options) {}
  Program Make();

 private:
  using Names = std::vector<std::string>;
  int Draw(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Draw(100) < percent; }
  std::string AnyType() { return Chance(50) ? kS : Chance(70) ? kV : kM; }

  Names Put(Scope& s, const std::string& op, const Names& in, const Names& types,
            const std::string& attrs = "",
            std::vector<std::pair<std::string, std::string>> calls = {});
  std::string Put1(Scope& s, const std::string& op, const Names& in, const std::string& type,
                   const std::string& attrs = "") {
    return Put(s, op, in, {type}, attrs)[0];
  }
  std::string Pick(Scope& s, const std::string& type);
  std::string Squash(Scope& s, const std::string& name, const std::string& type);
  std::vector<ProgramValue> Captures(Scope& s);
  std::string Condition(Scope& s);
  std::string Begin(Scope& s, const char* kind, const std::vector<ProgramValue>& params);

  void Fill(Scope& s, int steps, int depth);
  void Step(Scope& s, int depth);
  void Unary(Scope& s);
  void Binary(Scope& s);
  void Shape(Scope& s);
  void PutIf(Scope& s, int depth);
  void PutLoop(Scope& s, int depth);
  void PutScan(Scope& s, int depth);
  void PutCall(Scope& s, int depth);
  void PutRecursion(Scope& s, int depth);
  void PutClosure(Scope& s, int depth);
  std::string Body(const std::vector<ProgramValue>& params, const Names& types, int depth);

  std::mt19937_64 random_;
  ProgramOptions options_;
  Program p_;
  struct Shared {
    std::string name;
    Names params;
    std::string result;
  };
  std::vector<Shared> shared_;
  int functions_ = 0;
};

Maker::Names Maker::Put(Scope& s, const std::string& op, const Names& in, const Names& types,
                        const std::string& attrs,
                        std::vector<std::pair<std::string, std::string>> calls) {
  ProgramNode n;
  n.op = op;
  n.in = in;
  n.attrs = attrs;
  n.calls = std::move(calls);
  Names names;
  for (const std::string& type : types) {
    names.push_back("v" + std::to_string(++s.next));
    n.out.push_back({names.back(), type});
    if (type == kS || type == kV || type == kM) s.values.push_back(n.out.back());
  }
  s.f.nodes.push_back(std::move(n));
  return names;
}

// One that is there, late ones more often; else one is made of another type.
std::string Maker::Pick(Scope& s, const std::string& type) {
  Names fits;
  for (const ProgramValue& v : s.values) {
    if (v.type == type) fits.push_back(v.name);
  }
  if (!fits.empty() && !Chance(5)) {
    const int n = static_cast<int>(fits.size());
    return fits[static_cast<size_t>(Chance(50) ? n - 1 : Draw(n))];
  }
  if (type == kS) {
    const std::string from = Chance(70) ? kV : kM;
    const bool any = std::any_of(s.values.begin(), s.values.end(),
                                 [&](const ProgramValue& v) { return v.type == from; });
    if (!any) return Chance(50) ? "half" : "third";
    return Put1(s, "ReduceMean", {Pick(s, from), "_"}, kS, "{keepdims=0}");
  }
  return Put1(s, "Mul", {Pick(s, kS), type == kV ? "three" : "nine"}, type);
}

std::string Maker::Squash(Scope& s, const std::string& name, const std::string& type) {
  return Put1(s, Chance(60) ? "Tanh" : "Sin", {name}, type);
}

std::vector<ProgramValue> Maker::Captures(Scope& s) {
  std::vector<ProgramValue> taken = s.values;
  std::shuffle(taken.begin(), taken.end(), random_);
  taken.resize(std::min(taken.size(), static_cast<size_t>(1 + Draw(3))));
  return taken;
}

std::string Maker::Condition(Scope& s) {
  return Put1(s, Chance(50) ? "Less" : "Greater", {Pick(s, kS), Chance(50) ? "third" : "half"}, kB);
}

std::string Maker::Begin(Scope& s, const char* kind, const std::vector<ProgramValue>& params) {
  s.f.name = fmt::format("{}{}", kind, ++functions_);
  for (const ProgramValue& p : params) {
    const ProgramValue v{"p" + std::to_string(s.f.params.size()), p.type};
    s.f.params.push_back(v);
    if (v.type == kS || v.type == kV || v.type == kM) s.values.push_back(v);
  }
  return s.f.name;
}

// ---- straight lines

void Maker::Unary(Scope& s) {
  static const char* const kOps[] = {"Tanh", "Sin",      "Cos",      "Sigmoid", "Atan",
                                     "Neg",  "Softplus", "Identity", "Exp",     "Abs"};
  const std::string type = AnyType(), op = kOps[Draw(10)];
  std::string x = Pick(s, type);
  if (op == "Exp") x = Put1(s, "Tanh", {x}, type);
  Put1(s, op, {x}, type);
  static const bool stops = FindOp("ge", "StopGradient") != nullptr;
  if (stops && Chance(3)) Put1(s, "ge.StopGradient", {Pick(s, type)}, type);
}

void Maker::Binary(Scope& s) {
  const std::string type = AnyType();
  static const char* const kOps[] = {"Add", "Sub", "Mul", "Div"};
  const std::string op = kOps[Draw(4)];
  std::string a = Pick(s, type), b = Pick(s, Chance(30) ? kS : type);
  if (op == "Mul") a = Put1(s, "Sin", {a}, type);
  if (op == "Div") {  // by what is at least one
    const std::string square = Put1(s, "Mul", {b, b}, "");
    b = Put1(s, "Add", {square, "two"}, "");
  }
  Put1(s, op, {a, b}, type);
}

void Maker::Shape(Scope& s) {
  switch (Draw(5)) {
    case 0:
      Put1(s, "ReduceSum", {Pick(s, kV), "_"}, kS, "{keepdims=0}");
      break;
    case 1:
      Put1(s, "MatMul", {Pick(s, kM), Pick(s, kV)}, kV);
      break;
    case 2:
      Put1(s, "Transpose", {Pick(s, kM)}, kM);
      break;
    case 3:
      Put1(s, "ReduceMean", {Pick(s, kM), "front"}, kV, "{keepdims=0}");
      break;
    default:
      Put1(s, "Mul", {Pick(s, kV), Put1(s, "Tanh", {Pick(s, kM)}, kM)}, kM);
  }
}

// ---- control flow

std::string Maker::Body(const std::vector<ProgramValue>& params, const Names& types, int depth) {
  Scope s;
  const std::string name = Begin(s, "f", params);
  Fill(s, Draw(4), depth);
  // Once in a while a result depends on nothing that is given.
  for (const std::string& type : types) {
    const bool constant = type == kS && Chance(8);
    s.f.results.push_back(Put1(s, "Identity", {constant ? "half" : Pick(s, type)}, type));
  }
  p_.functions.push_back(std::move(s.f));
  return name;
}

void Maker::PutIf(Scope& s, int depth) {
  const std::string c = Condition(s);
  const std::vector<ProgramValue> captured = Captures(s);
  Names types = {AnyType()}, in = {c};
  if (Chance(30)) types.push_back(AnyType());
  for (const ProgramValue& v : captured) in.push_back(v.name);
  const std::string yes = Body(captured, types, depth - 1), no = Body(captured, types, depth - 1);
  Put(s, "If", in, types, "", {{"then_branch", yes}, {"else_branch", no}});
}

void Maker::PutLoop(Scope& s, int depth) {
  std::vector<ProgramValue> carried = {{"", AnyType()}};
  if (Chance(40)) carried.push_back({"", AnyType()});
  std::string trips = fmt::format("i{}", Draw(5)), go = Chance(70) ? "yes" : Condition(s);
  const bool limited = Chance(30);  // by its body alone
  if (limited) trips = "_";
  if (!limited && Chance(30)) {  // as often as the data say: 0 to 3
    const std::string t = Put1(s, "Tanh", {Pick(s, kS)}, kS), a = Put1(s, "Abs", {t}, kS);
    const std::string b = Put1(s, "Add", {a, a}, kS), f = Put1(s, "Add", {b, b}, kS);
    trips = Put1(s, "Cast", {f}, kI, "{to=7}");
  }
  Names in = {trips, go};
  for (ProgramValue& v : carried) {
    v.name = Pick(s, v.type);
    in.push_back(v.name);
  }
  const std::vector<ProgramValue> captured = Captures(s);
  for (const ProgramValue& v : captured) in.push_back(v.name);
  const bool scans = Chance(50);
  const std::string scanned = Chance(50) ? kS : kV;
  Scope b;
  std::vector<ProgramValue> params = {{"", kI}, {"", kB}};
  params.insert(params.end(), carried.begin(), carried.end());
  params.insert(params.end(), captured.begin(), captured.end());
  const std::string body = Begin(b, "f", params);
  Fill(b, 1 + Draw(3), depth - 1);
  std::string more = limited ? Put1(b, "Less", {"p0", fmt::format("i{}", Draw(4))}, kB) : "yes";
  if (limited ? Chance(40) : Chance(50)) {
    const std::string c = Condition(b);
    more = limited ? Put1(b, "And", {more, c}, kB) : c;
  }
  b.f.results.push_back(Put1(b, "Identity", {more}, kB));
  Names types;
  for (const ProgramValue& v : carried) {
    b.f.results.push_back(Squash(b, Pick(b, v.type), v.type));
    types.push_back(v.type);
  }
  if (scans) {
    b.f.results.push_back(Put1(b, "Identity", {Pick(b, scanned)}, scanned));
    types.push_back("");
  }
  p_.functions.push_back(std::move(b.f));
  const Names out =
      Put(s, "Loop", in, types, fmt::format("{{captures={}}}", captured.size()), {{"body", body}});
  if (scans) Put1(s, "ReduceSum", {out.back(), "front"}, scanned, "{keepdims=0}");
}

void Maker::PutScan(Scope& s, int depth) {
  std::vector<ProgramValue> state;
  if (Chance(80)) state.push_back({"", AnyType()});
  Names in;
  for (ProgramValue& v : state) {
    v.name = Pick(s, v.type);
    in.push_back(v.name);
  }
  const int elements = 1 + Draw(2);
  std::string ways, axes;
  for (int i = 0; i < elements; ++i) {
    in.push_back(Pick(s, kM));
    ways += (i ? ", " : "") + std::to_string(Draw(2));

    axes += (i ? ", " : "") + std::to_string(Draw(2));
  }
  const std::vector<ProgramValue> captured = Captures(s);
  for (const ProgramValue& v : captured) in.push_back(v.name);
  const bool scans = state.empty() || Chance(70);
  Scope b;
  std::vector<ProgramValue> params = state;
  for (int i = 0; i < elements; ++i) params.push_back({"", kV});
  params.insert(params.end(), captured.begin(), captured.end());
  const std::string body = Begin(b, "f", params);
  Fill(b, 1 + Draw(3), depth - 1);
  Names types;
  for (const ProgramValue& v : state) {
    b.f.results.push_back(Squash(b, Pick(b, v.type), v.type));
    types.push_back(v.type);
  }
  std::string more;
  if (scans) {
    b.f.results.push_back(Put1(b, "Identity", {Pick(b, kV)}, kV));
    types.push_back(kM);
    more = fmt::format(", scan_output_axes=[{}], scan_output_directions=[{}]", Draw(2), Draw(2));
  }
  p_.functions.push_back(std::move(b.f));
  Put(s, "Scan", in, types,
      fmt::format("{{num_scan_inputs={}, captures={}, scan_input_directions=[{}], "
                  "scan_input_axes=[{}]{}}}",
                  elements, captured.size(), ways, axes, more),
      {{"body", body}});
}

void Maker::PutCall(Scope& s, int depth) {
  if (shared_.empty() || Chance(40)) {
    Shared f;
    std::vector<ProgramValue> params;
    for (int i = 1 + Draw(3); i > 0; --i) {
      params.push_back({"", AnyType()});
      f.params.push_back(params.back().type);
    }
    f.result = AnyType();
    f.name = Body(params, {f.result}, depth - 1);
    shared_.push_back(f);
  }
  const Shared f = shared_[static_cast<size_t>(Draw(static_cast<int>(shared_.size())))];
  Names in;
  for (const std::string& type : f.params) in.push_back(Pick(s, type));
  Put(s, "ge.Call", in, {f.result}, "", {{"fn", f.name}});
}

// f(n, x, w) = n < 1 ? base(x, w) : step(x, w, f(n - 1, squashed, w))
void Maker::PutRecursion(Scope& s, int depth) {
  const std::string type = AnyType();
  const std::vector<ProgramValue> params = {{"", kI}, {"", type}, {"", kS}};
  Scope f, base, step;
  const std::string name = Begin(f, "r", params), stop = Begin(base, "r", params),
                    go = Begin(step, "r", params);
  f.f.recursive = base.f.recursive = step.f.recursive = true;
  const std::string small = Put1(f, "Less", {"p0", "i1"}, kB);
  f.f.results = Put(f, "If", {small, "p0", "p1", "p2"}, {type}, "",
                    {{"then_branch", stop}, {"else_branch", go}});
  base.f.results = {Put1(base, "Mul", {"p1", "p2"}, type)};
  const std::string n = Put1(step, "Sub", {"p0", "i1"}, kI);
  Fill(step, 1 + Draw(2), std::min(0, depth));
  const std::string x = Squash(step, Pick(step, type), type);
  const std::string inner =
      Put(step, "ge.Call", {n, x, Pick(step, kS)}, {type}, "", {{"fn", name}})[0];
  step.f.results = {
      Put1(step, "Add", {Put1(step, "Sin", {inner}, type), Put1(step, "Mul", {"p1", "half"}, type)},
           type)};
  for (Scope* part : {&f, &base, &step}) p_.functions.push_back(std::move(part->f));
  Put(s, "ge.Call", {fmt::format("i{}", Draw(5)), Pick(s, type), Pick(s, kS)}, {type}, "",
      {{"fn", name}});
}

// A function that a branch chooses, with what it has captured.
void Maker::PutClosure(Scope& s, int) {
  const std::string type = AnyType(), c = Condition(s), captured = Pick(s, type), x = Pick(s, type);
  Names makers;
  for (const char* op : {"Mul", "Sub"}) {
    Scope inner, outer;
    const std::string fn = Begin(inner, "c", {{"", type}, {"", type}});
    const std::string y = Put1(inner, op, {"p0", "p1"}, type);
    inner.f.results = {Put1(inner, "Sin", {y}, type)};
    makers.push_back(Begin(outer, "c", {{"", type}}));
    outer.f.results = Put(outer, "ge.Partial", {"p0"}, {""}, "", {{"fn", fn}});
    p_.functions.push_back(std::move(inner.f));
    p_.functions.push_back(std::move(outer.f));
  }
  const std::string f = Put(s, "If", {c, captured}, {""}, "",
                            {{"then_branch", makers[0]}, {"else_branch", makers[1]}})[0];
  Put(s, "ge.CallIndirect", {f, x}, {type});
}

void Maker::Step(Scope& s, int depth) {
  const int way = Draw(100);
  if (depth <= 0 || way < 45) {
    const int line = Draw(10);
    if (line < 4) return Unary(s);
    return line < 8 ? Binary(s) : Shape(s);
  }
  if (options_.recursion && way < 50) return PutRecursion(s, depth);
  if (options_.closures && way < 55) return PutClosure(s, depth);
  if (way < 62) return PutIf(s, depth);
  if (way < 78) return PutLoop(s, depth);
  return way < 88 ? PutScan(s, depth) : PutCall(s, depth);
}

void Maker::Fill(Scope& s, int steps, int depth) {
  for (int i = 0; i < steps; ++i) Step(s, depth);
}

Program Maker::Make() {
  Scope s;
  s.f.name = "main";
  const std::vector<ProgramValue> inputs = {{"x", kS}, {"y", kV}, {"z", kM}, {"u", kS}};
  const int count = 2 + Draw(3);
  std::uniform_real_distribution<double> number(-1.5, 1.5);
  for (int i = 0; i < count; ++i) {
    s.f.params.push_back(inputs[static_cast<size_t>(i)]);
    s.values.push_back(s.f.params.back());
    const std::string& type = s.values.back().type;
    Array a = Array::Of(type == kS   ? std::vector<int64_t>{}
                        : type == kV ? std::vector<int64_t>{3}
                                     : std::vector<int64_t>{3, 3});
    for (double& v : a.f) v = number(random_);
    p_.inputs[s.values.back().name] = a;
    p_.wrt.push_back(s.values.back().name);
  }
  Fill(s, 3 + Draw(5), 3);
  // Everything late counts, so that little is dead.
  std::string sum = Put1(s, "Tanh", {Pick(s, kS)}, kS);
  for (const std::string& type : {kS, kV, kM}) {
    Names late;
    for (const ProgramValue& v : s.values) {
      if (v.type == type) late.push_back(v.name);
    }
    for (size_t k = late.size(); k-- > 0 && k + 2 >= late.size();) {
      const std::string part =
          type == kS ? late[k] : Put1(s, "ReduceSum", {late[k], "_"}, kS, "{keepdims=0}");
      sum = Put1(s, "Add", {sum, Put1(s, "Sin", {part}, kS)}, kS);
    }
  }
  s.f.nodes.push_back({{{"loss", ""}}, "Mul", {sum, Chance(20) ? Pick(s, kV) : "half"}, "", {}});
  s.f.results = {"loss"};
  p_.functions.push_back(std::move(s.f));
  return std::move(p_);
}

std::string TextOf(const ProgramNode& n) {
  std::string out, in, calls;
  for (const ProgramValue& v : n.out) {
    out += (out.empty() ? "" : ", ") + v.name + (v.type.empty() ? "" : ": " + v.type);
  }
  for (const std::string& name : n.in) in += (in.empty() ? "" : ", ") + name;
  for (const auto& [role, fn] : n.calls) calls += (calls.empty() ? "" : ", ") + role + "=" + fn;
  std::string text = fmt::format("  {} = {}({})", out, n.op, in);
  if (!n.attrs.empty()) text += " " + n.attrs;
  if (!calls.empty()) text += " calls {" + calls + "}";
  return text + "\n";
}

}  // namespace

Program MakeProgram(uint64_t seed, const ProgramOptions& options) {
  return Maker(seed, options).Make();
}

size_t Program::nodes() const {
  size_t n = 0;
  for (const ProgramFunction& f : functions) n += f.nodes.size();
  return n;
}

std::string Program::Text() const {
  // Callees stand in front of who names them, but for functions that call themselves.
  std::set<std::string> named = {"main"};
  for (int round = 0; round < 3; ++round) {
    for (size_t i = functions.size(); i-- > 0;) {
      if (named.count(functions[i].name) == 0) continue;
      for (const ProgramNode& n : functions[i].nodes) {
        for (const auto& call : n.calls) named.insert(call.second);
      }
    }
  }
  std::string text = "ge 1\nopset \"\" 28\nopset \"ge\" 1\n" + std::string(kConstants);
  for (const ProgramFunction& f : functions) {
    if (named.count(f.name) == 0) continue;
    std::string params, results;
    for (const ProgramValue& v : f.params) {
      params += (params.empty() ? "" : ", ") + v.name + ": " + v.type;
    }
    for (const std::string& r : f.results) results += (results.empty() ? "" : ", ") + r;
    text += fmt::format("fn {}({}) -> ({}){} {{\n", f.name, params, results,
                        f.recursive ? " recursive" : "");
    for (const ProgramNode& n : f.nodes) text += TextOf(n);
    text += "}\n";
  }
  return text + "entry infer \"main\" = main\n";
}

}  // namespace ge::adcheck
