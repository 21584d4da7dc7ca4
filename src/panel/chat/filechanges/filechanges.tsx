import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Diff, DiffStats } from '../../../ui/texts/diff';
import { Fold, useFold } from '../../../ui/texts/fold';
import { PlaceLink } from '../../../ui/controls/placelink';
import { CellEdits } from '../toolrows/notebooktool';
import { fullCount } from '../../../ui/texts/formats';
import { IconButton } from '../../../ui/controls/iconbutton';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { useAction } from '../../../ui/useaction';
import { pendingAsk } from '../../../state/pendingask';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { plainName } from '../../../ui/texts/visibletext';
import type { IChangedFile, IFileChange } from './changedfiles';
import { ReviewActions } from './reviewactions';
import { useChangedFiles } from './usechangedfiles';

type Counts = Pick<IChangedFile, 'added' | 'removed'>;

/**
 * What the agent changed in this conversation, file by file; nothing as long as
 * it has changed nothing.
 */
export function FileChanges(): JSX.Element | null {
  const { store, trans } = usePanel();
  const files = useChangedFiles();
  const hasOlder = useStore(store, ({ hasOlderMessages }) => hasOlderMessages);
  // Then they are beside what says so.
  const isDone = useStore(
    store,
    store => pendingAsk(store)?.ask === 'completion_result'
  );
  if (files.length === 0) {
    return null;
  }
  const count = fullCount(files.length);
  return (
    <section
      className="jp-hdspAgent-filechanges"
      aria-label={trans.__('What the agent changed')}
    >
      <Fold
        id="filechanges"
        summary={
          <>
            <span
              title={
                hasOlder
                  ? trans.__('Older messages may contain more changes.')
                  : undefined
              }
            >
              {trans._n(
                '%1 file changed',
                '%1 files changed',
                files.length,
                count
              )}
            </span>{' '}
            <Lines {...linesOf(files)} />
          </>
        }
      >
        <div className="jp-hdspAgent-filechanges-body">
          <ul className="jp-hdspAgent-filechanges-list">
            {files.map(file => (
              <ChangedFile key={file.path} file={file} />
            ))}
          </ul>
          {hasOlder && <NotLoaded />}
          <p className="jp-hdspAgent-chat-quiet">
            {trans.__("Files written by commands or code aren't listed.")}
          </p>
        </div>
      </Fold>
      {!isDone && <ReviewActions />}
    </section>
  );
}

function ChangedFile({ file }: { file: IChangedFile }): JSX.Element {
  const { trans } = usePanel();
  const { path, isOutside, changes } = file;
  const [isOpen, setOpen] = useFold(`filechanges:${path}`, false);
  const id = React.useId();
  return (
    <li>
      <div className="jp-hdspAgent-filechanges-file">
        <IconButton
          icon={isOpen ? caretDownIcon : caretRightIcon}
          label={trans.__('Changes to %1', plainName(path))}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
        />
        <PlaceLink path={path} isOutside={isOutside} />
        <Lines added={file.added} removed={file.removed} />
        <span className="jp-hdspAgent-chat-quiet">
          {trans._n(
            '%1 change',
            '%1 changes',
            changes.length,
            fullCount(changes.length)
          )}
        </span>
      </div>
      {isOpen && (
        <ol id={id} className="jp-hdspAgent-filechanges-list">
          {changes.map(change => (
            <li key={change.ts}>
              <Change path={path} change={change} />
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

function Change({
  path,
  change: { ts, diff, cellEdits }
}: {
  path: string;
  change: IFileChange;
}): JSX.Element {
  const { trans } = usePanel();
  const id = `filechanges:${path}:${ts}`;
  if (cellEdits?.length) {
    return <CellEdits id={id} path={path} edits={cellEdits} />;
  }
  return diff ? (
    <Diff id={id} text={diff} />
  ) : (
    <p className="jp-hdspAgent-chat-quiet">
      {trans.__('There are no lines to show.')}
    </p>
  );
}

/**
 * That earlier changes are not known here, and a way to know them.
 */
function NotLoaded(): JSX.Element {
  const { store, trans } = usePanel();
  const { isBusy, error, run } = useAction();
  return (
    <>
      <p className="jp-hdspAgent-chat-quiet">
        {trans.__('Changes from messages that are not loaded are missing.')}{' '}
        <button
          type="button"
          className="jp-hdspAgent-chat-link"
          aria-disabled={isBusy}
          onClick={() => void run(() => store.loadOlder())}
        >
          {trans.__('Load older messages')}
        </button>
      </p>
      <ProblemNote error={error} />
    </>
  );
}

/**
 * How many lines were added and removed, where lines are counted at all.
 */
function Lines(lines: Counts): JSX.Element | null {
  return lines.added + lines.removed > 0 ? <DiffStats {...lines} /> : null;
}

function linesOf(files: readonly IChangedFile[]): Counts {
  return files.reduce(
    (sum, { added, removed }) => ({
      added: sum.added + added,
      removed: sum.removed + removed
    }),
    { added: 0, removed: 0 }
  );
}
