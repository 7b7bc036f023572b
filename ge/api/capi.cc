// ge.h: errors, runtimes, sessions and models. What a session tells is in inspect.cc, states are in
// states.cc and shared_states.cc, runs in capi_run.cc, async.cc, prepared.cc and values.cc.
#include "ge/api/capi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

#include "ge/base/log.h"
#include "ge/engine/engine_list.h"
#include "ge/engine/resident/pack_set.h"
#include "ge/session/version.h"

using ge::Code;
using ge::Result;
using ge::Status;
using ge::capi::Guard;
using ge::capi::Null;
using ge::capi::TooShort;

namespace ge::capi {
namespace {

// Callers that were built before there was the field do not have it.
void WriteNode(std::string_view node, ge_error* error) {
  if (error->size < offsetof(ge_error, node) + sizeof error->node) return;
  const size_t n = std::min(node.size(), sizeof error->node - 1);
  std::memcpy(error->node, node.data(), n);
  error->node[n] = 0;
}

}  // namespace

ge_status Answer(const Status& status, ge_error* error) {
  if (error && error->size >= kFirstError) {
    error->status = static_cast<ge_status>(status.code());
    std::string text = status.ok() ? "" : status.ToString();
    size_t n = std::min(text.size(), sizeof error->message - 1);
    std::memcpy(error->message, text.data(), n);
    error->message[n] = 0;
    WriteNode(status.node(), error);
  }
  return static_cast<ge_status>(status.code());
}

ge_status AnswerThrown(ge_error* error) noexcept {
  const auto say = [error](Code code, const char* text, const char* more) {
    if (error && error->size >= kFirstError) {
      error->status = static_cast<ge_status>(code);
      std::snprintf(error->message, sizeof error->message, "%s: %s%s", CodeName(code).data(), text,
                    more);
      WriteNode("", error);
    }
    return static_cast<ge_status>(code);
  };
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    return say(Code::kResourceExhausted, "no memory left; use smaller inputs or fewer runs at once",
               "");
  } catch (const std::length_error&) {
    return say(Code::kResourceExhausted, "a size is beyond what memory holds", "");
  } catch (const std::system_error& e) {  // a thread or a lock
    return say(Code::kResourceExhausted, "the system gives no more: ", e.what());
  } catch (const std::exception& e) {
    return say(Code::kInternal, "unexpected: ", e.what());
  }
}

Status TooShort(const char* what, uint32_t size, uint32_t wanted) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} says that it is {} bytes, wanted at least {}; set its size field to "
                  "sizeof",
                  what, size, wanted));
}

Result<Session*> Get(ge_session* session) {
  if (!session || !session->session) return Null("session");
  return session->session.get();
}

Result<Session*> GetLoaded(ge_session* session) {
  GE_ASSIGN_OR_RETURN(Session * s, Get(session));
  if (!s->loaded()) {
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  }
  return s;
}

Status GiveText(const std::string& text, char** out) {
  *out = static_cast<char*>(std::malloc(text.size() + 1));
  if (!*out) return Status(Code::kResourceExhausted, "no memory for the text");
  std::memcpy(*out, text.c_str(), text.size() + 1);
  return {};
}

namespace {

Result<ProcessFacts> ReadFacts(uint32_t threads, uint32_t isa_cap) {
  if (isa_cap > GE_ISA_AVX512) {
    return Status(Code::kInvalidArgument, fmt::format("isa_cap is {}, wanted 0 to 3", isa_cap));
  }
  ProcessFacts facts;
  facts.threads = threads;
  facts.isa_cap = isa_cap;
  return facts;
}

Status ReadPlacing(const ge_session_options& o, PlaceOptions* place) {
  if (o.policy > GE_PLACE_BY_PRIORITY) {
    return Status(Code::kInvalidArgument, fmt::format("policy is {}, wanted GE_PLACE_BY_COST (0) "
                                                      "or GE_PLACE_BY_PRIORITY (1)",
                                                      o.policy));
  }
  place->policy = o.policy == GE_PLACE_BY_PRIORITY ? PlacePolicy::kPriority : PlacePolicy::kCost;
  if (o.pins) {
    GE_ASSIGN_OR_RETURN(place->pins, ParsePins(o.pins));
  }
  return {};
}

// What it says of numbers to every engine.
Status ReadNumbers(const ge_session_options& o, SessionOptions* out) {
  SessionOptions& options = *out;
  if (o.denormals > GE_KEEP_DENORMALS) {
    return Status(Code::kInvalidArgument,
                  fmt::format("denormals is {}, wanted GE_FLUSH_DENORMALS (0) or GE_KEEP_DENORMALS "
                              "(1)",
                              o.denormals));
  }
  if (o.numerics > GE_EXACT_NUMERICS) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("numerics is {}, wanted GE_FAST_NUMERICS (0) or GE_EXACT_NUMERICS (1)",
                    o.numerics));
  }
  if (o.precision > GE_BF16_PRECISION) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("precision is {}, wanted GE_F32_PRECISION (0) or GE_BF16_PRECISION (1)",
                    o.precision));
  }
  options.precision = o.precision == GE_BF16_PRECISION ? Precision::kBf16 : Precision::kF32;
  options.denormals = o.denormals == GE_KEEP_DENORMALS ? Denormals::kKeep : Denormals::kFlush;
  options.numerics = o.numerics == GE_EXACT_NUMERICS ? Numerics::kExact : Numerics::kFast;
  return {};
}

