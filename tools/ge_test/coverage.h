// ge-test --coverage MODEL...: the share of models' time for nodes that ref alone takes. Called
// once, by main.
#pragma once

namespace ge::test {

// Exit code: 0 every operator within the bound, 1 one beyond it, 2 bad arguments or a model without
// a plan.
int RunCoverage(int argc, char** argv);

}  // namespace ge::test
