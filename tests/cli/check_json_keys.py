#!/usr/bin/env python3
"""Holds docs/json.md to what the commands print: every key of every document must be in its section,
and every key that a section names without "(r)" must be printed.

usage: check_json_keys.py BERTH FOLDER     (FOLDER: for the files that commands write)
"""
import json
import pathlib
import re
import subprocess
import sys

berth, folder = sys.argv[1:]
DOCS = pathlib.Path("docs/json.md").read_text(encoding="utf-8")
M = "models/resnet8_int8.tflite"

COMMANDS = {
    "plan": ["plan models/custom_op.tflite", "plan docs/worked_example.csv --capacity 1M",
             "plan %s --region sram=32K@1 --region psram=8M@10 --planner all" % M,
             "plan %s --print-memory-usage --conflicts --capacity 1M" % M,
             "plan models/ds_cnn_kws_int8.tflite --stream max --stream-input --order best"],
    "inspect": ["inspect models/custom_op.tflite", "inspect %s --runtime tflm" % M,
                "inspect models/segmentation_float16.tflite --instances 2",
                "inspect models/control_flow.tflite --print-memory-usage",
                "inspect %s --runtime tflite --conflicts" % M],
    "run": ["run %s --profile --guard --print-allocations" % M, "run models/dynamic_shape.tflite",
            "run %s --watch --invokes 4 --guard=fast" % M, "run models/segmentation_float16.tflite --stream-output", "run %s --replay models/reference/resnet8_int8" % M],
    "sweep": ["plan %s --sweep regions" % M, "plan models/segmentation_float16.tflite --sweep "
              "resolution", "run %s --sweep resolution=32:48:16" % M],
    "check": ["check models/custom_op.tflite --max-arena 1M", "check %s --max-arena 1K" % M,
              "check %s --max-arena 1K --runtime tflm" % M],
    "check-plan": ["check-plan %s FOLDER/wrong.json" % M],
    "bisect": ["bisect %s" % M],
    "diff": ["diff %s --versus --align 64" % M, "diff %s models/ds_cnn_kws_int8.tflite" % M],
    "log": ["log %s --history FOLDER/keys.csv" % M],
    "graph": ["graph %s" % M, "graph models/dynamic_shape.tflite"],
    "trace": ["trace %s --untimed -o FOLDER/trace.json" % M],
    "report": ["report %s models/ds_cnn_kws_int8.tflite -o FOLDER/page.html --svg FOLDER/map.svg"
               % M],
    "optimize": ["optimize %s" % M, "optimize models/segmentation_float16.tflite"],
}


def section(name):
    match = re.search(r"^## %s$(.*?)(?=^## |\Z)" % name, DOCS, re.MULTILINE | re.DOTALL)
    if match is None:
        sys.exit("docs/json.md has no section %s" % name)
    return match.group(1)


def documented(name):
    """Keys of a section, and those of them that must be printed."""
    keys, needed = set(), set()
    text = section(name)
    for row in re.findall(r"^\| (`.*?) \| (.*) \|$", text, re.MULTILINE):
        found = re.findall(r"`([^`]+)`", row[0])
        keys.update(found)
        if "(r" not in row[1] and not any(k.endswith("*") for k in found):
            needed.update(k for k in found if "." not in k)
    has = re.search(r"^Has: (.*)\.$", text, re.MULTILINE)
    for other in re.findall(r"summary|buffers", has.group(1) if has else ""):
        keys |= documented(other)[0]
    return keys, needed


def paths(value, prefix, found):
    if isinstance(value, dict):
        for key, inner in value.items():
            found.add(prefix + key)
            paths(inner, prefix + key + ".", found)
    elif isinstance(value, list):
        for inner in value:
            paths(inner, prefix[:-1] + "[].", found)


def is_documented(path, keys):
    if path in keys:
        return True
    # `a.*` and `a[].*` speak of everything below.
    parts = path.split(".")
    return any(".".join(parts[:n]) + ".*" in keys for n in range(1, len(parts)))


wrong = dict(json.loads(subprocess.run([berth, "plan", M, "--json"], stdout=subprocess.PIPE,
                                       check=True).stdout))
wrong["buffers"][3]["offset"] = wrong["buffers"][2]["offset"]
pathlib.Path(folder, "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")

listed = re.findall(r"^  (\S+) ", subprocess.run([berth, "--help"], stdout=subprocess.PIPE,
                                                 encoding="utf-8", check=True).stdout, re.MULTILINE)
for command in listed:
    if command not in COMMANDS:
        sys.exit("the keys of berth %s are not checked" % command)

for name, commands in COMMANDS.items():
    keys, needed = documented(name)
    seen = set()
    for command in commands:
        arguments = command.replace("FOLDER", folder).split()
        result = subprocess.run([berth, *arguments, "--json"], stdout=subprocess.PIPE, check=False)
        if result.returncode not in (0, 3, 4):
            sys.exit("%s: exit status %d" % (command, result.returncode))
        document = json.loads(result.stdout)
        if document.get("schema_version") != 1:
            sys.exit("%s: no schema_version" % command)
        found = set()
        paths(document, "", found)
        for path in sorted(found):
            if not is_documented(path, keys):
                sys.exit("%s prints %s, which docs/json.md doesn't describe (section %s)"
                         % (command, path, name))
        seen |= found
    for key in sorted(needed - seen):
        sys.exit("docs/json.md describes %s of %s, which no command prints" % (key, name))
print("%d sections agree" % len(COMMANDS))
