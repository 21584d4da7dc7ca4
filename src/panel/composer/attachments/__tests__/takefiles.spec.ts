import { MimeData } from '@lumino/coreutils';

import { attachment } from '../../__tests__/drafts';
import { READY, WrittenPanel } from '../../__tests__/openedcomposer';

describe('files that go along', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
    page.begin(READY);
    // Files are read in their own time.
    jest.useRealTimers();
  });

  afterEach(() => {
    jest.useFakeTimers();
    page.dispose();
  });

  const draft = () => page.panel.services.state.draft(null);
  const file = (name: string, content: BlobPart, type = '') =>
    new File([content], name, { type });

  /** Dispatch an event with these properties, and wait for what it does. */
  async function happen(type: string, properties: object): Promise<Event> {
    const event = new Event(type, { bubbles: true, cancelable: true });
    Object.assign(event, properties);
    await page.during(async () => {
      page.field.dispatchEvent(event);
      // In small steps: a file is read in several.
      for (let step = 0; step < 20; step++) {
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    });
    return event;
  }
  const paste = (files: File[], types = ['Files'], text = '') =>
    happen('paste', { clipboardData: { files, types, getData: () => text } });
  const drop = (...files: File[]) =>
    happen('drop', {
      dataTransfer: { files, types: ['Files'], getData: () => '' }
    });

  it('should be pasted pictures', async () => {
    const event = await paste([file('a.png', 'x', 'image/png')]);
    expect(event.defaultPrevented).toBe(true);
    expect(draft().images).toEqual(['data:image/png;base64,eA==']);
  });

  it('should not be the picture that comes with pasted text', async () => {
    const event = await paste(
      [file('a.png', 'x', 'image/png')],
      ['text/plain', 'Files']
    );
    expect(event.defaultPrevented).toBe(false);
    expect(draft().images).toEqual([]);
  });

  it('should be a pasted text that is too long to be read in the field', async () => {
    const long = 'x'.repeat(20_001);
    const event = await paste([], ['text/plain'], long);
    expect(event.defaultPrevented).toBe(true);
    const [attached] = draft().attachments;
    expect([attached?.label, attached?.content]).toEqual([
      'Pasted text.txt',
      long
    ]);
  });

  it('should be dropped text files', async () => {
    await drop(file('a.csv', 'a,b\n1,é', 'text/csv'));
    expect(draft().attachments).toEqual([
      attachment(
        { kind: 'file', path: 'a.csv', cellId: null, content: 'a,b\n1,é' },
        'a.csv'
      )
    ]);
  });

  it.each([
    [file('a.svg', '<svg/>', 'image/svg+xml'), 'PNG, JPEG, WebP or GIF'],
    [file('a.bin', new Uint8Array([0xff, 0xfe])), 'neither text nor an image'],
    [file('b.bin', 'a\0b'), 'neither text nor an image'],
    [file('a.csv', 'x'.repeat(200_001)), 'larger than 200 kB']
  ])('should not be %s, and it should say why', async (refused, why) => {
    await drop(refused, file('good.txt', 'good'));
    expect(draft().attachments.map(({ path }) => path)).toEqual(['good.txt']);
    expect(page.trouble).toContain(refused.name);
    expect(page.trouble).toContain(why);
  });

  it('should be twenty pictures at most', async () => {
    const pictures = Array.from({ length: 21 }, (_, index) =>
      file('a.png', String(index), 'image/png')
    );
    await paste(pictures);
    expect(draft().images).toHaveLength(20);
    expect(page.trouble).toContain('at most 20');
  });

  it('should be as many pictures as the server takes at once', async () => {
    const pictures = ['a', 'b', 'c'].map(name =>
      file(`${name}.png`, name.repeat(300_000), 'image/png')
    );
    await paste(pictures);
    expect(draft().images).toHaveLength(2);
    expect(page.trouble).toContain('too large for one message');
  });

  it('should be named when they come from the file browser', async () => {
    const mimeData = new MimeData();
    mimeData.setData('application/x-jupyter-icontents', [
      'data/my file.csv',
      'b.py'
    ]);
    const drag = { mimeData, supportedActions: 'move', dropAction: 'none' };
    const over = await happen('lm-dragover', drag);
    expect(over).toMatchObject({ defaultPrevented: true, dropAction: 'move' });
    await happen('lm-drop', drag);
    expect(draft().text).toBe('@/data/my\\ file.csv @/b.py ');
  });
});
