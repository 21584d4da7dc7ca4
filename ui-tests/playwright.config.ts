import { execFileSync } from 'child_process';
import * as path from 'path';

import { defineConfig } from '@playwright/test';

import { IS_LONG, LONG_ONLY } from './longtests';

const ROOT = path.resolve(__dirname, '..');

// Debian's or the person's own browser: browser builds are never downloaded.
const executablePath = execFileSync(
  path.join(ROOT, '.venv/bin/python'),
  [path.join(ROOT, 'scripts/find_chromium.py')],
  { encoding: 'utf8' }
).trim();

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  // A crowded machine takes several times as long as a quiet one.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  // Each has a server of its own, and waits for it much of the time.
  workers: 3,
  retries: 0,
  ...(IS_LONG ? {} : { grepInvert: new RegExp(LONG_ONLY) }),
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list'], [require.resolve('./failuresummary')]],
  use: {
    actionTimeout: 60_000,
    viewport: { width: 1280, height: 800 },
    // Whatever turns or pulses is drawn without a graphics card here: an eighth of the time.
    contextOptions: { reducedMotion: 'reduce' },
    // Taking the page down before and after each step is a tenth of the time here;
    // where nobody can try again it is worth that.
    trace: {
      mode: 'retain-on-failure',
      screenshots: false,
      snapshots: Boolean(process.env.CI),
      sources: false
    },
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    }
  }
});
