import { Chat, expect, test } from '../chat';

test('after a reload the question, the draft and all of an answer are there', async ({
  chat,
  lab,
  model
}) => {
  await chat.open();
  await chat.say('Make a file.');
  await model.order('execute_command', { command: 'echo reloaded' });
  await chat.expectAsked('echo reloaded');
  await chat.field.fill('A thought I have not sent');

  await lab.page.reload();
  await lab.showPanel();

  await chat.expectAsked('echo reloaded');
  await expect(chat.field).toHaveValue('A thought I have not sent');
  await chat.field.fill('');
  await chat.answer('echo reloaded', 'Run');
  await model.say(
    Array.from({ length: 40 }, (_, at) => `Word ${at}.`).join(' '),
    { characters: 10, delay: 50 }
  );
  await expect(chat.messages('Agent')).toContainText('Word 2.');

  await lab.page.reload();
  await lab.showPanel();

  const answer = chat.messages('Agent');
  await expect(answer).toContainText('Word 0. Word 1. Word 2.');
  await expect(answer).toContainText('Word 38. Word 39.');
  await expect(answer).toHaveCount(1);
  await model.asked();
  expect(model.told).toContain('reloaded');
  await model.finish();
  await chat.expectDone();
});

test('answering on one tab clears the question on the other', async ({
  chat,
  model,
  newTab
}) => {
  await chat.open();
  await chat.say('Make a file.');
  const running = model.call('execute_command', { command: 'echo once' });
  await chat.expectAsked('echo once');
  const other = new Chat(await newTab());
  await other.lab.openPanel();
  await other.expectAsked('echo once');

  await other.answer('echo once', 'Run');

  await expect(chat.ask).toHaveCount(0);
  expect(await running).toContain('once');
  await expect(chat.messages('Command')).toHaveCount(1);
  await model.finish();
  await chat.expectDone();
  await other.expectDone();
});

test('offline nothing is lost, and all is there when the line is back', async ({
  chat,
  lab,
  model
}) => {
  const line = await lab.holdTheLine();
  await chat.open();
  await chat.say('Tell me something.');
  await model.asked();

  await line.cut();
  await expect(chat.composer).toContainText('Not connected.');
  await chat.field.fill('Written on the train.');
  await chat.field.press('Enter');
  await expect(chat.field).toHaveValue('Written on the train.');
  await lab.snap('chat-offline');
  await model.finish('Said while nobody listened.');

  line.mend();
  await lab.expectConnected();
  await chat.expectDone();
  await expect(chat.messages('Agent')).toContainText('nobody listened');
  await expect(chat.field).toHaveValue('Written on the train.');
  await chat.field.press('Enter');
  await model.asked();
  expect(model.told).toContain('Written on the train.');
  await model.finish();
  await chat.expectDone();
});
