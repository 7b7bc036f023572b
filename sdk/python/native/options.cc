// Options in Python's words as ge.h has them, and the making of sessions and runtimes.
#include <nanobind/stl/string.h>

#include <initializer_list>

#include "raise.h"
#include "session.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

// The place of `word` in `words`; 0 for none.
uint32_t Place(const char* what, const std::optional<std::string>& word,
               std::initializer_list<const char*> words) {
  if (!word) return 0;
  uint32_t i = 0;
  std::string all;
  for (const char* each : words) {
    if (*word == each) return i;
    if (*each) all += (all.empty() ? "" : ", ") + std::string(each);
    ++i;
  }
  Raise(GE_STATUS_INVALID_ARGUMENT, std::string(what) + " is '" + *word + "', wanted " + all);
}

uint32_t IsaCap(const std::optional<std::string>& isa) {
  return Place("isa", isa, {"native", "sse4.2", "avx2", "avx512"});
}

// "a,b" of None, a text or a sequence of texts.
std::optional<std::string> Joined(const char* what, nb::handle words, const char* between = ",") {
  if (words.is_none()) return std::nullopt;
  if (PyUnicode_Check(words.ptr())) return nb::cast<std::string>(words);
  std::string out;
  for (nb::handle each : nb::borrow<nb::iterable>(words)) {
    if (!PyUnicode_Check(each.ptr())) {
      Raise(GE_STATUS_INVALID_ARGUMENT, std::string(what) + " wants texts");
    }
    out += (out.empty() ? "" : between) + nb::cast<std::string>(each);
  }
  return out;
}

uint64_t Milliseconds(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "a time limit wants seconds, 0 for none");
  }
  const auto ms = static_cast<uint64_t>(seconds * 1000);
  return ms == 0 && seconds > 0 ? 1 : ms;
}

ge_session* Create(const Options& o) {
  const auto engines = Joined("engines", o.engines), skipped = Joined("skip_passes", o.skip_passes);
  const auto pins = Joined("pins", o.pins, ";");
  ge_session_options options;
  if (ge_session_options_init(&options) != GE_STATUS_OK) {
    Raise(GE_STATUS_FAILED_PRECONDITION, "libgraphengine.so is older than this package");
  }
  options.threads = o.threads, options.isa_cap = IsaCap(o.isa);
  options.max_streams_per_device = o.max_streams;
  options.engines = engines ? engines->c_str() : nullptr;
  options.plan_cache_bytes = o.plan_cache_bytes;
  options.prices = Place("prices", o.prices, {"", "analytic", "cached", "measure", "shipped"});
  options.replan = o.replan, options.measure_budget_ms = o.measure_budget_ms;
  options.skip_passes = skipped ? skipped->c_str() : nullptr;
  options.denormals = Place("denormals", o.denormals, {"flush", "keep"});
  options.numerics = Place("numerics", o.numerics, {"fast", "exact"});
  options.precision = Place("precision", o.precision, {"f32", "bf16"});
  options.memory_limit_bytes = o.memory_limit;
  options.time_limit_ms = Milliseconds(o.time_limit);
  options.runtime = o.runtime ? o.runtime->get() : nullptr;
  options.kv_cache = o.kv_cache;
  options.pins = pins ? pins->c_str() : nullptr;
  options.policy = Place("policy", o.policy, {"cost", "priority"});
  ge_session* session = nullptr;
  ge_error error = NoError();
  ge_status status;
  {
    WithoutGil release;
    status = ge_session_create(&options, &session, &error);
  }
  Check(status, error);
  return session;
}

}  // namespace

Runtime::Runtime(uint32_t threads, std::optional<std::string> isa, uint64_t resident_bytes) {
  ge_runtime_options options{};
  options.size = sizeof options;
  options.threads = threads, options.isa_cap = IsaCap(isa);
  options.resident_bytes = resident_bytes;
  ge_error error = NoError();
  Check(ge_runtime_create(&options, &runtime_, &error), error);
}

uint32_t Runtime::EngineCount() const {
  uint32_t n = 0;
  ge_error error = NoError();
  Check(ge_runtime_engine_count(runtime_, &n), error);
  return n;
}

Session::Session(nb::handle model, std::optional<std::string> format, const Options& options)
    : handle_(std::make_shared<Handle>(Create(options))) {
  const uint32_t as = Place("format", format, {"auto", "onnx", "proto", "text"});
  ge_error error = NoError();
  ge_status status;
  if (PyBytes_Check(model.ptr())) {
    const char* data = PyBytes_AS_STRING(model.ptr());
    const auto size = static_cast<uint64_t>(PyBytes_GET_SIZE(model.ptr()));
    WithoutGil release;
    status = ge_session_load_bytes(handle_->get(), data, size, as, &error);
  } else {
    PyObject* path = nullptr;
    if (!PyUnicode_FSConverter(model.ptr(), &path)) nb::raise_python_error();
    const nb::object kept = nb::steal(path);
    WithoutGil release;
    status = ge_session_load_file(handle_->get(), PyBytes_AS_STRING(path), as, &error);
  }
  Check(status, error);
  for (EntryPorts& entry : ReadEntries(handle_->get())) {
    entry_names_.push_back(entry.name);
    entries_.push_back(std::make_shared<const EntryPorts>(std::move(entry)));
  }
  states_ = ReadStates(handle_->get());
}

void Session::SetTimeLimit(double seconds) {
  ge_session_set_time_limit(Open()->get(), Milliseconds(seconds));
}

}  // namespace graphengine
