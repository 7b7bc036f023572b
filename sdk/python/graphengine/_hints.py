"""What the names of torch and numpy are called here, for those who type them."""
import difflib
from typing import Dict, Iterable

FUNCTIONS: Dict[str, str] = {
    "arccos": "ge.acos", "arcsin": "ge.asin", "arctan": "ge.atan", "arctan2": "ge.atan2", "array": "ge.asarray",
    "as_tensor": "ge.asarray", "backward": "ge.grad", "cat": "ge.concat", "clamp": "ge.clip",
    "concatenate": "ge.concat", "cumprod": "ge.cumulative_prod", "cumsum": "ge.cumulative_sum",
    "from_numpy": "ge.asarray", "function": "ge.jit", "hstack": "ge.concat(arrays, axis=1)", "compile": "ge.jit",
    "inference_mode": "nothing: gradients are asked for by ge.grad", "manual_seed": "ge.random.seed",
    "mm": "ge.matmul", "no_grad": "nothing: gradients are asked for by ge.grad", "permute": "ge.permute_dims",
    "power": "ge.pow", "rand": "ge.random.uniform", "randn": "ge.random.normal", "relu": "ge.nn.functional.relu",
    "sigmoid": "ge.nn.functional.sigmoid", "softmax": "ge.nn.functional.softmax", "tensor": "ge.asarray",
    "transpose": "ge.permute_dims", "unsqueeze": "ge.expand_dims", "vmap": "a function over an axis of batches",
    "vstack": "ge.concat(arrays)"}
METHODS: Dict[str, str] = {
    "backward": "ge.grad(function)", "bool": "x.astype(ge.bool)", "chunk": "slices x[a:b]", "clamp": "x.clip(least, most)",
    "contiguous": "x itself", "cpu": "x itself", "cuda": "x itself", "detach": "ge.stop_gradient(x)",
    "dim": "x.ndim", "double": "x.astype(ge.float64)", "exp": "ge.exp(x)", "expand": "ge.broadcast_to(x, shape)",
    "fill_": "ge.full_like(x, value)", "float": "x.astype(ge.float32)", "grad": "what ge.grad answers",
    "half": "x.astype(ge.float16)", "int": "x.astype(ge.int32)", "log": "ge.log(x)", "long": "x.astype(ge.int64)",
    "matmul": "x @ y", "mm": "x @ y", "new_zeros": "ge.zeros(shape)", "numel": "x.size", "permute": "x.transpose(axes)",
    "pow": "x ** y", "relu": "ge.nn.functional.relu(x)", "repeat": "ge.tile(x, counts)", "requires_grad": "ge.grad(function, wrt)",
    "requires_grad_": "ge.grad(function, wrt)", "sigmoid": "ge.nn.functional.sigmoid(x)",
    "softmax": "ge.nn.functional.softmax(x, dim)", "split": "slices x[a:b]", "sqrt": "ge.sqrt(x)", "t": "x.T",
    "tanh": "ge.tanh(x)", "to": "x.astype(dtype)", "type": "x.astype(dtype)", "unsqueeze": "ge.expand_dims(x, axis=axis)",
    "view": "x.reshape(shape)"}


def hint(name: str, known: Dict[str, str], names: Iterable[str]) -> str:
    """"; here it is ..." for a name of others; the nearest of ours for a typing mistake; or nothing."""
    if name in known:
        return f"; here it is {known[name]}"
    if name.startswith("__"):  # asked for by protocols
        return ""
    near = difflib.get_close_matches(name, list(names), 1, 0.8)
    return f"; did you mean '{near[0]}'?" if near else ""
