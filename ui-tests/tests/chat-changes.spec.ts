import type { Notebooks } from '../notebooks';
import { expect, test } from '../chat';

test('an old message is said anew, and what followed is undone with it', async ({
  chat,
  lab,
  model
}) => {
  await chat.open();
  await chat.say('Count to three.');
  await model.finish('One, two, three.');
  await chat.expectDone();
  await chat.say('Now in Frensh.');
  await model.finish('I do not know Frensh.');
  await chat.expectDone();

  const old = chat.messages('You', 'Frensh');
  await old.hover();
  await chat.action(old, 'Edit and send again').click();
  const field = old.getByRole('textbox', {
    name: 'What to send in place of this message'
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
  await model.finish('Un, deux, trois.');
  await chat.expectDone();
  await expect(chat.messages('Agent', 'Un, deux, trois.')).toBeVisible();
  await expect(chat.messages('You', 'Frensh')).toHaveCount(0);
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
  await model.finish();
  await chat.expectDone();
  await chat.say('Go on with it.');
  await write('Monday.\nTuesday.\n');
  await model.finish();
  await chat.expectDone();
  await expect.poll(() => textOf(notebooks)).toBe('Monday.\nTuesday.\n');

  const later = chat.messages('You', 'Go on with it.');
  await later.hover();
  await chat.action(later, 'Go back to here').click();
  await chat.dialog.getByRole('checkbox', { name: 'Bring files back' }).check();
  await expect(chat.dialog).toContainText('diary.txt is as it was then');
  await lab.picture('chat-go-back');
  await chat.dialog.getByRole('button', { name: 'Go back' }).click();
  await expect.poll(() => textOf(notebooks)).toBe('Monday.\n');
  await expect(chat.undoBar).toContainText('taken back');
  await lab.picture('chat-went-back');

  await chat.undoBar.getByRole('button', { name: 'Undo' }).click();
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
