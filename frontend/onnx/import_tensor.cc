#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "frontend/onnx/import_state.h"
#include "ge/base/checked.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "payloads are little-endian");

Status InvalidTensor(std::string text) { return Status(Code::kInvalidGraph, std::move(text)); }

Result<Type> TensorShapeOf(const ImportState& s, const wire::Tensor& t, const std::string& where) {
  DType dtype = static_cast<DType>(t.data_type());
  if (!IsKnown(dtype)) {
    return InvalidTensor(fmt::format("{} has element type {}, wanted 1 to {}", where, t.data_type(),
                                     kDTypeCount - 1));
  }
  if (static_cast<uint32_t>(t.dims_size()) > s.options.max_rank) {
    return Status(Code::kLimitExceeded, fmt::format("{} has rank {}, more than the limit of {}",
                                                    where, t.dims_size(), s.options.max_rank));
  }
  std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  for (int64_t d : dims) {
    if (d < 0) return InvalidTensor(fmt::format("{} has the dim {}, wanted 0 or more", where, d));
  }
  auto count = CheckedProduct(dims);
  // A string takes at least a byte of string_data; the count of those is checked later.
  auto bytes = !count || dtype == DType::kString ? count : DTypeBytes(dtype, *count);
  if (!bytes || static_cast<uint64_t>(*bytes) > s.options.max_tensor_bytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("{} of shape [{}] has more than {} bytes", where,
                              fmt::join(dims, ","), s.options.max_tensor_bytes));
  }
  return TensorType(dtype, dims);
}

Status WantCount(const std::string& where, const char* field, int64_t found, int64_t wanted) {
  if (found == wanted) return {};
  return InvalidTensor(fmt::format("{} has {} elements in {}, wanted {} for its shape", where,
                                   found, field, wanted));
}

// Copies `from` into *to as T, refusing what T cannot hold.
template <typename T, typename Field>
Status Narrow(const Field& from, const std::string& where, std::vector<std::byte>* to) {
  to->resize(from.size() * sizeof(T));
  for (int i = 0; i < from.size(); ++i) {
    auto v = from.Get(i);
    T narrow = static_cast<T>(v);
    if (static_cast<decltype(v)>(narrow) != v) {
      return InvalidTensor(
          fmt::format("{}: element {} is {}, which its element type cannot hold", where, i, v));
    }
    std::memcpy(to->data() + i * sizeof(T), &narrow, sizeof(T));
  }
  return {};
}

template <typename Field>
void CopyAll(const Field& from, std::vector<std::byte>* to) {
  to->resize(from.size() * sizeof(from.Get(0)));
  if (from.size() > 0) std::memcpy(to->data(), from.data(), to->size());
}

// Types of six bits come one element to an entry.
Status PackSixBits(const google::protobuf::RepeatedField<int32_t>& from, const std::string& where,
                   std::vector<std::byte>* to) {
  to->assign((static_cast<size_t>(from.size()) * 6 + 7) / 8, std::byte{0});
  for (int i = 0; i < from.size(); ++i) {
    const auto code = static_cast<uint32_t>(from.Get(i));
    if (code > 0x3f) {
      return InvalidTensor(
          fmt::format("{}: element {} is {}, which its element type cannot hold", where, i, code));
    }
    const size_t bit = static_cast<size_t>(i) * 6;
    const uint32_t moved = code << (bit % 8);
    (*to)[bit / 8] |= static_cast<std::byte>(moved);
    if (bit % 8 > 2) (*to)[bit / 8 + 1] |= static_cast<std::byte>(moved >> 8);
  }
  return {};
}

// int32_data: everything of at most 32 bits but float. Types of two and four bits come packed, one
// byte to an entry.
Status DecodeInt32(const wire::Tensor& t, DType dtype, int64_t count, const std::string& where,
                   std::vector<std::byte>* to) {
  const auto& from = t.int32_data();
  int bits = DTypeBits(dtype);
  int64_t entries = bits < 6 ? *DTypeBytes(dtype, count) : count;
  GE_RETURN_IF_ERROR(WantCount(where, "int32_data", from.size(), entries));
  if (bits == 6) return PackSixBits(from, where, to);
  switch (dtype) {
    case DType::kInt32:
      CopyAll(from, to);
      return {};
    case DType::kInt16:
      return Narrow<int16_t>(from, where, to);
    case DType::kInt8:
      return Narrow<int8_t>(from, where, to);
    case DType::kBool:
      to->resize(from.size());
      for (int i = 0; i < from.size(); ++i) (*to)[i] = std::byte(from.Get(i) != 0);
      return {};
    default:
      return bits == 16 ? Narrow<uint16_t>(from, where, to) : Narrow<uint8_t>(from, where, to);
  }
}

