#include "plugins/gpu/cudnn_plan.h"

#include <algorithm>
#include <string>

namespace ge_engines::gpu {

// ---- descriptors -------------------------------------------------------------------------------

CudnnDescriptor::CudnnDescriptor(const CudnnLibrary& library, cudnn::DescriptorType type)
    : library_(library) {
  library_.Check(library_.f().cudnnBackendCreateDescriptor(type, &made_),
                 "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (made_ != nullptr) (void)library_.f().cudnnBackendDestroyDescriptor(made_);
}

void CudnnDescriptor::Set(cudnn::Attribute attribute, cudnn::AttributeType type, int64_t count,
                          const void* values) {
  library_.Check(library_.f().cudnnBackendSetAttribute(made_, attribute, type, count, values),
                 "cudnnBackendSetAttribute");
}

void CudnnDescriptor::SetDims(cudnn::Attribute attribute, const Dims& dims) {
  Set(attribute, cudnn::kTypeInt64, static_cast<int64_t>(dims.size()), dims.data());
}

void CudnnDescriptor::SetPart(cudnn::Attribute attribute, const CudnnDescriptor& part) {
  SetOne(attribute, cudnn::kTypeDescriptor, part.made_);
}

void CudnnDescriptor::Finalize() {
  library_.Check(library_.f().cudnnBackendFinalize(made_), "cudnnBackendFinalize");
}

int64_t CudnnDescriptor::Get(cudnn::Attribute attribute, cudnn::AttributeType type, int64_t room,
                             void* values) const {
  int64_t count = 0;
  library_.Check(
      library_.f().cudnnBackendGetAttribute(made_, attribute, type, room, &count, values),
      "cudnnBackendGetAttribute");
  return count;
}

// ---- building ----------------------------------------------------------------------------------

class CudnnPlan::Builder {
 public:
  Builder(CudnnPlan* plan, const CudnnGraph& graph, cudnn::Handle handle)
      : plan_(*plan), graph_(graph), handle_(handle) {}

  void Build() {
    for (const CudnnGraph::Tensor& tensor : graph_.tensors) AddTensor(tensor);
    std::vector<cudnn::Descriptor> operations;
    for (const CudnnGraph::Operation& operation : graph_.operations) {
      const bool pointwise = operation.type == cudnn::kOperationPointwise;
      operations.push_back((pointwise ? AddPointwise(operation) : AddConvolution(operation)).get());
    }
    CudnnDescriptor& whole = Add(cudnn::kOperationGraph);
    whole.SetOne(cudnn::kOperationGraphHandle, cudnn::kTypeHandle, handle_);
    whole.Set(cudnn::kOperationGraphOps, cudnn::kTypeDescriptor,
              static_cast<int64_t>(operations.size()), operations.data());
    whole.Finalize();
    for (const cudnn::HeurMode mode : {cudnn::kModeA, cudnn::kModeFallback}) {
      if (Choose(whole, mode)) return;
    }
    throw CudnnRefusal("cuDNN has no engine for the operation" +
                       (refused_.empty() ? "" : "; of the last one: " + refused_));
  }

 private:
  CudnnDescriptor& Add(cudnn::DescriptorType type) {
    plan_.parts_.push_back(std::make_unique<CudnnDescriptor>(plan_.library_, type));
    return *plan_.parts_.back();
  }
  const CudnnDescriptor& TensorOf(uint32_t k) const { return *plan_.parts_[k]; }

  void AddTensor(const CudnnGraph::Tensor& tensor) {
    const auto uid = static_cast<int64_t>(plan_.parts_.size()) + 1;
    CudnnDescriptor& made = Add(cudnn::kTensor);
    made.SetOne(cudnn::kTensorDataType, cudnn::kTypeDataType, tensor.type);
    made.SetDims(cudnn::kTensorDimensions, tensor.dims);
    made.SetDims(cudnn::kTensorStrides, tensor.strides);
    made.SetOne(cudnn::kTensorUniqueId, cudnn::kTypeInt64, uid);
    made.SetOne(cudnn::kTensorByteAlignment, cudnn::kTypeInt64, cudnn::kAlignment);
    made.SetOne(cudnn::kTensorIsVirtual, cudnn::kTypeBoolean, tensor.is_virtual);
    made.Finalize();
    if (!tensor.is_virtual) plan_.uids_.push_back(uid);
  }

  CudnnDescriptor& AddConvolution(const CudnnGraph::Operation& operation) {
    CudnnDescriptor& shape = Add(cudnn::kConvolution);
    shape.SetOne(cudnn::kConvolutionSpatialDims, cudnn::kTypeInt64,
                 static_cast<int64_t>(operation.pad.size()));
    shape.SetOne(cudnn::kConvolutionCompType, cudnn::kTypeDataType, cudnn::kFloat);
    shape.SetOne(cudnn::kConvolutionConvMode, cudnn::kTypeConvolutionMode,
                 cudnn::kCrossCorrelation);
    shape.SetDims(cudnn::kConvolutionDilations, operation.dilation);
    shape.SetDims(cudnn::kConvolutionFilterStrides, operation.stride);
    shape.SetDims(cudnn::kConvolutionPrePaddings, operation.pad);
    shape.SetDims(cudnn::kConvolutionPostPaddings, operation.pad);
    shape.Finalize();
    struct Names {
      cudnn::Attribute alpha, beta, shape, x, w, y;
    };
    const Names names =
        operation.type == cudnn::kOperationForward
            ? Names{cudnn::kForwardAlpha, cudnn::kForwardBeta, cudnn::kForwardConvDesc,
                    cudnn::kForwardX,     cudnn::kForwardW,    cudnn::kForwardY}
        : operation.type == cudnn::kOperationBackwardData
            ? Names{cudnn::kBackwardDataAlpha,    cudnn::kBackwardDataBeta,
                    cudnn::kBackwardDataConvDesc, cudnn::kBackwardDataDx,
                    cudnn::kBackwardDataW,        cudnn::kBackwardDataDy}
            : Names{cudnn::kBackwardFilterAlpha,    cudnn::kBackwardFilterBeta,
                    cudnn::kBackwardFilterConvDesc, cudnn::kBackwardFilterX,
                    cudnn::kBackwardFilterDw,       cudnn::kBackwardFilterDy};
    CudnnDescriptor& made = Add(operation.type);
    made.SetPart(names.shape, shape);
    made.SetPart(names.x, TensorOf(operation.x));
    made.SetPart(names.w, TensorOf(operation.w));
    made.SetPart(names.y, TensorOf(operation.y));
    made.SetOne(names.alpha, cudnn::kTypeFloat, 1.0f);
    made.SetOne(names.beta, cudnn::kTypeFloat, 0.0f);
    made.Finalize();
    return made;
  }

  CudnnDescriptor& AddPointwise(const CudnnGraph::Operation& operation) {
    CudnnDescriptor& function = Add(cudnn::kPointwise);
    function.SetOne(cudnn::kPointwiseMode, cudnn::kTypePointwiseMode, operation.mode);
    function.SetOne(cudnn::kPointwiseMathPrec, cudnn::kTypeDataType, cudnn::kFloat);
    if (operation.mode == cudnn::kReluForward) {
      // NaN stays NaN, as with our own kernels.
      function.SetOne(cudnn::kPointwiseNanPropagation, cudnn::kTypeNanPropagation,
                      cudnn::kPropagateNan);
      if (operation.bounded) {
        function.SetOne(cudnn::kPointwiseReluUpperClip, cudnn::kTypeDouble, operation.high);
      }
      if (operation.slope != 0) {
        function.SetOne(cudnn::kPointwiseReluLowerClipSlope, cudnn::kTypeDouble, operation.slope);
      }
    } else if (operation.mode == cudnn::kEluForward) {
      function.SetOne(cudnn::kPointwiseEluAlpha, cudnn::kTypeDouble, operation.alpha);
    }
    function.Finalize();
    CudnnDescriptor& made = Add(cudnn::kOperationPointwise);
    made.SetPart(cudnn::kOperationPointwisePwDescriptor, function);
    made.SetPart(cudnn::kOperationPointwiseX, TensorOf(operation.x));
    if (operation.mode == cudnn::kAdd) {
      made.SetPart(cudnn::kOperationPointwiseB, TensorOf(operation.w));
    }
    made.SetPart(cudnn::kOperationPointwiseY, TensorOf(operation.y));
    made.Finalize();
    return made;
  }

  // The first of a mode's engines that will do; false: none will.
  bool Choose(const CudnnDescriptor& whole, cudnn::HeurMode mode) {
    CudnnDescriptor heuristics(plan_.library_, cudnn::kEngineHeur);
    int64_t count = 0;
    try {
      heuristics.SetPart(cudnn::kEngineHeurOperationGraph, whole);
      heuristics.SetOne(cudnn::kEngineHeurMode, cudnn::kTypeHeurMode, mode);
      heuristics.Finalize();
      count = heuristics.Get(cudnn::kEngineHeurResults, cudnn::kTypeDescriptor, 0, nullptr);
    } catch (const CudnnRefusal& x) {
      return refused_ = x.what(), false;
    }
    std::vector<std::unique_ptr<CudnnDescriptor>> configs;
    std::vector<cudnn::Descriptor> room;
    for (int64_t k = 0; k < count; ++k) {
      configs.push_back(std::make_unique<CudnnDescriptor>(plan_.library_, cudnn::kEngineConfig));
      room.push_back(configs.back()->get());
    }
    count = heuristics.Get(cudnn::kEngineHeurResults, cudnn::kTypeDescriptor, count, room.data());
    for (int64_t k = 0; k < count; ++k) {
      auto& config = configs[static_cast<size_t>(k)];
      if (!Keeps(*config) || !Plan(*config)) continue;
      plan_.parts_.push_back(std::move(config));
      std::swap(plan_.parts_.back(), *(plan_.parts_.end() - 2));
      return true;
    }
    return false;
  }

  // Whether the engine of a configuration keeps to our rules: sums in float32, in a fixed order, of
  // what is there and not of something rounder.
  bool Keeps(const CudnnDescriptor& config) {
    CudnnDescriptor engine(plan_.library_, cudnn::kEngine);
    cudnn::Descriptor made = engine.get();
    (void)config.Get(cudnn::kEngineConfigEngine, cudnn::kTypeDescriptor, 1, &made);
    constexpr int64_t kMostNotes = 32;
    cudnn::NumericalNote notes[kMostNotes] = {};
    const int64_t count =
        engine.Get(cudnn::kEngineNumericalNote, cudnn::kTypeNumericalNote, kMostNotes, notes);
    const bool exact = graph_.tensors[0].type == cudnn::kFloat && !graph_.may_round;
    for (int64_t k = 0; k < std::min(count, kMostNotes); ++k) {
      switch (notes[k]) {
        case cudnn::kNoteTensorCore:  // of float32 they take the first bits, TF32
        case cudnn::kNoteDownConvertInputs:
          if (exact) return Refuse("it rounds what it reads");
          break;
        case cudnn::kNoteReducedPrecision:
        case cudnn::kNoteWinogradTile4:  // these lose digits, and half the bits of short numbers
        case cudnn::kNoteWinogradTile6:
        case cudnn::kNoteWinogradTile13:
          return Refuse("it loses digits");
        case cudnn::kNoteNondeterministic:
          return Refuse("its sums have no fixed order");
        default:
          break;
      }
    }
    return true;
  }

  bool Plan(const CudnnDescriptor& config) {
    auto made = std::make_unique<CudnnDescriptor>(plan_.library_, cudnn::kExecutionPlan);
    int64_t workspace = 0;
    try {
      made->SetOne(cudnn::kExecutionPlanHandle, cudnn::kTypeHandle, handle_);
      made->SetPart(cudnn::kExecutionPlanEngineConfig, config);
      made->Finalize();
      (void)made->Get(cudnn::kExecutionPlanWorkspaceSize, cudnn::kTypeInt64, 1, &workspace);
    } catch (const CudnnRefusal& x) {
      return refused_ = x.what(), false;
    }
    if (static_cast<uint64_t>(workspace) > graph_.most_workspace) {
      return Refuse("it wants a larger workspace than the offer said");
    }
    plan_.workspace_ = static_cast<uint64_t>(workspace);
    plan_.plan_ = made.get();
    plan_.parts_.push_back(std::move(made));
    return true;
  }
  bool Refuse(const char* why) { return refused_ = why, false; }

  CudnnPlan& plan_;
  const CudnnGraph& graph_;
  const cudnn::Handle handle_;
  std::string refused_;  // why the newest configuration will not do
};

CudnnPlan::CudnnPlan(const CudnnLibrary& library, int device, const CudnnGraph& graph)
    : library_(library), device_(library.DeviceOf(device)) {
  const Result result = library_.WithHandle(device_, [&](cudnn::Handle handle) {
    Builder(this, graph, handle).Build();
    return Result();
  });
  if (!result.ok()) throw CudnnRefusal("cuDNN: the device's context cannot be made current");
  packed_.resize(uids_.size() + 1);
}

CudnnPlan::~CudnnPlan() {
  // In the device's context, from the plan down to what it stands on.
  (void)library_.driver().Within(device_.number, [&] {
    pack_ = nullptr;
    while (!parts_.empty()) parts_.pop_back();
    return Result();
  });
}

// ---- launches ----------------------------------------------------------------------------------

void CudnnPlan::PackAddresses(std::span<const device::Buffer> at) const {
  const auto same = [&] {
    for (size_t k = 0; k < at.size(); ++k) {
      if (packed_[k] != at[k].data) return false;
    }
    return true;
  };
  if (pack_ != nullptr && same()) return;
  pack_ = nullptr;
  for (size_t k = 0; k < at.size(); ++k) packed_[k] = at[k].data;
  auto made = std::make_unique<CudnnDescriptor>(library_, cudnn::kVariantPack);
  const auto count = static_cast<int64_t>(uids_.size());
  made->Set(cudnn::kVariantPackUniqueIds, cudnn::kTypeInt64, count, uids_.data());
  made->Set(cudnn::kVariantPackDataPointers, cudnn::kTypeVoidPtr, count, packed_.data());
  made->SetOne(cudnn::kVariantPackWorkspace, cudnn::kTypeVoidPtr, packed_.back());
  made->Finalize();
  pack_ = std::move(made);
}

Result CudnnPlan::Queue(cuda::Stream stream, std::span<const device::Buffer> at) const {
  return library_.WithHandle(device_, [&](cudnn::Handle handle) {
    try {
      PackAddresses(at);
      library_.Check(library_.f().cudnnSetStream(handle, stream), "cudnnSetStream");
    } catch (const CudnnRefusal& x) {
      return CudnnLibrary::ResultOf(x.status);
    }
    return CudnnLibrary::ResultOf(
        library_.f().cudnnBackendExecute(handle, plan_->get(), pack_->get()));
  });
}

std::shared_ptr<const CudnnPlan> CudnnPlans::For(int device, const CudnnGraph& graph,
                                                 std::string* why) {
  // Those that nobody has any more, and those that failed and may be tried again.
  std::erase_if(plans_,
                [](const auto& p) { return p.second.plan.expired() && p.second.refused.empty(); });
  Known& known = plans_[{device, graph}];
  auto plan = known.plan.lock();
  if (plan == nullptr && known.refused.empty()) {
    try {
      plan = std::make_shared<const CudnnPlan>(library_, device, graph);
      known.plan = plan;
    } catch (const CudnnRefusal& x) {
      *why = x.what();
      // What failed may do the next time; what is not supported stays so.
      const bool stays = x.status >= cudnn::kNotSupported && x.status < cudnn::kInternalError;
      if (stays) known.refused = *why;
      return nullptr;
    }
  }
  if (plan == nullptr) *why = known.refused;
  return plan;
}

}  // namespace ge_engines::gpu
