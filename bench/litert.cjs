#!/usr/bin/env node
// Times a .tflite in LiteRT's WebAssembly build (npm's @litertjs/core, in plain Node), one thread.
//
//   bench/litert.cjs MODEL.tflite MODULES REPEAT
//
// MODULES is the node_modules folder that has the package. Inputs are zero. Prints one JSON line:
// "ms_min", the fastest of REPEAT invokes, or "error". For bench/runtime.py.
'use strict';
const fs = require('fs'), os = require('os'), path = require('path');
const [model, modules, repeat] = process.argv.slice(2);

// LiteRT goes on after a model that it cannot prepare, and says so in its log only.
let error = null;
const log = (line) => { if (error === null && line.includes('ERROR')) error = line; };

// The package calls itself an ES module, but its loader is none: it is loaded from a copy.
function load() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'berth-litert-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  fs.cpSync(path.join(modules, '@litertjs', 'core', 'wasm'), folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type": "commonjs"}');
  const loader = path.join(folder, 'litert_wasm_compat_internal');
  return require(`${loader}.js`)({
    wasmBinary: fs.readFileSync(`${loader}.wasm`), print: log, printErr: log });
}

function zeroInputs(litert, environment, loaded) {
  const inputs = [];
  for (let i = 0; i < loaded.getSignature(0).inputNames().size(); i++) {
    const type = loaded.getInputTensorType(0, i);
    const input = litert.LiteRtTensorBuffer.createManaged(
      environment, litert.LiteRtTensorBufferType.HOST_MEMORY, type, type.bytes());
    const at = input.lock(litert.LiteRtTensorBufferLockMode.WRITE);
    litert.HEAPU8.fill(0, at, at + type.bytes());
    input.unlock();
    inputs.push(input);
  }
  return inputs;
}

async function main() {
  const litert = await load();
  const file = fs.readFileSync(model), at = litert._malloc(file.length);
  litert.HEAPU8.set(file, at);
  const environment = litert.LiteRtEnvironment.create(null);
  const loaded = litert.loadModel(environment, at, file.length);
  const compiled = await litert.compileModel(environment, loaded, { accelerator: 'wasm' });
  const inputs = zeroInputs(litert, environment, loaded);
  let fastest = Infinity;
  for (let i = 0; i < Number(repeat); i++) {
    const start = process.hrtime.bigint();
    const outputs = await compiled.run(0, inputs);
    fastest = Math.min(fastest, Number(process.hrtime.bigint() - start) / 1e6);
    outputs.forEach((output) => output.delete());
  }
  return fastest;
}

main().then(
  (fastest) => console.log(JSON.stringify(error === null ? { ms_min: fastest } : { error })),
  (thrown) => console.log(JSON.stringify({ error: error ?? String(thrown) })));
