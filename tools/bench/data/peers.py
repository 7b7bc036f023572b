"""One side of tools/bench/data.py: a loader of others, in the folder of the data, in a process of its own. Prints rows
a second, or with --memory what it takes above what its libraries take alone, in MB.

  peers.py SIDE photos|cifar|records [--seconds N | --memory]
"""
import argparse
import json
import os
import pathlib
import threading
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BATCH = {"photos": 64, "cifar": 128, "records": 256}


# ---- a row, as NumPy and Pillow make it


def photo(path, r):
    import numpy as np
    from PIL import Image
    with Image.open(path) as picture:
        wide, high = picture.size
        for _ in range(10):
            area, aspect = wide * high * r.uniform(0.08, 1), 2.718281828 ** r.uniform(-0.2877, 0.2877)
            w, h = round((area * aspect) ** 0.5), round((area / aspect) ** 0.5)
            if w <= wide and h <= high:
                break
        else:
            w = h = min(wide, high)
        left, top = r.integers(0, wide - w + 1), r.integers(0, high - h + 1)
        small = picture.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR,
                                              (left, top, left + w, top + h))
    x = np.asarray(small, np.float32).transpose(2, 0, 1)
    x = x[:, :, ::-1] if r.random() < 0.5 else x
    return (x / 255 - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]


def picture(x, r):
    import numpy as np
    padded = np.zeros((3, 40, 40), np.uint8)
    padded[:, 4:36, 4:36] = x
    top, left = r.integers(0, 9, 2)
    x = padded[:, top:top + 32, left:left + 32]
    x = x[:, :, ::-1] if r.random() < 0.5 else x
    return (x.astype(np.float32) / 255 - 0.5) / np.float32(0.25)


def photo_paths():
    return sorted(map(str, pathlib.Path("photos").rglob("*.jpg")))


class Rows:
    """A row's numbers by its index, for loaders of others."""

    def __init__(self, row):
        import numpy as np
        self.row, self.random = row, np.random.default_rng(2)
        self.of = photo_paths() if row == "photos" else np.load(f"{row}.npy", mmap_mode="r")

    def __len__(self):
        return len(self.of)

    def __getitem__(self, i):
        import numpy as np
        if self.row == "photos":
            return photo(self.of[i], self.random)
        return picture(self.of[i], self.random) if self.row == "cifar" else np.array(self.of[i])


# ---- loaders: an epoch of batches, or more


def numpy_batches(row):
    import numpy as np
    source = Rows(row)
    order = np.random.default_rng(3).permutation(len(source))
    for at in range(0, len(order) - BATCH[row] + 1, BATCH[row]):
        part = order[at:at + BATCH[row]]
        yield source.of[part] if row == "records" else np.stack([source[i] for i in part])


def grain_batches(row, workers, threads):
    import grain
    rows = grain.MapDataset.source(Rows(row)).shuffle(seed=3).repeat()
    loader = rows.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=16 if threads else 0))
    loader = loader.batch(BATCH[row])
    return loader.mp_prefetch(grain.MultiprocessingOptions(workers)) if workers else loader


def torch_batches(row, workers):
    import torch
    rows = Rows(row)
    # Many epochs are one, so that workers are never started again.
    order = torch.utils.data.RandomSampler(rows, num_samples=100 * len(rows))
    return torch.utils.data.DataLoader(rows, BATCH[row], sampler=order, num_workers=workers, drop_last=True)


def tf_photo(path):
    import tensorflow as tf
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(data), tf.zeros([1, 0, 4]), area_range=(0.08, 1), aspect_ratio_range=(0.75, 4 / 3),
        max_attempts=10, use_image_if_no_bounding_boxes=True)
    x = tf.image.decode_and_crop_jpeg(data, tf.concat([begin[:2], size[:2]], 0), channels=3)
    x = tf.image.random_flip_left_right(tf.image.resize(x, (224, 224), antialias=True))
    return (x / 255 - tf.constant(MEAN)) / tf.constant(STD)


