// Random models as files: a text case that repeats a difference, and folders with a graph, its
// inputs and ref's outputs for other programs to compare with.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontend/text/text.h"
#include "ge/base/replace_file.h"
#include "tools/ge_test/models/random_models.h"

namespace ge::test {
namespace {

// NumPy's name of a type; of those that it lacks, an unsigned number of as many bits.
std::string NumpyName(DType t) {
  switch (t) {
    case DType::kFloat:
      return "<f4";
    case DType::kDouble:
      return "<f8";
    case DType::kFloat16:
      return "<f2";
    case DType::kBool:
      return "|b1";
    case DType::kComplex64:
      return "<c8";
    case DType::kComplex128:
      return "<c16";
    default:
      break;
  }
  const int bytes = std::max(1, DTypeBits(t) / 8);
  const bool is_signed = IsInteger(t) && (Bit(t) & kSignedInts) != 0;
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', is_signed ? 'i' : 'u', bytes);
}

// Version 1.0 of the format. Elements below a byte get one each.
std::string NpyBytes(const HostTensor& t) {
  std::string shape;
  for (const int64_t d : t.dims) shape += fmt::format("{},", d);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   NumpyName(t.dtype), shape);
  // The data begin at a multiple of 64 bytes, behind 10 bytes of magic and a line feed.
  header.append((64 - (11 + header.size()) % 64) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out +=
      {'\1', '\0', static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  out += header;
  if (DTypeBits(t.dtype) >= 8) {
    out.append(reinterpret_cast<const char*>(t.data.get()), t.bytes);
    return out;
  }
  const int bits = DTypeBits(t.dtype);
  for (int64_t i = 0, n = t.count(); i < n; ++i) {
    const std::byte* byte = t.data.get() + i * bits / 8;
    auto both = std::to_integer<unsigned>(byte[0]);
    if (i * bits % 8 + bits > 8) both |= std::to_integer<unsigned>(byte[1]) << 8;
    out += static_cast<char>((both >> (i * bits % 8)) & ((1u << bits) - 1));
  }
  return out;
}

}  // namespace

Status SaveModelText(const std::string& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return ReplaceFile(path, text, false);
}

Status SaveModel(const RandomModel& model, const ModelReference& reference,
                 const std::string& folder) {
  GE_RETURN_IF_ERROR(SaveModelText(folder + "/graph.gt", PrintText(TidyGraph(model))));
  for (const ValueId v : model.main().params) {
    GE_RETURN_IF_ERROR(SaveModelText(fmt::format("{}/{}.npy", folder, model.main().value(v).name),
                                     NpyBytes(*model.values[v])));
  }
  std::string allowed;
  for (size_t i = 0; i < reference.wanted.outputs.size(); ++i) {
    const std::string& name = reference.wanted.names[i];
    allowed += fmt::format("{} {:.9g} {}\n", name, reference.allowed[i], reference.unsettled[i]);
    GE_RETURN_IF_ERROR(SaveModelText(fmt::format("{}/expected/{}.npy", folder, name),
                                     NpyBytes(reference.wanted.outputs[i])));
  }
  return SaveModelText(folder + "/tolerance.txt", allowed);
}

std::string ModelTextCase(const RandomModel& model, const std::string& engines) {
  const Graph g = TidyGraph(model);
  std::string out = "--- graph\n" + PrintText(g);
  for (const ValueId v : model.main().params) {
    out += fmt::format("--- input {}\n{}\n", model.main().value(v).name,
                       PrintConst(ToConst(*model.values[v], ""), g));
  }
  out += fmt::format("--- run run {}\n", engines);
  auto wanted = RunGraph(g, "ref", PassNames(std::in_place), ModelInputs(model));
  for (size_t i = 0; wanted.ok() && i < wanted->outputs.size(); ++i) {
    out += fmt::format("--- expect-value {}\n{}\n", wanted->names[i],
                       PrintConst(ToConst(wanted->outputs[i], ""), g));
  }
  return out;
}

}  // namespace ge::test
