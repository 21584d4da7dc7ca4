// A tab of a real browser in which somebody writes in a cell. Measured is, for each key, how long the frame takes that shows it,
// and how long the page is busy at a stretch before the next one; that is its own processor time, whatever else runs here.
// Usage: typing.mjs URL CHROMIUM; says "ready" in edit mode of the notebook's last cell. Answers each line of JSON on standard
// input with one: {isOn: true} once the page knows that ghost text is on, or off; {lines: […], pauseAt: 3} once all of it is
// written, with a pause behind the first letters of each line.
import { createInterface } from 'node:readline';

import { launched } from './browser.mjs';

const KEY_MS = 30;
const PAUSE_MS = 600;

const [url, executablePath] = process.argv.slice(2);

const browser = await launched(executablePath);
const page = await browser.newPage();
await page.addInitScript(watch);
await page.goto(url);
await page
  .locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
  .waitFor();
const cdp = await page.context().newCDPSession(page);
const cell = page.locator('.jp-Cell .cm-content').last();
await cell.click();
console.log('ready');

/** Runs in the page before its scripts. */
function watch() {
  window.hdspFrames = [];
  addEventListener(
    'keydown',
    ({ timeStamp }) => {
      performance.mark('hdsp-key');
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        window.hdspFrames.push(performance.now() - timeStamp);
        port1.close();
      };
      // The message comes when the frame is painted.
      requestAnimationFrame(() => port2.postMessage(null));
    },
    true
  );
}

async function know(isOn) {
  const name = isOn ? /^(Ghost text on|No ghost text)$/ : 'Ghost text off';
  await page.getByRole('button', { name }).waitFor();
  return {};
}

async function write({ lines, pauseAt }) {
  await cell.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.waitForTimeout(PAUSE_MS);
  await page.evaluate(() => {
    window.gc?.();
    window.hdspFrames.length = 0;
  });
  const stop = await traced();
  let shown = 0;
  let next = performance.now();
  for (const line of lines) {
    for (const [at, letter] of [...line, '\n'].entries()) {
      if (at === pauseAt) {
        await page.waitForTimeout(PAUSE_MS);
        shown += await page.locator('.jp-GhostText').count();
        next = performance.now();
      }
      await page.keyboard.press(letter === '\n' ? 'Enter' : letter);
      next += KEY_MS;
      await page.waitForTimeout(Math.max(0, next - performance.now()));
    }
  }
  await page.waitForTimeout(PAUSE_MS);
  const frames = await page.evaluate(() => window.hdspFrames);
  const tasks = longest(await stop());
  return { frames, tasks, shown, text: await cell.innerText() };
}

/** Begins to note what the browser does; what it returns ends that, and has it. */
async function traced() {
  const events = [];
  const add = ({ value }) => events.push(...value);
  cdp.on('Tracing.dataCollected', add);
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'blink.user_timing'] }
  });
  return async () => {
    const done = new Promise(resolve =>
      cdp.once('Tracing.tracingComplete', resolve)
    );
    await cdp.send('Tracing.end');
    await done;
    cdp.off('Tracing.dataCollected', add);
    return events;
  };
}

/** For each key, the longest task of the page's main thread from it to the next, in milliseconds of processor time. */
function longest(events) {
  const keys = events
    .filter(({ name }) => name === 'hdsp-key')
    .sort((one, other) => one.ts - other.ts);
  const [{ pid, tid }] = keys;
  const tasks = events.filter(
    event =>
      event.pid === pid &&
      event.tid === tid &&
      event.name === 'ThreadControllerImpl::RunTask'
  );
  const stretches = keys.map(() => 0);
  for (const { ts, dur, tdur } of tasks) {
    // The key that a task ended after: its own is the first.
    const at = keys.findLastIndex(key => key.ts <= ts + dur);
    if (at >= 0) {
      stretches[at] = Math.max(stretches[at], (tdur ?? dur) / 1000);
    }
  }
  return stretches;
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const answer = 'isOn' in asked ? await know(asked.isOn) : await write(asked);
  console.log(JSON.stringify(answer));
}
await browser.close();
