import { createHash } from 'crypto';

import type { Page } from '@playwright/test';

import { AgentApi, said } from '../agentapi';
import { expect, test } from '../lab';
import { CuttableLine } from '../proxy';
import { BASE_PATH } from '../server';
import { LONG_ONLY } from '../longtests';

test(
  'a panel outlives its server',
  { tag: LONG_ONLY },
  async ({ lab, request, startServer }) => {
    const server = await startServer();
    const api = new AgentApi(request, server.url);
    await api.change({ autoCondenseContextPercent: 42 });
    await lab.page.clock.install();
    await lab.visit(server.url);
    await lab.openPanel();
    await lab.openSettings('context');
    const percent = lab.settings.getByRole('spinbutton', {
      name: 'Condense when the context window is this full (%)'
    });
    await expect(percent).toHaveValue('42');

    await server.stop();
    await expect(lab.banner).toContainText('The server cannot be reached');
    await lab.picture('server-stopped');

    await server.start();
    await lab.expectConnectedAgain();
    await expect(lab.banner).toBeHidden();
    await expect(lab.setup).toBeVisible();
    expect(await api.setting('autoCondenseContextPercent')).toBe(42);
    await expect(percent).toHaveValue('42');

    await api.publish(said(Date.now(), 'said after the restart'));
    await expect(lab.panel).toContainText('said after the restart');
    await api.change({ autoCondenseContextPercent: 43 });
    await expect(percent).toHaveValue('43');
  }
);

test('whoever is logged out is told so, and goes on after logging in', async ({
  context,
  lab,
  startServer
}) => {
  const password = 'a password of the tests';
  const digest = createHash('sha256').update(`${password}salt`).digest('hex');
  const server = await startServer({
    args: [
      `--PasswordIdentityProvider.hashed_password=sha256:salt:${digest}`,
      // Galata's configuration switches off what cookies need to be safe.
      '--ServerApp.disable_check_xsrf=False'
    ]
  });
  const line = await CuttableLine.to(server.port);
  const url = `http://127.0.0.1:${line.port}${BASE_PATH}`;
  const logIn = async (page: Page) => {
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(/\/lab/);
    await page.close();
  };
  try {
    const first = await context.newPage();
    await first.goto(`${url}/login`);
    await logIn(first);
    await lab.visit(url);
    await lab.openPanel();
    await lab.openSettings('approvals');
    await lab.settings
      .getByRole('switch', { name: 'Reading', exact: true })
      .check();
    await expect(
      lab.settings.getByText('Saved', { exact: true })
    ).toBeVisible();

    await context.clearCookies();
    line.drop();

    await expect(lab.banner).toContainText('Your login may have expired');
    await lab.picture('login-expired');
    const opened = context.waitForEvent('page');
    await lab.banner.getByRole('button', { name: 'Log in' }).click();
    await logIn(await opened);
    await lab.banner.getByRole('button', { name: 'Try now' }).click();
    await lab.expectConnected();
  } finally {
    await line.dispose();
  }
});
