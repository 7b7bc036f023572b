#include "tools/ge/train/ranks.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "tools/ge/train/train.h"

namespace ge::tool {
namespace {

constexpr struct {
  const char *rank, *count, *launcher;
} kVariables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"},
                  {"PMI_RANK", "PMI_SIZE", "a launcher with PMI"},
                  {"SLURM_PROCID", "SLURM_NTASKS", "Slurm"},
                  {"RANK", "WORLD_SIZE", "torchrun"}};

std::optional<int64_t> Number(std::string_view text) {
  int64_t n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(n)
                                                                         : std::nullopt;
}

std::optional<int64_t> Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : Number(text);
}

Status Bad(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

// The ranks that a mesh has.
Result<int64_t> SizeOf(const std::string& mesh) {
  const size_t equals = mesh.find('=');
  const std::string axis = mesh.substr(0, equals);
  const std::string size = equals == std::string::npos ? "" : mesh.substr(equals + 1);
  const int64_t n = Number(size).value_or(0);
  if (mesh.find(',') != std::string::npos || (!axis.empty() && axis != "data")) {
    return Bad(
        fmt::format("--mesh is '{}', wanted data=RANKS: splits of weights and states over "
                    "other axes are not built",
                    mesh));
  }
  if (axis.empty() || n < 1) {
    return Bad(fmt::format("--mesh is '{}', wanted data=RANKS, as data=2", mesh));
  }
  return n;
}

Status CheckOptions(const TrainOptions& o, const Ranks& ranks) {
  if (o.batch % ranks.count != 0) {
    return Bad(
        fmt::format("--batch is {} for {} ranks, wanted a multiple of {}: it counts the "
                    "samples of all ranks",
                    o.batch, ranks.count, ranks.count));
  }
  if (o.checkpoint.empty()) return {};
  return Bad(
      "--checkpoint with --mesh is not built: export the net at the end by --export, or "
      "train by one process");
}

}  // namespace

Result<Ranks> RanksOf(const std::string& mesh) {
  GE_ASSIGN_OR_RETURN(const int64_t wanted, SizeOf(mesh));
  if (wanted == 1) return Ranks{};
  for (const auto& v : kVariables) {
    const auto rank = Variable(v.rank), count = Variable(v.count);
    if (!rank || !count) continue;
    if (*count == wanted && *rank >= 0 && *rank < wanted) return Ranks{*rank, *count};
    return Bad(
        fmt::format("--mesh {} has {} ranks and {} started {} ({}); start as many as the "
                    "mesh has",
                    mesh, wanted, v.launcher, *count, v.count));
  }
  return Bad(
      fmt::format("--mesh {} has {} ranks and this process was started alone: mpirun -np {} "
                  "ge train ...",
                  mesh, wanted, wanted));
}

Result<TrainOptions> OptionsOfRank(const TrainOptions& given) {
  TrainOptions o = given;
  if (o.mesh.empty()) return o;
  GE_ASSIGN_OR_RETURN(o.ranks, RanksOf(o.mesh));
  if (o.ranks.count == 1) return o;
  GE_RETURN_IF_ERROR(CheckOptions(o, o.ranks));
  Options& c = o.common;
  c.passes.push_back(
      fmt::format("parallel:mesh={};rank={};batch={}", o.mesh, o.ranks.rank, o.batch));
  c.plugins = c.plugins.empty() ? "parallel" : "parallel," + c.plugins;
  // A list of engines is of those that compute.
  if (!c.engines.empty() && c.engines.find("mpi") == std::string::npos) c.engines += ",mpi";
  if (o.ranks.first()) return o;
  o.no_test = true;
  o.test_data.clear();
  o.log.clear();
  o.plot.clear();
  o.export_file.clear();
  c.json = c.verbose = false;
  return o;
}

}  // namespace ge::tool
