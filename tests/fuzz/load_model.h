// LoadModel: bytes of a model the way that a user's go: ge.h, import, verify, infer and rewrite
// with constants folded on ref. One thread. A session that refused one input takes the next, which
// ge.h promises that it can; one that took it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ge/ge.h"
#include "tests/fuzz/require.h"

namespace ge::fuzz {

inline ge_session* NewSession() {
  constexpr uint64_t kMostMs = 2000;  // of one load
  ge_session_options options;
  ge_session_options_init(&options);
  // By its path: the search of folders for a name would take a third of the time.
  options.engines = GE_FUZZ_ENGINE;
  options.threads = 1;
  options.prices = GE_PRICES_ANALYTIC;
  options.time_limit_ms = kMostMs;
  ge_error error{};
  error.size = sizeof error;
  ge_session* session = nullptr;
  REQUIRE(ge_session_create(&options, &session, &error) == GE_STATUS_OK, error.message);
  return session;
}

inline void LoadModel(const uint8_t* data, size_t size, uint32_t format) {
  static ge_session* const keeper = NewSession();  // keeps the engine open from input to input
  static ge_session* session = nullptr;
  (void)keeper;
  if (session == nullptr) session = NewSession();
  ge_error error{};
  error.size = sizeof error;
  const ge_status status = ge_session_load_bytes(session, data, size, format, &error);
  REQUIRE(status == GE_STATUS_OK || error.message[0] != '\0', "refused without words");
  REQUIRE(status != GE_STATUS_INTERNAL, error.message);
  if (status != GE_STATUS_OK) return;
  ge_session_destroy(session);
  session = nullptr;
}

}  // namespace ge::fuzz
