"""Which folder may include which: the arrows of the design, as one table.

base <- ir <- ops <- the rest of ge/; stages talk through Graph and Plan and never include each
other; host <- engine <- price <- place; compile drives every stage, tune compiles, a runtime
holds what sessions share, a session tunes, api wraps sessions, and none of them looks back; plugins see the SDK alone; frontend and passes never
see an engine.
"""

CORE = {"ge/base", "ge/ir", "ge/ops"}
STAGE = CORE | {"ge/plan", "ge/stage"}
# What a bound graph goes through on its way to a finished plan, and what that is made with.
COMPILED = {"ge/host", "ge/engine", "ge/price", "ge/place", "ge/partition", "ge/plan/check", "streams",
            "ge/memory", "ge/run", "ge/verify", "ge/infer"}
EVERYTHING = None  # no restriction

# Folder -> the folders whose headers it may include beside its own. The longest match counts.
ALLOWED = {
    "ge/base": set(),
    "ge/ir": {"ge/base"},
    "ge/ops": {"ge/base", "ge/ir"},
    "ge/wire": CORE | {"ge/plan"},
    "ge/stage": CORE | {"ge/plan"},
    "ge/verify": STAGE,
    "ge/infer": STAGE,
    "ge/host": {"ge/base", "sdk/include"},
    "ge/engine": STAGE | {"ge/host", "sdk/include"},
    "ge/price": STAGE | {"ge/engine", "ge/host", "sdk/include"},
    "ge/place": STAGE | {"ge/engine", "ge/price", "ge/host/probe.h", "sdk/include"},
    "ge/partition": STAGE,
    "ge/plan": CORE,
    # The prover shares no code with what it checks.
    "ge/plan/check": {"ge/base", "ge/ir", "ge/plan"},
    "ge/memory": STAGE,
    # The codecs are a library of their own: one C header is all that is known of them.
    "ge/image": set(),
    "ge/control": CORE | {"ge/image/ge_image.h", "ge/run"},
    "ge/run": {"ge/base", "ge/ir", "ge/plan", "sdk/include/ge/ge_plugin.h",
               "sdk/include/ge/ge_plugin.hpp"},
    "ge/compile": STAGE | COMPILED | {"sdk/include"},
    "ge/tune": STAGE | COMPILED | {"ge/compile", "frontend/text/text.h", "sdk/include"},
    "ge/runtime": {"ge/base", "ge/engine", "ge/host", "ge/price"},
    "ge/session": STAGE | COMPILED | {"ge/compile", "ge/tune", "ge/control", "ge/runtime",
                                      "frontend", "sdk/include"},
    "ge/api": STAGE | COMPILED | {"ge/compile", "ge/control", "ge/runtime", "ge/session",
                                  "frontend/state_file.h", "sdk/include"},
    "streams": STAGE,
    "frontend": CORE | {"ge/wire", "ge/plan", "ge/stage"},
    "passes": STAGE,
    # A plugin of its own: it sees what any plugin of passes sees.
    "passes/grad": {"sdk/include", "passes/grad/train"},
    "passes/grad/rules": {"sdk/include", "passes/grad"},
    "passes/grad/train": {"sdk/include", "passes/grad"},
    "sdk/include": set(),
    # Python has no door of its own.
    "sdk/python": {"sdk/include/ge/ge.h"},
    "sdk/samples": {"sdk/include"},
    "sdk/conform": {"sdk/include"},
    "sdk/scaffold": {"sdk/include"},
    "plugins": {"sdk/include"},
    # What our CPU engines share stands in one folder; it knows none of them.
    "plugins/cpu": {"sdk/include", "plugins/cpu/kit", "plugins/cpu/omp"},
    "plugins/cpu/kit": {"sdk/include", "plugins/cpu/omp"},
    "plugins/cpu/omp": {"sdk/include"},
    "examples": {"sdk/include"},
    "tools": EVERYTHING,
    "tests": EVERYTHING,
    "bindings": EVERYTHING,
}

TOP_FOLDERS = {folder.split("/")[0] for folder in ALLOWED}

# Folders in which each subfolder is a house of its own: a plugin may not include a sibling.
APART = {"plugins": 2, "plugins/cpu": 3, "plugins/gpu": 3, "sdk/samples": 3, "sdk/scaffold": 3,
         "examples": 2}

# Folders that may be built outside the tree and so include their own headers by bare name.
BARE_NAMES = ("sdk/", "examples/")


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def longest(path, folders):
    """The longest of `folders` that holds `path`, or ""."""
    return max((f for f in folders if inside(path, f)), key=len, default="")


def home(path):
    """The folder whose headers are `path`'s own."""
    apart = longest(path, APART)
    if apart:
        return "/".join(path.split("/")[:-1][:APART[apart]])
    return longest(path, ALLOWED)


def resolve(source, include, exists):
    """The path from the repository's root that `include` in `source` means, or None if foreign.

    `exists(path)` says whether the tree has such a file.
    """
    if exists("sdk/include/" + include):
        return "sdk/include/" + include
    if exists(include):
        return include
    if longest(include, ALLOWED) and include.endswith((".pb.h", ".inc")):
        return include  # generated into the build folder
    beside = "/".join(source.split("/")[:-1] + [include])
    return beside if exists(beside) else None


def problem(source, include, exists):
    """Why `source` may not include `include`, or ""."""
    folder = longest(source, ALLOWED)
    if not folder:
        top = "/".join(source.split("/")[:2])
        return f"folder {top} is in no rule; add it to ALLOWED in tools/lint/include_rules.py"
    target = resolve(source, include, exists)
    if target is None:
        if include.split("/")[0] in TOP_FOLDERS:
            return f"{include} does not exist; write the path from the repository's root"
        return ""  # a vendor's header, or the compiler's business
    if target != include and not target.startswith("sdk/include/") \
            and not source.startswith(BARE_NAMES):
        return f"{include} is relative; write {target}"
    if source.endswith("_test.cc") or ALLOWED[folder] is EVERYTHING:
        return ""
    own = home(source)
    if inside(target, own) and longest(target, ALLOWED) == folder:
        return ""
    for allowed in ALLOWED[folder]:
        # A folder that has its own row (plan/check) is not part of the row above it.
        if inside(target, allowed) and (allowed == "ge" or longest(target, ALLOWED) == allowed
                                        or target == allowed):
            return ""
    may = ", ".join(sorted(ALLOWED[folder])) or "nothing else"
    return f"{own} includes {target}; it may include itself and {may}"
