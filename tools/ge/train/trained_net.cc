#include "tools/ge/train/trained_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "ge/base/half.h"
#include "ge/host/machine.h"

namespace ge::tool {
namespace {

// A call of ge.h as a Status.
template <typename Call>
Status Try(Call call) {
  ge_error error;
  error.size = sizeof error;
  if (call(&error) == GE_STATUS_OK) return {};
  const auto code = static_cast<Code>(error.status);
  // The text begins with the code, which a Status says by itself.
  std::string_view text = error.message;
  const std::string head = std::string(CodeName(code)) + ": ";
  if (text.starts_with(head)) text.remove_prefix(head.size());
  Status status(code, std::string(text));
  return error.node[0] != 0 ? std::move(status).AtNode(error.node) : status;
}

double NumberIn(const ge_tensor& t) {
  if (t.dtype == static_cast<int32_t>(DType::kFloat16)) {
    return FloatOfHalf(*static_cast<const uint16_t*>(t.data));
  }
  if (t.dtype == static_cast<int32_t>(DType::kFloat)) return *static_cast<const float*>(t.data);
  if (t.dtype == static_cast<int32_t>(DType::kDouble)) return *static_cast<const double*>(t.data);
  return static_cast<double>(*static_cast<const int64_t*>(t.data));
}

void Put(const std::string& name, double v, Metrics* to) {
  if (name == "loss") to->loss = v;
  if (name == "correct") to->correct = v;
  if (name == "learning_rate") to->rate = v;
}

std::string Joined(const std::vector<std::string>& list, char by) {
  std::string all;
  for (const std::string& item : list) all += (all.empty() ? "" : std::string(1, by)) + item;
  return all;
}

Result<std::vector<std::string>> OutputsOf(ge_session* session, const char* entry) {
  uint32_t n = 0;
  std::vector<std::string> names;
  if (ge_session_output_count(session, entry, &n) != GE_STATUS_OK) {
    return Status(Code::kInternal, fmt::format("the pass train made no entry {}", entry));
  }
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    ge_session_output_info(session, entry, i, &info);
    names.emplace_back(info.name);
  }
  return names;
}

// What ge_session_options has of a line of arguments. The texts live in `keep`.
Result<ge_session_options> SessionOptionsFor(const Options& o, const std::string& pass,
                                             std::vector<std::string>* keep) {
  GE_ASSIGN_OR_RETURN(const SessionOptions checked, SessionOptionsOf(o));
  ge_session_options s;
  ge_session_options_init(&s);
  std::vector<std::string> passes = o.passes;
  passes.insert(passes.begin(), "train:" + pass);
  *keep = {o.engines, o.plugins.empty() ? "grad" : "grad," + o.plugins, Joined(passes, ','),
           Joined(o.skip, ','), Joined(o.pins, ';')};
  const auto text = [&](size_t i) { return (*keep)[i].empty() ? nullptr : (*keep)[i].c_str(); };
  s.engines = text(0);
  s.plugins = text(1);
  s.passes = text(2);
  s.skip_passes = text(3);
  s.pins = text(4);
  s.threads = o.threads;
  s.isa_cap = static_cast<uint32_t>(checked.process.isa_cap);
  s.max_streams_per_device = o.max_streams;
  s.prices = o.prices == "analytic"  ? GE_PRICES_ANALYTIC
             : o.prices == "measure" ? GE_PRICES_MEASURE
             : o.prices == "shipped" ? GE_PRICES_SHIPPED
                                     : GE_PRICES_CACHED;
  s.denormals = o.denormals == "keep" ? GE_KEEP_DENORMALS : GE_FLUSH_DENORMALS;
  s.numerics = o.numerics == "exact" ? GE_EXACT_NUMERICS : GE_FAST_NUMERICS;
  s.memory_limit_bytes = o.memory_limit_bytes;
  s.policy = o.policy == "priority" ? GE_PLACE_BY_PRIORITY : GE_PLACE_BY_COST;
  return s;
}

ge_tensor BatchOf(const ge_tensor_info& info, int64_t n, void* data) {
  ge_tensor t{};
  t.size = sizeof t;
  t.dtype = info.dtype;
  t.rank = info.rank;
  t.data = data;
  int64_t count = 1;
  for (int32_t i = 0; i < info.rank; ++i) {
    t.dims[i] = i == 0 ? n : info.dims[i];
    count *= t.dims[i];
  }
  t.bytes = static_cast<uint64_t>(DTypeBytes(static_cast<DType>(info.dtype), count).value_or(0));
  return t;
}

template <typename T>
bool AllFinite(const void* data, uint64_t bytes) {
  const auto* v = static_cast<const T*>(data);
  return std::all_of(v, v + bytes / sizeof(T), [](T x) { return std::isfinite(x); });
}

// Of 16 bits: that no exponent is all ones.
bool AllFinite16(const void* data, uint64_t bytes, uint16_t exponent) {
  const auto* v = static_cast<const uint16_t*>(data);
  return std::all_of(v, v + bytes / 2, [&](uint16_t x) { return (x & exponent) != exponent; });
}

bool IsFinite(const ge_tensor& t) {
  switch (static_cast<DType>(t.dtype)) {
    case DType::kFloat:
      return AllFinite<float>(t.data, t.bytes);
    case DType::kDouble:
      return AllFinite<double>(t.data, t.bytes);
    case DType::kFloat16:
      return AllFinite16(t.data, t.bytes, 0x7c00);
    case DType::kBfloat16:
      return AllFinite16(t.data, t.bytes, 0x7f80);
    default:
      return true;
  }
}

}  // namespace

