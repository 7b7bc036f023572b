"""Where onnxruntime has what its own modules share; here the names that programs import from there."""
