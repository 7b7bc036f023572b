#include "tools/adcheck/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/adcheck/oracle.h"

namespace ge::adcheck {
namespace {

// Beyond so many elements the oracle looks at a random choice of them.
constexpr size_t kMostElements = 120;

struct Place {
  std::string input;
  size_t element;
};

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
  void Add(double v) { sum += v, magnitude += std::fabs(v); }
};

Sum Dot(const Array& a, const Array& b) {
  Sum s;
  for (size_t k = 0; k < a.f.size(); ++k) s.Add(a.f[k] * b.f[k]);
  return s;
}

double Share(double error, double of) {
  if (!(error == error) || std::isinf(error)) return INFINITY;
  return error == 0 ? 0 : error / of;  // of zero: infinite
}

class Checker {
 public:
  Checker(const CheckSpec& spec, const ModelOptions& options, std::mt19937_64& random)
      : spec_(spec), options_(options), random_(random) {}
  CheckResult Run();

 private:
  Status Derive();
  Status Draw();
  Status Oracle();
  Status ByWord();
  Status ByDuals();
  Status ByDifferences();
  Status Adjoint();
  Status Symmetry();
  std::vector<Place> Places();
  Arrays With(const Arrays& more) const;
  Arrays Given(const Arrays& directions, const char* prefix) const;
  Result<Arrays> Gradient(const Array& w) const;
  Result<Arrays> Hessian(const Arrays& v) const;
  // Elements of J'w and Hv as the oracle has them, against the engine's.
  struct Compared {
    std::vector<double> want, got, magnitude;
    double Error(double floor) const;
  };

  const CheckSpec& spec_;
  const ModelOptions& options_;
  std::mt19937_64& random_;
  CheckResult result_;
  std::unique_ptr<Model> grad_, jvp_, hvp_;
  Array y_, w_;
  Arrays v_, engine_grad_, engine_hvp_;
};

double Checker::Compared::Error(double floor) const {
  double most = floor, error = 0;
  for (const double m : magnitude) most = std::max(most, m);
  for (size_t k = 0; k < want.size(); ++k) {
    const double e = std::fabs(want[k] - got[k]);
    error = e == e ? std::max(error, e) : INFINITY;
  }
  return Share(error, most);
}

std::string ListOf(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& n : names) list += (list.empty() ? "" : "+") + n;
  return list;
}

// Every way of the same entry; what the pass refuses is no failure of ours to load.
Status Checker::Derive() {
  const std::string common = fmt::format("grad:of={};wrt={}", spec_.of, ListOf(spec_.wrt));
  const auto load = [&](const char* kind, std::unique_ptr<Model>* to) {
    Result<std::unique_ptr<Model>> made =
        Model::Load(spec_.text, fmt::format("{};kind={};name={}", common, kind, kind), options_);
    if (!made.ok()) return made.status();
    *to = *std::move(made);
    return Status();
  };
  Status s = load("grad", &grad_);
  if (s.ok()) s = load("jvp", &jvp_);
  if (s.ok() && spec_.order > 1) s = load("hvp", &hvp_);
  result_.refused = !s.ok();
  return s;
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
  more["ct." + spec_.of] = w_;
  return hvp_->Run("hvp", With(more));
}

// The point, the weights of results, a direction, and what the engine says of them.
Status Checker::Draw() {
  GE_ASSIGN_OR_RETURN(Arrays primal, grad_->Run("main", spec_.inputs));
  y_ = primal[spec_.of];
  w_ = Random(y_, random_);
  if (!spec_.expected.empty()) w_.f.assign(w_.f.size(), 1.0);
  // Of a scalar the pass itself puts a one.
  if (!grad_->HasInput("grad", "ct." + spec_.of)) w_.f.assign(w_.f.size(), 1.0);
  for (const std::string& x : spec_.wrt) v_[x] = Random(spec_.inputs.at(x), random_);
  GE_ASSIGN_OR_RETURN(engine_grad_, Gradient(w_));
  if (spec_.order > 1) {
    GE_ASSIGN_OR_RETURN(engine_hvp_, Hessian(v_));
  }
  for (const std::string& x : spec_.wrt) {
    const std::vector<int64_t>& dims = spec_.inputs.at(x).dims;
    if (engine_grad_["grad." + x].dims != dims ||
        (spec_.order > 1 && engine_hvp_["hvp." + x].dims != dims)) {
      return Status(Code::kInternal, fmt::format("the gradient of '{}' has another shape", x));
    }
  }
  return {};
}

