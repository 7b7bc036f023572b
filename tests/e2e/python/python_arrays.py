"""Arrays of the Python package: what is read and written where it lies, what is copied and refused."""
import gc
import pathlib
import sys
import sysconfig
import warnings

import numpy as np

import graphengine
from python_checks import Noted, OnlyDlpack, check, identity, refused, run_all

THREE = "tests/e2e/models/three_nodes.gt"


def feed_of_three():
    rng = np.random.default_rng(3)
    return {name: rng.standard_normal(256, dtype=np.float32) for name in "abc"}


def expected(feed):
    a, b, c = (np.asarray(feed[name]) for name in "abc")
    return (a + b) * c + a


def inputs_lie_where_they_are(_):
    noted, session, feed = Noted(), graphengine.Session(THREE), feed_of_three()
    before = noted.runs()
    y = session.run(feed)["y"]
    check("the watched library ran", noted.runs() == before + 1)
    check("numpy in: the sum", np.allclose(y, expected(feed)))
    for i, name in enumerate("abc"):
        check(f"numpy in: {name} is not copied", noted.input(i) == feed[name].ctypes.data)
    check("numpy out: not copied", noted.output() == y.ctypes.data and y.base is not None)
    check("numpy out: may be written", y.flags.writeable and y.flags.c_contiguous)
    wrapped = {name: OnlyDlpack(array) for name, array in feed.items()}
    y = session.run(wrapped)["y"]
    check("DLPack in: the sum", np.allclose(y, expected(feed)))
    for i, name in enumerate("abc"):
        check(f"DLPack in: {name} is not copied", noted.input(i) == feed[name].ctypes.data)
    by_place = session.run([feed["a"], feed["b"], feed["c"]])["y"]
    check("inputs by position", np.array_equal(by_place, y))
    feed["b"].flags.writeable = False
    y = session.run(feed)["y"]
    check("a read-only input is not copied", noted.input(1) == feed["b"].ctypes.data)
    run = session.run_async(feed)
    y = run.result()["y"]
    check("async: inputs are not copied", noted.input(2) == feed["c"].ctypes.data)
    check("async: the sum", np.allclose(y, expected(feed)))


def outputs_lie_where_they_are(_):
    noted, session, feed = Noted(), graphengine.Session(THREE), feed_of_three()
    for kind in (lambda array: array, OnlyDlpack):
        mine = np.zeros(256, np.float32)
        given = kind(mine)
        y = session.run(feed, {"y": given})["y"]
        check("out: it is the caller's own object", y is given)
        check("out: written where it lies", noted.output() == mine.ctypes.data)
        check("out: the sum", np.allclose(mine, expected(feed)))
    taken = session.run(feed, outputs="dlpack")["y"]
    check("dlpack out: no array of numpy", not isinstance(taken, np.ndarray))
    array = np.from_dlpack(taken)
    check("dlpack out: not copied", array.ctypes.data == noted.output())
    check("dlpack out: the sum", np.allclose(array, expected(feed)))
    mine = np.zeros(256, np.float32)
    run = session.run_async(feed, out={"y": mine})
    check("async out: the caller's own", run.result()["y"] is mine)
    check("async out: where it lies", noted.output() == mine.ctypes.data)
    check("async out: the sum", np.allclose(mine, expected(feed)))


def outputs_outlive_their_session(_):
    session, feed = graphengine.Session(THREE), feed_of_three()
    y = session.run(feed)["y"]
    dl = session.run(feed, outputs="dlpack")["y"]
    session.close()
    del session
    gc.collect()
    check("an output after its session", np.allclose(y, expected(feed)))
    check("a DLPack output after its session", np.allclose(np.from_dlpack(dl), expected(feed)))


def resident_mb():
    text = pathlib.Path("/proc/self/statm").read_text()
    return int(text.split()[1]) * 4096 / 1e6


