import { ask, waiting } from '../asks/__tests__/asked';
import { plainName } from '../unseen';
import { OpenedPanel } from './openedpanel';

describe('Unseen', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const shown = (command: string) => {
    page.begin(waiting([ask(1, 'command', command)]));
    return page.find('.jp-hdspAgent-ask-code')?.textContent;
  };

  it.each([
    ['a direction that is turned', 'echo \u202Efr- mr', 'echo ⟨U+202E⟩fr- mr'],
    ['a space of no width', 'r\u200Bm x', 'r⟨U+200B⟩m x'],
    ['a blank that is none to a shell', 'rm\u00A0x', 'rm⟨U+00A0⟩x'],
    ['a return to the line’s begin', 'rm x\recho', 'rm x⟨U+000D⟩echo'],
    ['an escape', 'echo \u001b[8m', 'echo ⟨U+001B⟩[8m']
  ])('should name %s', (_, command, wanted) => {
    expect(shown(command)).toBe(wanted);
  });

  it('should not let what follows be pushed out of sight', () => {
    expect(shown(`echo a${'\n'.repeat(200)}rm -r .`)).toBe(
      'echo a\n⟨199 empty lines⟩\nrm -r .'
    );
    expect(shown(`echo a${' '.repeat(3_000)}; rm`)).toBe(
      'echo a ⟨3,000 blanks⟩ ; rm'
    );
  });

  it('should leave what people write', () => {
    const command = 'python - <<E\n\n\tprint("한국어 日本語　👩‍💻 é")\nE';
    expect(shown(command)).toBe(command);
  });
});

describe('plainName', () => {
  it('should be one line in which nothing hides', () => {
    expect(plainName('inno\u202Ecod.exe\n (notes) 🎉.py')).toBe(
      'inno⟨U+202E⟩cod.exe⟨U+000A⟩ (notes) 🎉.py'
    );
  });
});
