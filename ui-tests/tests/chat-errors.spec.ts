import { expect, test } from '../chat';
import { LONG_ONLY } from '../longtests';

const NO_ANSWER = 'The model gave no answer.';

test('a wrong key is said in words, with a way to the settings and a retry', async ({
  chat,
  lab,
  model
}) => {
  await chat.begin('Hello.');
  await model.fail(401, 'Incorrect API key provided');
  await chat.expectAsked(NO_ANSWER);
  const problem = chat.messages('Error');
  await expect(problem).toContainText('does not accept the key');
  await expect(problem).toContainText('Incorrect API key provided');
  await lab.picture('wrong-key');

  const settings = problem.getByRole('button', { name: 'Open the settings' });
  const page = lab.settings.getByRole('heading', { name: 'Models and keys' });
  await test.step('to the page of models, after a change of theme too', async () => {
    await lab.wear('dark');
    await settings.click();
    await expect(page).toBeVisible();
    await lab.wear('light');
    await lab.picture('wrong-key-settings');
  });

  await test.step('also from another page of them', async () => {
    await lab.openSettings('context');
    await expect(page).toBeHidden();
    await settings.click();
    await expect(page).toBeVisible();
  });

  await test.step('also once they were closed', async () => {
    await lab.execute('application:close');
    await expect(lab.settings).toBeHidden();
    await settings.click();
    await expect(page).toBeVisible();
  });

  await chat.answer(NO_ANSWER, 'Retry');
  await model.fail(401, 'Incorrect API key provided');
  await chat.expectAsked(NO_ANSWER);
  await expect(chat.field).toHaveAttribute('placeholder', /^Try again/);
  await chat.field.fill('In short words, please.');
  await chat.button('Send').click();
  await model.asked();
  expect(model.told).toContain('In short words, please.');
  await chat.finish(model, 'It works now.');
  await expect(chat.messages('Agent')).toContainText('It works now.');
});

test(
  'a limit of requests is waited for, as long as the provider says',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    await lab.api.change({ requestDelaySeconds: 1 });
    await chat.begin('Hello.');
    await model.fail(429, 'Rate limit reached for requests', { retryAfter: 9 });

    // A second more than was said, and it counts down. Each second is told, but
    // a page that is busy may not show them all.
    await expect(chat.feed).toContainText(/Retrying in (10|[6-9])\ss\./);
    await expect(chat.feed).toContainText(/Retrying in [1-5]\ss\./);
    await expect(chat.feed).toContainText(/too many requests/i);
    await expect(chat.ask).toBeHidden();
    await lab.picture('limit-of-requests');

    await model.asked();
    await expect(chat.feed).toContainText('Retried.');
    await expect(chat.feed).not.toContainText('Retrying in');
    await chat.finish(model, 'Here I am.');
    await expect(chat.messages('Agent')).toContainText('Here I am.');
  }
);

test(
  'a wait for the provider is ended by stop, and gone on with',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    await chat.begin('Hello.');
    await model.fail(429, 'Rate limit reached for requests', {
      retryAfter: 500
    });
    await expect(chat.feed).toContainText(/Retrying in (50|4\d)\d/);

    await chat.button('Stop').click();

    await chat.expectAsked('You stopped this.');
    await expect(chat.feed).toContainText('Not retried.');
    await expect(chat.feed).not.toContainText('Retrying in');
    await lab.picture('limit-stopped');
    await chat.say('Now, please.');
    await model.asked();
    expect(model.told).toContain('Now, please.');
    await chat.finish(model);
  }
);

test('a conversation that is too long for the model makes room and goes on; what cannot be made shorter is said', async ({
  chat,
  lab,
  model
}) => {
  const tooLong = () =>
    model.fail(
      400,
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
      { code: 'context_length_exceeded' }
    );
  await chat.begin('The first thing.');
  await tooLong();
  await chat.expectAsked(NO_ANSWER);
  await expect(chat.messages('Error')).toContainText(/window|too long/i);
  await lab.picture('too-long');
  await chat.answer(NO_ANSWER, 'Retry');
  await chat.finish(model, 'One.');
  for (const [number, text] of ['Two.', 'Three.'].entries()) {
    await chat.say(`Another thing, number ${number}.`);
    await chat.finish(model, text);
  }

  await chat.say('The last thing.');
  await tooLong();

  await model.asked();
  await expect(chat.feed).toContainText(
    'To make room, the model no longer sees'
  );
  expect(model.told).toContain('The first thing.');
  expect(model.told).toContain('The last thing.');
  expect(model.told).not.toContain('One.');
  await chat.finish(model, 'Four.');
  await expect(chat.messages('Agent', 'Four.')).toBeVisible();
  await lab.picture('room-made');
});
