"""Rows of operators that work element by element."""
import numpy as np

from operator_rows import flat, row

FLOATS = "f32 f16 f64"
INTEGERS = "i64 i32 i8 u8"


def one(d, n):
    return [d.x(*flat(n))]


def unit(d, n):
    return [d.within(-0.99, 0.99, *flat(n))]


def positive(d, n):
    return [d.within(1, 100, *flat(n))]


def two(d, n):
    return [d.x(*flat(n)), d.x(*flat(n))]


def apart(d, n):
    """The second has no zero."""
    return [d.x(*flat(n)), d.within(1, 50, *flat(n))]


def scalar(d, n):
    return [d.x(*flat(n)), d.const(3)]


def bias(d, n):
    return [d.x(*flat(n)), d.weight(flat(n)[1])]


def channels(d, n):
    wide = max(1, int((n / 32) ** 0.5))
    return [d.x(1, 32, wide, wide), d.x(1, 32, 1, 1)]


def clip(d, n):
    return [d.x(*flat(n)), d.const(1), d.const(40)]


def where(d, n):
    return [d.ints(2, *flat(n), dtype=np.bool_), d.x(*flat(n)), d.x(*flat(n))]


def shift(d, n):
    return [d.x(*flat(n)), d.within(0, 7, *flat(n))]


def power(exponent):
    return lambda d, n: [d.within(1, 10, *flat(n)), d.const(exponent)]


def several(count):
    return lambda d, n: [d.x(*flat(n)) for _ in range(count)]


def odd_numbers(d, n):
    x = d.x(*flat(n))
    x.reshape(-1)[::7], x.reshape(-1)[::11] = np.inf, np.nan
    return [x]


def cast(to):
    number = {"f32": 1, "u8": 2, "i8": 3, "i32": 6, "i64": 7, "bool": 9, "f16": 10, "f64": 11,
              "bf16": 16}[to]
    return {"to": number}


def unary():
    row("Abs", f"{FLOATS} i64 i32 i8", one)
    row("Neg", f"{FLOATS} i64 i32 i8", one)
    row("Relu", f"{FLOATS} i32 i8", one)
    row("Sign", f"{FLOATS} bf16 i64 i32 i8", one)
    for name in ("Ceil", "Floor", "Reciprocal"):
        row(name, FLOATS, one)
    row("Round", FLOATS, one)
    row("Sqrt", FLOATS, positive)
    row("Log", FLOATS, positive)
    for name in ("Exp", "Sigmoid", "Tanh"):
        row(name, FLOATS, one)
    for name in ("Sin", "Cos"):
        row(name, FLOATS, one)
    row("Tan", "f32 f16", unit)
    for name in ("Asin", "Acos", "Atan", "Atanh"):
        row(name, "f32", unit)
    for name in ("Sinh", "Cosh", "Asinh"):
        row(name, "f32", one)
    row("Acosh", "f32", positive)
    row("Erf", "f32 f16", one)
    row("Celu", "f32", one)
    for name in ("Elu", "Selu", "Softplus", "Softsign", "HardSigmoid", "LeakyRelu",
                 "ThresholdedRelu", "HardSwish", "Mish"):
        row(name, "f32 f16", one)
    row("Gelu", "f32 f16", one)
    row("Gelu", "f32", one, {"approximate": "tanh"}, kind="tanh")
    row("Shrink", "f32 f16 f64 i32", one, {"lambd": 0.5})
    row("IsNaN", f"{FLOATS} bf16", odd_numbers)
    row("IsInf", f"{FLOATS} bf16", odd_numbers)
    row("Not", "bool", one)
    row("BitwiseNot", INTEGERS, one)
    row("Clip", f"{FLOATS} i64 i32 i8 u8", clip)
    row("PRelu", "f32 f16", lambda d, n: [d.x(*flat(n)), d.weight(flat(n)[1])])
    row("Dropout", "f32 f64", lambda d, n: [d.x(*flat(n)), d.const(0.5, np.float32)])
    row("Dropout", "f32", lambda d, n: [d.x(*flat(n)), d.const(0.5), d.const(True, np.bool_)],
        kind="training", drawn=True)


def binary():
    for name in ("Add", "Sub", "Mul"):
        row(name, f"{FLOATS} {INTEGERS} i16", two)
    row("Div", f"{FLOATS} {INTEGERS}", apart)
    row("Add", "f32 f16 i64", scalar, kind="scalar")
    row("Mul", "f32 f16 f64", scalar, kind="scalar")
    row("Add", "f32 f16", bias, kind="bias")
    row("Mul", "f32 f16", channels, kind="channels")
    row("Mod", "i64 i32 u8", apart)
    row("Mod", "f32 f64", apart, {"fmod": 1}, kind="fmod")
    row("Pow", "f32 f16 f64 i64 i32", power(2), kind="square")
    row("Pow", "f32 f64", power(0.5), kind="root")
    row("Pow", "f32 f64", lambda d, n: [d.within(1, 10, *flat(n)), d.x(*flat(n))])
    for name in ("Max", "Min"):
        row(name, f"{FLOATS} {INTEGERS}", two)
    for name in ("Sum", "Mean"):
        row(name, "f32 f16", several(3))
    for name in ("Equal", "Less", "Greater"):
        row(name, f"{FLOATS} {INTEGERS}", two)
    for name in ("LessOrEqual", "GreaterOrEqual"):
        row(name, "f32 f64 i64 i32", two)
    row("Equal", "i64", scalar, kind="scalar")
    row("Equal", "bool", two)
    for name in ("And", "Or", "Xor"):
        row(name, "bool", two)
    for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        row(name, INTEGERS, two)
    row("BitShift", "u8 u32", shift, {"direction": "LEFT"})
    row("Where", f"{FLOATS} {INTEGERS}", where)
    row("Where", "f32 i64", lambda d, n: [d.ints(2, *flat(n), dtype=np.bool_), d.x(*flat(n)),
                                               d.const(0)], kind="scalar")


def casts():
    for name in ("f32", "f16", "bf16", "f64", "i64", "i32", "i8", "u8", "bool"):
        for to in ("f32", "f16", "bf16", "i64", "i32", "u8", "bool", "f64"):
            usual = name == "f32" or to == "f32" or {name, to} <= {"i64", "i32", "bool"}
            if name != to and usual:
                row("Cast", name, one if to != "u8" else positive, cast(to), kind=f"to {to}")
    row("CastLike", "f32 i64", lambda d, n: [d.x(*flat(n)), d.ints(3, 1, dtype=np.int32)])
    row("BitCast", "f32 i32", one, lambda d, n: cast("i32" if d.real else "f32"))


unary()
binary()
casts()
