#!/usr/bin/env python3
"""Tries every line of advice: `berth plan` with the line's options must give the peak that the line
promises, and the saving must be what is between the two peaks.

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


tried, topics = 0, set()
for model in models:
    inspected = run("inspect", model, *options)
    peak = run("plan", model, *options)["peak_bytes"]
    savings = [line["saved_bytes"] for line in inspected["advice"]]
    if savings != sorted(savings, reverse=True):
        sys.exit("%s: the advice is not ranked" % model)
    if inspected["peak_bytes"] != peak:
        sys.exit("%s: inspect and plan disagree" % model)
    for line in inspected["advice"]:
        kept = options
        if line["topic"] == "inputs":
            if "--like" in options:
                continue  # the rule is part of that runtime, and no option undoes it
            kept = [o for o in options if o != "--keep-inputs"]
        changed = run("plan", model, *kept, *shlex.split(line["options"]))
        if changed["peak_bytes"] != line["peak_bytes"]:
            sys.exit("%s: %s promises %d, but the peak is %d"
                     % (model, line["options"], line["peak_bytes"], changed["peak_bytes"]))
        if peak - line["peak_bytes"] != line["saved_bytes"]:
            sys.exit("%s: %s: the saving is wrong" % (model, line["options"]))
        if line["limit_step"] is not None and line["limit_step"] != changed["peaks"][0]["step"]:
            sys.exit("%s: %s: the next limit is wrong" % (model, line["options"]))
        tried += 1
        topics.add(line["topic"])
print("%d lines tried: %s" % (tried, " ".join(sorted(topics))))
