// The page that `berth report` writes, in a headless Chromium: clicked, searched, zoomed, compared,
// by mouse, keyboard and touch, in light and dark. Any exception, console error or request of the
// page fails the test at hand.
// usage: node web/test/page.mjs BERTH [SCREENSHOTS]   (from the project's folder; SCREENSHOTS: a
// folder for pictures to look at)
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { findChromium, launch, open } from "./chromium.mjs";

const [berth, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "berth-page-"));
const report = (name, ...args) => {
  const path = join(folder, `${name}.html`);
  const said = JSON.parse(execFileSync(berth, ["report", ...args, "-o", path, "--json"], { encoding: "utf8" }));
  return { path, said };
};
const skip = (why) => {
  console.log(`skipped: ${why}`);
  rmSync(folder, { recursive: true });
  process.exit(0);
};

const MODELS = "models";
const SHAPES = ["svdf_keyword_int8", "dynamic_shape", "segmentation_float16"]; // whose pages differ most
const small = report("small", `${MODELS}/mobilenet_v1_0.25_96_int8.tflite`);
if (!small.said.interactive) skip("berth was built without its interactive page");
const chromium = findChromium();
if (!chromium) skip("chromium is not installed");
const browser = await launch(chromium);

// Opens a page, hands it over, and checks that nothing went wrong in it.
const withPage = async (path, options, use) => {
  const page = await open(browser, path, options);
  try {
    await use(page);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.close();
  }
};

// Where a step and an address are on the screen, from what the page says about itself.
const at = (page, step, address, index = 0) =>
  page.evaluate(`(() => {
    const map = window.berthMap, side = map.sides[${index}];
    document.querySelector("#map").scrollIntoView({ block: "center" });
    const box = document.querySelector("#overlay").getBoundingClientRect();
    return [box.left + map.x(side)(${step} + 0.5), box.top + map.y()(${address})];
  })()`);

const colours = (page) =>
  page.evaluate(`(() => {
    const canvas = document.querySelector("#base");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const colour = "#" + [0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, "0")).join("");
      seen.set(colour, (seen.get(colour) ?? 0) + 1);
    }
    return Object.fromEntries(seen);
  })()`);

const overflows = (page) => page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");

// Elements whose content is scrolled inside of the page.
const innerScrollers = (page) =>
  page.evaluate(`[...document.querySelectorAll("body *")].filter((e) => {
    const style = getComputedStyle(e);
    return /auto|scroll/.test(style.overflowX + style.overflowY) && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1);
  }).map((e) => e.id || e.tagName)`);

const picture = async (page, name, whole = false) => {
  if (pictures) await page.screenshot(join(pictures, `${name}.png`), whole);
};

