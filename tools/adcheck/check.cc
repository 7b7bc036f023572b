#include "tools/adcheck/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/adcheck/oracle.h"

namespace ge::adcheck {
namespace {

// Beyond so many elements the oracle looks at a random choice of them.
constexpr size_t kMostElements = 120;

Array Like(const Array& x) { return Array::Of(x.dims, x.dtype); }

Array Random(const Array& like, std::mt19937_64& random) {
  Array r = Like(like);
  std::uniform_real_distribution<double> draw(0.25, 1.0);
  for (double& v : r.f) {
    v = (random() & 1) != 0 ? draw(random) : -draw(random);
    if (r.dtype == 1) v = static_cast<float>(v);
  }
  return r;
}

// A sum with what it is a share of.
struct Sum {
  double sum = 0, magnitude = 0;
  void Add(double v) {
    sum += v;
    magnitude += std::fabs(v);
  }
};

Sum Dot(const Array& a, const Array& b) {
  Sum s;
  for (size_t k = 0; k < a.f.size(); ++k) s.Add(a.f[k] * b.f[k]);
  return s;
}

// What the first change of a result adds up.
double SizeOf(const Real& r) {
  return std::isfinite(r.m) ? std::max(r.m, std::fabs(r.a)) : std::fabs(r.a);
}

double Share(double error, double of) {
  if (!(error == error) || std::isinf(error)) return INFINITY;
  return error == 0 ? 0 : error / of;  // of zero: infinite
}

class Checker {
 public:
  Checker(const CheckSpec& spec, const ModelOptions& options, std::mt19937_64& random, bool hasty,
          OracleAnswers* answers)
      : spec_(spec), options_(options), random_(random), hasty_(hasty), told_(*answers) {}
  CheckResult Run();

 private:
  Result<std::unique_ptr<Model>> Derive(const char* kind);
  // First derivatives, then the forward way, then second derivatives: each asks for its model.
  Status Backward();
  Status Forward();
  Status Second();
  Status Draw();
  Status Oracle();
  Status ByWord();
  Status ByDuals();
  Status Adjoint();
  Status Symmetry();
  std::vector<OracleAnswers::InputElement> Places();
  Arrays With(const Arrays& more) const;
  Arrays Given(const Arrays& directions, const char* prefix) const;
  Result<Arrays> Gradient(const Array& w) const;
  Result<Arrays> Hessian(const Arrays& v) const;
  Status WantShapes(const Arrays& made, const char* prefix) const;
  Status DifferencesOfResults();
  Status DifferencesOfGradients(OracleAnswers::Numbers* want, std::vector<double>* got);
  void Judge(const char* what, double error, double most);
  bool differs() const { return result_.oracle == adcheck::Oracle::kDifferences; }
  double bound() const { return differs() ? kDifferenceBound : exact_; }
  bool done() const { return hasty_ && !result_.failure.empty(); }

