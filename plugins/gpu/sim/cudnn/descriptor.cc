#include "plugins/gpu/sim/cudnn/descriptor.h"

#include <algorithm>
#include <set>

#include "plugins/gpu/sim/cudnn/graph.h"

namespace ge_engines::gpu::sim::dnn {
namespace {

using namespace cudnn;  // NOLINT: this file is that interface

// What may be set. A type of its own beside FLOAT: DOUBLE.
struct Rule {
  DescriptorType of;
  Attribute attribute;
  AttributeType type;
  int64_t least, most;  // elements
  bool required;
  bool or_double;
};
constexpr int64_t kRank = 8, kMany = 1 << 20;
constexpr Rule kRules[] = {
    {kTensor, kTensorDataType, kTypeDataType, 1, 1, true, false},
    {kTensor, kTensorDimensions, kTypeInt64, 1, kRank, true, false},
    {kTensor, kTensorStrides, kTypeInt64, 1, kRank, true, false},
    {kTensor, kTensorUniqueId, kTypeInt64, 1, 1, true, false},
    {kTensor, kTensorByteAlignment, kTypeInt64, 1, 1, true, false},
    {kTensor, kTensorIsVirtual, kTypeBoolean, 1, 1, false, false},
    {kConvolution, kConvolutionCompType, kTypeDataType, 1, 1, true, false},
    {kConvolution, kConvolutionConvMode, kTypeConvolutionMode, 1, 1, true, false},
    {kConvolution, kConvolutionSpatialDims, kTypeInt64, 1, 1, true, false},
    {kConvolution, kConvolutionDilations, kTypeInt64, 1, 3, true, false},
    {kConvolution, kConvolutionFilterStrides, kTypeInt64, 1, 3, true, false},
    {kConvolution, kConvolutionPrePaddings, kTypeInt64, 1, 3, true, false},
    {kConvolution, kConvolutionPostPaddings, kTypeInt64, 1, 3, true, false},
    {kPointwise, cudnn::kPointwiseMode, kTypePointwiseMode, 1, 1, true, false},
    {kPointwise, kPointwiseMathPrec, kTypeDataType, 1, 1, true, false},
    {kPointwise, kPointwiseNanPropagation, kTypeNanPropagation, 1, 1, false, false},
    {kPointwise, kPointwiseReluLowerClip, kTypeDouble, 1, 1, false, false},
    {kPointwise, kPointwiseReluUpperClip, kTypeDouble, 1, 1, false, false},
    {kPointwise, kPointwiseReluLowerClipSlope, kTypeDouble, 1, 1, false, false},
    {kPointwise, kPointwiseEluAlpha, kTypeDouble, 1, 1, false, false},
    {kPointwise, kPointwiseSwishBeta, kTypeDouble, 1, 1, false, false},
    {kOperationForward, kForwardAlpha, kTypeFloat, 1, 1, true, true},
    {kOperationForward, kForwardBeta, kTypeFloat, 1, 1, true, true},
    {kOperationForward, kForwardConvDesc, kTypeDescriptor, 1, 1, true, false},
    {kOperationForward, kForwardX, kTypeDescriptor, 1, 1, true, false},
    {kOperationForward, kForwardW, kTypeDescriptor, 1, 1, true, false},
    {kOperationForward, kForwardY, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardData, kBackwardDataAlpha, kTypeFloat, 1, 1, true, true},
    {kOperationBackwardData, kBackwardDataBeta, kTypeFloat, 1, 1, true, true},
    {kOperationBackwardData, kBackwardDataConvDesc, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardData, kBackwardDataDx, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardData, kBackwardDataW, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardData, kBackwardDataDy, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardFilter, kBackwardFilterAlpha, kTypeFloat, 1, 1, true, true},
    {kOperationBackwardFilter, kBackwardFilterBeta, kTypeFloat, 1, 1, true, true},
    {kOperationBackwardFilter, kBackwardFilterConvDesc, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardFilter, kBackwardFilterX, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardFilter, kBackwardFilterDw, kTypeDescriptor, 1, 1, true, false},
    {kOperationBackwardFilter, kBackwardFilterDy, kTypeDescriptor, 1, 1, true, false},
    {kOperationPointwise, kOperationPointwisePwDescriptor, kTypeDescriptor, 1, 1, true, false},
    {kOperationPointwise, kOperationPointwiseX, kTypeDescriptor, 1, 1, true, false},
    {kOperationPointwise, kOperationPointwiseB, kTypeDescriptor, 1, 1, false, false},
    {kOperationPointwise, kOperationPointwiseY, kTypeDescriptor, 1, 1, true, false},
    {cudnn::kOperationGraph, kOperationGraphHandle, kTypeHandle, 1, 1, true, false},
    {cudnn::kOperationGraph, kOperationGraphOps, kTypeDescriptor, 1, kMany, true, false},
    {kEngineHeur, cudnn::kEngineHeurMode, kTypeHeurMode, 1, 1, true, false},
    {kEngineHeur, kEngineHeurOperationGraph, kTypeDescriptor, 1, 1, true, false},
    {kExecutionPlan, kExecutionPlanHandle, kTypeHandle, 1, 1, true, false},
    {kExecutionPlan, kExecutionPlanEngineConfig, kTypeDescriptor, 1, 1, true, false},
    {kVariantPack, kVariantPackUniqueIds, kTypeInt64, 1, kMany, true, false},
    {kVariantPack, kVariantPackDataPointers, kTypeVoidPtr, 1, kMany, true, false},
    {kVariantPack, kVariantPackWorkspace, kTypeVoidPtr, 1, 1, false, false},
};

size_t SizeOf(AttributeType type) {
  switch (type) {
    case kTypeHandle:
    case kTypeVoidPtr:
    case kTypeDescriptor:
    case kTypeInt64:
    case kTypeDouble:
      return 8;
    case kTypeBoolean:
      return sizeof(bool);
    default:
      return 4;
  }
}

std::set<Descriptor*>& Living() {
  static std::set<Descriptor*> living;
  return living;
}

[[noreturn]] void Refuse(Status status, const std::string& text) { throw Fault{status, text}; }

std::string Of(Attribute attribute) { return "attribute " + std::to_string(attribute); }

}  // namespace

Descriptor* Descriptor::Make(DescriptorType type) {
  constexpr DescriptorType kKnown[] = {kPointwise,
                                       kConvolution,
                                       kEngine,
                                       kEngineConfig,
                                       kEngineHeur,
                                       kExecutionPlan,
                                       kOperationForward,
                                       kOperationBackwardFilter,
                                       kOperationBackwardData,
                                       kOperationPointwise,
                                       cudnn::kOperationGraph,
                                       kVariantPack,
                                       kTensor};
  if (std::find(std::begin(kKnown), std::end(kKnown), type) == std::end(kKnown)) {
    Refuse(kNotSupported, "no descriptors of type " + std::to_string(type));
  }
  auto* made = new Descriptor(type);
  Living().insert(made);
  return made;
}

void Descriptor::Destroy(cudnn::Descriptor given) {
  Descriptor* at = &At(given);
  Living().erase(at);
  delete at;
}

Descriptor& Descriptor::At(cudnn::Descriptor given) {
  auto* at = static_cast<Descriptor*>(given);
  if (Living().count(at) == 0) Refuse(kBadParam, "a descriptor that is gone, or never was");
  return *at;
}

Descriptor& Descriptor::Finished(cudnn::Descriptor given, DescriptorType type) {
  Descriptor& at = At(given);
  if (at.type_ != type) Refuse(kBadParam, "a descriptor of another type");
  if (!at.finalized_) Refuse(kNotFinalized, "a descriptor that is not finalized");
  return at;
}

void Descriptor::Set(Attribute attribute, AttributeType type, int64_t count, const void* values) {
  if (finalized_) Refuse(kBadParam, Of(attribute) + " is set behind finalize");
  const auto* rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) {
    return r.of == type_ && r.attribute == attribute;
  });
  if (rule == std::end(kRules)) Refuse(kBadParam, Of(attribute) + " is none of the descriptor's");
  if (type != rule->type && !(rule->or_double && type == kTypeDouble)) {
    Refuse(cudnn::kAttributeType, Of(attribute) + " has another type");
  }
  if (count < rule->least || count > rule->most) {
    Refuse(kBadParam, Of(attribute) + " with " + std::to_string(count) + " elements");
  }
  if (values == nullptr) Refuse(kBadParam, Of(attribute) + " of no values");
  const auto* bytes = static_cast<const char*>(values);
  values_[attribute] = {type, {bytes, bytes + static_cast<size_t>(count) * SizeOf(type)}};
  if (type != kTypeDescriptor) return;
  for (const auto part : All<cudnn::Descriptor>(attribute)) {
    if (!At(part).finalized_) Refuse(kNotFinalized, Of(attribute) + " is not finalized");
  }
}

