#!/usr/bin/env python3
"""Writes the shipped .tflite models into models/.

    tools/make_models.py            writes every model
    tools/make_models.py --check    writes nothing; exit status 1 if a file is not current

Needs only Python 3.8 or later. The models are in model_generator/topologies.py; models/README.md
says what each is for. Weights are pseudo-random, the same on every machine.
"""

import argparse
import pathlib
import sys

from model_generator import topologies

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"


def main():
    parser = argparse.ArgumentParser(description="Writes the shipped models into models/.")
    parser.add_argument(
        "--check", action="store_true", help="compare with the files, write nothing"
    )
    check = parser.parse_args().check

    wanted = {name + ".tflite": make() for name, make in topologies.ALL.items()}
    if not check:
        for name, data in wanted.items():
            (MODELS / name).write_bytes(data)
        return 0

    present = {path.name: path.read_bytes() for path in MODELS.glob("*.tflite")}
    faults = ["%s is missing" % name for name in wanted if name not in present]
    faults += [
        "%s is not what the generator writes" % name
        for name in wanted
        if name in present and present[name] != wanted[name]
    ]
    faults += ["%s is of no topology" % name for name in present if name not in wanted]
    for fault in sorted(faults):
        print("models/%s: run tools/make_models.py" % fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
