import { Chat, expect, test } from '../chat';
import { sentences, WATCHABLE } from '../model';
import { LONG_ONLY } from '../longtests';

test('after a reload the question, the draft and all of an answer are there', async ({
  chat,
  lab,
  model
}) => {
  await chat.begin('Make a file.');
  await model.order('execute_command', { command: 'echo reloaded' });
  await chat.expectAsked('echo reloaded');
  await chat.field.fill('A thought I have not sent');

  await chat.reload();

  await chat.expectAsked('echo reloaded');
  await expect(chat.field).toHaveValue('A thought I have not sent');
  await lab.picture('chat-reloaded');
  await chat.field.fill('');
  await chat.answer('echo reloaded', 'Run');
  await model.say(sentences(100), WATCHABLE);
  await expect(chat.messages('Agent')).toContainText('Sentence 2.');

  await chat.reload();

  const answer = chat.messages('Agent');
  await expect(answer).toHaveText(new RegExp(sentences(100)));
  await expect(answer).toHaveCount(1);
  await chat.expectDone();
  expect(model.told).toContain('reloaded');
});

test(
  'answering on one tab clears the question on the other',
  { tag: LONG_ONLY },
  async ({ chat, lab, model, newTab }) => {
    await chat.begin('Make a file.');
    const running = model.call('execute_command', { command: 'echo once' });
    await chat.expectAsked('echo once');
    const other = new Chat(await newTab());
    await other.lab.openPanel();
    await other.expectAsked('echo once');

    await lab.picture('chat-two-tabs');
    await other.answer('echo once', 'Run');

    await expect(chat.ask).toHaveCount(0);
    expect(await running).toContain('once');
    await expect(chat.messages('Command')).toHaveCount(1);
    await chat.finish(model);
    await other.expectDone();
  }
);

test('offline nothing is lost, and all is there when the line is back', async ({
  chat,
  lab,
  model
}) => {
  const line = await lab.holdTheLine();
  await chat.begin('Tell me something.');
  await model.asked();

  await line.cut();
  const banner = lab.panel.getByRole('region', { name: 'Connection' });
  await expect(banner).toBeVisible();
  await chat.field.fill('Written on the train.');
  await chat.field.press('Enter');
  await expect(chat.field).toHaveValue('Written on the train.');
  await lab.picture('chat-offline');
  await model.finish('Said while nobody listened.');

  line.mend();
  await lab.expectConnected();
  await chat.expectDone();
  await expect(chat.messages('Agent')).toContainText('nobody listened');
  await expect(chat.field).toHaveValue('Written on the train.');
  await chat.field.press('Enter');
  await model.asked();
  expect(model.told).toContain('Written on the train.');

  await test.step('in the middle of an answer', async () => {
    await model.say(sentences(150), WATCHABLE);
    const answer = chat.messages('Agent', 'Sentence');
    await expect(answer).toContainText('Sentence 2.');
    await line.cut();
    await expect(banner).toBeVisible();
    await lab.picture('chat-offline-streaming');
    line.mend();
    await lab.expectConnected();
    await expect(answer).toHaveText(new RegExp(sentences(150)));
    await expect(answer).toHaveCount(1);
  });
  await chat.expectDone();
});
