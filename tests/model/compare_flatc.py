#!/usr/bin/env python3
"""Compares what Berth's reader says about models with what flatc, a second reader, says.

usage: compare_flatc.py DUMP_PROGRAM SAMPLE_PROGRAM LARGEST FILE-OR-FOLDER...

DUMP_PROGRAM prints a model as Berth reads it (dump.c), SAMPLE_PROGRAM writes one that has one of
everything (write_sample.c); flatc converts it to JSON with the schema
beside this script, and what follows from several fields is derived from that JSON here once more.
Models above LARGEST bytes are left out, since flatc prints every weight. Buffers behind the
FlatBuffer, which flatc cannot see, are read from the file here.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

SCHEMA = pathlib.Path(__file__).with_name("tflite.fbs")


def union_members(name):
    """The union's members by name, numbered from 1 as in the file."""
    body = SCHEMA.read_text().split(f"union {name} {{")[1].split("}")[0]
    return {member.strip(): number for number, member in enumerate(body.split(","), 1)}


def enum_values(name):
    body = SCHEMA.read_text().split(f"enum {name} : ")[1].split("{")[1].split("}")[0]
    return {value.strip(): number for number, value in enumerate(body.split(","))}


OPTIONS = union_members("BuiltinOptions")
OPTIONS_2 = union_members("BuiltinOptions2")
DETAILS = union_members("QuantizationDetails")
CODES = enum_values("BuiltinOperator")
NAMES = {number: name for name, number in CODES.items()}
SECOND_UNION = 256  # what berth_operator_t adds to numbers of BuiltinOptions2


def summary(data):
    return [len(data), zlib.adler32(data)]


def outside(table, offset, size, file):
    """Bytes behind the FlatBuffer."""
    start = table.get(offset, 0)
    return file[start : start + table.get(size, 0)] if start > 1 else b""


def buffer_data(model, index, file):
    if index == 0 or index >= len(model.get("buffers", [])):
        return b""
    buffer = model["buffers"][index]
    return bytes(buffer.get("data", [])) or outside(buffer, "offset", "size", file)


def index_values(dimension, field):
    return dimension.get(field, {}).get("values", [])


def sparsity(tensor):
    table = tensor["sparsity"]
    return {
        "traversal_order": table.get("traversal_order", []),
        "block_map": table.get("block_map", []),
        "dimensions": [
            {
                "sparse": dimension["format"],
                "dense_size": dimension["dense_size"],
                "segments": index_values(dimension, "array_segments"),
                "indices": index_values(dimension, "array_indices"),
            }
            for dimension in table.get("dim_metadata", [])
        ],
    }


def tensor(model, table, file):
    quantization = table.get("quantization", {})
    shape = table.get("shape", [])
    result = {
        "name": table.get("name", ""),
        "type": table["type"].lower(),
        "variable": int(table["is_variable"]),
        "has_rank": int(table["has_rank"]),
        "buffer": table["buffer"],
        "data": summary(buffer_data(model, table["buffer"], file)),
        "shape": shape,
        "signature": table.get("shape_signature", []),
        "scales": quantization.get("scale", []),
        "zero_points": quantization.get("zero_point", []),
        # A vector has only one dimension, whatever the file says: see model.h.
        "quantized_dimension": 0 if len(shape) == 1 else quantization.get("quantized_dimension", 0),
        "quantization_details": DETAILS.get(quantization.get("details_type"), 0),
        "external_buffer": table["external_buffer"],
    }
    if "sparsity" in table:
        result["sparsity"] = sparsity(table)
    return result


def number(value):
    return int(value) if isinstance(value, bool) else value


def options(table):
    """Number and fields of the options in use."""
    second = OPTIONS_2.get(table.get("builtin_options_2_type"), 0)
    if second and "builtin_options_2" in table:
        return SECOND_UNION + second, table["builtin_options_2"]
    return OPTIONS.get(table.get("builtin_options_type"), 0), table.get("builtin_options", {})


