// ge_mock_host.hpp: a small host for unit tests of plugins. It builds graph views, collects offers,
// compiles segments and launches them in buffers of its own, and complains where the contract of
// ge_plugin.h is broken: what a call was given becomes inaccessible when it returns, buffers have
// red zones, error structs and the floating-point mode are looked at. It plans nothing and is not
// fast. ge-conform is built on it. Header only, C++17, POSIX; link with -ldl -pthread.
//
//   ge::mock::Host host;
//   std::string why;
//   ge::mock::QueryFunction ask = ge::mock::LoadPlugin("./my_engine.so", &why);  // or
//   &ge_plugin_query ge::mock::Engine engine(ge::mock::AskPlugin(ask, host, {}, &why), host);
//   ge::mock::Graph g;
//   uint32_t a = g.Input(GE_F32, {2, 3}), b = g.Input(GE_F32, {2, 3});
//   g.Output(g.Op1("Add", {a, b}, {GE_F32, {2, 3}}));
//   ge::mock::Answer answer = engine.Query(g);
//   ge::mock::Compiler compiler(engine, g, answer);
//   auto exec = compiler.Compile(ge::mock::MakeSegment(g, answer, {{0, 0}}));
//   ge::mock::Launch launch(*exec);
//   launch.SetInput(0, bytes_of_a), launch.SetInput(1, bytes_of_b);
//   EXPECT_EQ(launch.Run(), GE_OK) << launch.error();
//   EXPECT_EQ(launch.Output(0), wanted);
//   EXPECT_TRUE(host.TakeComplaints().empty());
//
// Every object of the mock host must outlive what was made from it: host, engine, exec, launch.
#ifndef GE_MOCK_HOST_HPP_
#define GE_MOCK_HOST_HPP_

#include "ge/ge_mock_calls.hpp"
#include "ge/ge_mock_engine.hpp"
#include "ge/ge_mock_exec.hpp"
#include "ge/ge_mock_graph.hpp"
#include "ge/ge_mock_launch.hpp"
#include "ge/ge_mock_memory.hpp"
#include "ge/ge_mock_place.hpp"

#endif  // GE_MOCK_HOST_HPP_