struct TypedField {
  const char* name;
  int64_t size;
};

// The one typed field that is not empty; refuses two.
Result<TypedField> UsedField(const wire::Tensor& t, const std::string& where) {
  TypedField used{"", 0};
  for (TypedField f : {TypedField{"float_data", t.float_data_size()},
                       TypedField{"int32_data", t.int32_data_size()},
                       TypedField{"string_data", t.string_data_size()},
                       TypedField{"int64_data", t.int64_data_size()},
                       TypedField{"double_data", t.double_data_size()},
                       TypedField{"uint64_data", t.uint64_data_size()}}) {
    if (f.size == 0) continue;
    if (used.size != 0) {
      return InvalidTensor(fmt::format("{} has elements in both {} and {}, wanted one of them",
                                       where, used.name, f.name));
    }
    used = f;
  }
  return used;
}

const char* FieldOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return "float_data";
    case DType::kDouble:
    case DType::kComplex128:
      return "double_data";
    case DType::kInt64:
      return "int64_data";
    case DType::kUint32:
    case DType::kUint64:
      return "uint64_data";
    case DType::kString:
      return "string_data";
    default:
      return "int32_data";
  }
}

Status DecodeTyped(const wire::Tensor& t, DType dtype, int64_t count, const std::string& where,
                   std::vector<std::byte>* to) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      GE_RETURN_IF_ERROR(WantCount(where, "float_data", t.float_data_size(),
                                   dtype == DType::kFloat ? count : 2 * count));
      CopyAll(t.float_data(), to);
      return {};
    case DType::kDouble:
    case DType::kComplex128:
      GE_RETURN_IF_ERROR(WantCount(where, "double_data", t.double_data_size(),
                                   dtype == DType::kDouble ? count : 2 * count));
      CopyAll(t.double_data(), to);
      return {};
    case DType::kInt64:
      GE_RETURN_IF_ERROR(WantCount(where, "int64_data", t.int64_data_size(), count));
      CopyAll(t.int64_data(), to);
      return {};
    case DType::kUint64:
    case DType::kUint32:
      GE_RETURN_IF_ERROR(WantCount(where, "uint64_data", t.uint64_data_size(), count));
      if (dtype == DType::kUint32) return Narrow<uint32_t>(t.uint64_data(), where, to);
      CopyAll(t.uint64_data(), to);
      return {};
    default:
      return DecodeInt32(t, dtype, count, where, to);
  }
}

Result<uint64_t> ParseSize(const std::string& text, const char* key, const std::string& where) {
  uint64_t value = 0;
  bool digits = !text.empty() && text.size() <= 19;  // 19 digits always fit
  for (char c : text) {
    digits = digits && c >= '0' && c <= '9';
    if (digits) value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (!digits) {
    return Status(Code::kDataCorrupt, fmt::format("{} has the external {} '{}', wanted a number of "
                                                  "bytes",
                                                  where, key, text));
  }
  return value;
}

Result<ExternalRef> ReadExternalRef(const wire::Tensor& t, uint64_t wanted,
                                    const std::string& where) {
  ExternalRef ref;
  ref.length = wanted;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") {
      ref.file = entry.value();
    } else if (entry.key() == "offset") {
      GE_ASSIGN_OR_RETURN(ref.offset, ParseSize(entry.value(), "offset", where));
    } else if (entry.key() == "length") {
      GE_ASSIGN_OR_RETURN(ref.length, ParseSize(entry.value(), "length", where));
    }
  }
  if (ref.file.empty()) {
    return InvalidTensor(fmt::format("{} is external but has no location", where));
  }
  if (ref.length != wanted) {
    return InvalidTensor(
        fmt::format("{} has an external length of {} bytes, wanted {} for its shape", where,
                    ref.length, wanted));
  }
  return ref;
}

