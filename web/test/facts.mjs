// What is derived from a document, tested with node alone.
import assert from "node:assert/strict";
import test from "node:test";
import { account, letterOf, lastReader, liveAt, loadIf, operatorAt, pairBuffers, readPlan, roleIn } from "../src/facts.js";
import { brieflyAll, bytes, grouped, printable } from "../src/format.js";
import { neighbour } from "../src/keys.js";
import { advice, headline, keptBy, need, reason } from "../src/prose.js";

// x -> CONV a -> CONV b -> ADD(a, b) c: `a` waits for the ADD.
const chain = () => ({
  schema_version: 1, model: "chain.tflite", planner: "best", status: "planned",
  peak_bytes: 224, lower_bound_bytes: 224, sum_bytes: 288, optimal: true, variable_bytes: 0, steps: 3, dynamic: [],
  peaks: [{
    region: "arena", peak_bytes: 224, step: 1, live_bytes: 222, alignment_bytes: 2, fragmentation_bytes: 0, overlap_bytes: 0,
    live: [
      { buffer: 1, maker: 0, last_reader: 2, kept_by: "skip", kept_steps: 1 },
      { buffer: 2, maker: 1, last_reader: 2, kept_by: "waits", kept_steps: 1 },
    ],
  }],
  operators: [
    { subgraph: 0, operator: 0, name: "CONV_2D", live_bytes: 160, foldable: false, inputs: [0, 9, -1], outputs: [1] },
    { subgraph: 0, operator: 1, name: "CONV_2D", live_bytes: 224, foldable: false, inputs: [1, 9], outputs: [2] },
    { subgraph: 0, operator: 2, name: "ADD", live_bytes: 64, foldable: false, inputs: [1, 2], outputs: [3] },
  ],
  tensors: [
    { subgraph: 0, tensor: 1, type: "int8", shape: [1, 8, 4, 4], bytes: 128 },
    { subgraph: 0, tensor: 2, type: "int8", shape: [94], bytes: 94 },
  ],
  buffers: [
    { id: 0, name: "x", subgraph: 0, tensor: 0, kind: "input", size: 32, first: 0, last: 0, offset: 128, region: "arena" },
    { id: 1, name: "a", subgraph: 0, tensor: 1, kind: "activation", size: 128, first: 0, last: 2, offset: 0, region: "arena" },
    { id: 2, name: "b", subgraph: 0, tensor: 2, kind: "activation", size: 96, first: 1, last: 2, offset: 128, region: "arena" },
    { id: 3, name: "c", subgraph: 0, tensor: 3, kind: "output", size: 32, first: 2, last: 2, offset: 224, region: "arena" },
  ],
});

test("a buffer knows its maker and its readers", () => {
  const plan = readPlan(chain());
  const [x, a, , c] = plan.buffers;
  assert.equal(x.maker, null);
  assert.equal(a.maker, plan.operators[0]);
  assert.deepEqual(a.readers.map((op) => op.index), [1, 2]);
  assert.equal(lastReader(a).name, "ADD");
  assert.equal(lastReader(c), null);
  assert.equal(a.type, "int8");
  assert.equal(plan.buffers[2].bytes, 94);
  assert.equal(plan.operators[0].constants, 1);
});

test("usage and load of each step are sums of what lives in it", () => {
  const [region] = readPlan(chain()).regions;
  assert.deepEqual([...region.load], [160, 224, 256]);
  assert.deepEqual([...region.usage.get("activation")], [128, 224, 224]);
  assert.deepEqual([...region.usage.get("input")], [32, 0, 0]);
  assert.equal(region.height, 256);
  assert.deepEqual(liveAt(region, 2).map((b) => b.name), ["a", "b", "c"]);
});

test("the peak is the document's, its buffers lettered in its order", () => {
  const plan = readPlan(chain());
  const [region] = plan.regions;
  assert.equal(region.peak.step, 1);
  assert.deepEqual(region.peak.live.map((b) => b.name), ["a", "b"]);
  assert.equal(letterOf(region, plan.buffers[1]), "A");
  assert.equal(letterOf(region, plan.buffers[0]), "");
  assert.equal(keptBy(plan, region, plan.buffers[1]), "kept 1 step by the skip connection into step 2 ADD");
  const streamed = chain();
  streamed.peaks[0].live[0].kept_by = "run";
  const rows = readPlan(streamed);
  assert.equal(keptBy(rows, rows.regions[0], rows.buffers[1]), "needed while the steps of a run take turns");
});

