import * as React from 'react';

import type { VariableTableView } from '../generated/rest';
import { ProblemNote } from '../ui/controls/problemnote';
import { usePanel } from '../ui/services';
import { fullCount } from '../ui/texts/formats';
import { plainName } from '../ui/texts/visibletext';
import { useAnswer } from '../ui/useanswer';
import { useVariables, useVariablesValue } from './variablescontext';
import { columnText } from './variabletexts';

/**
 * How many rows the server gives at once.
 */
const ROWS = 50;

/**
 * What a variable holds: some rows of a table, or how it begins.
 */
export function TablePreview({
  path,
  name
}: {
  readonly path: string;
  readonly name: string;
}): JSX.Element {
  const { trans } = usePanel();
  const model = useVariables();
  const { api } = model;
  const values = useVariablesValue(({ values }) => values);
  const [start, setStart] = React.useState(0);
  const ask = React.useMemo(
    // Asked anew for each number, and by nobody who does not look.
    () =>
      values >= 0 && model.isSeen ? () => api.table(path, name, start) : null,
    [api, model, path, name, start, values]
  );
  const { answer, error } = useAnswer(ask);
  const isBehind =
    start > 0 &&
    answer?.start === start &&
    answer.rows.length === 0 &&
    answer.variable.error === undefined;
  React.useEffect(() => {
    if (isBehind) {
      // It has fewer rows than before.
      setStart(0);
    }
  }, [isBehind]);
  if (answer === null) {
    return error === null ? (
      <p role="status">{trans.__('Loading…')}</p>
    ) : (
      <ProblemNote error={error} />
    );
  }
  const { variable, rows } = answer;
  const isTable = rows.length > 0 || variable.columns.length > 0;
  return (
    <>
      {variable.error !== undefined && (
        <p>{trans.__('It could not be shown whole: %1', variable.error)}</p>
      )}
      {isTable && <Rows table={answer} />}
      {isTable && <Pages table={answer} onStart={setStart} />}
      {!isTable && variable.head !== undefined && (
        <pre className="jp-hdspAgent-variable-head">{variable.head}</pre>
      )}
      {isTable && rows.length === 0 && variable.error === undefined && (
        <p>{trans.__('It has no rows.')}</p>
      )}
    </>
  );
}

/**
 * The rows as a table that scrolls by itself.
 */
function Rows({
  table: { variable, index, rows }
}: {
  readonly table: VariableTableView;
}): JSX.Element {
  const { trans } = usePanel();
  const { columns } = variable;
  const hasHead = columns.some(
    ({ name, dtype }) => name !== '' || dtype !== ''
  );
  return (
    <div
      className="jp-hdspAgent-variable-rows"
      role="region"
      tabIndex={0}
      aria-label={trans.__('Values of %1', plainName(variable.name))}
    >
      <table>
        {hasHead && (
          <thead>
            <tr>
              <td />
              {columns.map((column, at) => (
                <th key={at} scope="col" title={plainName(column.name)}>
                  {plainName(column.name)}
                  <small>{plainName(columnText(column, trans))}</small>
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              <th scope="row">{plainName(index[line] ?? '')}</th>
              {row.map((value, at) =>
                value === null ? (
                  <td key={at} className="jp-hdspAgent-variable-missing">
                    {trans.__('missing')}
                  </td>
                ) : (
                  <td key={at} title={plainName(value)}>
                    {plainName(value)}
                  </td>
                )
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/**
 * Which rows these are, and the way to others; nothing if they are all.
 */
function Pages({
  table: { variable, rows, start },
  onStart
}: {
  readonly table: VariableTableView;
  readonly onStart: (start: number) => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  const { shape, length, columns } = variable;
  const count = shape?.[0] ?? length ?? rows.length;
  const width = shape?.[1] ?? columns.length;
  const isAll = start === 0 && count <= rows.length && width <= columns.length;
  if (isAll || rows.length === 0) {
    return null;
  }
  const last = start + rows.length;
  return (
    <div className="jp-hdspAgent-variable-pages">
      <span role="status">
        {trans.__(
          'Rows %1–%2 of %3',
          fullCount(start + 1),
          fullCount(last),
          fullCount(count)
        )}
      </span>
      {width > columns.length && (
        <span>
          {trans.__(
            '%1 of %2 columns',
            fullCount(columns.length),
            fullCount(width)
          )}
        </span>
      )}
      <button
        type="button"
        className="jp-hdspAgent-link"
        aria-disabled={start === 0}
        onClick={() => start > 0 && onStart(Math.max(0, start - ROWS))}
      >
        {trans.__('Previous rows')}
      </button>
      <button
        type="button"
        className="jp-hdspAgent-link"
        aria-disabled={last >= count}
        onClick={() => last < count && onStart(start + ROWS)}
      >
        {trans.__('Next rows')}
      </button>
    </div>
  );
}
