/**
 * Whether a key belongs to an input method, which makes of several of them one
 * syllable or word.
 *
 * #### Notes
 * Safari ends the composition before it tells of the key that ended it; such a
 * key still has the code 229.
 */
export function isComposing(
  event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>
): boolean {
  // eslint-disable-next-line no-restricted-properties
  return event.isComposing || event.keyCode === 229;
}
