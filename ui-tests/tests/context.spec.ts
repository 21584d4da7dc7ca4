import type { Locator } from '@playwright/test';

import type { SeenContext } from '../../src/generated/rest';
import type { Chat } from '../chat';
import { expect, test } from '../chat';
import type { Lab } from '../lab';
import type { PlayedModel } from '../model';
import { sentences } from '../model';
import { LONG_ONLY } from '../longtests';

const ASKED = 'Look at data/parts.csv. Never change a file.';
const SUMMARY = '## Work Completed\nThe parts were looked at; none is missing.';

test('a condensed conversation says what was kept and dropped, shows what the model sees, and can be undone', async ({
  chat,
  model
}) => {
  test.slow();
  const { lab } = chat;
  await talk(chat, model);

  await chat.button('Details of this conversation').click();
  await chat.button('Condense').click();
  await model.say(SUMMARY);
  const row = chat.feed
    .getByRole('article')
    .filter({ hasText: 'Conversation condensed:' });
  await expect(row).toBeVisible();
  await chat.button('Details of this conversation').click();
  await chat.button('What was kept, and what was dropped').click();
  await expect(row).toContainText(`1 of your messages, unchanged`);
  await expect(row).toContainText(ASKED);
  await expect(row).toContainText('Never change a file.');
  await expect(row).toContainText('data/parts.csv');
  await expect(row).toContainText(
    /in place of \d messages, about \d,\d{3} tokens/
  );
  await expect(row).toContainText('The summary is written by played.');
  await row.getByText('The summary is written').scrollIntoViewIfNeeded();
  await lab.picture('condensed');

  // The request as it would be sent now: the summary in place of the sentences.
  await chat.button('Details of this conversation').click();
  await lab.picture('meter');
  await chat.button('What the model sees').click();
  const view = viewOf(lab);
  await expect(view.getByRole('heading', { level: 2 })).toContainText(ASKED);
  const messages = view.getByRole('article');
  await expect(messages.filter({ hasText: 'none is missing' })).toHaveCount(1);
  await expect(messages.filter({ hasText: 'Sentence 399.' })).toHaveCount(0);
  await expect(
    view.getByRole('row', { name: /^Summary of what came before/ })
  ).toBeVisible();
  await lab.picture('seen');

  await view.getByRole('searchbox').fill('parts.csv');
  await view.getByRole('searchbox').press('Enter');
  await expect(view.getByRole('search')).toContainText('this is number 1');
  await expect(view.locator('mark').first()).toHaveText('parts.csv');
  const short = await tokens(view);
  await lab.picture('searched');

  // Undone, the model is sent the sentences themselves again.
  await chat.button('Undo').click();
  await expect(chat.dialog).toContainText('tokens longer');
  await lab.picture('undo');
  await chat.dialog.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toHaveCount(0);
  await view.getByRole('button', { name: 'Refresh' }).click();
  await expect.poll(() => tokens(view)).toBeGreaterThan(short + 1_000);
  await view.getByRole('searchbox').fill('Sentence 399.');
  await view.getByRole('searchbox').press('Enter');
  await expect(
    messages.filter({ hasText: 'Sentence 399.' }).first()
  ).toBeVisible();
  await chat.say('Go on.');
  await model.asked();
  expect(model.told).toContain('Sentence 399.');
  expect(model.told).not.toContain('none is missing');
  await chat.finish(model);
});

test(
  'the person is told once when a conversation has come to fill much of the window',
  { tag: LONG_ONLY },
  async ({ chat, model }) => {
    test.slow();
    const { lab } = chat;
    await talk(chat, model);
    const [{ id }] = (
      await lab.api.get<{ taskHistory: { id: string }[] }>('history')
    ).taskHistory;
    const seen = await lab.api.get<SeenContext>(`tasks/${id}/context?limit=1`);
    await lab.api.useProfile({
      ...model.profile,
      modelContextWindow: Math.round(seen.tokens.total / 0.82),
      modelMaxTokens: 500
    });
    await chat.say('Go on.');
    const toast = lab.page
      .locator('.Toastify__toast')
      .filter({ hasText: 'Consider condensing it' });
    await expect(toast).toContainText(/“Look at data.*” uses 8\d%/);
    await chat.finish(model);
    await lab.picture('advice');

    await toast.getByRole('button', { name: 'What the model sees' }).click();
    const view = viewOf(lab);
    await expect(view.getByRole('table')).toContainText(
      'the conversation is condensed'
    );
    await chat.reload();
    await chat.say('And on.');
    await chat.finish(model);
    await expect(toast).toHaveCount(0);
  }
);

test(
  'what the model sees is a command, is reached by keyboard, and has room in a narrow window',
  { tag: LONG_ONLY },
  async ({ chat, model }) => {
    test.slow();
    const { lab } = chat;
    await talk(chat, model);
    await lab.page.setViewportSize({ width: 700, height: 700 });
    await lab.execute('hdsp-agent:show-context');
    const view = viewOf(lab);
    await expect(view).toBeFocused();
    const tools = view.locator('summary').filter({ hasText: / tools/ });
    await lab.tabTo(tools);
    await lab.page.keyboard.press('Enter');
    await expect(
      view.locator('summary', { hasText: 'read_file' })
    ).toBeVisible();
    const wide = await view.evaluate(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth
    );
    expect(wide).toBeLessThanOrEqual(0);
    await lab.picture('narrow', ['light', 'dark', 'contrast']);

    // It is there again after the page is loaded anew.
    await chat.reload();
    await expect(view.getByRole('table')).toBeVisible();
  }
);

/**
 * A conversation of some length, at rest.
 */
async function talk(chat: Chat, model: PlayedModel): Promise<void> {
  await chat.begin(ASKED);
  await model.say(sentences(800));
  await chat.expectDone();
}

/**
 * The tab with what the model sees.
 */
function viewOf({ page }: Lab): Locator {
  return page.getByRole('tabpanel', { name: 'What the Model Sees' });
}

/**
 * How many tokens the view says that the whole request has.
 */
async function tokens(view: Locator): Promise<number> {
  const text = await view
    .getByRole('row', { name: /^The whole request/ })
    .getByRole('cell')
    .first()
    .innerText();
  return Number(text.replace(/,/g, ''));
}
