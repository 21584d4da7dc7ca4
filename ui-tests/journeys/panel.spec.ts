import * as fs from 'fs';

import type { Locator, Page } from '@playwright/test';

import type { Chat } from '../chat';
import { expect, test } from '../chat';
import type { Lab } from '../lab';
import type { Notebooks } from '../notebooks';
import { OpenNotebook } from '../notebooks';

const NOTEBOOK = 'rain.ipynb';
const DATA = `import matplotlib
matplotlib.use('agg')
months, rain = ['Jan', 'Feb', 'Mar'], [78, 64, 59]`;
const PLOT = `import matplotlib.pyplot as plt
plt.bar(months, rain)`;

/**
 * The parts of the panel whose heights are measured.
 */
const PARTS: Readonly<Record<string, string>> = {
  conversation: '.jp-hdspAgent-chat',
  question: '.jp-hdspAgent-asks',
  composer: '.jp-hdspAgent-composer',
  header: '.jp-hdspAgent-task',
  tabs: '.jp-hdspAgent-strip',
  heading: '.jp-hdspAgent-header'
};

for (const preset of ['ask', 'editAndRun'] as const) {
  test(`a plot: ${preset}`, async ({ chat, lab, model, notebooks }) => {
    if (preset === 'editAndRun') {
      await lab.api.change({
        autoApprovalEnabled: true,
        alwaysAllowReadOnly: true,
        alwaysAllowWrite: true,
        alwaysAllowRunCells: true
      });
    }
    const notebook = await begin(chat, lab, notebooks);
    const count = new Count(lab.page);
    const decide = new Decisions(chat, notebook);
    await chat.say('Plot the rain per month below.');
    await decide.until(
      model.call('read_notebook', { path: NOTEBOOK, view: 'cells' })
    );
    await decide.until(
      model.call('edit_cells', {
        path: NOTEBOOK,
        operations: [{ op: 'insert', after: 'data', source: PLOT }]
      })
    );
    const cells = await notebooks.cells(NOTEBOOK);
    await decide.until(
      model.call('run_cells', { path: NOTEBOOK, cells: ['1', '2'].slice(1) })
    );
    expect(cells.length).toBeGreaterThan(0);
    await chat.finish(model, 'The plot is below.');
    if (preset === 'ask') {
      await decide.review();
    } else {
      // Whoever goes on has nothing left to decide; before, they had.
      await chat.say('Thank you.');
      await model.finish('You are welcome.');
      await chat.expectDone();
      await decide.review();
    }
    record(`plot.${preset}.decisions`, decide.count);
    record(`plot.${preset}.clicks`, await count.clicks());
  });
}

test('an answer', async ({ chat, model }) => {
  await chat.open();
  await chat.say('What is a mean?');
  let requests = 1;
  await model.say('The sum of all values divided by their number.');
  const done = chat.expectDone().then(() => true);
  while (
    !(await Promise.race([done, model.asked().then(() => false)]).catch(
      () => true
    ))
  ) {
    requests += 1;
    await model.finish('As I said.');
  }
  await done;
  record('answer.requests', requests);
});

const PLACES = [
  { name: '1280x800', width: 1280, height: 800, panel: 380, zoom: 1 },
  { name: '1440x900', width: 1440, height: 900, panel: 380, zoom: 1 },
  { name: '250px', width: 1280, height: 800, panel: 250, zoom: 1 },
  { name: '150%', width: 853, height: 533, panel: 300, zoom: 1.5 }
];