Status ImportExternal(ImportState* s, const wire::Tensor& t, const std::string& where, Const* c) {
  GE_ASSIGN_OR_RETURN(ExternalRef ref, ReadExternalRef(t, c->bytes, where));
  if (s->options.base_dir.empty()) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("{} lies in the file '{}', but the model was given as bytes without a "
                    "folder; set base_dir, or load the model by its path",
                    where, ref.file));
  }
  auto& file = s->external_files[ref.file];
  if (!file) {
    auto opened = MappedFile::OpenBeneath(s->options.base_dir, ref.file, s->options.data_roots,
                                          s->options.max_file_bytes);
    if (!opened.ok()) {
      return Status(opened.status().code(),
                    fmt::format("{}: {}{}", where, opened.status().message(),
                                opened.status().message().find("symbolic link") == std::string::npos
                                    ? "; put the file of external data beside the model"
                                    : ""));
    }
    file = *opened;
  }
  uint64_t size = file->bytes().size();
  if (ref.offset > size || ref.length > size - ref.offset) {
    return Status(
        Code::kDataCorrupt,
        fmt::format("{} wants bytes {} to {} of '{}', which has {}; the file is cut short "
                    "or belongs to another model",
                    where, ref.offset, ref.offset + ref.length, ref.file, size));
  }
  c->data = file->bytes().data() + ref.offset;
  c->owner = file;
  c->mapped = true;
  c->external = std::move(ref);
  return {};
}

Status ImportRaw(ImportState* s, const wire::Tensor& t, const std::string& where, Const* c) {
  if (c->type.dtype == DType::kString) {
    return InvalidTensor(fmt::format("{} holds strings in raw_data, wanted string_data", where));
  }
  if (t.payload_index() >= s->payloads.size()) {
    return Status(Code::kInternal, fmt::format("{} has no scanned payload", where));
  }
  const WeightPayload& p = s->payloads[t.payload_index()];
  if (p.length != c->bytes) {
    return InvalidTensor(
        fmt::format("{} has {} bytes of raw_data, wanted {} for its shape and element "
                    "type",
                    where, p.length, c->bytes));
  }
  c->data = s->bytes.data() + p.offset;
  c->owner = s->owner;
  c->mapped = s->mapped;
  return {};
}

}  // namespace

Result<Const> ImportTensor(ImportState* state, const wire::Tensor& t, const std::string& where) {
  Const c;
  GE_RETURN_IF_ERROR(CheckName(*state, where, t.name()));
  GE_ASSIGN_OR_RETURN(c.type, TensorShapeOf(*state, t, where));
  c.name = t.name();
  if (t.has_segment()) {
    return Status(
        Code::kUnsupported,
        fmt::format("{} is stored in segments, which is not supported; save it whole", where));
  }
  int64_t count = *ElementCount(c.type);
  DType dtype = c.type.dtype;
  GE_ASSIGN_OR_RETURN(TypedField used, UsedField(t, where));
  if (used.size != 0 && (t.has_payload_index() || t.data_location() == 1)) {
    return InvalidTensor(fmt::format("{} has elements in {} beside {}, wanted one of them", where,
                                     used.name,
                                     t.has_payload_index() ? "raw_data" : "external data"));
  }
  if (used.size != 0 && std::string_view(used.name) != FieldOf(dtype)) {
    return InvalidTensor(fmt::format("{} of element type {} has its elements in {}, wanted {}",
                                     where, DTypeName(dtype), used.name, FieldOf(dtype)));
  }
  if (dtype != DType::kString) c.bytes = static_cast<uint64_t>(*ByteCount(c.type));
  state->stats->weight_bytes += c.bytes;
  if (t.data_location() == 1) {
    if (dtype == DType::kString) {
      return InvalidTensor(
          fmt::format("{} holds strings in external data, wanted string_data", where));
    }
    GE_RETURN_IF_ERROR(ImportExternal(state, t, where, &c));
    return c;
  }
  if (t.has_payload_index()) {
    GE_RETURN_IF_ERROR(ImportRaw(state, t, where, &c));
    return c;
  }
  if (dtype == DType::kString) {
    GE_RETURN_IF_ERROR(WantCount(where, "string_data", t.string_data_size(), count));
    c.strings.assign(t.string_data().begin(), t.string_data().end());
    return c;
  }
  auto buffer = std::make_shared<std::vector<std::byte>>();
  GE_RETURN_IF_ERROR(DecodeTyped(t, dtype, count, where, buffer.get()));
  c.data = buffer->data();
  c.owner = std::move(buffer);
  state->stats->copied_bytes += c.bytes;
  return c;
}

Result<ConstId> ImportTensorOnce(ImportState* state, const wire::Tensor& t,
                                 const std::string& where) {
  const auto known = state->const_of.find(&t);
  if (known != state->const_of.end()) return known->second;
  GE_ASSIGN_OR_RETURN(Const c, ImportTensor(state, t, where));
  const ConstId id = state->graph.AddConst(std::move(c));
  state->const_of.emplace(&t, id);
  return id;
}

}  // namespace ge
