import { PathExt } from '@jupyterlab/coreutils';
import { ellipsesIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { CheckpointView, OperationView } from '../generated/rest';
import { openMenu } from '../ui/controls/popupmenu';
import { IconButton } from '../ui/controls/iconbutton';
import { useAction } from '../ui/useaction';
import { CommandIDs } from '../ui/commandids';
import { usePanel } from '../ui/services';
import { plainName } from '../ui/texts/visibletext';
import { useTimelineModel, useTimeline } from './timelinecontext';
import type { ITimelineEntry } from './timelineentries';
import { CheckpointDetails } from './checkpointdetails';
import { checkpointEntries } from './restore/checkpointmenu';
import { whyText } from './failuretexts';
import {
  authorText,
  changedText,
  entryText,
  isVerification,
  partText,
  verifiedTexts,
  whenText
} from './timelinetexts';

/**
 * Something that was done, and the state it led to.
 */
export const OperationRow = React.memo(function OperationRow({
  kind: entryKind,
  operation,
  before,
  verifiedBefore,
  isOpen
}: ITimelineEntry & {
  readonly isOpen: boolean;
}): JSX.Element {
  const { commands, trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const { isBusy, run } = useAction();
  const { id, ts, checkpoint, undoable, error, errorWhy, kind, status } =
    operation;
  const item = React.useRef<HTMLLIElement>(null);
  React.useEffect(() => {
    if (!isOpen || item.current === null) {
      return;
    }
    const node = item.current;
    bringUp(node);
    // Rows that come into sight with it are as high as they are only then.
    const frame = requestAnimationFrame(() => bringUp(node));
    return () => cancelAnimationFrame(frame);
  }, [isOpen]);
  const target = useTimelineModel(model => model.checkpoint(operation.target));
  const entry = { kind: entryKind, operation, before, verifiedBefore };
  const title = entryText(entry, target, trans);
  const content = React.useId();
  return (
    <li
      ref={item}
      className="jp-hdspAgent-timeline-item"
      data-kind={kind}
      data-entry={entryKind}
      data-status={status}
      data-here={checkpoint?.here ?? false}
    >
      <div className="jp-hdspAgent-timeline-row">
        <span className="jp-hdspAgent-timeline-dot" aria-hidden="true" />
        <button
          type="button"
          className="jp-hdspAgent-entry jp-hdspAgent-timeline-open"
          aria-expanded={isOpen}
          aria-controls={isOpen ? content : undefined}
          aria-current={checkpoint?.here ? 'true' : undefined}
          onClick={() => model.unfold(isOpen ? null : id)}
        >
          <span className="jp-hdspAgent-timeline-title">{title}</span>
          <span className="jp-hdspAgent-timeline-about">
            <time dateTime={new Date(ts).toISOString()}>{whenText(ts)}</time>
            {factsOf(entry, trans).map(fact => (
              <span key={fact} title={fact}>
                {fact}
              </span>
            ))}
            {entryKind !== 'other' &&
              checkpoint?.notebooks.map(path => (
                <span
                  key={path}
                  className="jp-hdspAgent-timeline-notebook"
                  title={plainName(path)}
                >
                  {plainName(PathExt.basename(path))}
                </span>
              ))}
          </span>
          {error !== undefined && (
            <span className="jp-hdspAgent-timeline-error">
              {whyText(errorWhy, error, trans)}
            </span>
          )}
        </button>
        {commands.hasCommand(CommandIDs.showVerification) &&
          verifiedTexts(entry, trans).map(([one, text]) => (
            <button
              key={one.id}
              type="button"
              className="jp-hdspAgent-button"
              aria-label={trans.__('Report: %1', text)}
              onClick={() =>
                void commands.execute(CommandIDs.showVerification, {
                  path: one.path,
                  verification: one.id,
                  task: model.filter.place.task
                })
              }
            >
              {trans.__('Report')}
            </button>
          ))}
        {undoable && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={isBusy}
            aria-label={
              kind === 'undo'
                ? trans.__('Redo: %1', title)
                : trans.__('Undo: %1', title)
            }
            onClick={() =>
              void run(() => restoreActions.undo(model.filter.place, id))
            }
          >
            {kind === 'undo' ? trans.__('Redo') : trans.__('Undo')}
          </button>
        )}
        {checkpoint && (
          <RowMenu
            operation={operation}
            checkpoint={checkpoint}
            before={before?.checkpoint}
            title={title}
          />
        )}
      </div>
      {isOpen && (
        <div id={content} className="jp-hdspAgent-timeline-details">
          {checkpoint ? (
            <CheckpointDetails
              checkpoint={checkpoint}
              before={before?.checkpoint}
            />
          ) : (
            <p>{trans.__('There is no checkpoint to show for this step.')}</p>
          )}
        </div>
      )}
    </li>
  );
});

/**
 * Bring a row to the top of the list, unless there is room below it for what
 * differs.
 */
function bringUp(row: HTMLElement): void {
  const list = row.closest('.jp-hdspAgent-timeline-scroll');
  if (list === null) {
    return;
  }
  const { top, height } = list.getBoundingClientRect();
  const offset = row.getBoundingClientRect().top - top;
  if (offset < 0 || offset > height / 2) {
    row.scrollIntoView?.({ block: 'start' });
  }
}

function RowMenu({
  operation,
  checkpoint,
  before,
  title
}: {
  operation: OperationView;
  checkpoint: CheckpointView;
  before: CheckpointView | undefined;
  title: string;
}): JSX.Element {
  const services = usePanel();
  const { trans } = services;
  const timeline = useTimeline();
  const button = React.useRef<HTMLButtonElement>(null);
  return (
    <IconButton
      ref={button}
      icon={ellipsesIcon}
      label={trans.__('Actions for “%1”, %2', title, whenText(operation.ts))}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => {
        if (button.current !== null) {
          openMenu(
            button.current,
            checkpointEntries(
              services,
              timeline,
              operation.id,
              checkpoint,
              before
            )
          );
        }
      }}
    />
  );
}

