"""Where onnxruntime has tools for transformers; here what programs import from there to run models."""
import sys

from graphengine.transformers import type_words

# By the name that it has there, however this package is called.
io_binding_helper = type_words
sys.modules[f"{__name__}.io_binding_helper"] = type_words
