import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import type { ChannelClient } from '../../comm/client';
import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { agentIcon } from '../../ui/icons/agenticon';
import { fixIcon } from '../../ui/icons/fixicon';
import type { IAgentPanel } from '../../tokens';
import { CellActions } from './cellactions';
import { cellArguments, CellFinder } from './cellplace';
import { errorOf, FailedCells } from './failedcells';
import type { OpenNotebooks } from '../opennotebooks';

/**
 * What the actions on cells work with.
 */
export interface ICellsEnvironment {
  readonly agent: Pick<IAgentPanel, 'open'>;
  readonly client: Pick<ChannelClient, 'request'>;
  readonly commands: CommandRegistry;
  readonly notebooks: OpenNotebooks;
  readonly tracker: INotebookTracker;
  readonly trans: TranslationBundle;

  /**
   * The node of the cell the context menu was opened at.
   */
  readonly pointed: () => HTMLElement | undefined;
}

/**
 * Let the person ask about cells, and have those fixed that failed.
 *
 * @returns A disposable that takes it all away.
 */
export function createCells(environment: ICellsEnvironment): IDisposable {
  const { commands, notebooks, tracker, trans } = environment;
  const actions = new CellActions(environment);
  const added = Private.addCommands(
    commands,
    actions,
    new CellFinder(environment),
    trans
  );
  const notify = () => {
    commands.notifyCommandChanged(CommandIDs.askAboutCell);
    commands.notifyCommandChanged(CommandIDs.fixCell);
  };
  tracker.activeCellChanged.connect(notify);
  const everywhere = notebooks.each(panel => {
    const failed = new FailedCells({
      panel,
      trans,
      fix: cellId => {
        const path = notebooks.pathOf(panel);
        const cell = panel.content.widgets.find(
          ({ model }) => model.id === cellId
        );
        if (path !== null && cell) {
          void actions.fix({ panel, path, cell });
        }
      }
    });
    failed.changed.connect(notify);
    return failed;
  });
  return DisposableSet.from([
    everywhere,
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
      })
    ]);
  }
}
