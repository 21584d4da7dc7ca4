/**
 * Make the links of a rendered text do what they show, and no more.
 *
 * #### Notes
 * A link is opened by a click only, apart from this page, and tells neither
 * where it was nor anybody else that it was clicked. Where it leads is to be
 * read: its text may say otherwise.
 */
export function secureLinks(node: HTMLElement): void {
  const all = () =>
    node
      .querySelectorAll<HTMLAnchorElement>('a[href]')
      .forEach(link => secure(link));
  all();
  // Formulas are set when the text is in the page, and may have links, too.
  new MutationObserver(all).observe(node, { childList: true, subtree: true });
}

/**
 * Keep the browser from looking up the hosts of links before they are clicked,
 * which tells a name server what is in them.
 */
export function preventPrefetch(page: Document): void {
  const name = 'x-dns-prefetch-control';
  if (page.head.querySelector(`meta[http-equiv="${name}"]`) === null) {
    const meta = page.createElement('meta');
    meta.httpEquiv = name;
    meta.content = 'off';
    page.head.append(meta);
  }
}

function secure(link: HTMLAnchorElement): void {
  link.removeAttribute('ping');
  link.removeAttribute('download');
  if (link.getAttribute('href')?.startsWith('#') || isOfThisServer(link)) {
    return;
  }
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
  // Lab writes its own `rel` over that one.
  link.referrerPolicy = 'no-referrer';
  link.title = link.href;
}

function isOfThisServer(link: HTMLAnchorElement): boolean {
  return link.origin === link.ownerDocument.location.origin;
}
