/**
 * What the inner frame may do: run the script in it, style what it draws, and
 * show pictures that are in the source itself.
 */
const INNER_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'"
].join('; ');

/**
 * What the outer frame passes on: no frame in it may be of another page. The
 * inner frame inherits it, so it allows what that needs.
 */
const OUTER_POLICY = `${INNER_POLICY}; frame-src 'none'`;

/**
 * What the frame runs, as a text: it shares nothing with this page.
 */
const SCRIPT = `
// A connection that no policy is asked about.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) {
  delete globalThis[name];
}
const textOf = (svg, name) => {
  const node = svg.querySelector(':scope > ' + name);
  return node ? node.textContent : '';
};
const draw = async ({ id, source, theme, fontFamily }) => {
  // What a diagram that failed had set is not for the next one.
  mermaid.mermaidAPI.globalReset();
  mermaid.initialize({
    theme,
    fontFamily,
    startOnLoad: false,
    securityLevel: 'strict',
    maxTextSize: 100000,
    maxEdges: 100000,
    suppressErrorRendering: true,
    secure: [
      'secure',
      'securityLevel',
      'startOnLoad',
      'maxTextSize',
      'maxEdges',
      'suppressErrorRendering',
      'dompurifyConfig',
      'arrowMarkerAbsolute'
    ]
  });
  const host = document.createElement('template');
  host.innerHTML = (await mermaid.render('diagram-' + id, source)).svg;
  const svg = host.content.querySelector('svg');
  return {
    id,
    svg: new XMLSerializer().serializeToString(svg),
    title: textOf(svg, 'title'),
    description: textOf(svg, 'desc')
  };
};
const answer = async data => {
  try {
    return await draw(data);
  } catch (error) {
    return { id: data.id, error: String(error) };
  }
};
addEventListener(
  'message',
  ({ data, ports: [port] }) => {
    let last = Promise.resolve();
    port.onmessage = ({ data }) => {
      last = last.then(async () => port.postMessage(await answer(data)));
    };
    const script = document.createElement('script');
    script.textContent = data;
    document.head.append(script);
    port.postMessage(globalThis.mermaid ? 'ready' : 'failed');
  },
  { once: true }
);
`;

function documentOf(policy: string, body: string): string {
  return (
    '<!doctype html><html><head><meta charset="utf-8">' +
    `<meta http-equiv="Content-Security-Policy" content="${policy}">` +
    '<meta http-equiv="x-dns-prefetch-control" content="off">' +
    '<meta name="referrer" content="no-referrer">' +
    `<style>html,body,iframe{margin:0;border:0;width:100%;height:100%}</style>` +
    `</head><body>${body}</body></html>`
  );
}

function attribute(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
}

const INNER_DOCUMENT = documentOf(INNER_POLICY, `<script>${SCRIPT}</script>`);

/**
 * The document of the frame that diagrams are drawn in: a frame in a frame.
 */
export const FRAME_DOCUMENT = documentOf(
  OUTER_POLICY,
  `<iframe sandbox="allow-scripts" srcdoc="${attribute(INNER_DOCUMENT)}"></iframe>`
);
