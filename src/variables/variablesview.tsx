import { PathExt } from '@jupyterlab/coreutils';
import { refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { VariablesView as View } from '../generated/rest';
import { CommandIDs } from '../ui/commandids';
import { IconButton } from '../ui/controls/iconbutton';
import { ProblemNote } from '../ui/controls/problemnote';
import { usePanel } from '../ui/services';
import { dateTimeText } from '../ui/texts/formats';
import { plainName } from '../ui/texts/visibletext';
import { VariableList } from './variablelist';
import { useVariables, useVariablesValue } from './variablescontext';
import { unknownText } from './variabletexts';

/**
 * How many names are listed of what is not shown.
 */
const MOST_UNSEEN = 20;

/**
 * The variables of the notebook in front.
 */
export function VariablesView(): JSX.Element {
  const { node, trans } = usePanel();
  const model = useVariables();
  const path = useVariablesValue(({ path }) => path);
  const view = useVariablesValue(({ view }) => view);
  const error = useVariablesValue(({ error }) => error);
  const isLoading = useVariablesValue(({ isLoading }) => isLoading);
  const [filter, setFilter] = React.useState('');
  React.useEffect(() => void model.refresh(), [model]);
  useKeptFocus(node, view);
  return path === null ? (
    <p className="jp-hdspAgent-variables-note">
      {trans.__('Open a notebook to see its variables.')}
    </p>
  ) : (
    <>
      <div className="jp-hdspAgent-variables-head">
        <h3 title={path}>{plainName(PathExt.basename(path))}</h3>
        <IconButton
          icon={refreshIcon}
          label={trans.__('Refresh')}
          aria-disabled={isLoading}
          onClick={() => void (isLoading || model.refreshValues())}
        />
        <input
          type="search"
          className="jp-hdspAgent-variables-filter jp-hdspAgent-input"
          aria-label={trans.__('Filter the variables')}
          placeholder={trans.__('Filter by name, type or column')}
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
      </div>
      {error && (
        <div className="jp-hdspAgent-variables-note">
          <ProblemNote error={error} />
        </div>
      )}
      {view !== null && <Told key={view.path} view={view} filter={filter} />}
      {view === null && error === null && (
        <p className="jp-hdspAgent-variables-note" role="status">
          {trans.__('Loading…')}
        </p>
      )}
    </>
  );
}

/**
 * Keep the focus in a view when what had it is gone with what is shown.
 */
function useKeptFocus(node: HTMLElement, shown: unknown): void {
  const focused = React.useRef<Element | null>(null);
  React.useEffect(() => {
    const note = ({ type, target }: FocusEvent) => {
      focused.current =
        type === 'focusin' && target instanceof Element ? target : null;
    };
    node.addEventListener('focusin', note);
    node.addEventListener('focusout', note);
    return () => {
      node.removeEventListener('focusin', note);
      node.removeEventListener('focusout', note);
    };
  }, [node]);
  // An element that has the focus and is taken away tells nobody, or only then.
  const before = focused.current;
  React.useEffect(() => {
    if (
      before !== null &&
      !before.isConnected &&
      node.ownerDocument.activeElement === node.ownerDocument.body
    ) {
      node.focus();
    }
  }, [node, before, shown]);
}

/**
 * What the server told of a notebook.
 */
function Told({
  view,
  filter
}: {
  readonly view: View;
  readonly filter: string;
}): JSX.Element {
  const { trans } = usePanel();
  const { kernel, variables, unseen, since } = view;
  const why = whyNone(view, trans);
  const isEmpty =
    variables.length === 0 &&
    !since?.changes.some(({ kind }) => kind === 'gone');
  return (
    <div className="jp-hdspAgent-variables-scroll">
      {kernel?.answers === 'now' && !(isEmpty && since?.unknown) && (
        <Since view={view} />
      )}
      {why !== null && <p className="jp-hdspAgent-variables-note">{why}</p>}
      {why === null && isEmpty && (
        <p className="jp-hdspAgent-variables-note">
          {trans.__('There are no variables yet.')}
        </p>
      )}
      {!isEmpty && <VariableList view={view} filter={filter} />}
      {unseen.length > 0 && (
        <p className="jp-hdspAgent-variables-note">
          {trans.__(
            'Not shown, because there was no time or room: %1',
            unseen.slice(0, MOST_UNSEEN).map(plainName).join(', ')
          )}
          {unseen.length > MOST_UNSEEN && ' …'}
        </p>
      )}
    </div>
  );
}

/**
 * Why nothing can be told of a notebook's kernel; `null` if it can.
 */
function whyNone(
  { kernel }: View,
  trans: ReturnType<typeof usePanel>['trans']
): string | null {
  switch (kernel?.answers) {
    case undefined:
      return trans.__(
        'No kernel is running for this notebook. Run a cell to start one.'
      );
    case 'never':
      return trans.__(
        'The kernel %1 cannot list its variables. Only Python kernels can.',
        plainName(kernel?.name ?? '')
      );
    case 'later':
      return trans.__(
        'A cell is running. The variables are shown when it is done.'
      );
    case 'now':
      return null;
  }
}

/**
 * What the marks of changes are about, or why there are none.
 */
function Since({
  view: { path, since, variables, unseen }
}: {
  readonly view: View;
}): JSX.Element | null {
  const { commands, openSettings, trans } = usePanel();
  if (!since) {
    return null;
  }
  if (since.unknown === 'turned_off') {
    return (
      <p className="jp-hdspAgent-variables-note">
        {trans.__(
          'Variables are not saved with checkpoints, so their changes are not shown.'
        )}{' '}
        <button
          type="button"
          className="jp-hdspAgent-link"
          onClick={() => openSettings('checkpoints')}
        >
          {trans.__('Checkpoint settings')}
        </button>
      </p>
    );
  }
  const names = new Set([...variables.map(({ name }) => name), ...unseen]);
  const count = since.changes.filter(
    ({ name, kind }) => kind === 'gone' || names.has(name)
  ).length;
  const when = dateTimeText(since.ts ?? 0);
  return (
    <p className="jp-hdspAgent-variables-note">
      <span role="status">
        {since.unknown
          ? unknownText(since.unknown, trans)
          : count === 0
            ? trans.__('Nothing has changed since the checkpoint of %1.', when)
            : trans._n(
                '%1 change since the checkpoint of %2.',
                '%1 changes since the checkpoint of %2.',
                count,
                when
              )}
      </span>{' '}
      <button
        type="button"
        className="jp-hdspAgent-link"
        onClick={() =>
          void commands.execute(CommandIDs.saveCheckpoint, { path })
        }
      >
        {trans.__('Save checkpoint')}
      </button>
    </p>
  );
}
