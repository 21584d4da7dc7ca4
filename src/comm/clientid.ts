import { UUID } from '@lumino/coreutils';

const STORAGE_KEY = 'hdsp-agent:client-id';

/**
 * The parts of a page that tell when it leaves and returns.
 */
export interface IPage {
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  addEventListener(type: string, listener: () => void): void;
}

/**
 * The id of this tab on the channel; it survives a reload.
 *
 * #### Notes
 * The browser copies the session storage when a person duplicates a tab, and
 * two tabs with one id would take each other's answers. So the id lies in the
 * storage only while no page holds it: it is taken out on load and put back
 * when the page goes.
 */
export function claimClientId(page: IPage): string {
  try {
    const storage = page.sessionStorage;
    const id = storage.getItem(STORAGE_KEY) ?? UUID.uuid4();
    storage.removeItem(STORAGE_KEY);
    page.addEventListener('pagehide', () => storage.setItem(STORAGE_KEY, id));
    page.addEventListener('pageshow', () => storage.removeItem(STORAGE_KEY));
    return id;
  } catch {
    // Storage may be forbidden (private windows, sandboxed frames); then a
    // reload is a new client, which costs one `state`.
    return UUID.uuid4();
  }
}
