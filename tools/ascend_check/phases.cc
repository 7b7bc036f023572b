// The two phases of operators, and the objects that they take.
#include <cmath>
#include <thread>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

// A first phase of a softmax over rows of `n`, which is likely to want a workspace.
struct Row {
  Operand in, out;
  Values wanted;
};
Row RowOf(Desk& d, int64_t n, int64_t seed) {
  Row row{d.In({n}, acl::kF32, seed), d.Out({n}, acl::kF32), {}};
  double sum = 0;
  for (const double x : Some(n, seed)) sum += std::exp(x);
  for (const double x : Some(n, seed)) row.wanted.push_back(std::exp(x) / sum);
  return row;
}

struct Prepared {
  uint64_t bytes = 0;
  acl::Executor* executor = nullptr;
};
Prepared Prepare(Desk& d, const Row& row) {
  Prepared made;
  d.at.Ok(d.First(d.op.Softmax, &made.bytes, &made.executor, row.in, 0, row.out),
          "aclnnSoftmaxGetWorkspaceSize");
  Case::Need(made.executor != nullptr, "phase one succeeds and gives no executor");
  return made;
}
acl::Status Launch(Desk& d, const Prepared& p, void* workspace, acl::Stream stream) {
  return d.op.Softmax.second(workspace, p.bytes, p.executor, stream);
}
void* Room(Desk& d, const Prepared& p) { return p.bytes == 0 ? nullptr : d.Block(p.bytes); }

void Workspace(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 1000, 1);
  const Prepared p = Prepare(d, row);
  at.Tell(std::to_string(p.bytes) + " bytes for a softmax of 1,000");
  at.Ok(Launch(d, p, Room(d, p), d.stream), "aclnnSoftmax");
  d.Wait();
  d.Near(row.out, row.wanted);
}
void WorkspaceAgain(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 1000, 1);
  const uint64_t first = Prepare(d, row).bytes, second = Prepare(d, row).bytes;
  Case::Need(first == second, "the same call asks for " + std::to_string(first) + " bytes, then " +
                                  std::to_string(second));
}
// As the engine does at compile, where nobody knows the addresses yet.
void WorkspaceElsewhere(Case& at) {
  Desk d(at);
  Row row = RowOf(d, 1000, 1);
  const uint64_t known = Prepare(d, row).bytes;
  Row elsewhere = row;
  elsewhere.in.object = d.ObjectAt(row.in, reinterpret_cast<void*>(uintptr_t{512}));
  elsewhere.out.object = d.ObjectAt(row.out, reinterpret_cast<void*>(uintptr_t{1024}));
  const Prepared p = Prepare(d, elsewhere);
  Case::Need(p.bytes == known, "with other addresses it asks for " + std::to_string(p.bytes) +
                                   " bytes; with the right ones for " + std::to_string(known));
}
void ExecutorGivenBack(Case& at) {
  Desk d(at);
  if (d.o.aclDestroyAclOpExecutor == nullptr) Case::Skip("the library has none");
  for (int k = 0; k < 50; ++k) {
    at.Ok(d.o.aclDestroyAclOpExecutor(Prepare(d, RowOf(d, 100, k)).executor),
          "aclDestroyAclOpExecutor");
  }
}
void ExecutorOnce(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 100, 1);
  const Prepared p = Prepare(d, row);
  void* workspace = Room(d, p);
  at.Ok(Launch(d, p, workspace, d.stream), "aclnnSoftmax");
  d.Wait();
  at.Refused(Launch(d, p, workspace, d.stream), "a second launch of an executor");
}
void ExecutorOther(Case& at) {
  Desk d(at);
  const Prepared p = Prepare(d, RowOf(d, 100, 1));
  if (d.op.Abs.second == nullptr) Case::Skip("the library has no aclnnAbs");
  at.Refused(d.op.Abs.second(Room(d, p), p.bytes, p.executor, d.stream),
             "aclnnAbs with an executor of aclnnSoftmax");
}
void ExecutorsKept(Case& at) {
  Desk d(at);
  std::vector<Row> rows;
  std::vector<Prepared> prepared;
  for (int k = 0; k < 32; ++k) {
    rows.push_back(RowOf(d, 50 + k, k));
    prepared.push_back(Prepare(d, rows.back()));
  }
  for (size_t k = 32; k-- > 0;) {
    at.Ok(Launch(d, prepared[k], Room(d, prepared[k]), d.stream), "aclnnSoftmax");
  }
  d.Wait();
  for (const Row& row : rows) d.Near(row.out, row.wanted);
}
void WorkspaceShort(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 1000, 1);
  const Prepared p = Prepare(d, row);
  if (p.bytes == 0) Case::Skip("the operator asks for no workspace");
  at.Refused(d.op.Softmax.second(d.Block(p.bytes), p.bytes / 2, p.executor, d.stream),
             "half of the workspace");
}
void WorkspaceNull(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 1000, 1);
  const Prepared p = Prepare(d, row);
  if (p.bytes == 0) Case::Skip("the operator asks for no workspace");
  at.Refused(Launch(d, p, nullptr, d.stream), "a null workspace of " + std::to_string(p.bytes));
}
void WorkspaceShared(Case& at) {
  Desk d(at);
  const Row first = RowOf(d, 1000, 1), second = RowOf(d, 1000, 2);
  const Prepared a = Prepare(d, first), b = Prepare(d, second);
  void* workspace = Room(d, a);
  at.Ok(Launch(d, a, workspace, d.stream), "aclnnSoftmax");
  at.Ok(Launch(d, b, workspace, d.stream), "aclnnSoftmax in the same workspace");
  d.Wait();
  d.Near(first.out, first.wanted);
  d.Near(second.out, second.wanted);
}
void OtherThread(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 1000, 1);
  const Prepared p = Prepare(d, row);
  void* workspace = Room(d, p);
  acl::Status set = acl::kSuccess, launched = acl::kSuccess;
  std::thread([&] {
    set = d.f.aclrtSetCurrentContext(d.context);
    launched = Launch(d, p, workspace, d.stream);
  }).join();
  at.Ok(set, "aclrtSetCurrentContext in another thread");
  at.Ok(launched, "aclnnSoftmax in another thread");
  d.Wait();
  d.Near(row.out, row.wanted);
}
void StreamLater(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 100, 1);
  const Prepared p = Prepare(d, row);
  const acl::Stream later = d.Stream();
  at.Ok(Launch(d, p, Room(d, p), later), "aclnnSoftmax on a younger stream");
  at.Ok(d.f.aclrtSynchronizeStream(later), "aclrtSynchronizeStream");
  d.Near(row.out, row.wanted);
}

