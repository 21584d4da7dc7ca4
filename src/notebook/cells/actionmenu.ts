import type { TranslationBundle } from '@jupyterlab/translation';
import { MenuSvg } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyJSONObject } from '@lumino/coreutils';
import type { Menu } from '@lumino/widgets';

import { CommandIDs } from '../../ui/commandids';
import type { CellActionList, ICellAction } from './actionlist';

/**
 * A menu of what the agent can do with a cell. It follows what there is.
 */
export class CellActionMenu extends MenuSvg {
  constructor({ actions, args, commands, trans }: CellActionMenu.IOptions) {
    super({ commands });
    this.title.label = trans.__('Agent Actions');
    this.addClass('jp-hdspAgent-CellActions');
    this._list = actions;
    this._args = args;
    this._fill();
    actions.changed.connect(this._fill, this);
  }

  private _fill(): void {
    const { actions } = this._list;
    if (Private.isSame(actions, this._shown)) {
      return;
    }
    this._shown = actions;
    const args = this._args;
    this.clearItems();
    this.addItem({ command: CommandIDs.editCell, args });
    this.addItem({ type: 'separator' });
    const add = ({ name }: ICellAction): Menu.IItem =>
      this.addItem({
        command: CommandIDs.cellAction,
        args: { ...args, action: name }
      });
    actions.filter(({ isOwn }) => !isOwn).forEach(add);
    this.addItem({ type: 'separator' });
    actions.filter(({ isOwn }) => isOwn).forEach(add);
  }

  private readonly _list: CellActionList;
  private readonly _args: ReadonlyJSONObject;
  private _shown: readonly ICellAction[] = [];
}

/**
 * The namespace for `CellActionMenu` statics.
 */
export namespace CellActionMenu {
  /**
   * What is in a menu, and which cell it is about.
   */
  export interface IOptions {
    readonly actions: CellActionList;

    /**
     * Those by which commands name a cell.
     */
    readonly args: ReadonlyJSONObject;
    readonly commands: CommandRegistry;
    readonly trans: TranslationBundle;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function isSame(
    actions: readonly ICellAction[],
    others: readonly ICellAction[]
  ): boolean {
    return (
      actions.length === others.length &&
      actions.every(({ name, label }, index) => {
        const other = others[index];
        return name === other?.name && label === other.label;
      })
    );
  }
}
