#!/usr/bin/env bash
# The first hour on a machine with a GPU and a TornadoVM SDK: what is there, whether its arithmetic is the contract's, whether kernels and
# models are right on it, how fast they are, and how fast llama.cpp is beside them. Leaves one report, and goes on after whatever fails.
#
#   benchmarks/first-hour-on-a-gpu.sh [--out FOLDER] [--engine tornado] [--models A,B] [--dtypes f32,bf16,f16,int8] [--quick]
#                                     [--llama-cpp FOLDER --gguf FILE,FILE]
#
#   --out FOLDER        gets report.md and a log of each step (default: first-hour-DATE)
#   --engine NAME       tornado, or a backend: opencl, ptx, cuda, spirv, metal
#   --models A,B        what is verified and timed, names or folders (default: the two that come with the project)
#   --make NAME,NAME    also time random models of these published shapes (`transformers models make --like NAME`), made in the folder
#   --dtypes T,T        types of weights
#   --quick             two steps of each verification and short timings: whether the script works
#   --llama-cpp FOLDER  holds llama-bench; --gguf are the files that it times
#
# Exit code: 0 if every step went well, 1 if one failed (the report says which), 2 after a wrong call.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
transformers=${TRANSFORMERS:-$root/transformers}
out='' engine=tornado models=shakespeare-llama,shakespeare-gpt2 make='' dtypes=f32,bf16,f16,int8 llama='' gguf='' quick=''

wrong() {
  printf 'first-hour-on-a-gpu.sh: %s; the head of the script says how it is called\n' "$1" >&2
  exit 2
}

while (($# > 0)); do
  case $1 in
    --quick) quick=1 && shift && continue ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}" && exit 0 ;;
    --out | --engine | --models | --make | --dtypes | --llama-cpp | --gguf) ;;
    *) wrong "$1 is not known" ;;
  esac
  (($# > 1)) || wrong "$1 has no value"
  case $1 in
    --out) out=$2 ;;
    --engine) engine=$2 ;;
    --models) models=$2 ;;
    --make) make=$2 ;;
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

# The models that are timed: those that were named, and those that are made.
split() {
  local IFS=,
  # shellcheck disable=SC2206 # names have no spaces but in folders, which IFS keeps
  parts=($1)
}

steps=10 repetitions=5
[ -z "$quick" ] || steps=2 repetitions=1

printf '# First hour: engine %s, %s\n' "$engine" "$(date -u +'%Y-%m-%d %H:%M UTC')" > "$report"
step 'The machine' machine
step 'Devices and whether their arithmetic is the contract' "$transformers" devices

split "$models"
names=("${parts[@]}")
split "$make"
for shape in ${parts[@]+"${parts[@]}"}; do
  made=$out/models/$shape
  step "Make a random $shape" "$transformers" models make --like "$shape" --dtype bf16 "$made"
  names+=("$made")
done
split "$dtypes"

step 'Every kernel by itself, right?' "$transformers" verify --kernels --engines "$engine"
for name in "${names[@]}"; do
  for dtype in "${parts[@]}"; do
    step "Right? $(basename "$name") as $dtype" "$transformers" verify "$name" --engines "scalar,$engine" --dtype "$dtype" --steps "$steps"
  done
  step "Right beside others? $(basename "$name")" "$transformers" verify "$name" --engines "scalar,$engine" --beside 3 --steps "$steps"
done
for name in "${names[@]}"; do
  for dtype in "${parts[@]}"; do
    step "Kernels of $(basename "$name") as $dtype, with their share of the bandwidth" \
      "$transformers" bench "$name" --engines "$engine" --dtype "$dtype" --kernels -r "$repetitions"
    step "Speed of $(basename "$name") as $dtype" "$transformers" bench "$name" --engines "$engine" --dtype "$dtype" -r "$repetitions"
  done
  step "Where the time of $(basename "$name") goes" "$transformers" bench "$name" --engines "$engine" --profile -r "$repetitions"
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
