#!/usr/bin/env python3
"""Checks what `berth run --print-memory-usage --json` says: no two buffers live in the same step
share a byte, none reaches beyond its block, and what each step holds is the sum of its buffers.

usage: check_allocations.py RUN.json PLAN.json     (PLAN: of `berth plan --kernels --no-fold`)
"""
import json
import sys

run, plan = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])


def expect(condition, what):
    if not condition:
        sys.exit("%s: %s" % (sys.argv[1], what))


buffers = [b for b in run["buffers"] if b["size"] > 0]
for b in buffers:
    expect(b["region"] == "arena" and b["offset"] is not None, "%s lies nowhere" % b["name"])
    expect(b["offset"] + b["size"] <= run["total_bytes"], "%s reaches beyond" % b["name"])
    expect(b["offset"] % 16 == 0, "%s is not aligned" % b["name"])
buffers.sort(key=lambda b: b["offset"])
for i, a in enumerate(buffers):
    for b in buffers[i + 1:]:
        if b["offset"] >= a["offset"] + a["size"]:
            break
        expect(a["last"] < b["first"] or b["last"] < a["first"],
               "%s and %s overlap" % (a["name"], b["name"]))
for usage in run["memory_usage"]:
    live = [b for b in buffers if b["first"] <= usage["step"] <= b["last"]]
    kept = [b for b in live if b["kind"] in ("workspace", "variable")]
    scratch = [b for b in live if b["kind"] == "scratch"]
    expect(usage["live_bytes"] == sum(b["size"] for b in live), "live_bytes")
    expect(usage["persistent_bytes"] == sum(b["size"] for b in kept), "persistent_bytes")
    expect(usage["scratch_bytes"] == sum(b["size"] for b in scratch), "scratch_bytes")
    expect(usage["activation_bytes"] == usage["live_bytes"] - usage["persistent_bytes"]
           - usage["scratch_bytes"], "activation_bytes")

# The planner sees the same problem as the interpreter: the peak is the interpreter's, and what is
# kept for good.
kept = sum(b["size"] for b in plan["buffers"] if b["kind"] in ("workspace", "variable"))
folded = plan["foldable_operators"] > 0
expect(folded or not plan["optimal"] or plan["peak_bytes"] - kept == run["peak_bytes"],
       "plan --kernels has a peak of %d, run of %d" % (plan["peak_bytes"] - kept,
                                                       run["peak_bytes"]))