def outputs_are_given_back(_):
    session = identity("f32", "1000000")
    x = np.ones(1000000, np.float32)
    session.run({"x": x})
    before = resident_mb()
    for _ in range(200):
        session.run({"x": x})
        np.from_dlpack(session.run({"x": x}, outputs="dlpack")["y"])
    check(f"400 outputs of 4 MB stay at {before:.0f} MB: {resident_mb():.0f}",
          resident_mb() < before + 40)
    run = session.run_async({"x": x})
    first = run.result()
    check("a result may be asked for again", run.result() is first)


def outputs_are_used_again(_):
    """Memory of an output that nobody holds is that of the next one, and of no other."""
    session, n = identity("f32", "N"), 100000
    first = session.run({"x": np.full(n, 1, np.float32)})["y"]
    second = session.run({"x": np.full(n, 2, np.float32)})["y"]
    check("outputs that are held stay", (first == 1).all() and (second == 2).all())
    place = first.ctypes.data
    view = first[5:]
    del first
    third = session.run({"x": np.full(n, 3, np.float32)})["y"]
    check("a view holds its output", (view == 1).all() and third.ctypes.data != place)
    del view
    small = session.run({"x": np.full(7, 4, np.float32)})["y"]
    check("another shape has other memory", small.ctypes.data != place)
    fourth = session.run({"x": np.full(n, 5, np.float32)}, outputs="dlpack")["y"]
    fourth = np.from_dlpack(fourth)
    check("memory is used again", fourth.ctypes.data == place)
    check("by one alone", (fourth == 5).all() and (third == 3).all() and (second == 2).all()
          and (small == 4).all())
    session.close()
    del fourth
    check("outputs after their session", (third == 3).all())


def what_is_copied(_):
    noted, session, feed = Noted(), graphengine.Session(THREE), feed_of_three()
    wide = np.zeros((256, 3), np.float32)
    wide[:, 1] = feed["b"]
    strided = dict(feed, b=wide[:, 1])
    for given in (strided, dict(strided, b=OnlyDlpack(wide[:, 1]))):
        y = session.run(given)["y"]
        check("a strided input: the sum", np.allclose(y, expected(feed)))
        check("a strided input is copied", noted.input(1) != wide[:, 1].ctypes.data)
    turned = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = identity("f32", "2,3").run({"x": turned})["y"]
    check("a turned input", np.array_equal(y, turned))
    back = identity("f32", "4").run({"x": np.arange(4, dtype=np.float32)[::-1]})["y"]
    check("an input from its end", np.array_equal(back, [3, 2, 1, 0]))
    crooked = np.frombuffer(b"x" + feed["b"].tobytes(), np.uint8)[1:].view(np.float32)
    y = session.run(dict(feed, b=crooked))["y"]
    check("an input that is not aligned", np.allclose(y, expected(feed)))
    check("lists", np.array_equal(identity("f32").run({"x": [1, 2, 3, 4]})["y"], [1, 2, 3, 4]))
    check("the only input by itself", np.array_equal(
        identity("i64").run(np.arange(4))["y"], np.arange(4)))
    check("a number", identity("f32", "").run({"x": 2.5})["y"] == 2.5)


def the_other_byte_order(_):
    for kind, name in (("f32", "f4"), ("f64", "f8"), ("f16", "f2"), ("i16", "i2"), ("i32", "i4"),
                       ("i64", "i8"), ("u16", "u2"), ("u32", "u4"), ("u64", "u8"), ("c64", "c8"),
                       ("c128", "c16")):
        x = np.array([1, 2.5, 300, 7]).astype(name)
        if kind[0] == "c":
            x += 3j
        turned = x.astype(x.dtype.newbyteorder())
        check(f">{name}", turned.dtype.byteorder == ">"
              and np.array_equal(identity(kind).run(turned)["y"], x))
    x = np.arange(24, dtype=">i4").reshape(2, 3, 4)
    y = identity("i32", "4,2,3").run(x.transpose(2, 0, 1))["y"]
    check("strided in the other byte order", np.array_equal(y, x.transpose(2, 0, 1)))
    crooked = np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(">i4")
    check("not aligned in the other byte order", np.array_equal(identity("i32", "24").run(crooked)["y"],
                                                                x.ravel()))
    y = identity("f32", "2,2").run(memoryview(np.arange(4, dtype=">f4").reshape(2, 2)))["y"]
    check("a view of memory in the other byte order", np.array_equal(y, [[0, 1], [2, 3]]))


