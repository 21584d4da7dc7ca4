import { DisposableDelegate } from '@lumino/disposable';

import { OpenedNotebook } from './openednotebook';

describe('the open notebooks', () => {
  let opened: OpenedNotebook;

  beforeEach(async () => {
    opened = await OpenedNotebook.open();
  });

  afterEach(() => opened.close());

  const write = (source: string) =>
    opened.model.sharedModel.getCell(0).setSource(source);
  const writeForAgent = (source: string) =>
    opened.notebooks.changeForAgent(opened.panel, () => write(source));
  const dirty = () => opened.notebooks.list()[0].dirty;

  it('are told with what the server needs to know', () => {
    expect(opened.notebooks.list()).toMatchObject([
      { path: opened.path, dirty: false, readOnly: false, collaborative: false }
    ]);
  });

  it('count changes, whoever makes them', () => {
    const before = opened.notebooks.revision(opened.panel);
    write('typed');
    const between = opened.notebooks.revision(opened.panel);
    writeForAgent('by the agent');
    expect(between).toBeGreaterThan(before);
    expect(opened.notebooks.revision(opened.panel)).toBeGreaterThan(between);
  });

  it('are not dirty by what the agent alone left unsaved', async () => {
    writeForAgent('by the agent');
    expect(opened.model.dirty).toBe(true);
    expect(dirty()).toBe(false);
    write('and typed');
    expect(dirty()).toBe(true);
    writeForAgent('by the agent again');
    expect(dirty()).toBe(true);
    await opened.context.save();
    expect(dirty()).toBe(false);
  });

  it('are not dirty by what their kernel writes into them', async () => {
    const { sharedModel } = opened.model;
    sharedModel.setMetadata('language_info', { name: 'python', version: '4' });
    expect(opened.model.dirty).toBe(true);
    expect(dirty()).toBe(false);
    sharedModel.setMetadata('author', 'Anna');
    expect(dirty()).toBe(true);
    await opened.context.save();
    sharedModel.setMetadata('kernelspec', { name: 'r', display_name: 'R' });
    expect(dirty()).toBe(false);
    write('typed');
    sharedModel.setMetadata('language_info', { name: 'R' });
    expect(dirty()).toBe(true);
  });

  it('are one for several views, also in what is unsaved', async () => {
    const other = opened.addView();
    await opened.settle();
    expect(opened.notebooks.list()).toHaveLength(1);
    writeForAgent('by the agent');
    expect(dirty()).toBe(false);
    expect(opened.notebooks.revision(other)).toBe(
      opened.notebooks.revision(opened.panel)
    );
  });

  it('say once what was renamed', async () => {
    const old = opened.path;
    await opened.context.rename('another.ipynb');
    await opened.settle();
    expect(opened.client.of('openNotebooks').at(-1)).toMatchObject({
      notebooks: [{ path: opened.path }],
      renamed: { [old]: opened.path }
    });
    expect(opened.path).not.toBe(old);
    expect(opened.notebooks.takeRenamed()).toEqual({});
    expect(opened.notebooks.find(old)).toBeNull();
    expect(opened.notebooks.find(opened.path)).toBe(opened.panel);
  });

  it('are told of no more when they are closed', async () => {
    opened.panel.dispose();
    await opened.settle();
    expect(opened.client.of('openNotebooks').at(-1)?.notebooks).toEqual([]);
  });

  it('have something done to each, those that open later too', async () => {
    const seen: string[] = [];
    opened.panel.id = 'one';
    const each = opened.notebooks.each(panel => {
      seen.push(`open ${panel.id}`);
      return new DisposableDelegate(() => seen.push(`close ${panel.id}`));
    });
    const other = opened.addView();
    other.id = 'two';
    await opened.settle();
    expect(seen).toEqual(['open one', 'open two']);
    other.dispose();
    expect(seen.slice(2)).toEqual(['close two']);
    each.dispose();
    expect(seen.slice(3)).toEqual(['close one']);
  });
});
