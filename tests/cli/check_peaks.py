#!/usr/bin/env python3
"""Recomputes what `berth inspect --json` says about the peak from its buffers and operators.

usage: check_peaks.py FILE.json...
"""
import json
import sys


def check(path):
    with open(path, encoding="utf-8") as file:
        model = json.load(file)

    def expect(condition, what):
        if not condition:
            sys.exit("%s: %s" % (path, what))

    buffers = model["buffers"]
    sizes = {(t["subgraph"], t["tensor"]): t["bytes"] for t in model["tensors"]}
    main = [o for o in model["operators"] if o["subgraph"] == 0]
    loads = [sum(b["size"] for b in buffers if b["first"] <= step <= b["last"])
             for step in range(model["steps"])]
    if model["peak_bytes"] == 0:
        expect(model["peaks"] == [], "a peak of nothing")
        return
    peak, = model["peaks"]
    step = peak["step"]
    expect(peak["peak_bytes"] == model["peak_bytes"], "peak_bytes")
    expect(peak["operator"] == main[step]["name"], "operator")

    # The step is the fullest of those in which the highest byte is used.
    tops = [b for b in buffers if b["offset"] + b["size"] == peak["peak_bytes"]]
    steps = {s for b in tops for s in range(b["first"], b["last"] + 1)}
    expect(step in steps and loads[step] == max(loads[s] for s in steps), "step")

    # What is live in it, by class, adds up to the peak.
    live = [i for i, b in enumerate(buffers) if b["first"] <= step <= b["last"] and b["size"] > 0]
    expect(sorted(l["buffer"] for l in peak["live"]) == live, "live")
    def classes(indices):
        found = {}
        for i in indices:
            b = buffers[i]
            own = sizes[(b["subgraph"], b["tensor"])]
            found[b["kind"]] = found.get(b["kind"], 0) + own
            found["alignment"] = found.get("alignment", 0) + b["size"] - own
        return found
    for key, indices in (("classes", live), ("classes_in_all", range(len(buffers)))):
        found = classes(indices)
        expect({k: v for k, v in peak[key].items() if v}
               == {k: v for k, v in found.items() if v}, key)
    expect(sum(v for k, v in peak["classes"].items() if k != "alignment") == peak["live_bytes"],
           "live_bytes")
    expect(peak["live_bytes"] + peak["alignment_bytes"] + peak["fragmentation_bytes"]
           - peak["overlap_bytes"] == peak["peak_bytes"], "the account")

    # The nearest steps are the fullest ones.
    order = sorted(range(model["steps"]), key=lambda s: (-loads[s], s))[:10]
    expect([n["step"] for n in peak["nearest_steps"]] == order, "nearest_steps")
    expect([n["load_bytes"] for n in peak["nearest_steps"]] == [loads[s] for s in order], "load")

    # Makers and readers, from the operators' own lists.
    for entry in peak["live"]:
        b = buffers[entry["buffer"]]
        if b["subgraph"] != 0:
            continue
        makers = [o["operator"] for o in main if b["tensor"] in o["outputs"]]
        readers = [o["operator"] for o in main if b["tensor"] in o["inputs"]]
        expect(entry["maker"] == (makers[0] if makers else None), "maker")
        expect(entry["last_reader"] == (readers[-1] if readers else None), "last_reader")
        if entry["kept_by"] == "skip":
            waits = readers[-1] - readers[-2]
            expect(len(readers) > 1 and waits > 1 and readers[-1] > step, "no skip connection")
            expect(entry["kept_steps"] == waits, "kept_steps")
            expect("kept %d steps by the skip connection into operator %d %s"
                   % (waits, readers[-1], main[readers[-1]]["name"]) in entry["why"], "why")
        if entry["kept_by"] == "read":
            expect(readers[-1] == step, "not read here")
        if entry["kept_by"] == "waits":
            expect(readers[-1] > step, "nobody waits for it")
            before = (readers[:-1] or makers or [0])[-1]
            expect(entry["kept_steps"] == readers[-1] - before, "kept_steps")
        expect((entry["kept_by"] == "variable") == (b["kind"] == "variable"), "variable")


for name in sys.argv[1:]:
    check(name)
