/**
 * Put the focus where one goes on in a panel: into the field, on what is to be
 * done next, into the field of a search, or else on the panel, from where Tab
 * leads to everything in it.
 */
export function focusNext(panel: HTMLElement): void {
  const find = (selector: string) => panel.querySelector<HTMLElement>(selector);
  // Without a model there is something to do before one writes.
  const next =
    find(
      '.jp-hdspAgent-composer:not([data-hindrance="noModel"]) .jp-hdspAgent-composer-field'
    ) ??
    find('.jp-hdspAgent-setup :is(.jp-mod-accept, select):enabled') ??
    find('.jp-hdspAgent-history [type="search"]');
  (next ?? panel).focus();
}