test("an operator reads, writes or keeps", () => {
  const plan = readPlan(chain());
  const operator = operatorAt(plan, 1);
  assert.deepEqual(plan.buffers.map((b) => roleIn(b, operator)), ["keeps", "reads", "writes", "keeps"]);
});

test("the load without some buffers is the largest that is left", () => {
  const [region] = readPlan(chain()).regions;
  assert.deepEqual(loadIf(region, (b) => b.size), { bytes: 256, step: 2 });
  assert.deepEqual(loadIf(region, (b) => (b.name === "a" ? 0 : b.size)), { bytes: 128, step: 2 });
});

test("the headline names the bytes and the operator; the reason adds up to what is live", () => {
  const plan = readPlan(chain());
  const text = headline(plan, plan.regions[0]).map((part) => part.strong ?? part).join("");
  assert.equal(text, "This model needs 256 B of memory for its tensors. The peak is made by CONV_2D in step 1.");
  assert.equal(reason(plan, plan.regions[0]), "Live at the same time then: 128 B that it reads and 96 B that it writes.");
});

test("the program's advice comes in its order, only what saves; without it, what the plan shows", () => {
  const document = chain();
  document.advice = [
    { topic: "align", what: "align tensors to 4 bytes instead of 16", kind: "free", command: "berth plan chain.tflite --align 4", saved_bytes: 2, peak_bytes: 222, limit: "operator 1 CONV_2D" },
    { topic: "inputs", what: "worse", command: "", saved_bytes: -5, peak_bytes: 229, limit: null },
  ];
  const plan = readPlan(document);
  assert.deepEqual(advice(plan, plan.regions[0]), [
    { title: "Align tensors to 4 bytes instead of 16", text: "leaves 222 B, limited by operator 1 CONV_2D.", kind: "free", command: "berth plan chain.tflite --align 4", saves: 2, exact: true },
  ]);
  const loose = { ...chain(), model: "it's a chain.tflite", planner: "size", lower_bound_bytes: 200, optimal: false };
  const better = readPlan(loose);
  const line = advice(better, better.regions[0]).find(({ title }) => title === "Plan it better");
  assert.equal(line.command, "berth plan 'it'\\''s a chain.tflite' --planner best");
  const own = readPlan(chain());
  assert.match(advice(own, own.regions[0])[0].title, /CONV_2D/);
});

test("bytes that two buffers have at the same time are found", () => {
  const document = chain();
  assert.deepEqual(readPlan(document).regions[0].shared, []);
  document.buffers[3].offset = 160; // over the second half of b, in step 2
  assert.deepEqual(readPlan(document).regions[0].shared, [{ first: 2, last: 2, low: 160, high: 192 }]);
});

test("a streamed plan's rings and runs are known", () => {
  const document = chain();
  document.streaming = { runs: [{ first: 0, last: 1, block_rows: 1, rings: [
    { tensor: 1, rows: 3, of_rows: 8, row_bytes: 16 }, { tensor: 2, rows: 1, of_rows: 1, row_bytes: 94 }] }], overlaps: [] };
  const plan = readPlan(document);
  assert.deepEqual(plan.buffers[1].ring, { rows: 3, of: 8, rowBytes: 16 });
  assert.equal(plan.buffers[2].ring, null); // all of its rows: no ring
  assert.match(reason(plan, plan.regions[0]), /Row by row: steps 0 to 1\./);
});

test("two plans are paired by name, in order where names repeat", () => {
  const before = readPlan(chain());
  const document = chain();
  document.buffers[3].name = "d";
  document.buffers[0].name = "a";
  const pairs = pairBuffers(before, readPlan(document)).map((p) => [p.before?.index ?? null, p.after?.index ?? null]);
  assert.deepEqual(pairs, [[1, 0], [null, 1], [2, 2], [null, 3], [0, null], [3, null]]);
});

