# Sourced by scripts that use the Python package: builds its wheel from the built engine and installs
# it into an environment of its own, which has numpy and nothing else. Not a test.
build=${GE_BUILD:-build/release}
wheels=build/python
python=$PWD/$wheels/venv/bin/python

# pip_quietly ARGUMENT...: shows what pip said where it fails.
pip_quietly() {
  build/venv/bin/python -m pip --disable-pip-version-check "$@" >"$wheels/pip.log" 2>&1 && return
  tail -n 40 "$wheels/pip.log"
  return 1
}

# wheel: answers 1 where there is no package to test.
wheel() {
  mkdir -p "$wheels"
  rm -f "$wheels"/graphengine-*.whl
  pip_quietly wheel --no-index --no-deps --no-build-isolation -w "$wheels" \
    --config-settings "cmake.define.GE_BUILD=$PWD/$build" sdk/python || return 1
  rm -rf "$wheels/venv"
  build/venv/bin/python -m venv --without-pip "$wheels/venv" || return 1
  local from to
  from=$(build/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  to=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  cp -al "$from"/numpy* "$to"/ 2>/dev/null || cp -a "$from"/numpy* "$to"/ || return 1
  pip_quietly --python "$python" install --no-index "$wheels"/graphengine-*.whl
}
