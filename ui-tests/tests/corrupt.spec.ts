import { readdirSync, readFileSync, writeFileSync } from 'fs';
import * as path from 'path';

import { AgentApi } from '../agentapi';
import { expect, test } from '../lab';
import { LONG_ONLY } from '../longtests';

const CORRUPT = '{"version": 1, "globalSettings": {"alwaysAllowReadOnly": tr';

test(
  'a settings file that cannot be read is set aside and said',
  { tag: LONG_ONLY },
  async ({ lab, request, startServer }) => {
    const server = await startServer({
      prepare: ({ home }) =>
        writeFileSync(path.join(home, 'config.json'), CORRUPT)
    });
    const api = new AgentApi(request, server.url);
    await lab.visit(server.url);
    await lab.openPanel();

    const notices = lab.panel.getByRole('list', { name: 'Notices' });
    await expect(notices).toContainText('config.json');
    const aside = readdirSync(server.home).filter(
      name => name.startsWith('config') && name !== 'config.json'
    );
    const kept = aside.find(
      name => readFileSync(path.join(server.home, name), 'utf8') === CORRUPT
    );
    expect(kept).toBeDefined();
    await expect(notices).toContainText(kept ?? '');
    await lab.picture('corrupt-settings');

    expect(await api.setting('alwaysAllowReadOnly')).toBe(false);
    await lab.openSettings('approvals');
    await lab.settings
      .getByRole('switch', { name: 'Reading', exact: true })
      .check();
    await expect.poll(() => api.setting('alwaysAllowReadOnly')).toBe(true);
    expect(readFileSync(path.join(server.home, kept ?? ''), 'utf8')).toBe(
      CORRUPT
    );

    await notices.getByRole('button', { name: 'Dismiss' }).click();
    await expect(notices).toBeHidden();

    await test.step('one that is broken by hand is said, and never overwritten', async () => {
      const file = path.join(server.home, 'config.json');
      writeFileSync(file, CORRUPT);
      await expect(notices).toContainText('was changed and cannot be read');
      expect(await api.setting('alwaysAllowReadOnly')).toBe(true);
      expect(readFileSync(file, 'utf8')).toBe(CORRUPT);
      await lab.picture('broken-settings');
    });
  }
);
