#include "batches.h"

#include "engine_call.h"
#include "keywords.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

uint64_t Count(const std::string& name, nb::handle value) {
  uint64_t n = 0;
  if (nb::try_cast(value, n)) return n;
  Raise(GE_STATUS_INVALID_ARGUMENT,
        name + " is " + std::string(nb::str(value).c_str()) + ", wanted a number from 0 on");
}

}  // namespace

Batches::Batches(std::shared_ptr<Handle> session, std::shared_ptr<const EntryPorts> entry,
                 const nb::kwargs& words)
    : session_(std::move(session)) {
  ge_batches_options o;
  ge_batches_options_init(&o);
  o.entry = entry->name.c_str();
  const std::pair<const char*, uint64_t*> fields[] = {
      {"batch", &o.batch}, {"ahead", &o.ahead}, {"ahead_bytes", &o.ahead_bytes},
      {"rows", &o.rows},   {"rank", &o.rank},   {"world", &o.world},
      {"first", &o.first}, {"limit", &o.limit}};
  for (const auto& [key, value] : words) {
    const std::string name(nb::str(key).c_str());
    bool known = false;
    for (const auto& [field, to] : fields) {
      if (name != field) continue;
      *to = Count(name, value);
      known = true;
    }
    if (!known) {
      Raise(GE_STATUS_INVALID_ARGUMENT, "batches takes no '" + name +
                                            "'; it takes batch, ahead, ahead_bytes, rows, rank, "
                                            "world, first, limit");
    }
  }
  for (const Port& p : entry->outputs) names_.push_back(p.name);
  CallEngine(session_->get(), [&](ge_error* error) {
    return ge_batches_create(session_->get(), &o, &batches_, error);
  });
}

Batches::~Batches() {
  const WithoutGil release;  // threads that make rows end first
  ge_batches_destroy(batches_);
}

nb::object Batches::Next() {
  ge_batch* batch = nullptr;
  CallEngine(session_->get(),
             [&](ge_error* error) { return ge_batches_next(batches_, nullptr, &batch, error); });
  if (batch == nullptr) {
    PyErr_SetNone(PyExc_StopIteration);
    nb::raise_python_error();
  }
  const std::shared_ptr<ge_batch> lent(batch, ge_batch_release);
  const ge_tensor* columns = nullptr;
  uint32_t n = 0;
  ge_error error = NoError();
  Check(ge_batch_columns(batch, &columns, &n), error);
  nb::dict out;
  for (uint32_t i = 0; i < n; ++i) {
    const nb::capsule owner(new std::shared_ptr<ge_batch>(lent), [](void* p) noexcept {
      delete static_cast<std::shared_ptr<ge_batch>*>(p);
    });
    out[Text(names_[i])] = ArrayOver(columns[i], owner, "column '" + names_[i] + "'", Form::kNumpy);
  }
  return out;
}

}  // namespace graphengine
