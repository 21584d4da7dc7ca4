import { spreadsheetIcon } from '@jupyterlab/ui-components';

import { asErrorBody, errorText } from '../../../errors';
import type { DatabaseView, TableView } from '../../../generated/rest';
import { documentPath } from '../../../ui/notebookchoice';
import type { IPanelServices } from '../../../ui/services';
import { plainName } from '../../../ui/texts/visibletext';
import { addToDraft } from '../attachments/attachpart';
import type { ISuggestion } from './suggestions';

/**
 * The tables of the databases that the notebook in front is connected to; nothing
 * where no Python kernel runs, and `'later'` where it runs a cell.
 *
 * @param onRefused - Told in words why something was not attached.
 */
export async function databaseSuggestions(
  services: IPanelServices,
  onRefused: (refusal: string) => void
): Promise<ISuggestion[] | 'later'> {
  const { notebooks, serverSettings, store, trans } = services;
  const panel = notebooks?.currentWidget ?? null;
  const path = panel && !panel.isDisposed ? documentPath(panel) : null;
  if (path === null) {
    return [];
  }
  const { DatabasesApi } = await import('../../../rest/databasesapi');
  const api = new DatabasesApi(serverSettings);
  const { answers, databases } = await api.databases(path);
  if (answers === 'later') {
    return answers;
  }
  const attach = async (
    { name }: DatabaseView,
    table: TableView | null,
    label: string
  ) => {
    // The one on screen now, and not when the kernel has answered.
    const task = store.state?.currentTaskId ?? null;
    const asked = table && Private.named(table);
    const { text } = await api.databaseSchema(path, name, asked);
    const attachment = {
      kind: 'table',
      path,
      cellId: null,
      label,
      content: Private.bounded(text)
    } as const;
    return addToDraft(
      services,
      { attachments: [attachment], images: [] },
      task
    );
  };
  const suggestion = (
    database: DatabaseView,
    table: TableView | null
  ): ISuggestion => {
    const from = plainName(database.name);
    const name = table && plainName(Private.fullName(table));
    const label = name === null ? trans.__('All tables of %1', from) : name;
    const chip = name === null ? label : trans.__('%1 in %2', name, from);
    return {
      key: `table:${database.name}:${name ?? ''}`,
      icon: spreadsheetIcon,
      label,
      detail:
        name === null
          ? Private.about(database, trans)
          : table?.isView
            ? trans.__('View in %1', from)
            : trans.__('Table in %1', from),
      choice: {
        kind: 'run',
        run: () =>
          void attach(database, table, chip)
            .catch((reason: unknown) => errorText(trans, asErrorBody(reason)))
            .then(refusal => refusal !== null && onRefused(refusal))
      }
    };
  };
  return databases.flatMap(database => [
    suggestion(database, null),
    ...database.tables.map(table => suggestion(database, table))
  ]);
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What is known of a database.
   */
  export function about(
    { kind, place, isWaiting, tables, error }: DatabaseView,
    trans: IPanelServices['trans']
  ): string {
    if (error !== undefined && tables.length === 0) {
      return trans.__('Its tables could not be read');
    }
    return isWaiting
      ? trans.__('Not connected yet. Choose it to connect')
      : plainName(place === '' ? kind : `${kind}, ${place}`);
  }

  /**
   * How many characters of a database's tables go along.
   */
  const MOST_CHARACTERS = 20_000;

  export function named({ schemaName, name }: TableView) {
    return schemaName === undefined ? { name } : { schemaName, name };
  }

  export function fullName({ schemaName, name }: TableView): string {
    return schemaName === undefined ? name : `${schemaName}.${name}`;
  }

  /**
   * As many whole lines of a text as may go along.
   */
  export function bounded(text: string): string {
    return text.length <= MOST_CHARACTERS
      ? text
      : `${text.slice(0, text.lastIndexOf('\n', MOST_CHARACTERS))}\n…`;
  }
}
