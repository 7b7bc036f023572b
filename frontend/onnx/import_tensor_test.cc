#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontend/onnx/model_testing.h"

namespace ge {
namespace {

using testing::TestModel;

// A model whose only content is the initializer t, which is its output too.
struct TensorModel : TestModel {
  wire::Tensor* t;
  TensorModel(int dtype, std::vector<int64_t> dims) : TestModel(17) {
    t = g()->add_initializer();
    t->set_name("t");
    t->set_data_type(dtype);
    for (int64_t d : dims) t->add_dims(d);
    Output("t");
  }
  void ExpectRefused(Code code, const std::string& part, const ImportOptions& options = {}) {
    auto graph = Import(nullptr, options);
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.status().code(), code) << graph.status().ToString();
    EXPECT_NE(graph.status().message().find(part), std::string::npos) << graph.status().ToString();
  }
  template <typename T>
  std::vector<T> Values(const ImportOptions& options = {}) {
    auto graph = Import(nullptr, options);
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    if (!graph.ok()) return {};
    const Const& c = graph->consts[1];
    std::vector<T> values(c.bytes / sizeof(T));
    if (c.bytes) memcpy(values.data(), c.data, c.bytes);
    return values;
  }
};

TEST(ImportTensor, ReadsEveryTypedField) {
  TensorModel f32(1, {2});
  f32.t->add_float_data(1.5f);
  f32.t->add_float_data(-2);
  EXPECT_EQ(f32.Values<float>(), (std::vector<float>{1.5f, -2}));
  TensorModel c64(14, {1});
  c64.t->add_float_data(1);
  c64.t->add_float_data(2);
  EXPECT_EQ(c64.Values<float>(), (std::vector<float>{1, 2}));
  TensorModel f64(11, {1});
  f64.t->add_double_data(0.1);
  EXPECT_EQ(f64.Values<double>(), (std::vector<double>{0.1}));
  TensorModel i64(7, {1});
  i64.t->add_int64_data(INT64_MIN);
  EXPECT_EQ(i64.Values<int64_t>(), (std::vector<int64_t>{INT64_MIN}));
  TensorModel u64(13, {1});
  u64.t->add_uint64_data(UINT64_MAX);
  EXPECT_EQ(u64.Values<uint64_t>(), (std::vector<uint64_t>{UINT64_MAX}));
  TensorModel u32(12, {1});
  u32.t->add_uint64_data(UINT32_MAX);
  EXPECT_EQ(u32.Values<uint32_t>(), (std::vector<uint32_t>{UINT32_MAX}));
  TensorModel i32(6, {1});
  i32.t->add_int32_data(-5);
  EXPECT_EQ(i32.Values<int32_t>(), (std::vector<int32_t>{-5}));
  TensorModel i16(5, {1});
  i16.t->add_int32_data(-300);
  EXPECT_EQ(i16.Values<int16_t>(), (std::vector<int16_t>{-300}));
  TensorModel u16(4, {1});
  u16.t->add_int32_data(65535);
  EXPECT_EQ(u16.Values<uint16_t>(), (std::vector<uint16_t>{65535}));
  TensorModel i8(3, {1});
  i8.t->add_int32_data(-128);
  EXPECT_EQ(i8.Values<int8_t>(), (std::vector<int8_t>{-128}));
  TensorModel u8(2, {1});
  u8.t->add_int32_data(255);
  EXPECT_EQ(u8.Values<uint8_t>(), (std::vector<uint8_t>{255}));
}

TEST(ImportTensor, ReadsPackedAndTextFields) {
  for (int dtype : {10, 16}) {  // f16, bf16: bit patterns
    TensorModel half(dtype, {1});
    half.t->add_int32_data(0xc000);
    EXPECT_EQ(half.Values<uint16_t>(), (std::vector<uint16_t>{0xc000}));
  }
  TensorModel flag(9, {2});
  flag.t->add_int32_data(0);
  flag.t->add_int32_data(1);
  EXPECT_EQ(flag.Values<uint8_t>(), (std::vector<uint8_t>{0, 1}));
  TensorModel i4(22, {3});
  i4.t->add_int32_data(0x21);
  i4.t->add_int32_data(0x03);
  EXPECT_EQ(i4.Values<uint8_t>(), (std::vector<uint8_t>{0x21, 0x03}));
  TensorModel f8(17, {1});
  f8.t->add_int32_data(0x7e);
  EXPECT_EQ(f8.Values<uint8_t>(), (std::vector<uint8_t>{0x7e}));
  TensorModel text(8, {2});
  text.t->add_string_data("a");
  text.t->add_string_data(std::string("\0b", 2));
  auto graph = text.Import();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->consts[1].strings, (std::vector<std::string>{"a", std::string("\0b", 2)}));
  EXPECT_TRUE(TensorModel(1, {0, 3}).Values<float>().empty());
}