test("arrow keys go to neighbours in time and address", () => {
  const plan = readPlan(chain());
  const [region] = plan.regions;
  const go = (buffer, cursor, key) => neighbour(region, { buffer: plan.buffers[buffer], cursor }, key)?.buffer.name ?? null;
  assert.equal(go(0, 0, "ArrowRight"), "b");
  assert.equal(go(0, 0, "ArrowDown"), "a");
  assert.equal(go(1, 2, "ArrowUp"), "b");
  assert.equal(go(1, 0, "ArrowLeft"), null);
  assert.equal(neighbour(region, { buffer: null }, "ArrowRight").buffer.name, "a");
});

test("a problem has no operators, and its buffers no class", () => {
  const document = chain();
  delete document.operators;
  delete document.tensors;
  document.problem = document.model;
  delete document.model;
  for (const buffer of document.buffers) Object.assign(buffer, { kind: null, tensor: null, subgraph: null });
  const plan = readPlan(document);
  assert.equal(plan.isModel, false);
  assert.equal(plan.buffers[0].hasKind, false);
  assert.equal(operatorAt(plan, 0), null);
  assert.equal(reason(plan, plan.regions[0]), "2 buffers live at the same time then.");
});

test("numbers read as the program writes them", () => {
  assert.deepEqual([0, 1023, 1024, 55296, 1048524, 1048576].map(bytes), ["0 B", "1023 B", "1.0 KiB", "54.0 KiB", "1023.9 KiB", "1.0 MiB"]);
  assert.equal(grouped(1404928), "1,404,928");
});

test("names lose what cannot be seen or turns the direction", () => {
  assert.equal(printable("a\u0001\u202eb"), "a\ufffd\ufffdb");
  assert.equal(printable(""), "(no name)");
});

test("short names keep what tells them apart", () => {
  const mark = (i) => ` #${i}`;
  const names = ["a/x;m/conv/BiasAdd/Read/resource", "a/y;m/conv_1/BiasAdd/Read/resource", "m/conv_1/Conv2D", "m/conv_2/Conv2D", "same", "same", "x".repeat(500)];
  assert.deepEqual(brieflyAll(names, 2, mark).slice(0, 6), ["conv/…/resource", "conv_1/…/resource", "conv_1/Conv2D", "conv_2/Conv2D", "same #4", "same #5"]);
  assert.deepEqual(brieflyAll(names, 1, mark).slice(0, 6), ["conv", "conv_1", "conv_1", "conv_2", "same #4", "same #5"]);
  assert.ok(brieflyAll(names, 2, mark)[6].length <= 40);
  assert.deepEqual(brieflyAll(["model/block/conv;model/block/bn"], 2, mark), ["block/bn"]);
  const many = Array.from({ length: 5000 }, (_, i) => `layer_${i}/BiasAdd/output`);
  assert.equal(new Set(brieflyAll(many, 2, mark)).size, 5000);
});

test("the account adds up to the peak, and on to what a device needs", () => {
  const document = chain();
  Object.assign(document.peaks[0], { classes: { input: 0, activation: 222 }, alignment_bytes: 2, fragmentation_bytes: 40, overlap_bytes: 8 });
  const sums = (plan) => {
    let sum = 0;
    return account(plan, plan.regions[0]).filter((line) => {
      if (line.sum) assert.equal(line.bytes, sum);
      else sum += line.bytes;
      return line.sum;
    }).length;
  };
  assert.equal(sums(readPlan(document)), 1);
  document.running = { possible: true, total_bytes: 900, beside_peak_bytes: -16, table_bytes: 100, interpreter_bytes: 392, pointer_bits: 64 };
  const plan = readPlan(document);
  assert.equal(sums(plan), 2);
  const said = (p) => need(p).map((part) => part.strong ?? part).join("");
  assert.equal(said(plan), "RAM you need on the device: 900 B with Berth's runtime (on 64 bits).");
  document.forecast = { runtime: "tflm", min_arena_bytes: 1024, refused_operators: 0, unknown_operators: 0 };
  assert.match(said(readPlan(document)), /; 1\.0 KiB with stock TensorFlow Lite Micro \(as smallest arena, on 32-bit Arm\)\.$/);
  document.forecast.refused_operators = 1;
  document.running = { possible: false, why: "operator 1 CUSTOM: no kernel" };
  assert.equal(said(readPlan(document)), "Berth's runtime cannot run it: operator 1 CUSTOM: no kernel.");
});
