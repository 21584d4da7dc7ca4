import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import type { CellPart } from '../../notebook/cells/cellparts';
import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { attempt, showWarning } from '../../ui/notifications';
import { agentIcon } from '../../ui/icons/agenticon';
import type { IPanelServices } from '../../ui/services';
import { attachPart, findCell } from './attachments/attachpart';
import { currentMode, currentProfile } from '../../state/currentmode';
import { loadModes } from './suggestions/suggestionsources';

/**
 * The composer's commands that are of use in the palette, in its order.
 */
export const COMPOSER_COMMANDS: readonly string[] = [
  CommandIDs.ask,
  CommandIDs.attachCell,
  CommandIDs.attachSelection,
  CommandIDs.attachOutput,
  CommandIDs.attachError,
  CommandIDs.nextMode,
  CommandIDs.previousMode,
  CommandIDs.nextProfile
];

/**
 * Add the commands about what one writes to the agent.
 *
 * @returns A disposable that removes them.
 */
export function addComposerCommands(services: IPanelServices): IDisposable {
  return DisposableSet.from([
    addAskCommand(services),
    addAttachCommands(services),
    addChoiceCommands(services),
    Private.followCells(services)
  ]);
}

function addAskCommand(services: IPanelServices): IDisposable {
  const { commands, state, store, trans } = services;
  return commands.addCommand(CommandIDs.ask, {
    label: commandLabel(
      trans,
      args => (args.isLauncher ? trans.__('Agent') : trans.__('Ask the Agent')),
      trans.__('Ask')
    ),
    caption: trans.__('Start a conversation with the agent'),
    icon: agentIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          text: {
            type: 'string',
            description: trans.__('Text for the message box; it is not sent')
          },
          isLauncher: {
            type: 'boolean',
            description: trans.__('Whether the launcher runs the command')
          }
        }
      }
    },
    execute: async ({ text }) => {
      const { page } = state;
      state.page = 'chat';
      if (typeof text === 'string') {
        state.offerText(null, text);
      }
      // First, so that the panel comes even while no server answers.
      await commands.execute(CommandIDs.open);
      if (store.state?.currentTaskId) {
        await commands.execute(CommandIDs.newConversation);
      } else if (page !== 'chat') {
        // What takes the focus is there only now.
        await commands.execute(CommandIDs.open);
      }
    }
  });
}

function addAttachCommands(services: IPanelServices): IDisposable {
  const { commands, trans } = services;
  const properties = {
    path: {
      type: 'string',
      description: trans.__(
        'The path of the notebook (default: the current one)'
      )
    },
    cellId: {
      type: 'string',
      description: trans.__('The ID of the cell (default: the active one)')
    }
  } as const;
  const add = (id: string, part: CellPart, label: string, caption: string) =>
    commands.addCommand(id, {
      label: commandLabel(trans, label),
      caption,
      icon: agentIcon,
      describedBy: { args: { type: 'object', properties } },
      isEnabled: args => Private.cellOf(services, args) !== null,
      execute: args => Private.attach(services, part, args)
    });
  return DisposableSet.from([
    add(
      CommandIDs.attachCell,
      'cell',
      trans.__('Attach Cell to the Message'),
      trans.__('Attach the cell to your next message to the agent')
    ),
    add(
      CommandIDs.attachSelection,
      'selection',
      trans.__('Attach Selection to the Message'),
      trans.__('Attach the selection to your next message to the agent')
    ),
    add(
      CommandIDs.attachOutput,
      'output',
      trans.__('Attach Output to the Message'),
      trans.__(
        'Attach the output of the cell to your next message to the agent'
      )
    ),
    add(
      CommandIDs.attachError,
      'error',
      trans.__('Attach Error to the Message'),
      trans.__('Attach the error of the cell to your next message to the agent')
    )
  ]);
}

function addChoiceCommands(services: IPanelServices): IDisposable {
  const { client, commands, store, trans } = services;
  const describedBy = { args: { type: 'object', properties: {} } } as const;
  const isEnabled = () =>
    store.state !== null && store.connection.phase === 'open';
  const goToMode = (step: 1 | -1) =>
    attempt(trans, async () => {
      const slugs = (await loadModes(client)).map(({ slug }) => slug);
      const text = Private.neighbour(slugs, currentMode(store.state), step);
      if (text !== undefined) {
        await client.request({ type: 'mode', text });
      }
    });
  return DisposableSet.from([
    commands.addCommand(CommandIDs.nextMode, {
      label: commandLabel(trans, trans.__('Next Mode')),
      caption: trans.__('Switch the agent to the next mode'),
      describedBy,
      isEnabled,
      execute: () => goToMode(1)
    }),
    commands.addCommand(CommandIDs.previousMode, {
      label: commandLabel(trans, trans.__('Previous Mode')),
      caption: trans.__('Switch the agent to the previous mode'),
      describedBy,
      isEnabled,
      execute: () => goToMode(-1)
    }),
    commands.addCommand(CommandIDs.nextProfile, {
      label: commandLabel(trans, trans.__('Next Model')),
      caption: trans.__(
        'Switch to the next model profile, or to the next pinned one if any are pinned'
      ),
      describedBy,
      isEnabled,
      execute: () =>
        attempt(trans, async () => {
          const text = Private.neighbour(
            Private.profileNames(services),
            currentProfile(store.state),
            1
          );
          if (text !== undefined) {
            await client.request({ type: 'loadApiConfiguration', text });
          }
        })
    })
  ]);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function cellOf(
    services: IPanelServices,
    { path, cellId }: ReadonlyPartialJSONObject
  ) {
    return findCell(
      services,
      typeof path === 'string' ? path : undefined,
      typeof cellId === 'string' ? cellId : undefined
    );
  }

  /**
   * Say that the commands about cells changed whenever one is at another cell.
   */
  export function followCells({
    commands,
    notebooks
  }: IPanelServices): IDisposable {
    const notify = () =>
      [
        CommandIDs.attachCell,
        CommandIDs.attachSelection,
        CommandIDs.attachOutput,
        CommandIDs.attachError
      ].forEach(id => commands.notifyCommandChanged(id));
    notebooks?.activeCellChanged.connect(notify);
    return new DisposableDelegate(() =>
      notebooks?.activeCellChanged.disconnect(notify)
    );
  }

  /**
   * Attach a part of a cell, and put the focus where one writes about it.
   */
  export async function attach(
    services: IPanelServices,
    part: CellPart,
    args: ReadonlyPartialJSONObject
  ): Promise<void> {
    const refusal = await attachPart(services, part, cellOf(services, args));
    if (refusal !== null) {
      showWarning(refusal);
    }
    services.state.page = 'chat';
    await services.commands.execute(CommandIDs.open);
  }

  /**
   * Those the operator allows; the pinned ones alone if there are any.
   */
  export function profileNames({ store }: IPanelServices): string[] {
    const allowed = (store.state?.listApiConfigMeta ?? []).filter(
      profile => profile.allowed
    );
    const pinned = allowed.filter(profile => profile.pinned);
    return (pinned.length > 0 ? pinned : allowed).map(({ name }) => name);
  }

  /**
   * The one after or before the current one, round and round; `undefined` if
   * there is no other.
   */
  export function neighbour(
    names: readonly string[],
    current: string | undefined,
    step: 1 | -1
  ): string | undefined {
    const index = current === undefined ? -1 : names.indexOf(current);
    const next =
      index < 0
        ? names[0]
        : names[(index + step + names.length) % names.length];
    return next === current ? undefined : next;
  }
}
