// LoadModel: loads a model's bytes through ge.h, as a user does: import, verify, infer and rewrite
// with constants folded on ref. Then it prints the model as text and reads the text back. One
// thread. A session that refused an input takes the next one, as ge.h promises; a session that
// loaded one is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ge/ge.h"
#include "tests/fuzz/require.h"

namespace ge::fuzz {

inline ge_session* NewSession() {
  constexpr uint64_t kMostMs = 2000;  // of one load
  ge_session_options options;
  ge_session_options_init(&options);
  // By path: searching folders for a name would take a third of the time.
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

inline std::string TextOf(ge_session* session) {
  ge_error error{};
  error.size = sizeof error;
  char* text = nullptr;
  REQUIRE(ge_session_dump(session, nullptr, "load", &text, &error) == GE_STATUS_OK, error.message);
  std::string copy = text;
  ge_text_release(text);
  return copy;
}

// Reads the text back. A text elides the elements of large constants and then fails to load.
inline void ReadBack(const std::string& text) {
  ge_session* session = NewSession();
  ge_error error{};
  error.size = sizeof error;
  const ge_status status =
      ge_session_load_bytes(session, text.data(), text.size(), GE_FORMAT_TEXT, &error);
  const bool elided = std::string(error.message).find("was elided") != std::string::npos;
  const bool late = status == GE_STATUS_DEADLINE_EXCEEDED;
  REQUIRE(status == GE_STATUS_OK || elided || late, (error.message + ("\n" + text)).c_str());
  if (status == GE_STATUS_OK) REQUIRE(TextOf(session) == text, text.c_str());
  ge_session_destroy(session);
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
  ReadBack(TextOf(session));
  ge_session_destroy(session);
  session = nullptr;
}

}  // namespace ge::fuzz
