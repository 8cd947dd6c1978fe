#!/usr/bin/env bash
# The locks of requirements/, each package with the digests of its files. Usage: tools/locks.sh resolve|check
# cpu.txt: without vLLM and CUDA, and without torch, whose CPU build is not in the package index; cuda.txt: everything.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=.venv/bin/uv
unset PIP_FIND_LINKS UV_FIND_LINKS   # a lock holds what everybody can have
only_cuda=(cuda-bindings cuda-toolkit triton nvidia-cudnn-cu13 nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvshmem-cu13)
without_gpu=$(.venv/bin/python -c 'import tomllib
for name in tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]:
    if name not in ("gpu", "all"): print(f"--extra={name}")')
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

resolve() {  # file to write, then the options of its resolution
  local file=requirements/$1; shift
  "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
    --upgrade --output-file "$scratch/new" "$@"
  # One line a package.
  sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba' -e '}' "$scratch/new" > "$file"
  rm "$scratch/new"
}

check() {  # lock, version of Python, then the options
  local lock=$1 version=$2; shift 2
  "$uv" pip install --dry-run --quiet --python .venv/bin/python --python-version "$version" --target "$scratch/none" \
    --python-platform x86_64-manylinux_2_28 --require-hashes --constraint "requirements/$lock" \
    --build-constraints "requirements/$lock" --requirements pyproject.toml "$@"
  echo "locks: $lock installs on Python $version"
}

case ${1:-} in
  resolve)
    printf '%s\n' "${only_cuda[@]}" > "$scratch/excluded"
    # shellcheck disable=SC2086 # a word an extra
    resolve cpu.txt $without_gpu --excludes "$scratch/excluded" --no-emit-package torch \
      pyproject.toml requirements/build.in
    resolve cuda.txt --all-extras pyproject.toml requirements/build.in
    resolve label-studio.txt requirements/label-studio.in
    ;;
  check)
    echo torch > "$scratch/excluded"
    for version in 3.11 3.12 3.13; do
      # shellcheck disable=SC2086
      check cpu.txt "$version" $without_gpu --excludes "$scratch/excluded"
      check cuda.txt "$version" --all-extras
    done
    ;;
  *) echo "locks: use resolve or check" >&2; exit 2 ;;
esac
