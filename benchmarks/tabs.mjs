// Tabs of a real browser with the panel open, each noting when published text shows in its DOM: that of the newest
// message, which is the one in sight.
// Usage: tabs.mjs URL TOKEN CHROMIUM COUNT; says "ready", answers "report" on standard input with one line of JSON.
import { createInterface } from 'node:readline';

import { launched } from './browser.mjs';

const [url, token, executablePath, count] = process.argv.slice(2);

const browser = await launched(executablePath);
const context = await browser.newContext();

/** Runs in the page: reads the times that text carries, once each. */
function watchRows() {
  let newest = 0;
  let read = 0;
  window.hdspLatencies = [];
  window.hdspFrames = 0;
  const look = row => {
    const text = row.textContent;
    const begins = text.search(/\d{13}\.\d;/);
    const ts = Number(row.dataset.ts);
    if (begins < 0 || ts < newest) {
      return;
    }
    if (ts > newest) {
      newest = ts;
      read = 0;
      window.hdspLatencies = [];
    }
    const upTo = text.lastIndexOf(';');
    if (upTo <= begins) {
      return;
    }
    const now = performance.timeOrigin + performance.now();
    for (const piece of text.slice(begins, upTo).split(';')) {
      // By its time: where it stands in the row changes with what the row says of itself.
      const published = Number(piece);
      if (published > read) {
        read = published;
        window.hdspLatencies.push(now - published);
      }
    }
  };
  new MutationObserver(changes => {
    const rows = new Set();
    for (const change of changes) {
      const element =
        change.target instanceof Element
          ? change.target
          : change.target.parentElement;
      const row = element?.closest('[data-ts]');
      if (row) {
        rows.add(row);
      }
    }
    rows.forEach(look);
  }).observe(document.body, {
    characterData: true,
    childList: true,
    subtree: true
  });
}

/** Runs in the page before its scripts: counts the channel's frames as they arrive. */
function countFrames() {
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...args) {
      super(...args);
      if (String(args[0]).includes('hdsp-agent/comm')) {
        this.addEventListener('message', event => {
          const frames = JSON.parse(event.data);
          const list = Array.isArray(frames) ? frames : [frames];
          window.hdspFrames += list.filter(
            frame => frame.data?.type === 'messageDelta'
          ).length;
        });
      }
    }
  };
}

const heap = page =>
  page.evaluate(() => {
    window.gc?.();
    return performance.memory.usedJSHeapSize / 1e6;
  });

const pages = [];
for (let index = 0; index < Number(count); index++) {
  const page = await context.newPage();
  await page.addInitScript(countFrames);
  await page.goto(`${url}/lab/workspaces/bench-${index}?token=${token}`);
  await page.getByRole('tab', { name: 'HDSP Agent', exact: true }).click();
  await page.locator('.jp-hdspAgent-Panel').waitFor();
  await page.evaluate(watchRows);
  pages.push(page);
}
console.log('ready');

const lines = createInterface({ input: process.stdin });
const heapMb = [];
for await (const line of lines) {
  if (line === 'mark') {
    for (const page of pages) {
      await page.evaluate(() => {
        window.hdspLatencies = [];
        window.hdspFrames = 0;
      });
    }
    heapMb[0] = await heap(pages[0]);
    console.log('marked');
  } else {
    await pages[0].waitForTimeout(1000);
    heapMb[1] = await heap(pages[0]);
    const latencies = [];
    const frames = [];
    for (const page of pages) {
      latencies.push(...(await page.evaluate(() => window.hdspLatencies)));
      frames.push(await page.evaluate(() => window.hdspFrames));
    }
    console.log(JSON.stringify({ latencies, frames, heapMb }));
    break;
  }
}
await browser.close();