// ---- objects -----------------------------------------------------------------------------------

void ObjectsGone(Case& at) {
  Desk d(at);
  std::vector<Row> rows;
  for (int k = 0; k < 20; ++k) {
    const Row row = RowOf(d, 1000, k);
    const Prepared p = Prepare(d, row);
    at.Ok(Launch(d, p, Room(d, p), d.stream), "aclnnSoftmax");
    at.Ok(d.o.aclDestroyTensor(row.in), "aclDestroyTensor before the work is done");
    at.Ok(d.o.aclDestroyTensor(row.out), "aclDestroyTensor before the work is done");
    rows.push_back(row);
  }
  d.Wait();
  for (const Row& row : rows) d.Near(row.out, row.wanted);
}
void ObjectDestroyed(Case& at) {
  Desk d(at);
  const Row row = RowOf(d, 100, 1);
  at.Ok(d.o.aclDestroyTensor(row.in), "aclDestroyTensor");
  Prepared p;
  at.Refused(d.First(d.op.Softmax, &p.bytes, &p.executor, row.in, 0, row.out),
             "phase one with a destroyed tensor");
}
void ScalarCopied(Case& at) {
  Desk d(at);
  const Operand in = d.In({8}, acl::kF32), out = d.Out({8}, acl::kF32);
  float value = 3;
  acl::Scalar* number = d.o.aclCreateScalar(&value, acl::kF32);
  value = 100;
  d.Run(d.op.Muls, in, number, out);
  Values wanted;
  for (const double x : Some(8)) wanted.push_back(3 * x);
  d.Near(out, wanted);
  at.Ok(d.o.aclDestroyScalar(number), "aclDestroyScalar");
}
void IntsCopied(Case& at) {
  Desk d(at);
  const Operand in = d.In({2, 3}, acl::kF32), out = d.Out({3, 2}, acl::kF32);
  int64_t order[] = {1, 0};
  acl::IntArray* ints = d.o.aclCreateIntArray(order, 2);
  order[0] = order[1] = 77;
  d.Run(d.op.Permute, in, ints, out);
  const Values x = Some(6);
  d.Same(out, {x[0], x[3], x[1], x[4], x[2], x[5]});
  at.Ok(d.o.aclDestroyIntArray(ints), "aclDestroyIntArray");
}
void ListOwns(Case& at) {
  Desk d(at);
  const Operand a = d.In({2}, acl::kF32, Values{1, 2}), b = d.In({3}, acl::kF32, Values{3, 4, 5});
  const Operand out = d.Out({5}, acl::kF32);
  acl::TensorList* list = d.List({a, b});
  d.Start(d.op.Cat, list, 0, out);
  at.Ok(d.o.aclDestroyTensorList(list), "aclDestroyTensorList, with its tensors");
  d.Wait();
  d.Same(out, {1, 2, 3, 4, 5});
}
void LeftOut(Case& at) {
  Desk d(at);
  const Operand in = d.In({6}, acl::kF32, Values{-2, -1, 0, 1, 2, 3}), out = d.Out({6}, acl::kF32);
  d.Run(d.op.Clamp, in, d.Number(0), nullptr, out);
  d.Same(out, {0, 0, 0, 1, 2, 3});
}
void ScalarWide(Case& at) {
  Desk d(at);
  const Operand in = d.In({8}, acl::kF16), out = d.Out({8}, acl::kF16);
  d.Run(d.op.Muls, in, d.Number(2, acl::kF32), out);
  Values wanted;
  for (const double x : Some(8)) wanted.push_back(2 * x);
  d.Near(out, wanted);
}
void ShapesRefused(Case& at) {
  Desk d(at);
  Prepared p;
  at.Refused(d.First(d.op.Mul, &p.bytes, &p.executor, d.In({3}, acl::kF32), d.In({4}, acl::kF32),
                     d.Out({4}, acl::kF32)),
             "phase one of aclnnMul of dims [3] and [4]");
}
void ResultRefused(Case& at) {
  Desk d(at);
  Prepared p;
  at.Refused(d.First(d.op.Abs, &p.bytes, &p.executor, d.In({3}, acl::kF32), nullptr),
             "phase one without a result");
}
void NoAddress(Case& at) {
  Desk d(at);
  Prepared p;
  const Operand in = d.In({3}, acl::kF32);
  at.Refused(
      d.First(d.op.Abs, &p.bytes, &p.executor, d.ObjectAt(in, nullptr), d.Out({3}, acl::kF32)),
      "phase one of a tensor with elements and a null address");
}
void ViewBeyond(Case& at) {
  Desk d(at);
  Operand in = d.In({4}, acl::kF32);
  in.dims = {8};
  Prepared p;
  at.Refused(d.First(d.op.Abs, &p.bytes, &p.executor, d.Object(in), d.Out({8}, acl::kF32)),
             "phase one of a view beyond its storage");
}
void Empty(Case& at) {
  Desk d(at);
  d.Run(d.op.Abs, d.Out({0, 4}, acl::kF32), d.Out({0, 4}, acl::kF32));
}

}  // namespace

