// A session over a random graph, fed and read by position, for tests of whole plans. Tests
// only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ge/session/session.h"
#include "tests/unit/random_graph.h"

namespace ge::test {

// Folder of this build's sample plugins, with a slash at the end.
inline std::string SamplesFolder() {
  std::error_code error;
  const auto self = std::filesystem::canonical("/proc/self/exe", error);
  return (self.parent_path() / "../lib/samples").lexically_normal().string() + "/";
}

inline Result<std::unique_ptr<Session>> OpenGraph(const std::string& engines, Graph graph) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(graph)));
  return session;
}

struct Io {
  std::vector<std::vector<float>> in;
  std::vector<TensorView> views;
  explicit Io(uint64_t seed) : in(RandomInputs(seed)) {
    const int64_t side = RandomGraphOptions().side;
    for (auto& x : in) {
      views.push_back({DType::kFloat, {side, side}, x.data(), x.size() * sizeof(float)});
    }
  }
};

using Bytes = std::vector<std::vector<char>>;

inline Result<Bytes> RunOnce(Session* session, const Io& io) {
  const Function& f = session->graph().fn(1);
  std::vector<TensorView> out(f.results.size());
  Bytes bytes(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    bytes[i].resize(static_cast<size_t>(ByteCount(f.value(f.results[i]).type).value_or(0)), 'x');
    out[i].data = bytes[i].data();
    out[i].bytes = bytes[i].size();
  }
  GE_RETURN_IF_ERROR(session->Run("", io.views, out));
  return bytes;
}

// A session whose outputs are its own, as most callers have it.
inline Result<Bytes> RunAllocating(Session* session, const Io& io) {
  std::vector<TensorView> out(session->graph().fn(1).results.size());
  const Status ran = session->Run("", io.views, out);
  Bytes bytes;
  for (TensorView& t : out) {
    if (ran.ok())
      bytes.emplace_back(static_cast<char*>(t.data), static_cast<char*>(t.data) + t.bytes);
    AlignedBytes(static_cast<std::byte*>(t.data)).reset();
  }
  GE_RETURN_IF_ERROR(ran);
  return bytes;
}

}  // namespace ge::test
