import type { Locator } from '@playwright/test';
import { writeFileSync } from 'fs';
import * as path from 'path';

import { AgentApi, said } from '../agentapi';
import { Chat } from '../chat';
import type { Lab } from '../lab';
import { expect, test } from '../notebooks';
import { Timeline } from '../timeline';
import { LONG_ONLY } from '../longtests';

const UNBROKEN = 'a_name_without_a_single_place_to_break_it_'.repeat(4);

test(
  'nothing in the panel is cut off at 240 pixels',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    const line = await lab.holdTheLine();
    await lab.visit();
    await lab.openPanel();
    await makeNarrow(lab);
    await expect(lab.setup).toContainText('1 of 2: Choose a provider');
    await expectNoOverflow(lab.panel);
    await lab.picture('first-run-narrow');
    await lab.api.publish(
      {
        type: 'noticesUpdated',
        notices: [
          {
            id: 'long',
            level: 'warning',
            code: 'of_the_tests',
            message: UNBROKEN,
            params: {}
          }
        ]
      },
      said(Date.now(), UNBROKEN)
    );
    await expect(new Chat(lab).feed).toContainText(UNBROKEN);
    await line.cut();
    await expect(lab.banner).toBeVisible();
    await expectNoOverflow(lab.panel);
    await lab.picture('panel-narrow');
  }
);

test('nothing in a conversation, a question, the history or the statistics is cut off at 240 pixels', async ({
  agent,
  lab,
  notebooks
}) => {
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  const file = `${UNBROKEN}.ipynb`;
  await notebooks.write(file, [{ id: 'load', source: `${UNBROKEN} = 3` }]);
  await lab.visit();
  await lab.openPanel();
  await makeNarrow(lab);
  await chat.field.fill(`Look at ${UNBROKEN}.`);
  await expectNoOverflow(lab.panel);
  await chat.field.press('Enter');
  await agent.read(file);
  await agent.edit(file, { op: 'edit', cell: 'load', old: '3', new: '4' });
  await agent.run(file, 'load');
  await model.call('update_todo_list', { todos: `[x] ${UNBROKEN}\n[ ] Tell` });
  await lab.panel
    .getByRole('button', { name: 'Details of this conversation' })
    .click();
  await expectNoOverflow(lab.panel);
  await lab.picture('conversation-narrow');

  await model.order('ask_followup_question', {
    question: `What is \`${UNBROKEN}\`?`,
    follow_up: [{ text: UNBROKEN }, { text: 'Nothing' }]
  });
  await expect(chat.ask).toContainText('question for you');
  await expectNoOverflow(lab.panel);
  await lab.picture('question-narrow');
  await chat.ask.getByRole('button', { name: 'Nothing', exact: true }).click();
  await model.order('execute_command', { command: `echo ${UNBROKEN}` });
  await expect(chat.ask).toContainText('Run this command?');
  await chat.ask.getByRole('button', { name: 'Approve always…' }).click();
  await expectNoOverflow(lab.panel);
  await lab.picture('approval-narrow');
  await lab.page.keyboard.press('Escape');
  await chat.ask.getByRole('button', { name: 'Deny' }).click();
  await model.finish();
  await expect(chat.ask).toContainText('The agent is done.');

  await lab.panel
    .getByRole('button', { name: 'Past conversations', exact: true })
    .click();
  await expect(lab.history).toContainText(UNBROKEN);
  await lab.history.getByRole('button', { name: /^Filter by folder/ }).click();
  await expectNoOverflow(lab.panel);
  await lab.picture('history-narrow');
  await lab.history.getByRole('button', { name: 'Usage' }).click();
  await expect(lab.history.getByRole('img')).toBeVisible();
  await lab.history.getByText('As a table').click();
  await expectNoOverflow(lab.panel);
  await lab.picture('statistics-narrow');
  expect(lab.errors).toEqual([]);
});

