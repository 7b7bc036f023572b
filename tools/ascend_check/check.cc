#include "tools/ascend_check/check.h"

#include <iterator>

namespace ascend_check {

const char* NameOf(Outcome outcome) {
  constexpr const char* kNames[] = {"pass", "differs", "told", "skipped", "crashed", "hung"};
  return kNames[static_cast<size_t>(outcome)];
}

const Vendor& Case::runtime() {
  if (!runtime_open_ && !vendor_.OpenRuntime(folder_)) Skip(vendor_.why());
  runtime_open_ = true;
  return vendor_;
}

const Vendor& Case::operators(Outcome otherwise) {
  (void)runtime();
  if (!operators_open_ && !vendor_.OpenOperators(folder_)) throw Finding{otherwise, vendor_.why()};
  operators_open_ = true;
  return vendor_;
}

void Case::Differs(const std::string& text) { throw Finding{Outcome::kDiffers, text}; }
void Case::Skip(const std::string& text) { throw Finding{Outcome::kSkipped, text}; }
void Case::Need(bool holds, const std::string& otherwise) {
  if (!holds) Differs(otherwise);
}

std::string Case::Answer(acl::Status status, const std::string& call) {
  const auto recent = vendor_.f().aclGetRecentErrMsg;
  const char* text = recent == nullptr || status == acl::kSuccess ? nullptr : recent();
  return call + " answers " + std::to_string(status) +
         (text == nullptr || *text == 0 ? "" : std::string(" (") + text + ")");
}

void Case::Ok(acl::Status found, const std::string& call) {
  Need(found == acl::kSuccess, Answer(found, call) + "; wanted success");
}

void Case::Refused(acl::Status found, const std::string& call, acl::Status wanted) {
  Need(found != acl::kSuccess, call + " succeeds; wanted a refusal");
  Need(wanted == acl::kSuccess || found == wanted,
       Answer(found, call) + "; wanted " + std::to_string(wanted));
  Tell(Answer(found, call));
}

void Case::Tell(const std::string& text) { told_ += (told_.empty() ? "" : "; ") + text; }
void Case::Note(const std::string& text) { differs_ += (differs_.empty() ? "" : "; ") + text; }

Finding Case::Result() const {
  if (!differs_.empty()) return {Outcome::kDiffers, differs_};
  return {only_tells_ ? Outcome::kTold : Outcome::kPass, told_};
}

std::vector<Check> AllChecks() {
  std::vector<Check> all;
  for (const auto& some :
       {SymbolChecks, DeviceChecks, QueueChecks, MemoryChecks, PhaseChecks, ViewChecks,
        PointwiseChecks, RowChecks, ProductChecks, MoveChecks, OpenQuestions}) {
    std::vector<Check> checks = some();
    all.insert(all.end(), std::make_move_iterator(checks.begin()),
               std::make_move_iterator(checks.end()));
  }
  return all;
}

}  // namespace ascend_check
