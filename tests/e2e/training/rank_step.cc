// One rank of a training run by ge.h, as parallel.py starts it: takes steps on its rows of batches
// of numbers that follow from their place, in the dtype of the net's input, and prints each loss,
// then a digest of each state.
// Usage: rank_step NET PASS MESH|- RANK FIRST ROWS BATCH STEPS CLASSES DIM...
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ge/ge.hpp"

namespace {

uint64_t DigestOf(const void* data, uint64_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  }
  return hash;
}

void Check(ge_status status, const ge_error& error) {
  if (status != GE_STATUS_OK) throw std::runtime_error(error.message);
}

void PrintStates(ge_session* session) {
  ge_error error{};
  error.size = sizeof error;
  uint32_t n = 0;
  Check(ge_session_state_count(session, &n), error);
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    Check(ge_session_state_info(session, i, &info), error);
    uint64_t bytes = info.dtype == 1 ? 4 : 8;
    for (int32_t d = 0; d < info.rank; ++d) bytes *= static_cast<uint64_t>(info.dims[d]);
    std::vector<char> memory(bytes);
    ge_tensor t{};
    t.size = sizeof t;
    t.data = memory.data();
    t.bytes = bytes;
    Check(ge_session_get_state(session, info.name, &t, &error), error);
    std::printf("state %s %016llx\n", info.name,
                static_cast<unsigned long long>(DigestOf(memory.data(), bytes)));
  }
}

// The input of a step: rows [first, first + rows) of an endless table of `classes` kinds of rows.
template <typename T>
void Put(int64_t first, int64_t rows, int64_t row, int64_t classes, void* to) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = first + r, kind = at * 7 % classes;
    for (int64_t i = 0; i < row; ++i) {
      T& x = static_cast<T*>(to)[r * row + i];
      if constexpr (std::is_integral_v<T>) {
        x = (at * 31 + i * (1 + kind)) % 50;  // words
      } else {
        x = static_cast<T>(std::sin(static_cast<double>(at * 31 + i * (1 + kind))));
      }
    }
  }
}

double NumberIn(const graphengine::Tensor& t) {
  return t.dtype() == 1 ? *t.data<float>() : *t.data<double>();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 10) return std::fputs("usage: see the file\n", stderr), 2;
  const std::string pass = argv[2], mesh = argv[3];
  const bool many = mesh != "-";
  const int64_t first = std::atoll(argv[5]), rows = std::atoll(argv[6]),
                batch = std::atoll(argv[7]), steps = std::atoll(argv[8]),
                classes = std::atoll(argv[9]);
  std::vector<int64_t> dims = {rows};
  int64_t row = 1;
  for (int i = 10; i < argc; ++i) dims.push_back(std::atoll(argv[i]));
  for (size_t i = 1; i < dims.size(); ++i) row *= dims[i];
  ge_session_options options;
  ge_session_options_init(&options);
  const std::string passes =
      "train:" + pass +
      (many ? ",parallel:mesh=" + mesh + ";rank=" + argv[4] + ";batch=" + argv[7] : "");
  options.plugins = many ? "grad,parallel" : "grad";
  options.passes = passes.c_str();
  options.prices = GE_PRICES_SHIPPED;
  options.threads = 1;
  graphengine::Session session(options);
  session.Load(argv[1]);
  ge_tensor_info info{};
  info.size = sizeof info;
  ge_session_input_info(session.get(), nullptr, 0, &info);
  const bool narrow = info.dtype == 1;
  std::vector<char> x(static_cast<size_t>(rows * row) * (narrow ? 4 : 8));
  std::vector<int64_t> y(static_cast<size_t>(rows));
  graphengine::Tensor input{info.dtype, dims, x.data(), x.size()};
  graphengine::Tensor label{7, {rows}, y.data(), y.size() * sizeof(int64_t)};
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t from = s * batch + first;
    for (int64_t r = 0; r < rows; ++r) y[static_cast<size_t>(r)] = (from + r) * 7 % classes;
    (narrow             ? Put<float>
     : info.dtype == 11 ? Put<double>
                        : Put<int64_t>)(from, rows, row, classes, x.data());
    const auto out = session.Run({&input, &label}, "train_step");
    std::printf("loss %.17g\n", NumberIn(out[0]));
  }
  PrintStates(session.get());
  return 0;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
