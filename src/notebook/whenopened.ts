import type { OpenNotebooks } from './opennotebooks';

/**
 * Load something when the first notebook is open: before, it is of no use. It
 * stays as long as the page.
 */
export function whenOpened(
  notebooks: OpenNotebooks,
  load: () => Promise<unknown>
): void {
  const begin = () => {
    notebooks.opened.disconnect(begin);
    load().catch((reason: unknown) => {
      console.error('A part of HDSP Agent could not be loaded', reason);
    });
  };
  if (notebooks.list().length > 0) {
    begin();
  } else {
    notebooks.opened.connect(begin);
  }
}
