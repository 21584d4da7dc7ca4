import { ellipsesIcon, MenuSvg } from '@jupyterlab/ui-components';
import type { Menu } from '@lumino/widgets';
import * as React from 'react';

import { CommandIDs } from '../../ui/commandids';
import { usePanel } from '../../ui/services';
import { EXPORT_FORMATS } from '../../ui/conversations/conversationactions';
import { IconButton } from '../../ui/controls/iconbutton';
import { useMenu } from '../../ui/usemenu';

/**
 * A button with what can be done with the conversation on screen.
 */
export function TaskMenu(): JSX.Element {
  const { trans } = usePanel();
  const { button, isOpen, open } = useMenu(menu =>
    fill(menu, trans.__('Export'))
  );
  return (
    <IconButton
      ref={button}
      icon={ellipsesIcon}
      label={trans.__('Conversation actions')}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={open}
    />
  );
}

function fill(menu: Menu, exportLabel: string): void {
  const files = new MenuSvg({ commands: menu.commands });
  files.title.label = exportLabel;
  for (const format of EXPORT_FORMATS) {
    files.addItem({ command: CommandIDs.exportConversation, args: { format } });
  }
  // A submenu does not go by itself when its menu does.
  menu.disposed.connect(() => files.dispose());
  menu.addItem({ command: CommandIDs.renameConversation });
  menu.addItem({ command: CommandIDs.favoriteConversation });
  menu.addItem({ command: CommandIDs.showCheckpoints });
  menu.addItem({ command: CommandIDs.forkConversation });
  menu.addItem({ type: 'submenu', submenu: files });
  menu.addItem({ command: CommandIDs.shareConversation });
  menu.addItem({ command: CommandIDs.copyConversation });
  menu.addItem({ command: CommandIDs.copyRequest });
  menu.addItem({ type: 'separator' });
  menu.addItem({ command: CommandIDs.useMemory });
  menu.addItem({ command: CommandIDs.openMemory });
  menu.addItem({ command: CommandIDs.connectAgent });
  menu.addItem({ type: 'separator' });
  menu.addItem({ command: CommandIDs.closeConversation });
  menu.addItem({ command: CommandIDs.deleteConversation });
}
