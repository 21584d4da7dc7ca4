import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ellipsesIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';
import type { Menu } from '@lumino/widgets';

import type { ChannelClient } from '../../comm/client';
import type { AgentStore } from '../../state/store';
import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { agentIcon } from '../../ui/icons/agenticon';
import { fixIcon } from '../../ui/icons/fixicon';
import type { IAgentPanel } from '../../tokens';
import { CellActionList } from './actionlist';
import { CellActionMenu } from './actionmenu';
import { CellActions } from './cellactions';
import { selectedWith } from './cellparts';
import type { ICellPlace } from './cellplace';
import { cellArguments, CellFinder } from './cellplace';
import { errorOf, FailedCells } from './failedcells';
import type { OpenNotebooks } from '../opennotebooks';
import { CellPrompts } from '../prompt/cellprompts';

/**
 * What the actions on cells work with.
 */
export interface ICellsEnvironment {
  readonly agent: Pick<IAgentPanel, 'open'>;
  readonly client: CellActionList.IOptions['client'] &
    Pick<ChannelClient, 'request'>;
  readonly commands: CommandRegistry;
  readonly notebooks: OpenNotebooks;
  readonly store: AgentStore;
  readonly tracker: INotebookTracker;
  readonly trans: TranslationBundle;

  /**
   * The node of the cell the context menu was opened at.
   */
  readonly pointed: () => HTMLElement | undefined;

  /**
   * Add a submenu to the context menu of cells.
   */
  readonly addSubmenu: (submenu: Menu) => IDisposable;
}

/**
 * The commands that depend on which cell one is at.
 */
const CELL_COMMANDS: readonly string[] = [
  CommandIDs.askAboutCell,
  CommandIDs.fixCell,
  CommandIDs.editCell,
  CommandIDs.cellAction,
  CommandIDs.showCellActions
];

/**
 * Let the person ask about cells, have something done with them, and have those
 * fixed that failed.
 *
 * @returns A disposable that takes it all away.
 */
