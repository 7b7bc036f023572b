// Draw: element by element.
#include <fmt/format.h>

#include "tools/shardcheck/draw.h"

namespace ge::shardcheck {

void Drawer::Unary() {
  const NetValue x = Pick();
  if (Chance(25)) {  // of what is above zero
    const NetValue square = Put("Mul", {x.name, x.name}, x.dims, "", false);
    const NetValue more = Put("Add", {square.name, Scalar("f64", "0.5")}, x.dims, "", false);
    const NetValue tame = Put("Tanh", {x.name}, x.dims);
    if (Chance(30)) Put("Exp", {tame.name}, x.dims);
    Put(OneOf<const char*>({"Sqrt", "Log", "Reciprocal"}), {more.name}, x.dims);
    return;
  }
  if (Chance(10)) {
    Put("Clip", {x.name, Scalar("f64", "-0.7"), Scalar("f64", "0.9")}, x.dims);
    return;
  }
  const char* op = OneOf<const char*>(
      {"Relu",      "Relu",        "Tanh",      "Sigmoid",        "Gelu",     "Abs",
       "Neg",       "Sin",         "Cos",       "Softplus",       "Erf",      "Elu",
       "LeakyRelu", "HardSigmoid", "Softsign",  "Selu",           "Identity", "Atan",
       "Celu",      "Mish",        "HardSwish", "ge.StopGradient"});
  Put(op, {x.name}, x.dims);
}

void Drawer::Binary() {
  const NetValue x = Pick();
  const auto other = PickLike(x.dims);
  std::string y = other && Chance(55) ? other->name : Weight(Under(x.dims));
  const std::string op =
      OneOf<const char*>({"Add", "Add", "Add", "Sub", "Mul", "Mul", "Max", "Min", "Div", "PRelu"});
  if (op == "PRelu") {
    Put(op, {x.name, Weight(Under(x.dims))}, x.dims);
    return;
  }
  if (op == "Div") {  // by one and a half at least
    const NetValue v = Put("Tanh", {x.name}, x.dims, "", false);
    const NetValue by = Put("Add", {v.name, Scalar("f64", "2.5")}, x.dims);
    Put(op, {other ? other->name : x.name, by.name}, x.dims);
    return;
  }
  if (op == "Mul") y = other && Chance(50) ? Tame(*other).name : Weight(Under(x.dims));
  Put(op, Chance(80) ? std::vector<std::string>{x.name, y} : std::vector<std::string>{y, x.name},
      x.dims);
}

void Drawer::Choose() {
  const NetValue x = Pick();
  const auto other = PickLike(x.dims);
  const NetValue which =
      Put(OneOf<const char*>({"Greater", "Less", "GreaterOrEqual"}),
          {x.name, Chance(50) ? Weight(Under(x.dims), 0.5) : other->name}, x.dims, "", false);
  const std::string otherwise = Chance(50) ? Weight(Under(x.dims)) : other->name;
  Put("Where", {which.name, Tame(x).name, otherwise}, x.dims);
}

void Drawer::Several() {
  const NetValue x = Pick();
  std::vector<std::string> in = {x.name};
  for (int64_t i = Draw(1, 3); i > 0; --i) {
    in.push_back(Chance(50) ? Weight(Under(x.dims)) : PickLike(x.dims)->name);
  }
  Put(OneOf<const char*>({"Sum", "Mean", "Max", "Min"}), in, x.dims);
}

void Drawer::Drop() {
  const NetValue x = Pick();
  Put("Dropout", {x.name, Scalar("f64", Chance(50) ? "0.3" : "0.5")}, x.dims);
}

}  // namespace ge::shardcheck
