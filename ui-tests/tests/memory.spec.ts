import type { Locator } from '@playwright/test';

import type { Chat } from '../chat';
import { expect, test } from '../chat';
import type { Lab } from '../lab';
import type { PlayedModel } from '../model';
import { LONG_ONLY } from '../longtests';

/**
 * The lines of the page with what is remembered.
 */
function line(lab: Lab, text: string): Locator {
  return lab.settings.locator('[data-line]').filter({ hasText: text });
}

/**
 * Ask for something in a conversation of its own; what the model is told then.
 */
async function toldInAnother(
  chat: Chat,
  model: PlayedModel,
  text: string
): Promise<string> {
  await chat.lab.beginAnother();
  await chat.say(text);
  await model.asked();
  const { told } = model;
  await chat.finish(model);
  return told;
}

test.beforeEach(({ lab }) => lab.api.forgetMemory());

test.afterEach(({ lab }) => lab.api.forgetMemory());

test('what one asks to remember is told from then on, until one changes, forgets or turns it off', async ({
  chat,
  lab,
  model
}) => {
  test.slow();
  const { settings } = lab;

  await test.step('it is kept once one agrees, and told to the next conversation', async () => {
    await chat.begin('Remember that I use polars.');
    await model.order('remember', { text: 'Use polars for data frames' });
    await chat.expectAsked('Remember this for all your conversations?');
    await lab.picture('memory-asked');
    expect((await lab.api.remembered()).notes).toEqual([]);
    await chat.answer('Remember this', 'Remember');
    await chat.finish(model);
    expect(await toldInAnother(chat, model, 'Plot the sales.')).toContain(
      'Use polars for data frames'
    );
  });

  await test.step('the row leads to all that is remembered, and that back to the conversation', async () => {
    await chat.tabs.filter({ hasText: 'Remember that' }).click();
    await lab.panel.getByRole('button', { name: 'Manage memory' }).click();
    const note = line(lab, 'Use polars');
    await expect(note).toContainText('For all your conversations');
    await lab.picture('memory-note');
    await chat.tabs.filter({ hasText: 'Plot the sales' }).click();
    await expect(chat.messages('You', 'Plot the sales.')).toBeVisible();
    await note.getByRole('button', { name: /^Conversation/ }).click();
    await expect(chat.messages('You', 'Remember that I')).toBeVisible();
  });

  await test.step('what is remembered meanwhile is there when one comes back', async () => {
    await lab.beginAnother();
    await chat.say('Remember that I like bars.');
    await model.order('remember', { text: 'Prefer bar charts' });
    await chat.answer('Remember this', 'Remember');
    await chat.finish(model);
    await chat.button('Manage memory').click();
    await expect(line(lab, 'Prefer bar charts')).toBeVisible();
  });

  await test.step('the menu of a conversation leads there, too', async () => {
    await lab.openSettings('models');
    await chat.button('Conversation actions').click();
    await lab.page.getByRole('menuitem', { name: 'Memory' }).click();
    await expect(line(lab, 'Use polars')).toBeVisible();
  });

  await test.step('it is changed where it stands, and told as it is now', async () => {
    await settings.getByRole('button', { name: /^Edit “Use polars/ }).click();
    const field = settings.getByRole('textbox', { name: 'What to remember' });
    await expect(field).toBeFocused();
    await field.fill('Use polars 1.x for data frames');
    await lab.picture('memory-edit');
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(line(lab, 'Use polars 1.x')).toBeVisible();
    const told = await toldInAnother(chat, model, 'Plot the costs.');
    expect(told).toContain('Use polars 1.x');
  });

  await test.step('it is deleted when one is sure', async () => {
    const remove = settings.getByRole('button', {
      name: /^Delete “Use polars/
    });
    await remove.click();
    await expect(chat.dialog).toContainText('Use polars 1.x');
    await lab.picture('memory-forget');
    await lab.page.keyboard.press('Enter');
    await expect(chat.dialog).toHaveCount(0);
    await expect(remove).toBeFocused();
    await remove.click();
    await chat.dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(line(lab, 'Use polars')).toHaveCount(0);
    const next = settings.getByRole('button', { name: 'Edit “Prefer bar' });
    await expect(next).toBeFocused();
    await settings.getByRole('button', { name: 'Delete “Prefer bar' }).click();
    await chat.dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(settings).toContainText('There are no notes yet.');
    await expect(
      settings.getByRole('button', { name: 'Add a note…' })
    ).toBeFocused();
    const told = await toldInAnother(chat, model, 'Plot the prices.');
    expect(told).not.toContain('Use polars');
  });

  await test.step('turned off, nothing is told, and the list says so', async () => {
    await settings.getByRole('button', { name: 'Add a note…' }).click();
    await settings
      .getByRole('textbox', { name: 'What to remember' })
      .fill('Label every axis');
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(line(lab, 'Label every axis')).toBeVisible();
    expect(await toldInAnother(chat, model, 'Plot the rents.')).toContain(
      'Label every axis'
    );
    await settings.getByRole('switch', { name: 'Memory' }).click();
    await expect(settings).toContainText('Memory is off.');
    await lab.picture('memory-off');
    expect(await toldInAnother(chat, model, 'Plot the wages.')).not.toContain(
      'Label every axis'
    );
    await expect(line(lab, 'Label every axis')).toBeVisible();
  });
});

