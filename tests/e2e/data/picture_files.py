"""Pictures as other programs write them, and the image codecs by ctypes. Used by pictures.py."""
import ctypes
import io
import math

import numpy as np
from PIL import Image

SAMPLINGS = ("444", "422", "420", "440", "gray")
ORDERS = ("baseline", "progressive", "restarts")
RESERVE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                           ctypes.c_int64)


class Box(ctypes.Structure):
    """ge_image_box of sdk/include/ge/ge_image.h."""
    _fields_ = [(n, ctypes.c_int64) for n in ("x", "y", "width", "height")]


CHOOSE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(Box))
LINE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint8))


class Request(ctypes.Structure):
    """ge_image_request."""
    _fields_ = [("bytes", ctypes.c_char_p), ("size", ctypes.c_uint64), ("order", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("reserve", RESERVE), ("self", ctypes.c_void_p),
                ("choose", CHOOSE), ("line", LINE), ("stop", ctypes.c_void_p), ("why", ctypes.c_char * 320)]


class Codecs:
    def __init__(self, module):
        self.decode = ctypes.CDLL(str(module)).ge_image_decode_3

    def whole(self, data, order=0):
        made = []

        def reserve(_, height, width, channels):
            made.append(np.zeros((height, width, channels), np.uint8))
            return made[0].ctypes.data

        request = Request(data, len(data), order, 0, RESERVE(reserve))
        return self.decode(ctypes.byref(request)), made[0] if made else None

    def part(self, data, box, order=0):
        """(answer, lines one below the other, the size that the codec told, words)."""
        lines, told = [], []
        channels = 1 if order == 2 else 3

        def choose(_, height, width, out):
            told.extend((height, width))
            out[0].x, out[0].y, out[0].width, out[0].height = box

        def line(_, pixels):
            lines.append(np.ctypeslib.as_array(pixels, (box[2] * channels,)).copy())

        request = Request(data, len(data), order, 0, RESERVE(), None, CHOOSE(choose), LINE(line))
        answer = self.decode(ctypes.byref(request))
        shape = (len(lines), box[2], channels)
        return answer, np.array(lines, np.uint8).reshape(shape), tuple(told), request.why.decode()


def smooth(r, height, width, channels=3):
    """Waves and some noise: what JPEG keeps, and edges for upsampling to blur."""
    y, x = np.mgrid[:height, :width]
    out = [127 + 90 * np.sin(x * a + y * b) + 30 * ((x // 5 + y // 7) % 2)
           for a, b in r.uniform(-0.5, 0.5, (channels, 2))]
    return np.clip(np.stack(out, -1) + r.normal(0, 8, (height, width, channels)), 0, 255).astype(np.uint8)


def as_440(data, width, height):
    """A 4:2:2 file of whole blocks as 4:4:0: both have Y, Y, Cb, Cr in a block of blocks, so only the
    header tells them apart."""
    out = bytearray(data)
    at = next(i for i in range(len(out)) if out[i] == 0xFF and out[i + 1] in (0xC0, 0xC2))
    assert out[at + 11] == 0x21
    out[at + 11] = 0x12
    out[at + 5:at + 9] = (2 * height).to_bytes(2, "big") + (width // 2).to_bytes(2, "big")
    return bytes(out)


def jpeg(pixels, sampling, order):
    more = {"progressive": order == "progressive"}
    if order == "restarts":
        more["restart_marker_blocks"] = 3
    height, width = pixels.shape[:2]
    if sampling == "440":  # the scrambled picture is as good as any
        width, height = 16 * math.ceil(width / 8), 8 * math.ceil(height / 16)
        pixels = np.resize(pixels, (height, width, 3))
    to = io.BytesIO()
    if sampling == "gray":
        Image.fromarray(pixels[:, :, 0]).save(to, "JPEG", quality=90, **more)
    else:
        name = "4:2:2" if sampling == "440" else ":".join(sampling)
        Image.fromarray(pixels).save(to, "JPEG", quality=90, subsampling=name, **more)
    data = to.getvalue()
    return as_440(data, width, height) if sampling == "440" else data


def png(pixels):
    to = io.BytesIO()
    Image.fromarray(pixels).save(to, "PNG")
    return to.getvalue()


def resized(pixels, height, width):
    """Pillow's bilinear on [h, w] or [h, w, c]."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        return resized(pixels[:, :, 0], height, width)[:, :, None]
    return np.array(Image.fromarray(pixels).resize((int(width), int(height)), Image.BILINEAR))


def window(pixels, top, left, height, width):
    """A window of [h, w, c], zeros beyond it."""
    out = np.zeros((height, width, pixels.shape[2]), pixels.dtype)
    y0, y1 = max(0, -top), min(height, pixels.shape[0] - top)
    x0, x1 = max(0, -left), min(width, pixels.shape[1] - left)
    if y1 > y0 and x1 > x0:
        out[y0:y1, x0:x1] = pixels[top + y0:top + y1, left + x0:left + x1]
    return out


def framed(pixels, box, view, flip, height, width):
    """What Pictures gives, [c, h, w], by numpy and Pillow."""
    x, y, w, h = box
    if w == 0 and h == 0:
        h, w = pixels.shape[:2]
    cut = window(pixels, y, x, h, w)
    full = (h, w) if view[0] == 0 and view[1] == 0 else view[:2]
    out = window(resized(cut, *full), view[2], view[3], height, width)
    return (out[:, ::-1] if flip else out).transpose(2, 0, 1)
