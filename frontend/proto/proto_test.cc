#include "frontend/proto/proto.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "frontend/text/diff.h"
#include "frontend/text/text.h"
#include "ge/base/log.h"
#include "ge/wire/graph.pb.h"

namespace ge {
namespace {

namespace pb = ::graphengine::wire;

constexpr char kGraph[] = R"(ge 1
module "m"
opset "" 28
meta "k" = "v"
symbol N in 1..64 multiple 2
loc 1 = "a.py":1:2-3:4 scope "s"
loc 2 = "a.py":5:6 caller 1
const w : f32[4] = [1, 2, 3, 4]
const e : f32[10] = external "w.bin" @4 +40 sha256 "00"
const z : i64[100] = splat -7
const t : str[2] = ["a", "b"]
state s : f32[2] param trainable init w alias "g"
state h : f16[2] opt init make() master s
fn make() -> (w) {
}
fn main(x: f32[N,4] loc 1, p: pack(make), q: tuple(a: f32[?], b: seq(zero(i64[])))) -> (y) {
  y: f32[2*N+1,floordiv(N, 4)] = ge.Op(x, _, w) {i=1, f=0.5, l=[1, 2], d=dim 3*N+1, k=const t, g=fn make} "name" calls {body=make} effects [state s, collective 1 seq 2] from ["a"] hints {priority=2}
}
entry infer "main" = main
)";

std::span<const std::byte> Bytes(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

std::string Serialized() {
  auto graph = ParseText(kGraph, "graph");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = WriteProto(*graph);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  return *bytes;
}

// The serialized graph after an edit of its message.
template <typename Edit>
std::string Edited(Edit edit) {
  pb::Module m;
  EXPECT_TRUE(m.ParseFromString(Serialized()));
  edit(m);
  return m.SerializeAsString();
}
Status ReadStatus(const std::string& bytes) { return ReadProto(Bytes(bytes), {}).status(); }

TEST(Proto, RoundTrip) {
  auto graph = ParseText(kGraph, "graph");
  ASSERT_TRUE(graph.ok());
  const std::string bytes = Serialized();
  EXPECT_TRUE(LooksLikeProto(Bytes(bytes)));
  auto read = ReadProto(Bytes(bytes), {});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(DiffGraphs(*graph, *read), "");
  EXPECT_EQ(PrintText(*read), kGraph);
}

TEST(Proto, PayloadsAreNotCopiedWhenTheBytesHaveAnOwner) {
  auto bytes = std::make_shared<std::string>(Serialized());
  ReadOptions options;
  options.owner = bytes;
  options.mapped = true;
  auto read = ReadProto(Bytes(*bytes), options);
  ASSERT_TRUE(read.ok());
  const auto* begin = reinterpret_cast<const std::byte*>(bytes->data());
  EXPECT_GE(read->consts[1].data, begin);
  EXPECT_LE(read->consts[1].data + read->consts[1].bytes, begin + bytes->size());
  EXPECT_TRUE(read->consts[1].mapped);
  const long uses = bytes.use_count();
  *read = Graph();
  EXPECT_LT(bytes.use_count(), uses);
  auto copied = ReadProto(Bytes(*bytes), {});
  ASSERT_TRUE(copied.ok());
  EXPECT_FALSE(copied->consts[1].data >= begin && copied->consts[1].data < begin + bytes->size());
  EXPECT_FALSE(copied->consts[1].mapped);
}

// Field 200, a varint, and field 201, four bytes: nothing that this version knows.
TEST(Proto, UnknownFieldsAndAttributesSurvive) {
  const std::string field = "\xc8\x0c\x07", attr = "\x0a\x03new\xc8\x0c\x07";
  std::string bytes = Edited([&](pb::Module& m) {
    auto append = [&](google::protobuf::MessageLite* message, const std::string& extra) {
      const std::string all = message->SerializeAsString() + extra;
      ASSERT_TRUE(message->ParseFromString(all));
    };
    append(m.mutable_functions(1), field);
    append(m.mutable_functions(1)->mutable_values(0), field);
    append(m.mutable_functions(1)->mutable_nodes(0), field);
    append(m.mutable_functions(1)->mutable_nodes(0)->add_attrs(), attr);
    append(m.mutable_consts(0), field);
    append(m.mutable_states(0), field);
    append(m.mutable_entries(0), field);
  });
  bytes += field;
  auto read = ReadProto(Bytes(bytes), {});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->unknown_fields, field);
  EXPECT_EQ(read->functions[2].unknown_fields, field);
  EXPECT_EQ(read->functions[2].values[1].unknown_fields, field);
  EXPECT_EQ(read->consts[1].unknown_fields, field);
  EXPECT_EQ(read->states[1].unknown_fields, field);
  EXPECT_EQ(read->entries[0].unknown_fields, field);
  auto written = WriteProto(*read);
  ASSERT_TRUE(written.ok());
  auto again = ReadProto(Bytes(*written), {});
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(DiffGraphs(*read, *again), "");
  pb::Module m;
  ASSERT_TRUE(m.ParseFromString(*written));
  const pb::Node& node = m.functions(1).nodes(0);
  EXPECT_EQ(node.attrs(node.attrs_size() - 1).SerializeAsString(), attr);
  EXPECT_NE(node.SerializeAsString().find(field), std::string::npos);
}

// Types of old files told how they are spread over a mesh; field 3 of a tensor's type: kind
// SHARDED, one dim that is whole.
TEST(Proto, WhatSaysHowATypeIsSpreadIsLeftOutWithASentence) {
  std::string said;
  const auto keep = [](void* to, uint32_t, const char* text) {
    *static_cast<std::string*>(to) += text;
  };
  const auto read = [&](const std::string& field) {
    said.clear();
    const std::string bytes = Edited([&](pb::Module& m) {
      pb::TensorType* type =
          m.mutable_functions(1)->mutable_values(0)->mutable_type()->mutable_tensor();
      ASSERT_TRUE(type->ParseFromString(type->SerializeAsString() + field));
    });
    return ReadProto(Bytes(bytes), {});
  };
  ASSERT_TRUE(SetLogSink(keep, &said, 1).ok());
  const auto spread = read("\x1a\x05\x08\x02\x12\x01\x01"), plain = read("");
  const std::string at_last = said;
  (void)read("\x1a\x05\x08\x02\x12\x01\x01");
  ASSERT_TRUE(SetLogSink(nullptr, nullptr, 1).ok());
  ASSERT_TRUE(spread.ok()) << spread.status().ToString();
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(at_last, "");
  EXPECT_NE(said.find("types say how they are spread over a mesh, which is left out"),
            std::string::npos)
      << said;
  EXPECT_EQ(DiffGraphs(*spread, *plain), "");
}

// A writer that leaves it out, or knows less: a node that a pass adds must not take the id of
// another.
TEST(Proto, TheNextNodeIdIsBeyondThoseOfTheFile) {
  for (uint32_t said : {0u, 1u, 9u, 20u}) {
    const std::string bytes = Edited([&](pb::Module& m) {
      m.mutable_functions(1)->mutable_nodes(0)->set_id(9);
      m.mutable_functions(1)->set_next_node_id(said);
    });
    const auto read = ReadProto(Bytes(bytes), {});
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->functions[2].next_node_id, said == 20 ? 20u : 10u) << said;
  }
}

