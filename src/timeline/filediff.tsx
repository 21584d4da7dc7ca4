import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type {
  CellDiff,
  CheckpointDiff,
  FileDiff,
  Hunk,
  NotebookDiff
} from '../generated/rest';
import { Diff } from '../ui/texts/diff';
import { sizeText } from '../ui/texts/formats';
import { ProblemNote } from '../ui/controls/problemnote';
import { usePanel } from '../ui/services';
import { useAnswer } from '../ui/useanswer';
import { ShortPath } from '../ui/texts/shortpath';
import type { Comparison } from '../rest/timelineapi';
import { useTimeline } from './timelinecontext';
import { PictureDiff } from './picturediff';
import { failureOf } from './failuretexts';

/**
 * A file that differs, of any kind and name; what differs in it is fetched when
 * it is unfolded.
 */
export function FileDifference({
  file,
  diff,
  checkpoint,
  against,
  startsOpen
}: {
  file: FileDiff;
  diff: CheckpointDiff;
  checkpoint: string;
  against: Comparison;
  startsOpen: boolean;
}): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = React.useState(startsOpen);
  const content = React.useId();
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <li className="jp-hdspAgent-timeline-file">
      <button
        type="button"
        className="jp-hdspAgent-chat-fold-summary"
        aria-expanded={isOpen}
        aria-controls={isOpen ? content : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Caret
          tag="span"
          aria-hidden="true"
          className="jp-hdspAgent-chat-fold-caret"
        />
        <span className="jp-hdspAgent-timeline-path">
          <ShortPath path={file.path} />
        </span>
        <span className="jp-hdspAgent-timeline-change">
          {changeText(file, trans)}
        </span>
      </button>
      {isOpen && (
        <div id={content} className="jp-hdspAgent-timeline-content">
          {file.kind === 'image' && !isSameContent(file) ? (
            <PictureDiff file={file} diff={diff} />
          ) : (
            <FileContent
              file={file}
              checkpoint={checkpoint}
              against={against}
            />
          )}
        </div>
      )}
    </li>
  );
}

/**
 * What differs in a file, line by line or cell by cell.
 */
function FileContent({
  file,
  checkpoint,
  against
}: {
  file: FileDiff;
  checkpoint: string;
  against: Comparison;
}): JSX.Element {
  const { trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const { path, raw } = file;
  const { place } = model.filter;
  const isKnown = isSameContent(file);
  const ask = React.useCallback(async () => {
    const { files } = await restoreActions.api.diff(place, checkpoint, {
      against,
      content: true,
      // A name that no text can say cannot be asked for.
      ...(raw === undefined && { only: path })
    });
    return files.find(one => one.path === path && one.raw === raw) ?? null;
  }, [restoreActions, place, checkpoint, against, path, raw]);
  const { answer, error } = useAnswer(isKnown ? null : ask);
  const whole = isKnown ? file : answer;
  if (error !== null) {
    return <ProblemNote error={failureOf(error, trans)} />;
  }
  if (whole === null) {
    return <p role="status">{trans.__('Comparing…')}</p>;
  }
  const id = `${checkpoint}:${against}:${raw ?? path}`;
  if (whole.notebook) {
    return <NotebookDifference id={id} notebook={whole.notebook} />;
  }
  return whole.hunks.length > 0 ? (
    <Diff id={id} text={hunksText(whole.hunks)} />
  ) : (
    <p className="jp-hdspAgent-timeline-quiet">{noLinesText(whole, trans)}</p>
  );
}

function NotebookDifference({
  id,
  notebook: { cells, metadataChanged }
}: {
  id: string;
  notebook: NotebookDiff;
}): JSX.Element {
  const { trans } = usePanel();
  if (cells.length === 0 && !metadataChanged) {
    return (
      <p className="jp-hdspAgent-timeline-quiet">
        {trans.__('No visible changes.')}
      </p>
    );
  }
  return (
    <ol className="jp-hdspAgent-cells">
      {cells.map((cell, index) => (
        <li key={index}>
          <div className="jp-hdspAgent-cells-head">{cellText(cell, trans)}</div>
          {cell.source.length > 0 && (
            <Diff
              id={`${id}:${index}`}
              text={hunksText(cell.source.map(withoutEndings))}
            />
          )}
        </li>
      ))}
      {metadataChanged && <li>{trans.__('Its metadata changed.')}</li>}
    </ol>
  );
}

function cellText(
  {
    change,
    oldIndex,
    newIndex,
    cellType,
    outputsChanged,
    metadataChanged,
    typeChanged,
    source
  }: CellDiff,
  trans: TranslationBundle
): string {
  const number = String((newIndex ?? oldIndex ?? 0) + 1);
  switch (change) {
    case 'added':
      return cellType === 'code'
        ? trans.__('New code cell %1', number)
        : trans.__('New text cell %1', number);
    case 'removed':
      return trans.__('Cell %1 was deleted', number);
    case 'moved':
      return trans.__(
        'Cell %1 moved to %2',
        String((oldIndex ?? 0) + 1),
        number
      );
    case 'modified':
      if (typeChanged) {
        return trans.__('Cell %1 has a different type', number);
      }
      if (source.length > 0) {
        return outputsChanged
          ? trans.__('Cell %1 and its output changed', number)
          : trans.__('Cell %1 changed', number);
      }
      return outputsChanged || !metadataChanged
        ? trans.__('The output of cell %1 changed', number)
        : trans.__('The metadata of cell %1 changed', number);
  }
}

/**
 * The hunks as one unified diff.
 */
function hunksText(hunks: readonly Hunk[]): string {
  return hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines
    ])
    .join('\n');
}

/**
 * Without what is said of the last line's end: no cell has one.
 */
function withoutEndings(hunk: Hunk): Hunk {
  return { ...hunk, lines: hunk.lines.filter(line => !line.startsWith('\\')) };
}

/**
 * Whether only its name, its rights or its times differ.
 */
function isSameContent({ change }: FileDiff): boolean {
  return change === 'attributes' || change === 'renamed';
}

/**
 * What became of a file, and by how much.
 */
function changeText(file: FileDiff, trans: TranslationBundle): string {
  const { change, oldSize = 0, newSize = 0, renamedFrom } = file;
  switch (change) {
    case 'added':
      return trans.__('new, %1', sizeText(newSize, trans));
    case 'removed':
      return trans.__('deleted, was %1', sizeText(oldSize, trans));
    case 'renamed':
      return trans.__('was %1', renamedFrom?.path ?? '?');
    case 'attributes':
      return trans.__('different permissions');
    case 'modified':
      // Cells that no file has yet have no size.
      if (file.newSize === undefined && file.oldSize === undefined) {
        return trans.__('not saved');
      }
      return oldSize === newSize
        ? sizeText(newSize, trans)
        : trans.__(
            '%1 → %2',
            sizeText(oldSize, trans),
            sizeText(newSize, trans)
          );
  }
}

/**
 * Why no lines are shown.
 */
function noLinesText(file: FileDiff, trans: TranslationBundle): string {
  const { change, oldMode = 0, newMode = 0 } = file;
  switch (change) {
    case 'renamed':
      return trans.__('Only its name changed.');
    case 'attributes':
      return trans.__(
        'Only its permissions changed: %2 → %1.',
        modeText(newMode),
        modeText(oldMode)
      );
  }
  if (file.tooLarge) {
    return trans.__('It is too long to compare line by line.');
  }
  return file.kind === 'binary'
    ? trans.__('It is not text.')
    : trans.__('There are no lines to show.');
}

function modeText(mode: number): string {
  return (mode & 0o7777).toString(8);
}