def element_types(_):
    for kind, name in (("f32", "float32"), ("f64", "float64"), ("f16", "float16"), ("i8", "int8"),
                       ("i16", "int16"), ("i32", "int32"), ("i64", "int64"), ("u8", "uint8"),
                       ("u16", "uint16"), ("u32", "uint32"), ("u64", "uint64"), ("bool", "bool"),
                       ("c64", "complex64"), ("c128", "complex128")):
        x = np.array([0, 1, 2, 3]).astype(name)
        session = identity(kind)
        y = session.run({"x": x})["y"]
        check(f"{name} there and back", y.dtype == name and np.array_equal(x, y))
        check(f"{name} by its word", session.inputs()[0].dtype == name)
        if name.startswith("complex"):
            continue
        y = session.run({"x": OnlyDlpack(x)}, outputs="dlpack")["y"]
        check(f"{name} by DLPack", np.array_equal(np.from_dlpack(y), x))
    scalar = identity("f32", "").run({"x": np.float32(7)})["y"]
    check("no axes", scalar.shape == () and scalar == 7)
    empty = identity("f32", "0,3").run({"x": np.zeros((0, 3), np.float32)})["y"]
    check("no elements", empty.shape == (0, 3))
    dl = identity("f32", "0,3").run({"x": OnlyDlpack(np.zeros((0, 3), np.float32))})["y"]
    check("no elements by DLPack", dl.shape == (0, 3))


def types_that_numpy_lacks(_):
    bits = np.array([0x3f80, 0x4000, 0, 0x7f80], np.uint16)
    text = ('ge 1\nopset "" 28\nfn main(x: f32[4]) -> (y) {\n  y = Cast(x) {to=16}\n}\n'
            'entry infer "main" = main\n')
    session = graphengine.Session(text.encode(), format="text", engines="ref")
    x = np.array([1, 2, 0, np.inf], np.float32)
    check("bfloat16 by its word", session.outputs()[0].dtype == "bfloat16")
    check("bfloat16 by DLPack", hasattr(session.run({"x": x}, outputs="dlpack")["y"], "__dlpack__"))
    refused("bfloat16 without ml_dtypes", "UNSUPPORTED", "output 'y' is bfloat16",
            lambda: session.run({"x": x}))
    packed = ('ge 1\nopset "" 28\nfn main(x: f32[4]) -> (y) {\n  y = Cast(x) {to=22}\n}\n'
              'entry infer "main" = main\n')
    int4 = graphengine.Session(packed.encode(), format="text", engines="ref")
    refused("int4", "UNSUPPORTED", "several to a byte", lambda: int4.run({"x": np.ones(4, np.float32)}))
    # ml_dtypes of the tests' environment, which the clean one has not.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    sys.path.append(str(pathlib.Path("build/venv/lib") / version / "site-packages"))
    try:
        import ml_dtypes  # pylint: disable=import-outside-toplevel
    except ImportError:
        check("ml_dtypes of build/venv, of " + sysconfig.get_python_version(), False)
        return
    finally:
        sys.path.pop()
    y = session.run({"x": x})["y"]
    check("bfloat16 out", y.dtype == ml_dtypes.bfloat16 and np.array_equal(y.view("u2"), bits))
    there = identity("bf16").run({"x": y})["y"]
    check("bfloat16 in and out", np.array_equal(there.view("u2"), bits))
    noted = Noted()
    check("bfloat16 in: not copied", noted.input() == y.ctypes.data)
    mine = np.zeros(4, ml_dtypes.bfloat16)
    session.run({"x": x}, {"y": mine})
    check("bfloat16 by out", np.array_equal(mine.view("u2"), bits))