// Codes of six bits come one to an entry, and lie four in three bytes.
TEST(ImportTensor, PacksCodesOfSixBits) {
  TensorModel codes(27, {5});
  for (const int code : {1, 0x1f, 0x20, 0x3f, 8}) codes.t->add_int32_data(code);
  EXPECT_EQ(codes.Values<uint8_t>(), (std::vector<uint8_t>{0xc1, 0x07, 0xfe, 0x08}));
  codes.t->set_int32_data(2, 64);
  codes.ExpectRefused(Code::kInvalidGraph, "element 2 is 64, which its element type cannot hold");
}

TEST(ImportTensor, RefusesPayloadsThatDoNotFit) {
  TensorModel few(1, {3});
  few.t->add_float_data(1);
  few.ExpectRefused(Code::kInvalidGraph, "initializer 't' has 1 elements in float_data, wanted 3");
  TensorModel raw(1, {3});
  raw.t->set_raw_data("12345678");
  raw.ExpectRefused(Code::kInvalidGraph, "8 bytes of raw_data, wanted 12");
  TensorModel both(1, {1});
  both.t->set_raw_data("1234");
  both.t->add_float_data(1);
  both.ExpectRefused(Code::kInvalidGraph, "float_data beside raw_data");
  TensorModel two(1, {1});
  two.t->add_int32_data(1);
  two.t->add_float_data(1);
  two.ExpectRefused(Code::kInvalidGraph, "both float_data and int32_data");
  TensorModel wrong(1, {1});
  wrong.t->add_int64_data(1);
  wrong.ExpectRefused(Code::kInvalidGraph, "elements in int64_data, wanted float_data");
  TensorModel narrow(3, {1});
  narrow.t->add_int32_data(300);
  narrow.ExpectRefused(Code::kInvalidGraph, "element 0 is 300");
  TensorModel(77, {1}).ExpectRefused(Code::kInvalidGraph, "element type 77");
  TensorModel(1, {-2}).ExpectRefused(Code::kInvalidGraph, "dim -2");
  TensorModel(1, {int64_t{1} << 40, int64_t{1} << 40}).ExpectRefused(Code::kLimitExceeded, "bytes");
  TensorModel(1, std::vector<int64_t>(17, 1)).ExpectRefused(Code::kLimitExceeded, "rank 17");
  TensorModel text(8, {1});
  text.t->set_raw_data("abc");
  text.ExpectRefused(Code::kInvalidGraph, "strings in raw_data");
}

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "ge_external_XXXXXX";
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
    std::filesystem::create_directory(dir_ + "/model");
    float values[] = {1, 2, 3, 4};
    for (const char* name : {"/model/w.bin", "/outside.bin"}) {
      std::ofstream(dir_ + name, std::ios::binary)
          .write(reinterpret_cast<const char*>(values), sizeof values);
    }
    options_.base_dir = dir_ + "/model";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  TensorModel At(const std::string& location, const std::string& offset = {},
                 const std::string& length = {}) {
    TensorModel m(1, {2});
    m.t->set_data_location(1);
    auto add = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      auto* e = m.t->add_external_data();
      e->set_key(key);
      e->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    return m;
  }

  std::string dir_;
  ImportOptions options_;
};

