/**
 * Put the focus into the field of the composer, if it is there.
 */
export function focusComposer(panel: HTMLElement): void {
  panel.querySelector<HTMLElement>('.jp-hdspAgent-composer-field')?.focus();
}
