import type { Cell } from '@jupyterlab/cells';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { CellRow, isDrawn } from '../cellrow';

const ONE_LINE = '1 line added';

/** A cell of which nothing is in the page yet. */
class PlaceholderCell {
  readonly node = document.createElement('div');
  readonly inViewportChanged = new Signal<this, boolean>(this);
  readonly arrived = new PromiseDelegate<void>();
  readonly isPlaceholder = () => true;
  asked = 0;

  get ready(): Promise<void> {
    this.asked += 1;
    return this.arrived.promise;
  }
}

describe('CellRow', () => {
  it('should have no picture to read aloud while it counts nothing', () => {
    const row = new CellRow({ kind: 'failed', text: 'Failed', buttons: [] });
    const picture = () => row.node.querySelector('[role="img"]');
    expect(picture()).toBeNull();
    row.setCount({ text: '+1', title: ONE_LINE });
    expect(picture()?.getAttribute('aria-label')).toBe(ONE_LINE);
  });
});

describe('isDrawn', () => {
  it('should call back once when the cell is ready, however often it is asked', async () => {
    const cell = new PlaceholderCell();
    const receiver = {};
    const later = jest.fn();
    for (let time = 0; time < 3; time++) {
      expect(isDrawn(cell as unknown as Cell, later, receiver)).toBe(false);
    }
    expect(cell.asked).toBe(1);
    cell.arrived.resolve();
    await cell.arrived.promise;
    expect(later).toHaveBeenCalledTimes(1);
    // What was drawn may be taken out again.
    isDrawn(cell as unknown as Cell, later, receiver);
    isDrawn(cell as unknown as Cell, later, {});
    await cell.arrived.promise;
    expect(later).toHaveBeenCalledTimes(3);
  });
});
