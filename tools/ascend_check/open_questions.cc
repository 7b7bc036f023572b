// What no caller of the interface shows: it is asked and told, nothing is judged. Each number is a
// call of its own; those that are taken are listed.
#include <limits>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

// Lists the numbers from `first` to `last` that are taken.
template <class Ask>
void Taken(Case& at, int first, int last, const Ask& ask) {
  at.OnlyTell();
  std::string text;
  for (int k = first, begin = 0, run = 0; k <= last + 1; ++k) {
    if (k <= last && ask(k) == acl::kSuccess) {
      begin = run++ == 0 ? k : begin;
      continue;
    }
    if (run == 0) continue;
    text += (text.empty() ? "" : " ") + std::to_string(begin) +
            (run == 1 ? "" : "-" + std::to_string(k - 1));
    run = 0;
  }
  at.Tell("of " + std::to_string(first) + " to " + std::to_string(last) +
          " taken: " + (text.empty() ? "none" : text));
}

void CastNumbers(Case& at) {
  Desk d(at);
  const Operand in = d.In({4}, acl::kF32);
  void* room = d.Block(256);
  Taken(at, 0, 40, [&](int k) {
    Operand out = in;
    out.type = static_cast<acl::DataType>(k);
    uint64_t bytes = 0;
    acl::Executor* executor = nullptr;
    return d.First(d.op.Cast, &bytes, &executor, in, out.type, d.ObjectAt(out, room));
  });
}
void FormatNumbers(Case& at) {
  Desk d(at);
  Operand in = d.In({1, 16, 4, 4}, acl::kF16), out = in;
  Taken(at, -1, 56, [&](int k) {
    in.format = out.format = static_cast<acl::Format>(k);
    uint64_t bytes = 0;
    acl::Executor* executor = nullptr;
    return d.First(d.op.Relu, &bytes, &executor, d.Object(in), d.Object(out));
  });
}
void CubeNumbers(Case& at) {
  Desk d(at);
  const Operand a = d.In({16, 16}, acl::kF32, 1), b = d.In({16, 16}, acl::kF32, 2);
  Taken(at, 0, 5, [&](int k) {
    uint64_t bytes = 0;
    acl::Executor* executor = nullptr;
    return d.First(d.op.Matmul, &bytes, &executor, a, b, d.Out({16, 16}, acl::kF32), k);
  });
}
void EventFlags(Case& at) {
  Place p(at);
  Taken(at, 0, 64, [&](int k) {
    acl::Event event = nullptr;
    return p.f.aclrtCreateEventExWithFlag(&event, static_cast<uint32_t>(k));
  });
}
void PlainEventFlags(Case& at) {
  Place p(at);
  if (p.f.aclrtCreateEventWithFlag == nullptr) Case::Skip("the library has none");
  Taken(at, 0, 64, [&](int k) {
    acl::Event event = nullptr;
    return p.f.aclrtCreateEventWithFlag(&event, static_cast<uint32_t>(k));
  });
}
void Policies(Case& at) {
  Place p(at);
  Taken(at, 0, 12, [&](int k) {
    void* block = nullptr;
    return p.f.aclrtMalloc(&block, 4096, static_cast<acl::MallocPolicy>(k));
  });
}
void MemoryKinds(Case& at) {
  Place p(at);
  at.OnlyTell();
  for (int k = 0; k < 12; ++k) {
    size_t left = 0, all = 0;
    if (p.f.aclrtGetMemInfo(static_cast<acl::MemoryKind>(k), &left, &all) != acl::kSuccess)
      continue;
    at.Tell(std::to_string(k) + ": " + std::to_string(left) + " of " + std::to_string(all));
  }
}
void CopyKinds(Case& at) {
  Place p(at);
  void *a = p.Block(64), *b = p.Block(64);
  p.Up(b, std::vector<unsigned char>(64, 1).data(), 64);
  Taken(at, 0, 8,
        [&](int k) { return p.f.aclrtMemcpy(a, 64, b, 64, static_cast<acl::CopyKind>(k)); });
}
void PageableAsync(Case& at) {
  Place p(at);
  at.OnlyTell();
  std::vector<unsigned char> host(64, 5);
  const acl::Status s =
      p.f.aclrtMemcpyAsync(p.Block(64), 64, host.data(), 64, acl::kHostToDevice, p.stream);
  const acl::Status wait = p.f.aclrtSynchronizeStream(p.stream);
  at.Tell("a copy on a stream from memory that is not page-locked answers " + std::to_string(s) +
          ", the wait " + std::to_string(wait));
}
void NullStream(Case& at) {
  Place p(at);
  at.OnlyTell();
  void* a = p.Block(64);
  const acl::Status s = p.f.aclrtMemsetAsync(a, 64, 1, 64, nullptr);
  at.Tell("a fill on the null stream answers " + std::to_string(s) + ", the wait " +
          std::to_string(p.f.aclrtSynchronizeStream(nullptr)));
}
void CopyOfNothing(Case& at) {
  Place p(at);
  at.OnlyTell();
  at.Tell("a copy of 0 bytes answers " +
          std::to_string(p.f.aclrtMemcpy(p.Block(64), 0, p.Block(64), 0, acl::kDeviceToDevice)));
}
void BoundsOfCopy(Case& at) {
  Place p(at);
  at.OnlyTell();
  std::vector<unsigned char> host(1 << 20);
  at.Tell("a copy of 1 MiB to a block of 96 bytes answers " +
          std::to_string(p.f.aclrtMemcpy(p.Block(64), host.size(), host.data(), host.size(),
                                         acl::kHostToDevice)));
}
void Saturation(Case& at) {
  Desk d(at);
  at.OnlyTell();
  const Operand in = d.In({2}, acl::kF32, Values{1e6, -1e6}), out = d.Out({2}, acl::kF16);
  d.Run(d.op.Cast, in, acl::kF16, out);
  const Values found = d.Read(out);
  at.Tell("a million as float16 is " + TextOf(found[0]));
}
void Infinities(Case& at) {
  Desk d(at);
  at.OnlyTell();
  const Operand in = d.In({2}, acl::kF16, Values{60000, -60000}), out = d.Out({2}, acl::kF16);
  d.Run(d.op.Muls, in, d.Number(2), out);
  at.Tell("twice 60,000 in float16 is " + TextOf(d.Read(out)[0]));
}
void NotANumber(Case& at) {
  Desk d(at);
  at.OnlyTell();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Operand a = d.In({2}, acl::kF32, Values{nan, 1}), b = d.In({2}, acl::kF32, Values{1, nan});
  const Operand most = d.Out({2}, acl::kF32), relu = d.Out({2}, acl::kF32);
  d.Run(d.op.Maximum, a, b, most);
  d.Run(d.op.Relu, a, relu);
  at.Tell("max(nan, 1) is " + TextOf(d.Read(most)[0]) + ", max(1, nan) " + TextOf(d.Read(most)[1]) +
          ", relu(nan) " + TextOf(d.Read(relu)[0]));
}
// Which operators want a workspace, for one shape of each.
void Workspaces(Case& at) {
  Desk d(at);
  at.OnlyTell();
  const Operand a = d.In({64, 64}, acl::kF16, 1), b = d.In({64, 64}, acl::kF16, 2);
  const Operand out = d.Out({64, 64}, acl::kF16);
  const auto ask = [&](const auto& op, auto... given) {
    uint64_t bytes = 0;
    acl::Executor* executor = nullptr;
    const acl::Status s = d.First(op, &bytes, &executor, given...);
    at.Tell(std::string(op.name) + " " +
            (s == acl::kSuccess ? std::to_string(bytes) : "answers " + std::to_string(s)));
  };
  ask(d.op.Abs, a, out);
  ask(d.op.Mul, a, b, out);
  ask(d.op.Matmul, a, b, out, acl::kKeepDtype);
  ask(d.op.Softmax, a, -1, out);
  ask(d.op.Permute, a, d.Ints({1, 0}), out);
}

}  // namespace

