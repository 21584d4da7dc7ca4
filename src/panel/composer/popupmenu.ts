import type { LabIcon } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

/**
 * Something to choose in a menu.
 */
export interface IMenuEntry {
  readonly label: string;
  readonly icon?: LabIcon;
  readonly isEnabled?: boolean;

  /**
   * Whether it is the one that is chosen now, where one is.
   */
  readonly isChosen?: boolean;
  readonly run: () => void;
}

/**
 * Open a menu at a button, which has the focus again afterwards.
 *
 * @param entries - What is in it; `null` is a line between others.
 */
export function openMenu(
  anchor: HTMLElement,
  entries: readonly (IMenuEntry | null)[]
): Menu {
  const commands = new CommandRegistry();
  const menu = new Menu({ commands });
  menu.addClass('jp-ThemedContainer');
  entries.forEach((entry, index) => {
    if (entry === null) {
      menu.addItem({ type: 'separator' });
      return;
    }
    const command = `entry:${index}`;
    const { label, icon, isEnabled, isChosen, run } = entry;
    commands.addCommand(command, {
      label,
      icon,
      isEnabled: () => isEnabled ?? true,
      isToggleable: isChosen !== undefined,
      isToggled: () => isChosen ?? false,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: run
    });
    menu.addItem({ command });
  });
  menu.aboutToClose.connect(() => {
    anchor.setAttribute('aria-expanded', 'false');
    anchor.focus();
    // What was chosen runs right after this.
    queueMicrotask(() => menu.dispose());
  });
  anchor.setAttribute('aria-expanded', 'true');
  const { left, top } = anchor.getBoundingClientRect();
  menu.open(left, top);
  return menu;
}
