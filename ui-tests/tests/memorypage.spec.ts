import { createHash } from 'crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'fs';
import * as path from 'path';

import type { Locator } from '@playwright/test';

import { AgentApi } from '../agentapi';
import type { Lab } from '../lab';
import { expect, Notebooks, OpenNotebook, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

/**
 * The lines of the page with what is remembered.
 */
function line(lab: Lab, text: string): Locator {
  return lab.settings.locator('[data-line]').filter({ hasText: text });
}

test('much is looked through, a failure is told, and the last change is undone', async ({
  lab,
  request,
  startServer
}) => {
  test.slow();
  const { settings } = lab;
  const server = await startServer({
    prepare: ({ home }) => {
      const memories = path.join(home, 'memories');
      const before = path.join(
        memories,
        '.versions/2026-11-26T10-00-00-000000'
      );
      mkdirSync(before, { recursive: true });
      writeFileSync(path.join(before, 'MEMORY.md'), handbook(3));
      writeFileSync(path.join(memories, 'MEMORY.md'), handbook(70));
      // What no record names would be the person's own lines, which an undo leaves.
      const hash = createHash('sha256').update(handbook(70)).digest('hex');
      writeFileSync(
        path.join(memories, 'consolidated.json'),
        JSON.stringify({ published: { 'MEMORY.md': hash.slice(0, 32) } })
      );
      writeFileSync(path.join(memories, 'runs.jsonl'), FAILED_RUN);
    }
  });
  const api = new AgentApi(request, server.url);

  await test.step('long lists come in parts, and all of them is searched', async () => {
    await lab.visit(server.url);
    await lab.execute('hdsp-agent:open-memory');
    await expect(settings).toContainText(
      /Learning failed on .*: The model is too small\./
    );
    await lab.picture('memory-failed', ['light', 'dark', 'contrast']);
    await expect(settings.locator('[data-line]')).toHaveCount(50);
    await settings.getByRole('button', { name: 'Show 20 more' }).click();
    await expect(settings.locator('[data-line]')).toHaveCount(70);
    await settings
      .getByRole('searchbox', { name: 'Search memory' })
      .fill('fact 69');
    await expect(settings.locator('[data-line]')).toHaveCount(1);
    await lab.picture('memory-search');
    await settings.getByRole('searchbox', { name: 'Search memory' }).fill('');
  });

  await test.step('the last change is undone', async () => {
    await settings
      .getByRole('button', { name: 'Undo the last change' })
      .click();
    await expect(settings.locator('[data-line]')).toHaveCount(3);
    await expect(
      settings.getByRole('button', { name: 'Learn now' })
    ).toBeFocused();
  });

  await test.step('a folder has notes of its own once one trusts it', async () => {
    await settings.getByRole('button', { name: 'Add a note…' }).click();
    await settings
      .getByRole('textbox', { name: 'What to remember' })
      .fill('Data is in raw/');
    await settings
      .getByRole('combobox', { name: 'Applies to' })
      .selectOption('For this folder');
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(settings.getByRole('alert')).toContainText('is not trusted');
    await lab.picture('memory-not-trusted');
    const trusting = lab.execute('hdsp-agent:trust-folder');
    await lab.page
      .getByRole('dialog')
      .getByRole('button', { name: 'Trust this folder' })
      .click();
    await trusting;
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(line(lab, 'Data is in raw/')).toContainText('For this folder');
    expect(
      readFileSync(path.join(server.root, '.hdsp/memory/notes.md'), 'utf8')
    ).toContain('Data is in raw/');
  });

  await test.step('so has the notebook in front', async () => {
    await new Notebooks(api).write('sales.ipynb', [{ id: 'a', source: '1' }]);
    await OpenNotebook.open(lab, 'sales.ipynb');
    await lab.execute('hdsp-agent:open-memory');
    await settings.getByRole('button', { name: 'Add a note…' }).click();
    await settings
      .getByRole('textbox', { name: 'What to remember' })
      .fill('Needs a GPU');
    await settings
      .getByRole('combobox', { name: 'Applies to' })
      .selectOption('For the notebook sales.ipynb');
    await lab.picture('memory-add');
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(line(lab, 'Needs a GPU')).toContainText('For this notebook');
    const kept = '.hdsp/memory/notebooks/sales.ipynb.md';
    expect(existsSync(path.join(server.root, kept))).toBe(true);
    await lab.picture('memory-scopes');
  });
});

test(
  'an operator forbids memory',
  { tag: LONG_ONLY },
  async ({ lab, startServer }) => {
    const server = await startServer({
      args: ['--HdspAgentApp.allow_memory=False']
    });
    await lab.visit(server.url);
    await lab.execute('hdsp-agent:open-memory');
    await expect(lab.settings).toContainText(
      "Your administrator doesn't allow memory"
    );
    await expect(
      lab.settings.getByRole('switch', { name: 'Memory' })
    ).toBeDisabled();
    await expect(
      lab.settings.getByRole('heading', { name: 'Notes' })
    ).toHaveCount(0);
    await lab.picture('memory-forbidden');
  }
);

const FAILED_RUN = `${JSON.stringify({
  kind: 'extract',
  key: '019a0000-0000-7000-8000-000000000001',
  beganAt: '2026-11-27T10:00:00+00:00',
  endedAt: '2026-11-27T10:00:09+00:00',
  outcome: 'failed',
  error: 'The model is too small.',
  used: { model: 'tiny', tokensIn: 12345, tokensOut: 678, cost: 0.03 }
})}\n`;

/**
 * A file with this many lines that were learned.
 */
function handbook(lines: number): string {
  const facts = Array.from(
    { length: lines },
    (_, at) => `- Fact ${at}: the column c${at} is in months\n`
  );
  return `# Task Group: churn\n\n### learnings\n${facts.join('')}`;
}
