#!/usr/bin/env python3
"""Compares Berth's speed and memory with native TensorFlow Lite's, on the reference data's models.

  bench/runtime.py [--fast MS] [--rounds N] [--json FILE] [MODEL...]

Runs each model in turn in build/berth (or what the environment's BERTH names) and in TensorFlow
Lite 2.9 with XNNPACK (the library comes from npm's tfjs-tflite-node, the program is
../shared/tools/tflite_run.c), one thread each, and takes the minima over all rounds. Models on which
2.9 fails with XNNPACK (the uint8 ones) are compared with LiteRT's WebAssembly build instead (npm's
@litertjs/core, in bench/litert.cjs). The last line is the geometric mean of the ratios over models
that take the other at least --fast (0.1) milliseconds. Memory: what Berth is given to the byte, and
by how much the peak resident memory of each process exceeds that with a model of next to nothing.
Downloads go to build/tflite; without network or ../shared it says that it is skipped.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("BERTH_SHARED", ROOT.parent / "shared"))
CORPUS, TOOLS = SHARED / "corpus", SHARED / "tools"
FOLDER = ROOT / "build" / "tflite"
LIBRARY = FOLDER / "package" / "cc_deps" / "linux_amd64" / "libtensorflowlite_c.so"
BERTH = pathlib.Path(os.environ.get("BERTH", ROOT / "build" / "berth"))
TINY = CORPUS / "tflm" / "hello_world_float" / "model.tflite"


def quietly(*command):
    return subprocess.run(list(map(str, command)), cwd=FOLDER, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def fetch():
    """The native library and a program around it; false if they cannot be had."""
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        if not LIBRARY.exists():
            if not quietly("npm", "pack", "tfjs-tflite-node@0.0.2"):
                return False
            quietly("tar", "xzf", "tfjs-tflite-node-0.0.2.tgz")
        if not (FOLDER / "node_modules" / "@litertjs" / "core").is_dir():
            quietly("npm", "install", "--silent", "@litertjs/core@2.5.3")
        return LIBRARY.exists() and quietly("cc", "-O2", TOOLS / "tflite_run.c", "-o", "tflite_run", "-ldl")
    except FileNotFoundError:
        return False


def peak_resident(pid):
    """The process's peak so far, in bytes. (What wait4 tells is never less than its parent's.)"""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0][1]) * 1024 if lines else 0


def run(command):
    """What the command prints and the peak of its resident memory in bytes; (None, 0) if it fails."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.DEVNULL)
        peak = 0
        while child.poll() is None:
            peak = max(peak, peak_resident(child.pid))
            time.sleep(0.002)
        out.seek(0)
        text = out.read().decode()
    return (text, peak) if child.returncode == 0 else (None, 0)


def berth(model, repeat):
    text, memory = run([BERTH, "run", model, "--fill", "zero", "--invokes", repeat, "--json"])
    if text is None:
        return None
    result = json.loads(text)
    return {"ms": result["min_ns"] / 1e6, "resident": memory, "bytes": result["total_bytes"]}


def native(model, repeat, flags=3):
    """TensorFlow Lite 2.9, with the operators that XNNPACK takes: see tflite_run.c for the flags."""
    text, memory = run([FOLDER / "tflite_run", model, "--lib", LIBRARY, "--repeat", repeat,
                        "--flags", flags])
    if not text or '"ok"' not in text:
        return None
    return {"ms": json.loads(text)["ms_min"], "resident": memory, "what": "native"}


def native_without_uint8(model, repeat):
    """The same with uint8 operators left to 2.9's own kernels, which are slower."""
    return native(model, repeat, 1)


def wasm(model, repeat):
    text, memory = run(["node", ROOT / "bench" / "litert.cjs", model, FOLDER / "node_modules", repeat])
    if not text or "ms_min" not in text:
        return None
    return {"ms": json.loads(text)["ms_min"], "resident": memory, "what": "wasm"}


def best(way, model, repeat, before):
    result = way(model, repeat)
    if result and before:
        result["ms"] = min(result["ms"], before["ms"])
        result["resident"] = max(result["resident"], before["resident"])
    return result


def measure(model, rounds, bases):
    ours = berth(model, 3)
    for other in (native, wasm, native_without_uint8):
        first = other(model, 3)
        if first is not None:
            break
    if first is None or ours is None:
        return None
    repeats = [max(2, min(5000, int(200 / max(result["ms"], 1e-3)))) for result in (ours, first)]
    ours = first = None
    for _ in range(rounds):
        ours = best(berth, model, repeats[0], ours)
        first = best(other, model, repeats[1], first)
    if ours is None or first is None:
        return None
    return {"berth_ms": ours["ms"], "other": first["what"], "other_ms": first["ms"],
            "ratio": ours["ms"] / first["ms"], "berth_bytes": ours["bytes"],
            "berth_resident_bytes": max(0, ours["resident"] - bases["berth"]),
            "other_resident_bytes": max(0, first["resident"] - bases[first["what"]])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", type=float, default=0.1, help="leave out what takes native less")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "build" / "bench_runtime.json")
    parser.add_argument("models", nargs="*", help="only those whose name contains one of these")
    options = parser.parse_args()
    if not TINY.exists() or not BERTH.exists():
        print("skipped: the reference data (../shared) or build/berth are not there")
        return 0
    if not fetch():
        print("skipped: npm cannot fetch TensorFlow Lite here")
        return 0
    bases = {"berth": berth(TINY, 100000)["resident"], "native": native(TINY, 100000)["resident"],
             "wasm": (wasm(TINY, 1000) or {"resident": 0})["resident"]}
    print(f"{'model':48} {'Berth ms':>9} {'other ms':>9} {'ratio':>6}  {'Berth given':>11} "
          f"{'resident':>9} {'other res.':>10}")
    results = {}
    for path in sorted(CORPUS.glob("*/*/model.tflite")):
        name = f"{path.parent.parent.name}/{path.parent.name}"
        if options.models and not any(part in name for part in options.models):
            continue
        result = measure(path, options.rounds, bases)
        if result is None:
            print(f"{name:48} does not run in both")
        elif result["other_ms"] >= options.fast or options.models:
            results[name] = result
            print(f"{name:48} {result['berth_ms']:9.3f} {result['other_ms']:9.3f} "
                  f"{result['ratio']:6.2f}  {result['berth_bytes']:11,} "
                  f"{result['berth_resident_bytes']:9,} {result['other_resident_bytes']:10,}"
                  f"{'  (wasm)' if result['other'] == 'wasm' else ''}", flush=True)
    if results:
        ratios = [result["ratio"] for result in results.values()]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} models: geometric mean {mean:.2f}, largest {max(ratios):.2f}")
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