test('every notice takes one line, and all of it can be read', async ({
  lab,
  model,
  request,
  startServer
}) => {
  const server = await startServer({
    env: { HDSP_AGENT_PASSPHRASE: '' },
    prepare: ({ root }) =>
      writeFileSync(path.join(root, 'AGENTS.md'), 'Be brief.')
  });
  const api = new AgentApi(request, server.url);
  await api.useProfile(model.profile);
  const line = await lab.holdTheLine();
  await lab.visit(server.url);
  await lab.openPanel();
  const chat = new Chat(lab);
  await chat.say('First.');
  await chat.finish(model, 'One.');
  await chat.say('Second.');
  await chat.finish(model, 'Two.');
  await chat.action(chat.messages('You', 'Second.'), 'Restore').click();
  await chat.dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(chat.undoBar).toBeVisible();
  await api.publish({
    type: 'noticesUpdated',
    notices: [
      {
        id: 'long',
        level: 'error',
        code: 'of_the_tests',
        message: `Something one should know of ${UNBROKEN}.`,
        params: {}
      }
    ]
  });
  await expect(lab.panel).toContainText('Something one should know of');
  await line.cut();
  await expect(lab.banner).toBeVisible();
  const notices = lab.panel.locator('.jp-hdspAgent-notice');
  // The connection, two of the server, the folder, and what was taken back.
  await expect(notices).toHaveCount(5);
  for (const width of [380, 250]) {
    await lab.page.addStyleTag({
      content: `.jp-hdspAgent-Panel {
        width: ${width}px !important;
        min-width: ${width}px !important;
      }`
    });
    await expect.poll(() => heightsOf(notices)).toEqual(Array(5).fill(28));
    await expectNoOverflow(lab.panel);
    await lab.picture(`notices-${width}`);
  }

  const first = lab.panel.getByRole('list', { name: 'Notices' });
  const whole = first.getByRole('button', { name: 'Full text' }).first();
  await lab.tabTo(whole);
  await lab.page.keyboard.press('Enter');
  await expect(whole).toHaveAttribute('aria-expanded', 'true');
  await expectNoOverflow(lab.panel);
  await lab.picture('notice-unfolded');
  await whole.click();
  await expect.poll(() => heightsOf(notices)).toEqual(Array(5).fill(28));

  line.mend();
  await lab.banner.getByRole('button', { name: 'Try now' }).click();
  await lab.expectConnected();
  await expect(notices).toHaveCount(4);
  await test.step('what is dismissed stays so over a reload', async () => {
    for (let count = 4; count > 0; count--) {
      await notices.first().getByRole('button', { name: 'Dismiss' }).click();
      await expect(notices).toHaveCount(count - 1);
      await expect(
        count > 1
          ? notices.first().getByRole('button', { name: 'Dismiss' })
          : chat.field
      ).toBeFocused();
    }
    await lab.reload();
    await lab.openPanel();
    await expect(chat.field).toBeVisible();
    await expect(notices).toHaveCount(0);
  });
});

test(
  'nothing in the settings is cut off at 300 pixels',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    await lab.api.change({ deniedCommands: [UNBROKEN] });
    await lab.visit();
    await lab.openSettings('models');
    await lab.page.sidebar.close('left');
    const box = await lab.settings.boundingBox();
    const { width = 0, height = 0 } = lab.page.viewportSize() ?? {};
    await lab.page.setViewportSize({
      width: Math.round(width - (box?.width ?? 0) + 300),
      height
    });
    await expect
      .poll(async () => (await lab.settings.boundingBox())?.width)
      .toBeLessThanOrEqual(301);

    await expect(
      lab.settings.getByRole('navigation').getByRole('list')
    ).toBeHidden();
    const sections = lab.settings.getByRole('combobox', {
      name: 'Settings section'
    });
    await lab.picture('settings-narrow');
    for (const section of await sections
      .getByRole('option')
      .allTextContents()) {
      await sections.selectOption({ label: section });
      await expect(
        lab.settings.getByRole('heading', { name: section, exact: true })
      ).toBeVisible();
      await expectNoOverflow(lab.settings);
    }
  }
);

async function heightsOf(elements: Locator): Promise<number[]> {
  return elements.evaluateAll(all =>
    all.map(one => Math.round(one.getBoundingClientRect().height))
  );
}

