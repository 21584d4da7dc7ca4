import type { IPanelServices } from '../../../ui/services';
import { addToDraft } from './attachpart';
import { shrinkPicture } from './pictureupload';

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

/**
 * The same of pictures that are data URLs.
 */
export async function takePictures(
  services: IPanelServices,
  pictures: readonly string[]
): Promise<string | null> {
  const taskId = services.store.state?.currentTaskId ?? null;
  const smaller = await Promise.all(pictures.map(shrinkPicture));
  const images = smaller.filter(picture => picture !== null);
  const tooMany = addToDraft(services, { attachments: [], images }, taskId);
  return images.length < pictures.length
    ? services.trans.__('The image is too large to attach.')
    : tooMany;
}
