import { defineConfig } from '@playwright/test';

import stories from './playwright.config';

/**
 * Pictures of every state of the panel in every theme and language, for people
 * to look at; axe looks, too.
 */
export default defineConfig({
  ...stories,
  testDir: 'appearances',
  outputDir: 'test-results/appearances',
  workers: 1,
  retries: 0,
  timeout: 900_000,
  use: {
    ...stories.use,
    viewport: { width: 1280, height: 720 }
  }
});
