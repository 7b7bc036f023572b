#include "prepared_runs.h"

#include <algorithm>
#include <utility>

#include "engine_call.h"
#include "raise.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

constexpr size_t kMostShaped = 4;            // prepared runs of a session
constexpr uint64_t kShortBytes = 256 << 10;  // runs on less end before somebody types Ctrl-C

// Takes the memory that a run allocated for an output.
nb::object TakeOutput(ge_tensor* t) {
  TensorValue value{t->dtype, t->rank, t->bytes, {}, {}};
  std::copy_n(t->dims, t->rank, value.dims);
  if (!t->data) {
    value.memory = MakeMemory(0);
    return NewTensor(std::move(value));
  }
  value.memory = MemoryRef(NewMemory(
      t->data, t->bytes,
      [](void* data) {
        ge_tensor given{};
        given.size = sizeof given;
        given.flags = GE_TENSOR_ALLOCATED;
        given.data = data;
        ge_tensor_release(&given);
      },
      t->data));
  if (!value.memory) {
    PyErr_NoMemory();
    nb::raise_python_error();
  }
  t->data = nullptr;
  t->flags = 0;
  return NewTensor(std::move(value));
}

// Frees what nobody took.
struct Allocated {
  explicit Allocated(size_t n) : tensors(n) {
    for (ge_tensor& t : tensors) t.size = sizeof t;
  }
  Allocated(const Allocated&) = delete;
  Allocated& operator=(const Allocated&) = delete;
  ~Allocated() {
    for (ge_tensor& t : tensors) ge_tensor_release(&t);
  }
  std::vector<ge_tensor> tensors;
};

// n of T, without an allocation where they are few.
template <typename T>
class Few {
 public:
  explicit Few(size_t n) : many_(n > few_.size() ? n : 0) {}
  T& operator[](size_t i) { return many_.empty() ? few_[i] : many_[i]; }

 private:
  std::array<T, 4> few_{};
  std::vector<T> many_;
};

// Nobody else takes it meanwhile.
class Busy {
 public:
  explicit Busy(bool* busy) : busy_(busy) { *busy_ = true; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { *busy_ = false; }

 private:
  bool* busy_;
};

template <typename Make>
nb::object OneOrTuple(size_t n, bool tuple, Make&& make) {
  if (n == 1 && !tuple) return make(0);
  nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(n)));
  if (!out.is_valid()) nb::raise_python_error();
  for (size_t i = 0; i < n; ++i) {
    nb::object each = make(i);
    if (PyTuple_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), each.release().ptr()) != 0) {
      nb::raise_python_error();
    }
  }
  return out;
}

}  // namespace

RunInputs::RunInputs(size_t most) {
  if (most > few_.size()) many_.reserve(most);
}

void RunInputs::Put(const Tensor& t) {
  bytes_ += t.bytes;
  if (many_.capacity() > 0) {
    many_.push_back({&t, ShareMemory(t)});
    all = many_;
    return;
  }
  few_[n_few_++] = {&t, ShareMemory(t)};
  all = {few_.data(), n_few_};
}

PreparedRuns::Shaped* PreparedRuns::Find(const RunInputs& inputs) {
  for (const std::unique_ptr<Shaped>& shaped : shaped_) {
    if (shaped->busy) continue;
    const int64_t* dims = shaped->dims.data();
    bool same = true;
    for (const RunInputs::Input& input : inputs.all) {
      const Tensor& t = *input.tensor;
      for (int32_t i = 0; i < t.rank; ++i) same = same && *dims++ == t.dims[i];
    }
    if (same) return shaped.get();
  }
  return nullptr;
}

// Threads that run at once have each their own; a few more than kMostShaped stay then.
PreparedRuns::Shaped* PreparedRuns::Add(const RunInputs& inputs,
                                        const std::vector<ge_tensor>& outputs) {
  if (shaped_.size() >= kMostShaped) {
    const auto oldest =
        std::min_element(shaped_.begin(), shaped_.end(), [](const auto& a, const auto& b) {
          return std::pair(a->busy, a->used) < std::pair(b->busy, b->used);
        });
    if (!(*oldest)->busy) shaped_.erase(oldest);
  }
  auto shaped = std::make_unique<Shaped>();
  for (const RunInputs::Input& input : inputs.all) {
    const Tensor& t = *input.tensor;
    shaped->dims.insert(shaped->dims.end(), t.dims, t.dims + t.rank);
  }
  for (const ge_tensor& t : outputs) {
    Output& output = shaped->outputs.emplace_back(Output{t.dtype, t.rank, t.bytes, {}});
    std::copy_n(t.dims, t.rank, output.dims);
  }
  shaped->used = ++runs_;
  return shaped_.emplace_back(std::move(shaped)).get();
}

