#!/usr/bin/env python3
"""Writes a second copy of ref's kernels in which Real (tools/adcheck/real.h), a number that knows its
derivatives, stands for double: the exact oracle of ge-adcheck. The copies go into the build folder,
so that they never differ from the kernels that the engine runs.

Example: tools/gen/dual_kernels.py plugins/ref build/release/gen/adcheck
"""
import pathlib
import re
import sys

# Kernels without a derivative, or whose numbers are bits: there is nothing that a dual number could
# do in them.
LEFT_OUT = re.compile(r"^(onnx_ml_.*|ml_.*|q_linear_.*|quantize.*|.*quantize_linear|quantized_product|"
                      r"random_.*|bernoulli|multinomial|philox|bit_.*|bitwise_.*|cast|cast_like|"
                      r"classify|.*_integer|integer_conv|is_inf|is_nan|.*_window|signal_window|"
                      r"mel_weight_matrix|constant|eye_like|max_roi_pool)\.(cc|h)$")
SHARED = ["kernel.h", "kernel.cc", "checks.h", "loop_nest.h", "stop.h"]
MATH = ("exp exp2 expm1 log log1p log2 log10 sqrt cbrt pow sin cos tan asin acos atan sinh cosh tanh asinh "
        "acosh atanh erf fabs abs fmax fmin fmod floor ceil round nearbyint trunc rint isnan isinf isfinite "
        "signbit copysign max min clamp").split()
RULES = [
    (re.compile(r'#include "plugins/ref/'), '#include "adcheck/ref/'),
    (re.compile(r"\bnamespace ref\b"), "namespace refdual"),
    (re.compile(r"\bref::"), "refdual::"),
    (re.compile(r"\bdouble\b"), "Real"),
    (re.compile(r"\bstd::(%s)\b" % "|".join(MATH)), r"num::\1"),
    (re.compile(r"\bstd::is_floating_point_v<"), "kIsPlainFloat<"),
    # Sizes of elements are those of Real, for what moves bytes as well.
    (re.compile(r"\bge::plugin::(ElementBits|TensorBytes)\b"), r"\1"),
    (re.compile(r"AttrFloat\(\*node_, name, absent\)"), "AttrFloat(*node_, name, absent.v)"),
    (re.compile(r"(static_cast<uint64_t>\(size\)) \* 8;"), r"\1 * sizeof(Real);"),
    (re.compile(r"\bas<float>\(\)"), "as<Real>()"),
    (re.compile(r"\b(CopyRun|ReplaceRun)<16>"), r"\1<sizeof(Real)>"),
    (re.compile(r"\bsize == 16\b"), "size == sizeof(Real)"),
    (re.compile(r"\bcase 16:"), "case sizeof(Real):"),
    (re.compile(r"\bintegral_constant<(\w+), 16>"), r"integral_constant<\1, sizeof(Real)>"),
    (re.compile(r"\[16\]( = \{\})?;"), r"[sizeof(Real)]\1;"),
    (re.compile(r"uint64_t part\[2\]"), "uint64_t part[sizeof(Real) / sizeof(uint64_t)]"),
]


def dual(text):
    for pattern, to in RULES:
        text = pattern.sub(to, text)
    return '#include "adcheck/ref/scalar.h"\n' + text


def write(path, text):
    """Leaves a file alone that has this text, so that nothing is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    source, to = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    kernels = sorted(p for p in (source / "kernels").iterdir() if p.suffix in (".cc", ".h"))
    kernels = [p for p in kernels if not LEFT_OUT.match(p.name)]
    for name in SHARED:
        write(to / "ref" / name, dual((source / name).read_text()))
    write(to / "ref/scalar.h", '#include "tools/adcheck/real_scalar.h"\n')
    table = []
    for p in kernels:
        write(to / "ref/kernels" / p.name, dual(p.read_text()))
        if p.suffix == ".cc":
            table.append(p.stem)
    write(to / "ref/ref_table.inc", "".join(f"GE_REF_ENTRY({stem})\n" for stem in table))
    if len(sys.argv) > 3:  # for CMake: what it compiles
        print(";".join(str(to / "ref/kernels" / f"{stem}.cc") for stem in table), end="")


if __name__ == "__main__":
    main()