export function createCells(environment: ICellsEnvironment): IDisposable {
  const { addSubmenu, commands, notebooks, tracker, trans } = environment;
  const list = new CellActionList(environment);
  const prompts = new CellPrompts(environment);
  const actions = new CellActions(environment);
  const added = Private.addCommands(
    commands,
    actions,
    list,
    prompts,
    new CellFinder(environment),
    trans
  );
  const menu = new CellActionMenu({
    actions: list,
    args: { atPointer: true },
    commands,
    trans
  });
  const notify = () =>
    CELL_COMMANDS.forEach(id => commands.notifyCommandChanged(id));
  list.changed.connect(notify);
  tracker.activeCellChanged.connect(notify);
  const everywhere = notebooks.each(panel => {
    const placeOf = (cellId: string): ICellPlace | null => {
      const path = notebooks.pathOf(panel);
      const cell = panel.content.widgets.find(
        ({ model }) => model.id === cellId
      );
      return path !== null && cell ? { panel, path, cell } : null;
    };
    const failed = new FailedCells({
      panel,
      trans,
      fix: cellId => {
        const place = placeOf(cellId);
        if (place) {
          void actions.fix(place);
        }
      },
      explain: cellId => {
        const place = placeOf(cellId);
        if (place) {
          void actions.explainError(place);
        }
      }
    });
    failed.changed.connect(notify);
    return failed;
  });
  return DisposableSet.from([
    everywhere,
    addSubmenu(menu),
    menu,
    list,
    prompts,
    new DisposableDelegate(() => tracker.activeCellChanged.disconnect(notify)),
    added
  ]);
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export function addCommands(
    commands: CommandRegistry,
    actions: CellActions,
    list: CellActionList,
    prompts: CellPrompts,
    cells: CellFinder,
    trans: TranslationBundle
  ): IDisposable {
    const place = cellArguments(trans);
    const hasFailed = (args: ReadonlyPartialJSONObject) => {
      const at = cells.find(args);
      return at !== null && errorOf(at.cell.model) !== null;
    };
    return DisposableSet.from([
      commands.addCommand(CommandIDs.askAboutCell, {
        label: commandLabel(
          trans,
          trans.__('Ask the Agent about This Cell'),
          trans.__('Ask about This Cell')
        ),
        caption: trans.__('Ask the agent something about this cell'),
        icon: agentIcon,
        describedBy: {
          args: {
            type: 'object',
            properties: {
              ...place,
              question: {
                type: 'string',
                description: trans.__(
                  'What to ask; if left out, the cell is attached to your next message'
                )
              }
            }
          }
        },
        isEnabled: args => cells.find(args) !== null,
        execute: async args => {
          const at = cells.find(args);
          if (at) {
            const { question } = args;
            await actions.ask(
              at,
              typeof question === 'string' ? question : undefined
            );
          }
        }
      }),
      commands.addCommand(CommandIDs.fixCell, {
        label: commandLabel(
          trans,
          trans.__('Fix This Cell with the Agent'),
          trans.__('Fix This Cell')
        ),
        caption: trans.__('Fix this cell'),
        icon: fixIcon,
        describedBy: { args: { type: 'object', properties: place } },
        isEnabled: hasFailed,
        isVisible: hasFailed,
        execute: async args => {
          const at = cells.find(args);
          if (at) {
            await actions.fix(at);
          }
        }
      }),
      commands.addCommand(CommandIDs.editCell, {
        label: commandLabel(trans, trans.__('Edit This Cell by Prompt…')),
        caption: trans.__('Say in the cell how the agent should change it'),
        icon: agentIcon,
        describedBy: { args: { type: 'object', properties: place } },
        isEnabled: args => isWritable(cells.find(args)),
        execute: async args => {
          const at = cells.find(args);
          if (at) {
            await prompts.open(at);
          }
        }
      }),
      commands.addCommand(CommandIDs.cellAction, {
        label: commandLabel(
          trans,
          ({ action }) => list.find(action)?.label ?? '',
          ({ action }) => trans.__('%1 (cell)', list.find(action)?.label ?? '')
        ),
        caption: ({ action }) => list.find(action)?.caption ?? '',
        describedBy: {
          args: {
            type: 'object',
            properties: {
              ...place,
              action: {
                type: 'string',
                description: trans.__(
                  'The name of the slash command that says what to do'
                )
              }
            },
            required: ['action']
          }
        },
        isEnabled: args =>
          hasSource(cells.find(args)) && list.find(args.action) !== null,
        execute: async args => {
          const at = cells.find(args);
          const action = list.find(args.action);
          if (at && action) {
            await actions.act(at, action.name);
          }
        }
      }),
      commands.addCommand(CommandIDs.showCellActions, {
        label: commandLabel(
          trans,
          trans.__('Agent Actions…'),
          trans.__('Actions for This Cell…')
        ),
        caption: trans.__('Explain, improve or convert this cell'),
        icon: ellipsesIcon,
        describedBy: { args: { type: 'object', properties: place } },
        isEnabled: args => cells.find(args) !== null,
        execute: args => {
          const at = cells.find(args);
          if (at) {
            list.refresh();
            openAt(
              at,
              new CellActionMenu({
                actions: list,
                args: { path: at.path, cellId: at.cell.model.id },
                commands,
                trans
              })
            );
          }
        }
      })
    ]);
  }

  /**
   * Whether there is anything in a cell, or in those selected with it.
   */
  function hasSource(place: ICellPlace | null): boolean {
    return (
      place !== null &&
      selectedWith(place.panel, place.cell).some(
        ({ model }) =>
          !model.isDisposed && model.sharedModel.getSource().trim() !== ''
      )
    );
  }

  function isWritable(place: ICellPlace | null): boolean {
    return (
      place !== null &&
      !place.cell.readOnly &&
      !place.panel.context.model.readOnly &&
      place.panel.context.contentsModel?.writable !== false
    );
  }

  /**
   * Open a menu at the button in a cell's toolbar, or at the cell if it shows
   * none. The focus comes back to where it was.
   */
  function openAt({ cell }: ICellPlace, menu: CellActionMenu): void {
    const before = document.activeElement;
    const anchor =
      cell.node.querySelector('[data-jp-item-name="hdsp-agent-actions"]') ??
      cell.node.querySelector('.jp-InputArea') ??
      cell.node;
    menu.aboutToClose.connect(() => {
      if (before instanceof HTMLElement) {
        before.focus();
      }
      // What was chosen runs right after this.
      queueMicrotask(() => menu.dispose());
    });
    const { left, bottom } = anchor.getBoundingClientRect();
    menu.open(left, bottom);
    menu.activeIndex = 0;
  }
}
