import { once } from 'events';
import { createServer } from 'http';
import type { AddressInfo } from 'net';

import { expect, inEveryLanguage } from './walk';

inEveryLanguage('setting up a model', async (walk, { startServer }) => {
  const { model } = walk;
  const keys = createServer((_, answer) => {
    answer.writeHead(401, { 'Content-Type': 'application/json' });
    answer.end('{"error": {"message": "Incorrect API key provided."}}');
  });
  keys.listen(0, '127.0.0.1');
  await once(keys, 'listening');
  const { port } = keys.address() as AddressInfo;
  try {
    await walk.open();
    const setup = walk.part('setup');
    const provider = setup.locator('select').first();
    await expect(provider).toBeEnabled();
    await walk.take('setup');

    await provider.selectOption('openai');
    await setup
      .locator('input[type="url"]')
      .fill(`http://127.0.0.1:${port}/v1`);
    await setup.locator('input[type="password"]').fill('not-the-key');
    await setup.locator('button[type="submit"]').click();
    await expect(setup.getByRole('alert')).toBeVisible();
    await walk.take('setup-refused-key');

    await setup.locator('input[type="url"]').fill(`${model.url}/v1`);
    await setup.locator('button[type="submit"]').click();
    await expect(setup.locator('select')).toHaveCount(1);
    await expect(setup.locator('input[type="password"]')).toHaveCount(0);
    await walk.take('setup-model');

    await setup.locator('button[type="submit"]').click();
    await expect(walk.part('greeting')).toBeVisible();
    await walk.take('greeting');
  } finally {
    keys.close();
  }

  const server = await startServer({ env: { HDSP_AGENT_PASSPHRASE: '' } });
  await walk.open(server.url);
  const setup = walk.part('setup');
  await setup.locator('select').first().selectOption('Mistral');
  await setup.locator('input[type="password"]').fill('a-key');
  await expect(walk.part('setup-storage')).toBeVisible();
  await walk.take('setup-no-keyring');
  await setup.locator('.jp-hdspAgent-setup-found button').last().click();
  await expect(setup.locator('h4')).toBeFocused();
  await walk.take('setup-embedded');
});
