#!/usr/bin/env python3
"""The account under "What it is made of" must close: its lines in all are the peak, and the peak and
what Berth's runtime needs besides are the RAM that `berth run` then takes, dynamic tensors apart.

usage: check_account.py BERTH MODEL...
"""
import json
import re
import subprocess
import sys

berth, *models = sys.argv[1:]
checked = 0
for model in models:
    text = subprocess.run([berth, "inspect", model], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    lines = text[text.index("What it is made of"):].split("\n\n")[0].splitlines()[1:]
    rows = []  # name and number in all
    for line in lines:
        match = re.match(r"  (\s*\S.*?)  +.*?(-?[\d,]+)$", line)
        if match and match.group(1) != "fragmentation":
            rows.append((match.group(1).strip(), int(match.group(2).replace(",", ""))))
    names = [name for name, _ in rows]
    peak = names.index("peak")
    if sum(number for _, number in rows[:peak]) != rows[peak][1]:
        sys.exit("%s: %s" % (model, rows))
    run = subprocess.run([berth, "run", model, "--planner", "best", "--json"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if run.returncode != 0:
        if "Berth itself cannot run it" not in text or peak + 1 != len(rows):
            sys.exit("%s: cannot be run, but there is an account of it" % model)
        continue
    total = rows[-1]
    if not total[0].startswith("RAM that a ") or sum(n for _, n in rows[peak:-1]) != total[1]:
        sys.exit("%s: %s" % (model, rows))
    ran = json.loads(run.stdout)
    if ran["total_bytes"] - ran["dynamic_bytes"] != total[1]:
        sys.exit("%s: the run takes %d, not %d" % (model, ran["total_bytes"], total[1]))
    checked += 1
print("%d accounts close" % checked)
