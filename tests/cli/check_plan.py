#!/usr/bin/env python3
"""Checks plans in berth's JSON from their definition: that every key is there with the right type,
that no two buffers live in the same step share a byte, and that the totals are those of the buffers.

usage: check_plan.py FILE.json...
"""
import json
import sys

KINDS = {"input", "activation", "scratch", "workspace", "variable", "output", "reserved"}


def check(path):
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)

    def expect(condition, what):
        if not condition:
            sys.exit("%s: %s" % (path, what))

    expect(plan["schema_version"] == 1, "schema_version")
    expect(("model" in plan) != ("problem" in plan), "model or problem")
    expect(isinstance(plan["planner"], str), "planner")
    for key in ("peak_bytes", "lower_bound_bytes", "sum_bytes", "variable_bytes"):
        expect(type(plan[key]) is int and plan[key] >= 0, key)
    expect(type(plan["optimal"]) is bool, "optimal")
    expect(isinstance(plan["dynamic"], list), "dynamic")
    for tensor in plan["dynamic"]:
        expect(tensor["name"] and tensor["cause"], "a dynamic tensor has a name and a cause")

    buffers = plan["buffers"]
    tensors = set()
    for b in buffers:
        for key in ("size", "first", "last", "offset"):
            expect(type(b[key]) is int and b[key] >= 0, key)
        expect(b["first"] <= b["last"] < plan["steps"], "a lifetime beyond the steps")
        expect(isinstance(b["name"], str) and isinstance(b["region"], str), "name, region")
        if "model" in plan:
            expect(b["kind"] in KINDS, "kind")
            if b["kind"] != "reserved":
                expect((b["subgraph"], b["tensor"]) not in tensors, "a tensor twice")
                tensors.add((b["subgraph"], b["tensor"]))
            if b["kind"] == "variable":
                expect((b["first"], b["last"]) == (0, plan["steps"] - 1), "a variable's lifetime")
        else:
            expect(b["subgraph"] is None and b["tensor"] is None, "a problem has no tensors")
    expect(plan["sum_bytes"] == sum(b["size"] for b in buffers), "sum_bytes")
    expect(plan["variable_bytes"] == sum(b["size"] for b in buffers if b["kind"] == "variable"),
           "variable_bytes")
    expect(plan["peak_bytes"] == max((b["offset"] + b["size"] for b in buffers), default=0),
           "peak_bytes")
    load = max((sum(b["size"] for b in buffers if b["first"] <= step <= b["last"])
                for step in {b["first"] for b in buffers}), default=0)
    expect(load <= plan["lower_bound_bytes"] <= plan["peak_bytes"], "lower_bound_bytes")
    expect(not plan["optimal"] or plan["peak_bytes"] == plan["lower_bound_bytes"], "optimal")
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            together = a["first"] <= b["last"] and b["first"] <= a["last"]
            apart = (a["offset"] + a["size"] <= b["offset"] or b["offset"] + b["size"] <= a["offset"]
                     or a["size"] == 0 or b["size"] == 0)
            expect(apart or not together, "%s and %s overlap" % (a["name"], b["name"]))


for argument in sys.argv[1:]:
    check(argument)
print(len(sys.argv) - 1, "plans checked")
