import { caretDownIcon, notebookIcon } from '@jupyterlab/ui-components';
import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import { usePanelState, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { openPaths, useFrontPath } from '../../ui/notebookchoice';
import { openMenu } from '../../ui/controls/popupmenu';

/**
 * Says which notebook a conversation works on that is yet to begin, and lets
 * another be chosen, or none; nothing once it has begun.
 */
export function NotebookChoiceRow(): JSX.Element | null {
  const { notebooks, state, store, trans } = usePanel();
  const isNew = useStore(store, ({ state }) => !state?.currentTaskId);
  const choice = usePanelState(state, ({ notebookChoice }) => notebookChoice);
  const front = useFrontPath(notebooks);
  if (!isNew || (front === null && choice.kind !== 'chosen')) {
    return null;
  }
  const path =
    choice.kind === 'none'
      ? null
      : choice.kind === 'chosen'
        ? choice.path
        : front;
  const open = (anchor: HTMLElement) =>
    openMenu(anchor, [
      {
        label: trans.__('Current Notebook'),
        isChosen: choice.kind === 'front',
        run: () => (state.notebookChoice = { kind: 'front' })
      },
      ...openPaths(notebooks).map(other => ({
        label: other,
        isChosen: choice.kind === 'chosen' && choice.path === other,
        run: () => (state.notebookChoice = { kind: 'chosen', path: other })
      })),
      null,
      {
        label: trans.__('No Notebook'),
        isChosen: choice.kind === 'none',
        run: () => (state.notebookChoice = { kind: 'none' })
      }
    ]);
  return (
    <div className="jp-hdspAgent-binding">
      <button
        type="button"
        className="jp-hdspAgent-picker"
        aria-haspopup="menu"
        aria-expanded="false"
        title={path ?? trans.__('Choose a notebook to work on')}
        onClick={event => open(event.currentTarget)}
      >
        <notebookIcon.react tag="span" aria-hidden="true" />
        <span className="jp-hdspAgent-picker-label">
          {path === null
            ? trans.__('Works on no notebook')
            : trans.__('Works on %1', PathExt.basename(path))}
        </span>
        <caretDownIcon.react tag="span" aria-hidden="true" />
      </button>
    </div>
  );
}
