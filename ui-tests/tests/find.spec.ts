import { expect, test } from '../chat';
import { LONG_ONLY } from '../longtests';

/**
 * How many tools the model calls in one answer, and how often it answers.
 */
const CALLS = 20;
const ANSWERS = 5;

test('a text is found in all of a conversation, and gone through', async ({
  chat,
  lab,
  model
}) => {
  test.setTimeout(600_000);
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true
  });
  await chat.begin('Look for the pangolin in every folder.');
  for (let answer = 0; answer < ANSWERS; answer++) {
    await model.beginAll(
      Array.from({ length: CALLS }, (_, call) => ({
        name: 'search_files',
        args: { path: '.', regex: `folder-${answer}-${call}` }
      }))
    );
  }
  await chat.finish(
    model,
    'The **pangolin** is here:\n\n```python\nfound = "Pangolin"\n```'
  );
  await chat.reload();
  await chat.expectAtEnd();
  const { keyboard } = lab.page;
  const bar = lab.panel.getByRole('search', { name: 'Find in conversation' });
  const field = bar.getByRole('textbox', { name: 'Find in conversation' });
  const count = bar.getByRole('status');
  const first = chat.messages('You', 'Look for the pangolin');
  const last = chat.messages('Agent', 'pangolin');

  await test.step('with the keys one finds with everywhere', async () => {
    await chat.field.press('Control+f');
    await expect(field).toBeFocused();
    await keyboard.type('pangolin');
    await expect(count).toHaveText('2 of 2 messages');
    await expect(last).toBeInViewport();
    await expect(field).toBeFocused();
    await lab.picture('find-newest');
  });

  await test.step('what is not on the page is loaded', async () => {
    await expect(first).toHaveCount(0);
    await field.press('Shift+Enter');
    await expect(first).toBeInViewport();
    await expect(count).toHaveText('1 of 2 messages');
    await expect(field).toBeFocused();
    await expect(first).toHaveAttribute('data-found', 'true');
    await lab.picture('find-first');
  });

  await test.step('it is marked, word for word', async () => {
    await field.press('Enter');
    await expect(last).toBeInViewport();
    await expect
      .poll(() =>
        lab.page.evaluate(() =>
          [...(CSS.highlights.get('hdsp-agent-found-current') ?? [])].map(
            range => String(range)
          )
        )
      )
      .toEqual(['pangolin', 'Pangolin']);
  });

  await test.step('nothing is said to be nothing', async () => {
    await field.fill('aardvark');
    await expect(count).toHaveText('No results');
    await lab.picture('find-nothing');
  });

  await test.step('Escape closes it, and goes back', async () => {
    await field.press('Escape');
    await expect(bar).toHaveCount(0);
    await expect(chat.field).toBeFocused();
  });

  await test.step('it is in the menu', async () => {
    await lab.page.menu.clickMenuItem('Agent>Find in Conversation…');
    await expect(field).toBeFocused();
    await expect(field).toHaveValue('aardvark');
    await expect(count).toHaveText('No results');
  });
});

test(
  'what one sends is in sight, wherever one was reading',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    await chat.begin('Tell me a long story.');
    await chat.finish(
      model,
      Array.from({ length: 80 }, (_, at) => `Line ${at}.`).join('\n\n')
    );
    await chat.feed.hover();
    await lab.page.mouse.wheel(0, -100_000);
    await expect(chat.button('To the newest message')).toBeVisible();
    await chat.say('Now a short one.');
    await expect(chat.messages('You', 'Now a short one.')).toBeInViewport();
    await chat.expectAtEnd();
  }
);
