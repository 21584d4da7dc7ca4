import type { Locator } from '@playwright/test';

import { said } from '../agentapi';
import { Chat } from '../chat';
import type { Lab } from '../lab';
import { expect, test } from '../notebooks';

const UNBROKEN = 'a_name_without_a_single_place_to_break_it_'.repeat(4);

test('nothing in the panel is cut off at 240 pixels', async ({ lab }) => {
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
});

test('nothing in a conversation, a question, the history or the statistics is cut off at 240 pixels', async ({
  agent,
  lab,
  notebooks
}) => {
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  const path = `${UNBROKEN}.ipynb`;
  await notebooks.write(path, [{ id: 'load', source: `${UNBROKEN} = 3` }]);
  await lab.visit();
  await lab.openPanel();
  await makeNarrow(lab);
  await chat.field.fill(`Look at ${UNBROKEN}.`);
  await expectNoOverflow(lab.panel);
  await chat.field.press('Enter');
  await agent.read(path);
  await agent.edit(path, { op: 'edit', cell: 'load', old: '3', new: '4' });
  await agent.run(path, 'load');
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

test('nothing in the settings is cut off at 300 pixels', async ({ lab }) => {
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
  for (const section of await sections.getByRole('option').allTextContents()) {
    await sections.selectOption({ label: section });
    await expect(
      lab.settings.getByRole('heading', { name: section, exact: true })
    ).toBeVisible();
    await expectNoOverflow(lab.settings);
  }
});

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
