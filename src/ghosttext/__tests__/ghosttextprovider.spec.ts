import type { Extension } from '@codemirror/state';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { CompletionHandler } from '@jupyterlab/completer';
import { Text } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import type { GhostTextAsked } from '../../generated/rest';
import type { AgentStore } from '../../state/store';
import { GhostTextProvider } from '../ghosttextprovider';

const INVOKED = 0;
const AUTOMATIC = 1;

/**
 * A request with what was given for it.
 */
class SentRequest {
  constructor(
    readonly url: string,
    readonly init: RequestInit
  ) {}

  readonly headers = new Headers();
}

describe('GhostTextProvider', () => {
  let provider: GhostTextProvider;
  let asked: GhostTextAsked[];
  let signals: AbortSignal[];
  let answer: () => Promise<Response>;
  let isOn: boolean;
  let widget: Widget;
  let editor: EditorView;

  const suggests = (...suggestions: string[]) =>
    Promise.resolve(
      new Response(JSON.stringify({ suggestions }), { status: 200 })
    );

  beforeEach(() => {
    jest.useFakeTimers();
    asked = [];
    signals = [];
    isOn = true;
    answer = () => suggests('csv("a.csv")');
    widget = new Widget();
    document.body.append(widget.node);
    open();
    jest.spyOn(document, 'hasFocus').mockReturnValue(true);
    const store = {
      get state() {
        return { settings: { ghostTextEnabled: isOn } };
      }
    } as unknown as AgentStore;
    provider = new GhostTextProvider({
      store,
      trans: nullTranslator.load(''),
      serverSettings: ServerConnection.makeSettings({
        // Node's own takes no signals of jsdom.
        Request: SentRequest as unknown as typeof Request,
        fetch: request => {
          const { signal, body } = (request as unknown as SentRequest).init;
          signals.push(signal as AbortSignal);
          asked.push(JSON.parse(body as string) as GhostTextAsked);
          return answer();
        }
      })
    });
  });

  afterEach(() => {
    editor.destroy();
    widget.node.remove();
    widget.dispose();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  function open(extensions: Extension = []): void {
    editor = new EditorView({ parent: widget.node, extensions });
    editor.contentDOM.focus();
  }

  function fetch(
    before: string,
    triggerKind = AUTOMATIC,
    after = ''
  ): Promise<string[]> {
    const request: CompletionHandler.IRequest = {
      text: before + after,
      offset: Text.jsIndexToCharIndex(before.length, before + after),
      mimeType: 'text/x-python'
    };
    const found = provider.fetch(request, { widget, triggerKind });
    return found.then(({ items }) => items.map(item => item.insertText));
  }

  async function typed(before: string, after = ''): Promise<string[]> {
    const found = fetch(before, AUTOMATIC, after);
    await jest.advanceTimersByTimeAsync(200);
    return found;
  }

  it('should ask for what may come where nothing is typed for a moment', async () => {
    expect(await typed('pd.read_', ')')).toEqual(['csv("a.csv")']);
    expect(asked).toEqual([
      {
        before: 'pd.read_',
        after: ')',
        kind: 'code',
        language: 'python',
        count: 1
      }
    ]);
    expect(provider.items).toEqual([{ insertText: 'csv("a.csv")' }]);
  });

  it('should go on from what was run in a console', async () => {
    const ran = (type: string, source: string) => ({
      model: { type, sharedModel: { getSource: () => source } }
    });
    const cells = [ran('raw', 'Python 3'), ran('code', 'town = "Ulm"')];
    Object.assign(widget, { console: { cells } });
    await typed('town.');
    expect(asked[0]).toMatchObject({
      before: 'town.',
      cells: [{ kind: 'code', source: 'town = "Ulm"' }]
    });
  });

  it('should ask nothing while it is off', async () => {
    isOn = false;
    expect(await typed('pd.')).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('should ask nothing where somebody else writes', async () => {
    const field = document.createElement('textarea');
    widget.node.append(field);
    field.focus();
    expect(await typed('pd.')).toEqual([]);
    editor.contentDOM.focus();
    jest.spyOn(document, 'hasFocus').mockReturnValue(false);
    expect(await typed('pd.')).toEqual([]);
    expect(asked).toEqual([]);
    expect(await fetch('pd.', INVOKED)).toHaveLength(1);
  });

  it('should suggest nothing where nobody may write', async () => {
    editor.destroy();
    open(EditorState.readOnly.of(true));
    expect(await fetch('pd.', INVOKED)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('should wait until an input method has put its syllable together', async () => {
    const composing = jest.spyOn(editor, 'composing', 'get');
    composing.mockReturnValue(true);
    const half = fetch('# ㅎ');
    const whole = fetch('# 한');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await half).toEqual([]);
    expect(asked).toEqual([]);
    composing.mockReturnValue(false);
    editor.contentDOM.dispatchEvent(new CompositionEvent('compositionend'));
    await jest.advanceTimersByTimeAsync(200);
    expect(await whole).toHaveLength(1);
    expect(asked.map(({ before }) => before)).toEqual(['# 한']);
  });

  it('should know its place behind an emoji', async () => {
    await typed('print("🚀🎉")\ndf = pd.', ')');
    expect(asked[0]).toMatchObject({
      before: 'print("🚀🎉")\ndf = pd.',
      after: ')'
    });
  });

  it('should keep no answer that was none', async () => {
    answer = () => suggests();
    await typed('x = ');
    answer = () => suggests('1');
    expect(await typed('x = ')).toEqual(['1']);
  });

  it('should ask once for who types on at once', async () => {
    const first = fetch('p');
    const second = fetch('pd');
    await jest.advanceTimersByTimeAsync(200);
    expect(await first).toEqual([]);
    expect(await second).toEqual(['csv("a.csv")']);
    expect(asked).toHaveLength(1);
  });

  it('should wait no more for what came too late', async () => {
    let arrive: (response: Response) => void = () => undefined;
    answer = () => new Promise(resolve => (arrive = resolve));
    const first = fetch('p');
    await jest.advanceTimersByTimeAsync(200);
    expect(signals[0].aborted).toBe(false);
    answer = () => suggests('new');
    const second = typed('pd');
    expect(signals[0].aborted).toBe(true);
    arrive(await suggests('old'));
    expect(await second).toEqual(['new']);
    expect(await first).toEqual([]);
  });

  it('should not ask again while its suggestion is typed', async () => {
    await typed('pd.read_');
    expect(await typed('pd.read_csv(')).toEqual(['"a.csv")']);
    expect(await typed('pd.read_')).toEqual(['csv("a.csv")']);
    expect(asked).toHaveLength(1);
    expect(await typed('pd.read_e')).toEqual(['csv("a.csv")']);
    expect(asked).toHaveLength(2);
  });

  it('should offer several to who asks with a key', async () => {
    answer = () => suggests('a', 'b');
    await typed('x = ');
    expect(await fetch('x = ', INVOKED)).toEqual(['a', 'b']);
    expect(asked.map(({ count }) => count)).toEqual([1, 3]);
    // What is known is shown at once.
    expect(await fetch('x = ', INVOKED)).toEqual(['a', 'b']);
    expect(asked).toHaveLength(2);
  });

  it('should tell why there is nothing, until there is something', async () => {
    const changed = jest.fn();
    provider.changed.connect(changed);
    answer = () =>
      Promise.resolve(
        new Response(
          JSON.stringify({ code: 'ghost_text_no_model', message: 'none' }),
          { status: 409 }
        )
      );
    expect(await typed('a')).toEqual([]);
    expect(provider.problem?.code).toBe('ghost_text_no_model');
    answer = () => suggests('c');
    expect(await typed('ab')).toEqual([]);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await typed('ab')).toEqual(['c']);
    expect(provider.problem).toBeNull();
    expect(changed).toHaveBeenCalledTimes(2);
  });
});
