// .npz: a zip file of .npy files, as numpy.savez and savez_compressed write it. Arrays are named
// after the net's inputs.
#include <fmt/format.h>

#include <cstring>

#include "ge/base/checked.h"
#include "tools/ge/command.h"
#include "tools/ge/samples/samples.h"
#include "tools/ge/samples/zip.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostHeader = uint64_t{1} << 16;

// What a .npy file says of itself, and how many bytes that takes.
Result<Rows> ReadNpyHead(const std::string& what, ZipReader* in, uint64_t* bytes) {
  const auto bad = [&](const std::string& text) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable array: {}", what, text));
  };
  std::byte head[12];
  GE_RETURN_IF_ERROR(in->Read(head, 10));
  const auto at = [&](size_t i) { return std::to_integer<uint64_t>(head[i]); };
  if (std::memcmp(head, "\x93NUMPY", 6) != 0) return bad("it does not begin as a .npy file");
  uint64_t length = at(8) | at(9) << 8;
  *bytes = 10;
  if (at(6) >= 2) {
    GE_RETURN_IF_ERROR(in->Read(head + 10, 2));
    length |= at(10) << 16 | at(11) << 24;
    *bytes = 12;
  }
  if (length > kMostHeader) return bad("its header is beyond 64 KiB");
  std::string header(length, 0);
  GE_RETURN_IF_ERROR(in->Read(reinterpret_cast<std::byte*>(header.data()), length));
  *bytes += length;
  TensorView view;
  for (char& c : header) c = c >= ' ' && c <= '~' ? c : '?';  // messages repeat parts of it
  GE_RETURN_IF_ERROR(ParseNpyHeader(what, header, &view));
  if (view.dims.empty()) return bad("it is one number, wanted rows along an axis");
  Rows rows;
  rows.dtype = view.dtype;
  rows.count = view.dims[0];
  rows.dims.assign(view.dims.begin() + 1, view.dims.end());
  return rows;
}

Result<Rows> ReadArray(const ZipFile& zip, const ZipMember& m, const Wanted& wanted,
                       DataReader* reader) {
  const std::string what = fmt::format("array '{}' of '{}'", ShownName(m.name), zip.path());
  GE_ASSIGN_OR_RETURN(const auto in, ZipReader::Open(&zip, m));
  uint64_t head = 0;
  GE_ASSIGN_OR_RETURN(Rows rows,
                      ReadNpyHead(zip.path() + "/" + ShownName(m.name), in.get(), &head));
  std::vector<int64_t> dims = rows.dims;
  dims.insert(dims.begin(), rows.count);
  const auto count = CheckedProduct(dims);
  const auto size = count ? DTypeBytes(rows.dtype, *count) : std::nullopt;
  if (!size || static_cast<uint64_t>(*size) != m.bytes - head) {
    return Status(Code::kDataCorrupt,
                  fmt::format("{} is not a usable array: its shape does not fit its {} bytes", what,
                              m.bytes - head));
  }
  if (m.method != 0 && m.bytes / kMostInflated > m.packed) {
    return zip.Bad(fmt::format("{} bytes of array '{}' cannot be those {} that it claims", m.packed,
                               ShownName(m.name), m.bytes));
  }
  GE_RETURN_IF_ERROR(reader->TakeRows(wanted, what, &rows));
  GE_RETURN_IF_ERROR(in->Read(rows.bytes.data(), rows.bytes.size()));
  GE_RETURN_IF_ERROR(in->Finish());
  return rows;
}

// What an input's array may be called, the likelier name first: of a part ("_train"), or of files
// without parts ("").
std::vector<std::string> NamesOf(const DataRequest& r, size_t input, const std::string& part) {
  std::vector<std::string> names = {r.x[input].name + part};
  const auto taken = [&](const std::string& name) {
    for (const Wanted& w : r.x) {
      if (w.name == name) return true;
    }
    return false;
  };
  if (input == 0 && !taken("x")) names.push_back("x" + part);
  return names;
}

std::vector<std::string> LabelNames(const DataRequest& r, const std::string& part) {
  for (const Wanted& w : r.x) {
    if (w.name == "y") return {r.y->name + part};
  }
  return {"y" + part, r.y->name + part};
}

const ZipMember* Find(const ZipFile& zip, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = zip.members().find(name);
    if (found != zip.members().end()) return &found->second;
  }
  return nullptr;
}

Status Missing(const ZipFile& zip, const DataRequest& r, size_t input) {
  std::string have;
  for (const auto& [name, m] : zip.members()) {
    have += fmt::format("{}'{}'", have.empty() ? "" : ", ", ShownName(name));
  }
  // The file may have its array "x" for an input of another name.
  const std::vector<std::string> names = NamesOf(r, input, "");
  const std::string& name = names.back();
  return Status(
      Code::kInvalidArgument,
      fmt::format("'{}' has no array {}_train or {} with rows{}; it has {}", zip.path(), name, name,
                  r.x.size() > 1 || r.x[0].name != name
                      ? fmt::format(" for the net's input '{}'", r.x[input].name)
                      : "",
                  have.empty() ? "none" : have.substr(0, 1000)));
}

// Samples without rows where the first input has no array of that part.
Result<Samples> ReadPart(const ZipFile& zip, const std::string& part, DataReader* reader) {
  const DataRequest& r = reader->request();
  Samples s;
  for (size_t i = 0; i < r.x.size(); ++i) {
    const ZipMember* m = Find(zip, NamesOf(r, i, part));
    if (m == nullptr && i == 0 && part == "_test") return s;
    if (m == nullptr) return Missing(zip, r, i);
    GE_ASSIGN_OR_RETURN(Rows rows, ReadArray(zip, *m, r.x[i], reader));
    if (r.channels_last) PutChannelsFirst(r.x[i], &rows);
    s.x.push_back(std::move(rows));
  }
  const ZipMember* labels = r.y ? Find(zip, LabelNames(r, part)) : nullptr;
  if (labels == nullptr) return s;
  GE_ASSIGN_OR_RETURN(s.y, ReadArray(zip, *labels, *r.y, reader));
  return s;
}

}  // namespace

Result<Data> ReadNpz(const std::string& path, DataReader* reader) {
  const DataRequest& r = reader->request();
  GE_ASSIGN_OR_RETURN(const ZipFile zip, ZipFile::Open(path));
  Data data;
  bool parts = false;
  for (size_t i = 0; i < r.x.size(); ++i) parts |= Find(zip, NamesOf(r, i, "_train")) != nullptr;
  GE_ASSIGN_OR_RETURN(data.train, ReadPart(zip, parts ? "_train" : "", reader));
  if (data.train.count() == 0) return Missing(zip, r, 0);
  if (r.test) {
    GE_ASSIGN_OR_RETURN(data.test, ReadPart(zip, "_test", reader));
  }
  return data;
}

}  // namespace ge::tool
