"""Reads rooms.txt: every folder of sources, what it is, what builds it, what it may include.

The file's own first comment says what its columns mean. `read(root)` gives a Rooms; it raises
ValueError with the line's number where the file cannot be read.
"""
import pathlib
import re

NAME = "rooms.txt"
COLUMNS = 5


class Room:
    """A line of the file."""

    def __init__(self, line, fields):
        self.line, (folder, self.built_by, self.mutated, may, self.sentence) = line, fields
        self.deep = folder.endswith("/**")  # all folders below it, too
        self.folder = folder.removesuffix("/**")
        self.words = may.split()  # as written
        self.house = self.folder  # the room whose house it shares
        self.may = []  # rooms, ROOM/**, headers

    @property
    def planned(self):
        return self.built_by == "planned"

    @property
    def why_not_mutated(self):
        """The reason, or "" of a room that is mutated."""
        return self.mutated.removeprefix("no: ") if self.mutated.startswith("no: ") else ""


class Rooms:
    """The table, in the order of the arrows."""

    def __init__(self, text):
        self.rooms, self.sets, self.by_folder = [], {}, {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            if re.search(r"[;\[\]]", line):
                raise ValueError(f"{NAME}:{number}: a semicolon or a bracket, which CMake takes for its own")
            if line.startswith("@"):
                name, words = line.split(" = ", 1)
                self.sets[name] = self.spelled_out(number, words.split())
            else:
                self.add(number, line)

    def add(self, number, line):
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != COLUMNS:
            raise ValueError(f"{NAME}:{number}: {len(fields)} columns, not {COLUMNS}")
        room = Room(number, fields)
        if room.folder in self.by_folder:
            raise ValueError(f"{NAME}:{number}: {room.folder} a second time")
        if room.mutated != "yes" and not room.why_not_mutated:
            raise ValueError(f"{NAME}:{number}: '{room.mutated}' is neither 'yes' nor 'no: REASON'")
        if room.words[0] == "in":
            host = self.by_folder.get(room.words[1])
            if host is None:
                raise ValueError(f"{NAME}:{number}: {room.words[1]} stands in no line above")
            room.house, room.may = host.house, host.may
        elif room.words == ["*"]:
            room.may = [f"{above.folder}/**" for above in self.rooms]
        elif room.words != ["-"]:
            room.may = self.spelled_out(number, room.words)
            self.check_order(number, room)
        self.rooms.append(room)
        self.by_folder[room.folder] = room

    def spelled_out(self, number, words):
        """The words, with those of a set in the place of its name."""
        found = []
        for word in words:
            if word.startswith("@") and word not in self.sets:
                raise ValueError(f"{NAME}:{number}: {word} is defined in no line above")
            found += self.sets.get(word, [word])
        return found

    def check_order(self, number, room):
        for word in room.may:
            folder = word.removesuffix("/**")
            below = folder != word and any(f.startswith(folder + "/") for f in self.by_folder)
            if folder not in self.by_folder and self.holds(folder) is None and not below:
                raise ValueError(f"{NAME}:{number}: {room.folder} may include {word}, which stands in "
                                 "no line above: arrows go up the table")

    def of(self, folder):
        """The room that `folder` is, or None."""
        if folder in self.by_folder:
            return self.by_folder[folder]
        parts = folder.split("/")
        for n in range(len(parts) - 1, 0, -1):
            room = self.by_folder.get("/".join(parts[:n]))
            if room is not None and room.deep:
                return room
        return None

    def holds(self, path):
        """The room of a file, or None."""
        return self.of(path.rpartition("/")[0])

    def allows(self, room, path):
        """Whether a file of `room` may include `path`."""
        target = self.holds(path)
        if target is None:
            return False
        if target.house == room.house:
            return True
        for word in room.may:
            folder = word.removesuffix("/**")
            if path == word or target.folder == folder:
                return True
            if word.endswith("/**") and target.folder.startswith(folder + "/"):
                return True
        return False

    def mutated(self):
        """Folders that the mutation sweep changes, in the table's order."""
        return [room.folder for room in self.rooms if room.mutated == "yes"]


def read(root):
    return Rooms((pathlib.Path(root) / NAME).read_text())
