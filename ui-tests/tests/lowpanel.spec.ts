import type { Locator } from '@playwright/test';

import { expect, test } from '../chat';
import { LONG_ONLY } from '../longtests';

const LONG = 'A long answer that one would have to read to its end. '.repeat(
  30
);

test(
  'what is asked can be read and answered in a panel that is low or narrow',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    test.slow();
    await chat.begin('First.');
    await chat.finish(model, 'One.');
    await chat.say('Second.');
    await chat.finish(model, 'Two.');
    await chat.action(chat.messages('You', 'Second.'), 'Restore').click();
    await chat.dialog.getByRole('button', { name: 'Restore' }).click();
    await expect(chat.undoBar).toBeVisible();
    await lab.api.publish({
      type: 'noticesUpdated',
      notices: [
        {
          id: 'low',
          level: 'warning',
          code: 'of_the_tests',
          message: 'Something one should know of, in a sentence of its own.',
          params: {}
        }
      ]
    });
    await chat.say('Third.');
    await lab.api.change({
      autoApprovalEnabled: true,
      alwaysAllowReadOnly: true
    });
    const asking = model.call('ask_followup_question', {
      question: 'Which of the four do you want me to take?',
      follow_up: ['1', '2', '3', '4'].map(text => ({
        text: `${text}: ${LONG}`
      }))
    });
    const question = chat.messages('Question', 'Which of the four');
    for (const [width, height] of [
      [1280, 720],
      [640, 400],
      [320, 256]
    ] as const) {
      await test.step(`${width} by ${height}`, async () => {
        await lab.page.setViewportSize({ width, height });
        await chat.expectAsked('The agent has a question for you.');
        await expectReadable(question);
        for (const button of [
          chat.ask.getByRole('button', { name: /^1:/ }),
          chat.ask.getByRole('button', { name: /^4:/ }),
          chat.button('Stop'),
          chat.field
        ]) {
          await expectReadable(button);
        }
      });
    }
    await lab.page.setViewportSize({ width: 1280, height: 800 });
    await chat.ask.getByRole('button', { name: /^1:/ }).click();
    expect(await asking).toContain('1: A long answer');
    await chat.finish(model);
  }
);

/**
 * Scroll to something, and see whether its beginning is then on the page, with
 * nothing above it.
 */
async function expectReadable(thing: Locator): Promise<void> {
  await thing.scrollIntoViewIfNeeded();
  await expect
    .poll(() =>
      thing.evaluate(node => {
        const { left, top, width } = node.getBoundingClientRect();
        const x = left + Math.min(width / 2, 40);
        const y = Math.max(top, 0) + 8;
        const there = document.elementFromPoint(x, y);
        return there === node || node.contains(there)
          ? 'seen'
          : `below ${there?.className} at ${x}, ${y}`;
      })
    )
    .toBe('seen');
}
