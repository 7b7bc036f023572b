#include "prepared.h"

#include <algorithm>

#include "engine_call.h"

namespace nb = nanobind;

namespace graphengine {
Prepared::Prepared(std::unique_ptr<Call> call) : call_(std::move(call)), bound_(call_->n_inputs()) {
  ge_prepared* prepared = nullptr;
  CallEngine(call_->session(), [&](ge_error* error) {
    return ge_prepared_create(call_->session(), call_->entry(), call_->inputs(), call_->n_inputs(),
                              call_->outputs(), call_->n_outputs(), &prepared, error);
  });
  prepared_.reset(prepared);
  wanted_.assign(call_->outputs(), call_->outputs() + call_->n_outputs());
  outputs_ = call_->Results();
}

nb::object Prepared::Run() {
  CallEngine(call_->session(),
             [&](ge_error* error) { return ge_prepared_run(prepared_.get(), nullptr, error); });
  for (uint32_t i = 0; i < wanted_.size(); ++i) {
    ge_tensor t{};
    t.size = sizeof t;
    ge_error error = NoError();
    Check(ge_prepared_output(prepared_.get(), i, &t, &error), error);
    const ge_tensor& wanted = wanted_[i];
    if (t.rank == wanted.rank && std::equal(t.dims, t.dims + t.rank, wanted.dims)) continue;
    Raise(GE_STATUS_INVALID_ARGUMENT,
          "output " + std::to_string(i) + " is prepared as " + ShapeText(wanted.dims, wanted.rank) +
              ", the run gave " + ShapeText(t.dims, t.rank) + "; use run, whose data decide it");
  }
  return outputs_.attr("copy")();
}

void Prepared::SetInput(const std::string& name, nb::handle array) {
  const std::vector<Port>& ports = call_->ports().inputs;
  const auto port =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == name; });
  if (port == ports.end()) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "there is no input '" + name + "'");
  }
  const auto i = static_cast<size_t>(port - ports.begin());
  auto read = std::make_unique<BorrowedArray>();
  read->Read(array, "input '" + name + "'", port->element);
  CallEngine(call_->session(), [&](ge_error* error) {
    return ge_prepared_set_input(prepared_.get(), static_cast<uint32_t>(i), &read->tensor(), error);
  });
  bound_[i] = std::move(read);
}

}  // namespace graphengine