def what_is_refused(_):
    session, feed = graphengine.Session(THREE), feed_of_three()
    bad = "INVALID_ARGUMENT"

    def run(out=None, **changed):
        return lambda: session.run(dict(feed, **changed), out)
    refused("an unknown input", bad, "no input 'd'; the model has a, b, c", run(d=feed["a"]))
    refused("a missing input", bad, "input 'c' is not given",
            lambda: session.run({"a": feed["a"], "b": feed["b"]}))
    refused("a wrong name", bad, "no input 'z'",
            lambda: session.run({"a": feed["a"], "b": feed["b"], "z": feed["c"]}))
    refused("too few by position", bad, "the model has 3: a, b, c",
            lambda: session.run([feed["a"]]))
    refused("a wrong type", bad, "input 'b'", run(b=feed["b"].astype(np.float64)))
    refused("a wrong shape", bad, "input 'b'", run(b=feed["b"][:7]))
    refused("a text", bad, "input 'b' is a str", run(b="text"))
    refused("no array", bad, "input 'b' is a object", run(b=object()))
    refused("None", bad, "input 'b' is a NoneType", run(b=None))
    refused("an array of texts", "UNSUPPORTED", "texts", run(b=np.array(["a"] * 256)))
    refused("dates", "UNSUPPORTED", "input 'b' has elements of datetime64[D], which is no type of ONNX",
            run(b=np.zeros(256, "M8[D]")))
    refused("records", "UNSUPPORTED", "[('a', '<f4')]", run(b=np.zeros(256, [("a", "f4")])))
    refused("out in the other byte order", bad, "out['y'] is in the other byte order",
            run({"y": np.zeros(256, feed["b"].dtype.newbyteorder())}))
    refused("a list of texts", bad, "input 'b' is a list that numpy", run(b=["a"]))
    refused("more than 63 bits count", "LIMIT_EXCEEDED", "more than 2^63 bits",
            run(b=np.broadcast_to(np.float32(1), (1 << 60,))))
    mine = np.zeros(256, np.float32)
    refused("out of an unknown name", bad, "no output 'q'; the model has y", run({"q": mine}))
    refused("out of a wrong type", bad, "out['y'] is float64, the output is float32",
            run({"y": np.zeros(256)}))
    refused("out of a wrong shape", bad, "out['y'] is [128], the output is [256]",
            run({"y": mine[:128]}))
    refused("out with strides", bad, "not dense", run({"y": np.zeros(512, np.float32)[::2]}))
    mine.flags.writeable = False
    refused("out that is read-only", bad, "read-only", run({"y": mine}))
    refused("out that is no dict", bad, "wants a dict", run([mine]))
    refused("out over an input", bad, "overlap", run({"y": feed["a"]}))
    refused("another kind of outputs", bad, "wanted numpy or dlpack",
            lambda: session.run(feed, outputs="torch"))
    refused("an unknown entry", bad, "no entry 'x'; the model has main",
            lambda: session.run(feed, entry="x"))
    check("after all that it runs", np.allclose(session.run(feed)["y"], expected(feed)))


def free_dims_and_out(_):
    session = identity("f32", "N")
    x = np.arange(5, dtype=np.float32)
    check("a free axis", session.inputs()[0].shape == (None,))
    refused("out that is too large", "INVALID_ARGUMENT", "out['y'] is [6], the run gave [5]",
            lambda: session.run({"x": x}, {"y": np.zeros(6, np.float32)}))
    refused("out that is too small", "INVALID_ARGUMENT", "16 bytes",
            lambda: session.run({"x": x}, {"y": np.zeros(4, np.float32)}))
    y = np.zeros(5, np.float32)
    session.run({"x": x}, {"y": y})
    check("out of a free axis", np.array_equal(x, y))


if __name__ == "__main__":
    warnings.simplefilter("error")
    run_all([inputs_lie_where_they_are, outputs_lie_where_they_are, outputs_outlive_their_session,
             outputs_are_given_back, outputs_are_used_again,
             what_is_copied, the_other_byte_order, element_types, types_that_numpy_lacks,
             what_is_refused, free_dims_and_out])
