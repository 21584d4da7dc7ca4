import { DocumentWidget } from '@jupyterlab/docregistry';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { agentIcon } from '../../ui/icons/agenticon';
import { documentPath } from '../../ui/notebookchoice';
import { showWarning } from '../../ui/notifications';
import type { IPanelServices } from '../../ui/services';
import { addToDraft } from '../composer/attachments/attachpart';
import { withMentions } from '../composer/suggestions/suggestions';
import type { DocumentPart } from './documentpart';
import { isTerminal } from './terminaltext';

/**
 * The commands of documents that are of use in the palette, in its order.
 */
export const DOCUMENT_COMMANDS: readonly string[] = [
  CommandIDs.askAboutDocument,
  CommandIDs.attachDocument
];

/**
 * What the commands about documents work with.
 */
export interface IDocumentsEnvironment {
  readonly services: IPanelServices;

  /**
   * The tab in front.
   */
  readonly front: () => Widget | null;

  /**
   * The file browsers; `null` where Lab has none.
   */
  readonly browsers: Pick<IFileBrowserFactory, 'tracker'> | null;
}

/**
 * Add the commands that put files, selections and what was printed into the
 * message one writes.
 *
 * @returns A disposable that removes them.
 */
export function addDocumentCommands(
  environment: IDocumentsEnvironment
): IDisposable {
  const { commands, state, trans } = environment.services;
  const describedBy = {
    args: {
      type: 'object',
      properties: {
        from: {
          type: 'string',
          description: trans.__(
            '"browser" for the files selected in the file browser (default: the tab in front)'
          )
        }
      }
    }
  } as const;
  const isEnabled = (args: ReadonlyPartialJSONObject) =>
    Private.isThere(environment, args);
  return DisposableSet.from([
    commands.addCommand(CommandIDs.askAboutDocument, {
      label: commandLabel(
        trans,
        trans.__('Ask the Agent about This'),
        trans.__('Ask about This Document')
      ),
      caption: trans.__('Start a conversation about this'),
      icon: agentIcon,
      describedBy,
      isEnabled,
      execute: async args => {
        const part = await Private.find(environment, args);
        if (part) {
          Private.add(environment.services, part, null);
          await commands.execute(CommandIDs.ask);
        }
      }
    }),
    commands.addCommand(CommandIDs.attachDocument, {
      label: commandLabel(
        trans,
        trans.__('Add to the Message'),
        trans.__('Add This Document to the Message')
      ),
      caption: trans.__('Add this to your next message to the agent'),
      icon: agentIcon,
      describedBy,
      isEnabled,
      execute: async args => {
        const part = await Private.find(environment, args);
        if (part) {
          Private.add(environment.services, part);
          state.page = 'chat';
          await commands.execute(CommandIDs.open);
        }
      }
    })
  ]);
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What tells a console from other tabs.
   */
  interface IMaybeConsole extends Widget {
    readonly console?: unknown;
  }

  /**
   * Whether the tab in front, or the file browser, may have something to add.
   */
  export function isThere(
    { browsers, front }: IDocumentsEnvironment,
    { from }: ReadonlyPartialJSONObject
  ): boolean {
    if (from === 'browser') {
      return selected(browsers).length > 0;
    }
    const widget: IMaybeConsole | null = front();
    return (
      widget instanceof DocumentWidget ||
      widget?.console !== undefined ||
      isTerminal(widget)
    );
  }

  /**
   * What is to be added. Says so if there is nothing.
   */
  export async function find(
    environment: IDocumentsEnvironment,
    args: ReadonlyPartialJSONObject
  ): Promise<DocumentPart | null> {
    const { browsers, front, services } = environment;
    if (args.from === 'browser') {
      const contents = services.documents?.services.contents;
      const paths = selected(browsers).flatMap(({ path, type }) => {
        const localPath = contents?.localPath(path) ?? path;
        const here = documentPath({ context: { path, localPath } });
        return here === null ? [] : type === 'directory' ? `${here}/` : here;
      });
      if (paths.length > 0) {
        return { kind: 'files', paths };
      }
      showWarning(
        services.trans.__('The agent can only read files of this server.')
      );
      return null;
    }
    const { partOf } = await import('./documentpart');
    const part = partOf(front(), services.trans);
    if (part === null) {
      showWarning(
        services.trans.__('There is nothing to add. Select some text first.')
      );
    }
    return part;
  }

  /**
   * Put something to what is being typed.
   *
   * @param taskId - The conversation, if not the one on screen.
   */
  export function add(
    services: IPanelServices,
    part: DocumentPart,
    taskId: string | null = services.store.state?.currentTaskId ?? null
  ): void {
    const { state } = services;
    if (part.kind === 'files') {
      const { text } = state.draft(taskId);
      state.setDraft(taskId, { text: withMentions(text, part.paths) });
    } else {
      addToDraft(
        services,
        { attachments: [part.attachment], images: [] },
        taskId
      );
    }
  }

  function selected(browsers: IDocumentsEnvironment['browsers']) {
    return [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])];
  }
}
