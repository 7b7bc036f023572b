#include "case.h"
namespace ge::conform {
std::vector<Case> MemoryCases() { return {}; }
std::vector<Case> OrderCases() { return {}; }
std::vector<Case> CostCases() { return {}; }
std::vector<Case> OverheadCases() { return {}; }
std::vector<Case> FaultCases() { return {}; }
std::vector<Case> RandomCases() { return {}; }
}
