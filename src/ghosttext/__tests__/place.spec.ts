import { NotebookActions } from '@jupyterlab/notebook';

import { OpenedNotebook } from '../../notebook/__tests__/openednotebook';
import { placeIn } from '../place';

describe('placeIn', () => {
  it('should know the cells above, and none of a raw cell', async () => {
    const opened = await OpenedNotebook.open(['a = 1', 'b = ']);
    const { content } = opened.panel;
    content.activeCellIndex = 1;
    const place = () =>
      placeIn(
        { text: 'b = ', offset: 4, mimeType: 'text/x-python' },
        { widget: opened.panel }
      );
    expect(place()).toMatchObject({
      before: 'b = ',
      kind: 'code',
      cells: [{ kind: 'code', source: 'a = 1' }]
    });
    NotebookActions.changeCellType(content, 'raw');
    expect(place()).toBeNull();
    opened.close();
  });
});