test(
  'a note that the agent suggests is kept, changed or dismissed with a click, or not suggested',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    test.slow();
    const suggest = async (request: string, text: string) => {
      await lab.beginAnother();
      await chat.say(request);
      await model.order('attempt_completion', {
        result: 'Plotted.',
        worth_remembering: { text }
      });
      await chat.expectDone();
    };
    const suggestion = chat.feed.getByRole('region', {
      name: 'Remember this for all your conversations?'
    });
    const notes = async () => (await lab.api.remembered()).notes;

    await test.step('one click keeps it, also with the keyboard', async () => {
      await chat.begin('Plot the sales, always with labels.');
      await model.order('attempt_completion', {
        result: 'Plotted.',
        worth_remembering: { text: 'Label every axis' }
      });
      await chat.expectDone();
      await expect(suggestion).toContainText('Label every axis');
      await suggestion.scrollIntoViewIfNeeded();
      await lab.picture('memory-suggested');
      await suggestion.getByRole('button', { name: 'Remember' }).focus();
      await lab.page.keyboard.press('Enter');
      await expect(suggestion).toHaveCount(0);
      await expect(chat.feed).toContainText('Remembered');
      await lab.picture('memory-suggestion-kept');
      expect(await notes()).toEqual(['Label every axis']);
    });

    await test.step('it is changed first', async () => {
      await suggest('Plot the costs.', 'Use bars');
      await suggestion.getByRole('button', { name: 'Edit…' }).click();
      const field = suggestion.getByRole('textbox', {
        name: 'What to remember'
      });
      await expect(field).toBeFocused();
      await field.fill('Use bars for costs');
      await lab.picture('memory-suggestion-edit');
      await suggestion.getByRole('button', { name: 'Remember' }).click();
      await expect(suggestion).toHaveCount(0);
      expect(await notes()).toContain('Use bars for costs');
    });

    await test.step('it is dismissed, and stays so when one comes back', async () => {
      await suggest('Plot the rents.', 'Use lines');
      await suggestion.getByRole('button', { name: 'Dismiss' }).click();
      await expect(suggestion).toHaveCount(0);
      await chat.tabs.filter({ hasText: 'Plot the costs' }).click();
      await expect(chat.feed).toContainText('Use bars for costs');
      await chat.tabs.filter({ hasText: 'Plot the rents' }).click();
      await expect(chat.messages('You', 'Plot the rents.')).toBeVisible();
      await expect(suggestion).toHaveCount(0);
      expect(await notes()).not.toContain('Use lines');
    });

    await test.step('no more are suggested', async () => {
      await suggest('Plot the wages.', 'Use dots');
      await suggestion
        .getByRole('button', { name: 'Stop suggesting notes' })
        .click();
      await expect(suggestion).toHaveCount(0);
      await suggest('Plot the taxes.', 'Use areas');
      await expect(suggestion).toHaveCount(0);
      expect(await lab.api.setting('noteSuggestionsEnabled')).toBe(false);
    });
  }
);