// What it says of the model.
Status ReadLoad(const ge_session_options& o, SessionOptions* out) {
  for (std::string_view rest = o.data_roots ? o.data_roots : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (!folder.empty()) out->load.data_roots.emplace_back(folder);
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
  if (o.initializer_input_count > 0 && !o.initializer_inputs) return Null("initializer_inputs");
  for (uint32_t i = 0; i < o.initializer_input_count; ++i) {
    if (!o.initializer_inputs[i]) return Null("a name of initializer_inputs");
    out->load.initializer_inputs.emplace_back(o.initializer_inputs[i]);
  }
  out->strict_dims = o.strict_dims != 0;
  return {};
}

Result<SessionOptions> ReadOptions(const ge_session_options* given) {
  SessionOptions options;
  ge_session_options o{};
  if (given) {
    if (given->size < kFirstSessionOptions) {
      return TooShort("ge_session_options", given->size, kFirstSessionOptions);
    }
    std::memcpy(&o, given, std::min<size_t>(given->size, sizeof o));
  }
  GE_ASSIGN_OR_RETURN(options.process, ReadFacts(o.threads, o.isa_cap));
  if (o.runtime) options.runtime = o.runtime->runtime;
  if (o.states) options.states = o.states->states;
  if (o.prices > GE_PRICES_SHIPPED) {
    return Status(Code::kInvalidArgument, fmt::format("prices is {}, wanted 0 to 4", o.prices));
  }
  options.build.prices.mode = o.prices == GE_PRICES_ANALYTIC  ? PriceMode::kAnalytic
                              : o.prices == GE_PRICES_MEASURE ? PriceMode::kMeasure
                              : o.prices == GE_PRICES_SHIPPED ? PriceMode::kShipped
                                                              : PriceMode::kCached;
  GE_RETURN_IF_ERROR(ReadNumbers(o, &options));
  options.build.prices.replan = o.replan != 0;
  if (o.measure_budget_ms) options.build.prices.measure_budget_ms = o.measure_budget_ms;
  if (o.prices != GE_PRICES_ANALYTIC) {
    options.process.rates =
        o.prices == GE_PRICES_SHIPPED ? ProcessFacts::Rates::kShipped : ProcessFacts::Rates::kKnown;
  }
  if (o.engines) {
    GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(o.engines));
  }
  for (std::string_view rest = o.skip_passes ? o.skip_passes : ""; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    if (!name.empty()) options.skip_passes.emplace(name);
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  if (o.plugins) options.plugins = o.plugins;
  if (o.passes) {
    GE_ASSIGN_OR_RETURN(options.passes, ParsePassRequests(o.passes));
  }
  if (o.plan_cache_bytes) options.plan_cache_bytes = o.plan_cache_bytes;
  options.time_limit_ms = o.time_limit_ms;
  if (o.kv_cache > uint64_t{1} << 40) {
    return Status(Code::kInvalidArgument,
                  fmt::format("kv_cache is {} rows, wanted at most 2^40", o.kv_cache));
  }
  options.kv_cache = static_cast<int64_t>(o.kv_cache);
  options.build.memory_limit_bytes = o.memory_limit_bytes;
  if (o.max_streams_per_device)
    options.build.streams.max_streams_per_device = o.max_streams_per_device;
  GE_RETURN_IF_ERROR(ReadLoad(o, &options));
  GE_RETURN_IF_ERROR(ReadPlacing(o, &options.build.place));
  return options;
}

Result<ge::Format> ReadFormat(uint32_t format) {
  if (format > GE_FORMAT_CAPSULE) {
    return Status(Code::kInvalidArgument, fmt::format("format is {}, wanted 0 to 4", format));
  }
  return static_cast<ge::Format>(format);
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

const char* ge_version(void) { return ge::kVersion; }

const char* ge_status_name(ge_status status) {
  if (status < 0 || status > GE_STATUS_INTERNAL) return "UNKNOWN";
  return ge::CodeName(static_cast<Code>(status)).data();
}

ge_status ge_set_log(void (*log)(void* context, uint32_t level, const char* text), void* context,
                     uint32_t level, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (level > GE_LOG_TRACE) {
      return Status(Code::kInvalidArgument, fmt::format("level is {}, wanted 0 to 4", level));
    }
    return ge::SetLogSink(log, context, level);
  });
}