int64_t Descriptor::GetParts(Attribute attribute, int64_t room, cudnn::Descriptor* parts) const {
  const bool results = type_ == kEngineHeur && attribute == kEngineHeurResults;
  if (!results && !(type_ == kEngineConfig && attribute == kEngineConfigEngine)) {
    Refuse(kBadParam, Of(attribute) + " is none of the descriptor's");
  }
  const std::vector<int> engines = results ? engines_ : std::vector<int>{engine_};
  for (int64_t k = 0; k < std::min<int64_t>(room, static_cast<int64_t>(engines.size())); ++k) {
    Descriptor& part = At(parts[k]);
    if (part.type_ != (results ? kEngineConfig : kEngine)) {
      Refuse(kBadParam, "a descriptor of another type");
    }
    part.graph_ = graph_;
    part.engine_ = engines[static_cast<size_t>(k)];
    part.finalized_ = true;
  }
  return static_cast<int64_t>(engines.size());
}

void Descriptor::Get(Attribute attribute, AttributeType type, int64_t room, int64_t* count,
                     void* values) const {
  if (!finalized_) Refuse(kNotInitialized, Of(attribute) + " before finalize");
  if (type == kTypeDescriptor) {
    *count = GetParts(attribute, room, static_cast<cudnn::Descriptor*>(values));
  } else if (type_ == kEngine && attribute == kEngineNumericalNote) {
    if (type != kTypeNumericalNote) Refuse(cudnn::kAttributeType, "notes of another type");
    const std::vector<NumericalNote> notes = graph_->NotesOf(engine_);
    *count = static_cast<int64_t>(notes.size());
    std::copy_n(notes.begin(), std::min(room, *count), static_cast<NumericalNote*>(values));
  } else if (type_ == kExecutionPlan && attribute == kExecutionPlanWorkspaceSize) {
    if (type != kTypeInt64) Refuse(cudnn::kAttributeType, "a size of another type");
    *count = 1;
    if (room > 0) *static_cast<int64_t*>(values) = static_cast<int64_t>(workspace_);
  } else {
    Refuse(kBadParam, Of(attribute) + " is none that can be read");
  }
}

