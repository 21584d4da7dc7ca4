import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

/**
 * No element is this, so that keys are shown and never pressed.
 */
const NOWHERE = '.jp-hdspAgent-mod-nowhere';

/**
 * Show the keys of commands in the palette.
 *
 * #### Notes
 * The palette shows the keys of a command with the very same arguments, and its
 * items have one that the keys have not: it makes their names longer.
 *
 * @param isOurs - Whether the palette lists the command in this way.
 *
 * @returns A disposable that ends it.
 */
export function showKeysInPalette(
  commands: CommandRegistry,
  isOurs: (command: string) => boolean
): IDisposable {
  let shown = new DisposableSet();
  const show = () => {
    shown.dispose();
    shown = DisposableSet.from(
      commands.keyBindings
        .filter(
          ({ command, args }) =>
            isOurs(command) && Object.keys(args).length === 0
        )
        .map(({ command, keys }) =>
          commands.addKeyBinding({
            command,
            keys: [...keys],
            selector: NOWHERE,
            args: { isPalette: true }
          })
        )
    );
  };
  const onChange = (
    _: CommandRegistry,
    { binding }: CommandRegistry.IKeyBindingChangedArgs
  ) => {
    if (isOurs(binding.command) && binding.selector !== NOWHERE) {
      show();
    }
  };
  show();
  commands.keyBindingChanged.connect(onChange);
  return new DisposableDelegate(() => {
    commands.keyBindingChanged.disconnect(onChange);
    shown.dispose();
  });
}
