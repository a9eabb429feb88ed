#!/usr/bin/env python3
"""Every point of a sweep must be what `berth plan` says with the options that amount to it.

usage: check_sweep.py BERTH MODEL KIND
"""
import json
import subprocess
import sys

berth, model, kind = sys.argv[1:]


def run(*arguments):
    result = subprocess.run([berth, "plan", model, *arguments, "--json"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=False)
    return json.loads(result.stdout) if result.returncode == 0 else None


def options(value):
    if kind == "align":
        return ["--align", value]
    if kind == "regions":
        return ["--region", "fast=%s@1" % value, "--region", "slow=1G@10"]
    shape = tensor["shape"]
    if kind == "batch":
        return ["--set-shape", "0=" + ",".join([value] + [str(d) for d in shape[1:]])]
    width = int(value) * shape[2] // shape[1]
    return ["--set-shape", "0=%d,%s,%d,%d" % (shape[0], value, width, shape[3])]


inspected = json.loads(subprocess.run([berth, "inspect", model, "--json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
inputs = [b["tensor"] for b in inspected["buffers"] if b["kind"] == "input"]
tensor = next(t for t in inspected["tensors"] if t["subgraph"] == 0 and t["tensor"] == inputs[0])
curve = run("--sweep", kind)
planned = 0
for point in curve["points"]:
    plan = run(*options(str(point["value"])))
    if point["peak_bytes"] is None:
        if plan is not None or not point["why"]:
            sys.exit("%s: %s can be planned" % (model, point["value"]))
        continue
    planned += 1
    key = "cost" if kind == "regions" else "peak_bytes"
    if plan[key] != point[key]:
        sys.exit("%s: %s %s: %d, but plan says %d"
                 % (model, kind, point["value"], point[key], plan[key]))
if planned == 0:
    sys.exit("%s: no point of %s could be planned" % (model, kind))
