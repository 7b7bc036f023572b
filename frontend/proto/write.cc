#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <map>
#include <utility>

#include "frontend/proto/proto.h"
#include "frontend/proto/reader.h"
#include "frontend/proto/writer.h"
#include "ge/base/mapping_faults.h"
#include "ge/ir/graph_files.h"

namespace ge {
namespace proto {

uint32_t Writer::OpIndex(const std::string& domain, const std::string& name) {
  const auto [it, fresh] = ops_.try_emplace({domain, name}, static_cast<uint32_t>(ops_.size() + 1));
  if (fresh) {
    pb::Op* op = m_.add_ops();
    op->set_domain(domain);
    op->set_name(name);
  }
  return it->second;
}

uint32_t Writer::FileIndex(const std::string& file) {
  if (file.empty()) return 0;
  const auto [it, fresh] = files_.try_emplace(file, static_cast<uint32_t>(files_.size() + 1));
  if (fresh) m_.add_files(file);
  return it->second;
}

Status Writer::WriteTables() {
  m_.set_magic(kMagic);
  m_.set_ir_version(g_.ir_version);
  m_.set_name(g_.name);
  m_.set_producer(g_.producer);
  for (const auto& [domain, version] : g_.opsets) {
    pb::Opset* o = m_.add_opset();
    o->set_domain(domain);
    o->set_version(version);
  }
  for (const auto& [key, value] : g_.meta) {
    pb::Meta* kv = m_.add_meta();
    kv->set_key(key);
    kv->set_value(value);
  }
  for (SymbolId id = 1; id <= g_.dims.symbol_count(); ++id) {
    const Symbol& s = g_.dims.symbol(id);
    pb::Symbol* out = m_.add_symbols();
    out->set_name(s.name);
    out->set_min(s.min);
    if (s.max != INT64_MAX) out->set_max(s.max);
    if (s.multiple_of != 1) out->set_multiple_of(s.multiple_of);
    out->set_origin(s.origin);
    out->set_data_dependent(s.data_dependent);
  }
  for (size_t i = 1; i < g_.locs.size(); ++i) {
    const Loc& l = g_.locs[i];
    pb::Loc* out = m_.add_locs();
    out->set_file(FileIndex(l.file));
    out->set_line(l.line);
    out->set_col(l.col);
    out->set_end_line(l.end_line);
    out->set_end_col(l.end_col);
    out->set_scope(l.scope);
    out->set_caller(l.caller);
  }
  SetUnknownFields(g_.unknown_fields, &m_);
  return WriteStatesAndEntries();
}

Status Writer::WriteStatesAndEntries() {
  for (size_t i = 1; i < g_.states.size(); ++i) {
    const State& s = g_.states[i];
    pb::State* out = m_.add_states();
    out->set_name(s.name);
    GE_RETURN_IF_ERROR(WriteType(
        s.type, [&] { return out->mutable_type(); }, 0));
    out->set_kind(static_cast<pb::StateKind>(s.kind));
    out->set_trainable(s.trainable);
    out->set_init(s.init);
    out->set_init_fn(s.init_fn);
    out->set_alias_group(s.alias_group);
    out->set_master_of(s.master_of);
    SetUnknownFields(s.unknown_fields, out);
  }
  for (const Entry& e : g_.entries) {
    pb::Entry* out = m_.add_entries();
    out->set_name(e.name);
    out->set_fn(e.fn);
    out->set_role(static_cast<pb::Role>(e.role));
    SetUnknownFields(e.unknown_fields, out);
  }
  return Status();
}

Status Writer::WriteFunctions() {
  for (size_t i = 1; i < g_.functions.size(); ++i) {
    GE_RETURN_IF_ERROR(WriteFunction(g_.functions[i], m_.add_functions()));
  }
  return Status();
}

// Everything of a constant but an inline payload.
Status Writer::WriteConstSkeleton(const Const& constant, pb::Const* out) {
  out->set_name(constant.name);
  GE_RETURN_IF_ERROR(WriteType(
      constant.type, [&] { return out->mutable_type(); }, 0));
  if (!constant.external.file.empty()) {
    out->mutable_external()->set_file(constant.external.file);
    out->mutable_external()->set_offset(constant.external.offset);
    out->mutable_external()->set_length(constant.external.length);
    out->mutable_external()->set_sha256(constant.external.sha256);
  } else if (!constant.splat.empty()) {
    out->set_splat(constant.splat.data(), constant.splat.size());
  } else if (!constant.strings.empty()) {
    for (const std::string& s : constant.strings) out->mutable_strings()->add_v(s);
  }
  SetUnknownFields(constant.unknown_fields, out);
  return Status();
}

// Constants are appended by hand: a protobuf message would hold a second copy of every weight, and
// could not pass 2 GiB.
Status Writer::AppendConsts(std::string* out) {
  google::protobuf::io::StringOutputStream stream(out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  for (size_t i = 1; i < g_.consts.size(); ++i) {
    const Const& c = g_.consts[i];
    pb::Const skeleton;
    GE_RETURN_IF_ERROR(WriteConstSkeleton(c, &skeleton));
    const std::string head = skeleton.SerializeAsString();
    const bool has_payload = c.data && skeleton.payload_case() == pb::Const::PAYLOAD_NOT_SET;
    uint64_t length = head.size();
    using google::protobuf::io::CodedOutputStream;
    if (has_payload) length += 1 + CodedOutputStream::VarintSize64(c.bytes) + c.bytes;
    coded.WriteTag(pb::Module::kConstsFieldNumber << 3 | 2);
    coded.WriteVarint64(length);
    coded.WriteString(head);
    if (!has_payload) continue;
    coded.WriteTag(pb::Const::kInlineFieldNumber << 3 | 2);
    coded.WriteVarint64(c.bytes);
    for (uint64_t done = 0; done < c.bytes;) {
      const uint64_t step = std::min<uint64_t>(c.bytes - done, 1u << 30);  // WriteRaw counts in int
      coded.WriteRaw(c.data + done, static_cast<int>(step));
      done += step;
    }
  }
  return Status();
}

Result<std::string> Writer::Run() {
  GE_RETURN_IF_ERROR(WriteTables());
  GE_RETURN_IF_ERROR(WriteFunctions());
  if (m_.ByteSizeLong() > INT32_MAX - 64) {
    return Status(Code::kLimitExceeded,
                  fmt::format("the graph needs {} bytes beside its constants' payloads; protobuf "
                              "takes less than 2 GiB",
                              m_.ByteSizeLong()));
  }
  uint64_t payload = 0;
  for (const Const& c : g_.consts) payload += c.bytes;
  std::string out;
  out.reserve(m_.ByteSizeLong() + payload + 64 * g_.consts.size());
  if (!m_.AppendToString(&out)) {
    return Status(Code::kInternal, "protobuf did not serialize the graph");
  }
  GE_RETURN_IF_ERROR(AppendConsts(&out));
  return out;
}

}  // namespace proto

Result<std::string> WriteProto(const Graph& graph) {
  const FaultScope faults;
  auto bytes = proto::Writer(graph).Run();
  GE_RETURN_IF_ERROR(MappedFilesOf(graph).Check());
  return bytes;
}

}  // namespace ge
