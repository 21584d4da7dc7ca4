import { ask, waiting } from '../../../panel/asks/__tests__/openedask';
import { plainName } from '../visibletext';
import { OpenedPanel } from '../../../panel/__tests__/openedpanel';

declare const require: (path: './invisiblecharacters.json') => {
  ranges: number[][];
  cases: [string, string, string][];
};

// The tests of the program on the terminal read the same file.
const known = require('./invisiblecharacters.json');

describe('VisibleText', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const shown = (command: string) => {
    page.begin(waiting([ask(1, 'command', command)]));
    return page.find('.jp-hdspAgent-ask-preview')?.textContent;
  };

  it.each(known.cases)('should name %s', (_, command, wanted) => {
    expect(shown(command)).toBe(wanted);
  });
});

describe('plainName', () => {
  it('should be one line in which nothing hides', () => {
    expect(plainName('inno\u202Ecod.exe\n (notes) 🎉.py')).toBe(
      'inno⟨U+202E⟩cod.exe⟨U+000A⟩ (notes) 🎉.py'
    );
  });

  it('should name exactly the characters that the terminal names', () => {
    const found: number[][] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const name = String.fromCodePoint(code);
      if (code === 9 || code === 10 || plainName(name) === name) {
        continue;
      }
      const last = found[found.length - 1];
      if (last?.[1] === code - 1) {
        last[1] = code;
      } else {
        found.push([code, code]);
      }
    }
    expect(found).toEqual(known.ranges);
  });
});