TEST_F(ExternalData, IsMapped) {
  EXPECT_EQ(At("w.bin", "8", "8").Values<float>(options_), (std::vector<float>{3, 4}));
  EXPECT_EQ(At("./w.bin").Values<float>(options_), (std::vector<float>{1, 2}));
  auto g = At("w.bin", "4").Import(nullptr, options_);
  ASSERT_TRUE(g.ok());
  EXPECT_TRUE(g->consts[1].mapped);
  EXPECT_EQ(g->consts[1].external.file, "w.bin");
  EXPECT_EQ(g->consts[1].external.offset, 4u);
}

TEST_F(ExternalData, StaysInItsFolderAndBounds) {
  At("gone.bin").ExpectRefused(Code::kIoError, "initializer 't': cannot open", options_);
  At("../outside.bin").ExpectRefused(Code::kIoError, "'..'", options_);
  At(dir_ + "/outside.bin").ExpectRefused(Code::kIoError, "absolute", options_);
  std::filesystem::create_symlink(dir_ + "/outside.bin", dir_ + "/model/link.bin");
  At("link.bin").ExpectRefused(Code::kIoError, "symbolic link", options_);
  std::filesystem::create_directory_symlink(dir_, dir_ + "/model/up");
  At("up/outside.bin").ExpectRefused(Code::kIoError, "symbolic link 'up'", options_);
  At(".").ExpectRefused(Code::kIoError, "names no file", options_);
  At("").ExpectRefused(Code::kInvalidGraph, "no location", options_);
  At("w.bin", "12")
      .ExpectRefused(Code::kDataCorrupt, "bytes 12 to 20 of 'w.bin', which has 16", options_);
  At("w.bin", "9223372036854775807").ExpectRefused(Code::kDataCorrupt, "which has 16", options_);
  At("w.bin", "-4").ExpectRefused(Code::kDataCorrupt, "external offset '-4'", options_);
  At("w.bin", "0", "4").ExpectRefused(Code::kInvalidGraph, "length of 4 bytes, wanted 8", options_);
  At("w.bin").ExpectRefused(Code::kFailedPrecondition, "base_dir");
}

// As the caches of model hubs have it: names in one folder, files in another.
TEST_F(ExternalData, LinksLeadToFoldersThatAreNamed) {
  std::filesystem::create_directory(dir_ + "/blobs");
  std::ofstream(dir_ + "/blobs/abc", std::ios::binary) << std::string(8, '\0');
  std::filesystem::create_symlink("../blobs/abc", dir_ + "/model/linked.bin");
  std::filesystem::create_symlink("w.bin", dir_ + "/model/same.bin");
  std::filesystem::create_symlink("../blobs", dir_ + "/model/folder");
  EXPECT_EQ(At("same.bin", "8", "8").Values<float>(options_), (std::vector<float>{3, 4}));
  At("linked.bin").ExpectRefused(Code::kIoError, "blobs/abc'; replace the link", options_);
  options_.data_roots = {dir_ + "/nowhere", dir_ + "/blobs"};
  EXPECT_EQ(At("linked.bin").Values<float>(options_), (std::vector<float>{0, 0}));
  EXPECT_EQ(At("folder/abc").Values<float>(options_), (std::vector<float>{0, 0}));
  std::filesystem::create_symlink("../blobs", dir_ + "/model/no_file");
  At("no_file").ExpectRefused(Code::kIoError, "no regular file", options_);
  std::filesystem::create_symlink("gone", dir_ + "/model/dangling");
  At("dangling").ExpectRefused(Code::kIoError, "cannot open", options_);
  options_.data_roots = {dir_ + "/blo"};  // the beginning of a name is no folder
  At("linked.bin").ExpectRefused(Code::kIoError, "leads outside", options_);
}

}  // namespace
}  // namespace ge
