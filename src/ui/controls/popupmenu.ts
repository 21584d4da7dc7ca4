import type { LabIcon } from '@jupyterlab/ui-components';
import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import type { Menu } from '@lumino/widgets';

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
 * More to choose, beside the menu.
 */
export interface ISubmenu {
  readonly label: string;
  readonly entries: readonly IMenuEntry[];
}

/**
 * Open a menu at a button, which has the focus again afterwards.
 *
 * @param entries - What is in it; `null` is a line between others.
 */
export function openMenu(
  anchor: HTMLElement,
  entries: readonly (IMenuEntry | ISubmenu | null)[]
): Menu {
  const menu = Private.menuOf(entries);
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

/**
 * A namespace for private data.
 */
namespace Private {
  export function menuOf(
    entries: readonly (IMenuEntry | ISubmenu | null)[]
  ): Menu {
    const commands = new CommandRegistry();
    // Lumino's own menu draws no mark at what is chosen.
    const menu = new MenuSvg({ commands });
    entries.forEach((entry, index) => {
      if (entry === null) {
        menu.addItem({ type: 'separator' });
      } else if ('entries' in entry) {
        const submenu = menuOf(entry.entries);
        submenu.title.label = entry.label;
        // A submenu does not go by itself when its menu does.
        menu.disposed.connect(() => submenu.dispose());
        menu.addItem({ type: 'submenu', submenu });
      } else {
        const command = `entry:${index}`;
        add(commands, command, entry);
        menu.addItem({ command });
      }
    });
    return menu;
  }

  function add(
    commands: CommandRegistry,
    command: string,
    { label, icon, isEnabled, isChosen, run }: IMenuEntry
  ): void {
    commands.addCommand(command, {
      label,
      icon,
      isEnabled: () => isEnabled ?? true,
      isToggleable: isChosen !== undefined,
      isToggled: () => isChosen ?? false,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: run
    });
  }
}
