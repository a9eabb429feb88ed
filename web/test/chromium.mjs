// Drives a headless Chromium over its debugging pipe (--remote-debugging-pipe: messages of the
// DevTools protocol on file descriptors 3 and 4, each ended by a NUL). Needs no package.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function findChromium() {
  const names = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"];
  return names.find((name) => name && spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0) ?? null;
}

export async function launch(program) {
  const profile = mkdtempSync(join(tmpdir(), "berth-chromium-"));
  const flags = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe", `--user-data-dir=${profile}`,
  ];
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true });
  const waiting = new Map();
  const listeners = [];
  let last = 0;
  let rest = "";
  const failAll = (why) => {
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  child.on("exit", () => failAll("chromium has ended"));
  child.stdio[3].on("error", () => failAll("chromium has closed its pipe"));
  child.stdio[4].on("data", (data) => {
    const messages = (rest + data).split("\0");
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      const call = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) call?.reject(new Error(`${call.method}: ${message.error.message}`));
      else if (call) call.resolve(message.result);
      else listeners.forEach((listen) => listen(message));
    }
  });
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const clock = setTimeout(() => reject(new Error(`${method}: no answer`)), 30000);
      const settle = (done) => (value) => {
        clearTimeout(clock);
        done(value);
      };
      waiting.set(id, { resolve: settle(resolve), reject: settle(reject), method });
      child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  const end = () => {
    try {
      process.kill(-child.pid, "SIGKILL"); // its own process group: nothing else is in it
    } catch {
      // gone already
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  process.on("exit", end); // also when a test has thrown
  const close = async () => {
    await Promise.race([send("Browser.close").catch(() => {}), new Promise((r) => setTimeout(r, 3000).unref())]);
    end();
  };
  return { send, close, listeners };
}

// Opens a file in a tab of its own, as large as `width` x `height`, and waits until it is ready.
export async function open(browser, path, { width = 1280, height = 800, theme = "light", touch = false } = {}) {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const problems = []; // exceptions, console errors, requests: there must be none
  browser.listeners.push((message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") problems.push(params.entry.text);
    if (method === "Network.requestWillBeSent" && !params.request.url.startsWith("file:")) problems.push(params.request.url);
  });
  await Promise.all(["Page", "Runtime", "Log", "Network"].map((domain) => send(`${domain}.enable`)));
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: touch });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
  if (touch) await send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await send("Page.bringToFront"); // a tab behind another draws no frames
  await send("Page.navigate", { url: `file://${path}` });

  const page = { problems, send };
  page.evaluate = async (expression) => {
    const result = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (result.exceptionDetails) throw new Error(result.exceptionDetails.exception?.description ?? "it threw");
    return result.result.value;
  };
  page.until = async (expression, seconds = 20) => {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((r) => setTimeout(r, 30))) {
      if (await page.evaluate(`Boolean(${expression})`).catch(() => false)) return;
    }
    throw new Error(`never true: ${expression}`);
  };
  page.settle = () => page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))");
  page.text = (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  page.move = (x, y) => send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  page.clickAt = async (x, y) => {
    await page.move(x, y);
    const button = { x, y, button: "left", clickCount: 1 };
    await send("Input.dispatchMouseEvent", { type: "mousePressed", ...button });
    await send("Input.dispatchMouseEvent", { type: "mouseReleased", ...button });
    await page.settle();
  };
  page.click = async (selector) => {
    const at = JSON.stringify(selector);
    await page.evaluate(`document.querySelector(${at}).scrollIntoView({ block: "nearest" })`);
    const box = await page.evaluate(`(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector(${at}).getBoundingClientRect())`);
    await page.clickAt(...box);
  };
  page.press = async (key) => {
    const text = key.length === 1 ? { text: key } : key === "Enter" ? { text: "\r" } : {};
    await send("Input.dispatchKeyEvent", { type: "keyDown", key, code: key, ...text });
    await send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key });
    await page.settle();
  };
  page.type = async (text) => {
    await send("Input.insertText", { text });
    await page.settle();
  };
  // `whole`: all of the page, by a window as high as it is.
  page.screenshot = async (file, whole = false) => {
    const metrics = (tall) => send("Emulation.setDeviceMetricsOverride", { width, height: tall, deviceScaleFactor: 1, mobile: touch });
    if (whole) await metrics(await page.evaluate("document.documentElement.scrollHeight"));
    await page.settle();
    const { data } = await send("Page.captureScreenshot", { format: "png" });
    if (whole) await metrics(height);
    writeFileSync(file, Buffer.from(data, "base64"));
  };
  page.close = () => browser.send("Target.closeTarget", { targetId });
  await page.until("document.documentElement.dataset.ready");
  await page.settle();
  return page;
}
