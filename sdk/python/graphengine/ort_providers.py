"""Providers as onnxruntime has them. There is one: engines are chosen by price, all on the CPU."""
import collections.abc
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple

from graphengine._error import bad_value

PROVIDER = "CPUExecutionProvider"


def _pairs(providers: Any, provider_options: Any) -> List[Tuple[str, Dict[Any, Any]]]:
    """(name, options) of each, whichever way they are given."""
    if not isinstance(providers, collections.abc.Sequence):
        raise bad_value("'providers' should be a sequence.")
    if provider_options is None:
        pairs = [(p, {}) if isinstance(p, str) else p for p in providers]
        if all(isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) and isinstance(p[1], dict)
               for p in pairs):
            return pairs
        raise bad_value("'providers' values must be either strings or (string, dict) tuples.")
    if not isinstance(provider_options, collections.abc.Sequence):
        raise bad_value("'provider_options' should be a sequence.")
    if len(providers) != len(provider_options):
        raise bad_value(f"'providers' and 'provider_options' should be the same length, not {len(providers)} "
                        f"and {len(provider_options)}.")
    if not all(isinstance(p, str) for p in providers):
        raise bad_value("Only string values for 'providers' are supported if 'provider_options' is given.")
    if not all(isinstance(o, dict) for o in provider_options):
        raise bad_value("'provider_options' values must be dicts.")
    return list(zip(providers, provider_options))


def check_and_normalize_provider_args(
        providers: Optional[Sequence[Any]], provider_options: Optional[Sequence[Dict[Any, Any]]],
        available_provider_names: Sequence[str]) -> Tuple[List[str], List[Dict[str, str]]]:
    """The names and their options as texts; a warning for each that is not available or named twice."""
    if providers is None:
        return [], []
    found: Dict[str, Dict[str, str]] = {}
    for name, options in _pairs(providers, provider_options):
        if name not in available_provider_names:
            warnings.warn(f"Specified provider '{name}' is not in available provider names."
                          f"Available providers: '{', '.join(available_provider_names)}'", stacklevel=4)
        if name in found:
            warnings.warn(f"Duplicate provider '{name}' encountered, ignoring.", stacklevel=4)
            continue
        found[name] = {str(key): str(value) for key, value in options.items()}
    return list(found), list(found.values())


def check_providers(providers: Any, provider_options: Any, fallback: bool) -> None:
    """As onnxruntime, what names no provider ends in a session on the CPU, unless `fallback` is off."""
    try:
        check_and_normalize_provider_args(providers, provider_options, [PROVIDER])
    except ValueError as error:
        if not fallback:
            raise
        warnings.warn(f"{error} The session runs on {PROVIDER}.", stacklevel=3)


def get_available_providers() -> List[str]:
    """The one provider."""
    return [PROVIDER]


def get_all_providers() -> List[str]:
    """The one provider."""
    return [PROVIDER]


def get_device() -> str:
    """Engines run on the CPU."""
    return "CPU"
