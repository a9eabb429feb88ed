#!/bin/sh
# Builds the example for a board, with a model in it, runs it under qemu-system-arm and compares its
# outputs with the host's.
#   examples/cortex-m/run.sh [--rows] mps2-an386|mps3-an547 MODEL.tflite [BUILD_FOLDER]
# --rows: with a streamed plan, rows of the input come one after the other.
# Wants: build/berth, python3, gcc-arm-none-eabi, libnewlib-arm-none-eabi, qemu-system-arm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
rows= streamed=
if [ "$1" = --rows ]; then
  rows=-DMODEL_ROWS streamed='--stream max --stream-input'
  shift
fi
board=$1 model=$(realpath "$2")
. "$root/examples/cortex-m/board.sh"
board_choose "$board" "${3:-$root/build-cortex-m/example-$board}"

# What the host says: the memory, the outputs, the operators.
# shellcheck disable=SC2086 # the options are words
"$root/build/berth" run --portable $streamed --fill random:1 --json "$model" >"$out/host.json"
if [ -n "$rows" ]; then
  # shellcheck disable=SC2086
  "$root/build/berth" plan $streamed "$model" -o "$out/rows_plan.h" >/dev/null
fi
"$root/build/berth" inspect --json "$model" >"$out/inspect.json"
python3 - "$out" <<'PYTHON'
import json, sys
out = sys.argv[1]
host = json.load(open(out + "/host.json"))
operators = {op["name"] for op in json.load(open(out + "/inspect.json"))["operators"]}
names = sorted("berth_kernel_" + name.lower() for name in operators)
with open(out + "/kernels.c", "w") as file:
    file.write('#include "operators/kernels.h"\nextern const berth_kernel_t *const kernels[];\n')
    file.write("const berth_kernel_t *const kernels[] = {%s, NULL};\n" % ", ".join("&" + n for n in names))
open(out + "/arena", "w").write("%d" % host["total_bytes"])
with open(out + "/expected", "w") as file:
    for number, output in enumerate(host["outputs"]):
        file.write("output %d crc32 %d\n" % (number, output["crc32"]))
PYTHON

board_objects
# shellcheck disable=SC2086
board_link "$out/example.elf" $rows -I"$out" -DMODEL_ARENA_BYTES="$(cat "$out/arena")" -DMODEL_FILE="\"$model\"" \
  "$here/main.c" "$here/model.S" "$out/kernels.c"
board_run "$out/example.elf" >"$out/printed" || { cat "$out/printed" >&2; exit 1; }
grep '^output' "$out/printed" >"$out/actual" || true
code=$(arm-none-eabi-size -A "$out/example.elf" | awk '$1 == ".text" {print $2}')
echo "$board $(basename "$(dirname "$model")")/$(basename "$model")${rows:+ by rows}: code $((code - $(stat -c %s "$model"))) bytes"
grep -v '^output' "$out/printed" | sed 's/^/  /'
if cmp -s "$out/expected" "$out/actual"; then
  echo "  outputs equal the host's"
else
  echo "  outputs differ from the host's:" >&2
  diff "$out/expected" "$out/actual" >&2 || true
  exit 3
fi
