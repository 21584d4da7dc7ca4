import { Sanitizer } from '@jupyterlab/apputils';

import { SafeSanitizer } from '../sanitizer';

describe('HarmlessSanitizer', () => {
  const sanitizer = new SafeSanitizer(new Sanitizer());

  it.each([
    '<img src="https://elsewhere.test/?q=secret" alt="A plot">',
    '<img src="/hub/logout" alt="A plot">',
    '<img src="//elsewhere.test/a.png" alt="A plot">'
  ])('should show %s as its description', html => {
    expect(sanitizer.sanitize(html)).toBe('[A plot]');
  });

  it('should leave pictures that are in the text', () => {
    const html = '<img src="data:image/png;base64,AAAA" alt="x">';
    expect(sanitizer.sanitize(html)).toContain('src="data:image/png');
  });

  it.each([
    '<video src="https://elsewhere.test/v" poster="https://elsewhere.test/p">',
    '<audio src="https://elsewhere.test/a"></audio>',
    '<div style="background-image: url(https://elsewhere.test/)">x</div>',
    '<form action="https://elsewhere.test/"><input type="image" src="https://elsewhere.test/"></form>',
    '<button data-commandlinker-command="docmanager:delete-file">x</button>',
    '<a data-commandlinker-command="docmanager:delete-file">x</a>'
  ])('should take the sting out of %s', html => {
    const clean = sanitizer.sanitize(html);
    expect(clean).not.toContain('elsewhere');
    expect(clean).not.toContain('commandlinker');
    expect(clean).not.toMatch(/<(form|button|video|audio)/);
  });

  it('should let nothing be laid over what others say', () => {
    const html =
      '<div class="jp-Dialog jp-hdspAgent-ask note" style="position:absolute;top:-400px;color:red;background:white">x</div>';
    const clean = sanitizer.sanitize(html);
    expect(clean).not.toMatch(/jp-|position|top|background/);
    expect(clean).toContain('class="note"');
    expect(clean).toContain('color: red');
  });

  it('should leave links, which do nothing by themselves', () => {
    const html = '<a href="https://elsewhere.test/">there</a>';
    expect(sanitizer.sanitize(html)).toContain('https://elsewhere.test/');
  });
});
