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
            '%1 message is removed.',
            '%1 messages are removed.',
            removed
          )}
        {removed === 0 && restored === 0 && trans.__('No message is removed.')}{' '}
        {restored > 0 &&
          trans._n(
            '%1 message is restored.',
            '%1 messages are restored.',
            restored
          )}
      </p>
      {effects.length > 0 && (
        <>
          <p>
            {trans._n(
              'You or your rules approved %1 action. This is not undone:',
              'You or your rules approved %1 actions. This is not undone:',
              toolCalls
            )}
          </p>
          {/* It scrolls, so that it must be reached by keyboard. */}
          <ul tabIndex={0}>
            {effects.map((effect, index) => (
              <li key={index}>{effectText(effect, trans)}</li>
            ))}
            {moreEffects > 0 && (
              <li>{trans._n('and %1 more', 'and %1 more', moreEffects)}</li>
            )}
          </ul>
        </>
      )}
      {preview.stopsTask && (
        <p>
          {trans.__('The agent is working on this. It will be stopped first.')}
        </p>
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
          ? trans._n('%1 file also changes:', '%1 files also change:', count)
          : trans.__('No files change:')}
      </p>
      <ul tabIndex={0}>
        {shown.map(change => (
          <li key={change.path}>{fileText(change, operation, trans)}</li>
        ))}
        {others > 0 && (
          <li>{trans._n('and %1 more file', 'and %1 more files', others)}</li>
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
              'Changes from before the oldest checkpoint are not undone'
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
      return trans.__('%1 is restored', path);
    case 'overwrite':
      return operation === 'undo'
        ? trans.__('%1 returns to its state before the restore', path)
        : operation === 'redo'
          ? trans.__('%1 returns to its state before the undo', path)
          : trans.__('%1 returns to its earlier state', path);
    case 'delete':
      return trans.__('%1 is deleted', path);
    case 'leave':
      return trans.__('%1 stays as it is', path);
  }
}
