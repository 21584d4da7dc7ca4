import { defineConfig } from '@playwright/test';

import stories from './playwright.config';

/**
 * The pictures in the documents, taken from a real server with a real kernel.
 */
export default defineConfig({
  ...stories,
  testDir: 'screenshots',
  workers: 1,
  retries: 0,
  use: { ...stories.use, viewport: { width: 1180, height: 680 } }
});
