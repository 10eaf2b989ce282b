#!/usr/bin/env bash
# The first hour on a machine with a GPU and a TornadoVM SDK: what is there, whether its arithmetic is the contract's, whether kernels and
# models are right on it, how fast they are, and how fast llama.cpp is beside them. Leaves one report, and goes on after whatever fails.
#
#   benchmarks/first-hour-on-a-gpu.sh [--out FOLDER] [--engine tornado] [--models A,B] [--shapes S,S] [--dtypes f32,bf16,f16,int8]
#                                     [--quick] [--llama-cpp FOLDER --gguf FILE,FILE]
#
#   --out FOLDER        gets report.md and a log of each step (default: first-hour-DATE)
#   --engine NAME       tornado, or a backend: opencl, ptx, cuda, spirv, metal
#   --models A,B        what is verified, names or folders (default: the two that come with the project)
#   --shapes S,S        what is timed, with random weights (default: gpt2-124M,tinyllama-1.1B; llama2-7B where memory allows)
#   --dtypes T,T        types of weights
#   --quick             two steps of each verification and short timings: whether the script works
#   --llama-cpp FOLDER  holds llama-bench; --gguf are the files that it times
#
# Exit code: 0 if every step went well, 1 if one failed (the report says which), 2 after a wrong call.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
transformers=${TRANSFORMERS:-$root/transformers}
out='' engine=tornado models=shakespeare-llama,shakespeare-gpt2 shapes=gpt2-124M,tinyllama-1.1B dtypes=f32,bf16,f16,int8 llama='' gguf='' quick=''

wrong() {
  printf 'first-hour-on-a-gpu.sh: %s; the head of the script says how it is called\n' "$1" >&2
  exit 2
}

while (($# > 0)); do
  case $1 in
    --quick) quick=1 && shift && continue ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}" && exit 0 ;;
    --out | --engine | --models | --shapes | --dtypes | --llama-cpp | --gguf) ;;
    *) wrong "$1 is not known" ;;
  esac
  (($# > 1)) || wrong "$1 has no value"
  case $1 in
    --out) out=$2 ;;
    --engine) engine=$2 ;;
    --models) models=$2 ;;
    --shapes) shapes=$2 ;;
    --dtypes) dtypes=$2 ;;
    --llama-cpp) llama=$2 ;;
    --gguf) gguf=$2 ;;
  esac
  shift 2
done
[ -z "$llama" ] || [ -x "$llama/llama-bench" ] || wrong "$llama has no llama-bench"
[ -n "$llama" ] || [ -z "$gguf" ] || wrong '--gguf is given without --llama-cpp'

out=${out:-first-hour-$(date +%Y-%m-%d-%H%M)}
mkdir -p "$out" || wrong "$out cannot be made"
report=$out/report.md
failed=()

# Runs a command, and puts what it printed into the report under a heading.
step() {
  local heading=$1 log code started=$SECONDS
  shift
  log=$out/$(printf '%s' "$heading" | tr -cs 'A-Za-z0-9._-' '-').log
  printf '%s …\n' "$heading" >&2
  "$@" > "$log" 2>&1 < /dev/null
  code=$?
  {
    printf '\n## %s\n\n' "$heading"
    printf '`%s`\n\n' "${*/#$root\//}"
    ((code == 0)) || printf '**Failed, exit code %d.**\n\n' "$code"
    printf '```\n'
    tail -n 200 "$log"
    printf '```\n\n%d s\n' "$((SECONDS - started))"
  } >> "$report"
  ((code == 0)) || failed+=("$heading")
}

machine() {
  uname -srm
  lscpu 2> /dev/null | grep -E '^(Model name|CPU\(s\)|Flags)' | cut -c 1-160
  free -h 2> /dev/null | sed -n 2p
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.memory,clocks.max.sm,power.limit --format=csv 2> /dev/null
  command -v clinfo > /dev/null && clinfo -l
  git -C "$root" log -1 --format='commit %H of %cs' 2> /dev/null
  "$root/tornado-env.sh"
}

# Puts the words of a list with commas into parts.
split() {
  local IFS=,
  # shellcheck disable=SC2206 # names have no spaces but in folders, which IFS keeps
  parts=($1)
}

steps=10 repetitions=5 jmh=(-f 1 -wi 3 -i 5 -w 1s -r 1s)
[ -z "$quick" ] || steps=2 repetitions=1 jmh=(-f 1 -wi 1 -i 1 -w 1s -r 1s -p op=qkvProj)

printf '# First hour: engine %s, %s\n' "$engine" "$(date -u +'%Y-%m-%d %H:%M UTC')" > "$report"
step 'The machine' machine
step 'Devices and whether their arithmetic is the contract' "$transformers" devices

split "$models"
names=("${parts[@]}")
split "$dtypes"

step 'Every kernel by itself, right?' "$transformers" verify --kernels --engines "$engine"
for name in "${names[@]}"; do
  for dtype in "${parts[@]}"; do
    step "Right? $(basename "$name") as $dtype" "$transformers" verify "$name" --engines "scalar,$engine" --dtype "$dtype" --steps "$steps"
  done
  step "Right beside others? $(basename "$name")" "$transformers" verify "$name" --engines "scalar,$engine" --beside 3 --steps "$steps"
done
types=("${parts[@]}")
split "$shapes"
for shape in "${parts[@]}"; do
  for dtype in "${types[@]}"; do
    step "Kernels of $shape as $dtype, decoding" \
      "$transformers" jmh OpBenchmark -p "engine=$engine" -p "model=$shape" -p "dtype=$dtype" -p pass=decode "${jmh[@]}"
    step "Speed of $shape as $dtype, with its share of the bandwidth" "$transformers" bench "$shape" -e "$engine" --dtype "$dtype" -r "$repetitions"
  done
done
if [ -n "$llama" ]; then
  split "$gguf"
  for file in ${parts[@]+"${parts[@]}"}; do
    step "llama.cpp: $(basename "$file")" "$llama/llama-bench" -m "$file" -p 128 -n 64 -r "$repetitions"
  done
fi

{
  printf '\n## Summary\n\n'
  if ((${#failed[@]} == 0)); then
    printf 'Every step went well.\n'
  else
    printf 'These steps failed:\n\n'
    printf -- '- %s\n' "${failed[@]}"
  fi
} >> "$report"
printf '%s\n' "$report"
((${#failed[@]} == 0))
