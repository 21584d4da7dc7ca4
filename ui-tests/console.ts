import type { Locator } from '@playwright/test';

import type { Lab } from './lab';
import { expect } from './lab';

interface IConsoleTab {
  readonly sessionContext: {
    readonly ready: Promise<void>;
    readonly session: { readonly kernel: { readonly info: Promise<unknown> } };
  };
}

/**
 * Open a console for Python, and put the cursor where one writes.
 *
 * @returns Where one writes.
 */
export async function openConsole({ page }: Lab): Promise<Locator> {
  await page.evaluate(async () => {
    const { commands, shell } = window.galata.app;
    await commands.execute('console:create', {
      activate: true,
      kernelPreference: { name: 'python3' }
    });
    // A console forgets what ran before its kernel was there.
    const { sessionContext } = shell.currentWidget as unknown as IConsoleTab;
    await sessionContext.ready;
    await sessionContext.session.kernel.info;
  });
  const prompt = page.locator('.jp-CodeConsole-promptCell .cm-content');
  await prompt.click();
  await expect(prompt).toBeFocused();
  return prompt;
}
