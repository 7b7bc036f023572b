"""The program `ge` that lies in the package, in this process's place."""
import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent / "bin" / "ge"


def main() -> None:
    """Ends this process: what follows is ge, with this process's arguments."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        # By its bare name it looks for its engines beside its file.
        os.execv(PROGRAM, ["ge", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"ge: {PROGRAM} cannot be started: {error.strerror}; install the package again")
