import { OpenedNotebook } from '../../../notebook/__tests__/openednotebook';
import { obstacleTo, insertCode } from '../codetocell';

describe('code of the conversation in a notebook', () => {
  let notebook: OpenedNotebook;

  beforeEach(async () => {
    notebook = await OpenedNotebook.open(['a = 1', 'b = 2']);
    notebook.panel.content.activeCellIndex = 0;
  });

  afterEach(() => {
    notebook.close();
  });

  it('should be put into a new cell below the active one', async () => {
    await insertCode('insert', notebook.panel, 'x = 1', 'python');
    expect(notebook.sources).toEqual(['a = 1', 'x = 1', 'b = 2']);
    expect(notebook.panel.content.activeCellIndex).toBe(1);
    expect(notebook.panel.content.activeCell?.model.type).toBe('code');
  });

  it('should be put into a Markdown cell when it is Markdown', async () => {
    await insertCode('insert', notebook.panel, '# Title', 'markdown');
    expect(notebook.panel.content.activeCell?.model.type).toBe('markdown');
  });

  it('should take the place of the active cell, which can be undone', async () => {
    await insertCode('replace', notebook.panel, 'x = 1', 'python');
    expect(notebook.sources).toEqual(['x = 1', 'b = 2']);
    expect(notebook.panel.content.activeCell?.model.sharedModel.canUndo()).toBe(
      true
    );
  });

  it('should not be put where it cannot be', () => {
    expect(obstacleTo('insert', null)).toBe('no-notebook');
    expect(obstacleTo('insert', notebook.panel)).toBeNull();
    notebook.panel.content.activeCell?.model.setMetadata('editable', false);
    expect(obstacleTo('replace', notebook.panel)).toBe('read-only');
    expect(obstacleTo('insert', notebook.panel)).toBeNull();
  });
});
