// ge.hpp's prepared runs and the node of an Error: prepared_sugar ENGINES, in the repository's
// root.
#include <cstdio>

#include "ge/ge.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: prepared_sugar ENGINES\n"), 2;
  int passed = 0, failed = 0;
  const auto check = [&](bool good, const char* what) {
    ++(good ? passed : failed);
    if (!good) std::printf("FAILED  %s\n", what);
  };
  try {
    graphengine::Session session(argv[1]);
    session.Load("tests/e2e/models/inspect.gt");
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    graphengine::Tensor in(1, {2, 4}, x, sizeof x), out;
    graphengine::Prepared prepared(session, {&in}, {&out}, "joined");
    prepared.Run();
    check(out.dims() == std::vector<int64_t>{4, 4}, "dims");
    check(out.data<float>()[15] == 8, "values");
    x[7] = 9;
    prepared.Run();
    check(out.data<float>()[15] == 9, "values of the second run");
    int64_t at = 7;
    graphengine::Tensor four(1, {4}, x, 16), index(7, {1}, &at, sizeof at);
    try {
      session.Run({&four, &index}, "take");
      check(false, "an index beyond the end is refused");
    } catch (const graphengine::Error& e) {
      check(e.node() == "lookup/gather", e.what());
    }
  } catch (const std::exception& e) {
    check(false, e.what());
  }
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
