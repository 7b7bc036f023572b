"""What checks of functions over Tensors share: counting, comparing, arguments."""
import argparse
import sys
import traceback

import graphengine
import numpy
from graphengine import _native

_counts = {"passed": 0, "failed": 0, "skipped": 0}
_parser = argparse.ArgumentParser()
_parser.add_argument("--examples", type=int, default=10)
_parser.add_argument("--only", default="")
_parser.add_argument("--engines", default="ref", help="'any' leaves it to the prices")
_parser.add_argument("--build")
_parser.add_argument("--scratch")


def check(name, good):
    """Counts one check and says which one failed."""
    _counts["passed" if good else "failed"] += 1
    if not good:
        print(f"FAILED  {name}")


def skip(why):
    """Counts one check that cannot be made here."""
    _counts["skipped"] += 1
    print(f"SKIPPED {why}")


def asked():
    return _parser.parse_args()


if asked().engines != "any":
    graphengine.configure(engines=asked().engines, threads=1)


def examples_asked():
    return asked().examples


def counted(name, call):
    """One check: `call` ends without an exception."""
    try:
        call()
        check(name, True)
    except Exception:  # pylint: disable=broad-except
        check(f"{name}: {traceback.format_exc()[-1500:]}", False)


def ended(*tests):
    """Counts each, prints the line of counts and ends the process."""
    for test in tests:
        counted(test.__name__, test)
    print(f"{_counts['passed']} passed, {_counts['failed']} failed, {_counts['skipped']} skipped")
    sys.exit(_counts["failed"] != 0)


def no_numbers_differ(found, wanted, what):
    """Type, shape and every element."""
    assert isinstance(found, _native.Tensor), f"{what}: found {type(found)}"
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and (found == wanted).all(), (
        f"{what}: found {found.dtype}{found.shape}\n{found}\nwanted {wanted.dtype}{wanted.shape}\n{wanted}")
