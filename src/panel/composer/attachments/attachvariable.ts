import type { VariableTableView, VariableView } from '../../../generated/rest';
import { VariablesApi } from '../../../rest/variablesapi';
import type { IPanelServices } from '../../../ui/services';
import { addToDraft } from './attachpart';

/**
 * How many rows of a table go along.
 */
const MOST_ROWS = 10;

/**
 * How many characters of the rest.
 */
const MOST_CHARACTERS = 4_000;

/**
 * Let a variable of a notebook's kernel go along with what is being typed, as it
 * is now.
 *
 * @param taskId - The conversation, if not the one on screen; `null` is one that
 * is yet to begin.
 *
 * @returns Why it does not, in words; `null` if it does.
 */
export async function attachVariable(
  services: IPanelServices,
  path: string,
  name: string,
  // The one on screen now, and not when the kernel has answered.
  taskId: string | null = services.store.state?.currentTaskId ?? null
): Promise<string | null> {
  const api = new VariablesApi(services.serverSettings);
  const content = describedVariable(await api.table(path, name));
  const attachment = {
    kind: 'variable',
    path,
    cellId: null,
    label: name,
    content
  } as const;
  const taken = { attachments: [attachment], images: [] };
  return addToDraft(services, taken, taskId);
}

/**
 * What a model is told of a variable: what it is, its columns, and how it begins.
 */
export function describedVariable({
  variable,
  index,
  rows
}: VariableTableView): string {
  const lines = [`${variable.name}: ${Private.facts(variable)}`];
  const named = variable.columns.filter(({ name }) => name !== '');
  if (named.length > 0) {
    lines.push(
      'Columns:',
      ...named.map(
        ({ name, dtype, missing }) =>
          `  ${name} (${dtype}${missing ? `, ${missing} missing` : ''})`
      )
    );
  }
  if (rows.length > 0) {
    const shown = rows.slice(0, MOST_ROWS);
    lines.push(
      'First rows:',
      ['', ...variable.columns.map(({ name }) => name)].join('\t'),
      ...shown.map((row, at) =>
        [index[at] ?? '', ...row.map(value => value ?? '')].join('\t')
      )
    );
  } else if (variable.head !== undefined) {
    lines.push('Value:', variable.head);
  }
  if (variable.error !== undefined) {
    lines.push(`(${variable.error})`);
  }
  const text = lines.join('\n');
  return text.length <= MOST_CHARACTERS
    ? text
    : `${text.slice(0, MOST_CHARACTERS)}\n…`;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function facts({
    type,
    shape,
    length,
    dtype,
    memory
  }: VariableView): string {
    return [
      type,
      ...(shape
        ? [`shape (${shape.map(side => side ?? '?').join(', ')})`]
        : []),
      ...(!shape && length !== undefined ? [`length ${length}`] : []),
      ...(dtype === undefined ? [] : [dtype]),
      ...(memory === undefined ? [] : [`${memory} bytes`])
    ].join(', ');
  }
}
