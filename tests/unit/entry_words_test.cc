// What ge.h says where an entry is not there, nothing was compiled yet, or a file holds no states.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ge/ge.h"

namespace {

constexpr char kModel[] =
    "ge 1\nopset \"\" 28\nopset \"ge\" 1\nconst zero : f32[2] = splat 0\n"
    "state s : f32[2] buffer init zero\n"
    "fn main(x: f32[2]) -> (y) effects [state s] {\n  y: f32[2] = ge.Read() effects [state s]\n"
    "  ge.Assign(x) effects [state s]\n}\n"
    "fn other(x: f32[2]) -> (y) {\n  y: f32[2] = Relu(x)\n}\n"
    "entry infer \"main\" = main\nentry infer \"other\" = other\n";

class EntryWords : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ge_session_create(nullptr, &session_, &error_), GE_STATUS_OK) << error_.message;
    ASSERT_EQ(ge_session_load_bytes(session_, kModel, sizeof kModel - 1, GE_FORMAT_TEXT, &error_),
              GE_STATUS_OK)
        << error_.message;
  }
  void TearDown() override { ge_session_destroy(session_); }
  void Says(const std::string& words) {
    EXPECT_NE(std::string(error_.message).find(words), std::string::npos) << error_.message;
  }
  ge_session* session_ = nullptr;
  ge_error error_ = {sizeof error_, GE_STATUS_OK, "", ""};
};

TEST_F(EntryWords, NoSuchEntryIsNamedByAllThatLook) {
  char* text = nullptr;
  for (const bool named : {true, false}) {
    const char* entry = named ? "no such entry" : "other";
    const std::string wanted = named ? "'no such entry'" : "compile or run";
    EXPECT_NE(ge_session_report(session_, entry, &text, &error_), GE_STATUS_OK);
    Says(wanted);
    EXPECT_NE(ge_session_explain(session_, entry, &text, &error_), GE_STATUS_OK);
    Says(wanted);
    EXPECT_NE(ge_session_dump(session_, entry, "memory", &text, &error_), GE_STATUS_OK);
    Says(wanted);
    if (named) Says("main, other");
    EXPECT_EQ(text, nullptr);
  }
}

TEST_F(EntryWords, WhatHoldsNoStatesIsToldWhatWould) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("ge_entry_words_" + std::to_string(getpid())))
          .string();
  std::ofstream(path, std::ios::binary)
      << std::string("\x08\x07\x12\x04test", 8);  // as ONNX begins
  EXPECT_NE(ge_session_restore_states(session_, path.c_str(), &error_), GE_STATUS_OK);
  Says("is no file of states");
  Says("give the file that ge_session_save_states wrote");
  EXPECT_EQ(std::string(error_.message).find("ge dump"), std::string::npos) << error_.message;
  ASSERT_EQ(ge_session_save_states(session_, path.c_str(), &error_), GE_STATUS_OK)
      << error_.message;
  EXPECT_EQ(ge_session_restore_states(session_, path.c_str(), &error_), GE_STATUS_OK)
      << error_.message;
  std::filesystem::remove(path);
}

}  // namespace
