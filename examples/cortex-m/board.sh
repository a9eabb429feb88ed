# What there is to know about the boards that qemu emulates: sourced by run.sh and tools/test-cortex-m.
#   board_choose BOARD FOLDER   sets flags and clock; objects go below the folder
#   board_objects               compiles the portable layers, if they have changed
#   board_link PROGRAM FILE...  links sources and objects with the start-up code
#   board_run PROGRAM           runs it; each instruction takes a nanosecond of the board's time
# CFLAGS in the environment are added: -DBERTH_PORTABLE leaves out the inner loops for Arm.
board_folder=$root/examples/cortex-m

board_choose() {
  board=$1 out=$2
  case $board in
    mps2-an386) cpu='-mcpu=cortex-m4 -mfpu=fpv4-sp-d16' clock=25000000 ;;
    mps3-an547) cpu='-mcpu=cortex-m55' clock=32000000 ;;
    *) echo "there is no board $board" >&2; return 2 ;;
  esac
  flags="-mthumb $cpu -mfloat-abi=hard -O2 -std=c11 -ffunction-sections -fdata-sections
         -ffp-contract=off -w -DCLOCK_HZ=$clock ${CFLAGS:-} -I$root/include -I$root/src"
  mkdir -p "$out/objects"
  # Objects of other flags are of no use.
  if [ "$(cat "$out/flags" 2>/dev/null)" != "$flags" ]; then
    rm -f "$out"/objects/*.o
    echo "$flags" >"$out/flags"
  fi
}

board_objects() {
  newest=$(ls -t "$root"/include/berth/*.h "$root"/src/*/*.h | head -n 1)
  for source in "$root"/src/plan/*.c "$root"/src/arena/*.c "$root"/src/model/*.c \
    "$root"/src/graph/*.c "$root"/src/operators/*.c "$root"/src/run/*.c; do
    object=$out/objects/$(basename "$(dirname "$source")")-$(basename "$source" .c).o
    [ "$object" -nt "$source" ] && [ "$object" -nt "$newest" ] || echo "$source $object"
  done | xargs -r -n 2 -P "${JOBS:-2}" sh -c \
    "arm-none-eabi-gcc $(echo $flags) -c \"\$0\" -o \"\$1\""
}

board_link() {
  program=$1
  shift
  # shellcheck disable=SC2086 # the flags are words
  arm-none-eabi-gcc $flags "$@" "$board_folder/startup.c" "$out"/objects/*.o -L"$board_folder" \
    -T "$board.ld" -nostartfiles --specs=nano.specs --specs=rdimon.specs -Wl,--gc-sections -lm \
    -o "$program"
}

board_run() {
  timeout 300 qemu-system-arm -M "$board" -nographic -icount shift=0 \
    -semihosting-config enable=on,target=native -kernel "$1" </dev/null
}
