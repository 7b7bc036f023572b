#include "tools/shardcheck/way_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace ge::shardcheck {
namespace {

using adcheck::Arrays;
using adcheck::Case;
using parallel::kShape;
using parallel::Mesh;
using parallel::Way;

constexpr size_t kMostModels = 4000;  // kept at a time

// The whole, on one axis of a mesh.
Way None(const ge_node& n) {
  return {std::vector<int>(n.n_in, parallel::kWhole), std::vector<int>(n.n_out, parallel::kWhole)};
}

std::string TextOfAll(const std::vector<Way>& ways) {
  std::string text;
  for (const Way& w : ways) text += (text.empty() ? "" : " with ") + TextOf(w);
  return text;
}

}  // namespace

std::string MeshText(const std::string& sizes) {
  std::string text = "data=" + sizes;
  const size_t by = text.find('x');
  return by == std::string::npos ? text : text.replace(by, 1, ",model=");
}

Result<std::unique_ptr<WayCheck>> WayCheck::Make(const ShardCase& c, const Options& options) {
  std::unique_ptr<WayCheck> made(new WayCheck(c, options));
  GE_ASSIGN_OR_RETURN(made->view_, CaseView::Make(c));
  // By its own text, so that a case has the same numbers whatever runs before it.
  std::mt19937_64 random(options.seed * 1000003 + std::hash<std::string>()(c.node.line));
  made->inputs_ = adcheck::FillInputs(c.node, random);
  if (made->view_->of_shape()) return made;
  GE_ASSIGN_OR_RETURN(made->whole_, made->RunNode(c.node, made->inputs_));
  return made;
}

Result<Arrays> WayCheck::RunNode(const Case& node, const Arrays& inputs) {
  const std::string text = adcheck::TextOf(node, false);
  if (models_.size() > kMostModels) models_.clear();
  std::unique_ptr<adcheck::Model>& model = models_[text];
  if (model == nullptr) {
    GE_ASSIGN_OR_RETURN(model, adcheck::Model::Load(text, "", options_.model));
  }
  return model->Run("main", inputs);
}

// The node that a rank runs.
Result<Case> WayCheck::Local(const Mesh& mesh, int64_t rank) const {
  Case local = case_.node;
  for (size_t i = 0; i < local.in.size(); ++i) {
    adcheck::CaseInput& in = local.in[i];
    if (in.absent) continue;
    std::vector<int64_t> sizes;
    if (std::count(in_[i].begin(), in_[i].end(), kShape) != 0) {
      for (const parallel::Part& p : BoxOf(mesh, out_[0], view_->OutDims(0), rank)) {
        sizes.push_back(p.size);
      }
      in.text = fmt::format("i64[{}] = [{}]", sizes.size(), fmt::join(sizes, ","));
      continue;
    }
    for (const parallel::Part& p : BoxOf(mesh, in_[i], in.dims, rank)) sizes.push_back(p.size);
    if (in.constant && sizes != in.dims) {
      const size_t splat = in.text.find("splat");
      if (splat == std::string::npos) {
        return Status(Code::kInvalidArgument,
                      fmt::format("input {} is a constant and split; write it without '=', or as "
                                  "a splat",
                                  i));
      }
      in.text = fmt::format("{}[{}] = {}", in.dtype, fmt::join(sizes, ","), in.text.substr(splat));
    }
    in.dims = sizes;
  }
  return local;
}

Result<Arrays> WayCheck::RunLocal(const Mesh& mesh, int64_t rank) {
  GE_ASSIGN_OR_RETURN(const Case local, Local(mesh, rank));
  Arrays inputs;
  for (const uint32_t i : adcheck::Filled(local)) {
    const std::string name = fmt::format("x{}", i);
    inputs[name] = ShareOf(inputs_.at(name), mesh, in_[i], rank, options_.seed + 7 * i);
  }
  return RunNode(local, inputs);
}

std::string WayCheck::Run(const Mesh& mesh, const std::vector<Way>& ways) {
  in_.assign(case_.node.in.size(), {});
  out_.assign(case_.node.out.size(), {});
  for (const Way& way : ways) {
    for (size_t i = 0; i < in_.size(); ++i) in_[i].push_back(way.in[i]);
    for (size_t i = 0; i < out_.size(); ++i) out_[i].push_back(way.out[i]);
  }
  std::map<size_t, Whole> made;
  for (size_t k = 0; k < out_.size(); ++k) {
    if (case_.node.out[k]) made.emplace(k, Whole(mesh, out_[k], view_->OutDims(k)));
  }
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const auto local = RunLocal(mesh, rank);
    if (!local.ok()) return fmt::format("rank {}: {}", rank, local.status().message());
    for (auto& [k, whole] : made) {
      const std::string wrong = whole.Put(rank, local->at(fmt::format("y{}", k)));
      if (!wrong.empty()) return fmt::format("output {}: {}", k, wrong);
    }
  }
  for (auto& [k, whole] : made) {
    const std::string wrong = whole.DiffersFrom(whole_.at(fmt::format("y{}", k)));
    if (!wrong.empty()) return fmt::format("output {}: {}", k, wrong);
  }
  return {};
}

std::vector<std::string> WayCheck::RunAll(const Mesh& mesh, const parallel::Change& change,
                                          bool hasty, int* n) {
  std::vector<std::vector<Way>> by_axis;
  for (const parallel::Axis& axis : mesh.axes()) {
    by_axis.push_back(view_->Ways(axis.size, change));
    if (mesh.axes().size() > 1) by_axis.back().push_back(None(view_->node()));
  }
  const std::vector<Way> both = view_->Ways(mesh.ranks(), change);
  std::vector<std::string> wrong;
  const auto run = [&](const std::vector<Way>& ways) {
    ++*n;
    const std::string what = Run(mesh, ways);
    if (!what.empty()) wrong.push_back(mesh.Text() + ", " + TextOfAll(ways) + ": " + what);
    return what.empty() || !hasty;
  };
  for (const Way& first : by_axis[0]) {
    if (by_axis.size() == 1 && !run({first})) return wrong;
    for (const Way& second : by_axis.size() > 1 ? by_axis[1] : std::vector<Way>()) {
      // The same dims by both axes: legal where so many shares are.
      const bool same = first == second;
      if (same && std::find(both.begin(), both.end(), first) == both.end()) continue;
      if (!run({first, second})) return wrong;
    }
  }
  return wrong;
}

}  // namespace ge::shardcheck