  const CheckSpec& spec_;
  const ModelOptions& options_;
  std::mt19937_64& random_;
  const bool hasty_;
  OracleAnswers& told_;
  double exact_ = kExactBound;
  CheckResult result_;
  std::unique_ptr<Model> grad_, jvp_, hvp_;
  Arrays engine_grad_, engine_hvp_;
};

// The greatest error as a share of the greatest of what is added up.
double ErrorOf(const OracleAnswers::Numbers& want, const std::vector<double>& got, double floor) {
  if (got.size() != want.want.size()) return INFINITY;
  double most = floor, error = 0;
  for (const double m : want.magnitude) most = std::max(most, m);
  for (size_t k = 0; k < want.want.size(); ++k) {
    const double e = std::fabs(want.want[k] - got[k]);
    error = e == e ? std::max(error, e) : INFINITY;
  }
  return Share(error, most);
}

// What stands at some places of arrays that are named after inputs.
std::vector<double> At(const Arrays& arrays, const std::string& prefix,
                       const std::vector<OracleAnswers::InputElement>& places) {
  std::vector<double> got;
  for (const auto& p : places) got.push_back(arrays.at(prefix + p.input).f[p.element]);
  return got;
}

std::string ListOf(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& n : names) list += (list.empty() ? "" : "+") + n;
  return list;
}

// What the pass refuses is no failure of ours to load.
Result<std::unique_ptr<Model>> Checker::Derive(const char* kind) {
  auto made = Model::Load(
      spec_.text,
      fmt::format("grad:of={};wrt={};kind={};name={}", spec_.of, ListOf(spec_.wrt), kind, kind),
      options_);
  result_.refused = result_.refused || !made.ok();
  return made;
}

Arrays Checker::With(const Arrays& more) const {
  Arrays all = spec_.inputs;
  for (const auto& [name, a] : more) all[name] = a;
  return all;
}

Arrays Checker::Given(const Arrays& directions, const char* prefix) const {
  Arrays given;
  for (const auto& [name, a] : directions) given[prefix + name] = a;
  return given;
}

Result<Arrays> Checker::Gradient(const Array& w) const {
  return grad_->Run("grad", With({{"ct." + spec_.of, w}}));
}

Result<Arrays> Checker::Hessian(const Arrays& v) const {
  Arrays more = Given(v, "v.");
  more["ct." + spec_.of] = told_.w;
  return hvp_->Run("hvp", With(more));
}

Status Checker::WantShapes(const Arrays& made, const char* prefix) const {
  for (const std::string& x : spec_.wrt) {
    const auto found = made.find(prefix + x);
    if (found == made.end() || found->second.dims != spec_.inputs.at(x).dims) {
      return Status(Code::kInternal, fmt::format("the gradient of '{}' has another shape", x));
    }
  }
  return {};
}

// The weights of results and a direction.
Status Checker::Draw() {
  if (told_.told) return {};
  GE_ASSIGN_OR_RETURN(Arrays primal, grad_->Run("main", spec_.inputs));
  told_.y = primal[spec_.of];
  told_.w = Random(told_.y, random_);
  // Of a scalar the pass itself puts a one.
  if (!spec_.expected.empty() || !grad_->HasInput("grad", "ct." + spec_.of)) {
    told_.w.f.assign(told_.w.f.size(), 1.0);
  }
  for (const std::string& x : spec_.wrt) {
    told_.v[x] = Random(spec_.inputs.at(x), random_);
    if (!spec_.bends.empty()) told_.v[x].f.assign(told_.v[x].f.size(), 1.0);
  }
  return {};
}

std::vector<OracleAnswers::InputElement> Checker::Places() {
  std::vector<OracleAnswers::InputElement> places;
  for (const std::string& x : spec_.wrt) {
    for (size_t k = 0; k < spec_.inputs.at(x).f.size(); ++k) places.push_back({x, k});
  }
  if (places.size() > kMostElements && spec_.expected.empty()) {
    std::shuffle(places.begin(), places.end(), random_);
    places.resize(kMostElements);
  }
  return places;
}

Status Checker::ByDuals() {
  GE_ASSIGN_OR_RETURN(const auto oracle, DualOracle::Make(spec_.text, "main"));
  GE_ASSIGN_OR_RETURN(const std::vector<Real> y, oracle->Run(spec_.inputs, {}, {}, spec_.of));
  for (const Real& r : y) told_.value.Add(r.v, std::fabs(r.v));
  told_.places = Places();
  for (const auto& p : told_.places) {
    Arrays e;
    e[p.input] = Like(spec_.inputs.at(p.input));
    e[p.input].f[p.element] = 1;
    GE_ASSIGN_OR_RETURN(const std::vector<Real> along,
                        oracle->Run(spec_.inputs, e, told_.v, spec_.of));
    Sum g, h;
    double ways = 0;
    for (size_t k = 0; k < along.size(); ++k) {
      const double w = told_.w.f[k], size = SizeOf(along[k]);
      g.sum += w * along[k].a;
      g.magnitude += std::fabs(w) * size;
      ways += size;
      h.Add(w * along[k].ab);
      h.magnitude += std::fabs(w * along[k].a);
    }
    told_.grad.Add(g.sum, g.magnitude);
    told_.hvp.Add(h.sum, h.magnitude);
    told_.ways.push_back(ways);
  }
  GE_ASSIGN_OR_RETURN(const std::vector<Real> along,
                      oracle->Run(spec_.inputs, told_.v, {}, spec_.of));
  for (const Real& r : along) told_.jvp.Add(r.a, SizeOf(r));
  return {};
}

Status Checker::DifferencesOfResults() {
  told_.places = Places();
  for (const auto& p : told_.places) {
    const double x = spec_.inputs.at(p.input).f[p.element],
                 step = 6e-6 * std::max(1.0, std::fabs(x));
    Arrays up = spec_.inputs, down = spec_.inputs;
    up[p.input].f[p.element] += step;
    down[p.input].f[p.element] -= step;
    GE_ASSIGN_OR_RETURN(Arrays above, grad_->Run("main", up));
    GE_ASSIGN_OR_RETURN(Arrays below, grad_->Run("main", down));
    Sum g;
    for (size_t k = 0; k < told_.y.f.size(); ++k) {
      g.Add(told_.w.f[k] * (above[spec_.of].f[k] - below[spec_.of].f[k]) / (2 * step));
    }
    told_.grad.Add(g.sum, g.magnitude);
  }
  return {};
}

// Of the model's own gradient, which has been compared.
Status Checker::DifferencesOfGradients(OracleAnswers::Numbers* want, std::vector<double>* got) {
  Arrays up = spec_.inputs, down = spec_.inputs;
  const double step = 6e-6;
  for (const auto& [name, v] : told_.v) {
    for (size_t k = 0; k < v.f.size(); ++k) {
      up[name].f[k] += step * v.f[k];
      down[name].f[k] -= step * v.f[k];
    }
  }
  up["ct." + spec_.of] = down["ct." + spec_.of] = told_.w;
  GE_ASSIGN_OR_RETURN(Arrays above, grad_->Run("grad", up));
  GE_ASSIGN_OR_RETURN(Arrays below, grad_->Run("grad", down));
  for (const std::string& x : spec_.wrt) {
    for (size_t k = 0; k < spec_.inputs.at(x).f.size(); ++k) {
      const double slope = (above["grad." + x].f[k] - below["grad." + x].f[k]) / (2 * step);
      want->Add(slope, std::fabs(slope) + std::fabs(engine_grad_["grad." + x].f[k]));
      got->push_back(engine_hvp_["hvp." + x].f[k]);
    }
  }
  return {};
}

// At a kink there is a convention, which the case states for a sum of the results.
Status Checker::ByWord() {
  told_.places = Places();
  const auto say = [&](const Arrays& stated, const std::string& x, OracleAnswers::Numbers* to) {
    const auto said = stated.find(x);
    if (said == stated.end() || said->second.f.size() != spec_.inputs.at(x).f.size()) return false;
    for (const double v : said->second.f) to->Add(v, std::fabs(v));
    return true;
  };
  for (const std::string& x : spec_.wrt) {
    if (!say(spec_.expected, x, &told_.grad) ||
        (!spec_.bends.empty() && !say(spec_.bends, x, &told_.hvp))) {
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' wants as many slopes as elements", x));
    }
  }
  return {};
}

Status Checker::Oracle() {
  if (!spec_.expected.empty()) result_.oracle = adcheck::Oracle::kStated;
  if (told_.told) {
    if (!told_.why_not_dual.empty()) result_.oracle = adcheck::Oracle::kDifferences;
    return {};
  }
  Status s = result_.oracle == adcheck::Oracle::kStated ? ByWord() : ByDuals();
  if (s.code() == Code::kUnsupported) {
    told_.why_not_dual = result_.why_not_dual = s.message();
    told_.value = told_.grad = told_.jvp = told_.hvp = {};
    told_.ways.clear();
    result_.oracle = adcheck::Oracle::kDifferences;
    s = DifferencesOfResults();
  }
  told_.told = s.ok();
  return s;
}

Status Checker::Adjoint() {
  for (int pair = 0; pair < spec_.pairs; ++pair) {
    Arrays t;
    for (const std::string& x : spec_.wrt) t[x] = Random(spec_.inputs.at(x), random_);
    const bool weighted = grad_->HasInput("grad", "ct." + spec_.of);
    const Array w = weighted ? Random(told_.y, random_) : told_.w;
    Arrays gradient = engine_grad_;
    if (weighted) {
      GE_ASSIGN_OR_RETURN(gradient, Gradient(w));
    }
    GE_ASSIGN_OR_RETURN(Arrays forward, jvp_->Run("jvp", With(Given(t, "t."))));
    const Sum left = Dot(forward["jvp." + spec_.of], w);
    Sum right;
    for (const std::string& x : spec_.wrt) {
      const Sum part = Dot(t[x], gradient["grad." + x]);
      right.sum += part.sum;
      right.magnitude += part.magnitude;
    }
    double of = 0;
    for (size_t k = 0; k < told_.ways.size(); ++k) {
      of += told_.ways[k] * std::fabs(t[told_.places[k].input].f[told_.places[k].element]);
    }
    of = std::max({of, left.magnitude, right.magnitude});
    result_.adjoint = std::max(result_.adjoint, Share(std::fabs(left.sum - right.sum), of));
  }
  return {};
}

Status Checker::Symmetry() {
  for (int pair = 0; pair < 4; ++pair) {
    Arrays u;
    for (const std::string& x : spec_.wrt) u[x] = Random(spec_.inputs.at(x), random_);
    GE_ASSIGN_OR_RETURN(Arrays hu, Hessian(u));
    Sum left, right;
    for (const std::string& x : spec_.wrt) {
      const Sum a = Dot(u[x], engine_hvp_["hvp." + x]), b = Dot(told_.v[x], hu["hvp." + x]);
      left.sum += a.sum;
      right.sum += b.sum;
      left.magnitude += a.magnitude + Dot(u[x], engine_grad_["grad." + x]).magnitude;
    }
    result_.symmetry =
        std::max(result_.symmetry, Share(std::fabs(left.sum - right.sum), left.magnitude));
  }
  return {};
}

void Checker::Judge(const char* what, double error, double most) {
  if (error <= most) return;
  result_.failure += fmt::format("{}{} is off by {:.2e}, at most {:.0e}",
                                 result_.failure.empty() ? "" : "; ", what, error, most);
}

Status Checker::Backward() {
  GE_ASSIGN_OR_RETURN(grad_, Derive("grad"));
  GE_RETURN_IF_ERROR(Draw());
  GE_ASSIGN_OR_RETURN(engine_grad_, Gradient(told_.w));
  GE_RETURN_IF_ERROR(WantShapes(engine_grad_, "grad."));
  GE_RETURN_IF_ERROR(Oracle());
  if (!told_.value.want.empty()) result_.value = ErrorOf(told_.value, told_.y.f, 1e-300);
  const bool stated = result_.oracle == adcheck::Oracle::kStated;
  result_.grad = ErrorOf(told_.grad, At(engine_grad_, "grad.", told_.places), stated ? 1 : 0);
  Judge("the oracle's value", result_.value, exact_);
  Judge("grad", result_.grad, bound());
  return {};
}

Status Checker::Forward() {
  GE_ASSIGN_OR_RETURN(jvp_, Derive("jvp"));
  if (!told_.jvp.want.empty()) {
    GE_ASSIGN_OR_RETURN(Arrays forward, jvp_->Run("jvp", With(Given(told_.v, "t."))));
    result_.jvp = ErrorOf(told_.jvp, forward["jvp." + spec_.of].f, 0);
    Judge("jvp", result_.jvp, bound());
    if (done()) return {};
  }
  GE_RETURN_IF_ERROR(Adjoint());
  Judge("<Jt,w> = <t,J'w>", result_.adjoint, exact_);
  return {};
}

Status Checker::Second() {
  GE_ASSIGN_OR_RETURN(hvp_, Derive("hvp"));
  GE_ASSIGN_OR_RETURN(engine_hvp_, Hessian(told_.v));
  GE_RETURN_IF_ERROR(WantShapes(engine_hvp_, "hvp."));
  if (differs()) {
    OracleAnswers::Numbers want;
    std::vector<double> got;
    GE_RETURN_IF_ERROR(DifferencesOfGradients(&want, &got));
    result_.hvp = ErrorOf(want, got, 0);
  } else if (!told_.hvp.want.empty()) {
    const bool stated = result_.oracle == adcheck::Oracle::kStated;
    result_.hvp = ErrorOf(told_.hvp, At(engine_hvp_, "hvp.", told_.places), stated ? 1 : 0);
  }
  Judge("hvp", result_.hvp, bound());
  if (done()) return {};
  GE_RETURN_IF_ERROR(Symmetry());
  Judge("u'Hv = v'Hu", result_.symmetry, exact_);
  return {};
}

CheckResult Checker::Run() {
  for (const auto& input : spec_.inputs) {
    if (input.second.dtype == 1) exact_ = kSingleBound;
  }
  Status s = Backward();
  if (s.ok() && !done()) s = Forward();
  if (s.ok() && !done() && spec_.order > 1) s = Second();
  if (!s.ok()) result_.failure = s.message();
  return result_;
}

}  // namespace

double CheckResult::worst() const { return std::max({value, grad, jvp, adjoint, hvp, symmetry}); }

CheckResult CheckModel(const CheckSpec& spec, const ModelOptions& options,
                       std::mt19937_64& random) {
  OracleAnswers answers;
  return CheckModel(spec, options, random, false, &answers);
}

CheckResult CheckModel(const CheckSpec& spec, const ModelOptions& options, std::mt19937_64& random,
                       bool hasty, OracleAnswers* answers) {
  return Checker(spec, options, random, hasty, answers).Run();
}

Result<uint64_t> CountNodes(const std::string& text, const std::string& entry,
                            const Arrays& inputs) {
  GE_ASSIGN_OR_RETURN(const auto oracle, DualOracle::Make(text, entry));
  GE_RETURN_IF_ERROR(oracle->Run(inputs, {}, {}, "").status());
  return oracle->executed();
}

}  // namespace ge::adcheck