TEST(Proto, Refusals) {
  auto refused = [](auto edit, Code code, const char* fragment) {
    const Status s = ReadStatus(Edited(edit));
    EXPECT_EQ(s.code(), code) << s.ToString();
    EXPECT_NE(s.ToString().find(fragment), std::string::npos) << s.ToString();
  };
  using M = pb::Module;
  auto node = [](M& m) { return m.mutable_functions(1)->mutable_nodes(0); };
  refused([](M& m) { m.set_ir_version(2); }, Code::kUnsupported,
          "ir_version 2, this version reads up to 1");
  refused([](M& m) { m.set_ir_version(0); }, Code::kDataCorrupt, "ir_version 0");
  refused([](M& m) { m.set_magic(1); }, Code::kDataCorrupt, "not a GraphEngine graph");
  refused([&](M& m) { node(m)->set_inputs(0, 99); }, Code::kInvalidGraph,
          "function 'main': node 'name': value 99 is named, but the file has 1..");
  refused([&](M& m) { node(m)->set_op(7); }, Code::kInvalidGraph, "operator 7");
  refused([&](M& m) { node(m)->set_id(0); }, Code::kInvalidGraph, "id 0");
  refused([&](M& m) { node(m)->mutable_callees(0)->set_fn(9); }, Code::kInvalidGraph, "function 9");
  refused([&](M& m) { node(m)->mutable_effects(0)->set_object(9); }, Code::kInvalidGraph,
          "state 9");
  refused([&](M& m) { node(m)->mutable_effects(0)->set_kind(static_cast<pb::EffectKind>(9)); },
          Code::kInvalidGraph, "the kind of an effect has the number 9");
  refused([&](M& m) { node(m)->add_attrs()->set_name("none"); }, Code::kInvalidGraph,
          "attribute 'none' has no value");
  refused([](M& m) { m.mutable_functions(0)->set_id(5); }, Code::kInvalidGraph,
          "has id 5, wanted 1");
  refused([](M& m) { m.mutable_entries(0)->set_fn(0); }, Code::kInvalidGraph, "function");
  refused([](M& m) { m.mutable_symbols(0)->set_max(-1); }, Code::kInvalidGraph, "symbol 'N'");
  refused([](M& m) { *m.add_symbols() = m.symbols(0); }, Code::kInvalidGraph, "two symbols");
  refused([](M& m) { m.mutable_locs(0)->set_caller(1); }, Code::kInvalidGraph, "caller 1");
  refused([](M& m) { m.mutable_consts(0)->mutable_type()->mutable_tensor()->set_dtype(99); },
          Code::kInvalidGraph, "element type number 99");
  refused(
      [](M& m) {
        pb::Type* t = m.mutable_consts(0)->mutable_type();
        for (int i = 0; i < 70; ++i) t = t->mutable_sequence();
        t->set_token(true);
      },
      Code::kLimitExceeded, "a type nests deeper than 64");
  refused(
      [](M& m) {
        pb::Type* t = m.mutable_states(0)->mutable_type();
        for (int i = 0; i < 5000; ++i) t = t->mutable_sequence();
      },
      Code::kDataCorrupt, "nests too");
}