std::vector<Place> Checker::Places() {
  std::vector<Place> places;
  for (const std::string& x : spec_.wrt) {
    for (size_t k = 0; k < spec_.inputs.at(x).f.size(); ++k) places.push_back({x, k});
  }
  if (places.size() > kMostElements) {
    std::shuffle(places.begin(), places.end(), random_);
    places.resize(kMostElements);
  }
  return places;
}

Status Checker::ByDuals() {
  GE_ASSIGN_OR_RETURN(const auto oracle, DualOracle::Make(spec_.text, "main"));
  GE_ASSIGN_OR_RETURN(const std::vector<Real> y, oracle->Run(spec_.inputs, {}, {}, spec_.of));
  Compared value;
  for (size_t k = 0; k < y.size(); ++k) {
    value.want.push_back(y[k].v), value.got.push_back(y_.f[k]);
    value.magnitude.push_back(std::fabs(y[k].v));
  }
  result_.value = value.Error(1e-300);
  Compared grad, hvp;
  for (const Place& p : Places()) {
    Arrays e;
    e[p.input] = Like(spec_.inputs.at(p.input));
    e[p.input].f[p.element] = 1;
    GE_ASSIGN_OR_RETURN(const std::vector<Real> along, oracle->Run(spec_.inputs, e, v_, spec_.of));
    Sum g, h;
    for (size_t k = 0; k < along.size(); ++k) {
      g.Add(w_.f[k] * along[k].a), h.Add(w_.f[k] * along[k].ab);
      h.magnitude += std::fabs(w_.f[k] * along[k].a);
    }
    grad.want.push_back(g.sum), grad.magnitude.push_back(g.magnitude);
    grad.got.push_back(engine_grad_["grad." + p.input].f[p.element]);
    if (spec_.order < 2) continue;
    hvp.want.push_back(h.sum), hvp.magnitude.push_back(h.magnitude);
    hvp.got.push_back(engine_hvp_["hvp." + p.input].f[p.element]);
  }
  result_.grad = grad.Error(0), result_.hvp = hvp.Error(0);
  Arrays more = Given(v_, "t.");
  GE_ASSIGN_OR_RETURN(Arrays forward, jvp_->Run("jvp", With(more)));
  GE_ASSIGN_OR_RETURN(const std::vector<Real> along, oracle->Run(spec_.inputs, v_, {}, spec_.of));
  Compared jvp;
  for (size_t k = 0; k < along.size(); ++k) {
    jvp.want.push_back(along[k].a), jvp.got.push_back(forward["jvp." + spec_.of].f[k]);
    jvp.magnitude.push_back(std::fabs(along[k].a));
  }
  result_.jvp = jvp.Error(0);
  return {};
}

Status Checker::ByDifferences() {
  Compared grad, hvp;
  for (const Place& p : Places()) {
    const double x = spec_.inputs.at(p.input).f[p.element],
                 step = 6e-6 * std::max(1.0, std::fabs(x));
    Arrays up = spec_.inputs, down = spec_.inputs;
    up[p.input].f[p.element] += step, down[p.input].f[p.element] -= step;
    GE_ASSIGN_OR_RETURN(Arrays above, grad_->Run("main", up));
    GE_ASSIGN_OR_RETURN(Arrays below, grad_->Run("main", down));
    Sum g;
    for (size_t k = 0; k < y_.f.size(); ++k) {
      g.Add(w_.f[k] * (above[spec_.of].f[k] - below[spec_.of].f[k]) / (2 * step));
    }
    grad.want.push_back(g.sum), grad.magnitude.push_back(g.magnitude);
    grad.got.push_back(engine_grad_["grad." + p.input].f[p.element]);
  }
  // Differences of the gradient, which has been compared above.
  Arrays up = spec_.inputs, down = spec_.inputs;
  const double step = 6e-6;
  for (const auto& [name, v] : v_) {
    for (size_t k = 0; k < v.f.size(); ++k) {
      up[name].f[k] += step * v.f[k], down[name].f[k] -= step * v.f[k];
    }
  }
  up["ct." + spec_.of] = down["ct." + spec_.of] = w_;
  if (spec_.order > 1) {
    GE_ASSIGN_OR_RETURN(Arrays above, grad_->Run("grad", up));
    GE_ASSIGN_OR_RETURN(Arrays below, grad_->Run("grad", down));
    for (const std::string& x : spec_.wrt) {
      for (size_t k = 0; k < spec_.inputs.at(x).f.size(); ++k) {
        const double want = (above["grad." + x].f[k] - below["grad." + x].f[k]) / (2 * step);
        hvp.want.push_back(want), hvp.got.push_back(engine_hvp_["hvp." + x].f[k]);
        hvp.magnitude.push_back(std::fabs(want) + std::fabs(engine_grad_["grad." + x].f[k]));
      }
    }
  }
  result_.grad = grad.Error(0), result_.hvp = hvp.Error(0);
  return {};
}

