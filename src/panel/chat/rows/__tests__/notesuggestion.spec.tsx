import type { NoteSuggestion } from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows } from './shownrows';

describe('a suggested note', () => {
  let rows: ShownRows;
  let page: OpenedPanel;
  const suggestion: NoteSuggestion = { text: 'Use polars', scope: 'person' };
  const message = (noteSuggestion: NoteSuggestion) => ({
    ts: 2,
    type: 'say' as const,
    say: 'completion_result' as const,
    text: 'Plotted.',
    noteSuggestion
  });

  const field = () =>
    page.find('.jp-hdspAgent-note-suggestion textarea') as HTMLTextAreaElement;
  const write = (text: string) =>
    page.settle(() => {
      // React hears of what its own setter does not know.
      Object.getOwnPropertyDescriptor(
        HTMLTextAreaElement.prototype,
        'value'
      )?.set?.call(field(), text);
      field().dispatchEvent(new Event('input', { bubbles: true }));
    });

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  it('should be kept with one click, and say so', async () => {
    await rows.show(message(suggestion));
    expect(rows.row(2).textContent).toContain(
      'Remember this for all your conversations?'
    );
    await rows.click('Remember');
    expect(page.sent('decideNoteSuggestion')).toMatchObject([
      { taskId: 't', messageTs: 2, keep: true }
    ]);
    expect(page.sent('decideNoteSuggestion')[0]).not.toHaveProperty('text');
    await page.settle(() => page.answer('decideNoteSuggestion'));
    await rows.update(message({ ...suggestion, decision: 'kept' }));
    expect(rows.row(2).textContent).toContain('Remembered');
    expect(rows.row(2).textContent).not.toContain('Dismiss');
    await rows.click('Manage memory');
  });

  it('should be edited first', async () => {
    await rows.show(message(suggestion));
    await rows.click('Edit…');
    expect(field().value).toBe('Use polars');
    await write('  ');
    expect(page.button('Remember').getAttribute('aria-disabled')).toBe('true');
    await write('Use polars 1.x ');
    await rows.click('Remember');
    expect(page.sent('decideNoteSuggestion')).toMatchObject([
      { keep: true, text: 'Use polars 1.x' }
    ]);
  });

  it('should be put away, and then leave nothing', async () => {
    await rows.show(message(suggestion));
    await rows.click('Dismiss');
    expect(page.sent('decideNoteSuggestion')).toMatchObject([{ keep: false }]);
    await rows.update(message({ ...suggestion, decision: 'dismissed' }));
    expect(rows.row(2).textContent).not.toContain('Use polars');
  });

  it('should say why it could not be kept, and stay', async () => {
    await rows.show(message(suggestion));
    await rows.click('Remember');
    await page.settle(() =>
      page.answer('decideNoteSuggestion', {
        code: 'conflict',
        message: 'Memory is turned off.',
        params: {}
      })
    );
    expect(rows.row(2).querySelector('[role="alert"]')?.textContent).toContain(
      'Memory is turned off.'
    );
    expect(page.button('Remember').getAttribute('aria-disabled')).toBe('false');
  });

  it('should be the last one if the person wants no more', async () => {
    await rows.show(message(suggestion));
    const composer = document.createElement('textarea');
    composer.className = 'jp-hdspAgent-composer-field';
    page.node.append(composer);
    page.act(() => page.button('Stop suggesting notes').focus());
    await rows.click('Stop suggesting notes');
    expect(page.sent('updateSettings')).toMatchObject([
      { updatedSettings: { noteSuggestionsEnabled: false } }
    ]);
    await page.settle(() => page.answer('updateSettings'));
    expect(document.activeElement).toBe(composer);
  });

  it('should keep the focus when one does not want to change it after all', async () => {
    await rows.show(message(suggestion));
    await rows.click('Edit…');
    page.act(() => page.button('Cancel').focus());
    await rows.click('Cancel');
    expect(document.activeElement).toBe(page.button('Edit…'));
    await rows.click('Edit…');
    expect(document.activeElement).toBe(field());
    await page.settle(() =>
      field().dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
      )
    );
    expect(document.activeElement).toBe(page.button('Edit…'));
  });

  it('should say for whom it would be remembered', async () => {
    await rows.show(message({ ...suggestion, scope: 'workspace' }));
    expect(rows.row(2).textContent).toContain('works in this folder');
    await rows.update(message({ ...suggestion, scope: 'notebook' }));
    expect(rows.row(2).textContent).toContain('opens this notebook');
  });
});