TEST(Proto, LimitsAreKept) {
  const std::string bytes = Serialized();
  ReadOptions options;
  options.max_skeleton_bytes = 100;
  EXPECT_EQ(ReadProto(Bytes(bytes), options).status().code(), Code::kLimitExceeded);
  options = {};
  options.max_items = 10;
  EXPECT_EQ(ReadProto(Bytes(bytes), options).status().code(), Code::kLimitExceeded);
}

// Fields that no version writes at the module's level: what their tags say is believed for those
// alone that the format has.
TEST(Proto, FieldsOfNoKindAreRefusedAndOthersKept) {
  const auto with = [](std::string tail) { return Serialized() + tail; };
  const auto says = [](const std::string& bytes) { return ReadStatus(bytes).ToString(); };
  const std::string none("\x00\x01", 2);
  EXPECT_NE(says(with(none)).find("a field number of 0"), std::string::npos) << says(with(none));
  EXPECT_NE(says(with("\xfd\xff\xff\xff\xff\x01")).find("a field number of 0"), std::string::npos);
  EXPECT_NE(says(with("\xf3\x7f")).find("a kind that the format does not use"), std::string::npos);
  EXPECT_NE(says(with("\xfd\x7f"
                      "abc"))
                .find("reaches past the end"),
            std::string::npos);
  EXPECT_NE(says(with("\xf9\x7f"
                      "abcdefg"))
                .find("reaches past the end"),
            std::string::npos);
  const std::string kept =
      with(std::string("\xfd\x7f"
                       "abcd"
                       "\xf9\x7f"
                       "abcdefgh"));
  auto read = ReadProto(Bytes(kept), {});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  auto written = WriteProto(*read);
  ASSERT_TRUE(written.ok());
  EXPECT_NE(written->find("\xfd\x7f"
                          "abcd"),
            std::string::npos);
  EXPECT_NE(written->find("\xf9\x7f"
                          "abcdefgh"),
            std::string::npos);
}

// As many items as the limit says are read, one more is not.
TEST(Proto, TheLimitOfItemsIsTheGreatestThatIsRead) {
  auto graph = ParseText("ge 1\nsymbol A\nsymbol B\nsymbol C\n", "t");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = WriteProto(*graph);
  ASSERT_TRUE(bytes.ok());
  ReadOptions options;
  options.max_items = 3;
  EXPECT_TRUE(ReadProto(Bytes(*bytes), options).ok());
  options.max_items = 2;
  EXPECT_EQ(ReadProto(Bytes(*bytes), options).status().code(), Code::kLimitExceeded);
  const auto consts = ParseText("ge 1\nconst a : f32[] = 1\nconst b : f32[] = 2\n", "t");
  ASSERT_TRUE(consts.ok());
  bytes = WriteProto(*consts);
  options = {};
  options.max_skeleton_bytes = uint64_t{1} << 20;
  EXPECT_TRUE(ReadProto(Bytes(*bytes), options).ok());
}

// Every prefix, and thousands of changed bytes: an answer each time, and what is read can be
// printed, written and read again.
TEST(Proto, DamagedBytesAreRefusedOrRoundTrip) {
  const std::string bytes = Serialized();
  for (size_t n = 0; n < bytes.size(); ++n) {
    auto read = ReadProto(Bytes(bytes).first(n), {});
    if (read.ok()) PrintText(*read);
  }
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = bytes;
    for (int k = 1 + static_cast<int>(random() % 3); k > 0; --k) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    }
    auto read = ReadProto(Bytes(damaged), {});
    if (!read.ok()) continue;
    ++accepted;
    PrintText(*read);
    auto written = WriteProto(*read);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    auto again = ReadProto(Bytes(*written), {});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(DiffGraphs(*read, *again), "");
  }
  EXPECT_GT(accepted, 100);
}

TEST(Proto, LooksLikeProto) {
  EXPECT_FALSE(LooksLikeProto({}));
  EXPECT_FALSE(LooksLikeProto(Bytes("\x08\x07\x12\x04")));
}

}  // namespace
}  // namespace ge