nb::object PreparedRuns::RunOnce(const RunInputs& inputs) {
  std::vector<ge_tensor> in;
  for (const RunInputs::Input& input : inputs.all) in.push_back(ViewOf(*input.tensor));
  Allocated out(outputs_);
  ge_session* session = handle_->get();
  CallEngine(session, [&](ge_error* error) {
    return ge_session_run(session, nullptr, in.data(), static_cast<uint32_t>(in.size()),
                          out.tensors.data(), static_cast<uint32_t>(out.tensors.size()), error);
  });
  if (prepares_) Add(inputs, out.tensors);
  return OneOrTuple(out.tensors.size(), tuple_,
                    [&](size_t i) { return TakeOutput(&out.tensors[i]); });
}

// False where the data decide how large outputs are: the engine does not say it then.
bool PreparedRuns::Prepare(Shaped& shaped, const RunInputs& inputs,
                           std::span<const MemoryRef> outputs) {
  std::vector<ge_tensor> in, out;
  for (const RunInputs::Input& input : inputs.all) in.push_back(ViewOf(*input.tensor));
  for (size_t i = 0; i < outputs.size(); ++i) {
    ge_tensor& t = out.emplace_back();
    t = ge_tensor{};
    t.size = sizeof t;
    t.data = outputs[i].data();
    t.bytes = shaped.outputs[i].bytes;
  }
  ge_session* session = handle_->get();
  CallEngine(session, [&](ge_error* error) {
    return ge_prepared_create(session, nullptr, in.data(), static_cast<uint32_t>(in.size()),
                              out.data(), static_cast<uint32_t>(out.size()), &shaped.prepared,
                              error);
  });
  return std::all_of(out.begin(), out.end(), [](const ge_tensor& t) { return t.dtype != 0; });
}

nb::object PreparedRuns::RunPrepared(Shaped& shaped, const RunInputs& inputs) {
  const Busy busy(&shaped.busy);
  shaped.used = ++runs_;
  const size_t n = shaped.outputs.size();
  Few<MemoryRef> outputs(n);
  Few<void*> in(inputs.all.size()), out(n);
  uint64_t bytes = inputs.bytes();
  for (size_t i = 0; i < n; ++i) {
    outputs[i] = MakeMemory(shaped.outputs[i].bytes);
    out[i] = outputs[i].data();
    bytes += shaped.outputs[i].bytes;
  }
  for (size_t i = 0; i < inputs.all.size(); ++i) in[i] = inputs.all[i].memory.data();
  if (!shaped.prepared && !Prepare(shaped, inputs, {&outputs[0], n})) {
    prepares_ = false;
    return RunOnce(inputs);
  }
  ge_error error = NoError();
  const auto run = [&](ge_error* e) {
    return ge_prepared_run_on(shaped.prepared, &in[0], &out[0], nullptr, e);
  };
  if (bytes > kShortBytes) {
    CallEngine(handle_->get(), run);
  } else {
    ge_status status;
    {
      const WithoutGil release;
      status = run(&error);
    }
    Check(status, error);
  }
  return OneOrTuple(n, tuple_, [&](size_t i) {
    const Output& o = shaped.outputs[i];
    PyObject* made = NewTensor(o.dtype, o.rank, o.dims, o.bytes, std::move(outputs[i]));
    if (!made) nb::raise_python_error();
    return nb::steal(made);
  });
}

nb::object PreparedRuns::Run(const RunInputs& inputs) {
  if (Shaped* shaped = prepares_ ? Find(inputs) : nullptr) return RunPrepared(*shaped, inputs);
  return RunOnce(inputs);
}

}  // namespace graphengine
