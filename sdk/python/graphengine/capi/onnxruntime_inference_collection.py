"""Where onnxruntime has its session and values."""
from graphengine.inference_session import InferenceSession
from graphengine.ort_providers import check_and_normalize_provider_args
from graphengine.ort_value import IOBinding, OrtDevice, OrtValue

Session = InferenceSession

__all__ = ["IOBinding", "InferenceSession", "OrtDevice", "OrtValue", "Session",
           "check_and_normalize_provider_args"]
