import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type {
  CellChange,
  NotebookPreview,
  PlannedVariable,
  RestorePreview,
  VariablesPreview
} from '../../generated/rest';
import type { FilesPreview } from '../../generated/wire';
import { FilesText, ChangePreview } from '../../ui/texts/changepreview';
import { fullCount } from '../../ui/texts/formats';
import { listText } from '../../ui/texts/listtext';
import { plainName } from '../../ui/texts/visibletext';
import { whyText } from '../failuretexts';

/**
 * So many names stand in one sentence.
 */
const MOST_NAMES = 12;

/**
 * Says what a restore would do to each part of the workspace.
 */
export function RestorePreviewText({
  preview,
  operation,
  trans
}: {
  preview: RestorePreview;
  operation: 'rewind' | 'undo';
  trans: TranslationBundle;
}): JSX.Element {
  const { files, notebooks, variables, conversation, conversationGone } =
    preview;
  return (
    <>
      {preview.nothing && (
        <p>{trans.__('Nothing would change: everything is as it was then.')}</p>
      )}
      {files && hasSomething(files) && (
        <section aria-label={trans.__('Files')}>
          <FilesText files={files} operation={operation} trans={trans} />
        </section>
      )}
      {notebooks.map(notebook => (
        <NotebookText key={notebook.path} notebook={notebook} trans={trans} />
      ))}
      {variables.map(kernel => (
        <VariablesText key={kernel.path} kernel={kernel} trans={trans} />
      ))}
      {conversation && (
        <section aria-label={trans.__('Conversation')}>
          <h4>{trans.__('Conversation')}</h4>
          <ChangePreview
            preview={conversation}
            withFiles
            isPart
            trans={trans}
          />
        </section>
      )}
      {conversationGone && (
        <p>
          {trans.__(
            'The conversation of this checkpoint was deleted, so it cannot be restored with it.'
          )}
        </p>
      )}
    </>
  );
}

function hasSomething(files: FilesPreview): boolean {
  const { changes, moreChanges, kept, openNotebooks, incomplete } = files;
  return (
    changes.length + moreChanges + kept.length + openNotebooks.length > 0 ||
    incomplete === true
  );
}

/**
 * Whether cells could run again for what is lost.
 */
export function canRunAgain({ variables }: RestorePreview): boolean {
  return variables.some(({ rerun }) => rerun.cells.length > 0);
}

/**
 * How much stays because the person changed it since, or because nothing could
 * bring it back.
 */
export function keptCount({
  files,
  notebooks,
  variables
}: RestorePreview): number {
  const kept = [
    ...notebooks.flatMap(({ cells }) => cells),
    ...variables.flatMap(kernel => kernel.variables)
  ].filter(({ action }) => action === 'keep' || action === 'keep_unsaved');
  return kept.length + (files?.kept.length ?? 0);
}

function NotebookText({
  notebook: { path, open, cells, moreCells, whyNot, coded },
  trans
}: {
  notebook: NotebookPreview;
  trans: TranslationBundle;
}): JSX.Element {
  const name = plainName(path);
  return (
    <section aria-label={name}>
      <h4>{name}</h4>
      {whyNot !== undefined ? (
        <p>
          {trans.__('It stays as it is: %1', whyText(coded, whyNot, trans))}
        </p>
      ) : (
        <>
          <ul tabIndex={0}>
            {cells.map(cell => (
              <li key={`${cell.cellId}:${cell.action}`}>
                {cellText(cell, trans)}{' '}
                {cell.line === '' ? (
                  trans.__('(empty)')
                ) : (
                  <code>{cell.line}</code>
                )}
              </li>
            ))}
            {moreCells > 0 && (
              <li>
                {trans._n('and %1 more cell', 'and %1 more cells', moreCells)}
              </li>
            )}
          </ul>
          {open && cells.some(({ action }) => action !== 'keep') && (
            <p className="jp-hdspAgent-timeline-quiet">
              {trans.__(
                'It is open, so its cells change in the tab. You can also undo that in the tab.'
              )}
            </p>
          )}
        </>
      )}
    </section>
  );
}

