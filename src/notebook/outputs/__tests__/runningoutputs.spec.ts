import { CodeCellModel } from '@jupyterlab/cells';

import type { ChangeOutputsMessage } from '../../../generated/wire';
import { RunningOutputs } from '../runningoutputs';

describe('outputs of a running cell', () => {
  let model: CodeCellModel;
  let outputs: RunningOutputs;

  beforeEach(() => {
    model = new CodeCellModel();
    outputs = new RunningOutputs();
  });

  afterEach(() => model.dispose());

  const change = (
    base: number,
    version: number,
    changes: ChangeOutputsMessage['changes'],
    others: Partial<ChangeOutputsMessage> = {}
  ) =>
    outputs.apply(model, {
      type: 'changeOutputs',
      path: 'a.ipynb',
      cellId: model.id,
      runId: 'run',
      base,
      version,
      changes,
      state: 'running',
      ...others
    });

  const put = (index: number, text: string, name = 'stdout') => ({
    change: 'put' as const,
    index,
    output: { output_type: 'stream', name, text }
  });

  const extend = (index: number, keep: number, text: string) => ({
    change: 'extend' as const,
    index,
    keep,
    text
  });

  const texts = () => model.outputs.toJSON().map(output => output.text);

  it('begin with none, whatever was there', () => {
    model.outputs.add({ output_type: 'stream', name: 'stdout', text: 'old' });
    model.executionCount = 3;
    expect(change(0, 1, [])).toBe(true);
    expect(texts()).toEqual([]);
    expect(model.executionCount).toBeNull();
  });

  it('are put, extended and cut', () => {
    change(0, 1, [put(0, 'one')]);
    change(1, 2, [extend(0, 3, ' two')]);
    expect(texts()).toEqual(['one two']);
    change(2, 3, [extend(0, 4, '2'), put(1, 'more', 'stderr')]);
    expect(texts()).toEqual(['one 2', 'more']);
    change(3, 4, [{ change: 'truncate', count: 1 }]);
    expect(model.outputs.length).toBe(1);
    change(4, 5, [put(0, 'another')]);
    expect(texts()).toEqual(['another']);
  });

  it('count characters as the server does', () => {
    change(0, 1, [put(0, '😀 é 10%')]);
    change(1, 2, [extend(0, 4, '20%')]);
    expect(texts()).toEqual(['😀 é 20%']);
  });

  it('go back for a carriage return', () => {
    change(0, 1, [put(0, '10%')]);
    change(1, 2, [extend(0, 0, '100%')]);
    expect(texts()).toEqual(['100%']);
  });

  it('ignore what does not go on from what is shown', () => {
    change(0, 1, [put(0, 'one')]);
    expect(change(2, 3, [extend(0, 3, ' lost')])).toBe(false);
    expect(change(1, 2, [extend(0, 3, '!')], { runId: 'other' })).toBe(false);
    expect(texts()).toEqual(['one']);
    expect(change(0, 3, [put(0, 'all')])).toBe(true);
    expect(texts()).toEqual(['all']);
  });

  it('know of nothing after they were cleared', () => {
    change(0, 1, [put(0, 'one')]);
    outputs.clear();
    expect(change(1, 2, [extend(0, 3, '!')])).toBe(false);
  });

  it('show the star until the end, and then the count', () => {
    change(0, 1, [], { executionCount: 7 });
    expect(model.executionState).toBe('running');
    expect(model.executionCount).toBeNull();
    change(1, 2, [], { state: 'ok', executionCount: 7 });
    expect(model.executionState).toBe('idle');
    expect(model.executionCount).toBe(7);
  });
});
