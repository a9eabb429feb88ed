#!/usr/bin/env python3
"""Tries every line of advice: its command, run by a shell, must give the peak that the line promises,
and the saving must be what is between the two peaks.

usage: check_advice.py BERTH MODEL... [-- OPTION...]     (OPTIONs go to both commands)
"""
import json
import shlex
import subprocess
import sys

berth, *names = sys.argv[1:]
options = names[names.index("--") + 1:] if "--" in names else []
models = names[:names.index("--")] if "--" in names else names


def run(*arguments):
    result = subprocess.run([berth, *arguments, "--json"], stdout=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.exit("%s: exit status %d" % (" ".join(arguments), result.returncode))
    return json.loads(result.stdout)


def repeat(command):
    if not command.startswith("berth plan "):
        sys.exit("%s: not a berth plan" % command)
    words = shlex.split(command)
    shell = subprocess.run(["sh", "-c", "printf '%s\\n' " + command], stdout=subprocess.PIPE,
                           check=True).stdout.decode().splitlines()
    if shell != words:
        sys.exit("%s: a shell takes it as %s" % (command, shell))
    return run(*words[1:])


# The kinds in their order; the saving counts within the first two.
KINDS = ["free", "interface", "network"]
tried, topics = 0, set()
for model in models:
    inspected = run("inspect", model, *options)
    peak = run("plan", model, *options)["peak_bytes"]
    ranks = [(KINDS.index(line["kind"]), -line["saved_bytes"] * (line["kind"] != "network"))
             for line in inspected["advice"]]
    if ranks != sorted(ranks):
        sys.exit("%s: the advice is not ranked" % model)
    if inspected["peak_bytes"] != peak:
        sys.exit("%s: inspect and plan disagree" % model)
    for line in inspected["advice"]:
        changed = repeat(line["command"])
        if line["options"] not in line["command"]:
            sys.exit("%s: %s is not in %s" % (model, line["command"], line["command"]))
        if changed["peak_bytes"] != line["peak_bytes"]:
            sys.exit("%s: %s promises %d, but the peak is %d"
                     % (model, line["command"], line["peak_bytes"], changed["peak_bytes"]))
        if peak - line["peak_bytes"] != line["saved_bytes"]:
            sys.exit("%s: %s: the saving is wrong" % (model, line["command"]))
        if line["limit_step"] is not None and line["limit_step"] != changed["peaks"][0]["step"]:
            sys.exit("%s: %s: the next limit is wrong" % (model, line["command"]))
        tried += 1
        topics.add(line["topic"])
print("%d lines tried: %s" % (tried, " ".join(sorted(topics))))