std::vector<Check> PhaseChecks() {
  return {
      {"phase-workspace", "rule:two-phase",
       "Phase one tells a workspace, and phase two works in it.", Workspace},
      {"phase-workspace-again", "rule:workspace", "The same call asks for the same workspace.",
       WorkspaceAgain},
      {"phase-workspace-elsewhere", "rule:workspace", "The workspace does not depend on addresses.",
       WorkspaceElsewhere},
      {"phase-workspace-short", "rule:workspace",
       "Fewer bytes than phase one asked for are refused.", WorkspaceShort},
      {"phase-workspace-null", "rule:workspace",
       "A null workspace is refused where bytes were asked for.", WorkspaceNull},
      {"phase-workspace-shared", "rule:workspace", "Two launches of a stream share a workspace.",
       WorkspaceShared},
      {"phase-executor-back", "rule:executor-once",
       "An executor that is not launched is given back.", ExecutorGivenBack},
      {"phase-executor-once", "rule:executor-once", "A second launch of an executor is refused.",
       ExecutorOnce},
      {"phase-executor-other", "rule:executor-once", "An executor of another operator is refused.",
       ExecutorOther},
      {"phase-executor-kept", "rule:executor-once",
       "Executors are launched in another order than they were made.", ExecutorsKept},
      {"phase-thread", "rule:two-phase", "Phase two runs in another thread than phase one.",
       OtherThread},
      {"phase-stream-later", "rule:two-phase", "Phase one needs no stream.", StreamLater},
      {"phase-objects-gone", "rule:objects-after-launch",
       "Tensors are destroyed once phase two has returned.", ObjectsGone},
      {"phase-object-destroyed", "rule:objects-after-launch", "A destroyed tensor is refused.",
       ObjectDestroyed},
      {"phase-scalar-copied", "rule:objects-after-launch",
       "A scalar holds the value that it was made with.", ScalarCopied},
      {"phase-ints-copied", "rule:objects-after-launch",
       "An array holds the values that it was made with.", IntsCopied},
      {"phase-list-owns", "rule:objects-after-launch", "A list is destroyed with its tensors.",
       ListOwns},
      {"phase-left-out", "rule:optional-null", "An argument is left out by a null pointer.",
       LeftOut},
      {"phase-scalar-dtype", "rule:scalar-dtype",
       "A scalar of float32 stands beside a tensor of float16.", ScalarWide},
      {"phase-shapes", "rule:two-phase", "Phase one refuses dims that do not meet.", ShapesRefused},
      {"phase-no-result", "rule:two-phase", "Phase one refuses a null result.", ResultRefused},
      {"phase-no-address", "rule:tensor-storage", "Phase one refuses a null address of elements.",
       NoAddress},
      {"phase-view-beyond", "rule:tensor-storage", "A view beyond its storage is refused.",
       ViewBeyond},
      {"phase-empty", "rule:tensor-storage", "A tensor without elements has a null address.",
       Empty},
  };
}

}  // namespace ascend_check
