import type { Notebooks } from '../notebooks';
import { expect, test } from '../chat';

test('an old message is said anew, what followed is gone with it, and undo brings all of it back', async ({
  chat,
  lab,
  model
}) => {
  await chat.begin('Count to three.');
  await chat.finish(model, 'One, two, three.');
  await chat.say('Now in Frensh.');
  await chat.finish(model, 'I do not know Frensh.');

  const old = chat.messages('You', 'Frensh');
  await old.hover();
  await chat.action(old, 'Edit and send again').click();
  const field = old.getByRole('textbox', {
    name: 'What to send instead of this message'
  });
  await expect(field).toHaveValue('Now in Frensh.');
  await field.fill('Now in French.');
  await field.press('Enter');
  await expect(chat.dialog).toContainText('You can undo this.');
  await lab.picture('chat-edit-message');
  await chat.dialog.getByRole('button', { name: 'Send' }).click();

  await model.asked();
  expect(model.told).toContain('Now in French.');
  expect(model.told).not.toContain('Frensh');
  expect(model.told).toContain('One, two, three.');
  await chat.finish(model, 'Un, deux, trois.');
  await expect(chat.messages('Agent', 'Un, deux, trois.')).toBeVisible();
  await expect(chat.messages('You', 'Frensh')).toHaveCount(0);
  await lab.picture('chat-edited-message');

  await chat.undoBar.getByRole('button', { name: 'Undo' }).click();
  await chat.dialog.getByRole('button', { name: 'Undo' }).click();
  await expect(chat.messages('Agent', 'I do not know Frensh.')).toBeVisible();
  await expect(chat.messages('You', 'Now in French.')).toHaveCount(0);
  await expect(chat.messages('Agent', 'Un, deux, trois.')).toHaveCount(0);
  await chat.expectDone();
  await lab.picture('chat-edit-undone');
  await chat.say('Go on.');
  await model.asked();
  expect(model.told).toContain('I do not know Frensh.');
  expect(model.told).not.toContain('French');
  await chat.finish(model);
});

test('going back with files takes a file back on the disk, and undo brings it again', async ({
  chat,
  lab,
  model,
  notebooks
}) => {
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true,
    alwaysAllowWrite: true
  });
  await chat.open();
  const write = (content: string) =>
    model.call('write_to_file', { path: 'diary.txt', content });
  await chat.say('Begin a diary.');
  await write('Monday.\n');
  await chat.finish(model);
  await chat.say('Go on with it.');
  await write('Monday.\nTuesday.\n');
  await chat.finish(model);
  await expect.poll(() => textOf(notebooks)).toBe('Monday.\nTuesday.\n');

  const later = chat.messages('You', 'Go on with it.');
  await later.hover();
  await chat.action(later, 'Restore to here').click();
  await chat.dialog
    .getByRole('checkbox', { name: 'Also restore files' })
    .check();
  await expect(chat.dialog).toContainText(
    'diary.txt returns to its earlier state'
  );
  await lab.picture('chat-go-back');
  await chat.dialog.getByRole('button', { name: 'Restore' }).click();
  await expect.poll(() => textOf(notebooks)).toBe('Monday.\n');
  await expect(chat.undoBar).toContainText('removed');
  await lab.picture('chat-went-back');

  await chat.undoBar.getByRole('button', { name: 'Undo' }).click();
  await expect(chat.dialog).toContainText('1 file also changes:');
  await expect(chat.dialog).toContainText(
    'diary.txt returns to its state before the restore'
  );
  await lab.picture('chat-undo');
  await chat.dialog.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => textOf(notebooks)).toBe('Monday.\nTuesday.\n');
  await chat.expectDone();
});

async function textOf({ api }: Notebooks): Promise<string> {
  const { content } = await api.jupyter<{ content: string }>(
    'GET',
    'contents/diary.txt?type=file&format=text'
  );
  return content;
}
