import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

type Args = ReadonlyPartialJSONObject;

/**
 * The label of a command: short in menus, and in the palette, where all of
 * Lab's commands are, with the agent's name before it.
 *
 * @param inPalette - What the palette says after the name, if not the same: who
 * reads “Agent:” needs no “the agent” again.
 */
export function commandLabel(
  trans: TranslationBundle,
  inMenu: string | ((args: Args) => string),
  inPalette: string | ((args: Args) => string) = inMenu
): (args: Args) => string {
  return args => {
    const isPalette = args.isPalette === true;
    const label = isPalette ? inPalette : inMenu;
    const text = typeof label === 'string' ? label : label(args);
    return isPalette ? trans.__('Agent: %1', text) : text;
  };
}

/**
 * List a command in the palette, under the name that is for it.
 */
export function addToPalette(
  palette: ICommandPalette | null,
  trans: TranslationBundle,
  command: string,
  args: Args = {}
): void {
  palette?.addItem({
    command,
    category: trans.__('HDSP Agent'),
    args: { ...args, isPalette: true }
  });
}
