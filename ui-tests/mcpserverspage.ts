import type { Locator } from '@playwright/test';

import type { Lab } from './lab';
import { expect } from './lab';

/**
 * The page of the MCP servers, as a person sees it.
 */
export class McpServersPage {
  constructor(private readonly _lab: Lab) {}

  /**
   * A server in the list.
   */
  item(name = 'sample'): Locator {
    return this._lab.settings.getByRole('listitem', { name, exact: true });
  }

  /**
   * Add servers as one who has them in another program.
   */
  async paste(mcpServers: Readonly<Record<string, object>>): Promise<void> {
    const { settings } = this._lab;
    await this._lab.openSettings('mcpServers');
    await settings.getByRole('button', { name: 'Add a server…' }).click();
    await settings
      .getByRole('textbox', { name: 'Configuration (JSON)' })
      .fill(JSON.stringify({ mcpServers }));
    await settings.getByRole('button', { name: 'Save' }).click();
  }

  /**
   * Remove the only server there is.
   */
  async remove(name = 'sample'): Promise<void> {
    const { page, settings } = this._lab;
    await this._lab.openSettings('mcpServers');
    await settings.getByRole('button', { name: `Remove… ${name}` }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Remove' })
      .click();
    await expect(settings).toContainText('There are no servers yet.');
  }
}
