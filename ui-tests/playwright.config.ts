import { execFileSync } from 'child_process';
import * as path from 'path';

import { defineConfig } from '@playwright/test';

const ROOT = path.resolve(__dirname, '..');

// Debian's or the person's own browser: browser builds are never downloaded.
const executablePath = execFileSync(
  path.join(ROOT, '.venv/bin/python'),
  [path.join(ROOT, 'scripts/find_chromium.py')],
  { encoding: 'utf8' }
).trim();

const PORT = Number(process.env.HDSP_UI_PORT ?? 18890);

/**
 * Every story runs below a base_url, as behind a hub; `make lab` and the wheel's check use none.
 */
const BASE_URL = `http://127.0.0.1:${PORT}/user/anna`;

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  timeout: 60_000,
  workers: 1,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  use: {
    baseURL: BASE_URL,
    viewport: { width: 1280, height: 800 },
    trace: 'retain-on-failure',
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
  },
  webServer: {
    command: `${path.join(ROOT, '.venv/bin/jupyter')} lab --config ${path.join(__dirname, 'jupyter_server_test_config.py')} --ServerApp.port=${PORT} --ServerApp.base_url=/user/anna/`,
    url: `${BASE_URL}/lab`,
    timeout: 120_000,
    env: {
      // Keys go where a test can look at the file; a person's keyring takes no part.
      HDSP_AGENT_PASSPHRASE: 'for the tests in the browser',
      PYTHON_KEYRING_BACKEND: 'keyring.backends.fail.Keyring'
    },
    reuseExistingServer: false,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 10_000 }
  }
});
