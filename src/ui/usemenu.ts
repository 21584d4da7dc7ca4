import { MenuSvg } from '@jupyterlab/ui-components';
import type { Menu } from '@lumino/widgets';
import * as React from 'react';

import { usePanel } from './services';

/**
 * A button's menu.
 */
export interface IButtonMenu {
  readonly button: React.RefObject<HTMLButtonElement>;
  readonly isOpen: boolean;
  readonly open: () => void;
}

/**
 * A menu below a button, with Lab's look and keys. The focus comes back to
 * the button, and so does that of a dialog the menu leads to.
 *
 * @param fill - Puts the items in, each time the menu opens.
 */
export function useMenu(fill: (menu: Menu) => void): IButtonMenu {
  const { commands } = usePanel();
  const button = React.useRef<HTMLButtonElement>(null);
  const shown = React.useRef<Menu | null>(null);
  const [isOpen, setOpen] = React.useState(false);
  React.useEffect(() => () => shown.current?.dispose(), []);
  const open = () => {
    if (button.current === null) {
      return;
    }
    shown.current?.dispose();
    const menu = new MenuSvg({ commands });
    shown.current = menu;
    fill(menu);
    menu.aboutToClose.connect(() => {
      setOpen(false);
      button.current?.focus();
    });
    const { left, bottom } = button.current.getBoundingClientRect();
    menu.open(left, bottom);
    menu.activeIndex = 0;
    setOpen(true);
  };
  return { button, isOpen, open };
}
