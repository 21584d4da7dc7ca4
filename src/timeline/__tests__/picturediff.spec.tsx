import type { CheckpointDiff, FileDiff } from '../../generated/rest';
import { refusal } from '../../panel/history/__tests__/restserver';
import { OpenedTimeline, operation } from './openedtimeline';

/**
 * A red and a green picture of one pixel, in base64.
 */
const RED =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const GREEN =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/**
 * A file, as a page has it: the blobs of Node, which play the network here, are
 * none to it.
 */
function fileOf(base64: string): Response {
  const bytes = Uint8Array.from(atob(base64), each => each.charCodeAt(0));
  return Object.assign(new Response(), {
    blob: () => Promise.resolve(new Blob([bytes]))
  });
}

describe('an image that differs', () => {
  const { createObjectURL, revokeObjectURL } = URL;
  let opened: OpenedTimeline;
  let made: Map<string, Blob>;
  let count: number;
  let stored: Map<string, string>;

  beforeEach(() => {
    made = new Map();
    count = 0;
    // A page without a browser behind it makes no addresses.
    URL.createObjectURL = blob => {
      const url = `blob:${count++}`;
      made.set(url, blob as Blob);
      return url;
    };
    URL.revokeObjectURL = url => made.delete(url);
    stored = new Map([
      ['m-0', RED],
      ['m-1', GREEN]
    ]);
    opened = new OpenedTimeline();
    for (const id of ['m-0', 'm-1', 'm-2']) {
      opened.rest.answers.set(`GET checkpoints/${id}/file`, ({ query }) => {
        const file = stored.get(id);
        return query.file === 'dir/plot.png' && file !== undefined
          ? fileOf(file)
          : refusal('not_found', 'It is not in this checkpoint.', 404);
      });
    }
  });

  afterEach(() => {
    opened.dispose();
    Object.assign(URL, { createObjectURL, revokeObjectURL });
  });

  const sides = () => [
    ...opened.node.querySelectorAll('.jp-hdspAgent-timeline-sides figure')
  ];
  const shown = () =>
    Promise.all(
      sides().map(async side => {
        const image = side.querySelector('img');
        const blob = made.get(image?.src ?? '');
        return [
          side.querySelector('figcaption')?.textContent,
          image?.alt,
          blob && (await contentOf(blob))
        ];
      })
    );
  /**
   * Its type and what is in it, as an address that says all of it.
   */
  const contentOf = (blob: Blob): Promise<unknown> =>
    new Promise(resolve => {
      const reader = new FileReader();
      reader.onloadend = () => resolve(reader.result);
      reader.readAsDataURL(blob);
    });
  const png = (base64: string) => `data:image/png;base64,${base64}`;
  const compareWith = async (what: string) => {
    const select = opened.node.querySelector<HTMLSelectElement>(
      'select[aria-label^="Compare with"]'
    ) as HTMLSelectElement;
    await opened.settle(() => {
      select.value = what;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await opened.settle();
  };
  const before = ['Before: 70 bytes', 'Before: dir/plot.png', png(RED)];
  const after = ['After: 70 bytes', 'After: dir/plot.png', png(GREEN)];

  const show = async (
    file: Partial<FileDiff>,
    others: Partial<CheckpointDiff> = {}
  ) => {
    const diff = {
      old: 'm-0',
      new: 'm-1',
      files: [
        {
          path: 'dir/plot.png',
          change: 'modified',
          kind: 'image',
          mimeType: 'image/png',
          tooLarge: false,
          hunks: [],
          oldSize: 70,
          newSize: 70,
          ...file
        }
      ],
      ...others
    };
    opened.rest.answers.set('GET checkpoints/m-1/diff', ({ query }) => ({
      ...diff,
      ...(query.against === 'now' ? { old: 'm-1', new: 'm-2' } : {})
    }));
    await opened.show([operation('1')]);
    await opened.settle(() => opened.openers[0].click());
    await opened.settle();
  };

  it('is shown as it was and as it became', async () => {
    await show({});
    expect(await shown()).toEqual([before, after]);
  });

  it('is shown as it became where it is new', async () => {
    await show({ change: 'added', oldSize: undefined });
    expect(await shown()).toEqual([after]);
    expect(opened.rest.of('GET checkpoints/m-0/file')).toEqual([]);
  });

  it('is shown as it was where it is gone', async () => {
    await show({ change: 'removed', newSize: undefined });
    expect(await shown()).toEqual([before]);
    expect(opened.rest.of('GET checkpoints/m-1/file')).toEqual([]);
  });

  it('has nothing before it in the first checkpoint', async () => {
    await show({}, { old: null });
    expect(await shown()).toEqual([after]);
  });

  it('says of a side why it cannot be had, and shows the other', async () => {
    stored.delete('m-0');
    await show({});
    expect(await shown()).toEqual([
      ['Before: 70 bytes', undefined, undefined],
      after
    ]);
    expect(sides()[0].querySelector('[role="alert"]')?.textContent).toContain(
      'It is not in this checkpoint.'
    );
    expect(sides()[1].querySelector('[role="alert"]')).toBeNull();
  });

  it('has its name where the browser cannot draw what is in it', async () => {
    const damaged = RED.slice(0, 28);
    stored.set('m-0', damaged);
    await show({ oldSize: 21 });
    expect(await shown()).toEqual([
      ['Before: 21 bytes', 'Before: dir/plot.png', png(damaged)],
      after
    ]);
  });

  it('is not fetched where it is too large', async () => {
    await show({ newSize: 20 * 1024 * 1024 + 1 });
    expect(await shown()).toEqual([
      before,
      ['After: 20 MB', undefined, undefined]
    ]);
    expect(sides()[1].textContent).toContain('It is too large to show here.');
    expect(opened.rest.of('GET checkpoints/m-1/file')).toEqual([]);
  });

  it('is never shown beside what it is compared with no more', async () => {
    await show({});
    await compareWith('now');
    // Of the newer one the server has nothing.
    expect(await shown()).toEqual([
      ['Before: 70 bytes', 'Before: dir/plot.png', png(GREEN)],
      ['After: 70 bytes', undefined, undefined]
    ]);
    expect(sides()[1].querySelector('[role="alert"]')).not.toBeNull();
    await compareWith('previous');
    expect(await shown()).toEqual([before, after]);
    expect(opened.node.querySelector('[role="alert"]')).toBeNull();
  });

  it('takes no memory when it is folded up', async () => {
    await show({});
    expect(made.size).toBe(2);
    await opened.settle(() =>
      opened.node
        .querySelector<HTMLElement>('.jp-hdspAgent-timeline-file button')
        ?.click()
    );
    expect(sides()).toEqual([]);
    expect(made.size).toBe(0);
  });
});
