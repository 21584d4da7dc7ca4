import { OpenedNotebook } from '../../../notebook/__tests__/openednotebook';
import { obstacleOf, useInCell } from '../markdown/codetocell';

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
    await useInCell('insert', notebook.panel, 'x = 1', 'python');
    expect(notebook.sources).toEqual(['a = 1', 'x = 1', 'b = 2']);
    expect(notebook.panel.content.activeCellIndex).toBe(1);
    expect(notebook.panel.content.activeCell?.model.type).toBe('code');
  });

  it('should be put into a Markdown cell when it is Markdown', async () => {
    await useInCell('insert', notebook.panel, '# Title', 'markdown');
    expect(notebook.panel.content.activeCell?.model.type).toBe('markdown');
  });

  it('should take the place of the active cell, which can be undone', async () => {
    await useInCell('replace', notebook.panel, 'x = 1', 'python');
    expect(notebook.sources).toEqual(['x = 1', 'b = 2']);
    expect(notebook.panel.content.activeCell?.model.sharedModel.canUndo()).toBe(
      true
    );
  });

  it('should not be put where it cannot be', () => {
    expect(obstacleOf('insert', null)).toBe('no-notebook');
    expect(obstacleOf('insert', notebook.panel)).toBeNull();
    notebook.panel.content.activeCell?.model.setMetadata('editable', false);
    expect(obstacleOf('replace', notebook.panel)).toBe('read-only');
    expect(obstacleOf('insert', notebook.panel)).toBeNull();
  });
});
