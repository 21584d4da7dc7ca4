// A tab of a real browser with a notebook open, noting when each edit of its first cell shows in the DOM.
// Usage: notebook.mjs URL TOKEN CHROMIUM NOTEBOOK; says "ready", answers "report" on standard input with one line of JSON.
import { createInterface } from 'node:readline';

import { launched } from './browser.mjs';

const [url, token, executablePath, notebook] = process.argv.slice(2);

const browser = await launched(executablePath);
const page = await browser.newPage();
await page.goto(`${url}/lab/tree/${notebook}?token=${token}`);
const cell = page.locator('.jp-Cell[data-windowed-list-index="0"]');
await cell.locator('.cm-line').first().waitFor();
await page
  .locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
  .waitFor();

/** Runs in the page: notes the time when each edit's own line is there. */
await cell.locator('.cm-content').evaluate(content => {
  window.hdspSeen = {};
  new MutationObserver(() => {
    const now = performance.timeOrigin + performance.now();
    for (const line of content.querySelectorAll('.cm-line')) {
      const number = /# Edit (\d+)\./.exec(line.textContent)?.[1];
      if (number !== undefined) {
        window.hdspSeen[number] ??= now;
      }
    }
  }).observe(content, { characterData: true, childList: true, subtree: true });
});
console.log('ready');

const asked = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
while (!(await asked.next()).done) {
  console.log(JSON.stringify(await page.evaluate(() => window.hdspSeen)));
}
await browser.close();
