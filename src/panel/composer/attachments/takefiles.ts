import type { IPanelServices } from '../../../ui/services';
import { addToDraft } from './attachpart';

/**
 * Let files from the person's computer go along with what is being typed.
 *
 * @returns Why some of them do not, in words; `null` if all do.
 */
export async function takeFiles(
  services: IPanelServices,
  files: readonly File[]
): Promise<string | null> {
  const { readFiles } = await import('./readfiles');
  const { refusals, ...taken } = await readFiles(files, services.trans);
  const tooMany = addToDraft(services, taken);
  const all = tooMany === null ? refusals : [...refusals, tooMany];
  return all.length > 0 ? all.join('\n') : null;
}