await test("the page", async (t) => {
  await t.test("says in a sentence how much, which operator, and what to try first", () =>
    withPage(small.path, {}, async (page) => {
      assert.equal(await page.text("#headline"), "This model needs 54.0 KiB of memory for its tensors. The peak is made by CONV_2D in step 2.");
      assert.match(await page.text("#first-try"), /What to try first \(same model, same results; each was planned[^)]*\)\s+26\.6 KiB less \(49\.3 %\)/);
      assert.match(await page.text("#first-try"), /berth plan models\/mobilenet_v1_0.25_96_int8.tflite --stream auto/);
      assert.match(await page.text("#need"), /^RAM you need on the device: \d+\.\d KiB with Berth's runtime \(on \d+ bits\); \d+\.\d KiB with stock TensorFlow Lite Micro/);
      assert.match(await page.text("#account"), /peak of the plan\s+55,296[^]*RAM you need on the device\s+5\d,\d+/);
      assert.match(await page.text("#figures"), /proven optimal/);
      assert.equal(await page.evaluate("document.title"), "54.0 KiB: mobilenet_v1_0.25_96_int8.tflite, memory report");
    }));

  await t.test("shows a tensor's life, maker and readers when it is clicked", () =>
    withPage(small.path, {}, async (page) => {
      await page.clickAt(...(await at(page, 2, 20000)));
      const text = await page.text("#details");
      assert.match(text, /block1\/pointwise/);
      assert.match(text, /36.0 KiB \(36,864 bytes\)/);
      assert.match(text, /steps 2 to 3/);
      assert.match(text, /Made by\s+step 2 CONV_2D/);
      assert.match(text, /Read by\s+step 3 DEPTHWISE_CONV_2D/);
      await page.click("#details button.link"); // its maker
      assert.match(await page.text("#details"), /Step 2: CONV_2D\s+The peak is here/);
      assert.equal(await page.evaluate(`document.querySelector("#operators tr[aria-current]").dataset.step`), "2");
    }));

  await t.test("tells in a tooltip what is under the pointer", () =>
    withPage(small.path, {}, async (page) => {
      await page.move(...(await at(page, 0, 1000)));
      await page.settle();
      assert.match(await page.text("#tooltip"), /conv1[^]*steps 0 to 1[^]*made by step 0 CONV_2D[^]*read by step 1/);
      await page.move(5, 5);
      await page.settle();
      assert.equal(await page.evaluate(`document.querySelector("#tooltip").hidden`), true);
    }));

  await t.test("finds tensors by name, and chooses one by keyboard", () =>
    withPage(small.path, {}, async (page) => {
      await page.press("/");
      assert.equal(await page.evaluate("document.activeElement.id"), "search");
      await page.type("BLOCK2/");
      assert.match(await page.text("#found"), /block2\/pointwise\s+18.0 KiB\s+block2\/depthwise\s+9.0 KiB/);
      assert.equal(await page.text("#spoken"), "2 tensors found");
      await page.press("ArrowDown");
      await page.press("Enter");
      assert.match(await page.text("#details"), /^block2\//);
      assert.equal(await page.evaluate(`document.querySelector("#found").hidden`), true);
      await page.click("#search");
      await page.press("Escape");
      assert.equal(await page.evaluate("window.berthMap.found"), null);
    }));

  await t.test("goes from tensor to tensor with the arrow keys, zooms, and goes to the peak", () =>
    withPage(small.path, {}, async (page) => {
      await page.evaluate(`document.querySelector("#overlay").focus()`);
      await page.press("ArrowRight");
      assert.match(await page.text("#details"), /^A block1\/pointwise/);
      await page.press("ArrowUp");
      assert.match(await page.text("#details"), /^B block1\/depthwise/);
      await page.press("ArrowRight");
      assert.match(await page.text("#details"), /Lives\s+steps 3 to 4/);
      await page.press("+");
      assert.ok((await page.evaluate("window.berthMap.transform.k")) > 1.5);
      await page.press("0");
      assert.equal(await page.evaluate("window.berthMap.transform.k"), 1);
      await page.press("p");
      assert.match(await page.text("#details"), /Step 2: CONV_2D/);
      assert.ok((await page.evaluate("window.berthMap.transform.k")) > 1);
      await page.press("Escape");
      assert.match(await page.text("#details"), /Choose a tensor/);
      await page.press("?");
      assert.equal(await page.evaluate(`document.querySelector("#keys").open`), true);
    }));

  await t.test("zooms where the pointer is with Ctrl and the wheel, and scrolls without", () =>
    withPage(small.path, {}, async (page) => {
      const [x, y] = await at(page, 10, 5000);
      const wheel = (modifiers) => page.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -200, modifiers });
      await wheel(0);
      await page.settle();
      assert.equal(await page.evaluate("window.berthMap.transform.k"), 1);
      const before = await at(page, 10, 5000);
      await wheel(2);
      await page.until("window.berthMap.transform.k > 1");
      const after = await at(page, 10, 5000);
      assert.ok(Math.abs(before[0] - after[0]) < 3, `${before} ${after}`);
    }));

  await t.test("draws the lower bound only while that is wanted", () =>
    withPage(small.path, {}, async (page) => {
      const dark = async () => (await colours(page))["#16191d"] ?? 0;
      const withLoad = await dark();
      await page.click("#show-load");
      assert.ok((await dark()) < withLoad - 200);
    }));

  await t.test("changes between light and dark, the map as well", () =>
    withPage(small.path, { theme: "dark" }, async (page) => {
      const theme = () => page.evaluate("document.documentElement.dataset.theme");
      assert.equal(await theme(), "dark");
      assert.ok((await colours(page))["#3d9bd8"] > 1000);
      await picture(page, "small-dark");
      await page.click("#theme");
      assert.equal(await theme(), "light");
      await page.settle();
      assert.ok((await colours(page))["#0072b2"] > 1000);
      await picture(page, "small-light", true);
    }));

  await t.test("lists operators by step or by bytes", () =>
    withPage(small.path, {}, async (page) => {
      await page.click("#operators th:nth-child(3) button");
      assert.match(await page.text("#operators tbody tr"), /^2\s+CONV_2D\s+55,296/);
      await page.click("#operators th:nth-child(1) button");
      assert.match(await page.text("#operators tbody tr"), /^0\s+CONV_2D\s+46,080/);
    }));

  await t.test("compares two models, with a slider between before and after", async () => {
    const both = report("both", `${MODELS}/resnet8_int8.tflite`, `${MODELS}/mobilenet_v1_0.25_96_int8.tflite`);
    await withPage(both.path, {}, async (page) => {
      assert.equal(await page.text("#headline"), "From 48.0 KiB to 54.0 KiB: 12.5 % more than before.");
      assert.match(await page.text("#changes"), /new[^]*gone/);
      const slide = async (to) => {
        await page.evaluate(`(() => { const s = document.querySelector("#slider"); s.value = ${to}; s.dispatchEvent(new Event("input", { bubbles: true })); })()`);
        await page.settle();
      };
      await slide(100);
      await page.clickAt(...(await at(page, 2, 20000)));
      assert.match(await page.text("#details"), /stage1\//);
      await slide(0);
      await page.clickAt(...(await at(page, 2, 20000, 1)));
      assert.match(await page.text("#details"), /block1\/pointwise/);
      await page.evaluate(`document.querySelector("#slider").focus()`);
      await page.press("End");
      assert.equal(await page.evaluate("window.berthMap.split"), 1);
      await slide(50);
      await picture(page, "compare", true);
    });
  });

  await t.test("shows one region at a time", async () => {
    const regions = report("regions", `${MODELS}/resnet8_int8.tflite`, "--region", "sram=32K@1", "--region", "psram=8M@10");
    await withPage(regions.path, {}, async (page) => {
      assert.match(await page.text("#regions"), /sram: 32.0 KiB of 32.0 KiB\s+psram: 16.0 KiB of 8.0 MiB/);
      await page.click("#regions button:nth-child(2)");
      assert.match(await page.text("#peak"), /stage1\/conv2/);
      await picture(page, "regions");
    });
  });

  await t.test("shows rings of rows, and which steps run row by row", async () => {
    const streamed = report("streamed", `${MODELS}/mobilenet_v1_0.25_96_int8.tflite`, "--stream", "max");
    await withPage(streamed.path, {}, async (page) => {
      assert.match(await page.text("#reason"), /Row by row: /);
      assert.match(await page.text("#first-try"), /--stream max --stream-input/);
      const [tensor, rows] = await page.evaluate(`(() => {
        const { plan, region } = window.berthMap.sides[0];
        const buffer = region.buffers.find((b) => b.ring);
        return [buffer.name, buffer.ring.rows + " of " + buffer.ring.of + " rows at a time"];
      })()`);
      await page.press("/");
      await page.type(tensor);
      await page.press("Enter");
      assert.match(await page.text("#details"), new RegExp(rows));
      await picture(page, "streamed");
    });
  });

  await t.test("treats names as text, whatever they hold", async () => {
    const csv = join(folder, "evil.csv");
    const names = ["</script><script>window.evil = 1</script>", "<img src=x onerror='window.evil = 2'>", '"<!--"" -->"', "a\u0001\u202eb\ufffe", "</title></style>"];
    const rows = names.map((name) => Buffer.concat([Buffer.from(name), Buffer.from(",0,2,64\n")]));
    writeFileSync(csv, Buffer.concat([Buffer.from("id,lower,upper,size\n"), ...rows, Buffer.from([0xff, 0xc3]), Buffer.from("odd,0,1,64\n")]));
    const evil = report("evil", csv);
    await withPage(evil.path, {}, async (page) => {
      assert.equal(await page.evaluate("window.evil"), undefined);
      const text = await page.text("#peak");
      assert.ok(text.includes("</script><script>window.evil = 1</script>"), text);
      assert.ok(text.includes("<img src=x"), text);
      assert.ok(!text.includes("\u202e") && !text.includes("\u0001"));
      assert.equal(await page.evaluate("document.images.length"), 0);
      await picture(page, "evil");
    });
    assert.ok(!readFileSync(evil.path, "latin1").includes("<img src"));
  });

  await t.test("draws five thousand tensors, and stays quick", async () => {
    const csv = join(folder, "many.csv");
    const rows = Array.from({ length: 5000 }, (_, i) => `layer_${i}/output,${i},${i + 2 + (i % 7 === 0 ? 40 : 0)},${1024 + ((i * 7919) % 4096)}`);
    writeFileSync(csv, `id,lower,upper,size\n${rows.join("\n")}\n`);
    const many = report("many", csv, "--planner", "size");
    await withPage(many.path, {}, async (page) => {
      assert.ok(Object.keys(await colours(page)).length > 3);
      const frame = await page.evaluate(`(() => {
        const map = window.berthMap, start = performance.now();
        for (let i = 0; i < 10; i++) { map.draw(); map.drawOverlay(); map.hit(400 + i, 200); }
        return (performance.now() - start) / 10;
      })()`);
      t.diagnostic(`a frame of 5,000 tensors takes ${frame.toFixed(1)} ms`);
      await page.press("/");
      await page.type("layer_4321/");
      await page.press("Enter");
      assert.match(await page.text("#details"), /layer_4321\/output/);
      await page.press("p");
      await picture(page, "many");
    });
  });

  await t.test("fits a phone, and is used with a finger", () =>
    withPage(small.path, { width: 390, height: 844, touch: true }, async (page) => {
      assert.equal(await overflows(page), false);
      const [x, y] = await at(page, 2, 20000);
      const touch = (type, touchPoints) => page.send("Input.dispatchTouchEvent", { type, touchPoints });
      await touch("touchStart", [{ x, y }]);
      await touch("touchEnd", []);
      await page.until(`document.querySelector("#details").innerText.includes("block1/pointwise")`);
      const two = (d) => [{ x: x - d, y, id: 0 }, { x: x + d, y, id: 1 }];
      await touch("touchStart", two(20));
      for (const d of [40, 60, 80]) await touch("touchMove", two(d));
      await touch("touchEnd", []);
      await page.until("window.berthMap.transform.k > 1.5");
      await picture(page, "small-phone", true);
    }));

  for (const model of pictures ? [...SHAPES, "custom_op", "lstm_sequence_int8", "resnet8_int8"] : SHAPES) {
    await t.test(`fits every width for ${model}, and scrolls as one page`, async () => {
      const { path } = report(model, `${MODELS}/${model}.tflite`);
      for (const [label, options] of [["desktop", {}], ["phone", { width: 390, height: 844, touch: true, theme: "dark" }]]) {
        await withPage(path, options, async (page) => {
          assert.equal(await overflows(page), false, label);
          assert.deepEqual(await innerScrollers(page), [], label);
          await picture(page, `${model}-${label}`, true);
        });
      }
    });
  }
});

await browser.close();
rmSync(folder, { recursive: true, force: true });
