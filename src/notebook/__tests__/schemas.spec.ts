import { CommandIDs } from '../../ui/commandids';

/**
 * What of a schema names commands.
 */
interface ISchema {
  readonly 'jupyter.lab.shortcuts'?: readonly IItem[];
  readonly 'jupyter.lab.toolbars'?: Readonly<Record<string, readonly IItem[]>>;
  readonly 'jupyter.lab.menus'?: { readonly context?: readonly IItem[] };
}

interface IItem {
  readonly command?: string;
  readonly keys?: readonly string[];
  readonly selector?: string;
}

const schemas = [
  'cells',
  'commands',
  'documents',
  'follow',
  'ghost-text',
  'review',
  'time-line',
  'variables',
  'verify'
].map(name =>
  jest.requireActual<ISchema>(`../../../labextension/schema/${name}.json`)
);

describe('the schemas of the plugins', () => {
  it('name commands that there are', () => {
    const ids = new Set<string>(Object.values(CommandIDs));
    const named = schemas.flatMap(schema => [
      ...(schema['jupyter.lab.shortcuts'] ?? []),
      ...Object.values(schema['jupyter.lab.toolbars'] ?? {}).flat(),
      ...(schema['jupyter.lab.menus']?.context ?? [])
    ]);
    const commands = named.flatMap(({ command }) => command ?? []);
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter(command => !ids.has(command))).toEqual([]);
  });

  it('give each command keys of its own in its place', () => {
    // Ctrl+Alt+Enter accepts in the panel as in a notebook.
    const keys = schemas
      .flatMap(schema => schema['jupyter.lab.shortcuts'] ?? [])
      .map(({ keys, selector }) => `${keys?.join(' ')} in ${selector}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