test(
  'no button covers a text in a conversation, and long paths are one line in the timeline',
  { tag: LONG_ONLY },
  async ({ agent, lab }) => {
    test.slow();
    const { model } = agent;
    const chat = new Chat(lab);
    const folder = 'data/of/the/last/year/by/region/and/branch';
    const file = `${folder}/summary_of_all_sales.csv`;
    await lab.visit();
    await lab.openPanel();
    await chat.say('Write down what a long request with many words asks for.');
    await agent.call('write_to_file', { path: file, content: 'price\n1\n' });
    await lab.api.change({
      alwaysAllowExecute: true,
      allowedCommands: ['echo']
    });
    await model.call('execute_command', {
      command: `echo ${'many words and '.repeat(12)}`
    });
    await chat.finish(
      model,
      `${'A long first line, so that it fills all of its row. '.repeat(3)}\n\n` +
        `\`\`\`python\n${'total = total + 1 '.repeat(9)}\n\`\`\``
    );
    for (const isNarrow of [false, true]) {
      if (isNarrow) {
        await makeNarrow(lab);
      }
      for (const kind of ['answer', 'command', 'checkpoint']) {
        const row = chat.feed
          .getByRole('article')
          .filter({ has: lab.page.locator(`.jp-hdspAgent-${kind}`) })
          .last();
        // Rows that are not in sight are not on the page.
        await expect(async () => {
          if (!(await row.isVisible())) {
            await chat.feed.evaluate(box => {
              box.scrollTop -= box.clientHeight / 2;
            });
          }
          await row.hover({ timeout: 1_000 });
        }).toPass();
        await expect.poll(() => coveredBy(row)).toEqual([]);
        await lab.picture(`hovered-${kind}-${isNarrow ? 'narrow' : 'wide'}`);
      }
    }

    const line = new Timeline(lab);
    await line.open();
    const written = line.rows.filter({ hasText: 'Edited summary_of' }).first();
    await written.getByRole('button').first().click();
    const path = written.locator('.jp-hdspAgent-path');
    await expect(path).toHaveAttribute('title', file);
    await expect(
      written.getByRole('button', { name: `${file} new` })
    ).toBeVisible();
    const { height = 0 } = (await path.boundingBox()) ?? {};
    expect(height).toBeLessThan(24);
    await expectNoOverflow(line.view);
    await lab.picture('long-path');
  }
);

/**
 * The texts of a row that are below its buttons; a text that is cut off ends
 * where it is cut.
 */
async function coveredBy(row: Locator): Promise<string[]> {
  return row.evaluate(root => {
    const isSeen = (node: Element | null): boolean =>
      node === null ||
      node === document.body ||
      (Number(getComputedStyle(node).opacity) > 0 &&
        isSeen(node.parentElement));
    const buttons = [...root.querySelectorAll('button')].filter(
      button => button.checkVisibility() && isSeen(button)
    );
    const covered: string[] = [];
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      const range = document.createRange();
      range.selectNodeContents(text);
      let edge = Infinity;
      for (let node = text.parentElement; node; node = node.parentElement) {
        if (getComputedStyle(node).overflowX !== 'visible') {
          edge = Math.min(edge, node.getBoundingClientRect().right);
        }
      }
      for (const button of buttons) {
        const box = button.getBoundingClientRect();
        const isBelow = [...range.getClientRects()].some(
          ({ left, right, top, bottom }) =>
            Math.min(right, edge, box.right) - Math.max(left, box.left) > 1 &&
            Math.min(bottom, box.bottom) - Math.max(top, box.top) > 4
        );
        if (isBelow && !button.contains(text)) {
          covered.push(`${button.ariaLabel} over ${text.textContent}`);
        }
      }
    }
    return covered;
  });
}

/**
 * Make the panel 240 pixels wide. Nobody can drag it below 250 in this
 * JupyterLab; others have other limits.
 */
async function makeNarrow(lab: Lab): Promise<void> {
  await lab.page.addStyleTag({
    content: `.jp-hdspAgent-Panel {
      width: 240px !important;
      min-width: 240px !important;
    }`
  });
  expect((await lab.panel.boundingBox())?.width).toBe(240);
}

/**
 * Nothing reaches beyond the element, and nothing in it scrolls sideways but
 * code and tables, which nobody wants broken. What is shortened is told whole
 * by its tooltip.
 */
async function expectNoOverflow(element: Locator): Promise<void> {
  await expect.poll(() => overflowsOf(element)).toEqual([]);
}

async function overflowsOf(element: Locator): Promise<string[]> {
  return element.evaluate(root => {
    const { right } = root.getBoundingClientRect();
    const scrolls = (node: Element) =>
      /auto|scroll/.test(getComputedStyle(node).overflowX) &&
      node.matches('pre, :has(> pre), :has(> table)');
    const isShortened = (node: Element) =>
      getComputedStyle(node).textOverflow === 'ellipsis' &&
      node.closest('[title]') !== null;
    const isWithinScroller = (node: Element | null): boolean =>
      node !== null &&
      node !== root &&
      (scrolls(node) || isWithinScroller(node.parentElement));
    const shown = [root, ...root.querySelectorAll<HTMLElement>('*')].filter(
      node =>
        node.checkVisibility() &&
        node.clientWidth > 1 &&
        !isWithinScroller(node)
    );
    return shown
      .filter(
        node =>
          node.getBoundingClientRect().right > right + 1 ||
          (node.scrollWidth > node.clientWidth + 1 &&
            !isShortened(node) &&
            !['INPUT', 'SELECT', 'TEXTAREA'].includes(node.tagName))
      )
      .map(node => node.outerHTML.slice(0, 200));
  });
}
