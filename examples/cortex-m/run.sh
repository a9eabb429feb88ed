#!/bin/sh
# Builds the example for a board, with a model in it, runs it under qemu-system-arm and compares its
# outputs with the host's.
#   examples/cortex-m/run.sh mps2-an386|mps3-an547 MODEL.tflite [BUILD_FOLDER]
# Wants: build/berth, python3, gcc-arm-none-eabi, libnewlib-arm-none-eabi, qemu-system-arm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
board=$1 model=$(realpath "$2")
out=${3:-$root/build-cortex-m/example-$board}
case $board in
  mps2-an386) cpu='-mcpu=cortex-m4 -mfpu=fpv4-sp-d16' ;;
  mps3-an547) cpu='-mcpu=cortex-m55' ;;
  *) echo "run.sh: there is no board $board" >&2; exit 2 ;;
esac
flags="-mthumb $cpu -mfloat-abi=hard -O2 -std=c11 -ffunction-sections -fdata-sections -ffp-contract=off -w"
mkdir -p "$out/objects"

# What the host says: the memory, the outputs, the operators.
"$root/build/berth" run --portable --fill random:1 --json "$model" >"$out/host.json"
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

# The portable layers, once for each board.
for source in "$root"/src/plan/*.c "$root"/src/arena/*.c "$root"/src/model/*.c \
  "$root"/src/graph/*.c "$root"/src/operators/*.c "$root"/src/run/*.c; do
  object=$out/objects/$(basename "$(dirname "$source")")-$(basename "$source" .c).o
  [ "$object" -nt "$source" ] && [ "$object" -nt "$root/include/berth/operator.h" ] || echo "$source $object"
done | xargs -r -n 2 -P "${JOBS:-2}" sh -c \
  "arm-none-eabi-gcc $flags -I$root/include -I$root/src -c \"\$0\" -o \"\$1\""

# shellcheck disable=SC2086 # the flags are words
arm-none-eabi-gcc $flags -I"$root/include" -I"$root/src" \
  -DMODEL_ARENA_BYTES="$(cat "$out/arena")" -DMODEL_FILE="\"$model\"" \
  "$here/main.c" "$here/startup.c" "$here/model.S" "$out/kernels.c" "$out"/objects/*.o \
  -L"$here" -T "$board.ld" -nostartfiles --specs=nano.specs --specs=rdimon.specs \
  -Wl,--gc-sections -lm -o "$out/example.elf"

timeout 300 qemu-system-arm -M "$board" -nographic -semihosting-config enable=on,target=native \
  -kernel "$out/example.elf" </dev/null >"$out/printed" || { cat "$out/printed" >&2; exit 1; }
grep '^output' "$out/printed" >"$out/actual" || true
code=$(arm-none-eabi-size -A "$out/example.elf" | awk '$1 == ".text" {print $2}')
echo "$board $(basename "$(dirname "$model")")/$(basename "$model"): code $((code - $(stat -c %s "$model"))) bytes"
grep -v '^output' "$out/printed" | sed 's/^/  /'
if cmp -s "$out/expected" "$out/actual"; then
  echo "  outputs equal the host's"
else
  echo "  outputs differ from the host's:" >&2
  diff "$out/expected" "$out/actual" >&2 || true
  exit 3
fi
