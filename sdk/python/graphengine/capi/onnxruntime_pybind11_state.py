"""The same by its other name."""
from graphengine.capi._pybind_state import *  # noqa: F401,F403 pylint: disable=wildcard-import,unused-wildcard-import