Result<TrainedNet> TrainedNet::Open(const Options& o, const std::string& pass) {
  std::vector<std::string> keep;
  GE_ASSIGN_OR_RETURN(const ge_session_options options, SessionOptionsFor(o, pass, &keep));
  TrainedNet net;
  ge_session* session = nullptr;
  GE_RETURN_IF_ERROR(Try([&](ge_error* e) { return ge_session_create(&options, &session, e); }));
  net.session_.reset(session);
  GE_RETURN_IF_ERROR(Try([&](ge_error* e) {
    return ge_session_load_file(session, o.model.c_str(), GE_FORMAT_AUTO, e);
  }));
  GE_RETURN_IF_ERROR(net.Inspect());
  GE_RETURN_IF_ERROR(net.FindBoxes());
  return net;
}

Status TrainedNet::Inspect() {
  GE_ASSIGN_OR_RETURN(step_outputs_, OutputsOf(session_.get(), "train_step"));
  GE_ASSIGN_OR_RETURN(eval_outputs_, OutputsOf(session_.get(), "eval"));
  uint32_t n = 0;
  ge_session_input_count(session_.get(), "train_step", &n);
  for (uint32_t i = 0; i < n; ++i) {
    Input input;
    input.info.size = sizeof input.info;
    ge_session_input_info(session_.get(), "train_step", i, &input.info);
    has_labels_ = i + 1 == n && i > 0 && std::strcmp(input.info.name, "label") == 0;
    inputs_.push_back(std::move(input));
  }
  if (inputs_.empty()) {
    return Status(Code::kUnsupported, "the net has no input, so there is nothing to train it on");
  }
  for (const std::string& name : step_outputs_) classifies_ = classifies_ || name == "correct";
  ge_tensor_info out{};
  out.size = sizeof out;
  ge_session_output_info(session_.get(), "eval", 0, &out);
  if (classifies_ && out.rank > 0) classes_ = out.dims[out.rank - 1];
  return {};
}