ge_status ge_runtime_create(const ge_runtime_options* options, ge_runtime** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    ge_runtime_options o{};
    if (options) {
      if (options->size < kFirstRuntimeOptions) {
        return TooShort("ge_runtime_options", options->size, kFirstRuntimeOptions);
      }
      std::memcpy(&o, options, std::min<size_t>(options->size, sizeof o));
    }
    GE_ASSIGN_OR_RETURN(ge::ProcessFacts facts, ReadFacts(o.threads, o.isa_cap));
    facts.rates = ge::ProcessFacts::Rates::kKnown;
    GE_ASSIGN_OR_RETURN(auto runtime, ge::Runtime::Create(facts));
    if (o.resident_bytes != 0) ge::SetPackBudget(o.resident_bytes);
    *out = new ge_runtime{std::move(runtime)};
    return {};
  });
}

void ge_runtime_destroy(ge_runtime* runtime) { delete runtime; }

ge_status ge_runtime_engine_count(ge_runtime* runtime, uint32_t* out) {
  return Guard(nullptr, [&]() -> Status {
    if (!out) return Null("out");
    *out = 0;
    if (!runtime) return Null("runtime");
    *out = static_cast<uint32_t>(runtime->runtime->open_engines());
    return {};
  });
}

ge_status ge_session_options_init_sized(ge_session_options* options, uint32_t size) {
  return Guard(nullptr, [&]() -> Status {
    if (!options) return Null("options");
    if (size < kFirstSessionOptions) {
      return TooShort("ge_session_options", size, kFirstSessionOptions);
    }
    std::memset(static_cast<void*>(options), 0, size);
    options->size = size;
    return {};
  });
}

ge_status(ge_session_options_init)(ge_session_options* options) {
  return ge_session_options_init_sized(options, kUnsizedSessionOptions);
}

ge_status ge_session_create(const ge_session_options* options, ge_session** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    GE_ASSIGN_OR_RETURN(ge::SessionOptions read, ReadOptions(options));
    GE_ASSIGN_OR_RETURN(auto session, ge::Session::Create(std::move(read)));
    auto handle = std::make_unique<ge_session>();
    handle->session = std::move(session);
    *out = handle.release();
    return {};
  });
}

void ge_session_destroy(ge_session* session) {
  if (!session) return;
  {
    std::unique_lock<std::mutex> lock(session->mutex);
    session->changed.wait(lock, [session] { return session->running == 0; });
  }
  delete session;
}

// No Guard: it may run in a signal handler, and nothing of it throws.
ge_status ge_session_cancel(ge_session* session) {
  if (!session || !session->session) return GE_STATUS_INVALID_ARGUMENT;
  session->session->calls().CancelAll();
  return GE_STATUS_OK;
}

ge_status ge_session_set_time_limit(ge_session* session, uint64_t milliseconds) {
  return Guard(nullptr, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    s->calls().SetTimeLimit(milliseconds);
    return {};
  });
}

ge_status ge_session_load_file(ge_session* session, const char* path, uint32_t format,
                               ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    if (!path) return Null("path");
    GE_ASSIGN_OR_RETURN(ge::Format f, ReadFormat(format));
    return s->LoadFile(path, f);
  });
}

ge_status ge_session_save_compiled(ge_session* session, const char* path, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, GetLoaded(session));
    if (!path) return Null("path");
    return s->SaveCompiled(path);
  });
}

ge_status ge_session_load_bytes(ge_session* session, const void* bytes, uint64_t size,
                                uint32_t format, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    if (!bytes) return Null("bytes");
    GE_ASSIGN_OR_RETURN(ge::Format f, ReadFormat(format));
    return s->LoadBytes(std::string(static_cast<const char*>(bytes), size), f);
  });
}

}  // extern "C"
