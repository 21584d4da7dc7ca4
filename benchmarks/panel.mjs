// A tab of a real browser with the panel open, measured from within the page.
// Usage: panel.mjs CHROMIUM; says "ready", answers each line of JSON on standard input with one:
// {start: URL} with the milliseconds until Lab's launcher is there, in a browser that has nothing cached;
// {visit: URL} once the panel is open; {open: TITLE} with how long a past conversation takes to show after its page arrived;
// {scroll: SECONDS} with the longest task meanwhile; {usage: true} with what the page has done and holds.
import { createInterface } from 'node:readline';

import { launched } from './browser.mjs';

const [executablePath] = process.argv.slice(2);

const browser = await launched(executablePath);

/** Runs in the page before its scripts: notes when a page of messages arrives, and every long task. */
function watch() {
  window.hdspArrived = 0;
  window.hdspLongTasks = [];
  new PerformanceObserver(list => {
    window.hdspLongTasks.push(...list.getEntries().map(task => task.duration));
  }).observe({ entryTypes: ['longtask'] });
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...args) {
      super(...args);
      if (String(args[0]).includes('hdsp-agent/comm')) {
        this.addEventListener('message', ({ data }) => {
          if (data.includes('"clineMessages":[{')) {
            window.hdspArrived = performance.now();
          }
        });
      }
    }
  };
}

/** Runs in the page: when the next row of a conversation is painted, after the page of messages that has it. */
function shown() {
  return new Promise((resolve, reject) => {
    setTimeout(
      () =>
        reject(
          new Error(document.querySelector('.jp-hdspAgent-Panel').innerText)
        ),
      60_000
    );
    const observer = new MutationObserver(() => {
      if (
        window.hdspArrived > 0 &&
        document.querySelector('.jp-hdspAgent-chat-row')
      ) {
        observer.disconnect();
        requestAnimationFrame(() =>
          setTimeout(() => resolve(performance.now() - window.hdspArrived))
        );
      }
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}

/** Runs in the page: scrolls towards the beginning, a screen at a time, as fast as a person does. */
async function scroll(seconds) {
  const box = document.querySelector('.jp-hdspAgent-chat-box');
  window.hdspLongTasks.length = 0;
  const before = box.scrollHeight;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    box.scrollBy(0, -box.clientHeight);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  return {
    longest: Math.max(0, ...window.hdspLongTasks),
    longTasks: window.hdspLongTasks.length,
    grownBy: box.scrollHeight - before
  };
}

/** Lab's own start, from the navigation to its launcher. */
async function start(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('.jp-Launcher').first().waitFor();
  const milliseconds = await page.evaluate(() => performance.now());
  await context.close();
  return milliseconds;
}

let page;
let session;

async function visit(url) {
  page = await browser.newPage();
  await page.addInitScript(watch);
  session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(url);
  await page.getByRole('tab', { name: 'HDSP Agent', exact: true }).click();
  await page.locator('.jp-hdspAgent-strip').waitFor();
  return 'open';
}

async function open(title) {
  // A page shows again what was shown before.
  await page.getByRole('button', { name: 'New conversation' }).first().click();
  await page
    .locator('.jp-hdspAgent-chat-row')
    .first()
    .waitFor({ state: 'detached' });
  await page.evaluate(() => {
    window.hdspArrived = 0;
  });
  await page.getByRole('button', { name: 'Past conversations' }).click();
  const row = page.locator('.jp-hdspAgent-history-open', { hasText: title });
  await row.waitFor();
  const told = page.evaluate(shown);
  await row.click();
  return told;
}

/** What the main thread has done so far, in seconds, and what the page holds once nothing is to be collected. */
async function usage() {
  await page.evaluate(() => window.gc?.());
  const { metrics } = await session.send('Performance.getMetrics');
  const of = name => metrics.find(metric => metric.name === name).value;
  return {
    at: of('Timestamp'),
    busy: of('TaskDuration'),
    heapMb: of('JSHeapUsedSize') / 1e6
  };
}

console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const answer = asked.start
    ? await start(asked.start)
    : asked.visit
      ? await visit(asked.visit)
      : asked.open
        ? await open(asked.open)
        : asked.scroll
          ? await page.evaluate(scroll, asked.scroll)
          : await usage();
  console.log(JSON.stringify(answer));
}
await browser.close();
