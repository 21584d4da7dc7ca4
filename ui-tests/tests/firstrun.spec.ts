import type { Locator } from '@playwright/test';
import { once } from 'events';
import type { Server } from 'http';
import { createServer, request as send } from 'http';
import type { AddressInfo } from 'net';

import { Chat } from '../chat';
import type { Lab } from '../lab';
import { expect, test } from '../lab';
import { PlayedModel } from '../model';
import { LONG_ONLY } from '../longtests';

// Where LM Studio listens unless told otherwise.
const LOCAL_PORT = 1234;

const KEY = 'a-key-of-the-first-run';

test('a model server on this machine is found, and answers two steps later', async ({
  lab
}) => {
  const model = await PlayedModel.start(LOCAL_PORT);
  try {
    await lab.visit();
    await lab.openPanel();
    await expect(lab.setup).toContainText('1 of 2: Choose a provider');
    await expectNoAccounts(lab);
    await lab.picture('first-run-found');
    await lab.setup.getByRole('button', { name: 'Use LM Studio' }).click();

    await expect(lab.setup).toContainText('2 of 2: Choose a model');
    await expectNoAccounts(lab);
    await lab.setup
      .getByRole('combobox', { name: 'Model' })
      .selectOption('gpt-4o');
    await lab.picture('first-run-model');
    await lab.setup.getByRole('button', { name: 'Start' }).click();

    await expect(lab.greeting).toContainText('Model: gpt-4o (LM Studio)');
    await expect(new Chat(lab).field).toBeFocused();
    await lab.picture('first-run-ready');
    await expectAnswer(lab, model);
  } finally {
    await model.dispose();
  }
});

test('a key that is typed in is enough, and is never shown again', async ({
  lab
}) => {
  const model = await PlayedModel.start();
  const server = await serverWithKeys(model.url);
  try {
    await lab.visit();
    await lab.openPanel();
    await lab.setup
      .getByRole('combobox', { name: 'Provider' })
      .selectOption('OpenAI compatible');
    await lab.setup
      .getByRole('textbox', { name: 'Address' })
      .fill(`${addressOf(server)}/v1`);
    const key = lab.setup.getByLabel('Key (if it needs one)');
    await expect(key).toHaveAttribute('type', 'password');
    await key.fill('not-the-key');
    await lab.setup.getByRole('button', { name: 'Next' }).click();
    await expect(lab.setup.getByRole('alert')).toContainText(
      'OpenAI compatible does not accept this key.'
    );
    await lab.picture('first-run-wrong-key');
    await key.fill(KEY);
    await lab.picture('first-run-key');
    await lab.setup.getByRole('button', { name: 'Next' }).click();

    await lab.setup
      .getByRole('combobox', { name: 'Model' })
      .selectOption('gpt-4o');
    await lab.setup.getByRole('button', { name: 'Start' }).click();

    await expect(lab.greeting).toContainText('gpt-4o');
    await expectAnswer(lab, model);
    expect(await lab.page.content()).not.toContain(KEY);
    const { profiles } = await lab.api.profiles();
    expect(profiles).toHaveLength(1);
  } finally {
    server.close();
    await model.dispose();
  }
});

test(
  'an answer takes six clicks with a key, where there is no keyring too',
  { tag: LONG_ONLY },
  async ({ lab, startServer }) => {
    const model = await PlayedModel.start();
    const keys = await serverWithKeys(model.url);
    const address = `{'mistralCodestralUrl': '${addressOf(keys)}/v1'}`;
    const server = await startServer({
      args: [`--HdspAgentApp.fixed_settings=${address}`],
      env: { HDSP_AGENT_PASSPHRASE: '' }
    });
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks += 1;
      await target.click();
    };
    try {
      await lab.visit(server.url);
      await lab.openPanel();
      // A person clicks the list, and what is in it.
      clicks += 2;
      await lab.setup
        .getByRole('combobox', { name: 'Provider' })
        .selectOption('Mistral');
      const key = lab.setup.getByLabel('Key', { exact: true });
      await click(key);
      await key.fill(KEY);
      await expect(
        lab.setup.getByRole('group', { name: 'This computer has no keyring.' })
      ).toBeVisible();
      await expect(
        lab.setup.getByRole('radio', { name: 'In memory, until Jupyter stops' })
      ).toBeChecked();
      await lab.picture('first-run-no-keyring');
      await click(lab.setup.getByRole('button', { name: 'Next' }));
      await click(lab.setup.getByRole('button', { name: 'Start' }));
      const chat = new Chat(lab);
      await expect(chat.field).toBeFocused();
      await lab.page.keyboard.type('Say that you are there.');
      await click(chat.button('Send'));
      await model.finish();
      await chat.expectDone();
      expect(clicks).toBeLessThanOrEqual(6);
      await expect(
        lab.panel.getByText('No system keyring found.')
      ).toBeHidden();
    } finally {
      keys.close();
      await model.dispose();
    }
  }
);

/**
 * The agent does what it is asked, and says so.
 */
async function expectAnswer(lab: Lab, model: PlayedModel): Promise<void> {
  const chat = new Chat(lab);
  await chat.say('Say that you are there.');
  await model.finish();
  await chat.expectDone();
  await expect(chat.feed).toContainText('Done.');
  await lab.picture('first-run-answer');
}

async function expectNoAccounts(lab: Lab): Promise<void> {
  await expect(lab.panel).not.toContainText(
    /account|sign (in|up)|log in|register|subscri/i
  );
}

/**
 * Lets through to a server only who shows the key.
 */
async function serverWithKeys(url: string): Promise<Server> {
  const server = createServer((question, answer) => {
    const { headers, method } = question;
    if (headers.authorization !== `Bearer ${KEY}`) {
      answer.writeHead(401, { 'Content-Type': 'application/json' });
      answer.end('{"error": {"message": "Incorrect API key provided."}}');
      return;
    }
    const onward = send(`${url}${question.url}`, { headers, method });
    onward.on('response', reply => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    question.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function addressOf(server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
