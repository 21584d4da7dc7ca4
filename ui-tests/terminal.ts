import type { Lab } from './lab';
import { expect } from './lab';

/**
 * A terminal in the tab in front, with what JupyterLab keeps to itself.
 */
interface ITerminalTab {
  readonly content: {
    readonly _term: {
      readonly buffer: {
        readonly active: {
          readonly length: number;
          getLine(index: number): { translateToString(trim: boolean): string };
        };
      };
    };
  };
}

/**
 * Open a terminal, run a command in it, and wait until it has printed a line.
 */
export async function runInTerminal(
  lab: Lab,
  command: string,
  line: string
): Promise<void> {
  const { page } = lab;
  await lab.execute('terminal:create-new');
  await page.getByRole('textbox', { name: 'Terminal input' }).focus();
  await page.keyboard.type(`${command}\n`);
  await expect
    .poll(() =>
      page.evaluate(() => {
        const tab = window.galata.app.shell.currentWidget;
        const { active } = (tab as unknown as ITerminalTab).content._term
          .buffer;
        return Array.from({ length: active.length }, (_, index) =>
          active.getLine(index).translateToString(true)
        );
      })
    )
    .toContain(line);
}
