import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type {
  ConversationEffect,
  ConversationPreview,
  FileChange,
  FilesPreview
} from '../../generated/wire';
import { plainName } from './visibletext';

/**
 * So many files are named.
 */
const MOST_FILES = 20;

/**
 * Says what a change would take back, what stays done, and whether one can undo it.
 */
export function ChangePreview({
  preview,
  withFiles,
  isPart = false,
  trans
}: {
  preview: ConversationPreview;

  /**
   * Whether files go back too, so that what was done to them does not stay.
   */
  withFiles: boolean;

  /**
   * Whether more goes back with it, of which it is said as a whole that it can be
   * undone.
   */
  isPart?: boolean;
  trans: TranslationBundle;
}): JSX.Element {
  const { removed, restored, toolCalls, moreEffects } = preview;
  const effects = preview.effects.filter(
    ({ kind }) => kind !== 'file' || !withFiles
  );
  return (
    <>
      <p>
        {removed > 0 &&
          trans._n(
            '%1 message is taken back.',
            '%1 messages are taken back.',
            removed
          )}
        {removed === 0 &&
          restored === 0 &&
          trans.__('No message is taken back.')}{' '}
        {restored > 0 &&
          trans._n(
            '%1 message comes back.',
            '%1 messages come back.',
            restored
          )}
      </p>
      {effects.length > 0 && (
        <>
          <p>
            {trans._n(
              'This stays done, of %1 action you or your rules approved:',
              'This stays done, of %1 actions you or your rules approved:',
              toolCalls
            )}
          </p>
          {/* It scrolls, so that it must be reached by keyboard. */}
          <ul tabIndex={0}>
            {effects.map((effect, index) => (
              <li key={index}>{effectText(effect, trans)}</li>
            ))}
            {moreEffects > 0 && (
              <li>
                {trans._n(
                  'and %1 thing more',
                  'and %1 things more',
                  moreEffects
                )}
              </li>
            )}
          </ul>
        </>
      )}
      {preview.stopsTask && (
        <p>{trans.__('The agent is at work on this. It is stopped first.')}</p>
      )}
      {(isPart
        ? !preview.canBeUndone
        : removed > 0 || restored > 0 || preview.canBeUndone) && (
        <p>
          {!preview.canBeUndone
            ? trans.__('This cannot be undone.')
            : preview.operation === 'undo'
              ? trans.__('You can redo it afterwards.')
              : trans.__('You can undo this.')}
        </p>
      )}
    </>
  );
}

/**
 * Says what becomes of files.
 */
export function FilesText({
  files: { changes, moreChanges, kept, openNotebooks, incomplete },
  operation,
  trans
}: {
  files: FilesPreview;
  operation: ConversationPreview['operation'];
  trans: TranslationBundle;
}): JSX.Element {
  const shown = changes.slice(0, MOST_FILES);
  const others = changes.length - shown.length + moreChanges;
  const count = changes.length + moreChanges;
  return (
    <>
      <p>
        {count > 0
          ? trans._n(
              '%1 file changes with it:',
              '%1 files change with it:',
              count
            )
          : trans.__('No file changes with it:')}
      </p>
      <ul tabIndex={0}>
        {shown.map(change => (
          <li key={change.path}>{fileText(change, operation, trans)}</li>
        ))}
        {others > 0 && (
          <li>{trans._n('and %1 file more', 'and %1 files more', others)}</li>
        )}
        {kept.map(path => (
          <li key={path}>
            {trans.__(
              '%1 stays as it is: you changed it since',
              plainName(path)
            )}
          </li>
        ))}
        {openNotebooks.map(path => (
          <li key={path}>
            {trans.__(
              '%1 stays as it is: it is open in a tab',
              plainName(path)
            )}
          </li>
        ))}
        {incomplete && (
          <li>
            {trans.__(
              'What was done before the oldest state of the files that is kept stays done'
            )}
          </li>
        )}
      </ul>
    </>
  );
}

function effectText(
  { kind, name, count }: ConversationEffect,
  trans: TranslationBundle
): string {
  const text = kindText(kind, name, trans);
  return count > 1 ? trans.__('%1 (%2 times)', text, count) : text;
}

function kindText(
  kind: ConversationEffect['kind'],
  name: string,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'file':
      return trans.__('Changed: %1', plainName(name));
    case 'command':
      return trans.__('Command: %1', name);
    case 'cell':
      return trans.__('Cells run in %1', plainName(name));
    case 'mcp':
      return trans.__('MCP tool: %1', name);
    case 'subtask':
      return trans.__('Subtask: %1', name);
  }
}

function fileText(
  { path: name, action }: FileChange,
  operation: ConversationPreview['operation'],
  trans: TranslationBundle
): string {
  const path = plainName(name);
  switch (action) {
    case 'create':
      return trans.__('%1 comes back', path);
    case 'overwrite':
      return operation === 'undo'
        ? trans.__('%1 is as it was before you went back', path)
        : operation === 'redo'
          ? trans.__('%1 is as it was before you undid that', path)
          : trans.__('%1 is as it was then', path);
    case 'delete':
      return trans.__('%1 goes', path);
    case 'leave':
      return trans.__('%1 stays as it is', path);
  }
}