/**
 * The notebooks a checkpoint has, and whose variables. A name may be shortened, so
 * that what is said of the only one stands beside it.
 */
function keptIn(
  { notebooks, variables }: CheckpointView,
  trans: TranslationBundle
): readonly string[] {
  if (notebooks.length === 1) {
    return [
      ...notebooks.map(path => PathExt.basename(path)),
      ...(variables.length > 0 ? [trans.__('with variables')] : [])
    ];
  }
  return notebooks.map(path =>
    variables.includes(path)
      ? trans.__('%1 with variables', PathExt.basename(path))
      : PathExt.basename(path)
  );
}

function isNothingNew({ changed }: CheckpointView): boolean {
  return changed ? !Object.values(changed).some(Boolean) : false;
}

/**
 * What is to know of it at a glance.
 */
function factsOf(
  entry: ITimelineEntry,
  trans: TranslationBundle
): readonly string[] {
  const { kind: entryKind, operation } = entry;
  const { kind, checkpoint, parts, path, written, deleted, kept } = operation;
  const facts: string[] = [];
  // Where nothing changed it is nobody's work, and of these rows it is clear.
  if (
    checkpoint &&
    kind === 'save' &&
    entryKind === 'other' &&
    !isNothingNew(checkpoint)
  ) {
    facts.push(authorText(checkpoint.author, trans));
  }
  if (kind !== 'save') {
    facts.push(...parts.map(part => partText(part, trans)));
    if (path !== undefined) {
      facts.push(PathExt.basename(path));
    }
    if (!checkpoint?.changed && written + deleted > 0) {
      facts.push(
        trans._n('%1 file changed', '%1 files changed', written + deleted)
      );
    }
    if (kept > 0) {
      facts.push(
        trans._n('%1 file kept (yours)', '%1 files kept (yours)', kept)
      );
    }
  }
  if (checkpoint?.changed) {
    facts.push(changedText(checkpoint.changed, trans));
  } else if (checkpoint?.sameFiles && kind === 'save') {
    facts.push(trans.__('no file changed'));
  }
  if (checkpoint && kind === 'save' && entryKind === 'other') {
    facts.push(...keptIn(checkpoint, trans));
  }
  // The first one may be the title.
  const told = verifiedTexts(entry, trans).map(([, text]) => text);
  facts.push(...told.slice(isVerification(operation) ? 1 : 0));
  if (checkpoint?.here) {
    facts.push(trans.__('you are here'));
  }
  return facts;
}
