import type { Lab } from '../lab';
import { expect, test } from '../notebooks';

const TEA = 'Which tea shall we plot';
const NOVEL = 'Count the words of the novel';

test.beforeEach(async ({ agent, lab }) => {
  await agent.api.forgetTasks();
  await lab.visit();
  await lab.openPanel();
});

test.afterEach(({ lab }) => {
  expect(lab.errors).toEqual([]);
});

test('a conversation that needs the person says so while another is on screen', async ({
  agent,
  lab
}) => {
  test.slow();
  const { model } = agent;
  await ask(lab, TEA);
  await model.asked();
  await begin(lab);
  await expect(tab(lab, `${TEA}, working`)).toBeVisible();

  await model.order('ask_followup_question', {
    question: 'Green or black?',
    follow_up: [{ text: 'Green' }, { text: 'Black' }]
  });

  await expect(tab(lab, `${TEA}, needs you`)).toBeVisible();
  await expect(lab.question).toBeHidden();
  const icon = lab.page
    .getByRole('tablist', { name: 'main sidebar' })
    .getByRole('tab', { name: 'HDSP Agent' });
  await expect(icon).toHaveAttribute('data-hdsp-agent-waiting', '1');
  await expect(icon).toHaveAttribute(
    'title',
    'HDSP Agent: 1 conversation waits for you'
  );
  const told = lab.page
    .locator('.Toastify__toast')
    .filter({ hasText: `HDSP Agent waits for your answer in “${TEA}”.` });
  await expect(told).toBeVisible();
  await lab.picture('conversation-needs-you');

  await lab.page.sidebar.close('left');
  await expect(lab.panel).toBeHidden();
  await told.getByRole('button', { name: 'Show' }).click();
  await expect(lab.panel).toBeVisible();
  await expect(lab.chat).toContainText('Green or black?');
  await expect(told).toBeHidden();
  await lab.picture('conversation-question');
  await lab.question.getByRole('button', { name: 'Green', exact: true }).click();

  await model.finish();
  await expect(tab(lab, `${TEA}, done`)).toBeVisible();
  await expect(icon).not.toHaveAttribute('data-hdsp-agent-waiting');
  expect(JSON.stringify(model.messages)).toContain('Green');
});

test('conversations are switched and closed, and each keeps what was typed', async ({
  agent,
  lab
}) => {
  test.slow();
  const { model } = agent;
  const { keyboard } = lab.page;
  await ask(lab, TEA);
  await model.finish();
  await expect(tab(lab, `${TEA}, done`)).toBeVisible();
  await begin(lab);
  await ask(lab, NOVEL);
  await expect(tab(lab, `${NOVEL}, working`)).toBeVisible();
  await model.asked();
  await lab.field.fill('for later');

  await tab(lab, TEA).click();
  await expect(lab.chat).toContainText(TEA);
  await expect(lab.field).toHaveValue('');
  await lab.picture('conversations');
  await keyboard.press('ArrowRight');
  await expect(tab(lab, NOVEL)).toBeFocused();
  await keyboard.press('Enter');
  await expect(lab.chat).toContainText(NOVEL);
  await expect(lab.field).toHaveValue('for later');

  await test.step('one that works is not closed without a question', async () => {
    await tab(lab, NOVEL).focus();
    await keyboard.press('Delete');
    const dialog = lab.page.getByRole('dialog');
    await expect(dialog).toContainText(`Close “${NOVEL}”?`);
    await lab.picture('conversation-close');
    await dialog.getByRole('button', { name: 'Close and stop' }).click();
    await expect(tab(lab, NOVEL)).toBeHidden();
    await expect(lab.chat).toContainText(TEA);
  });

  await test.step('one that is done goes at once', async () => {
    await tab(lab, TEA).hover();
    await lab.conversations.getByTitle('Close', { exact: true }).click();
    await expect(lab.conversations).toBeHidden();
    await expect(lab.greeting).toBeVisible();
  });

  await test.step('both are kept', async () => {
    const recent = lab.greeting.getByRole('region', {
      name: 'Recent conversations'
    });
    await expect(recent).toContainText(TEA);
    await recent.getByRole('button', { name: NOVEL }).click();
    await expect(lab.chat).toContainText(NOVEL);
    await expect(lab.question).toContainText(
      'The work on this was interrupted.'
    );
    await lab.picture('conversation-interrupted');
  });
});

/**
 * A tab of the panel, by the beginning of its name.
 */
function tab(lab: Lab, name: string) {
  return lab.conversations.getByRole('tab', { name });
}

/**
 * Begin another conversation.
 */
async function begin(lab: Lab): Promise<void> {
  await lab.panel
    .getByRole('button', { name: 'New conversation', exact: true })
    .click();
  await expect(lab.greeting).toBeVisible();
}

/**
 * Ask the agent for something.
 */
async function ask(lab: Lab, text: string): Promise<void> {
  await lab.field.fill(text);
  await lab.field.press('Enter');
  await expect(lab.chat).toContainText(text);
}
