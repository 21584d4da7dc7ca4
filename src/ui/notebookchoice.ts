import type { NotebookPanel, INotebookTracker } from '@jupyterlab/notebook';
import { useCallback, useSyncExternalStore } from 'react';

import type { NotebookRef } from '../generated/wire';
import type { NotebookChoice } from '../state/panel/panelstate';

/**
 * The drive of notebooks that are shared through jupyter-collaboration. Its
 * paths are those of the server.
 */
const SHARED_DRIVE = 'RTC:';

/**
 * Where the server finds a document; `null` for one on another drive.
 */
export function documentPath({
  context
}: {
  readonly context: { readonly path: string; readonly localPath: string };
}): string | null {
  const { path, localPath } = context;
  const drive = path.slice(0, path.length - localPath.length);
  return drive === '' || drive === SHARED_DRIVE ? localPath : null;
}

/**
 * The paths of the open notebooks, the one in front first.
 */
export function openPaths(tracker: INotebookTracker | null): string[] {
  const found = new Set<string>();
  const add = (panel: NotebookPanel | null) => {
    const path = panel && !panel.isDisposed ? documentPath(panel) : null;
    if (path !== null) {
      found.add(path);
    }
  };
  add(tracker?.currentWidget ?? null);
  tracker?.forEach(add);
  return [...found];
}

/**
 * The path of the notebook in front; the component is rendered again when it
 * is another one.
 */
export function useFrontPath(tracker: INotebookTracker | null): string | null {
  const subscribe = useCallback(
    (listener: () => void) => {
      let panel: NotebookPanel | null = null;
      const follow = () => {
        panel?.context.pathChanged.disconnect(listener);
        panel = tracker?.currentWidget ?? null;
        panel?.context.pathChanged.connect(listener);
        listener();
      };
      follow();
      tracker?.currentChanged.connect(follow);
      return () => {
        tracker?.currentChanged.disconnect(follow);
        panel?.context.pathChanged.disconnect(listener);
      };
    },
    [tracker]
  );
  return useSyncExternalStore(subscribe, () => {
    const panel = tracker?.currentWidget;
    return panel && !panel.isDisposed ? documentPath(panel) : null;
  });
}

/**
 * What a conversation that begins now works on: the notebook, and of the one in
 * front the cell one is at.
 */
export function chosenNotebook(
  choice: NotebookChoice,
  tracker: INotebookTracker | null
): NotebookRef | null {
  const front = tracker?.currentWidget ?? null;
  const frontPath = front && !front.isDisposed ? documentPath(front) : null;
  switch (choice.kind) {
    case 'none':
      return null;
    case 'front':
    case 'chosen': {
      const path = choice.kind === 'front' ? frontPath : choice.path;
      const cellId =
        path === frontPath ? front?.content.activeCell?.model.id : undefined;
      return path === null ? null : { path, ...(cellId ? { cellId } : {}) };
    }
  }
}