function cellText(
  { action, cellType }: CellChange,
  trans: TranslationBundle
): string {
  const isCode = cellType === 'code';
  switch (action) {
    case 'change':
      return isCode
        ? trans.__('Code cell restored:')
        : trans.__('Text cell restored:');
    case 'insert':
      return trans.__('Deleted cell restored:');
    case 'delete':
      return trans.__('Cell removed:');
    case 'move':
      return trans.__('Cell moved:');
    case 'outputs':
      return trans.__('Output restored:');
    case 'keep':
      return trans.__('Cell kept, because you changed it since:');
  }
}

function VariablesText({
  kernel,
  trans
}: {
  kernel: VariablesPreview;
  trans: TranslationBundle;
}): JSX.Element {
  const { path, cold, right, variables, moreVariables, rerun } = kernel;
  const { whyNot, coded, refuses } = kernel;
  const of = (...actions: PlannedVariable['action'][]) =>
    variables
      .filter(({ action }) => actions.includes(action))
      .map(({ name }) => name);
  const loaded = of('load', 'import');
  const removed = of('remove');
  const live = variables.filter(({ action }) => action === 'keep_live');
  const unsaved = variables.filter(({ action }) => action === 'keep_unsaved');
  const lost = variables.filter(({ action }) => action === 'lost');
  const heading = trans.__('Variables of %1', plainName(path));
  return (
    <section aria-label={heading}>
      <h4>{heading}</h4>
      {whyNot !== undefined ? (
        <p>
          {refuses
            ? trans.__(
                'They cannot be restored now. %1 Or leave out the variables.',
                whyText(coded, whyNot, trans)
              )
            : trans.__(
                'They stay as they are: %1',
                whyText(coded, whyNot, trans)
              )}
        </p>
      ) : (
        <ul tabIndex={0}>
          {cold && <li>{trans.__('The kernel was restarted since then.')}</li>}
          {right > 0 && (
            <li>
              {trans._n(
                '%1 is already right.',
                '%1 are already right.',
                right,
                fullCount(right)
              )}
            </li>
          )}
          {loaded.length > 0 && (
            <li>{trans.__('Loaded: %1', namesText(loaded, trans))}</li>
          )}
          {removed.length > 0 && (
            <li>
              {trans.__(
                'Removed, because they are newer: %1',
                namesText(removed, trans)
              )}
            </li>
          )}
          {live.map(({ name, type, why }) => (
            <li key={name}>
              <code>{name}</code>:{' '}
              {trans.__('Changes since are not undone: %1', why ?? type)}
            </li>
          ))}
          {unsaved.map(({ name, type, why }) => (
            <li key={name}>
              <code>{name}</code>:{' '}
              {trans.__('It stays as it is: %1', why ?? type)}
            </li>
          ))}
          {lost.map(({ name, type, why }) => (
            <li key={name}>
              {why
                ? trans.__('Lost: %1 (%2), because %3', name, type, why)
                : trans.__('Lost: %1 (%2), which cannot be saved', name, type)}
            </li>
          ))}
          {moreVariables > 0 && (
            <li>
              {trans._n(
                'and %1 more variable',
                'and %1 more variables',
                moreVariables,
                fullCount(moreVariables)
              )}
            </li>
          )}
        </ul>
      )}
      {rerun.cells.length > 0 && (
        <p>
          {trans._n(
            'To get back what is lost, %1 cell has to run again. You are asked before it runs.',
            'To get back what is lost, %1 cells have to run again. You are asked before they run.',
            rerun.cells.length
          )}
        </p>
      )}
    </section>
  );
}

/**
 * Names in one sentence, of many only the first.
 */
export function namesText(
  names: readonly string[],
  trans: TranslationBundle
): string {
  const shown = listText(names.slice(0, MOST_NAMES), trans);
  return names.length > MOST_NAMES
    ? trans._n(
        '%2 and %1 more',
        '%2 and %1 more',
        names.length - MOST_NAMES,
        shown
      )
    : shown;
}
