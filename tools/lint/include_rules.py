"""Which folder may include which: what rooms.txt says, asked of one include at a time."""

TESTS = ("_test.cc", "_testing.h", "_testing.cc")
# Folders that may be built outside the tree and so include their own headers by bare name.
BARE_NAMES = ("sdk/", "examples/")


def resolve(source, include, exists, rooms):
    """The path from the repository's root that `include` in `source` means, or None if foreign.

    `exists(path)` says whether the tree has such a file.
    """
    if exists("sdk/include/" + include):
        return "sdk/include/" + include
    if exists(include):
        return include
    if rooms.holds(include) and include.endswith((".pb.h", ".inc")):
        return include  # generated into the build folder
    beside = "/".join(source.split("/")[:-1] + [include])
    return beside if exists(beside) else None


def problem(source, include, exists, rooms):
    """Why `source` may not include `include`, or ""."""
    room = rooms.holds(source)
    if room is None:
        return ""  # the rule names its folder once
    target = resolve(source, include, exists, rooms)
    if target is None:
        if include.split("/")[0] in {r.folder.split("/")[0] for r in rooms.rooms}:
            return f"{include} does not exist; write the path from the repository's root"
        return ""  # a vendor's header, or the compiler's business
    if target != include and not target.startswith("sdk/include/") \
            and not source.startswith(BARE_NAMES):
        return f"{include} is relative; write {target}"
    if source.endswith(TESTS) or rooms.allows(room, target):
        return ""
    may = " ".join(room.words)
    return f"{room.folder} includes {target}; rooms.txt:{room.line} lets it include itself and {may}"
