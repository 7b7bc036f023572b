#!/usr/bin/env python3
"""Writes the plugin headers as another version of the ABI would have them, for tests of what happens
when host and plugin are not of one version: other GE_ABI_MAJOR, GE_ABI_MINOR and GE_HEADER_HASH; every
struct that has a header is longer by --grow words, filled with rubbish where C++ makes it; and, with
--extend, GE_HDR chains an extension of tag 0x9abc that nobody knows to every struct.

That extension may be skipped, but for the struct whose tag the macro GE_VARIANT_MUST names, or, where
GE_VARIANT_ASKS is defined, the environment variable GE_VARIANT_MUST.

Example: tools/gen/abi_variant.py --abi 1.7 --grow 9 --extend OUT   # OUT/ge/ge_plugin.h and others
"""
import argparse
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAGS = 64  # more than there are
RUBBISH = "0xa5a5a5a5a5a5a5a5ull"

EXTENSION = """
#ifdef GE_VARIANT_ASKS
static inline int ge_variant_must(void) {{
  const char* text = getenv("GE_VARIANT_MUST");
  return text ? atoi(text) : 0;
}}
#define GE_VARIANT_MUST ge_variant_must()
#endif
#ifndef GE_VARIANT_MUST
#define GE_VARIANT_MUST 0
#endif
#define GE_VARIANT_ONE(tag) {{sizeof(ge_hdr), 0x9abc, (tag) == GE_VARIANT_MUST, 0}}
static const ge_hdr ge_variant_next[{tags}] = {{{ones}}};
"""


def grown(text, words):
    """Every struct with a header ends in `words` words more. Answers the text and how many did."""
    tail = f"\n#ifdef __cplusplus\n  uint64_t variant_tail[{words}] = {{{', '.join([RUBBISH] * words)}}};" \
           f"\n#else\n  uint64_t variant_tail[{words}];\n#endif\n"

    def longer(m):
        if not re.search(r"^\s*ge_hdr h;", m.group(2), re.M):
            return m.group(0)
        return f"typedef struct {m.group(1)} {{{m.group(2)}{tail}}} {m.group(1)};"

    pattern = r"typedef struct (\w+) \{(.*?)\n\} \1;"
    count = sum(bool(re.search(r"^\s*ge_hdr h;", m.group(2), re.M))
                for m in re.finditer(pattern, text, re.S))
    return re.sub(pattern, longer, text, flags=re.S), count


def replaced(text, pattern, by):
    """The one place that the pattern finds."""
    out, n = re.subn(pattern, lambda m: by, text, flags=re.S)
    if n != 1:
        raise SystemExit(f"abi_variant.py: '{pattern}' is in ge_plugin.h {n} times, wanted once")
    return out


def extended(text):
    ones = ", ".join(f"GE_VARIANT_ONE({i})" for i in range(TAGS))
    text = replaced(text, r"#include <stdint.h>\n", "#include <stdint.h>\n#include <stdlib.h>\n")
    macro = r"#define GE_HDR\(type, tag\) \\\n  \{[^\n]*\}\n"
    return replaced(text, macro, EXTENSION.format(tags=TAGS, ones=ones) +
                    "#define GE_HDR(type, tag) \\\n  { (uint32_t)sizeof(type), (uint16_t)(tag), 0, "
                    "&ge_variant_next[tag] }\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--abi", default="1.0", help="MAJOR.MINOR")
    parser.add_argument("--grow", type=int, default=0, help="words that each struct has more")
    parser.add_argument("--extend", action="store_true")
    parser.add_argument("out", type=pathlib.Path, help="folder; headers go to OUT/ge")
    args = parser.parse_args()
    major, minor = args.abi.split(".")
    structs = 0
    (args.out / "ge").mkdir(parents=True, exist_ok=True)
    for header in sorted((ROOT / "sdk/include/ge").glob("ge_plugin*")):
        text = header.read_text()
        if header.name == "ge_plugin.h":
            text = replaced(text, r"#define GE_ABI_MAJOR \w+", f"#define GE_ABI_MAJOR {major}u")
            text = replaced(text, r"#define GE_ABI_MINOR \w+", f"#define GE_ABI_MINOR {minor}u")
            text = replaced(text, r"#define GE_HEADER_HASH \w+",
                            f"#define GE_HEADER_HASH 0x{int(major):08x}{int(minor):08x}ull")
            text = extended(text) if args.extend else text
        if args.grow and header.suffix == ".h":
            text, more = grown(text, args.grow)
            structs += more
        to = args.out / "ge" / header.name
        if not to.exists() or to.read_text() != text:
            to.write_text(text)
    print(f"{args.out}: ABI {args.abi}, {structs} structs longer by {args.grow} words")


if __name__ == "__main__":
    main()
