import { CommandRegistry } from '@lumino/commands';

import { showKeysInPalette } from '../palettekeys';

const KEYS = { command: 'ours:a', keys: ['Ctrl A'], selector: 'body' };

describe('showKeysInPalette()', () => {
  let commands: CommandRegistry;

  beforeEach(() => {
    commands = new CommandRegistry();
    for (const id of ['ours:a', 'ours:b', 'lab:a']) {
      commands.addCommand(id, { execute: () => undefined });
    }
  });

  /** The keys of a command, as the palette looks for them. */
  function shown(command: string): string[] {
    return commands.keyBindings
      .filter(
        binding =>
          binding.command === command && binding.args.isPalette === true
      )
      .map(({ keys }) => keys.join(' '));
  }

  it('should show the keys that are there, and those that come', () => {
    commands.addKeyBinding(KEYS);
    showKeysInPalette(commands, id => id.startsWith('ours:'));
    expect(shown('ours:a')).toEqual(['Ctrl A']);
    commands.addKeyBinding({ ...KEYS, command: 'ours:b', keys: ['Ctrl B'] });
    expect(shown('ours:b')).toEqual(['Ctrl B']);
  });

  it('should follow when a person chooses others', () => {
    const before = commands.addKeyBinding(KEYS);
    showKeysInPalette(commands, id => id.startsWith('ours:'));
    before.dispose();
    expect(shown('ours:a')).toEqual([]);
    commands.addKeyBinding({ ...KEYS, keys: ['Ctrl C'] });
    expect(shown('ours:a')).toEqual(['Ctrl C']);
  });

  it("should leave others' keys, and those for certain arguments, alone", () => {
    commands.addKeyBinding({ ...KEYS, command: 'lab:a' });
    commands.addKeyBinding({ ...KEYS, args: { area: 'left' } });
    showKeysInPalette(commands, id => id.startsWith('ours:'));
    expect([...shown('lab:a'), ...shown('ours:a')]).toEqual([]);
  });

  it('should run the command once when its keys are pressed', async () => {
    const executed: unknown[] = [];
    commands.addKeyBinding(KEYS);
    showKeysInPalette(commands, id => id.startsWith('ours:'));
    commands.commandExecuted.connect((_, { args }) => executed.push(args));
    const element = document.body;
    const event = new KeyboardEvent('keydown', {
      keyCode: 65,
      key: 'a',
      ctrlKey: true,
      bubbles: true
    });
    element.addEventListener('keydown', e => commands.processKeydownEvent(e), {
      once: true
    });
    element.dispatchEvent(event);
    await Promise.resolve();
    expect(executed).toHaveLength(1);
    expect(executed).not.toContainEqual(
      expect.objectContaining({ isPalette: true })
    );
  });

  it('should take its own away', () => {
    commands.addKeyBinding(KEYS);
    showKeysInPalette(commands, id => id.startsWith('ours:')).dispose();
    expect(shown('ours:a')).toEqual([]);
    expect(commands.keyBindings).toHaveLength(1);
  });
});
