#!/usr/bin/env python3
"""Checks a trace and a graph of a model against what `berth plan` and `berth inspect` say.

usage: check_views.py INSPECT.json TRACE.json GRAPH.dot GRAPH.json
"""
import json
import re
import sys

model, trace = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:3])
dot = open(sys.argv[3], encoding="utf-8").read()
graph = json.load(open(sys.argv[4], encoding="utf-8"))


def expect(condition, what):
    if not condition:
        sys.exit("%s: %s" % (sys.argv[2], what))


# The trace: a slice for each step, one behind the other, each on its own track.
events = trace["traceEvents"]
main = [o for o in model["operators"] if o["subgraph"] == 0]
slices = [e for e in events if e["ph"] == "X"]
expect([s["name"] for s in slices] == [o["name"] for o in main], "slices")
expect(len({s["tid"] for s in slices}) == len(slices), "tracks")
named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
for index, (one, operator) in enumerate(zip(slices, main)):
    expect(one["args"] == {"step": index, "live_bytes": operator["live_bytes"]}, "live_bytes")
    expect(named[one["tid"]] == "%d %s" % (index, operator["name"]), "a track's name")
    if index > 0:
        before = slices[index - 1]
        expect(abs(before["ts"] + before["dur"] - one["ts"]) < 0.0015, "a gap between slices")
# The counter: the sum of its classes is the load of each step, and nothing in the end.
counters = [e for e in events if e["ph"] == "C"]
expect([sum(c["args"].values()) for c in counters]
       == [o["live_bytes"] for o in main] + [0], "counter")
expect([c["ts"] for c in counters[:-1]] == [s["ts"] for s in slices], "counter's times")
# Lives: from the beginning of the first step to the end of the last.
for index, buffer in enumerate(model["buffers"]):
    begin, = (e for e in events if e["ph"] == "b" and e["id"] == index)
    end, = (e for e in events if e["ph"] == "e" and e["id"] == index)
    expect(begin["ts"] == counters[buffer["first"]]["ts"], "begin of a life")
    expect(end["ts"] == counters[buffer["last"] + 1]["ts"], "end of a life")
    expect(begin["args"] == {"bytes": buffer["size"], "offset": buffer["offset"]}, "a life")

# The graph: every operator is a node, every end of an edge is one, and both forms agree.
nodes = set(re.findall(r"^  (\w+) \[", dot, re.MULTILINE))
edges = re.findall(r"^  (\w+) -> (\w+) \[label=\"(\d+): ([\d,?]+)\"", dot, re.MULTILINE)
expect({"s%do%d" % (o["subgraph"], o["operator"]) for o in model["operators"]} <= nodes, "nodes")
expect(len(graph["nodes"]) == len(model["operators"]), "nodes of the JSON")
for source, target, _, _ in edges:
    expect(source in nodes and target in nodes, "an edge without a node")
expect(sorted((e["from"], e["to"], e["tensor"]) for e in graph["edges"])
       == sorted((s, t, int(n)) for s, t, n, _ in edges), "edges")
arena = {(t["subgraph"], t["tensor"]): t for t in model["tensors"]}
made = {(t["subgraph"], t["producer"]) for t in arena.values()}
for node in graph["nodes"]:
    if node["subgraph"] == 0:
        expect(node["live_bytes"] == main[node["operator"]]["live_bytes"], "live_bytes")
        expect(node["fullest"] == (node["live_bytes"] == model["lower_bound_bytes"] > 0), "fullest")
for edge in graph["edges"]:
    expect(edge["bytes"] == arena[(edge["subgraph"], edge["tensor"])]["bytes"], "bytes")
