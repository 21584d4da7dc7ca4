// The browser that measurements look at the panel with: Debian's, as a person would have it, with nothing that phones home.
import { chromium } from '@playwright/test';

/** A browser of its own, in which a page may ask for its garbage to be collected. */
export function launched(executablePath) {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--js-flags=--expose-gc'
    ]
  });
}