std::vector<Check> OpenQuestions() {
  return {
      {"told-dtypes", "rule:scalar-dtype", "Which numbers of dtypes aclnnCast takes.", CastNumbers},
      {"told-formats", "rule:format-by-rank", "Which numbers of formats aclnnRelu takes.",
       FormatNumbers},
      {"told-cube-math", "rule:cube-math", "Which numbers of cubeMathType aclnnMatmul takes.",
       CubeNumbers},
      {"told-event-flags", "rule:event-ex", "Which flags aclrtCreateEventExWithFlag takes.",
       EventFlags},
      {"told-event-plain", "rule:event-ex", "Which flags aclrtCreateEventWithFlag takes.",
       PlainEventFlags},
      {"told-policies", "rule:plus-32", "Which policies aclrtMalloc takes.", Policies},
      {"told-memories", "rule:plus-32", "Which kinds of memory aclrtGetMemInfo knows.",
       MemoryKinds},
      {"told-copy-kinds", "rule:dest-max", "Which kinds a copy on the device may have.", CopyKinds},
      {"told-pageable", "rule:async-pinned",
       "Whether a copy on a stream takes memory that is not page-locked.", PageableAsync},
      {"told-null-stream", "rule:two-phase", "Whether the null stream works.", NullStream},
      {"told-copy-nothing", "rule:dest-max", "What a copy of 0 bytes answers.", CopyOfNothing},
      {"told-copy-bounds", "rule:dest-max", "What a copy beyond a block answers.", BoundsOfCopy},
      {"told-saturation", "rule:soc-bf16", "What a number beyond float16 becomes.", Saturation},
      {"told-infinities", "rule:soc-bf16", "What a product beyond float16 becomes.", Infinities},
      {"told-nan", "rule:two-phase", "What becomes of a NaN.", NotANumber},
      {"told-workspaces", "rule:workspace", "What workspaces a few operators ask for.", Workspaces},
  };
}

}  // namespace ascend_check
