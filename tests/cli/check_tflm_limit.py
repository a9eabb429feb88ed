#!/usr/bin/env python3
"""`berth check --runtime tflm` must draw the line at the arena that stock TFLM was measured to need.

usage: check_tflm_limit.py BERTH CORPUS
"""
import json
import pathlib
import subprocess
import sys

berth, corpus = sys.argv[1:]
compared = 0
for entry in json.loads(pathlib.Path(corpus, "manifest.json").read_text(encoding="utf-8")):
    need = (entry.get("tflm") or {}).get("min_arena_bytes")
    if not need:
        continue
    model = str(pathlib.Path(corpus, entry["name"], "model.tflite"))
    for limit, expected in ((need, 0), (need - 1, 3)):
        status = subprocess.run([berth, "check", model, "--runtime", "tflm", "--max-arena",
                                 str(limit)], stdout=subprocess.PIPE, check=False).returncode
        if status != expected and not (status == 4 and expected == 0):
            sys.exit("%s: exit status %d at %d bytes, measured %d" % (model, status, limit, need))
    compared += 1
print("%d models" % compared)
