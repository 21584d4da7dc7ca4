import { nullTranslator } from '@jupyterlab/translation';

import { ViewFollower } from '../viewfollower';
import { OpenedNotebook } from '../../__tests__/openednotebook';

describe('following the agent', () => {
  let opened: OpenedNotebook;
  let follower: ViewFollower;
  let now: number;
  let isOn: boolean;
  let inView: Set<number>;
  let scrolled: [number, ScrollIntoViewOptions][];

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['a', 'b', 'c', 'd']);
    opened.panel.content.activeCellIndex = 1;
    now = 100_000;
    isOn = true;
    inView = new Set([0]);
    scrolled = [];
    const box = (top: number) => ({ top, bottom: top + 50 }) as DOMRect;
    opened.panel.content.widgets.forEach(({ node }, place) => {
      node.getBoundingClientRect = () => box(inView.has(place) ? 0 : 900);
      node.scrollIntoView = options => {
        scrolled.push([place, options as ScrollIntoViewOptions]);
        inView = new Set([place]);
      };
    });
    opened.panel.content.outerNode.getBoundingClientRect = () => box(0);
    follower = new ViewFollower({
      agentNotebooks: opened.agentNotebooks,
      panel: opened.panel,
      trans: nullTranslator.load('hdsp_agent'),
      isOn: () => isOn,
      now: () => now
    });
  });

  afterEach(() => {
    follower.dispose();
    opened.close();
  });

  const run = (place: number) =>
    opened.client.receive({
      type: 'notebookWork',
      path: opened.path,
      cells: [
        { cellId: `cell-${place}`, state: 'running' },
        { cellId: 'cell-0', state: 'queued' }
      ]
    });
  const scrolledTo = () => scrolled.map(([place]) => place);
  const button = () =>
    opened.panel.node.querySelector<HTMLElement>('.jp-hdspAgent-follow');
  const doSomething = (kind: string) =>
    opened.panel.content.node.dispatchEvent(new Event(kind));

  it('brings the cell it runs into view', () => {
    run(2);
    expect(scrolledTo()).toEqual([2]);
    expect(scrolled[0][1]).toMatchObject({ block: 'center' });
  });

  it('brings the cell it changed into view, though it deleted the active one', async () => {
    opened.client.receive({
      type: 'applyNotebookOperations',
      opId: '1',
      path: opened.path,
      operations: [
        { op: 'replaceSource', cellId: 'cell-3', source: 'x' },
        { op: 'deleteCell', cellId: 'cell-1' }
      ],
      save: false,
      review: false
    });
    await opened.settle();
    expect(scrolledTo()).toEqual([3]);
  });

  it('leaves focus and selection with the person when a cell is not in the page yet', async () => {
    const { content } = opened.panel;
    const field = document.createElement('textarea');
    document.body.appendChild(field);
    field.focus();
    content.widgets[3].node.remove();
    const item = jest.spyOn(content, 'scrollToItem');
    run(3);
    await opened.settle();
    expect(item.mock.calls.map(([place]) => place)).toEqual([3]);
    expect(content.activeCellIndex).toBe(1);
    expect(content.isSelected(content.widgets[3])).toBe(false);
    expect(document.activeElement).toBe(field);
    field.remove();
  });

  it('leaves the view as it is where the cell can be seen', () => {
    run(0);
    expect(scrolledTo()).toEqual([]);
  });

  it('does not move for those who asked for no motion', () => {
    const before = window.matchMedia;
    window.matchMedia = query =>
      ({ matches: query.includes('reduce') }) as MediaQueryList;
    run(2);
    window.matchMedia = before;
    expect(scrolled[0][1].behavior).toBe('auto');
  });

  it('does nothing where it is switched off, or of another notebook', () => {
    isOn = false;
    run(2);
    isOn = true;
    opened.client.receive({
      type: 'notebookWork',
      path: 'elsewhere.ipynb',
      cells: [{ cellId: 'cell-2', state: 'running' }]
    });
    opened.panel.hide();
    run(3);
    expect(scrolledTo()).toEqual([]);
  });

  it.each(['wheel', 'touchmove', 'keydown', 'pointerdown'])(
    'yields to the person (%s), and stays with them',
    kind => {
      run(1);
      doSomething(kind);
      inView = new Set([0]);
      run(2);
      now += 60_000;
      run(3);
      expect(scrolledTo()).toEqual([1]);
      expect(follower.isFollowing).toBe(false);
      expect(button()?.hidden).toBe(false);
    }
  );

  it('yields when another cell is selected', () => {
    opened.panel.content.activeCellIndex = 2;
    run(3);
    expect(scrolledTo()).toEqual([]);
  });

  it('goes on when the person comes back to where the agent is', () => {
    doSomething('wheel');
    run(2);
    inView = new Set([2]);
    now += 60_000;
    run(3);
    expect(scrolledTo()).toEqual([3]);
    expect(follower.isFollowing).toBe(true);
    expect(button()?.hidden).toBe(true);
  });

  it('goes on when the person asks for it', () => {
    doSomething('wheel');
    run(2);
    button()?.click();
    expect(scrolledTo()).toEqual([2]);
    expect(button()?.hidden).toBe(true);
    run(3);
    expect(scrolledTo()).toEqual([2, 3]);
  });

  it('was long ago what the person did', () => {
    doSomething('keydown');
    now += 6_000;
    run(2);
    expect(scrolledTo()).toEqual([2]);
  });

  it('offers nothing any more when the agent is done', () => {
    doSomething('wheel');
    run(2);
    expect(button()?.hidden).toBe(false);
    opened.client.receive({
      type: 'notebookWork',
      path: opened.path,
      cells: []
    });
    expect(button()?.hidden).toBe(true);
  });

  it('leaves nothing behind', () => {
    const remove = jest.spyOn(opened.panel.content.node, 'removeEventListener');
    follower.dispose();
    expect(remove).toHaveBeenCalledTimes(4);
    expect(button()).toBeNull();
    run(2);
    expect(scrolledTo()).toEqual([]);
  });
});
