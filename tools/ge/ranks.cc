#include "tools/ge/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "tools/ge/command.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
namespace {

constexpr int64_t kMostRanks = 1 << 20;  // products of sizes stay far from overflow
constexpr char kDataAxis[] = "data";

constexpr struct {
  const char *rank, *count, *launcher;
} kVariables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"},
                  {"PMI_RANK", "PMI_SIZE", "a launcher with PMI"},
                  {"SLURM_PROCID", "SLURM_NTASKS", "Slurm"},
                  {"RANK", "WORLD_SIZE", "torchrun"}};

struct Axis {
  std::string name;
  int64_t size = 1;
};

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

std::vector<std::string_view> Parts(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(by, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// A name that says nothing else in an option of a pass.
bool IsName(std::string_view name) {
  return !name.empty() && name.find_first_of("+;:/|*- ") == std::string_view::npos;
}

Result<std::vector<Axis>> AxesOf(const std::string& mesh) {
  std::vector<Axis> axes;
  int64_t ranks = 1;
  for (const std::string_view item : Parts(mesh, ',')) {
    const size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const int64_t size =
        equals == std::string_view::npos ? 0 : Number(item.substr(equals + 1)).value_or(0);
    if (!IsName(name) || size < 1 || size > kMostRanks / ranks) {
      return Bad(
          fmt::format("--mesh is '{}', wanted AXIS=RANKS, as data=2 or data=2,model=2", mesh));
    }
    for (const Axis& axis : axes) {
      if (axis.name == name) {
        return Bad(fmt::format("--mesh {} has axis '{}' twice; give each axis once", mesh, name));
      }
    }
    axes.push_back({std::string(name), size});
    ranks *= size;
  }
  return axes;
}

Status CheckShards(const MeshOptions& o, const std::vector<Axis>& axes) {
  std::string names;
  for (const Axis& axis : axes) names += (names.empty() ? "" : ", ") + axis.name;
  for (const std::string& shard : o.shard) {
    const size_t equals = shard.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == shard.size()) {
      return Bad(
          fmt::format("--shard is '{}', wanted NAME=AXIS,-: an axis of the mesh or - for "
                      "each dim of the state, constant or value NAME",
                      shard));
    }
    for (const std::string_view dim : Parts(std::string_view(shard).substr(equals + 1), ',')) {
      for (const std::string_view axis : Parts(dim, '*')) {
        const bool known = axis == "-" || std::any_of(axes.begin(), axes.end(), [&](const Axis& a) {
                             return a.name == axis;
                           });
        if (known) continue;
        return Bad(
            fmt::format("--shard {} names axis '{}' and the mesh has {}; name one of them, "
                        "or - for a dim that is not split",
                        shard, axis, names));
      }
    }
  }
  const bool data =
      std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.name == kDataAxis; });
  if (!o.shard_states || data) return {};
  return Bad(
      fmt::format("--shard-states lays states in shares over the axis data, and the mesh "
                  "has {}; add data=RANKS to --mesh",
                  names));
}

Status CheckAlone(const MeshOptions& o) {
  if (!o.shard.empty()) return Bad("--shard wants --mesh, whose axes it names");
  if (o.shard_states) return Bad("--shard-states wants --mesh with an axis data");
  return {};
}

Result<Ranks> Started(const std::string& mesh, int64_t wanted, const char* command) {
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
                  "ge {} ...",
                  mesh, wanted, wanted, command));
}

// With + in place of commas, which part passes.
std::string Plain(std::string text) {
  std::replace(text.begin(), text.end(), ',', '+');
  return text;
}

void Ask(const MeshOptions& o, const Ranks& ranks, const std::string& of, Options* to) {
  if (!ranks.many()) return;
  std::string pass = fmt::format("parallel:mesh={};rank={};{}", Plain(o.mesh), ranks.rank, of);
  std::string pins;
  for (const std::string& shard : o.shard) pins += (pins.empty() ? "" : "|") + Plain(shard);
  if (!pins.empty()) pass += ";pins=" + pins;
  if (o.shard_states) pass += fmt::format(";states={}", kDataAxis);
  to->passes.push_back(std::move(pass));
  to->plugins = to->plugins.empty() ? "parallel" : "parallel," + to->plugins;
  // A list of engines is of those that compute.
  if (!to->engines.empty() && to->engines.find("mpi") == std::string::npos) to->engines += ",mpi";
}

}  // namespace

RowShare Ranks::RowsOf(int64_t batch) const {
  const int64_t each = (batch + shares - 1) / shares, from = std::min(batch, each * share);
  return {from, std::min(each, batch - from)};
}

Result<Ranks> RanksOf(const MeshOptions& o, const char* command) {
  if (o.mesh.empty()) {
    GE_RETURN_IF_ERROR(CheckAlone(o));
    return Ranks{};
  }
  GE_ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(o.mesh));
  GE_RETURN_IF_ERROR(CheckShards(o, axes));
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  GE_ASSIGN_OR_RETURN(Ranks ranks, Started(o.mesh, count, command));
  int64_t inner = count;  // ranks that differ in later axes: the last one is fastest
  for (const Axis& axis : axes) {
    inner /= axis.size;
    if (axis.name != kDataAxis) continue;
    ranks.shares = axis.size;
    ranks.share = ranks.rank / inner % axis.size;
  }
  return ranks;
}

void AskForRank(const MeshOptions& o, const Ranks& ranks, uint64_t batch, Options* to) {
  Ask(o, ranks, fmt::format("batch={}", batch), to);
}

void AskForRank(const MeshOptions& o, const Ranks& ranks,
                const std::vector<std::vector<int64_t>>& sizes, Options* to) {
  std::string all;
  for (const std::vector<int64_t>& dims : sizes) {
    all += fmt::format("{}{}", all.empty() ? "" : "|", fmt::join(dims, "x"));
    if (dims.empty()) all += "scalar";
  }
  if (!to->entry.empty()) all += ";entry=" + to->entry;
  Ask(o, ranks, "sizes=" + all, to);
}

std::vector<double> NumbersOf(const RankFacts& facts) {
  std::vector<double> numbers;
  for (const auto& [what, text] : facts) {
    Digest digest;
    digest.Add(text);
    numbers.push_back(static_cast<double>(std::stoul(digest.Hex().substr(0, 8), nullptr, 16)));
  }
  return numbers;
}

Status WantSame(const RankFacts& facts, const std::vector<double>& sum,
                const std::vector<double>& least, const Ranks& ranks) {
  for (size_t i = 0; i < facts.size(); ++i) {
    if (sum[i] == least[i] * static_cast<double>(ranks.count)) continue;
    return Bad(
        fmt::format("ranks were started with different options: they differ in {}, which is "
                    "'{}' for rank {}; give all of them the same",
                    facts[i].first, facts[i].second, ranks.rank));
  }
  return {};
}

}  // namespace ge::tool
