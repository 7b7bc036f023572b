// LoadModel: bytes of a model the way that a user's go: ge.h, import, verify, infer and rewrite
// with constants folded on ref. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ge/ge.h"
#include "tests/fuzz/require.h"

namespace ge::fuzz {

inline ge_session* NewSession() {
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = "ref";
  options.threads = 1;
  options.prices = GE_PRICES_ANALYTIC;
  ge_error error{};
  error.size = sizeof error;
  ge_session* session = nullptr;
  REQUIRE(ge_session_create(&options, &session, &error) == GE_STATUS_OK, error.message);
  return session;
}

inline void LoadModel(const uint8_t* data, size_t size, uint32_t format) {
  constexpr uint64_t kMostMs = 2000;
  static ge_session* const keeper = NewSession();  // keeps the engine open from input to input
  (void)keeper;
  ge_session* session = NewSession();
  ge_session_set_time_limit(session, kMostMs);
  ge_error error{};
  error.size = sizeof error;
  const ge_status status = ge_session_load_bytes(session, data, size, format, &error);
  REQUIRE(status == GE_STATUS_OK || error.message[0] != '\0', "refused without words");
  REQUIRE(status != GE_STATUS_INTERNAL, error.message);
  ge_session_destroy(session);
}

}  // namespace ge::fuzz
