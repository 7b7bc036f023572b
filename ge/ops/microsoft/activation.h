// The activation at the end of FusedConv and FusedGemm. Not an operator. Any thread may call.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

// The ONNX operator of an activation, and the attributes for its parameters, in order, with ONNX's
// defaults.
struct ActivationForm {
  const char* name;
  std::vector<std::pair<const char*, double>> params;
};

// Null for an unknown name. Clip's parameters are ONNX's inputs.
inline const ActivationForm* FindActivation(std::string_view name) {
  static const std::vector<ActivationForm> kForms = {
      {"Relu", {}},
      {"Sigmoid", {}},
      {"Tanh", {}},
      {"Softplus", {}},
      {"Softsign", {}},
      {"HardSwish", {}},
      {"LeakyRelu", {{"alpha", 0.01f}}},
      {"Elu", {{"alpha", 1.0}}},
      {"ThresholdedRelu", {{"alpha", 1.0}}},
      {"HardSigmoid", {{"alpha", 0.2f}, {"beta", 0.5f}}},
      {"Clip", {{"min", -3.4028234663852886e38}, {"max", 3.4028234663852886e38}}}};
  for (const ActivationForm& f : kForms) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

// An absent or empty name is no activation.
inline Status CheckActivation(const Node& n, const std::vector<double>& params) {
  const std::string_view name = AttrString(n, "activation");
  if (name.empty()) return {};
  const ActivationForm* form = FindActivation(name);
  if (form == nullptr) {
    return NotComputed(n, fmt::format("attribute 'activation' is '{:.64}', which is not computed "
                                      "here; wanted Relu, Sigmoid, Tanh, Softplus, Softsign, "
                                      "HardSwish, LeakyRelu, Elu, ThresholdedRelu, HardSigmoid or "
                                      "Clip",
                                      name));
  }
  if (params.size() > form->params.size()) {
    return Bad(n, fmt::format("found {} parameters of the activation {}, wanted at most {}",
                              params.size(), name, form->params.size()));
  }
  for (double v : params) {
    if (!std::isfinite(v)) {
      return Bad(n, fmt::format("a parameter of the activation is {}, wanted finite numbers", v));
    }
  }
  return {};
}

inline ValueId AddActivation(Steps* steps, const Node& n, ValueId y,
                             const std::vector<double>& params) {
  const ActivationForm* form = FindActivation(AttrString(n, "activation"));
  if (form == nullptr) return y;
  std::vector<ValueId> inputs = {y};
  std::vector<Attr> attrs;
  for (size_t i = 0; i < form->params.size(); ++i) {
    const auto& [name, absent] = form->params[i];
    const double value = i < params.size() ? params[i] : absent;
    if (std::string_view(form->name) == "Clip") {
      inputs.push_back(steps->Scalar(steps->DTypeOf(y), value));
    } else {
      attrs.push_back({name, value});
    }
  }
  return steps->Map(form->name, std::move(inputs), std::move(attrs));
}

}  // namespace ge
