import { StateDB } from '@jupyterlab/statedb';
import { MessageLoop } from '@lumino/messaging';
import { Panel, SplitPanel, Widget } from '@lumino/widgets';

import { widenOnce } from '../firstwidth';

describe('widenOnce', () => {
  let memory: StateDB;
  let split: SplitPanel;
  let panel: Widget;

  /** A page this wide, with the panel in a side bar that has a share of it. */
  const begin = (page: number, share: number) => {
    split = new SplitPanel();
    const stack = new Panel();
    panel = new Widget();
    stack.addWidget(panel);
    split.addWidget(stack);
    split.addWidget(new Widget());
    split.addWidget(new Widget());
    Object.defineProperty(split.node, 'clientWidth', { value: page });
    // What is not on a page is not laid out, and keeps the sizes it is given.
    split.setRelativeSizes([share, 0.9 - share, 0.1]);
    widenOnce(panel, memory);
  };
  const open = async () => {
    MessageLoop.sendMessage(panel, Widget.Msg.AfterShow);
    await new Promise(resolve => setTimeout(resolve));
  };
  const shares = () =>
    split.relativeSizes().map(share => Math.round(share * 1000) / 1000);

  beforeEach(() => {
    memory = new StateDB();
  });

  afterEach(() => {
    split.dispose();
  });

  it('should take what is missing from the widest, when it is opened', async () => {
    begin(2000, 0.1);
    expect(shares()).toEqual([0.1, 0.8, 0.1]);
    await open();
    expect(shares()).toEqual([0.19, 0.71, 0.1]);
  });

  it('should not wait for a panel that is open already', async () => {
    begin(2000, 0.1);
    jest.spyOn(panel, 'isVisible', 'get').mockReturnValue(true);
    widenOnce(panel, new StateDB());
    await new Promise(resolve => setTimeout(resolve));
    expect(shares()).toEqual([0.19, 0.71, 0.1]);
  });

  it('should leave alone what the person did since, and in other visits', async () => {
    begin(2000, 0.1);
    await open();
    split.setRelativeSizes([0.1, 0.8, 0.1]);
    await open();
    expect(shares()).toEqual([0.1, 0.8, 0.1]);
    split.dispose();
    begin(2000, 0.1);
    await open();
    expect(shares()).toEqual([0.1, 0.8, 0.1]);
  });

  it('should leave alone what is wide already', async () => {
    begin(2000, 0.3);
    await open();
    expect(shares()).toEqual([0.3, 0.6, 0.1]);
  });

  it('should leave a small page alone', async () => {
    begin(999, 0.2);
    await open();
    expect(shares()).toEqual([0.2, 0.7, 0.1]);
  });

  it('should leave alone what is the widest itself', async () => {
    begin(1000, 0.35);
    split.setRelativeSizes([0.35, 0.33, 0.32]);
    await open();
    expect(shares()).toEqual([0.35, 0.33, 0.32]);
  });

  it('should do nothing outside a side bar', async () => {
    begin(2000, 0.1);
    panel.parent = null;
    await open();
    expect(shares()).toEqual([0.1, 0.8, 0.1]);
  });
});
