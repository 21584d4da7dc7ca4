import { defineConfig } from '@playwright/test';

import stories from './playwright.config';

/**
 * What a person decides and clicks on the way to something usual, and how much
 * of the panel is conversation, for `python -m benchmarks journey`.
 */
export default defineConfig({
  ...stories,
  testDir: 'journeys',
  workers: 1,
  retries: 0
});