Status TrainedNet::CheckShapes(int64_t batch) const {
  for (const Input& input : inputs_) {
    const ge_tensor_info& info = input.info;
    const bool fixed = info.rank > 0 && info.dims[0] >= 0;
    if (info.rank < 1 || (fixed && info.dims[0] != batch)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("input '{}' is of {}, wanted batches of {} along its first axis; "
                      "export the net with a batch that is not fixed{}",
                      info.name,
                      info.rank < 1 ? "no axes" : fmt::format("{} samples", info.dims[0]), batch,
                      fixed ? fmt::format(", or train with --batch {}", info.dims[0]) : ""));
    }
    for (int32_t i = 1; i < info.rank; ++i) {
      if (info.dims[i] >= 0) continue;
      return Status(
          Code::kInvalidArgument,
          fmt::format("axis {} of input '{}' is of no fixed size, which ge train wants of "
                      "all but the first",
                      i, info.name));
    }
  }
  return {};
}

NetInputs TrainedNet::Inputs() const {
  NetInputs out;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const ge_tensor_info& info = inputs_[i].info;
    const RowType wanted = {
        info.name, static_cast<DType>(info.dtype), {info.dims + 1, info.dims + info.rank}};
    if (has_labels_ && i + 1 == inputs_.size()) {
      out.y = wanted;
    } else {
      out.x.push_back(wanted);
    }
  }
  out.classifies = classifies_;
  out.classes = classes_;
  return out;
}

double TrainedNet::LabelsASample() const {
  double n = 1;
  const ge_tensor_info& info = inputs_.back().info;
  for (int32_t i = 1; has_labels_ && i < info.rank; ++i) n *= static_cast<double>(info.dims[i]);
  return n;
}

Status TrainedNet::Fill(const NetColumns& columns, const Batch& batch) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    GE_RETURN_IF_ERROR(columns.Put(batch, i, inputs_[i].memory.get()));
  }
  return {};
}

Status TrainedNet::Prepare(int64_t batch, int64_t room) {
  std::vector<ge_tensor> in;
  for (Input& input : inputs_) {
    in.push_back(BatchOf(input.info, batch, nullptr));
    const uint64_t bytes = BatchOf(input.info, room, nullptr).bytes;
    input.memory = AllocateAligned(bytes, 64);
    if (!input.memory) return Status(Code::kResourceExhausted, "no memory for a batch");
    std::memset(input.memory.get(), 0, bytes);
    in.back().data = input.memory.get();
  }
  numbers_.assign(step_outputs_.size(), 0);
  std::vector<ge_tensor> out(step_outputs_.size());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].size = sizeof out[i];
    out[i].data = &numbers_[i];
    out[i].bytes = sizeof numbers_[i];
  }
  ge_prepared* prepared = nullptr;
  GE_RETURN_IF_ERROR(Try([&](ge_error* e) {
    return ge_prepared_create(session_.get(), "train_step", in.data(),
                              static_cast<uint32_t>(in.size()), out.data(),
                              static_cast<uint32_t>(out.size()), &prepared, e);
  }));
  step_.reset(prepared);
  return {};
}

Result<Metrics> TrainedNet::Step() {
  GE_RETURN_IF_ERROR(Try([&](ge_error* e) { return ge_prepared_run(step_.get(), nullptr, e); }));
  Metrics m;
  for (size_t i = 0; i < step_outputs_.size(); ++i) {
    ge_tensor t{};
    t.size = sizeof t;
    GE_RETURN_IF_ERROR(Try([&](ge_error* e) {
      return ge_prepared_output(step_.get(), static_cast<uint32_t>(i), &t, e);
    }));
    Put(step_outputs_[i], NumberIn(t), &m);
  }
  return m;
}

