import { NotebookTracker } from '@jupyterlab/notebook';

import { OpenNotebooks } from '../opennotebooks';
import { whenOpened } from '../whenopened';
import { OpenedNotebook } from './openednotebook';

describe('what is loaded when the first notebook is open', () => {
  let opened: OpenedNotebook;

  beforeEach(async () => {
    opened = await OpenedNotebook.open();
  });

  afterEach(() => opened.close());

  it('is not loaded before, and once', async () => {
    const tracker = new NotebookTracker({ namespace: 'other' });
    const { contents } = opened.services;
    const notebooks = new OpenNotebooks({ tracker, contents });
    const load = jest.fn(() => Promise.resolve());
    whenOpened(notebooks, load);
    await opened.settle();
    expect(load).not.toHaveBeenCalled();
    await tracker.add(opened.panel);
    await opened.settle();
    await tracker.add(opened.addView());
    await opened.settle();
    expect(load).toHaveBeenCalledTimes(1);
    notebooks.dispose();
    tracker.dispose();
  });

  it('is loaded at once where one is open already', () => {
    const load = jest.fn(() => Promise.resolve());
    whenOpened(opened.notebooks, load);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('may fail without harm, and says so', async () => {
    const error = jest.spyOn(console, 'error').mockImplementation();
    whenOpened(opened.notebooks, () => Promise.reject(new Error('gone')));
    await opened.settle();
    expect(error).toHaveBeenCalledTimes(1);
    error.mockRestore();
  });
});
