import { CodeCellModel } from '@jupyterlab/cells';

import { errorOf } from '../failedcells';

describe('errorOf()', () => {
  const error = {
    output_type: 'error' as const,
    ename: 'KeyError',
    evalue: 'tea',
    traceback: []
  };

  it('should be the error the outputs end in', () => {
    const model = new CodeCellModel();
    expect(errorOf(model)).toBeNull();
    model.outputs.add(error);
    expect(errorOf(model)).toMatchObject({ ename: 'KeyError' });
    model.dispose();
  });

  it('should be none of a cell that is gone', () => {
    const model = new CodeCellModel();
    model.outputs.add(error);
    model.dispose();
    expect(errorOf(model)).toBeNull();
  });
});