test('the heights of the panel', async ({ chat, lab, model, notebooks }) => {
  await begin(chat, lab, notebooks);
  await chat.say('Run the first cell, please.');
  const decide = new Decisions(chat, null);
  await decide.until(
    model.call('read_notebook', { path: NOTEBOOK, view: 'cells' })
  );
  await model.order('run_cells', { path: NOTEBOOK, cells: ['1'] });
  await expect(chat.ask).toBeVisible();
  for (const { name, width, height, panel } of PLACES) {
    await lab.page.setViewportSize({ width, height });
    await setWidth(lab, panel);
    await expect(chat.ask).toBeVisible();
    const heights = await heightsOf(lab.panel);
    for (const [part, share] of Object.entries(heights)) {
      record(`height.${name}.${part}`, share);
    }
    await lab.page.screenshot({
      path: `${process.env.JOURNEY_PICTURES ?? 'ui-tests/test-results'}/journey-${name}.png`
    });
  }
  await chat.ask.getByRole('button', { name: 'Deny', exact: true }).click();
  await chat.finish(model);
});

/**
 * A page with a notebook and the panel, as one has them who installed it just now.
 */
async function begin(
  chat: Chat,
  lab: Lab,
  notebooks: Notebooks
): Promise<OpenNotebook> {
  await notebooks.write(NOTEBOOK, [{ id: 'data', source: DATA }]);
  await chat.open();
  return OpenNotebook.open(lab, NOTEBOOK);
}

async function setWidth(lab: Lab, width: number): Promise<void> {
  await lab.page.evaluate(width => {
    const style = document.createElement('style');
    style.textContent = `.jp-hdspAgent-Panel { width: ${width}px !important; min-width: ${width}px !important; }`;
    document.head.append(style);
  }, width);
}

async function heightsOf(panel: Locator): Promise<Record<string, number>> {
  return panel.evaluate((node, parts) => {
    const height = (element: Element | null) =>
      element?.getBoundingClientRect().height ?? 0;
    const whole = height(node);
    const measured = Object.entries(parts).map(([name, selector]) => [
      name,
      Math.round(height(node.querySelector(selector)))
    ]);
    return Object.fromEntries([
      ['panel', Math.round(whole)],
      ...measured,
      [
        'share',
        Math.round(
          (1000 * height(node.querySelector(parts.conversation))) / whole
        ) / 10
      ]
    ]);
  }, PARTS);
}

/**
 * Decides as a person does who reads everything and approves it, with as few
 * decisions as there are.
 */
class Decisions {
  count = 0;

  constructor(
    private readonly _chat: Chat,
    private readonly _notebook: OpenNotebook | null
  ) {}

  /**
   * Approve what is asked until something is done.
   */
  async until(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    void work.finally(() => {
      isDone = true;
    });
    const button = this._chat.ask
      .locator('button:not([aria-disabled="true"])')
      .filter({ hasText: /^(Apply and run|Apply|Run|Approve|Save)$/ })
      .first();
    while (!isDone) {
      if (await button.isVisible()) {
        await button.click({ timeout: 2_000 }).then(
          () => (this.count += 1),
          () => undefined
        );
      }
      await Promise.race([
        work,
        new Promise(resolve => setTimeout(resolve, 50))
      ]);
    }
    await work;
  }

  /**
   * Keep what the agent changed, as far as it wants to be looked at.
   */
  async review(): Promise<void> {
    const keep = this._notebook?.panel.getByRole('button', {
      name: /^Keep(, cell \d+)?$/
    });
    while (keep !== undefined && (await keep.first().isVisible())) {
      await keep.first().click();
      this.count += 1;
      await this._chat.lab.page.waitForTimeout(300);
    }
  }
}

/**
 * Counts what is clicked in a page.
 */
class Count {
  constructor(private readonly _page: Page) {
    void _page.evaluate(() => {
      const counted = window as unknown as { clicks: number };
      counted.clicks = 0;
      document.addEventListener(
        'click',
        ({ isTrusted }) => (counted.clicks += isTrusted ? 1 : 0),
        true
      );
    });
  }

  clicks(): Promise<number> {
    return this._page.evaluate(
      () => (window as unknown as { clicks: number }).clicks
    );
  }
}

function record(name: string, value: number): void {
  const file = process.env.JOURNEY_RESULTS;
  if (file) {
    fs.appendFileSync(file, `${JSON.stringify({ name, value })}\n`);
  }
  test.info().annotations.push({ type: name, description: String(value) });
}