def operator(model, table, file):
    entry = model["operator_codes"][table["opcode_index"]]
    new = entry["builtin_code"]
    code = max(entry["deprecated_builtin_code"], CODES[new] if isinstance(new, str) else new)
    custom = bytes(table.get("custom_options", [])) or outside(
        table, "large_custom_options_offset", "large_custom_options_size", file
    )
    options_type, fields = options(table)
    return {
        "code": code,
        "name": entry["custom_code"] if NAMES.get(code) == "CUSTOM" else NAMES.get(code, "UNKNOWN"),
        "version": entry["version"],
        "inputs": table.get("inputs", []),
        "outputs": table.get("outputs", []),
        "intermediates": table.get("intermediates", []),
        "custom_options": summary(custom),
        "options_type": options_type,
        "options": {name: number(value) for name, value in fields.items()},
    }


def signature(table):
    def pairs(entries):
        return [x for entry in entries for x in (entry.get("name", ""), entry["tensor_index"])]

    return {
        "key": table.get("signature_key", ""),
        "subgraph": table["subgraph_index"],
        "inputs": pairs(table.get("inputs", [])),
        "outputs": pairs(table.get("outputs", [])),
    }


def expected(model, file):
    """flatc's JSON in the form of dump.c."""
    buffers = range(len(model.get("buffers", [])))
    return {
        "version": model["version"],
        "description": model.get("description", ""),
        "operator_codes": len(model.get("operator_codes", [])),
        "buffers": [len(buffer_data(model, index, file)) for index in buffers],
        "subgraphs": [
            {
                "name": subgraph.get("name", ""),
                "inputs": subgraph.get("inputs", []),
                "outputs": subgraph.get("outputs", []),
                "tensors": [tensor(model, x, file) for x in subgraph.get("tensors", [])],
                "operators": [operator(model, x, file) for x in subgraph.get("operators", [])],
            }
            for subgraph in model["subgraphs"]
        ],
        "metadata": [
            {
                "name": entry.get("name", ""),
                "buffer": entry["buffer"],
                "data": summary(buffer_data(model, entry["buffer"], file)),
            }
            for entry in model.get("metadata", [])
        ],
        "signatures": [signature(entry) for entry in model.get("signature_defs", [])],
    }


def differences(berth, flatc, path=""):
    """Where two trees differ, as texts. Fields of options that are absent in the file and have no
    default in JSON (vectors, strings) are empty in the dump."""
    if isinstance(berth, dict) and isinstance(flatc, dict):
        for key in sorted(berth.keys() | flatc.keys()):
            if key not in flatc and berth[key] in ("", []) and path.endswith("/options"):
                continue
            if key not in berth and path.endswith("/options"):
                yield f"{path}/{key}: schema.h doesn't name this field"
                continue
            yield from differences(berth.get(key), flatc.get(key), f"{path}/{key}")
    elif isinstance(berth, list) and isinstance(flatc, list) and len(berth) == len(flatc):
        for index, (one, other) in enumerate(zip(berth, flatc)):
            yield from differences(one, other, f"{path}/{index}")
    elif berth != flatc:
        yield f"{path}: Berth {str(berth)[:60]}, flatc {str(flatc)[:60]}"


def compare(program, path, folder):
    subprocess.run(
        ["flatc", "--json", "--strict-json", "--defaults-json", "-o", folder, str(SCHEMA), "--", path],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    dump = subprocess.run([program, path], check=True, stdout=subprocess.PIPE).stdout
    flatc = json.loads(pathlib.Path(folder, path.stem + ".json").read_text())
    return list(differences(json.loads(dump), expected(flatc, path.read_bytes())))


def main():
    program, write_sample, largest, *places = sys.argv[1:]
    if not shutil.which("flatc"):
        print("skipped: flatc is not installed (Debian: flatbuffers-compiler)")
        return 0
    paths = []
    for place in map(pathlib.Path, places):
        paths += sorted(place.rglob("*.tflite")) if place.is_dir() else [place]
    compared = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        sample = pathlib.Path(folder, "sample.tflite")
        subprocess.run([write_sample, sample], check=True)
        for path in [sample, *paths]:
            if not path.exists() or path.stat().st_size > int(largest):
                continue
            found = compare(program, path, folder)
            compared += 1
            failed += bool(found)
            for line in found[:10]:
                print(f"{path}{line}")
    print(f"{compared} models, {failed} of them read differently")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