Result<Metrics> TrainedNet::Evaluate(int64_t n) {
  std::vector<ge_tensor> in;
  for (const Input& input : inputs_) in.push_back(BatchOf(input.info, n, input.memory.get()));
  std::vector<ge_tensor> out(eval_outputs_.size());
  for (ge_tensor& t : out) t.size = sizeof t;
  Status status = Try([&](ge_error* e) {
    return ge_session_run(session_.get(), "eval", in.data(), static_cast<uint32_t>(in.size()),
                          out.data(), static_cast<uint32_t>(out.size()), e);
  });
  Metrics m;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool number = eval_outputs_[i] == "loss" || eval_outputs_[i] == "correct";
    // Without a loss of ours the net's own first output is it.
    if (status.ok() && (number || (i == 0 && !has_labels_))) {
      Put(number ? eval_outputs_[i] : "loss", NumberIn(out[i]), &m);
    }
    ge_tensor_release(&out[i]);
  }
  if (!status.ok()) return status;
  return m;
}

Status TrainedNet::SaveStates(const std::string& path) {
  return Try([&](ge_error* e) { return ge_session_save_states(session_.get(), path.c_str(), e); });
}

Status TrainedNet::RestoreStates(const std::string& path) {
  return Try(
      [&](ge_error* e) { return ge_session_restore_states(session_.get(), path.c_str(), e); });
}

template <typename Call>
Status TrainedNet::EachState(Call call) {
  uint32_t n = 0;
  ge_session_state_count(session_.get(), &n);
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    ge_session_state_info(session_.get(), i, &info);
    ge_tensor t{};
    t.size = sizeof t;
    const auto get = [&](ge_error* e) {
      return ge_session_get_state(session_.get(), info.name, &t, e);
    };
    GE_RETURN_IF_ERROR(Try(get));
    AlignedBytes memory = AllocateAligned(std::max<uint64_t>(t.bytes, 1), 64);
    if (!memory) return Status(Code::kResourceExhausted, "no memory for a copy of a state");
    t.data = memory.get();
    GE_RETURN_IF_ERROR(Try(get));
    call(info.name, t, std::move(memory));
  }
  return {};
}

Result<std::vector<Tensor>> TrainedNet::LocalStates() {
  std::vector<Tensor> states;
  GE_RETURN_IF_ERROR(EachState([&](const char* name, const ge_tensor& t, AlignedBytes memory) {
    Tensor made;
    made.name = name;
    made.view = {static_cast<DType>(t.dtype), {t.dims, t.dims + t.rank}, t.data, t.bytes};
    made.memory = std::move(memory);
    states.push_back(std::move(made));
  }));
  return states;
}

Status TrainedNet::SetState(const Tensor& state) {
  ge_tensor t{};
  t.size = sizeof t;
  t.dtype = static_cast<int32_t>(state.view.dtype);
  t.rank = static_cast<int32_t>(state.view.dims.size());
  std::copy(state.view.dims.begin(), state.view.dims.end(), t.dims);
  t.data = state.memory.get();
  t.bytes = state.view.bytes;
  return Try(
      [&](ge_error* e) { return ge_session_set_state(session_.get(), state.name.c_str(), &t, e); });
}

// What the pass `parallel` says of them; without it each is whole.
Status TrainedNet::FindBoxes() {
  const char* said = nullptr;
  GE_RETURN_IF_ERROR(
      Try([&](ge_error*) { return ge_session_metadata(session_.get(), "parallel", &said); }));
  many_ = said != nullptr;
  if (many_) {
    GE_ASSIGN_OR_RETURN(boxes_, BoxesOfStates(said));
  }
  uint32_t n = 0;
  ge_session_state_count(session_.get(), &n);
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    ge_session_state_info(session_.get(), i, &info);
    const std::vector<int64_t> dims(info.dims, info.dims + std::max(0, info.rank));
    const auto [at, added] = boxes_.emplace(info.name, StateBox{dims, Box::Whole(dims)});
    if (at->second.box.size == dims) continue;
    return Status(Code::kInternal,
                  fmt::format("state '{}' is not of the size of this rank's box", info.name));
  }
  return {};
}

bool TrainedNet::in_shares() const {
  return std::any_of(boxes_.begin(), boxes_.end(), [](auto& b) { return !b.second.whole(); });
}

