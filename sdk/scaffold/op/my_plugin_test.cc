// Tests my_plugin as a program does that loads it, by ge.h: models with its operator give what is
// worked out here. The first argument is the plugin's file.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "ge/ge.h"

namespace {

int g_faults = 0;

void Expect(bool good, const std::string& what, const std::string& found) {
  if (good) return;
  ++g_faults;
  std::printf("FAILED  %s: %s\n", what.c_str(), found.c_str());
}

std::string Model(const std::string& dims, const std::string& node) {
  return "ge 1\nopset \"\" 28\nopset \"my_plugin\" 1\nfn main(x: f32[" + dims +
         "]) -> (y) {\n  y = " + node + "\n}\nentry infer \"main\" = main\n";
}

// The model's y for this x, of one dim; empty, and *error says why, where it does not run.
std::vector<float> Run(const char* plugin, const std::string& model, std::vector<float> x,
                       ge_error* error) {
  ge_session_options options = {};
  options.size = sizeof options;
  options.plugins = plugin;
  ge_session* session = nullptr;
  std::vector<float> y(x.size());
  ge_tensor in = {}, out = {};
  in.size = out.size = sizeof in;
  in.dtype = 1 /* float32 */;
  in.rank = 1;
  in.dims[0] = static_cast<int64_t>(x.size());
  in.data = x.data();
  in.bytes = x.size() * sizeof(float);
  out.data = y.data();
  out.bytes = in.bytes;
  const bool good = ge_session_create(&options, &session, error) == GE_STATUS_OK &&
                    ge_session_load_bytes(session, model.data(), model.size(), GE_FORMAT_TEXT,
                                          error) == GE_STATUS_OK &&
                    ge_session_run(session, nullptr, &in, 1, &out, 1, error) == GE_STATUS_OK;
  if (!good) y.clear();
  ge_session_destroy(session);
  return y;
}

void TestSquash(const char* plugin, const std::string& dims, const std::string& attributes,
                float limit) {
  ge_error error = {};
  error.size = sizeof error;
  const std::vector<float> x = {-3, -0.5f, 0, 0.25f, 100};
  const std::string node = "my_plugin.Squash(x) " + attributes;
  const std::vector<float> y = Run(plugin, Model(dims, node), x, &error);
  Expect(y.size() == x.size(), node + " runs", error.message);
  for (size_t i = 0; i < y.size(); ++i) {
    const float wanted = limit * x[i] / (1 + std::fabs(x[i]));
    Expect(std::fabs(y[i] - wanted) <= 1e-6f * limit, node + " of " + std::to_string(x[i]),
           std::to_string(y[i]) + ", wanted " + std::to_string(wanted));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s PLUGIN.so\n", argv[0]), 2;
  TestSquash(argv[1], "5", "", 1);
  TestSquash(argv[1], "5", "{limit=2.5}", 2.5f);
  TestSquash(argv[1], "N", "{limit=0.5}", 0.5f);
  ge_error error = {};
  error.size = sizeof error;
  Run(argv[1],
      "ge 1\nopset \"my_plugin\" 1\nfn main(x: i64[5]) -> (y) {\n  y = my_plugin.Squash(x)\n}\n"
      "entry infer \"main\" = main\n",
      {1, 2, 3, 4, 5}, &error);
  Expect(std::string(error.message).find("Squash") != std::string::npos,
         "integers are refused by name", error.message);
  std::printf("%d faults\n", g_faults);
  return g_faults == 0 ? 0 : 1;
}
