#!/usr/bin/env bash
# Records llama-bench with two micro-batches, several times each and in turn, and compares them.
#
#   ./ubatch.sh MODEL.gguf [BASE NEW [OPTIONS OF metalens record]]
#
# METALENS and LLAMA_BENCH name the programs if they are not on PATH; RUNS is the number of runs per side.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -eq 2 ]; then
    echo "usage: $0 MODEL.gguf [BASE NEW [OPTIONS OF metalens record]]" >&2
    exit 2
fi
model=$1
base=${2:-128}
new=${3:-512}
shift $(($# < 3 ? $# : 3))

metalens=$(command -v "${METALENS:-metalens}") || { echo 'error: metalens is not on PATH' >&2; exit 1; }
bench=$(command -v "${LLAMA_BENCH:-llama-bench}") || { echo 'error: llama-bench is not on PATH' >&2; exit 1; }
[ -f "$model" ] || { echo "error: there is no $model" >&2; exit 1; }
[ "$base" != "$new" ] || { echo 'error: both micro-batches are the same' >&2; exit 2; }

# In turn, so that a machine that becomes warm slows both sides.
bases=() news=()
for ((run = 1; run <= ${RUNS:-3}; run++)); do
    for ubatch in "$base" "$new"; do
        # Prompt processing alone: with generation, a recording has two programs in it.
        "$metalens" record -o "ub$ubatch-$run.trace" "$@" -- \
            "$bench" -m "$model" -p 2048 -n 0 -b 2048 -ub "$ubatch" -r 3
    done
    bases+=("ub$base-$run.trace")
    news+=("ub$new-$run.trace")
done

"$metalens" compare --preset fusion --base "${bases[@]}" --new "${news[@]}"
