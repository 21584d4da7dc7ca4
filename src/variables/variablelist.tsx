import * as React from 'react';

import type { VariableChange, VariablesView } from '../generated/rest';
import { usePanel } from '../ui/services';
import { GoneRow, VariableRow } from './variablerow';
import type { ISorting, SortKey } from './variabletexts';
import { listed } from './variabletexts';
import { useVariables, useVariablesValue } from './variablescontext';

/**
 * The variables that a filter leaves, as a table that one sorts by its headers.
 */
export function VariableList({
  view: { path, variables, since },
  filter
}: {
  readonly view: VariablesView;
  readonly filter: string;
}): JSX.Element {
  const { trans } = usePanel();
  const model = useVariables();
  const sorting = useVariablesValue(({ sorting }) => sorting);
  const open = useVariablesValue(model => model.openIn(path));
  const shown = React.useMemo(
    () => listed(variables, filter, sorting),
    [variables, filter, sorting]
  );
  const changes = React.useMemo(
    () =>
      new Map<string, VariableChange>(
        since?.changes.map(change => [change.name, change])
      ),
    [since]
  );
  const wanted = filter.trim().toLowerCase();
  const gone = (since?.changes ?? []).filter(
    ({ kind, name }) => kind === 'gone' && name.toLowerCase().includes(wanted)
  );
  const checkpoint = since?.checkpoint ?? '';
  const labels: readonly (readonly [SortKey, string])[] = [
    ['name', trans.__('Name')],
    ['type', trans.__('Type')],
    ['value', trans.__('Value')],
    ['size', trans.__('Size')]
  ];
  return (
    <>
      <table className="jp-hdspAgent-variables-list">
        <thead>
          <tr>
            {labels.map(([key, label]) => (
              <SortHeader
                key={key}
                label={label}
                order={Private.orderOf(sorting, key)}
                onSort={() => model.sort(Private.next(sorting, key))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(variable => (
            <VariableRow
              key={variable.name}
              path={path}
              variable={variable}
              change={changes.get(variable.name) ?? null}
              checkpoint={checkpoint}
              isOpen={open === variable.name}
              onOpen={isOpen => model.unfold(isOpen ? variable.name : null)}
            />
          ))}
          {gone.map(change => (
            <GoneRow
              key={`gone:${change.name}`}
              path={path}
              change={change}
              checkpoint={checkpoint}
            />
          ))}
        </tbody>
      </table>
      <p className="jp-hdspAgent-announcement" role="status">
        {trans._n('%1 variable', '%1 variables', shown.length + gone.length)}
      </p>
      {shown.length + gone.length === 0 && (
        <p className="jp-hdspAgent-variables-note">
          {trans.__('No variable matches the filter.')}
        </p>
      )}
    </>
  );
}

/**
 * The head of a column, by which one sorts.
 */
function SortHeader({
  label,
  order,
  onSort
}: {
  readonly label: string;
  readonly order: 'ascending' | 'descending' | 'none';
  readonly onSort: () => void;
}): JSX.Element {
  return (
    <th scope="col" aria-sort={order}>
      <button type="button" onClick={onSort}>
        {label}
        <span aria-hidden="true">{Private.ARROWS[order]}</span>
      </button>
    </th>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const ARROWS = { ascending: ' ↑', descending: ' ↓', none: '' };

  export function orderOf(sorting: ISorting | null, key: SortKey) {
    return sorting?.key !== key
      ? 'none'
      : sorting.isDescending
        ? 'descending'
        : 'ascending';
  }

  /**
   * Numbers begin with the largest; the third press sorts no more.
   */
  export function next(sorting: ISorting | null, key: SortKey) {
    const first = key === 'value' || key === 'size';
    if (sorting?.key !== key) {
      return { key, isDescending: first };
    }
    return sorting.isDescending === first
      ? { key, isDescending: !first }
      : null;
  }
}
