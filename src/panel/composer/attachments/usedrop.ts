import type { Cell } from '@jupyterlab/cells';
import type { MimeData } from '@lumino/coreutils';
import * as React from 'react';

import { IMAGE_TYPES } from '../../../ui/imagetypes';
import { usePanel } from '../../../ui/services';
import type { ICellAt } from './attachpart';
import type { IDraggedVariable } from './draggedvariable';
import { VARIABLE_MIME, draggedVariable } from './draggedvariable';

/**
 * What is dragged from Lab's file browser: paths, with their drives.
 */
const CONTENTS_MIME = 'application/x-jupyter-icontents';

/**
 * What is dragged from a notebook: its cells as widgets.
 */
const CELLS_MIME = 'internal:cells';

/**
 * Takes what is dropped on an element: files from the computer, files of Lab's
 * file browser, cells, variables, and pictures of outputs.
 *
 * @returns Whether something is dragged over it that it takes.
 */
export function useDrop(
  ref: React.RefObject<HTMLElement>,
  actions: {
    readonly onFiles: (files: readonly File[]) => void;

    /**
     * Told the paths on the server.
     */
    readonly onPaths: (paths: readonly string[]) => void;
    readonly onCells: (cells: readonly ICellAt[]) => void;
    readonly onVariable: (variable: IDraggedVariable) => void;

    /**
     * Told data URLs.
     */
    readonly onPictures: (pictures: readonly string[]) => void;
  }
): boolean {
  const { documents, notebooks } = usePanel();
  const [isOver, setOver] = React.useState(false);
  const latest = React.useRef(actions);
  latest.current = actions;
  React.useEffect(() => {
    const node = ref.current;
    if (!node) {
      return;
    }
    const contents = documents?.services.contents ?? null;
    const take = (event: Event) => {
      event.preventDefault();
      event.stopPropagation();
    };
    const onFileOver = (event: DragEvent) => {
      const types = event.dataTransfer?.types ?? [];
      const isTaken = Private.TAKEN.some(type => types.includes(type));
      if (event.dataTransfer && isTaken) {
        take(event);
        event.dataTransfer.dropEffect = 'copy';
        setOver(true);
      }
    };
    const onFileDrop = (event: DragEvent) => {
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      const variable = draggedVariable(event.dataTransfer);
      const pictures = Private.picturesIn(event.dataTransfer);
      if (variable) {
        take(event);
        latest.current.onVariable(variable);
      } else if (pictures.length > 0) {
        take(event);
        latest.current.onPictures(pictures);
      } else if (files.length > 0) {
        take(event);
        latest.current.onFiles(files);
      }
    };
    const onLabOver = (event: Event) => {
      const drag = event as Private.ILabDrag;
      if (Private.isWanted(drag.mimeData)) {
        take(event);
        drag.dropAction = Private.allowed(drag);
        setOver(true);
      }
    };
    const onLabDrop = (event: Event) => {
      const drag = event as Private.ILabDrag;
      if (!Private.isWanted(drag.mimeData)) {
        return;
      }
      take(event);
      setOver(false);
      drag.dropAction = Private.allowed(drag);
      const paths = (drag.mimeData.getData(CONTENTS_MIME) ?? []) as string[];
      latest.current.onPaths(
        paths.map(path => contents?.localPath(path) ?? path)
      );
      const cells = (drag.mimeData.getData(CELLS_MIME) ?? []) as Cell[];
      latest.current.onCells(
        cells.flatMap(cell => {
          const panel = notebooks?.find(({ content }) =>
            content.widgets.includes(cell)
          );
          return panel ? [{ panel, cell }] : [];
        })
      );
    };
    const onLeave = (event: Event) => {
      const to = (event as DragEvent).relatedTarget;
      if (!(to instanceof Node && node.contains(to))) {
        setOver(false);
      }
    };
    const listeners: [string, (event: never) => void][] = [
      ['dragover', onFileOver],
      ['drop', onFileDrop],
      ['dragleave', onLeave],
      ['lm-dragenter', onLabOver],
      ['lm-dragover', onLabOver],
      ['lm-dragleave', onLeave],
      ['lm-drop', onLabDrop]
    ];
    listeners.forEach(([type, listener]) =>
      node.addEventListener(type, listener as EventListener)
    );
    return () =>
      listeners.forEach(([type, listener]) =>
        node.removeEventListener(type, listener as EventListener)
      );
  }, [ref, documents, notebooks]);
  return isOver;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The part of Lumino's drag events that is used; their class is not exported
   * where the package is not a dependency.
   */
  export interface ILabDrag extends Event {
    readonly mimeData: MimeData;
    readonly supportedActions: string;
    dropAction: string;
  }

  /**
   * What a browser says of a drag while it is only over something. A picture of a
   * page comes as HTML, and some selected text does too: that is left to the field.
   */
  export const TAKEN = ['Files', VARIABLE_MIME];

  /**
   * The pictures of a page that are dragged: data, and no addresses.
   */
  export function picturesIn(data: DataTransfer | null): string[] {
    const html = data?.getData('text/html') ?? '';
    if (!/^\s*(?:<meta[^>]*>)?\s*<img\b[^>]*>\s*$/i.test(html)) {
      return [];
    }
    const parsed = new DOMParser().parseFromString(html, 'text/html');
    return [...parsed.querySelectorAll('img')]
      .map(image => image.getAttribute('src') ?? '')
      .filter(source =>
        IMAGE_TYPES.some(type => source.startsWith(`data:${type};base64,`))
      );
  }

  export function isWanted(data: MimeData | undefined): boolean {
    return !!data && (data.hasData(CONTENTS_MIME) || data.hasData(CELLS_MIME));
  }

  /**
   * A copy where that may be: a cell is not to leave its notebook.
   */
  export function allowed({ supportedActions }: ILabDrag): string {
    return ['all', 'copy', 'copy-move', 'copy-link'].includes(supportedActions)
      ? 'copy'
      : supportedActions.replace(/-.*/, '');
  }
}
