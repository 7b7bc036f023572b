#include "ge/session/piece_recorder.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "frontend/text/plan_text.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/tensor_members.h"
#include "ge/session/bound_key.h"

namespace ge {
namespace {

std::string StemOf(size_t execution, const char* what, size_t i, const std::string& name) {
  return fmt::format("execution/{}/{}-{}-{}", execution, what, i, MemberPart(name));
}

}  // namespace

Result<PieceRecorder::Known*> PieceRecorder::Know(const std::shared_ptr<Compiled>& piece) {
  const auto found = known_.find(piece);
  if (found != known_.end()) return &found->second;
  Known made;
  made.number = static_cast<uint32_t>(known_.size());
  CapsulePiece p;
  p.key = piece->bound_key;
  p.function = piece->plan.functions[0].name;
  p.plan = fmt::format("piece/{}.plan", made.number);
  p.expanded.assign(piece->expanded.begin(), piece->expanded.end());
  GE_RETURN_IF_ERROR(writer_.Add(p.plan, PrintPlan(piece->plan)));
  if (!piece->graph.functions.empty()) {
    // Of a piece that was planned before anybody watched, where its graph is still the bound one.
    if (p.key.empty() && p.expanded.empty()) p.key = BoundKey(piece->graph, piece->fn);
    p.graph = fmt::format("piece/{}.gepb", made.number);
    GE_RETURN_IF_ERROR(graphs_.Write(p.graph, piece->graph));
    if (values_ != RecordedValues::kNone) {
      made.observed = std::make_unique<ObservedValues>(*piece, piece->graph.fn(piece->fn),
                                                       values_ != RecordedValues::kBorder);
    }
  }
  GE_RETURN_IF_ERROR(WritePiece(made.number, p, &writer_));
  return &known_.emplace(piece, std::move(made)).first->second;
}

void PieceRecorder::ListOutputs(const Compiled& piece, size_t execution) {
  for (size_t i = 0; i < piece.outputs.size(); ++i) {
    const Compiled::Port& port = piece.outputs[i];
    CapsuleTensor t;
    t.name = port.name;
    t.dtype = port.dtype;
    t.dims = port.dims;
    const bool whole = values_ != RecordedValues::kStats;
    if (whole) t.member = StemOf(execution, "out", i, port.name) + ".npy";
    current_.outputs.push_back(std::move(t));
  }
}

// But for outputs of the piece, which are there already.
void PieceRecorder::ListValues(const Compiled& piece, size_t execution) {
  if (!of_->observed) return;
  const auto& values = piece.plan.functions[0].values;
  of_->places.clear();
  for (CapsuleTensor t : of_->observed->list()) {
    const bool output = t.plan_value != 0 && values[t.plan_value].kind == PlanValueKind::kOutput;
    of_->places.push_back(output ? -1 : static_cast<int64_t>(current_.values.size()));
    if (output) continue;
    if (values_ != RecordedValues::kStats) {
      t.member = StemOf(execution, "value", current_.values.size(), t.name) + ".npy";
    }
    current_.values.push_back(std::move(t));
  }
}

Status PieceRecorder::Begin(const std::shared_ptr<Compiled>& piece,
                            std::span<const TensorView> inputs) {
  current_ = {};
  statistics_.clear();
  GE_ASSIGN_OR_RETURN(of_, Know(piece));
  current_.piece = of_->number;
  const size_t n = executions_++;
  const bool whole = values_ == RecordedValues::kBorder || values_ == RecordedValues::kAll;
  for (size_t i = 0; whole && i < inputs.size(); ++i) {
    const std::string& name = piece->inputs[i].name;
    GE_RETURN_IF_ERROR(tensors_.Write(inputs[i], name, StemOf(n, "in", i, name), &current_.inputs));
  }
  if (values_ != RecordedValues::kNone) ListOutputs(*piece, n);
  ListValues(*piece, n);
  return WriteExecution(n, current_, &writer_);
}

void PieceRecorder::Take(size_t index, std::span<const std::byte> bytes) {
  const int64_t place = of_->places[index];
  if (place < 0 || !status_.ok()) return;
  ++count_;
  const CapsuleTensor& t = current_.values[static_cast<size_t>(place)];
  if (values_ != RecordedValues::kStats) {
    status_ = WriteTensorMember(t, bytes, &writer_);
    return;
  }
  statistics_.push_back(StatisticsOf(t.dtype, bytes));
  statistics_.back().value =
      static_cast<uint32_t>(current_.outputs.size()) + static_cast<uint32_t>(place);
}

void PieceRecorder::AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) {
  if (of_->observed) of_->observed->AfterStep(index, step, launch, take_);
}

void PieceRecorder::After(uint32_t index, std::span<const ge_buf> written, bool queued) {
  if (of_->observed) of_->observed->After(index, written, queued, take_);
}

Status PieceRecorder::End(std::span<const TensorView> outputs) {
  GE_RETURN_IF_ERROR(status_);
  for (size_t i = 0; i < outputs.size() && i < current_.outputs.size(); ++i) {
    const TensorView& v = outputs[i];
    const CapsuleTensor& t = current_.outputs[i];
    const std::span<const std::byte> bytes{static_cast<const std::byte*>(v.data), v.bytes};
    if (values_ == RecordedValues::kStats) {
      statistics_.push_back(StatisticsOf(t.dtype, bytes));
      statistics_.back().value = static_cast<uint32_t>(i);
      continue;
    }
    GE_RETURN_IF_ERROR(WriteTensorMember(t, bytes, &writer_));
    tensors_.Learn(t, v.data, v.bytes);
  }
  if (statistics_.empty()) return {};
  return WriteStatistics(statistics_, &writer_, StatisticsMemberOf(executions_ - 1));
}

uint64_t PieceRecorder::left_out() const {
  uint64_t count = 0;
  for (const auto& [piece, known] : known_) {
    if (known.observed) count += known.observed->left_out().size();
  }
  return count;
}

}  // namespace ge
