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
    database: DatabaseView,
    trans: IPanelServices['trans']
  ): string {
    const { kind, place, isWaiting, tables, reason } = database;
    if (reason !== undefined && tables.length === 0) {
      return problem(database, trans);
    }
    if (isWaiting) {
      return trans.__('Not connected yet. Choose it to connect');
    }
    const where = plainName(place === '' ? kind : `${kind}, ${place}`);
    const missing = unlisted(database, trans);
    return missing === null ? where : `${where}. ${missing}`;
  }

  /**
   * Why its tables are not known.
   */
  function problem(
    { reason, error }: DatabaseView,
    trans: IPanelServices['trans']
  ): string {
    switch (reason) {
      case 'own_way':
        return trans.__(
          'Cannot be read: your code opens its connections, and none is idle now'
        );
      case 'each_its_own':
        return trans.__(
          'Cannot be read: each connection has a database of its own'
        );
      case 'no_file':
        return trans.__('Cannot be read: its file is not there');
      case 'in_use':
        return trans.__('Cannot be read: it is in use');
      case 'no_answer':
        return trans.__('Cannot be read: it did not answer in time');
      default:
        return trans.__('Cannot be read: %1', plainName(error ?? ''));
    }
  }

  /**
   * Which tables are not listed, and why.
   */
  function unlisted(
    { isPartial, leftOut }: DatabaseView,
    trans: IPanelServices['trans']
  ): string | null {
    if (isPartial) {
      return trans.__('Not all of its tables are listed');
    }
    switch (leftOut) {
      case 'in_transaction':
        return trans.__('Commit or roll back to see temporary tables');
      case 'own_connection':
        return trans.__(
          'Temporary tables are not listed: only your own connection sees them'
        );
      default:
        return null;
    }
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
