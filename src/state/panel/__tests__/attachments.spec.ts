import { alongWith, readAttachments, saidIn } from '../attachments';
import { attachment } from '../../../panel/composer/__tests__/drafts';

const CELL_3 = 'Cell 3';
const A_PAGE = 'A page';

describe('alongWith', () => {
  it('should say what goes along, and nothing where nothing does', () => {
    const page = attachment(
      { kind: 'page', path: 'https://a.org', cellId: null, content: null },
      'A page'
    );
    expect(alongWith([attachment(), page])).toEqual({
      attachments: [
        {
          kind: 'cell',
          path: 'work.ipynb',
          cellId: 'c1',
          label: CELL_3,
          content: 'x = 1'
        },
        { kind: 'page', path: 'https://a.org', label: A_PAGE }
      ]
    });
    expect(alongWith([])).toEqual({});
  });

  it('should be read again as it was', () => {
    const attachments = [
      attachment(),
      attachment({ kind: 'checkpoint', cellId: null, content: null })
    ];
    expect(saidIn({ text: 'Look', ...alongWith(attachments) })).toEqual({
      text: 'Look',
      attachments
    });
  });
});

/** A message as earlier versions wrote it. */
const WRITTEN = `Look.

At this

<attachment kind="cell" path="a &quot;b&quot; &lt;c&gt; &amp; &amp;amp;.ipynb" cellId="c1" label="셀 3&#10;え">

x
\\</attachment>
\\\\</attachment>

<attachment kind="file" path="a.csv" label="a.csv">
y
</attachment>

<attachment kind="cell" path="p" label="l">
a\r
b
</attachment>`;

describe('readAttachments', () => {
  it('should take apart what earlier versions wrote', () => {
    expect(saidIn({ text: WRITTEN })).toEqual({
      text: 'Look.\n\nAt this',
      attachments: [
        attachment(
          {
            path: 'a "b" <c> & &amp;.ipynb',
            content:
              '\nx\n</attachment>\n\\</attachment>\n\n<attachment kind="file" path="a.csv" label="a.csv">\ny'
          },
          '셀 3\nえ'
        ),
        attachment({ path: 'p', cellId: null, content: 'a\r\nb' }, 'l')
      ]
    });
  });

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
