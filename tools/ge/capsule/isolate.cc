// ge isolate F.gecap NODE|#SEGMENT -o G.gecap|G.gt: a piece of a recorded run, with the values that
// it read and made, as a capsule of its own or as a case for ge-test.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "frontend/text/plan_text.h"
#include "ge/session/recorder.h"
#include "tools/ge/capsule/case_files.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/trial.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

Result<Piece> AskedPiece(const Recorded& r, const std::string& asked) {
  GE_ASSIGN_OR_RETURN(const Pieces pieces, Pieces::Of(r));
  if (!asked.starts_with('#')) return pieces.Named(asked);
  size_t segment = 0;
  const char* end = asked.data() + asked.size();
  const auto [stop, error] = std::from_chars(asked.data() + 1, end, segment);
  if (error == std::errc() && stop == end) return pieces.Segment(segment);
  return Status(
      Code::kInvalidArgument,
      fmt::format("'{:.64}' is no segment; wanted # and its number in ge explain", asked));
}

// The piece run by itself on the engine that it ran on, in a process of its own: the plan that
// gives the recorded bits again. Empty where there is none, or the engine is not here.
std::string PlanOf(const Recorded& r, const Options& asked, const Piece& piece) {
  Options o = OptionsLike(asked, r.manifest);
  const auto answer = InChild(o.seconds_a_trial, [&]() -> Result<TrialAnswer> {
    o.pins = {"*=" + piece.engine};
    GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
    GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
    GE_ASSIGN_OR_RETURN(const auto session, Session::Create(std::move(options)));
    GE_RETURN_IF_ERROR(session->LoadGraph(piece.graph));
    GE_RETURN_IF_ERROR(SetStates(r, session.get()));
    GE_ASSIGN_OR_RETURN(const auto compiled,
                        session->CompileApart("main", piece.inputs, session->build_options()));
    GE_ASSIGN_OR_RETURN(OutputBuffers outputs, MakeOutputs(*compiled));
    GE_RETURN_IF_ERROR(session->RunApart(compiled.get(), piece.inputs, outputs.views));
    for (size_t i = 0; i < outputs.views.size() && i < piece.recorded.size(); ++i) {
      const TensorView& v = outputs.views[i];
      const auto& wanted = piece.recorded[i];
      if (v.bytes != wanted.size() || std::memcmp(v.data, wanted.data(), v.bytes) != 0) {
        return TrialAnswer();
      }
    }
    const std::string text = PrintPlan(compiled->plan);
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return TrialAnswer{{bytes, bytes + text.size()}};
  });
  if (!answer.ok() || answer->empty()) return {};
  return {reinterpret_cast<const char*>((*answer)[0].data()), (*answer)[0].size()};
}

Status IsolatePiece(const Options& o) {
  const bool as_case = o.output_file.ends_with(".gt");
  if (!as_case && !o.output_file.ends_with(".gecap")) {
    return Status(Code::kInvalidArgument,
                  fmt::format("-o is '{:.64}', wanted F.gecap or F.gt", o.output_file));
  }
  GE_ASSIGN_OR_RETURN(const Recorded r, OpenRecorded(o.model));
  GE_ASSIGN_OR_RETURN(Piece piece, AskedPiece(r, o.piece));
  if (piece.ended && as_case) {
    return Status(
        Code::kFailedPrecondition,
        "the recorded run ended in this piece, so that a case has nothing to expect; write "
        "a capsule: -o F.gecap");
  }
  TidyPiece(&piece);
  if (as_case) {
    GE_ASSIGN_OR_RETURN(
        const std::string text,
        CaseText(fmt::format("{} of {}, which ran on {}.", o.piece, o.model, piece.engine), piece));
    GE_RETURN_IF_ERROR(WriteFile(o.output_file, text));
  } else {
    const std::string plan = piece.ended ? "" : PlanOf(r, o, piece);
    GE_RETURN_IF_ERROR(WriteCaseCapsule(o.output_file, r, piece, plan));
  }
  fmt::print("{}: {} nodes from '{}', which ran on {}; {} inputs, {} outputs\n", o.output_file,
             piece.nodes.size(), piece.nodes[0], piece.engine, piece.inputs.size(),
             piece.outputs.size());
  return {};
}

}  // namespace

int Isolate(const Options& options) {
  const Status status = IsolatePiece(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
