import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import type { Menu, Widget } from '@lumino/widgets';
import { MenuBar } from '@lumino/widgets';

import { menuText } from '../generated/commandText';

/**
 * The menu of ours that the schema of the commands describes.
 */
const AGENT_MENU = 'jp-mainmenu-hdsp-agent';

/**
 * Name our menu and what is in it in the reader's language.
 *
 * #### Notes
 * Lab makes menus of schemas, and looks their labels up where only its own
 * catalogue and language packs are. It adds them at any time.
 */
export function translateMenus(
  widgets: Iterable<Widget>,
  trans: TranslationBundle
): void {
  const texts = menuText(trans);
  for (const bar of widgets) {
    if (bar instanceof MenuBar) {
      const translate = () =>
        bar.menus
          .filter(({ id }) => id === AGENT_MENU)
          .forEach(menu => Private.translate(menu, texts));
      translate();
      MessageLoop.installMessageHook(bar, (_, message: Message) => {
        if (message.type === 'update-request') {
          translate();
        }
        return true;
      });
    }
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function translate(
    menu: Menu,
    texts: ReturnType<typeof menuText>
  ): void {
    const { title } = menu;
    title.label = texts[title.label] ?? title.label;
    for (const { submenu } of menu.items) {
      if (submenu !== null) {
        translate(submenu, texts);
      }
    }
  }
}