def tf_picture(x):
    import tensorflow as tf
    x = tf.image.random_crop(tf.pad(x, [[4, 4], [4, 4], [0, 0]]), (32, 32, 3))
    x = tf.image.random_flip_left_right(x)
    return (tf.cast(x, tf.float32) / 255 - 0.5) / 0.25


def tf_batches(row, threads=0):
    import numpy as np
    import tensorflow as tf
    many = threads or tf.data.AUTOTUNE
    if row == "photos":
        paths = photo_paths()
        rows = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths)).map(tf_photo, many)
    else:
        pictures = np.load("cifar.npy").transpose(0, 2, 3, 1)  # channels come last there
        rows = tf.data.Dataset.from_tensor_slices(pictures).shuffle(10_000).map(tf_picture, many)
    rows = rows.repeat().batch(BATCH[row], drop_remainder=True)
    options = tf.data.Options()
    if threads:
        options.threading.private_threadpool_size = threads
        options.threading.max_intra_op_parallelism = threads
    return (rows if threads else rows.prefetch(tf.data.AUTOTUNE)).with_options(options)


class ArrayRecord:
    """Random batches of the records' file, which it writes before."""

    def __init__(self):
        import numpy as np
        from array_record.python import array_record_module as module
        self.rows = len(source := np.load("records.npy", mmap_mode="r"))
        name = f"records.{os.getpid()}.array_record"
        # One record a group, as for random access; bytes without pattern get no shorter.
        writer = module.ArrayRecordWriter(name, "group_size:1,uncompressed")
        for x in source:
            writer.write(x.tobytes())
        writer.close()
        self.reader = module.ArrayRecordReader(name, options="readahead_buffer_size:0")
        os.unlink(name)

    def batches(self, size):
        import numpy as np
        order = np.random.default_rng(3).permutation(self.rows)
        for at in range(0, len(order) - size + 1, size):
            records = self.reader.read(order[at:at + size].tolist())
            yield np.frombuffer(b"".join(records), np.uint8).reshape(size, -1)


def maker(side, row):
    """A function that gives batches, and gives them again."""
    name, *numbers = side.split()
    if name == "arrayrecord":
        records = ArrayRecord()
        return lambda: records.batches(BATCH[row])
    make = {"numpy": numpy_batches, "grain": grain_batches, "torch": torch_batches, "tf": tf_batches}[name]
    numbers = [int(x) for x in numbers]
    if name == "tf":
        made = tf_batches(row, *numbers)
        return lambda: made
    return lambda: make(row, *numbers)


def rate(side, row, least_s):
    make = maker(side, row)
    done, begin, first = 0, None, True
    while first or time.monotonic() - begin < least_s:
        for _ in make():
            if first:
                begin, first = time.monotonic(), False  # the first one starts workers
                continue
            done += BATCH[row]
            if time.monotonic() - begin >= least_s:
                break
    return done / (time.monotonic() - begin)


# ---- memory


def pss_mb(pid):
    """Of a process and those below it: shared pages by their part."""
    total, todo = 0.0, [pid]
    while todo:
        at = todo.pop()
        try:
            text = pathlib.Path(f"/proc/{at}/smaps_rollup").read_text()
            for task in pathlib.Path(f"/proc/{at}/task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024
    return total


def memory(side, row, batches=30):
    """The greatest PSS with workers, above that with the libraries and a row alone."""
    make, _ = maker(side, row), Rows(row)[0]
    base, seen, end = pss_mb(os.getpid()), [], threading.Event()

    def look():
        while not end.wait(0.1):
            seen.append(pss_mb(os.getpid()))
    watch = threading.Thread(target=look)
    watch.start()
    for i, _ in enumerate(make()):
        if i == batches:
            break
    end.set()
    watch.join()
    return max(seen) - base


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", help="grain WORKERS THREADS, torch WORKERS, tf [THREADS], numpy, arrayrecord")
    parser.add_argument("row", choices=BATCH)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--memory", action="store_true")
    a = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    print(json.dumps(memory(a.side, a.row) if a.memory else rate(a.side, a.row, a.seconds)))


if __name__ == "__main__":
    main()
