"""Finds the packages that a script needs: in this interpreter, or in the project's build/venv.

It installs nothing: tools/setup/install.sh does.
"""
import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv"


def enter(*packages):
    """Returns if `packages` can be imported; else restarts the script under build/venv.

    Ends the process with exit code 2 and the fix in words where neither has them.
    """
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    if not missing:
        return
    python = VENV / "bin" / "python"
    inside = pathlib.Path(sys.prefix).resolve() == VENV.resolve()
    if python.exists() and not inside and sys.argv[0] not in ("", "-c", "-"):
        os.execv(python, [str(python), *sys.argv])
    sys.stderr.write(f"{sys.argv[0]}: needs the Python package(s) {', '.join(missing)}, "
                     f"which {sys.executable} lacks; run: tools/setup/install.sh "
                     f"{'all' if set(missing) & {'openvino', 'highspy', 'netron'} else 'test'}\n")
    sys.exit(2)
