import type { IDocumentManager } from '@jupyterlab/docmanager';

/** A document manager of a server that has one file, and what it opened. */
export function openedDocuments(file: string): {
  readonly documents: IDocumentManager;
  readonly opened: readonly string[];
} {
  const opened: string[] = [];
  const documents = {
    findWidget: () => undefined,
    openOrReveal: (path: string) => {
      opened.push(path);
      return {};
    },
    services: {
      contents: {
        get: (path: string) =>
          path === file ? Promise.resolve({}) : Promise.reject(new Error(path))
      }
    }
  };
  return { documents: documents as unknown as IDocumentManager, opened };
}