test('what a finished conversation taught is told to the next one, and can be mended and forgotten', async ({
  chat,
  lab,
  model
}) => {
  test.slow();
  const { settings } = lab;
  const learnNow = settings.getByRole('button', { name: 'Learn now' });

  await test.step('it is learned after hours of silence, when one asks for it', async () => {
    await chat.begin('Clean churn.csv.');
    await chat.finish(model, 'Done: ages are in months.');
    await lab.execute('hdsp-agent:close-conversation');
    await lab.execute('hdsp-agent:open-memory');
    await expect(settings).toContainText('Nothing has been learned yet.');
    await learnNow.click();
    await expect(settings).toContainText('There was nothing new to learn.');
    await lab.picture('memory-empty');
    await lab.api.later(7);
    await learnNow.click();
    await model.order('save_memory', {
      rollout_summary: '# Cleaning\n\nOutcome: success\n\n- ages are in months',
      rollout_slug: 'clean-churn',
      raw_memory: '---\ndescription: churn\n---\n- ages are in months'
    });
    await expect(settings).toContainText('Learning from your conversations…');
    await model.asked();
    await lab.picture('memory-learning');
    const [, code, file] = /- \[(\w{4})\] (\S+)/.exec(model.told) ?? [];
    await model.beginAll([
      {
        name: 'write_to_file',
        args: {
          path: 'memory_summary.md',
          content: `## User Profile\n- Wants polars [${code}]\n\n## General Tips\n- Label every axis of a plot, with units [${code}]\n\n## What's in Memory\n- churn: cleaning\n`
        }
      },
      {
        name: 'write_to_file',
        args: {
          path: 'MEMORY.md',
          content: `# Task Group: churn\nscope: work\n\n## Task 1: clean churn.csv\n### rollout_summary_files\n- ${file}\n### keywords\n- churn\n### learnings\n- 2026-11-27: Ages are in months [${code}]\n- churn.csv has 12 rows twice: drop doubles by customer_id before counting anything [${code}]\n`
        }
      }
    ]);
    await model.finish('Written.');
    await expect(settings).toContainText('Done. What was learned is below.');
    await expect(settings).toContainText('Learned from 1 conversation so far.');
    await line(lab, 'churn.csv has 12').scrollIntoViewIfNeeded();
    await lab.picture('memory-learned');
    await expect(
      line(lab, 'Wants polars').getByRole('button', { name: /clean churn/ })
    ).toBeVisible();
    await lab.api.later(0);
    const told = await toldInAnother(chat, model, 'Go on with churn.csv.');
    expect(told).toContain('Wants polars');
  });

  await test.step('a line is mended, kept as a note, and deleted', async () => {
    await settings
      .getByRole('button', { name: /^Edit “2026-11-27: Ages/ })
      .click();
    await settings
      .getByRole('textbox', { name: 'What to remember' })
      .fill('Ages are in years');
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    const edit = settings.getByRole('button', { name: 'Edit “Ages are in' });
    await expect(edit).toBeFocused();
    await settings
      .getByRole('button', { name: 'Keep as a note: “Wants polars”' })
      .click();
    await expect(line(lab, 'Kept as a note')).toContainText('Wants polars');
    expect((await lab.api.remembered()).notes).toEqual(['Wants polars']);
    await settings.getByRole('button', { name: 'Delete “churn.csv' }).click();
    await chat.dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(line(lab, 'churn.csv has 12')).toHaveCount(0);
    await expect(edit).toBeFocused();
    await lab.picture('memory-mended');
    await lab.page.setViewportSize({ width: 760, height: 800 });
    await lab.picture('memory-narrow');
    await lab.page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('everything is deleted when one is sure', async () => {
    await settings
      .getByRole('combobox', { name: 'What to delete' })
      .selectOption('Everything');
    await settings.getByRole('button', { name: 'Delete…' }).click();
    await expect(chat.dialog).toContainText(
      'Delete your notes and everything learned?'
    );
    await lab.picture('memory-forget-all');
    await chat.dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(settings.locator('[data-line]')).toHaveCount(0);
    expect(await lab.api.remembered()).toEqual({ notes: [], learned: [] });
  });
});

test(
  'memory is managed without a mouse',
  { tag: LONG_ONLY },
  async ({ chat, lab }) => {
    const { settings } = lab;
    const { keyboard } = lab.page;
    await chat.open();
    const add = settings.getByRole('button', { name: 'Add a note…' });
    const write = async (text: string) => {
      await lab.tabTo(add);
      await keyboard.press('Enter');
      await keyboard.type(text);
      await keyboard.press('Tab');
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      await expect(line(lab, text)).toBeVisible();
      await expect(add).toBeFocused();
    };

    await keyboard.press('Control+Shift+c');
    await keyboard.type('HDSP Memory');
    await keyboard.press('Enter');
    await expect(
      settings.getByRole('heading', { name: 'Notes' })
    ).toBeVisible();
    await write('Use polars');
    await write('Label every axis');

    const edit = settings.getByRole('button', { name: 'Edit “Use polars”' });
    await lab.tabTo(edit, 'Shift+Tab');
    await keyboard.press('Enter');
    await keyboard.type('Nothing');
    await keyboard.press('Escape');
    await expect(edit).toBeFocused();
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    const unpin = settings.getByRole('button', { name: 'Unpin “Use polars”' });
    await expect(unpin).toBeFocused();
    await lab.picture('memory-keyboard');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await expect(chat.dialog).toContainText('Delete this?');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await expect(line(lab, 'Use polars')).toHaveCount(0);
    await expect(
      settings.getByRole('button', { name: 'Edit “Label every axis”' })
    ).toBeFocused();
    expect((await lab.api.remembered()).notes).toEqual(['Label every axis']);
    expect(lab.errors).toEqual([]);
  }
);