void Descriptor::Finalize() {
  if (finalized_) Refuse(kBadParam, "finalized twice");
  for (const Rule& rule : kRules) {
    if (rule.of != type_) continue;
    if (!rule.required && !Has(rule.attribute)) continue;
    if (!Has(rule.attribute)) Refuse(kBadParam, Of(rule.attribute) + " is not set");
    if (rule.type != kTypeDescriptor) continue;
    for (const auto part : All<cudnn::Descriptor>(rule.attribute)) (void)At(part);
  }
  CheckValues(*this);
  if (type_ == cudnn::kOperationGraph) {
    graph_ = Graph::Of(*this);
  } else if (type_ == kEngineHeur) {
    graph_ = Part(kEngineHeurOperationGraph, cudnn::kOperationGraph).graph_;
    engines_ = graph_->EnginesOf(One<HeurMode>(cudnn::kEngineHeurMode));
    if (engines_.empty()) Refuse(kGraphPattern, "no engine runs such a graph");
  } else if (type_ == kExecutionPlan) {
    const Descriptor& config = Part(kExecutionPlanEngineConfig, kEngineConfig);
    graph_ = config.graph_;
    engine_ = config.engine_;
    graph_->CheckEngine(engine_);
    workspace_ = graph_->WorkspaceOf(engine_);
  } else if (type_ == kEngine || type_ == kEngineConfig) {
    Refuse(kNotSupported, "engines and configurations are made by heuristics alone");
  }
  finalized_ = true;
}

}  // namespace ge_engines::gpu::sim::dnn
