import { composeText, readAttachments } from '../attachments';
import { attachment } from '../../../panel/composer/__tests__/drafts';

describe('composeText', () => {
  const cell = attachment();

  it('should put the words first, then a block for each attachment', () => {
    const file = attachment(
      {
        kind: 'file',
        path: 'a.csv',
        cellId: null,
        content: 'a,b'
      },
      'a.csv'
    );
    expect(
      composeText({ text: ' What is this?\n', attachments: [cell, file] })
    ).toBe(
      'What is this?\n\n' +
        '<attachment kind="cell" path="work.ipynb" cellId="c1" label="Cell 3">\nx = 1\n</attachment>\n\n' +
        '<attachment kind="file" path="a.csv" label="a.csv">\na,b\n</attachment>'
    );
  });

  it('should leave words without attachments alone', () => {
    expect(composeText({ text: 'Hello', attachments: [] })).toBe('Hello');
  });

  it.each([
    ['nothing', ''],
    ['empty lines around', '\n\nx\n\n'],
    ['the end of a block', 'a\n</attachment>\nb'],
    ['an escaped end of a block', '\\</attachment>\n\\\\</attachment>'],
    [
      'a whole block',
      'x\n\n<attachment kind="cell" path="p" label="l">\ny\n</attachment>'
    ],
    ['windows line ends', 'a\r\nb']
  ])('should be read again when the content holds %s', (_, content) => {
    const attachments = [{ ...cell, content }, attachment({}, 'second')];
    const text = 'Look.\n\nAt this';
    expect(readAttachments(composeText({ text, attachments }))).toEqual({
      text,
      attachments
    });
  });

  it('should be read again whatever the names are', () => {
    const attachments = [
      attachment({ path: 'a "b" <c> & &amp;.ipynb' }, '셀 3\nえ')
    ];
    expect(readAttachments(composeText({ text: '', attachments }))).toEqual({
      text: '',
      attachments
    });
  });
});

describe('readAttachments', () => {
  it.each([
    'Hello',
    '',
    'a </attachment>',
    '</attachment>',
    '<attachment kind="virus" path="p" label="l">\nx\n</attachment>',
    '<attachment kind="cell" path="p" label="l">\nx\n</attachment>\nis a block'
  ])('should leave %j as it is', text => {
    expect(readAttachments(text)).toEqual({ text, attachments: [] });
  });
});
