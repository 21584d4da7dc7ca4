import type { Locator } from '@playwright/test';

import { Chat } from '../chat';
import { expect, OpenNotebook, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

const TEA = 'Which tea shall we plot';
const NOVEL = 'Count the words of the novel';

test.afterEach(({ lab }) => {
  expect(lab.errors).toEqual([]);
});

test('a conversation that needs the person says so while another is on screen', async ({
  agent,
  lab
}) => {
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  await chat.open();
  await chat.say(TEA);
  await model.asked();
  await lab.beginAnother();
  await expect(tab(chat, `${TEA}, working`)).toBeVisible();

  await model.order('ask_followup_question', {
    question: 'Green or black?',
    follow_up: [{ text: 'Green' }, { text: 'Black' }]
  });

  await expect(tab(chat, `${TEA}, needs you`)).toBeVisible();
  await expect(chat.ask).toBeHidden();
  const icon = lab.page
    .getByRole('tablist', { name: 'main sidebar' })
    .getByRole('tab', { name: /^HDSP Agent/ });
  await expect(icon).toHaveAttribute('data-hdsp-agent-waiting', '1');
  await expect(icon).toHaveAttribute(
    'title',
    'HDSP Agent: 1 conversation is waiting for you'
  );
  const told = lab.page
    .locator('.Toastify__toast')
    .filter({ hasText: `HDSP Agent is waiting for your answer in “${TEA}”.` });
  await expect(told).toBeVisible();
  await lab.picture('conversation-needs-you');

  await lab.page.sidebar.close('left');
  await expect(lab.panel).toBeHidden();
  await told.getByRole('button', { name: 'Show' }).click();
  await expect(lab.panel).toBeVisible();
  await expect(chat.feed).toContainText('Green or black?');
  await expect(told).toBeHidden();
  await lab.picture('conversation-question');
  await chat.ask.getByRole('button', { name: 'Green', exact: true }).click();

  await model.finish();
  await expect(tab(chat, `${TEA}, done`)).toBeVisible();
  await expect(icon).not.toHaveAttribute('data-hdsp-agent-waiting');
  expect(JSON.stringify(model.messages)).toContain('Green');
});

test('conversations are switched and closed, and each keeps what was typed', async ({
  agent,
  lab
}) => {
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  const { keyboard } = lab.page;
  await chat.open();
  await chat.say(TEA);
  await model.finish();
  await expect(tab(chat, `${TEA}, done`)).toBeVisible();
  await lab.beginAnother();
  await chat.say(NOVEL);
  await expect(tab(chat, `${NOVEL}, working`)).toBeVisible();
  await model.asked();
  await chat.field.fill('for later');

  await tab(chat, TEA).click();
  await expect(chat.feed).toContainText(TEA);
  await expect(chat.field).toHaveValue('');
  await lab.picture('conversations');
  await keyboard.press('ArrowRight');
  await expect(tab(chat, NOVEL)).toBeFocused();
  await keyboard.press('Enter');
  await expect(chat.feed).toContainText(NOVEL);
  await expect(chat.field).toHaveValue('for later');

  await test.step('one that works is not closed without a question', async () => {
    await tab(chat, NOVEL).focus();
    await keyboard.press('Delete');
    const dialog = lab.page.getByRole('dialog');
    await expect(dialog).toContainText(`Close “${NOVEL}”?`);
    await lab.picture('conversation-close');
    await dialog.getByRole('button', { name: 'Close and stop' }).click();
    await expect(tab(chat, NOVEL)).toBeHidden();
    await expect(chat.feed).toContainText(TEA);
  });

  await test.step('one that is done goes at once', async () => {
    await tab(chat, TEA).hover();
    await lab.panel
      .locator('.jp-hdspAgent-strip')
      .getByTitle('Close', { exact: true })
      .click();
    await expect(chat.tabs).toHaveCount(0);
    await expect(lab.greeting).toBeVisible();
  });

  await test.step('both are kept', async () => {
    const recent = lab.greeting.getByRole('region', {
      name: 'Recent conversations'
    });
    await expect(recent).toContainText(TEA);
    await recent.getByRole('button', { name: NOVEL }).click();
    await expect(chat.feed).toContainText(NOVEL);
    await expect(chat.ask).toContainText('This was interrupted.');
    await lab.picture('conversation-interrupted');
  });
});

test(
  'a notebook carries its conversation to somebody who does not have it',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = 'carried.ipynb';
    const begin = 'Sum this up, please.';
    const result = 'It adds one and one.';
    await lab.api.change({ embedHistoryInNotebook: true });
    await notebooks.write(path, [{ id: 'sum', source: '1 + 1' }]);
    const chat = new Chat(lab);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await lab.openPanel();
    await chat.say(begin);
    await agent.model.finish(result);
    await chat.expectDone();
    await expect
      .poll(async () => {
        await notebook.save();
        return JSON.stringify(
          (await notebooks.metadata(path)).hdsp_conversation
        );
      })
      .toContain(result);

    await agent.close();
    await lab.reload();
    await OpenNotebook.open(lab, path);
    await lab.openPanel();
    const offer = lab.panel.getByRole('region', {
      name: 'Conversation in this notebook'
    });
    await expect(offer).toContainText(
      'This notebook contains a conversation (2 messages): “Sum this up, please”.'
    );
    await lab.picture('notebook-conversation-offer');
    await offer.getByRole('button', { name: 'Open a copy' }).click();
    await expect(chat.messages('You')).toContainText(begin);
    await expect(chat.feed).toContainText(result);
    await expect(offer).toBeHidden();
    await expect(chat.field).toBeFocused();
    await lab.picture('notebook-conversation-open');
  }
);

/**
 * A tab of the panel, by the beginning of its name.
 */
function tab(chat: Chat, name: string): Locator {
  return chat.tabs.and(chat.lab.page.getByRole('tab', { name }));
}