// At a kink there is a convention, which the case states for a sum of the results.
Status Checker::ByWord() {
  Compared grad;
  for (const std::string& x : spec_.wrt) {
    const auto said = spec_.expected.find(x);
    if (said == spec_.expected.end() || said->second.f.size() != spec_.inputs.at(x).f.size()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' wants as many slopes as elements", x));
    }
    for (size_t k = 0; k < said->second.f.size(); ++k) {
      grad.want.push_back(said->second.f[k]), grad.got.push_back(engine_grad_["grad." + x].f[k]);
      grad.magnitude.push_back(std::fabs(said->second.f[k]));
    }
  }
  result_.oracle = adcheck::Oracle::kStated;
  result_.grad = grad.Error(1);
  return {};
}

Status Checker::Oracle() {
  if (!spec_.expected.empty()) return ByWord();
  const Status dual = ByDuals();
  if (dual.ok() || dual.code() != Code::kUnsupported) return dual;
  result_.oracle = adcheck::Oracle::kDifferences;
  result_.why_not_dual = dual.message();
  return ByDifferences();
}

Status Checker::Adjoint() {
  for (int pair = 0; pair < spec_.pairs; ++pair) {
    Arrays t;
    for (const std::string& x : spec_.wrt) t[x] = Random(spec_.inputs.at(x), random_);
    const bool weighted = grad_->HasInput("grad", "ct." + spec_.of);
    const Array w = weighted ? Random(y_, random_) : w_;
    Arrays gradient = engine_grad_;
    if (weighted) {
      GE_ASSIGN_OR_RETURN(gradient, Gradient(w));
    }
    GE_ASSIGN_OR_RETURN(Arrays forward, jvp_->Run("jvp", With(Given(t, "t."))));
    const Sum left = Dot(forward["jvp." + spec_.of], w);
    Sum right;
    for (const std::string& x : spec_.wrt) {
      const Sum part = Dot(t[x], gradient["grad." + x]);
      right.sum += part.sum, right.magnitude += part.magnitude;
    }
    const double of = std::max(left.magnitude, right.magnitude);
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
      const Sum a = Dot(u[x], engine_hvp_["hvp." + x]), b = Dot(v_[x], hu["hvp." + x]);
      left.sum += a.sum, right.sum += b.sum;
      left.magnitude += a.magnitude + Dot(u[x], engine_grad_["grad." + x]).magnitude;
    }
    result_.symmetry =
        std::max(result_.symmetry, Share(std::fabs(left.sum - right.sum), left.magnitude));
  }
  return {};
}

CheckResult Checker::Run() {
  Status s = Derive();
  if (s.ok()) s = Draw();
  if (s.ok()) s = Oracle();
  if (s.ok()) s = Adjoint();
  if (s.ok() && spec_.order > 1) s = Symmetry();
  if (!s.ok()) {
    result_.failure = s.message();
    return result_;
  }
  bool single = false;
  for (const auto& input : spec_.inputs) single = single || input.second.dtype == 1;
  const double exact = single ? kSingleBound : kExactBound;
  const double bound = result_.oracle == adcheck::Oracle::kDifferences ? kDifferenceBound : exact;
  const auto judge = [&](const char* what, double error, double most) {
    if (error <= most) return;
    result_.failure += fmt::format("{}{} is off by {:.2e}, at most {:.0e}",
                                   result_.failure.empty() ? "" : "; ", what, error, most);
  };
  judge("the oracle's value", result_.value, exact);
  judge("grad", result_.grad, bound);
  judge("jvp", result_.jvp, bound);
  judge("<Jt,w> = <t,J'w>", result_.adjoint, exact);
  judge("hvp", result_.hvp, bound);
  judge("u'Hv = v'Hu", result_.symmetry, exact);
  return result_;
}

}  // namespace

double CheckResult::worst() const { return std::max({value, grad, jvp, adjoint, hvp, symmetry}); }

CheckResult CheckModel(const CheckSpec& spec, const ModelOptions& options,
                       std::mt19937_64& random) {
  return Checker(spec, options, random).Run();
}

Result<uint64_t> CountNodes(const std::string& text, const std::string& entry,
                            const Arrays& inputs) {
  GE_ASSIGN_OR_RETURN(const auto oracle, DualOracle::Make(text, entry));
  GE_RETURN_IF_ERROR(oracle->Run(inputs, {}, {}, "").status());
  return oracle->executed();
}

}  // namespace ge::adcheck
