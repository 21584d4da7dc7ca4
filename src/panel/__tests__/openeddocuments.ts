import type { IDocumentManager } from '@jupyterlab/docmanager';

/** A document manager, and what it opened. */
export function openedDocuments(): {
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
    services: {}
  };
  return { documents: documents as unknown as IDocumentManager, opened };
}
