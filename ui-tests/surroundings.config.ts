import { defineConfig } from '@playwright/test';

import config from './playwright.config';

interface IOptions {
  isCollaborative: boolean;
}

/**
 * What is done at a cell, in other surroundings than the stories': in notebooks
 * that are shared in real time, and in a narrow window.
 */
export default defineConfig<object, IOptions>(config, {
  testMatch: [
    'cellactions.spec.ts',
    'ghosttext.spec.ts',
    'pointing.spec.ts',
    'variables.spec.ts',
    'verify.spec.ts'
  ],
  projects: [
    { name: 'shared', use: { isCollaborative: true } },
    {
      name: 'narrow',
      // There Lab hides what is in a cell's corner: the first story opens it.
      grepInvert: /by a menu at it and by the keyboard/,
      use: { viewport: { width: 760, height: 700 } }
    }
  ]
});
