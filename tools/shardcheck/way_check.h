// WayCheck: runs a case's node on each rank's boxes, and compares with the whole. One thread; it
// keeps the small models that ranks share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/shardcheck/boxes.h"
#include "tools/shardcheck/case.h"
#include "tools/shardcheck/command.h"

namespace ge::shardcheck {

class WayCheck {
 public:
  static Result<std::unique_ptr<WayCheck>> Make(const ShardCase& c, const Options& options);
  const CaseView& view() const { return *view_; }
  const ShardCase& sample() const { return case_; }
  // One way for each axis of the mesh: empty, or what is wrong.
  std::string Run(const parallel::Mesh& mesh, const std::vector<parallel::Way>& ways);
  // All ways of the rule, and on two axes all pairs, each beside none too; *n counts them. Stops at
  // the first that is wrong where `hasty`.
  std::vector<std::string> RunAll(const parallel::Mesh& mesh, const parallel::Change& change,
                                  bool hasty, int* n);

 private:
  WayCheck(const ShardCase& c, const Options& options) : case_(c), options_(options) {}
  Result<adcheck::Case> Local(const parallel::Mesh& mesh, int64_t rank) const;
  Result<adcheck::Arrays> RunLocal(const parallel::Mesh& mesh, int64_t rank);
  Result<adcheck::Arrays> RunNode(const adcheck::Case& node, const adcheck::Arrays& inputs);

  const ShardCase& case_;
  const Options& options_;
  std::unique_ptr<CaseView> view_;
  adcheck::Arrays inputs_, whole_;
  std::vector<Places> in_, out_;  // of the present ways
  std::map<std::string, std::unique_ptr<adcheck::Model>> models_;
};

// "data=2,model=3" of "2x3".
std::string MeshText(const std::string& sizes);

}  // namespace ge::shardcheck