Result<std::vector<double>> TrainedNet::SumOfRanks(const std::vector<double>& mine,
                                                   std::vector<double>* least) {
  if (!many_ && least != nullptr) *least = mine;
  if (!many_) return mine;
  ge_tensor in{}, out[2]{};
  in.size = out[0].size = out[1].size = sizeof in;
  in.dtype = static_cast<int32_t>(DType::kDouble);
  in.rank = 1;
  in.dims[0] = static_cast<int64_t>(mine.size());
  in.data = const_cast<double*>(mine.data());
  in.bytes = mine.size() * sizeof(double);
  const Status status =
      Try([&](ge_error* e) { return ge_session_run(session_.get(), "agree", &in, 1, out, 2, e); });
  std::vector<double> sum;
  if (status.ok()) {
    const auto* at = static_cast<const double*>(out[0].data);
    sum.assign(at, at + mine.size());
    at = static_cast<const double*>(out[1].data);
    if (least != nullptr) least->assign(at, at + mine.size());
  }
  for (ge_tensor& t : out) ge_tensor_release(&t);
  if (!status.ok()) return status;
  return sum;
}

// By the entry `whole`, whose outputs have the names of states; there is none where slots alone lie
// in shares.
Result<std::vector<Tensor>> TrainedNet::Gathered() {
  uint32_t n = 0;
  const bool any = ge_session_output_count(session_.get(), "whole", &n) == GE_STATUS_OK;
  if (!any) return std::vector<Tensor>();
  GE_ASSIGN_OR_RETURN(const std::vector<std::string> names, OutputsOf(session_.get(), "whole"));
  std::vector<Tensor> whole(names.size());
  std::vector<ge_tensor> out(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    ge_session_output_info(session_.get(), "whole", static_cast<uint32_t>(i), &info);
    const std::vector<int64_t>& dims = boxes_.at(names[i]).dims;
    const auto dtype = static_cast<DType>(info.dtype);
    const auto bytes =
        static_cast<uint64_t>(DTypeBytes(dtype, Box::Whole(dims).count()).value_or(0));
    whole[i].name = names[i];
    whole[i].memory = AllocateAligned(std::max<uint64_t>(bytes, 1), 64);
    if (!whole[i].memory) return Status(Code::kResourceExhausted, "no memory for a whole state");
    whole[i].view = {dtype, dims, whole[i].memory.get(), bytes};
    out[i].size = sizeof out[i];
    out[i].data = whole[i].memory.get();
    out[i].bytes = bytes;
  }
  GE_RETURN_IF_ERROR(Try([&](ge_error* e) {
    return ge_session_run(session_.get(), "whole", nullptr, 0, out.data(),
                          static_cast<uint32_t>(out.size()), e);
  }));
  return whole;
}

Result<std::vector<Tensor>> TrainedNet::States() {
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> states, LocalStates());
  if (!in_shares()) return states;
  std::erase_if(states, [&](const Tensor& t) { return !boxes_.at(t.name).whole(); });
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> gathered, Gathered());
  std::move(gathered.begin(), gathered.end(), std::back_inserter(states));
  return states;
}

Result<std::vector<std::string>> TrainedNet::StatesNotFinite() {
  std::vector<std::string> names;
  GE_RETURN_IF_ERROR(EachState([&](const char* name, const ge_tensor& t, const AlignedBytes&) {
    if (!IsFinite(t)) names.emplace_back(name);
  }));
  return names;
}

Result<int64_t> TrainedNet::StepOfStates() {
  int64_t step = 0;
  ge_tensor t{};
  t.size = sizeof t;
  t.data = &step;
  t.bytes = sizeof step;
  GE_RETURN_IF_ERROR(
      Try([&](ge_error* e) { return ge_session_get_state(session_.get(), "train.step", &t, e); }));
  return step;
}

}  // namespace ge::tool
